"""Gemini CLI's hooks. It wraps what it is told in `<hook_context>`; an agent that stops is denied, with the reason."""

from __future__ import annotations

from typing import Any

from .hear import AFTER, BEFORE, PROMPT, START, STOP, Event, Host, heed, text

_MOMENTS = {
    "SessionStart": START,
    "BeforeAgent": PROMPT,
    "BeforeTool": BEFORE,
    "AfterTool": AFTER,
    "AfterAgent": STOP,
}
_HOST = Host("gemini", {"write_todos": "gemini"})


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    said = heed(_read(event), _HOST, flags)
    if said.push:
        return {"decision": "block", "reason": said.push}
    if not said.context:
        return None
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": said.context}}


def _read(event: dict[str, Any]) -> Event:
    name = text(event, "hook_event_name")
    response = event.get("tool_response")
    shown = response.get("llmContent") if isinstance(response, dict) else response
    failed = bool(response.get("error")) if isinstance(response, dict) else False
    again = name == "BeforeAgent" and event.get("stop_hook_active") is True  # we sent it on: nobody has spoken
    return Event(
        moment="" if again else _MOMENTS.get(name, ""),
        session=text(event, "session_id"),
        cwd=text(event, "cwd"),
        source=text(event, "source"),
        prompt=text(event, "prompt"),
        tool=text(event, "tool_name"),
        args=event.get("tool_input"),
        result=shown,
        failed=failed,
        said=text(event, "prompt_response"),
    )

"""Goose's hooks (Open Plugins). Nothing but the reason of a denied stop reaches its model."""

from __future__ import annotations

from ...core._typing import Any
from ..dispatch import AFTER, BEFORE, PROMPT, START, STOP, Event, Host, handle, needed, text

_MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": BEFORE,
    "PostToolUse": AFTER,
    "PostToolUseFailure": AFTER,
    "Stop": STOP,
}
_HOST = Host("goose", deaf=True)


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    said = handle(_read(event), _HOST, flags)
    return {"decision": "block", "reason": said.nudge} if said.nudge else None


def _read(event: dict[str, Any]) -> Event:
    name = needed(event, "event")
    return Event(
        moment=_MOMENTS.get(name, ""),
        session=needed(event, "session_id"),
        cwd=text(event, "working_dir"),
        source=text(event, "source") or text(event, "matcher_context"),
        prompt=text(event, "message"),
        tool=text(event, "tool_name"),
        args=event.get("tool_input"),
        use=text(event, "tool_call_id"),
        failed=name == "PostToolUseFailure",
        said=text(event, "last_assistant_message"),
    )

"""Claude Code's hooks: https://code.claude.com/docs/en/hooks

Its own TodoWrite calls become the plan; edits, reminders and the plan itself are told with prompts, tool results and
session starts; an agent that stops early is sent on."""

from __future__ import annotations

from typing import Any

from .. import moments
from ..core.model import MAIN
from ..desk import Desk, desk_for
from ..settings import load, place

_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop")
_MIRRORED = "TodoWrite"
_OURS = "mcp__punchlist__"


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    name = _text(event, "hook_event_name")
    session = _text(event, "session_id")
    if not session or name not in _EVENTS:
        return None
    cwd = _text(event, "cwd")
    settings = load({"dialect": "claude-code", "store": flags.get("store")}, cwd=cwd)
    agent = _text(event, "agent_id") or MAIN
    with desk_for(settings, session=session, agent=agent, place=place(cwd)) as desk:
        if desk.is_off:
            return None
        if name == "Stop":
            return _stop(desk, event)
        told = _told(desk, name, event)
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "\n".join(told)}} if told else None


def _told(desk: Desk, name: str, event: dict[str, Any]) -> list[str]:
    """What the model should hear now."""
    if name == "SessionStart":
        return moments.started(desk, _text(event, "source"))
    if name == "UserPromptSubmit":
        return moments.was_prompted(desk, _text(event, "prompt"))
    tool, failed = _text(event, "tool_name"), name == "PostToolUseFailure"
    news: list[str] = []
    if tool == _MIRRORED and not failed:
        news = list(desk.call(_MIRRORED, event.get("tool_input")).news)
    own = tool if tool == _MIRRORED else tool.removeprefix(_OURS) if tool.startswith(_OURS) else ""
    interrupted = event.get("is_interrupt") is True
    return [*news, *moments.worked(desk, _digest(event), tool=own, failed=failed, interrupted=interrupted)]


def _stop(desk: Desk, event: dict[str, Any]) -> dict[str, Any] | None:
    """Sent on with a reason, or left to rest. Only the main agent is sent on."""
    if desk.agent != MAIN:
        return None
    stop = moments.Stop(
        said=_text(event, "last_assistant_message"),
        background=bool(event.get("background_tasks") or event.get("session_crons")),
        planning=event.get("permission_mode") == "plan",
    )
    sent = moments.stopped(desk, stop)
    return {"decision": "block", "reason": sent.text} if sent.text else None


def _digest(event: dict[str, Any]) -> str:
    """What tells one tool call from another."""
    from zlib import crc32

    return f"{crc32(repr((event.get('tool_name'), event.get('tool_input'))).encode('utf-8', 'replace')):x}"


def _text(event: dict[str, Any], key: str) -> str:
    """A text of an event; empty if it is not there."""
    value = event.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} must be a string, not {value!r:.80}")
    return value or ""

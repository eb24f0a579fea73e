"""Claude Code's hooks: https://code.claude.com/docs/en/hooks

So far: its own TodoWrite calls become the plan, and the user's edits are told once, with a prompt or a tool result.
"""

from __future__ import annotations

from typing import Any

from ..core.model import MAIN
from ..desk import Desk, desk_for
from ..settings import load

_TELLING = ("UserPromptSubmit", "PostToolUse")


def answer(event: dict[str, Any]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    name = event.get("hook_event_name", "")
    session = event.get("session_id", "")
    if not session or name not in (*_TELLING, "Stop", "SessionStart"):
        return None
    settings = load({"dialect": "claude-code"}, cwd=event.get("cwd", ""))
    with desk_for(settings, session=session, agent=event.get("agent_id") or MAIN) as desk:
        if name == "PostToolUse" and event.get("tool_name") == "TodoWrite":
            desk.call("TodoWrite", event.get("tool_input"))
            return None
        return _told(desk, name) if name in _TELLING else None


def _told(desk: Desk, event: str) -> dict[str, Any] | None:
    news = desk.news(ids=False)
    if not news:
        return None
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "\n".join(news)}}

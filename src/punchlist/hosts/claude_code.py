"""Claude Code's hooks: https://code.claude.com/docs/en/hooks

So far: its own TodoWrite calls become the plan, and the user's edits are told once, with a prompt or a tool result.
"""

from __future__ import annotations

from typing import Any

from ..core.model import MAIN, Plan
from ..desk import Desk, desk_for
from ..settings import load, place

_TELLING = ("UserPromptSubmit", "PostToolUse")
_STOPPING = "Stop"


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    name = event.get("hook_event_name", "")
    session = event.get("session_id", "")
    if not session or name not in (*_TELLING, _STOPPING):
        return None
    cwd = event.get("cwd", "")
    settings = load({"dialect": "claude-code", "store": flags.get("store")}, cwd=cwd)
    agent = event.get("agent_id") or MAIN
    with desk_for(settings, session=session, agent=agent, place=place(cwd)) as desk:
        news = _news(desk, name, event)
    if not news:
        return None
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "\n".join(news)}}


def _news(desk: Desk, name: str, event: dict[str, Any]) -> list[str]:
    """What the model should hear now: with its own call mirrored, or without one."""
    if name == "UserPromptSubmit" and desk.plan.paused:
        _resume(desk)
    if name == _STOPPING:
        return _before_rest(desk.plan)
    if name == "PostToolUse" and event.get("tool_name") == "TodoWrite":
        return list(desk.call("TodoWrite", event.get("tool_input")).news)
    return desk.news(ids=False)


def _resume(desk: Desk) -> None:
    """A pause ends with the user's next word."""
    from ..core.ops import resume

    desk.change(resume)


def _before_rest(plan: Plan) -> list[str]:
    """What to say to an agent that stops. Whatever is open, it may rest: nothing sends it on yet."""
    return []

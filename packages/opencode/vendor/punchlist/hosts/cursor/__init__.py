"""Cursor's hooks: https://cursor.com/docs/hooks. Written by that documentation; not run here.

What a hook says at a prompt does not reach the model; at a session start and after a tool it does. An agent that stops
early is sent a message.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...core._typing import Any
from ...core.model import NOTHING
from .. import hooks_format
from ..host import (
    AFTER,
    NAME,
    PROMPT,
    START,
    STOP,
    HookAnswer,
    HookEvent,
    Host,
    exit_code,
    needed,
    seconds,
    text,
)

# Claude Code's names as well: Cursor runs the hooks in that agent's settings, too.
_MOMENTS = {
    "sessionStart": START,
    "beforeSubmitPrompt": PROMPT,
    "postToolUse": AFTER,
    "postToolUseFailure": AFTER,
    "stop": STOP,
    **hooks_format.MOMENTS,
}
_SHELLS = ("Shell", "Bash")
_LOOPS = 5  # messages in a row that Cursor sends by default; behind Claude Code's hooks it does not count them
_CUT = "aborted"


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Cursor. Raises Refused."""
    name, tool, prompt = needed(event, "hook_event_name"), text(event, "tool_name"), text(event, "prompt")
    moment = _MOMENTS.get(name, "")
    if (moment == PROMPT and hooks_format.is_nudge(prompt)) or (moment == STOP and _has_looped(event)):
        moment = ""
    output = _output(event.get("tool_output", event.get("tool_response")))
    code = None
    if tool in _SHELLS:
        code = exit_code(output.get("exitCode"))
    return HookEvent(
        moment=moment,
        session=text(event, "session_id") or needed(event, "conversation_id"),
        cwd=text(event, "cwd") or _root(event),
        source=text(event, "source"),
        prompt=prompt,
        tool=tool,
        args=event.get("tool_input"),
        result=output.get("output") or output.get("stdout") or text(event, "error_message"),
        use=text(event, "tool_use_id"),
        failed=name in ("postToolUseFailure", "PostToolUseFailure") or bool(code),
        exit=code,
        seconds=seconds(event.get("duration"), 0.001),
        interrupted=event.get("is_interrupt") is True or text(event, "status") == _CUT,
    )


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Cursor reads it."""
    if answer.nudge:
        return {"followup_message": answer.nudge}
    if answer.context:
        return {"additional_context": answer.context}
    return None


def _has_looped(event: Mapping[str, Any]) -> bool:
    """Whether Cursor has sent as many messages in a row as it would by itself."""
    count = event.get("loop_count")
    return isinstance(count, int) and count >= _LOOPS


def _root(event: Mapping[str, Any]) -> str:
    roots = event.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        return roots[0]
    return ""


def _output(found: Any) -> Mapping[str, Any]:
    """What a tool answered: an object, or one written as a text."""
    if isinstance(found, str):
        from ...core.json_text import loads

        try:
            found = loads(found)
        except ValueError:
            return {"output": found}
    if isinstance(found, dict):
        return found
    return NOTHING


HOST = Host(
    "cursor",
    prefixes=(f"MCP:{NAME}:", "MCP:", f"mcp__{NAME}__", f"mcp_{NAME}_"),
    limit=30.0,
    hears_prompts=False,
    shell=_SHELLS[0],
    processes=("cursor", "Cursor"),
    hooks_only="CURSOR_PROJECT_DIR",
)

"""Codex's hooks: the events and answers of Claude Code, with its own plan tool, `update_plan`."""

from __future__ import annotations

from ...core._typing import TYPE_CHECKING, Any
from ..claude_code import read, written
from ..dispatch import Host, handle

if TYPE_CHECKING:
    from ..agent_log import Log

_HOST = Host("codex", {"update_plan": "codex"}, names_uses=True, hides_failure=True, log=lambda: _log())
_CUT = "(turn aborted)"


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    said = handle(read(event), _HOST, flags)
    return {"decision": "block", "reason": said.nudge} if said.nudge else written(event, said)


def _log() -> Log:
    from ..agent_log import Log

    return Log(_message, cut=_CUT, asking=("request_user_input",))


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of its log: messages, calls and results are in a payload, and that a turn was interrupted."""
    payload = entry.get("payload")
    if not isinstance(payload, dict):
        return {}
    kind, id = payload.get("type"), payload.get("call_id")
    if kind == "turn_aborted":
        return {"type": "user", "content": _CUT}
    if kind == "function_call":
        return {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": payload.get("name")}]}
    if kind == "function_call_output":
        return {"type": "user", "content": [{"type": "tool_result", "tool_use_id": id}]}
    return payload if kind == "message" else {}

"""Codex's hooks: the events and answers of Claude Code, with its own plan tool, `update_plan`."""

from __future__ import annotations

from collections.abc import Mapping

from ...core._typing import TYPE_CHECKING, Any
from .. import hooks_format
from ..host import AFTER, HookAnswer, HookEvent, Host, exit_code

if TYPE_CHECKING:
    from ..agent_log import Log

_CUT = "(turn aborted)"
_SHELL = "Bash"  # what its hooks call the tool that runs commands
_TURN = "x-codex-turn-metadata"


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Codex. Raises Refused."""
    found = hooks_format.read(event)
    if found.moment != AFTER or found.tool != _SHELL:
        return found
    code = _exit_code(found.log, found.use)
    return found._replace(exit=code, failed=bool(code))


def _exit_code(log: str, use: str) -> int | None:
    """The exit code of a command. No event says it; the log does, in an entry with the id of the tool use."""
    from ..log_file import entries

    try:
        items = [_item(entry) for entry in entries(log, holding=use)]
    except (OSError, ValueError):  # it is not there, or nobody may read it
        return None
    codes = [item.get("exit_code") for item in items if item.get("id") == use]
    return exit_code(next(iter(codes), None))


def _item(entry: dict[str, Any]) -> dict[str, Any]:
    """What was completed, of an entry that says so."""
    payload = entry.get("payload")
    item = None
    if isinstance(payload, dict):
        item = payload.get("item")
    if isinstance(item, dict):
        return item
    return {}


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Codex reads it."""
    return hooks_format.block(answer) or hooks_format.write(event, answer)


def _caller(meta: Mapping[str, Any]) -> tuple[Any, Any]:
    """The session and the thread in it that make a call."""
    turn = meta.get(_TURN)
    if not isinstance(turn, dict):
        return "", ""
    session, thread = turn.get("session_id"), turn.get("thread_id")
    return session, thread if thread != session else ""


def _log() -> Log:
    from ..agent_log import Log

    return Log(_message, cut=_CUT, asking=("request_user_input",))


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of its log as a message: it has messages, calls, results and interruptions in a payload."""
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
    if kind == "message":
        return payload
    return {}


HOST = Host(
    "codex",
    mirrors={"update_plan": "codex"},
    names_uses=True,
    hides_failure=True,
    log=_log,
    processes=("codex",),
    shell_session="CODEX_SESSION_ID",
    shell_agent="CODEX_THREAD_ID",
    shell_only="CODEX_SESSION_ID",
    use_key="callId",
    caller=_caller,
)

"""Codex's hooks: the events and answers of Claude Code, with its own plan tool, `update_plan`."""

from __future__ import annotations

from collections.abc import Mapping

from ...core._typing import TYPE_CHECKING, Any
from ...core.model import NOTHING
from .. import hooks_format
from ..host import AFTER, KILLED, HookAnswer, HookEvent, Host, exit_code, seconds

if TYPE_CHECKING:
    from ..agent_log import Log

_CUT = "(turn aborted)"
_SHELL = "Bash"  # what its hooks call the tool that runs commands
_FILE = "file://"  # begins the directory of a command
_TURN = "x-codex-turn-metadata"


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Codex. Raises Refused."""
    found = hooks_format.read(event)
    if found.moment != AFTER or found.tool != _SHELL:
        return found
    payload = _find_completed(found.log, found.use)
    item = payload.get("item", {})
    code = exit_code(item.get("exit_code"))
    if code is not None and code < 0:
        return found._replace(no_exit=KILLED, failed=True)
    return found._replace(exit=code, failed=bool(code), folder=_folder(item), seconds=_seconds(payload))


def _find_completed(log: str, use: str) -> Mapping[str, Any]:
    """What the log says of a command that has ended. No event says it; the log does, in an entry with the id of the
    tool use."""
    from ..log_file import entries

    try:
        payloads = [entry.get("payload") for entry in entries(log, holding=use)]
    except (OSError, ValueError):  # it is not there, or nobody may read it
        return NOTHING
    return next((payload for payload in payloads if payload and _is_of(payload, use)), NOTHING)


def _is_of(payload: Any, use: str) -> bool:
    """Whether an entry says that the item with this id is completed."""
    item = None
    if isinstance(payload, dict):
        item = payload.get("item")
    return isinstance(item, dict) and item.get("id") == use and "exit_code" in item


def _folder(item: Mapping[str, Any]) -> str | None:
    """Where a command began, which may be named in its call; None if the log does not say it."""
    cwd = item.get("cwd")
    if not isinstance(cwd, str) or not cwd:
        return None
    if not cwd.startswith(_FILE):
        return cwd
    from urllib.parse import unquote

    return unquote(cwd.removeprefix(_FILE))


def _seconds(payload: Mapping[str, Any]) -> float | None:
    started, completed = payload.get("started_at_ms"), payload.get("completed_at_ms")
    if type(started) is int and type(completed) is int:
        return seconds(completed - started, 0.001)
    return None


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


def _place(meta: Mapping[str, Any]) -> Any:
    """The directory of the project; empty if a session has several, or none that is a repository."""
    turn = meta.get(_TURN)
    found = turn.get("workspaces") if isinstance(turn, dict) else None
    if isinstance(found, dict) and len(found) == 1:
        return next(iter(found))
    return ""


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
    find_place=_place,
    caller=_caller,
)

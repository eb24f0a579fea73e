"""Claude Code's hooks: https://code.claude.com/docs/en/hooks

Its TodoWrite and Task tools become the plan; edits, reminders and the plan itself are told with prompts, tool results
and session starts; an agent that stops early is nudged.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...core._typing import TYPE_CHECKING, Any
from .. import hooks_format
from ..host import AFTER, BACKGROUND, INTERRUPTED, NAME, PROMPT, TIMED_OUT, HookAnswer, HookEvent, Host

if TYPE_CHECKING:
    from ..agent_log import Log
    from ..host import OwnList

__all__ = ["HOST", "read", "unpack", "write"]

_PACKED = frozenset(["tool_input", "tool_response", "background_tasks", "session_crons", "is_interrupt", "duration_ms"])
_SHELL = "Bash"
# What it says of the exit code 1 of commands for which that is not an error. It says nothing of 0.
_ONES = frozenset(["Condition is false", "No matches found", "Files differ", "Some directories were inaccessible"])
_ENDED = 143  # the exit code of a command that it ended
_LATE = "Command timed out after "  # begins a line that it adds to the output then
_MOVES = ("cd", "pushd", "popd")
_PATIENCE, _BEAT = 0.5, 0.02  # seconds to wait for an entry of its log, and between two looks
_REFUSALS = ("requested permissions to", "Permission to use", "doesn't want to proceed with this tool use")
_WRAPPER = ("<system-reminder>", "</system-reminder>")


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Claude Code. Raises Refused."""
    found = hooks_format.read(event)
    if found.moment != AFTER or found.tool != _SHELL:
        return found
    code, why = found.exit, ""
    if not found.failed:
        code, why = _read_success(event.get("tool_response"))
    elif found.interrupted:
        why = INTERRUPTED
    elif code == _ENDED and f"\n{_LATE}" in str(event.get("error")):
        why = TIMED_OUT
    found = found._replace(exit=code, no_exit=why)
    if _may_move(found):
        return found._replace(folder="", find_folder=lambda: _find_folder(found.log, found.use))
    return found


def _read_success(response: Any) -> tuple[int | None, str]:
    """The exit code of a command that did not fail, or why there is none. Some commands may exit with 1."""
    if not isinstance(response, dict) or not isinstance(response.get("stdout"), str):
        return None, ""
    if response.get("backgroundTaskId"):
        return None, BACKGROUND
    if response.get("interrupted") is not False:
        return None, INTERRUPTED
    meaning = response.get("returnCodeInterpretation")
    if meaning is None:
        return 0, ""
    if meaning in _ONES:
        return 1, ""
    return None, ""


def _may_move(event: HookEvent) -> bool:
    """Whether a command may have ended elsewhere than it began. One that failed has not."""
    from ...policy.effects import command_of

    line = command_of(event.args)
    return not event.failed and any(word in line for word in _MOVES)


def _find_folder(log: str, use: str) -> str:
    """Where a command began, which may be elsewhere than it ended. The log says it, in the entry of the call, which may
    be a little late; empty if it does not."""
    from time import monotonic, sleep

    from ..log_file import entries

    end = monotonic() + _PATIENCE
    while True:
        try:
            found = [entry.get("cwd") for entry in entries(log, holding=use) if _is_call(entry)]
        except (OSError, ValueError):
            return ""
        if found or monotonic() > end:
            return next((cwd for cwd in found if isinstance(cwd, str)), "")
        sleep(_BEAT)


def _is_call(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == "assistant"


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Claude Code reads it."""
    return hooks_format.write(event, answer._replace(context=_without_wrapper(answer.context)))


def unpack(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event that a hook of the type `mcp_tool` sent: all of its fields are texts, and empty if not there."""
    from ...core.json_text import loads

    event = {name: value for name, value in fields.items() if value != ""}
    for name in _PACKED & event.keys():
        try:
            event[name] = loads(event[name])
        except ValueError:  # a text after all
            continue
    return event


def _without_wrapper(context: str) -> str:
    """Claude Code wraps what it is told itself: a second wrapper would be shown to the model as a text."""
    if _WRAPPER[0] not in context:
        return context
    return "\n".join(line for line in context.split("\n") if line not in _WRAPPER)


def _lost(event: HookEvent, unread: int) -> tuple[bool, int]:
    """Whether the user has taken the conversation back to an earlier point, and from where to look again later: 1 is
    the first byte. No event says so; the log does, as soon as it has the prompt that follows."""
    if event.moment not in (PROMPT, AFTER):
        return False, 0
    is_back: bool | None = False
    if unread:
        from .rewind import went_back

        is_back = went_back(event.log, unread - 1)
    if event.moment == PROMPT:
        from ..log_file import size

        return bool(is_back), size(event.log) + 1
    if is_back is None:
        return False, unread
    return is_back, 0


def _forked_from(event: HookEvent) -> str:
    from .forks import forked_from

    return forked_from(event.log, event.idle)


def _model(event: HookEvent) -> str:
    """The model that gave the last answer in the log: an event names one only when it is switched."""
    from ..log_file import last_entry

    entry = last_entry(event.log, b'"type":"assistant"', but=(b'"isSidechain":true', b'"<synthetic>"'))
    message, model = entry.get("message"), None
    if isinstance(message, dict):
        model = message.get("model")
    if isinstance(model, str):
        return model
    return ""


def _own_list(event: HookEvent) -> OwnList | None:
    import os

    from .own_list import find_list

    return find_list(event.session, os.environ)


def _log() -> Log:
    from ..agent_log import Log

    cut, command = "[Request interrupted by user", "<bash-input>"
    return Log(_message, cut=cut, asking=("AskUserQuestion",), refusals=_REFUSALS, command=command)


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of its log, if something is said in it."""
    if entry.get("type") in ("user", "assistant"):
        return entry
    return {}


def _mirror_call(event: HookEvent) -> tuple[str, Any]:
    """A call of its own plan tools; one that made a task with the number that the tool gave it."""
    if event.tool != "TaskCreate":
        return event.tool, event.args
    task = None
    if isinstance(event.result, dict):
        task = event.result.get("task")
    if isinstance(task, dict):
        id = str(task.get("id", ""))
    else:
        id = _number(event.result)
    if not id or not isinstance(event.args, dict):
        return event.tool, event.args
    return event.tool, {**event.args, "id": id}


def _number(result: Any) -> str:
    """The number in `Task #3 created successfully`."""
    words = []
    if isinstance(result, str):
        words = result.split()
    if len(words) > 1 and words[1].startswith("#"):
        return words[1].lstrip("#")
    return ""


HOST = Host(
    "claude-code",
    prefixes=(f"mcp__{NAME}__", f"mcp__plugin_{NAME}_{NAME}__"),
    mirrors={
        "TodoWrite": "claude-code",
        **dict.fromkeys(("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), "claude-tasks"),
    },
    mirror_call=_mirror_call,
    names_uses=True,
    log=_log,
    lost=_lost,
    forgets="rewind",
    forked_from=_forked_from,
    own_list=_own_list,
    model=_model,
    shell=_SHELL,
    processes=("claude", "node"),
    shell_session="CLAUDE_CODE_SESSION_ID",
    hooks_only="CLAUDE_PROJECT_DIR",
    shell_apart=True,
    use_key="claudecode/toolUseId",
    server_session="CLAUDE_CODE_SESSION_ID",
    runs_prompts=True,
    splits_prompts=True,
)

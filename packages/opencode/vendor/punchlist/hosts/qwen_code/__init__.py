"""Qwen Code's hooks: the events and answers of Claude Code, with results in Gemini CLI's form and its own plan tool,
`todo_write`."""

from __future__ import annotations

from ...core._typing import Any
from .. import hooks_format
from ..host import (
    AFTER,
    BACKGROUND,
    INTERRUPTED,
    KILLED,
    PROMPT,
    TIMED_OUT,
    HookAnswer,
    HookEvent,
    Host,
    exit_code,
    text,
)

_SHELL = "run_shell_command"
_BLOCKS = ("Command: ", "Directory: ")  # how the answer begins to a command that has ended
_OUTPUT, _ERROR, _EXIT, _SIGNAL = "\nOutput: ", "\nError: ", "\nExit Code: ", "\nSignal: "  # names of lines in it
_NONE, _EMPTY = "(none)", "(empty)"
_PLAN, _APPROVED = "exit_plan_mode", ("User approved", "Leader approved.")  # its plan mode: how an approval begins
_WORDS = {  # how the answer begins to a command of which the end is not known
    "Command timed out": TIMED_OUT,
    "Command was cancelled": INTERRUPTED,
}


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Qwen Code. Raises Refused."""
    found = hooks_format.read(event)
    if found.moment == PROMPT and not text(event, "submitted_prompt"):
        return found._replace(moment="")  # it sends one with every tool result, and with what it is nudged with
    shown = _shown(event)
    is_busy = found.background or bool(event.get("crons"))
    found = found._replace(result=shown, background=is_busy, approved=_approved(found, shown))
    if found.moment != AFTER or found.tool != _SHELL:
        return found
    code, why, output = _end(str(shown))
    if found.interrupted:
        code, why = None, INTERRUPTED
    elif isinstance(found.args, dict) and found.args.get("is_background") is True:
        code, why = None, BACKGROUND
    return found._replace(result=output, failed=found.failed or bool(code) or why == KILLED, exit=code, no_exit=why)


def _shown(event: dict[str, Any]) -> Any:
    """What the model was shown of a tool's result."""
    response = event.get("tool_response", event.get("error"))
    if not isinstance(response, dict):
        return response
    return response.get("llmContent")


def _approved(event: HookEvent, shown: Any) -> str:
    """The text of a plan that the user has approved; empty if this is not the approval of one."""
    if event.moment != AFTER or event.tool != _PLAN or not str(shown).startswith(_APPROVED):
        return ""
    plan = None
    if isinstance(event.args, dict):
        plan = event.args.get("plan")
    if isinstance(plan, str):
        return plan
    return ""


def _end(shown: str) -> tuple[int | None, str, str]:
    """The exit code of a command, or why there is none, and what it printed. The lines below that say so."""
    if not shown.startswith(_BLOCKS):
        return None, next((why for words, why in _WORDS.items() if shown.startswith(words)), ""), shown
    above, found, below = shown.rpartition(_EXIT)
    if not found:
        return None, "", shown
    output = above.rpartition(_ERROR)[0].partition(_OUTPUT)[2]
    if output == _EMPTY:
        output = ""
    code, _, rest = below.partition("\n")
    signal = f"\n{rest}".partition(_SIGNAL)[2].partition("\n")[0]
    if signal not in ("", _NONE, "0"):
        return None, KILLED, output
    return exit_code(code), "", output


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Qwen Code reads it."""
    return hooks_format.block(answer) or hooks_format.write(event, answer)


HOST = Host(
    "qwen-code",
    mirrors={"todo_write": "llxprt"},
    shell=_SHELL,
    processes=("qwen", "node"),
    shell_session="QWEN_CODE_SESSION_ID",
    shell_agent="QWEN_CODE_AGENT_ID",
    hooks_only="QWEN_PROJECT_DIR",
    server_session="QWEN_CODE_SESSION_ID",
)

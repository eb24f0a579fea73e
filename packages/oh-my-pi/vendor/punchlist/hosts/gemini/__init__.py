"""Gemini CLI's hooks. It wraps what it is told in `<hook_context>`; an agent that stops is denied, with the reason."""

from __future__ import annotations

from ...core._typing import Any
from ...core.model import MAIN
from .. import hooks_format
from ..host import (
    AFTER,
    BACKGROUND,
    BEFORE,
    INTERRUPTED,
    KILLED,
    NAME,
    PROMPT,
    START,
    STOP,
    TIMED_OUT,
    HookAnswer,
    HookEvent,
    Host,
    exit_code,
    needed,
    text,
)

_MOMENTS = {
    "SessionStart": START,
    "BeforeAgent": PROMPT,
    "BeforeTool": BEFORE,
    "AfterTool": AFTER,
    "AfterAgent": STOP,
}
_REPLACED = b'{"$set":{"messages":'  # begins a line of its log, when its memory is another from then on
_DELEGATES = "invoke_agent"  # its tool that has another agent do something
_SHELL = "run_shell_command"
_EXIT, _SIGNAL = "Exit Code", "Signal"  # names of lines in the answer to a command that failed
_HARMLESS = frozenset(["Background PIDs", "Process Group PGID", ""])  # names of lines in the answer to any command
_WORDS = {  # how the answer begins to a command of which the end is not known
    "Command moved to background": BACKGROUND,
    "Command was automatically cancelled": TIMED_OUT,
    "Command was cancelled": INTERRUPTED,
}
_NO_OUTPUT = "Output: (empty)\n"
_LONG = 65_536  # bytes of the log that may be read again
_MOST = 16_000_000  # bytes of it that are read at all
_OPEN, _CLOSE = "<hook_context>", "</hook_context>"
_WRAP = ("<untrusted_context>", "</untrusted_context>")


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Gemini CLI reads it."""
    return hooks_format.block(answer) or hooks_format.write(event, answer._replace(notice=""))


def _lost(event: HookEvent, since: int) -> tuple[bool, int]:
    """Whether the model has lost its plan to a compression, of which no event tells, and how far the log was read. A
    log that says its memory was replaced, and does not tell the plan after that, is all there is to see."""
    from ...policy.wording import is_restored
    from ..log_file import tail

    try:
        found, end = tail(event.log, _MOST, since)
    except (OSError, ValueError):
        return False, since
    at = max(found.rfind(b"\n" + _REPLACED), 0 if found.startswith(_REPLACED) else -1)
    is_new = event.moment == START or not since
    if at < 0 or is_new:
        return False, end if is_new or len(found) > _LONG else since
    is_lost = not is_restored(found[at:].decode("utf-8", "replace") + event.raw)
    return is_lost, end if is_lost else since


def _model(event: HookEvent) -> str:
    """The model that gave the last answer in the log; no event of ours names it."""
    from ..log_file import last_entry

    model = last_entry(event.log, b'"type":"gemini"').get("model")
    if isinstance(model, str):
        return model
    return ""


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Gemini CLI. Raises Refused."""
    name, prompt, tool = needed(event, "hook_event_name"), text(event, "prompt"), text(event, "tool_name")
    response = event.get("tool_response")
    shown = _output(response)
    failed, code, why = False, None, ""
    if isinstance(response, dict):
        failed = bool(response.get("error"))
    if isinstance(response, dict) and tool == _SHELL:
        code, why = _end(str(shown), response.get("returnDisplay"))
        if failed:
            code = None
    return HookEvent(
        moment=_MOMENTS.get(name, ""),
        session=needed(event, "session_id"),
        agent=_agent(event, name) if tool else MAIN,
        cwd=text(event, "cwd"),
        source=text(event, "source"),
        prompt=_typed(prompt),
        raw=prompt,
        tool=tool,
        args=event.get("tool_input"),
        result=shown,
        failed=failed or bool(code) or why == KILLED,
        exit=code,
        no_exit=why,
        said=text(event, "prompt_response"),
        log=text(event, "transcript_path"),
    )


def _agent(event: dict[str, Any], name: str) -> str:
    """Which agent uses a tool. No event says so: from the call of another agent to its answer, it is that one."""
    from ...local import session_links

    session, args, key = text(event, "session_id"), event.get("tool_input"), session_links.agent_key()
    if event["tool_name"] != _DELEGATES:
        found = session_links.look_up(key)
        if found and found.session == session:
            return found.agent
        return MAIN
    if name == "AfterTool":
        session_links.link(key, session_links.AgentRef(session, MAIN, "gemini"))
        return MAIN
    from zlib import crc32

    given = {}
    if isinstance(args, dict):
        given = args
    return f"{given.get('agent_name') or 'agent'}-{crc32(repr(given).encode('utf-8', 'replace')):08x}"


def _typed(prompt: str) -> str:
    """What the user typed: what they are told when a session starts comes before it."""
    if prompt.startswith(_OPEN):
        return prompt.partition(_CLOSE)[2].lstrip()
    return prompt


def _output(response: Any) -> Any:
    """What a tool answered, without the wrapper."""
    shown = response
    if isinstance(response, dict):
        shown = response.get("llmContent")
    if not isinstance(shown, str):
        return shown
    return shown.strip().removeprefix(_WRAP[0]).removesuffix(_WRAP[1]).strip()


def _end(shown: str, printed: Any) -> tuple[int | None, str]:
    """The exit code of a command, or why there is none: lines below what it printed say so. There is none for 0."""
    ends = [shown.removeprefix(start) for start in (f"Output: {printed}\n", _NO_OUTPUT) if shown.startswith(start)]
    if not ends:
        return None, next((why for words, why in _WORDS.items() if shown.startswith(words)), "")
    lines = {name: value for name, _, value in (line.partition(": ") for line in ends[0].split("\n"))}
    if _SIGNAL in lines:
        return None, KILLED
    if _EXIT in lines:
        return exit_code(lines[_EXIT]), ""
    if _HARMLESS.issuperset(lines):
        return 0, ""
    return None, ""


HOST = Host(
    "gemini",
    prefixes=(f"mcp_{NAME}_",),
    model=_model,
    mirrors={"write_todos": "gemini"},
    lost=_lost,
    shell=_SHELL,
    processes=("gemini", "node"),
    hooks_only="GEMINI_SESSION_ID",
    runs_prompts=True,
)

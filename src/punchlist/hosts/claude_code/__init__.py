"""Claude Code's hooks: https://code.claude.com/docs/en/hooks

Its TodoWrite and Task tools become the plan; edits, reminders and the plan itself are told with prompts, tool results
and session starts; an agent that stops early is nudged."""

from __future__ import annotations

from collections.abc import Mapping

from ...core._typing import TYPE_CHECKING, Any
from ...core.model import MAIN
from ..dispatch import AFTER, BEFORE, PROMPT, START, STOP, Answer, Event, Host, handle, needed, text

if TYPE_CHECKING:
    from ..agent_log import Log

MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": BEFORE,
    "PostToolUse": AFTER,
    "PostToolUseFailure": AFTER,
    "Stop": STOP,
}
_HOST = Host(
    "claude-code",
    {
        "TodoWrite": "claude-code",
        **dict.fromkeys(("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), "claude-tasks"),
    },
    names_uses=True,
    log=lambda: _log(),
    lost=lambda event, unread: _lost(event, unread),
    forgets="rewind",
)
_PACKED = frozenset(["tool_input", "tool_response", "background_tasks", "session_crons", "is_interrupt"])
_OVER = frozenset(["completed", "done", "failed", "error", "killed", "cancelled", "canceled", "stopped", "aborted"])
_REFUSALS = ("requested permissions to", "Permission to use", "doesn't want to proceed with this tool use")
_TYPED = ("", "user", "sdk")  # whose prompts are the user's; any other source wakes the agent up
_WRAPPER = ("<system-reminder>", "</system-reminder>")
_NOTICE = "<task-notification>"  # begins a prompt that is not the user's: work in the background has ended


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    said = handle(read(event), _HOST, flags)
    return written(event, said._replace(context=_unwrapped(said.context)))


def _unwrapped(context: str) -> str:
    """What a dialect wraps as Claude Code wraps it itself: a second wrapper would be shown to the model as a text."""
    if _WRAPPER[0] not in context:
        return context
    return "\n".join(line for line in context.split("\n") if line not in _WRAPPER)


def unpacked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """An event as a hook of the type `mcp_tool` hands it over: all of its fields are texts, and empty if not there."""
    import json

    event = {name: value for name, value in fields.items() if value != ""}
    for name in _PACKED & event.keys():
        try:
            event[name] = json.loads(event[name])
        except ValueError:  # a text after all
            continue
    return event


def read(event: dict[str, Any]) -> Event:
    """An event as Claude Code sends it; Codex does so, too."""
    name, tool, log = needed(event, "hook_event_name"), text(event, "tool_name"), event.get("transcript_path")
    args = event.get("tool_input")
    prompt = text(event, "prompt")
    unasked = name == "UserPromptSubmit" and (prompt.startswith(_NOTICE) or text(event, "source") not in _TYPED)
    plan = args.get("plan") if tool == "ExitPlanMode" and isinstance(args, dict) else None
    return Event(
        moment="" if unasked else MOMENTS.get(name, ""),
        session=needed(event, "session_id"),
        agent=text(event, "agent_id") or MAIN,
        cwd=text(event, "cwd"),
        source=text(event, "source"),
        idle=_seconds(event.get("seconds_since_last_response")),
        prompt=prompt,
        tool=tool,
        args=args,
        result=_shown(event.get("tool_response", event.get("error"))),
        use=text(event, "tool_use_id"),
        failed=name == "PostToolUseFailure",
        interrupted=event.get("is_interrupt") is True,
        approved=plan if isinstance(plan, str) and name == "PostToolUse" else "",
        said=text(event, "last_assistant_message"),
        background=_is_busy(event.get("background_tasks")) or bool(event.get("session_crons")),
        planning=event.get("permission_mode") == "plan",
        log=log if isinstance(log, str) else "",
    )


def _seconds(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else -1.0


def _lost(event: Event, unread: int) -> tuple[bool, int]:
    """Whether the user has taken the conversation back to an earlier point, and whether that is still to be looked
    for. No event tells; its log does as soon as the prompt that follows is in it."""
    if event.moment not in (PROMPT, AFTER):
        return False, 0
    is_back = False
    if unread:
        from .rewind import went_back

        is_back = went_back(event.log)
    return is_back, int(event.moment == PROMPT)


def _log() -> Log:
    from ..agent_log import Log

    cut, command = "[Request interrupted by user", "<bash-input>"
    return Log(_message, cut=cut, asking=("AskUserQuestion",), refusals=_REFUSALS, command=command)


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of its log, if something is said in it."""
    return entry if entry.get("type") in ("user", "assistant") else {}


def _is_busy(tasks: Any) -> bool:
    """Whether work goes on in the background. What is not a list of tasks is taken for work."""
    if not isinstance(tasks, list):
        return bool(tasks)
    statuses = [task.get("status") if isinstance(task, dict) else None for task in tasks]
    return any(not isinstance(status, str) or status.casefold() not in _OVER for status in statuses)


def _shown(response: Any) -> Any:
    """What a tool answered: what a command printed, else all of it."""
    if not isinstance(response, dict) or not isinstance(response.get("stdout"), str):
        return response
    return "\n".join(text for text in (response["stdout"], response.get("stderr")) if isinstance(text, str) and text)


def written(event: dict[str, Any], said: Answer) -> dict[str, Any] | None:
    """An answer in Claude Code's form. A nudge as context continues the turn; a block would be shown as an error."""
    told = said.nudge or said.context
    answer: dict[str, Any] = {"systemMessage": said.notice} if said.notice else {}
    if told:
        answer["hookSpecificOutput"] = {"hookEventName": event["hook_event_name"], "additionalContext": told}
    return answer or None

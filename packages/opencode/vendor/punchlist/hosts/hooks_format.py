"""The hook format that Claude Code has, and others took over: JSON events on standard input, JSON answers."""

from __future__ import annotations

from ..core._typing import Any
from ..core.model import MAIN
from .host import AFTER, BEFORE, PROMPT, START, STOP, SWITCH, HookAnswer, HookEvent, exit_code, needed, seconds, text

MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": BEFORE,
    "PostToolUse": AFTER,
    "PostToolUseFailure": AFTER,
    "Stop": STOP,
    "PostModelSwitch": SWITCH,
}
_OVER = frozenset(["completed", "done", "failed", "error", "killed", "cancelled", "canceled", "stopped", "aborted"])
_TYPED = ("", "user", "sdk")  # whose prompts are the user's; any other source wakes the agent up
_EXIT = "Exit code "  # before what was printed by a command that failed
_NOTICE = "<task-notification>"  # begins a prompt that is not the user's: work in the background has ended


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event as Claude Code and Codex send it. Raises Refused."""
    name, tool, log = needed(event, "hook_event_name"), text(event, "tool_name"), event.get("transcript_path")
    args = event.get("tool_input")
    prompt = text(event, "prompt")
    unasked = name == "UserPromptSubmit" and (prompt.startswith(_NOTICE) or text(event, "source") not in _TYPED)
    plan = None
    if tool == "ExitPlanMode" and isinstance(args, dict):
        plan = args.get("plan")
    return HookEvent(
        moment="" if unasked else MOMENTS.get(name, ""),
        session=needed(event, "session_id"),
        agent=text(event, "agent_id") or MAIN,
        cwd=text(event, "cwd"),
        source=text(event, "source"),
        idle=_seconds(event.get("seconds_since_last_response")),
        prompt=prompt,
        tool=tool,
        args=args,
        result=_output(event.get("tool_response", event.get("error"))),
        use=text(event, "tool_use_id"),
        failed=name == "PostToolUseFailure",
        exit=_exit_code(event.get("error")),
        seconds=seconds(event.get("duration_ms"), 0.001),
        interrupted=event.get("is_interrupt") is True,
        approved=plan if isinstance(plan, str) and name == "PostToolUse" else "",
        said=text(event, "last_assistant_message"),
        background=_is_busy(event.get("background_tasks")) or bool(event.get("session_crons")),
        planning=event.get("permission_mode") == "plan",
        log=log if isinstance(log, str) else "",
        model=_name(event.get("to_model") or event.get("model")),
        old_model=_name(event.get("from_model")),
    )


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Claude Code reads it. A nudge is context: a block would be shown as an error."""
    told = answer.nudge or answer.context
    written: dict[str, Any] = {"systemMessage": answer.notice} if answer.notice else {}
    if told:
        written["hookSpecificOutput"] = {"hookEventName": event["hook_event_name"], "additionalContext": told}
    elif answer.allows:
        written["hookSpecificOutput"] = {"hookEventName": event["hook_event_name"], "permissionDecision": "allow"}
    return written or None


def block(answer: HookAnswer) -> dict[str, Any] | None:
    """Return a nudge as a stop that is refused, with the reason; nothing without a nudge."""
    if answer.nudge:
        return {"decision": "block", "reason": answer.nudge}
    return None


def is_nudge(prompt: str) -> bool:
    """Return whether a prompt is what an agent was nudged with: some send that as if the user had said it."""
    from ..prompts import say

    return prompt.lstrip().startswith(say("plan.nudge").partition("{")[0])


def _name(model: Any) -> str:
    """The name of a model; empty for anything but a text."""
    if isinstance(model, str):
        return model
    return ""


def _seconds(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    return -1.0


def _is_busy(tasks: Any) -> bool:
    """Whether work goes on in the background. What is not a list of tasks is taken for work."""
    if not isinstance(tasks, list):
        return bool(tasks)
    statuses = [task.get("status") if isinstance(task, dict) else None for task in tasks]
    return any(not isinstance(status, str) or status.casefold() not in _OVER for status in statuses)


def _exit_code(error: Any) -> int | None:
    """The exit code of a command that failed; what it printed does not count."""
    if isinstance(error, str) and error.startswith(_EXIT):
        return exit_code(error.removeprefix(_EXIT).partition("\n")[0])
    return None


def _output(response: Any) -> Any:
    """What a tool answered: what a command printed, else all of it."""
    if not isinstance(response, dict) or not isinstance(response.get("stdout"), str):
        return response
    return "\n".join(text for text in (response["stdout"], response.get("stderr")) if isinstance(text, str) and text)

"""Claude Code's TodoWrite: the whole list each time, `{content, status, activeForm}`."""

from __future__ import annotations

import json

from ..core._typing import Any
from ..core.model import ACTIVE, BLOCKED, DONE, PENDING, Item, Plan
from ..core.resend import ListForm, Sent, relist
from ..core.rules import Rules
from ..core.schema import Problem, Schema, check, dotted
from ..core.text import inline
from ..policy.dialect_guide import LOST, Audience, Guide, Listed
from ..policy.limits import Limits
from ..policy.wording import WHEN_ASKED, closing, noted, numbered
from ..prompts import say
from . import Call, Dialect, Reply, Tool, Turn, checked, refusal

SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE}
_CARRY_ON = "Carry on with what is open."
_MESSAGES = {"content": "Content cannot be empty", "activeForm": "Active form cannot be empty"}

TODOS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "content": {"type": "string", "minLength": 1},
            "status": {"type": "string", "enum": [PENDING, ACTIVE, DONE]},
            "activeForm": {"type": "string", "minLength": 1},
        },
        "required": ["content", "status", "activeForm"],
    },
}
_ARGS: Schema = {"todos": {**TODOS, "description": "The updated todo list, every item of it"}}
_OUTPUT: Schema = {
    "oldTodos": {**TODOS, "description": "The todo list before this call"},
    "newTodos": {**TODOS, "description": "The todo list as it was sent"},
}
WRITE = Tool(
    name="TodoWrite",
    schema={"type": "object", "properties": _ARGS, "required": [*_ARGS], "additionalProperties": False},
    output={"type": "object", "properties": _OUTPUT, "required": [*_OUTPUT]},
    prompt="claude-code",
    summary="claude-code.summary",
    examples=(
        {
            "todos": [
                {"content": "Parse the config file", "status": ACTIVE, "activeForm": "Parsing the config file"},
                {"content": "Report its errors", "status": PENDING, "activeForm": "Reporting its errors"},
            ]
        },
    ),
    category="todo",
    strict=True,
    silent=True,
    idempotent=True,
    fill={"activeForm": lambda todo: todo.get("content")},
)


def _judge(call: Call) -> str:
    return refusal(call.tool, check(call.args, call.tool.schema), own_words)


def own_words(problem: Problem) -> str:
    for name in problem.path[-1:]:
        if problem.rule == "minLength" and name in _MESSAGES:
            return f"{dotted(problem.path)}: {_MESSAGES[str(name)]}"
    return str(problem)


def _reply(turn: Turn) -> Reply:
    new = [{key: todo[key] for key in ("content", "status", "activeForm")} for todo in turn.call.args["todos"]]
    if turn.plan.open_items:
        text = say("claude-code.answer")
    else:
        text = say("claude-code.answer.done")
    return Reply(text, details={"oldTodos": todos(turn.before), "newTodos": new})


def sent(entries: list[dict[str, Any]]) -> list[Sent]:
    return [Sent(entry["content"], entry["status"], entry["activeForm"]) for entry in entries]


def todos(plan: Plan) -> list[dict[str, str]]:
    """The plan as this agent lists it."""
    return [todo(item) for item in plan.items if item.status in SHOWN]


def todo(item: Item) -> dict[str, str]:
    return {"content": item.text, "status": SHOWN[item.status], "activeForm": item.label}


def _listed(plan: Plan, context: str, to: Audience) -> Listed:
    """The list as JSON, with what to do next."""
    content = todos(plan)
    if not content:
        can_begin = context not in LOST and plan.mode == "act"
        if can_begin:
            return Listed(say("claude-code.empty"), content)
        return Listed()
    listed = inline(json.dumps(content, ensure_ascii=False))
    if context == "changed":
        return Listed(say("claude-code.changed", list=listed, next=closing(plan, _CARRY_ON)), content)
    next = f"{noted(plan)} {closing(plan, WHEN_ASKED if context == 'resume' else _CARRY_ON)}".lstrip()
    if context in LOST:
        return Listed(say("claude-code.restored", list=listed, next=next), content)
    return Listed(say("claude-code.present", list=listed, next=next), content)


def _reminder(plan: Plan, turns: int) -> Listed:
    content = todos(plan)
    text = say("claude-code.reminder")
    if content:
        text += "\n\n" + say("claude-code.reminder.list", list=numbered(content))
    return Listed(text, content)


DIALECT = Dialect(
    name="claude-code",
    tools=(WRITE,),
    reply=_reply,
    entries=lambda call: sent(call.args["todos"]),
    list_form=ListForm(SHOWN),
    rules=Rules(clear_when_done=True),
    judge=_judge,
    system="claude-code.system",
    guide=Guide(
        limits=Limits(remind_after=7, remind_again=3, budget=-1, on_empty=True, heeds_questions=False),
        listed=_listed,
        lists_all=True,
        lists_at_start=True,
        sends_whole=True,
        reminder=_reminder,
        reminder_prompt="claude-code.reminder",
    ),
)


# --- the format `claude-code` of import and export -----------------------------------------------------------------


def read(data: object) -> Plan:
    """A list as Claude Code stores it."""
    return relist(
        Plan(),
        sent(checked(data, TODOS, lambda problem: own_words(problem) if problem.path else problem.of("the list"))),
        SHOWN,
    )


def write(plan: Plan) -> list[dict[str, str]]:
    return todos(plan)

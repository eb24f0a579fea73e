"""Claude Code's TodoWrite: the whole list each time, `{content, status, activeForm}`."""

from __future__ import annotations

from ..core._typing import Any
from ..core.model import ACTIVE, BLOCKED, DONE, PENDING, Item, Plan
from ..core.resend import Sent, Style, relist
from ..core.rules import Rules
from ..core.schema import Fault, Schema, check, dotted
from ..prompts import say
from . import Call, Dialect, Reply, Tool, Turn, checked, refusal

SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE}
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


def own_words(fault: Fault) -> str:
    name = fault.path[-1] if fault.path else ""
    if fault.rule == "minLength" and name in _MESSAGES:
        return f"{dotted(fault.path)}: {_MESSAGES[str(name)]}"
    return str(fault)


def _reply(turn: Turn) -> Reply:
    new = [{key: todo[key] for key in ("content", "status", "activeForm")} for todo in turn.call.args["todos"]]
    text = say("claude-code.answer") if turn.plan.open_items else say("claude-code.answer.done")
    return Reply(text, details={"oldTodos": todos(turn.before), "newTodos": new})


def sent(entries: list[dict[str, Any]]) -> list[Sent]:
    return [Sent(entry["content"], entry["status"], entry["activeForm"]) for entry in entries]


def todos(plan: Plan) -> list[dict[str, str]]:
    """The plan as this agent lists it."""
    return [todo(item) for item in plan.items if item.status in SHOWN]


def todo(item: Item) -> dict[str, str]:
    return {"content": item.text, "status": SHOWN[item.status], "activeForm": item.label}


DIALECT = Dialect(
    name="claude-code",
    tools=(WRITE,),
    reply=_reply,
    entries=lambda call: sent(call.args["todos"]),
    style=Style(SHOWN),
    rules=Rules(clear_when_done=True),
    judge=_judge,
    system="claude-code.system",
    content=todos,
)


# --- the format `claude-code` of import and export -----------------------------------------------------------------


def read(data: object) -> Plan:
    """A list as Claude Code stores it."""
    return relist(
        Plan(),
        sent(checked(data, TODOS, lambda fault: own_words(fault) if fault.path else fault.of("the list"))),
        SHOWN,
    )


def write(plan: Plan) -> list[dict[str, str]]:
    return todos(plan)

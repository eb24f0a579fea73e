"""Gemini CLI's write_todos: the whole list each time, `{description, status}`, with cancelled and blocked items."""

from __future__ import annotations

from ..core.model import ACTIVE, BLOCKED, DONE, DROPPED, PENDING
from ..core.resend import ListForm, Sent
from ..core.text import counted
from ..policy.dialect_guide import Guide
from . import Call, Dialect, Reply, Tool, Turn

_SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: BLOCKED, DONE: DONE, DROPPED: DROPPED}
_MEANT = {"cancelled": DROPPED}  # its one word that differs from ours

WRITE = Tool(
    name="write_todos",
    schema={
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "description": {"type": "string", "minLength": 1},
                        "status": {"type": "string", "enum": [PENDING, ACTIVE, DONE, "cancelled", BLOCKED]},
                    },
                    "required": ["description", "status"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["todos"],
        "additionalProperties": False,
    },
    prompt="gemini",
    examples=(
        {
            "todos": [
                {"description": "Read the code", "status": ACTIVE},
                {"description": "Fix the bug", "status": PENDING},
            ]
        },
    ),
    title="Todos",
    category="todo",
    fill={"status": lambda todo: PENDING},
)


def _entries(call: Call) -> list[Sent]:
    return [Sent(todo["description"], _MEANT.get(todo["status"], todo["status"])) for todo in call.args["todos"]]


def _reply(turn: Turn) -> Reply:
    text = f"Saved: {counted(len(turn.call.args['todos']), 'todo')}."
    return Reply(text, text)


DIALECT = Dialect(
    name="gemini",
    tools=(WRITE,),
    reply=_reply,
    entries=_entries,
    list_form=ListForm(_SHOWN, omitted="abandoned"),
    tolerant=True,
    system="gemini.system",
    guide=Guide(sends_whole=True),
)

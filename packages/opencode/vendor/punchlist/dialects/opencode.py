"""opencode's todowrite: the whole list each time, `{content, status, priority}`; the list is the answer."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii

from ..core.model import ACTIVE, BLOCKED, DONE, DROPPED, PENDING, Item
from ..core.resend import ListForm, Sent
from ..policy.dialect_guide import Guide
from . import Call, Dialect, Reply, Tool, Turn

_SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE, DROPPED: DROPPED}
_CANCELLED = "cancelled"

WRITE = Tool(
    name="todowrite",
    schema={
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "minLength": 1},
                        "status": {"type": "string", "enum": [PENDING, ACTIVE, DONE, _CANCELLED]},
                        "priority": {"type": "string", "enum": ["high", "medium", "low"]},
                    },
                    "required": ["content", "status", "priority"],
                },
            }
        },
        "required": ["todos"],
    },
    prompt="opencode",
    examples=({"todos": [{"content": "Read the code", "status": ACTIVE, "priority": "high"}]},),
    title="Todos",
    category="todo",
    fill={"status": lambda todo: PENDING, "priority": lambda todo: "medium"},
)


def _entries(call: Call) -> list[Sent]:
    return [
        Sent(todo["content"], DROPPED if todo["status"] == _CANCELLED else todo["status"], priority=todo["priority"])
        for todo in call.args["todos"]
    ]


def _reply(turn: Turn) -> Reply:
    text = _json([_todo(item) for item in turn.plan.items])
    return Reply(text, text)


def _json(todos: list[dict[str, str]]) -> str:
    """The list as JSON: readable, or spelled out where a text could act on whoever reads it."""
    text = _indented(todos, encode_basestring)
    if "<" not in text and text.replace("\n", "").isprintable():
        return text
    return _indented(todos, encode_basestring_ascii).replace("<", "\\u003c")


def _indented(todos: list[dict[str, str]], quote: Callable[[str], str]) -> str:
    """What `json.dumps` makes with an indent of two, in a tenth of its time."""
    written = []
    for todo in todos:
        fields = [f'    "{key}": {quote(value)}' for key, value in todo.items()]
        written.append("  {\n" + ",\n".join(fields) + "\n  }")
    if written:
        return "[\n" + ",\n".join(written) + "\n]"
    return "[]"


def _todo(item: Item) -> dict[str, str]:
    if item.status == DROPPED:
        status = _CANCELLED
    else:
        status = _SHOWN[item.status]
    return {"content": item.text, "status": status, "priority": item.priority or "medium"}


DIALECT = Dialect(
    name="opencode",
    tools=(WRITE,),
    reply=_reply,
    entries=_entries,
    list_form=ListForm(_SHOWN, omitted="abandoned"),
    tolerant=True,
    system="opencode.system",
    guide=Guide(sends_whole=True),
)

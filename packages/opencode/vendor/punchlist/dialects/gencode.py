"""gencode's TodoWrite: the whole list each time, at most 20 items, one active, and the list drawn in the answer."""

from __future__ import annotations

from ..core.errors import Refused
from ..core.model import ACTIVE, DONE, PENDING, Plan
from ..core.resend import ListForm, Sent
from ..core.schema import Schema
from ..core.text import cut, inline
from ..policy.dialect_guide import Audience, Guide, Listed, with_notes
from ..policy.limits import Limits
from ..prompts import say
from . import Call, Dialect, Reply, Tool, Turn
from .claude_code import SHOWN, sent

_MOST = 20
_LONGEST = (
    500  # characters of a text that is taken; longer ones of the user are shown cut, so that they can be sent back
)
_LENGTH: Schema = {"type": "string", "minLength": 1, "maxLength": _LONGEST}

WRITE = Tool(
    name="TodoWrite",
    schema={
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "maxItems": _MOST,
                "items": {
                    "type": "object",
                    "properties": {
                        "content": _LENGTH,
                        "status": {"type": "string", "enum": [PENDING, ACTIVE, DONE]},
                        "activeForm": _LENGTH,
                    },
                    "required": ["content", "status", "activeForm"],
                },
            }
        },
        "required": ["todos"],
    },
    prompt="gencode",
    summary="gencode.summary",
    examples=(
        {
            "todos": [
                {"content": "Write the parser", "status": ACTIVE, "activeForm": "Writing the parser"},
                {"content": "Document it", "status": PENDING, "activeForm": "Documenting it"},
            ]
        },
    ),
    title="Todo",
    idempotent=True,
    category="todo",
    fill={"activeForm": lambda todo: todo.get("content")},
)


def _entries(call: Call) -> list[Sent]:
    todos = call.args["todos"]
    if sum(todo["status"] == ACTIVE for todo in todos) > 1:
        raise Refused("Only one task can be in_progress at a time")
    return sent(todos)


def _reply(turn: Turn) -> Reply:
    text = drawn(turn.plan)
    return Reply(text, text, details={"success": True, "output": text, "error": None})


def _refuse(call: Call, plan: Plan, message: str) -> Reply:
    return Reply(message, message, True, {"success": False, "output": "", "error": message})


def drawn(plan: Plan) -> str:
    """The list as the model reads it back."""
    items = [item for item in plan.items if item.status in SHOWN]
    if not items:
        return "No todos."
    marks = {DONE: "[x]", ACTIVE: "[>]"}
    lines = []
    for item in items:
        line = f"{marks.get(item.status, '[ ]')} {cut(inline(item.text), _LONGEST)}"
        if item.status == ACTIVE:
            line += f" <- {cut(inline(item.label), _LONGEST)}"
        lines.append(line)
    done = sum(item.status == DONE for item in items)
    return "\n".join([*lines, "", f"({done}/{len(items)} completed)"])


def _listed(plan: Plan, context: str, to: Audience) -> Listed:
    if context == "start":
        can_begin = to.reminders and plan.mode == "act"
        if can_begin:
            return Listed(say("gencode.start"))
        return Listed()
    if not plan.items:
        return Listed()
    return Listed(with_notes(plan, context, say("gencode.list", list=drawn(plan))))


DIALECT = Dialect(
    name="gencode",
    tools=(WRITE,),
    reply=_reply,
    entries=_entries,
    list_form=ListForm(SHOWN),
    refuse=_refuse,
    system="gencode.system",
    guide=Guide(
        limits=Limits(remind_after=10, remind_again=10, budget=-1, on_empty=True, heeds_questions=False),
        wrapper="reminder",
        listed=_listed,
        lists_all=True,
        sends_whole=True,
        answers_with_list=True,
        reminder=lambda plan, turns: Listed(say("gencode.nag", turns=str(turns))),
        reminder_prompt="gencode.nag",
    ),
)

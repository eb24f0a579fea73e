"""Codex's update_plan: the whole list each time, `{step, status}`."""

from __future__ import annotations

from ..core.model import ACTIVE, DONE, PENDING
from ..core.resend import ListForm, Sent
from ..policy.dialect_guide import Guide
from . import Call, Dialect, Reply, Tool, Turn
from .claude_code import SHOWN

UPDATE = Tool(
    name="update_plan",
    schema={
        "type": "object",
        "properties": {
            "explanation": {"type": "string"},
            "plan": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "step": {"type": "string", "minLength": 1},
                        "status": {"type": "string", "enum": [PENDING, ACTIVE, DONE]},
                    },
                    "required": ["step", "status"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["plan"],
        "additionalProperties": False,
    },
    prompt="codex",
    examples=({"plan": [{"step": "Read the code", "status": ACTIVE}, {"step": "Fix the bug", "status": PENDING}]},),
    title="Plan",
    fill={"status": lambda step: PENDING},
)


def _entries(call: Call) -> list[Sent]:
    return [Sent(step["step"], step["status"]) for step in call.args["plan"]]


def _reply(turn: Turn) -> Reply:
    return Reply("Plan updated", "Plan updated")


DIALECT = Dialect(
    name="codex",
    tools=(UPDATE,),
    reply=_reply,
    entries=_entries,
    list_form=ListForm(SHOWN, omitted="abandoned"),
    tolerant=True,
    system="codex.system",
    guide=Guide(sends_whole=True),
)

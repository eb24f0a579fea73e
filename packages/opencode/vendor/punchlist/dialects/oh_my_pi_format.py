"""The format `oh-my-pi` of import and export: phases of tasks, as that agent keeps them."""

from __future__ import annotations

from ..core._typing import Any
from ..core.model import ACTIVE, DONE, DROPPED, PENDING, Item, Plan
from ..core.rules import one_active, promoted
from ..core.schema import Schema
from . import checked
from .oh_my_pi import phases, told_apart

_PHASES: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["name", "tasks"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "tasks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["content", "status"],
                    "properties": {
                        "content": {"type": "string", "minLength": 1},
                        "status": {"type": "string", "enum": [PENDING, ACTIVE, DONE, DROPPED]},
                        "notes": {"type": "array", "items": {"type": "string"}},
                    },
                },
            },
        },
    },
}


def read(data: object) -> Plan:
    """Phases of tasks."""
    groups = checked(data, _PHASES)
    names = told_apart([group["name"] for group in groups])
    tasks = [(name, task) for name, group in zip(names, groups, strict=True) for task in group["tasks"]]
    items = [
        Item(str(number), task["content"], task["status"], phase=name, notes=tuple(task.get("notes", ())))
        for number, (name, task) in enumerate(tasks, 1)
    ]
    return promoted(one_active(Plan(phases=tuple(names), items=tuple(items), last_id=len(items))))


def write(plan: Plan) -> list[dict[str, Any]]:
    return phases(plan)

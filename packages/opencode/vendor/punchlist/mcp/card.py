"""The plan as a card that a client shows: an MCP App, https://modelcontextprotocol.io/extensions/apps

Only a client that declares the extension is told of it. What the buttons of the card do is the user's doing: the tool
behind them is for the card alone, and a client does not show it to its model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os.path import dirname, join

from ..core import ops
from ..core._typing import TYPE_CHECKING, Any
from ..core.errors import Refused
from ..core.model import Plan
from ..core.schema import check, listed

if TYPE_CHECKING:
    from ..desk import Desk

    Message = dict[str, Any]

EXTENSION = "io.modelcontextprotocol/ui"
HTML_TYPE = "text/html;profile=mcp-app"
CARD = "ui://punchlist/plan"
TOOL = "plan_card"
DATA = "punchlist/plan"  # in the `_meta` of an answer: the plan for the card, not for the model
_EDITS = ("show", "add", "start", "done", "reopen", "drop", "undo")
_SCHEMA: Message = {
    "type": "object",
    "properties": {
        "do": {"type": "string", "enum": list(_EDITS)},
        "id": {"type": "string"},
        "text": {"type": "string"},
        "why": {"type": "string"},
    },
    "required": ["do"],
    "additionalProperties": False,
}


def shown(tool: Message) -> Message:
    """Return the definition of a tool whose answers are shown on the card."""
    return {**tool, "_meta": {**tool.get("_meta", {}), "ui": {"resourceUri": CARD}}}


def own_tool() -> Message:
    """Return the definition of the tool behind the buttons of the card."""
    return {
        "name": TOOL,
        "title": "Buttons of the plan",
        "description": "What the user does with the buttons of the plan's card.",
        "inputSchema": _SCHEMA,
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": False,
            "openWorldHint": False,
        },
        "_meta": {"ui": {"resourceUri": CARD, "visibility": ["app"]}},
    }


def read_card() -> str:
    """Return the page of the card."""
    with open(join(dirname(__file__), "card.html"), encoding="utf-8") as file:
        return file.read()


def data_of(desk: Desk) -> Message:
    """Return the plan as the card draws it."""
    from ..core.codec import to_json
    from ..desk.grade_labels import with_grades
    from ..desk.visible import visible

    plan = visible(desk, desk.plan)
    done = plan.progress
    return {**with_grades(desk, plan, to_json(plan)), "progress": {"completed": done.completed, "total": done.total}}


def press(desk: Desk, args: Any) -> tuple[str, Message]:
    """Do what a button asks for, as the user. Return what changed in words, and the plan. Raises Refused and
    StoreError."""
    wrong = check({} if args is None else args, _SCHEMA)
    if wrong:
        raise Refused("\n".join(listed(wrong)))
    do = args["do"]
    if do == "show":
        return "The plan is on the card.", data_of(desk)
    from ..core.sentences import difference

    if do == "undo":
        from ..desk.undone_approvals import revoke_undone

        changed = desk.undo()
        more = revoke_undone(changed)
    else:
        changed = desk.change(lambda plan: _DO[do](plan, args))
        more = []
    return " ".join([*difference(changed.before, changed.plan), *more]), data_of(desk)


def _needed(args: Mapping[str, str], name: str) -> str:
    found = args.get(name, "").strip()
    if not found:
        raise Refused(f"{name} is missing.")
    return found


_DO: dict[str, Callable[[Plan, Mapping[str, str]], Plan]] = {
    "add": lambda plan, args: ops.add(plan, _needed(args, "text")),
    "start": lambda plan, args: ops.start(plan, _needed(args, "id")),
    "done": lambda plan, args: ops.complete(plan, _needed(args, "id")),
    "reopen": lambda plan, args: ops.reopen(plan, _needed(args, "id")),
    "drop": lambda plan, args: ops.drop(plan, _needed(args, "id"), why=_needed(args, "why")),
}

"""The commands for other formats: import, export."""

from __future__ import annotations

from ..core.text import counted
from . import output
from .desk import open_desk, open_own_desk
from .parser import Args


def import_plan(args: Args) -> int:
    """Replace the plan by what a file holds."""
    from .input import read

    data = read(args.file, args.format)
    with open_own_desk(args) as desk:
        plan = desk.import_plan(data, args.format).plan
    words = f"plan {plan.id} now holds {counted(len(plan.items), 'item')}."
    return output.answer(args, {"plan": plan.id, "items": len(plan.items)}, words)


def export_plan(args: Args) -> int:
    """Print the plan in another format."""
    with open_desk(args) as desk:
        data = desk.export_plan(args.format)
    if isinstance(data, str):
        output.say(data)
    else:
        output.say_json(data)
    return 0

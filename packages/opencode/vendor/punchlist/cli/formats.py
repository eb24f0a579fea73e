"""The commands for other formats: import, export."""

from __future__ import annotations

from ..core._typing import TYPE_CHECKING, Any
from ..core.text import counted
from ..desk import Desk
from ..desk.grade_labels import load_tails, with_grades
from . import output
from .desk import open_desk, open_own_desk
from .parser import Args

if TYPE_CHECKING:
    from ..core.types import Format


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
        data = _export(desk, args.format)
    if isinstance(data, str):
        output.say(data)
    else:
        output.say_json(data)
    return 0


def _export(desk: Desk, format: Format) -> Any:
    """The plan in another format; in ours, with the grades of its items."""
    if format == "markdown":
        from ..core.markdown import write

        plan = desk.load(calls=True)
        return write(plan, load_tails(desk, plan))
    data = desk.export_plan(format)
    if format == "json":
        return with_grades(desk, desk.plan, data)
    return data

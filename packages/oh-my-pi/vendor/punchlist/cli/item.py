"""`punchlist show ID`: everything that is known about one item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..core import ops
from ..core._typing import Any
from ..core.codec import item_to_json
from ..core.diff import Record
from ..core.model import Item, Plan
from ..core.render import MARK_STYLES, Line, Span, hanging
from ..core.sentences import describe
from ..core.text import inline
from ..desk import Desk
from . import output
from .history import author, changes_of, record_to_json, worth_reading
from .item_checks import ItemGrade, describe_check, describe_output, grade_item, last_output
from .parser import Args
from .times import relative

_INDENT = 11  # columns of a label
_SHOWN_APART = ("id", "text", "status", "calls", "extra")  # the others are rows, in the order of `_rows`


def show_item(desk: Desk, plan: Plan, args: Args) -> int:
    """Show one item in full."""
    item = ops.find(plan, ops.resolve(plan, args.item))
    records = [record for record in worth_reading(desk, plan) if changes_of(record, item.id)]
    known = grade_item(desk, plan, item, args)
    kept = last_output(desk, plan, item)
    if args.json:
        history = [record_to_json(record, _sentences(record, item, plan)) for record in reversed(records)]
        data = {**item_to_json(item), **known.data, "history": history}
        if kept:
            data["output"] = kept._asdict()
        output.say_json(data)
        return 0
    glyphs = output.glyphs(desk.settings)
    sign = glyphs.of(item.status)
    if known.is_verified:
        sign = glyphs.verified
    head = Span(f"{sign} ", MARK_STYLES[item.status]), Span(f"{item.id} ", "dim")
    lines = list(hanging(head, glyphs.words(item.text), output.width(), "bold"))
    for label, values in _rows(item, plan, records, known, describe_check(item, args), describe_output(kept)):
        lines += _row(label, [glyphs.words(value) for value in values])
    output.show(lines)
    return 0


def _rows(
    item: Item, plan: Plan, records: Sequence[Record], known: ItemGrade, check: list[str], printed: list[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield what there is to say about an item: a label, and one or more texts."""
    yield "status", [item.status.replace("_", " ")]
    yield "grade", known.words
    yield "reason", [item.reason]
    yield "active", [item.active]
    yield "phase", [item.phase]
    yield "part of", [_named(plan, item.parent)]
    yield "parts", [_named(plan, one.id) for one in plan.items if one.parent == item.id]
    yield "needs", [_named(plan, id) for id in item.needs]
    yield "needed by", [_named(plan, one.id) for one in plan.items if item.id in one.needs]
    yield "owner", [item.owner]
    yield "priority", [item.priority]
    yield "check", check
    yield "evidence", known.rows
    yield "output", printed
    yield "notes", [line for note in item.notes for line in note.splitlines()]
    yield "calls", [_call(call) for call in item.calls]
    yield "history", list(_history(reversed(records), item, plan))


def _row(label: str, values: list[str]) -> Iterator[Line]:
    """Yield a label with its texts behind it, wrapped; nothing if there are none."""
    head = label.ljust(_INDENT)
    for value in filter(None, values):
        yield from hanging((Span(f"  {head}", "dim"),), value, max(output.width(), _INDENT + 22))
        head = " " * _INDENT


def _named(plan: Plan, id: str) -> str:
    """Return an item's id and text, and whether it is closed."""
    item = ops.lookup(plan, id) if id else None
    if item is None:
        return id
    return f"{item.id} {item.text} ({item.status.replace('_', ' ')})"


def _call(call: Mapping[str, Any]) -> str:
    """Return one tool call in words: when, which tool, how it went, and what with."""
    when = relative(str(call.get("at", "")))
    outcome = str(call.get("outcome", ""))
    if "exit" in call:
        outcome = f"exit code {call['exit']}"
    given = call.get("parameters", {})
    words = str(given)
    if isinstance(given, Mapping):
        words = _pairs(given)
    return inline(f"{when} {call.get('name', '')} {outcome}: {words}".strip())


def _pairs(data: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in data.items())


def _sentences(record: Record, item: Item, plan: Plan) -> list[str]:
    return describe(changes_of(record, item.id), plan, by=record.by)


def _history(records: Iterable[Record], item: Item, plan: Plan) -> Iterator[str]:
    for record in records:
        for line in _sentences(record, item, plan):
            yield f"{relative(record.at)}, {author(record)}: {inline(line)}"

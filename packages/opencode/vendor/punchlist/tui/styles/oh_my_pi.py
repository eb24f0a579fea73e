"""oh-my-pi's screen: phases as a tree, the number of notes as a superscript, the notes of the active item only."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...core._typing import NamedTuple
from ...core.cells import columns
from ...core.model import ACTIVE, BLOCKED, DROPPED, Item, Plan
from ...core.render import MARK_STYLES, TEXT_STYLES, Line, Span, by_phase, item_words
from ..view import (
    HEAD,
    NEAR,
    NEXT,
    NOW,
    SPARE,
    Canvas,
    Rank,
    Row,
    View,
    choose_rows,
    clip,
    cost_text,
    own_time,
    ranks,
    row,
    wrapping_row,
)
from . import Style, alerts, keys
from .workers import compact

_PREVIEW = 8  # rows of the tree when it is collapsed
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Branches(NamedTuple):
    """What a tree is drawn with: before one of several, before the last, and below each."""

    one: str
    last: str
    below_one: str
    below_last: str


_LINES = Branches("├─ ", "└─ ", "│  ", "   ")
_ASCII_LINES = Branches("|- ", "`- ", "|  ", "   ")


def rows(view: View, canvas: Canvas) -> list[Row]:
    tree = [*_tree(view, canvas)]
    has_more = len(tree) > _PREVIEW or any(item.notes for item in view.plan.items if item.status == ACTIVE)
    if not view.expanded and len(tree) > _PREVIEW:
        tree = choose_rows(tree, _PREVIEW + 1, lambda words: more(words, view, canvas), canvas.glyphs.cut)
    made = [*alerts(view, canvas)]
    if view.plan.items or view.plan.phases:
        made.insert(0, Row(lambda: _head(view, canvas), (HEAD, 0)))
    if view.busy and not view.plan.active:
        made.append(Row(lambda: _working(view, canvas), (NOW, 0)))
    return [*made, *tree, *compact(view, canvas), *keys(view, canvas, "todos", toggles=has_more)]


def more(words: str, view: View, canvas: Canvas) -> Line:
    return canvas.line(words, "dim", "   ")


def _head(view: View, canvas: Canvas) -> Line:
    said = f"Todos {canvas.counts(view, canvas.width - 6)}"
    tail = canvas.dot.join(filter(None, (view.status if view.plan.active else "", cost_text(view, canvas))))
    room = canvas.width - len(said) - 2
    return (Span("Todos", "bold"), Span(said[5:], "dim"), Span(f"  {canvas.fit(tail, room)}" if tail else "", "dim"))


def _working(view: View, canvas: Canvas) -> Line:
    words = canvas.fit(f"{view.status or 'Working'}{canvas.glyphs.cut}", canvas.width - 2)
    return (Span(f"{canvas.turning(view)} ", "now"), Span(words, "bold"))


# --- the tree --------------------------------------------------------------------------------------------------------


def _tree(view: View, canvas: Canvas) -> Iterator[Row]:
    lines = _LINES if canvas.glyphs.cut == "…" else _ASCII_LINES
    rank = ranks(view.plan)
    groups = [*by_phase(view.plan)]
    for number, (phase, items) in enumerate(groups):
        is_last = number == len(groups) - 1
        if not phase:
            yield from _branch(items, "", is_last, lines, view, canvas, rank)
            continue
        heading = canvas.line(phase, "bold", lines.last if is_last else lines.one)
        best = min((rank[item.id] for item in items), default=(SPARE, 0))
        yield row(heading, *max((NEXT, 15), best))._replace(phase=phase, is_heading=True)
        below = lines.below_last if is_last else lines.below_one
        for one in _branch(items, below, True, lines, view, canvas, rank):
            yield one._replace(phase=phase)


def _branch(
    items: list[Item], stem: str, ends: bool, lines: Branches, view: View, canvas: Canvas, rank: dict[str, Rank]
) -> Iterator[Row]:
    """Items below a stem; the last one ends it, if nothing follows."""
    for number, item in enumerate(items):
        is_last = ends and number == len(items) - 1
        lead = stem + (lines.last if is_last else lines.one)
        below = stem + (lines.below_last if is_last else lines.below_one) + "  "
        draw = partial(_item, item, lead, view)
        yield wrapping_row(draw, canvas, rank[item.id], 2, (Span(below, "dim"),), items=(item,))
        if item.status == ACTIVE and view.expanded:
            yield from _notes(item, below, canvas)


def _item(item: Item, lead: str, view: View, canvas: Canvas) -> Line:
    words = item_words(item)
    if item.status in (BLOCKED, DROPPED) and item.reason:
        words += f" ({item.reason})"
    notes = _superscript(len(item.notes), canvas) if item.notes else ""
    time = own_time(item, view)
    room = canvas.width - len(lead) - 2 - columns(notes) - len(time)
    return (
        Span(lead, "dim"),
        Span(f"{canvas.mark(item, view)} ", MARK_STYLES[item.status]),
        Span(canvas.fit(words, room), TEXT_STYLES[item.status]),
        Span(notes, "dim"),
        Span(time, "dim"),
    )


def _superscript(number: int, canvas: Canvas) -> str:
    return canvas.either(str(number).translate(_SUPERSCRIPTS), f"^{number}")


def _notes(item: Item, lead: str, canvas: Canvas) -> Iterator[Row]:
    parts = [part for note in item.notes for part in note.splitlines()]
    for number, part in enumerate(parts, 1 - len(parts)):  # the last ones matter most
        draw = partial(_note, part, lead)
        yield wrapping_row(draw, canvas, (NEAR, 2 - number), 1, (Span(lead, "dim"),))


def _note(part: str, lead: str, canvas: Canvas) -> Line:
    return (Span(lead, "dim"), Span(canvas.fit(part, canvas.width - len(lead)), "dim"))


# --- in a transcript -------------------------------------------------------------------------------------------------


def block(before: Plan, after: Plan, canvas: Canvas) -> list[Line]:
    """A call and its result as one block: the tree as it is now, collapsed, with the active task always in it."""
    if not after.items:
        if before.items:
            return [canvas.line("Todo list cleared.", "dim")]
        return []
    view = View(after, busy=False)
    return [clip(row.draw(), canvas.width) for row in rows(view, canvas)]


STYLE = Style("oh-my-pi", rows, more, calls=block, failed="Todo update failed: ")

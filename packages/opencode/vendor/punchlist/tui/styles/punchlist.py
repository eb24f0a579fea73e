"""Our own style: the plan as `show` prints it, with the spinner in the place of the active item's sign."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...core.cells import columns
from ...core.model import ACTIVE, Item
from ...core.ops import following
from ...core.render import Line, Place, Span, bar, by_phase, count_text, item_line, item_places, note_parts, with_label
from ..view import (
    ALERT,
    HEAD,
    NEAR,
    NOW,
    OLD,
    SPARE,
    Canvas,
    Drawing,
    Rank,
    Row,
    View,
    cost_text,
    counts,
    fold,
    length,
    progress_of,
    ranks,
    row,
    wrapping_row,
)
from . import Style, alerts, keys
from .workers import compact

_BUSY = 3  # items being worked on that a collapsed panel shows
_NOTES = 2  # lines of notes, the last ones, that matter more than items further down
_TITLE = 12  # cells that a title keeps beside what the checks say
_LEAST = 28  # cells that an item keeps beside time and tokens, if it needs them


_NO_WORDS = Span("")


def rows(view: View, canvas: Canvas) -> list[Row]:
    made = _whole(view, canvas) if view.expanded else _short(view, canvas)
    return [*made, *compact(view, canvas), *keys(view, canvas, "plan")]


def more(words: str, view: View, canvas: Canvas) -> Line:
    return canvas.line(words, "dim", "  " if view.plan.phases else "")


# --- expanded --------------------------------------------------------------------------------------------------------


def _whole(view: View, canvas: Canvas) -> Iterator[Row]:
    plan = view.plan
    if plan.items or plan.phases:
        yield Row(lambda: _head(view, canvas), (HEAD, 0))
    yield from alerts(view, canvas)
    if view.busy and not plan.active:
        yield row(_working(view, canvas))
    rank = ranks(plan)
    places = item_places(plan, canvas.width, canvas.glyphs, view.labels)
    for phase, items in by_phase(plan):
        if phase:
            yield Row(_heading(phase, items, canvas), _of_phase(items, rank), phase=phase, is_heading=True)
        for item in items:
            yield _item_row(item, view, places[item.id], canvas, rank[item.id])._replace(phase=phase)
            yield from _notes(item, canvas, places[item.id])


def _item_row(item: Item, view: View, at: Place, canvas: Canvas, rank: Rank) -> Row:
    """An item, wrapped where there is room; then its label is below its words."""
    label = view.labels.beside.get(item.id)
    if label is None:
        return wrapping_row(partial(_item, item, view, at), canvas, rank, 3, items=(item,))
    shown = label

    def wrap(most: int) -> list[Line]:
        bare = partial(_item, item, view._replace(labels=view.labels._replace(beside={})), at)
        line = bare(canvas._replace(width=canvas.width * most))
        if length(line) + 2 + columns(shown.text) <= canvas.width:
            return []
        rows = fold(line, canvas, 3, most) or [line]
        return with_label(rows, shown, at, canvas.glyphs, most)

    return Row(lambda: _item(item, view, at, canvas), rank, (item,), wrap=wrap)


def _head(view: View, canvas: Canvas) -> Line:
    title = view.plan.title or "Plan"
    title = canvas.glyphs.words(title, canvas.width)
    made = _far(view, canvas, canvas.width - min(columns(title), _TITLE) - 2)
    room = canvas.width - length(made) - 2
    return (Span(canvas.fit(title, room), "bold"), Span("  "), *made)


def _far(view: View, canvas: Canvas, room: int) -> Line:
    """A bar and a count, with what the checks say as far as there is room."""
    cells = min(canvas.width // 4, 20)
    if cells >= 10:
        made = bar(view.plan.progress.percent, canvas.glyphs, cells)
    else:
        made = ""
    full = made.count(canvas.glyphs.full)
    count = f" {counts(view.plan)}" if made else counts(view.plan)
    count = count_text(count, view.labels, canvas.glyphs, room - len(made))
    return (Span(made[:full], "good"), Span(made[full:], "dim"), Span(count, "dim"))


def _heading(phase: str, items: list[Item], canvas: Canvas) -> Drawing:
    count = f" {progress_of(items)}"
    return lambda: (Span(canvas.fit(phase, canvas.width - len(count)), "bold"), Span(count, "dim"))


def _of_phase(items: list[Item], rank: dict[str, Rank]) -> Rank:
    """A heading matters as much as what is below it, but less than what comes next."""
    return max((NEAR, 1), min((rank[item.id] for item in items), default=(SPARE, 0)))


def _item(item: Item, view: View, at: Place, canvas: Canvas) -> Line:
    wide = at._replace(width=canvas.width, depth=len(at.indent) // 2)
    if item.status == ACTIVE:
        return _active(item, view, canvas, wide, at.width)
    mark = canvas.glyphs.sign(item, view.labels)
    return item_line(item, view.plan, wide, canvas.glyphs, mark, label=_label(item, view))


def _label(item: Item, view: View) -> Span:
    return view.labels.beside.get(item.id, _NO_WORDS)


def _notes(item: Item, canvas: Canvas, at: Place) -> Iterator[Row]:
    parts = [*note_parts(item)]
    margin = Span(" " * (at.width - at.room))
    for number, part in enumerate(parts, 1 - len(parts)):  # the last ones matter most
        rank = NEAR if -number < _NOTES and item.status == ACTIVE else OLD
        bar = Span(f"{canvas.glyphs.note} ", "dim")
        yield wrapping_row(partial(_note, part, (margin, bar)), canvas, (rank, -number), 2, (margin, bar))


def _note(part: str, head: Line, canvas: Canvas) -> Line:
    return (*head, Span(canvas.fit(part, canvas.width - length(head)), "dim"))


# --- collapsed -------------------------------------------------------------------------------------------------------


def _short(view: View, canvas: Canvas) -> Iterator[Row]:
    plan = view.plan
    yield from alerts(view, canvas)
    for item in plan.busy[:_BUSY]:
        yield _item_row(item, view, Place(canvas.width, len(item.id)), canvas, (NOW, 0))
    if view.busy and not plan.active:
        yield row(_working(view, canvas))
    if plan.items:
        yield Row(lambda: _coming(view, canvas), (HEAD, 0))
    if len(plan.busy) > _BUSY:
        yield row(canvas.line(f"and {len(plan.busy) - _BUSY} more at work", "dim"), ALERT)


def _coming(view: View, canvas: Canvas) -> Line:
    """How far the plan is, and what comes next."""
    words = _next(view)
    made = _far(view, canvas, canvas.width - min(columns(words), _LEAST) - 2)
    room = canvas.width - length(made) - 2
    if room >= 8 and words:
        return (*made, Span("  "), Span(canvas.fit(words, room), "dim"))
    return made


def _next(view: View) -> str:
    item = following(view.plan)
    if item:
        return f"Next: {item.id} {item.text}"
    if not view.plan.open_items:
        return "all done"
    if view.tip:
        return f"Tip: {view.tip}"
    return ""


# --- the active item -------------------------------------------------------------------------------------------------


def _active(item: Item, view: View, canvas: Canvas, at: Place, width: int) -> Line:
    """An item with what it has cost, as far as that fits on a screen of this width."""
    mark, end = (canvas.turning(view), canvas.glyphs.cut) if view.busy else ("", "")
    label = _label(item, view)
    whole = item_line(item, view.plan, at, canvas.glyphs, mark, end)
    room = width - min(length(whole), _LEAST)
    if item == view.plan.active:
        tail = _tail(view, canvas, room)
    else:
        tail = _tail(View(seconds=view.times.get(item.id)), canvas, room)
    if length(whole) + length(tail) > at.width or label.text:
        narrow = at._replace(width=at.width - length(tail))
        whole = item_line(item, view.plan, narrow, canvas.glyphs, mark, end, label)
    return (*whole, *tail)


def _working(view: View, canvas: Canvas) -> Line:
    """Somebody is at work, but on no item."""
    words = canvas.said(f"{view.status or 'Working'}{canvas.glyphs.cut}")
    tail = _tail(view._replace(status=""), canvas, canvas.width - min(columns(words) + 2, _LEAST))
    words = canvas.fit(words, canvas.width - 2 - length(tail))
    return (Span(f"{canvas.turning(view)} ", "now"), Span(words, "bold"), *tail)


def _tail(view: View, canvas: Canvas, room: int) -> Line:
    """What is being done just now, and what the item has cost: as much of it as there is room for, time at last."""
    cost, time = cost_text(view, canvas), cost_text(view._replace(tokens=0), canvas)
    for said in ((view.status, cost), ("", cost), ("", time)):
        words = "  " + canvas.said(canvas.dot.join(filter(None, said)))
        if words.strip() and columns(words) <= room:
            return (Span(words, "dim"),)
    return ()


STYLE = Style("punchlist", rows, more)

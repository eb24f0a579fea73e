"""Gencode's screen: a box titled Tasks with a sign for each status, and the progress below."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...core.cells import columns
from ...core.diff import diff
from ...core.model import BLOCKED, DROPPED, Item, Plan
from ...core.render import ASCII, MARK_STYLES, TEXT_STYLES, UNICODE, Line, Span, bar, item_words
from ...core.sentences import describe
from ..view import HEAD, NOW, SPARE, Canvas, Row, View, cost_text, counts, length, own_time, ranks, row, wrapping_row
from . import Style, alerts, keys
from .workers import compact

_LEAST = 46  # the width of a box with little in it
_ROUND = "┌─┐│└┘"
_ASCII_ROUND = "+-+|++"


def rows(view: View, canvas: Canvas) -> list[Row]:
    wide = _width(view, canvas)
    if view.plan.items:
        inside = [*_items(view, canvas), *_progress(view, canvas, wide)]
    else:
        inside = []
    if view.busy and not view.plan.active:
        inside.insert(0, Row(lambda: _working(view, canvas), (NOW, 0)))
    made = [*alerts(view, canvas)]
    if inside:
        boxed = [_in_box(one, canvas, wide) for one in inside]
        made += [row(_edge(canvas, wide, "Tasks"), HEAD), *boxed, row(_edge(canvas, wide), HEAD, 1)]
    return [*made, *compact(view, canvas), *keys(view, canvas, "tasks")]


def more(words: str, view: View, canvas: Canvas) -> Line:
    wide = _width(view, canvas)
    return _between(canvas._replace(width=wide - 4).line(words, "dim"), canvas, wide)


# --- inside the box --------------------------------------------------------------------------------------------------


def _items(view: View, canvas: Canvas) -> Iterator[Row]:
    rank = ranks(view.plan)
    for item in _shown_items(view):
        draw = partial(_item, item, time=own_time(item, view))
        yield wrapping_row(draw, canvas._replace(width=canvas.width - 4), rank[item.id], 1, items=(item,))


def _shown_items(view: View) -> tuple[Item, ...]:
    if view.expanded:
        return view.plan.items
    return view.plan.busy


def _item(item: Item, canvas: Canvas, time: str = "") -> Line:
    mark = f"{canvas.glyphs.of(item.status)} "
    words = canvas.fit(_words(item), canvas.width - len(mark) - len(time))
    return (Span(mark, MARK_STYLES[item.status]), Span(words, TEXT_STYLES[item.status]), Span(time, "dim"))


def _words(item: Item) -> str:
    if item.status in (BLOCKED, DROPPED) and item.reason:
        return f"{item.text} ({item.reason})"
    return item_words(item)


def _working(view: View, canvas: Canvas) -> Line:
    words = canvas.fit(f"{view.status or 'Working'}{canvas.glyphs.cut}", canvas.width - 6)
    return (Span(f"{canvas.turning(view)} ", "now"), Span(words, "bold"))


def _progress(view: View, canvas: Canvas, wide: int) -> Iterator[Row]:
    if view.expanded:
        yield row((), SPARE)
    yield Row(lambda: _far(view, canvas, wide), (HEAD, 2))


def _far(view: View, canvas: Canvas, wide: int) -> Line:
    """The count, a bar, and what the active item has cost, as far as there is room."""
    percent, cost, room = view.plan.progress.percent, cost_text(view, canvas), wide - 4
    count = counts(view.plan)
    words = f"Progress: {count}"
    made: Line = (Span(words if columns(words) <= room else canvas.fit(count, room)),)
    bars = Span(f" {bar(percent, canvas.glyphs)}", "good")
    verified = "".join(canvas.dot + words for words in view.labels._replace(default="").summary)
    for span in (Span(f" ({percent}%)"), bars, Span(verified, "dim"), Span(f"  {cost}" if cost else "", "dim")):
        if length(made) + columns(span.text) <= room:
            made = (*made, span)
    return made


# --- the box ---------------------------------------------------------------------------------------------------------


def _width(view: View, canvas: Canvas) -> int:
    """As wide as what is in it."""
    mark = len(canvas.glyphs.completed) + 1
    inside = max(
        (mark + columns(canvas.said(_words(item))) + len(own_time(item, view)) for item in _shown_items(view)),
        default=0,
    )
    return min(canvas.width, max(_LEAST, inside + 4, length(_far(view, canvas, canvas.width)) + 4))


def _edge(canvas: Canvas, wide: int, title: str = "") -> Line:
    signs = _signs(canvas)
    head, right = signs[4], signs[5]
    if title:
        head, right = f"{signs[0]}{signs[1]} {title} ", signs[2]
    return (Span(f"{head}{signs[1] * (wide - len(head) - 1)}{right}", "dim"),)


def _in_box(one: Row, canvas: Canvas, wide: int) -> Row:
    """A row between the sides of the box."""
    draw, wrap = one.draw, one.wrap
    boxed = one._replace(draw=lambda: _between(draw(), canvas, wide))
    if wrap is None:
        return boxed
    return boxed._replace(wrap=lambda most: [_between(line, canvas, wide) for line in wrap(most)])


def _between(line: Line, canvas: Canvas, wide: int) -> Line:
    side = _signs(canvas)[3]
    return (Span(f"{side} ", "dim"), *line, Span(" " * (wide - 4 - length(line))), Span(f" {side}", "dim"))


def _signs(canvas: Canvas) -> str:
    return canvas.either(_ROUND, _ASCII_ROUND)


# --- in a transcript -------------------------------------------------------------------------------------------------


def changes(before: Plan, after: Plan, canvas: Canvas) -> list[Line]:
    """A line for each status that changed; the whole list where items came, went or were reworded."""
    old = {item.id: item.text for item in before.items}
    head = [canvas.line(words) for words in describe([c for c in diff(before, after) if c.kind == "plan"], after)]
    if [*old.items()] != [(item.id, item.text) for item in after.items]:
        return [*list_update(after, canvas), *head]
    was = before.statuses
    return [
        *(_status_change(item, canvas) for item, status in zip(after.items, was, strict=True) if item.status != status),
        *head,
    ]


def list_update(plan: Plan, canvas: Canvas) -> list[Line]:
    """That the list was updated, and the list."""
    sign = canvas.either("📋 ", "")
    inside = canvas._replace(width=canvas.width - 2)
    listed = [_item(item, inside) for item in plan.items] or [inside.line("No todos.", "dim")]
    return [canvas.line(f"{sign}Todo list updated:"), *((Span("  "), *line) for line in listed)]


def _status_change(item: Item, canvas: Canvas) -> Line:
    arrow = canvas.either("→", "->")
    tail = f'" {arrow} {item.status}]'
    words = item_words(item)
    return canvas.line(f'[Todo: "{canvas.fit(words, canvas.width - 8 - len(tail))}{tail}')


STYLE = Style(
    "gencode",
    rows,
    more,
    changes,
    changes,
    glyphs=UNICODE,
    ascii=ASCII._replace(pending="[ ]", active="[>]", blocked="[!]", completed="[x]", abandoned="[-]"),
)

"""Claude Code's screen: a spinner with the active form, a list of checkboxes, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...core.cells import columns
from ...core.model import ACTIVE, BLOCKED, CLOSED, DROPPED, Item
from ...core.render import ASCII, UNICODE, Line, Span
from ..view import ALERT, HEAD, NOW, Canvas, Row, View, cost_text, first_pending, own_time, ranks, row, wrapping_row
from . import Style, alerts, keys
from .workers import in_full

_INDENT = "  "
_DEFAULT = "Working"
_SPENT_STYLE = "dim"
_STYLES = {ACTIVE: "bold", **dict.fromkeys(CLOSED, "dim strike")}
_WORDS = {BLOCKED: "blocked", DROPPED: "dropped"}


def rows(view: View, canvas: Canvas) -> list[Row]:
    made = [*alerts(view, canvas)]
    if view.busy:
        is_known = not view.status and view.plan.active is not None
        rank = ALERT
        if is_known or not view.expanded:
            rank = NOW
        made.append(wrapping_row(partial(_spinner, view, canvas.width), canvas, (rank, 0), 1))
    elif view.expanded and view.plan.items:
        words = canvas.dot.join(["Todos", *view.labels._replace(default="").summary])
        made.append(row(canvas.line(words, "bold dim", _INDENT), HEAD))
    if view.expanded:
        made += _list(view, canvas)
    if view.busy:
        made += _next(view, canvas)
    return [*made, *in_full(view, canvas, _INDENT, _item), *keys(view, canvas, "todos", _INDENT)]


def more(words: str, view: View, canvas: Canvas) -> Line:
    return canvas.line(words, "dim", _INDENT)


def _spinner(view: View, width: int, canvas: Canvas) -> Line:
    """What is being done, and what it has cost if that fits on a screen of this width."""
    active = view.plan.active
    words = view.status or (active.label if active else _DEFAULT)
    cost = cost_text(view, canvas)
    tail = f" ({cost})" if cost else ""
    said = canvas.said(words) + canvas.glyphs.cut
    if columns(said) + columns(tail) + 2 > width:
        tail = ""
    return (
        Span(f"{canvas.turning(view)} ", "now"),
        Span(canvas.fit(said, canvas.width - 2 - columns(tail)), "bold"),
        Span(tail, _SPENT_STYLE),
    )


def _list(view: View, canvas: Canvas) -> Iterator[Row]:
    rank = ranks(view.plan)
    for item in view.plan.items:
        draw = partial(_item, item, view, indent=_INDENT)
        yield wrapping_row(draw, canvas, rank[item.id], 2, items=(item,))


def _item(item: Item, view: View, canvas: Canvas, indent: str) -> Line:
    """A box and the words; bold for what is active, dim and struck through for what is done."""
    is_done = item.status in CLOSED
    words = item.text
    if item.status in (BLOCKED, DROPPED):  # both have the box of another status
        words += f" ({': '.join(filter(None, (_WORDS[item.status], item.reason)))})"
    style = _STYLES.get(item.status, "")
    box = f"{canvas.glyphs.of(item.status)} "
    time = own_time(item, view)
    room = canvas.width - len(indent) - len(box) - len(time)
    lead = (Span(indent), Span(box, "dim" if is_done else ""))
    return (*lead, Span(canvas.fit(words, room), style), Span(time, "dim"))


def _next(view: View, canvas: Canvas) -> Iterator[Row]:
    pending = first_pending(view.plan)
    if pending or view.tip:
        if pending:
            words = f"Next: {pending.text}"
        else:
            words = f"Tip: {view.tip}"
        yield row(canvas.line(words, "dim", _INDENT), HEAD)


STYLE = Style(
    "claude-code",
    rows,
    more,
    item=_item,
    calls=lambda before, after, canvas: [],
    glyphs=UNICODE._replace(pending="☐", active="☐", blocked="☐", completed="☒", abandoned="☒"),
    ascii=ASCII._replace(pending="[ ]", active="[ ]", blocked="[ ]", completed="[x]", abandoned="[x]"),
    spinner="·✢✳✶✻✽✻✶✳✢",
)

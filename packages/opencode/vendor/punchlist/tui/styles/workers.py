"""Sub-agents and sessions in the background, below the plan: `Agent:`, `Status:`, `Tasks (1/3)`, and `2/5`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...core.cells import columns
from ...core.model import ACTIVE, Item
from ...core.render import Line, Span
from ..view import MORE, NEAR, NEXT, Canvas, Row, View, Worker, counts, row
from . import plain_item

ItemLine = Callable[[Item, View, Canvas, str], Line]
_EACH = 100  # between the orders of two workers


def compact(view: View, canvas: Canvas, indent: str = "") -> Iterator[Row]:
    """One line about each; expanded, with its list."""
    for number, worker in enumerate(view.workers):
        if worker.background:
            yield _background(worker, canvas, indent)
            continue
        yield row(about(worker, canvas, indent), NEXT, _EACH * (number + 1))
        yield from _list(worker, view, canvas, number, plain_item, indent) if view.expanded else ()


def in_full(view: View, canvas: Canvas, indent: str, item_line: ItemLine) -> Iterator[Row]:
    """A block for each, if there is a list to show; else one line."""
    if not view.expanded:
        yield from compact(view, canvas, indent)
        return
    for number, worker in enumerate(view.workers):
        if worker.background:
            yield _background(worker, canvas, indent)
            continue
        order = _EACH * (number + 1)
        yield row(canvas.line(f"Agent: {worker.name}", "", indent), NEXT, order)
        if worker.status:
            yield row(canvas.line(f"Status: {worker.status}", "", indent), NEXT, order + 1)
        if worker.plan.items:
            yield row(canvas.line(f"Tasks ({counts(worker.plan)})", "bold dim", indent), NEXT, order + 2)
            yield from _list(worker, view, canvas, number, item_line, indent)


def _list(worker: Worker, view: View, canvas: Canvas, number: int, item_line: ItemLine, indent: str) -> Iterator[Row]:
    for index, item in enumerate(worker.plan.items):
        if item.status == ACTIVE:
            rank = (NEAR, _EACH * (number + 1))
        else:
            rank = (MORE, 10_000 + index)
        yield Row(_drawing(item_line, item, view, canvas, indent + "  "), rank)


def _drawing(item_line: ItemLine, item: Item, view: View, canvas: Canvas, indent: str) -> Callable[[], Line]:
    return lambda: item_line(item, view, canvas, indent)


def about(worker: Worker, canvas: Canvas, indent: str) -> Line:
    """All on one line; where it is too narrow for that, without the status."""
    count = f"  Tasks ({counts(worker.plan)})" if worker.plan.items else ""
    name, status = (canvas.said(words) for words in (worker.name, worker.status))
    room = canvas.width - len(indent) - len("Agent: ") - len(count)
    spans = [Span(indent), Span("Agent: ", "dim"), Span(canvas.fit(name, room))]
    if status and columns(name) + len("  Status: ") + columns(status) <= room:
        spans += [Span("  Status: ", "dim"), Span(status)]
    return (*spans, Span(count, "dim"))


def _background(worker: Worker, canvas: Canvas, indent: str) -> Row:
    """A session in the background: its name, how it is, and how far."""
    said = " ".join(filter(None, (worker.name, worker.status, counts(worker.plan) if worker.plan.items else "")))
    return row(canvas.line(said, "dim", indent), NEXT, _EACH * 50)

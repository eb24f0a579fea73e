"""A panel in the screen of another program, as rows that it only has to draw.

Which rows there are, what they say, and what is cut or left out is decided here, as for `watch`. The program gets a
line of JSON each time that anything on its screen has to change: no clock of its own, no second renderer.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from ..core._typing import Any, NamedTuple
from ..core.model import Plan
from ..core.ops import following
from ..core.render import Line
from ..desk import Desk
from .follow import Follower
from .styles import Style, load, render_rows
from .view import Row, View
from .watch import make_view

_LOOKS = 1.0  # seconds between looks at the time, and at whether anybody reads
_SHORT = 3  # rows of a collapsed panel; one less where there is little room
_LOW = 8  # rows that are little room
MOST = 1_000  # columns and rows


class Size(NamedTuple):
    """The room that a panel has."""

    columns: int
    rows: int


def follow(opened: Callable[[], Desk], size: Size, tell: Callable[[str], object], is_read: Callable[[], bool]) -> int:
    """Follow a plan, and tell each state of its panel as a line of JSON, while somebody reads."""
    from threading import Event

    news = Event()
    follower = Follower(opened, news.set)
    settings = follower.desk.settings
    style = load(settings.style)
    follower.start(Plan())
    told = ""
    while is_read():
        view = make_view(follower.seen, settings.clear_delay)
        text = json.dumps({**panel(view, style, size, unicode=settings.unicode), "expanded": settings.expanded})
        if follower.seen.number and text != told:  # before the first look there is nothing to tell
            tell(text)
            told = text
        news.wait(_LOOKS)
        news.clear()
    return 0


def panel(view: View, style: Style, size: Size, *, unicode: bool = True) -> dict[str, Any]:
    """Return what a panel of this size shows: the rows of the collapsed one, and of the expanded one; none where there
    is no plan. The program's own screen says whether its agent is at work: here nothing turns or ticks."""
    calm = view._replace(busy=False, quiet="", tip="", hint="", by_minute=True)
    plan = calm.plan
    short: list[dict[str, Any]] = []
    long: list[dict[str, Any]] = []
    if plan.items or plan.phases or view.alert:
        room = _SHORT if size.rows >= _LOW else _SHORT - 1
        for found, lines in render_rows(calm, style, size.columns, room, unicode=unicode, wraps=False):
            short += _as_json(found, lines)
        for found, lines in render_rows(calm._replace(expanded=True), style, size.columns, size.rows, unicode=unicode):
            long += _as_json(found, lines)
    coming = following(plan)
    return {
        "plan": plan.id,
        "revision": plan.revision,
        "active": plan.active.id if plan.active else "",
        "next": coming.id if coming else "",
        "open": len(plan.open_items),
        "short": short,
        "long": long,
    }


def _as_json(found: Row, lines: list[Line]) -> list[dict[str, Any]]:
    """The lines of a row, each as pieces of text with their styles; with the id, where the row is of one item."""
    made: list[dict[str, Any]] = []
    for line in lines:
        pieces = [[span.text, span.style] for span in line if span.text]
        made.append({"spans": pieces})
    if len(found.items) == 1 and not found.is_count:
        for entry in made:
            entry["id"] = found.items[0].id
            entry["status"] = found.items[0].status
    return made

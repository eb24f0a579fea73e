"""Which tools are offered at this moment. Whatever makes a tool appear or go is decided here, and only here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..desk import Desk
from ..dialects import Dialect, Tool, offered
from ..local.on_off import is_off
from ..local.settings import place

Offer = Callable[[Dialect, str, Callable[[], Desk]], tuple[Tool, ...]]


def offered_now(dialect: Dialect, session: str, desk: Callable[[], Desk]) -> tuple[Tool, ...]:
    """The tools of a dialect that can be called now: none while punchlist is off, here or for the session that the
    server was started for. `desk` opens the plan of whoever called last: it is asked only where that matters, because
    a list of tools should not wait for a store."""
    if is_off(_place(), session):
        return ()
    may_pause = any(tool.only_continuing for tool in dialect.tools)
    return tuple(offered(dialect, continuing=may_pause and _goes_on(desk())))


@cache
def _place() -> str:
    """Where the server works: an agent starts it in its project, and there it stays."""
    return place()


def _goes_on(desk: Desk) -> bool:
    """Whether the agent was nudged since the user last spoke."""
    from ..desk.guidance import is_continuing

    return is_continuing(desk)

"""Which tools are offered at this moment. Whatever makes a tool appear or go is decided here, and only here."""

from __future__ import annotations

from collections.abc import Callable

from ..desk import Desk
from ..dialects import Dialect, Tool, offered

Offer = Callable[[Dialect, Callable[[], Desk]], tuple[Tool, ...]]


def offered_now(dialect: Dialect, desk: Callable[[], Desk]) -> tuple[Tool, ...]:
    """The tools of a dialect that can be called now. `desk` opens the plan of whoever called last: it is asked only
    where that matters, because a list of tools should not wait for a store."""
    return tuple(offered(dialect, continuing=can_change(dialect) and _goes_on(desk)))


def can_change(dialect: Dialect) -> bool:
    """Whether what is offered may change by itself, so that it is worth looking again."""
    return any(tool.only_continuing for tool in dialect.tools)


def _goes_on(desk: Callable[[], Desk]) -> bool:
    """Whether a continuation is running for this agent. Nothing sends an agent on yet."""
    return False

"""How a session's work goes: what it was reminded of and nudged with. It is kept in the store beside the plan."""

from __future__ import annotations

from collections.abc import Callable

from ..core._typing import TYPE_CHECKING, TypeVar
from ..core.model import SessionState
from .commit import advance

if TYPE_CHECKING:
    from . import Desk

_T = TypeVar("_T")


def load_state(desk: Desk) -> SessionState:
    """Return the state of a desk's session, asked of the store now."""
    return desk._seat.store.load_state(_key(desk))


def update_state(desk: Desk, step: Callable[[SessionState], SessionState]) -> SessionState:
    """Take a step in the state of a session, and save it. `step` is called again after a conflict."""
    return decide(desk, lambda state: (step(state), None))[0]


def decide(
    desk: Desk, step: Callable[[SessionState], tuple[SessionState, _T]], known: SessionState | None = None
) -> tuple[SessionState, _T]:
    """Take a step that also decides something. `known`: the state as it was read before."""
    return advance(desk._seat.store, _key(desk), step, known)


def _key(desk: Desk) -> str:
    """Without a session, work is counted for the plan: what one project has spent, another has not."""
    seat = desk._seat
    return seat.reader_key if desk.session else f"{seat.reader_key}/{seat.peek()[0]}"

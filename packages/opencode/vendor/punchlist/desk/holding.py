"""An agent that is held back: it asked for a pause that could not be saved, and stops until the user speaks again.
And a desk where punchlist is off.

Both are kept in files beside the store, because the store may be what failed.
"""

from __future__ import annotations

import time

from ..core._typing import TYPE_CHECKING
from ..local import on_off
from .events import log_event

if TYPE_CHECKING:
    from . import Desk

_AGAIN = 0.5  # seconds until it is noticed that punchlist was turned off or on


def hold_back(desk: Desk, reason: str) -> None:
    """Let the agent stop until the user speaks again."""
    is_kept = desk._seat.store.durable and on_off.hold(_key(desk), reason)
    desk._seat.held = "" if is_kept else reason  # what a file keeps, another process can end
    log_event(desk, "pause-failed", message=reason)


def hold_back_session(session: str, agent: str, reason: str) -> None:
    """Let the agent of a session stop until the user speaks again, where its store cannot even be opened."""
    from ..local.event_log import write
    from .seat import reader_key

    on_off.hold(reader_key(session, agent), reason)
    write("pause-failed", session=session, agent=agent, plan="", message=reason)


def held_back(desk: Desk) -> str:
    """Return why the agent is not to be nudged although nothing is paused; empty if nothing holds it back."""
    if desk._seat.held or not desk._seat.store.durable:
        return desk._seat.held
    return on_off.hold_reason(_key(desk))


def release(desk: Desk) -> bool:
    """Let an agent that was held back go on: the user has spoken. Return whether one was."""
    was_held, desk._seat.held = bool(desk._seat.held), ""
    return (desk._seat.store.durable and on_off.release(_key(desk))) or was_held


def is_off(desk: Desk) -> bool:
    """Return whether the user has turned punchlist off here. Looked up now and then, not at every call."""
    if desk.settings.off:
        return True
    seat = desk._seat
    known, until = seat.off
    if time.monotonic() <= until:
        return known
    found = on_off.is_off(seat.place, desk.session)
    seat.off = (found, time.monotonic() + _AGAIN)
    return found


def _key(desk: Desk) -> str:
    return desk._seat.reader_key if desk.session else f"{desk._seat.reader_key}{desk._seat.place}"

"""What happened around a plan beside its changes: reminders, nudges, stops, refusals, errors."""

from __future__ import annotations

from ..core._typing import TYPE_CHECKING, Any
from ..core.errors import StoreError
from ..local.files import time_text

if TYPE_CHECKING:
    from . import Desk


def log_event(desk: Desk, kind: str, **values: Any) -> None:
    """Write an event to the log; of a store that is not durable, to memory."""
    seat = desk._seat
    try:
        plan = seat.plan_id()
    except StoreError:  # what happens to a store that fails is worth a line, too
        plan = ""
    who = {"at": time_text(), "session": desk.session, "agent": desk.agent, "plan": plan}
    if seat.store.durable:
        from ..local.event_log import write

        write(kind, **who, **values)
    else:
        seat.events.append({"kind": kind, **who, **values})


def read_events(desk: Desk) -> list[dict[str, Any]]:
    """Return what happened around a desk's plan, oldest first."""
    from ..local.event_log import is_about, read

    seat = desk._seat
    about = (seat.peek()[0], desk.session, seat.place)
    found = read() if seat.store.durable else iter(seat.events)
    return [one for one in found if is_about(one, *about)]

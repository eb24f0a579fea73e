"""Which plan a session starts with: one that the user named or prepared for it. Loaded when a session starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ..core._typing import TYPE_CHECKING
from ..core.errors import Refused, StaleRevision
from ..core.model import MAIN, USER, Reader
from ..desk import Desk
from ..local.files import write_file
from ..local.settings import state_folder
from ..stores import PlanKey, PlanSummary

if TYPE_CHECKING:
    from .host import HookEvent, Host

_RECENT = 20  # plans of a directory that are looked at
_LARGEST = 200  # bytes of a note


def adopt(desk: Desk, named: str, *, is_told: bool, own: Callable[[], bool] = bool) -> bool:
    """Give a session that starts the plan that is meant for it, and return whether it got one. `named` is the plan that
    the environment names. `is_told`: the model is told all of the plan now. `own` takes over the list that the agent
    itself has of the session, if there is one: it is nearer to it than what was prepared for any session."""
    if named and desk.plan.id != named and desk._seat.store.load(named) is not None:
        return _take(desk, named, is_told=is_told)
    if desk.plan.id:
        return own()
    chosen = take_next(desk._seat.place)
    if chosen and desk._seat.store.load(chosen) is not None:
        return _take(desk, chosen, is_told=is_told)
    return own() or any(_take(desk, plan, alone=True, is_told=is_told) for plan in _prepared(desk))


def take_own_list(desk: Desk, event: HookEvent, host: Host) -> bool:
    """Make the list that an agent kept of a session by itself the plan, if nothing ever was on the plan; return whether
    that was done. A list that cannot be read is left alone, and the log has a line."""
    if host.own_list is None or desk.plan.last_id:
        return False
    try:
        found = host.own_list(event)
        if found is None:
            return False
        from ..desk.transfer import take_over

        return bool(take_over(desk, found.data, found.format, found.tool).changes)
    except (Refused, OSError) as error:
        from ..local.event_log import write_error

        write_error(f"hook {host.name}, its own list", error)
        return False


def leave_next(place: str, plan: str) -> None:
    """Note that the next session that starts in a place works from a plan."""
    write_file(_path(place), plan.encode())


def take_next(place: str) -> str:
    """Return the plan that was noted for the next session in a place, once. Of two who ask, one gets it."""
    path = _path(place)
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        plan = os.read(handle, _LARGEST).decode("utf-8", "replace")
        os.unlink(path)
    except OSError:  # somebody else was faster
        return ""
    finally:
        os.close(handle)
    return plan


def _path(place: str) -> str:
    from hashlib import sha256

    name = sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return os.path.join(state_folder(os.environ), "next", name)


def _prepared(desk: Desk) -> Iterator[str]:
    """Yield the open plans of this place that the user wrote and no session ever worked from, the newest first."""
    for listing in desk._seat.store.plans(_RECENT, agent=MAIN, place=desk._seat.place):
        if listing.is_open and not listing.sessions and _is_by_user(desk, listing):
            yield listing.id


def _is_by_user(desk: Desk, listing: PlanSummary) -> bool:
    return all(record.by == USER for record in desk._seat.store.history(listing.id))


def _take(desk: Desk, plan: str, *, alone: bool = False, is_told: bool) -> bool:
    home = PlanKey(desk._seat.place, desk.session, desk.agent, desk._seat.host)
    try:
        desk._seat.store.bind(home, plan, alone=alone)
    except StaleRevision:
        return False
    if is_told:
        revision, reader = desk._seat.store.peek(plan, desk._seat.reader_key)
        desk._seat.store.remember(plan, desk._seat.reader_key, Reader(max(revision, reader.seen)))
    return True

"""Which plan a session starts with: one that the user named or prepared for it. Loaded when a session starts."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..core.errors import StaleRevision
from ..core.model import MAIN, USER, Reader
from ..desk import Desk
from ..local.files import write_file
from ..local.settings import state_folder
from ..stores import PlanKey, PlanSummary

_RECENT = 20  # plans of a directory that are looked at
_LARGEST = 200  # bytes of a note


def adopt(desk: Desk, named: str, *, is_told: bool) -> bool:
    """Give a session that starts the plan that is meant for it, and return whether it got one. `named` is the plan that
    the environment names. `is_told`: the model is told all of the plan now."""
    if named and desk.plan.id != named and desk._seat.store.load(named) is not None:
        return _take(desk, named, is_told=is_told)
    if desk.plan.id:
        return False
    chosen = take_next(desk._seat.place)
    if chosen and desk._seat.store.load(chosen) is not None:
        return _take(desk, chosen, is_told=is_told)
    return any(_take(desk, plan, alone=True, is_told=is_told) for plan in _prepared(desk))


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

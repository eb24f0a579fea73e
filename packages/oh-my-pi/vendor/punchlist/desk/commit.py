"""The one door to a plan: take a snapshot, work on it, save; again if somebody else saved meanwhile."""

from __future__ import annotations

import os
import time
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping

from ..core._typing import TYPE_CHECKING, NamedTuple, TypeVar
from ..core.codec import refuse_unsound
from ..core.diff import Change, Record
from ..core.errors import Disagreement, Refused, StaleRevision, StoreError
from ..core.model import NOTHING, USER, Pause, Plan, Reader, SessionState
from ..stores import Commit, Store
from . import delivery
from .events import log_event

if TYPE_CHECKING:
    from . import Desk

_TRIES = 500  # conflicts in a row before we give up
_FAIR = 4  # conflicts after which we ask the store for the next turn
_LIVE = "7d"  # for how long an agent may have said nothing and still be at work
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_T = TypeVar("_T")


class Changed(NamedTuple):
    """What a change did."""

    plan: Plan
    """The plan as it is now."""
    before: Plan
    """The plan that the change was made to, with what somebody else saved at the same moment."""
    changes: tuple[Change, ...] = ()
    """What differs between the two; empty if nothing was changed."""


class Snapshot(NamedTuple):
    """A plan, and what the desk's reader has been told about it."""

    plan: Plan
    reader: Reader
    known: Reader  # what the reader had been told when its call came in
    is_current: bool = True  # False: as this desk left it, without asking the store


class Draft(NamedTuple):
    """What is to be saved."""

    plan: Plan
    record: Record | None = None  # None: the plan stays as it is
    reader: Reader | None = None  # what the reader had been told until now; None: it is not told more
    lists: Mapping[str, str] = NOTHING  # what the reader sent last, by tool
    told: bool = False  # whether the answer, which is not written yet, tells the reader of updates


def commit(
    desk: Desk, work: Callable[[Snapshot], tuple[Draft, _T]], *, from_memory: bool = False
) -> tuple[Changed, _T]:
    """Work on the plan as it is now, and save the draft. Return what changed, and what the work found out.

    `from_memory`: assume at first that nobody else wrote since this desk did. The store refuses the save if somebody
    did; if there is nothing to save, the store is asked.
    """
    has_disagreed = False
    for snapshot in _snapshots(desk, from_memory=from_memory):
        try:
            draft, found = work(snapshot)
            if draft.record is None and not snapshot.is_current and not _is_current(desk, snapshot):
                continue
            plan = _settle(desk, snapshot.plan, draft)
        except StaleRevision:
            continue
        except Disagreement:  # the plan that the desk remembers may be older than a history that was lost
            if has_disagreed:
                raise
            has_disagreed = snapshot.is_current
            continue
        return Changed(plan, snapshot.plan, draft.record.changes if draft.record else ()), found
    raise conflict_error()


def run_edit(desk: Desk, edit: Callable[[Plan], Plan], now: Plan) -> Plan:
    """Return what an edit makes of a plan. Raises Refused if it has tried to save with the same desk: its own save
    would come too late each time."""
    _refuse_inside_edit(desk)
    editing, thread = desk._seat.editing, get_ident()
    editing[thread] = False
    try:
        edited = edit(now)
    finally:
        has_tried = editing.pop(thread)
    if has_tried:  # and went on as if it had not been refused
        raise _nested_error()
    return edited


def advance(
    store: Store, key: str, step: Callable[[SessionState], tuple[SessionState, _T]], known: SessionState | None = None
) -> tuple[SessionState, _T]:
    """Take a step in the state of a session, and save it. Return the new state, and what the step found out.

    `known`: the state as it was read before; the store refuses the save if it is another now."""
    for _ in range(_TRIES):
        state = store.load_state(key) if known is None else known
        known = None
        after, found = step(state)
        if after == state:
            return state, found
        try:
            store.save_state(key, state, after)
            return after, found
        except StaleRevision:
            continue
    raise conflict_error()


def conflict_error() -> StoreError:
    """What to raise when every attempt met a conflict."""
    return StoreError(f"the plan was changed by others {_TRIES} times in a row; try again.")


def remember(desk: Desk, now: Plan, reader: Reader, *, told: bool) -> None:
    """Save that a reader was told of everything up to now. `told`: by an answer that is not written yet.

    Raises StaleRevision if it was told meanwhile.
    """
    if delivery.is_held() and (told or delivery.told(now.id, desk._seat.reader_key)):
        _remember_when_written(desk, now)
    elif now.id and reader.seen < now.revision:
        desk._seat.store.remember(now.id, desk._seat.reader_key, reader._replace(seen=now.revision), reader)


def trim(desk: Desk, before: str, *, plan: str = "", place: str = "") -> dict[str, int]:
    """Delete history from before a time: of all plans, of one, or of those that were made in a place. What an agent
    that was at work in the last days has not been told stays. Return how much each plan has lost."""
    from ..local.age import ago

    return desk._seat.store.trim(before, plan, place, live=ago(_LIVE))


# --- inside ----------------------------------------------------------------------------------------------------------


def _refuse_inside_edit(desk: Desk) -> None:
    editing, thread = desk._seat.editing, get_ident()
    if thread in editing:
        editing[thread] = True
        raise _nested_error()


def _nested_error() -> Refused:
    return Refused("an edit must not call the desk it is made with; call it before or after the change.")


def _snapshots(desk: Desk, *, from_memory: bool) -> Iterator[Snapshot]:
    """Yield the plan again and again: as this desk left it, then as it is in the store. The waits between are short
    and uneven, so that two writers do not keep step."""
    seat = desk._seat
    if from_memory and seat.left is not None:
        yield seat.left
        seat.left = None
    reserve, release = getattr(desk._seat.store, "reserve", None), getattr(desk._seat.store, "release", None)
    known: tuple[str, Reader] | None = None
    try:
        for number in range(_TRIES):
            if number:
                time.sleep(os.urandom(1)[0] / 50_000 * min(number, 8))
                seat.cached = Plan()  # what we lost to is not what we know, whatever its number
            if reserve and number >= _FAIR:  # on a server, one busy writer could keep us out for ever
                reserve(seat.peek()[0])
            plan, reader = seat.look()
            known = known if known and known[0] == plan.id else (plan.id, reader)
            yield Snapshot(plan, reader, known[1])
    finally:
        if release:
            release()


def _is_current(desk: Desk, snapshot: Snapshot) -> bool:
    plan = snapshot.plan
    return desk._seat.peek() == (plan.id, plan.revision, snapshot.reader)


def _settle(desk: Desk, now: Plan, draft: Draft) -> Plan:
    """Save a draft; the plan as it is then."""
    if draft.record is not None:
        return _save(desk, now, draft, draft.record)
    if draft.reader is not None:
        try:
            remember(desk, now, draft.reader, told=draft.told)
        except StaleRevision:
            raise
        except StoreError as error:  # a full disk: it is told again, once this can be saved
            if not error.is_readable:
                raise
    if draft.lists:
        desk._seat.store.keep_lists(now.id, desk._seat.reader_key, draft.lists)
    return now


def _save(desk: Desk, now: Plan, draft: Draft, record: Record) -> Plan:
    """Write what `now` has become. Raises StaleRevision, and Refused if the plan could not be read again, or if an edit
    of this desk is not finished yet."""
    if desk._seat.editing:
        _refuse_inside_edit(desk)
    refuse_unsound(now, draft.plan, record.changes)
    after = draft.plan._replace(id=now.id or _new_id(), revision=record.revision)
    is_told_later = delivery.is_held() and (draft.told or bool(delivery.told(now.id, desk._seat.reader_key)))
    reader = None if is_told_later else draft.reader
    before = now if now.id else None
    desk._seat.store.save(Commit(before, after, record, reader, desk._seat.key_of(now), draft.lists))
    told = Reader(after.revision)
    desk._seat.keep(now, after, Snapshot(after, told, told, is_current=False) if reader is not None else None)
    if record.by != USER and desk._seat.given[:2] == (now.id, now.revision):  # no words of the user came with it
        desk._seat.given = (after.id, after.revision, desk._seat.given[2])
    if is_told_later:
        _remember_when_written(desk, after)
    if before is None and desk.settings.keep_history:
        _trim(desk)
    if after.paused != now.paused:
        _tell_pause(desk, after.paused)
    if any(map(_touches_check, record.changes)):
        _note_bases(desk, now, after)
    return after


def _touches_check(change: Change) -> bool:
    """Whether a check may have been set, or an item started that has one."""
    return change.kind in ("added", "changed") and bool(change.after.check)


def _note_bases(desk: Desk, before: Plan, after: Plan) -> None:
    """Keep the files as they are now. If that fails, the plan is saved all the same."""
    from .evidence import note_bases

    try:
        note_bases(desk, before, after)
    except StoreError as error:
        from ..local.event_log import write_error

        write_error("check", error)


def _tell_pause(desk: Desk, paused: Pause | None) -> None:
    """Tell whoever listens of a pause. A durable store has it in its history; others keep an event."""
    if paused is None:
        if not desk._seat.store.durable:
            log_event(desk, "resume")
        return
    if not desk._seat.store.durable:
        log_event(desk, "pause", reason=paused.reason)
    for listener in desk._seat.listeners:
        listener(paused)


def _trim(desk: Desk) -> None:
    """Delete history that is older than the settings say, of plans of this place only: a store may hold those of
    others, who want to keep theirs. If that fails, the plan is saved all the same."""
    if not desk._seat.place:
        return
    from ..local.age import ago

    try:
        trim(desk, ago(desk.settings.keep_history), place=desk._seat.place)
    except StoreError as error:
        from ..local.event_log import write_error

        write_error("trim", error)


def _remember_when_written(desk: Desk, now: Plan) -> None:
    delivery.tell(now.id, desk._seat.reader_key, now.revision)
    delivery.when_written(lambda: desk._seat.store.remember(now.id, desk._seat.reader_key, Reader(now.revision)))


def _new_id() -> str:
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(8))

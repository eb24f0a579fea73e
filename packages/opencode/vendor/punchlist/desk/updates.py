"""What others changed that a reader has not been told yet."""

from __future__ import annotations

from collections.abc import Sequence

from ..core._typing import TYPE_CHECKING
from ..core.diff import Record, diff
from ..core.errors import StaleRevision
from ..core.model import USER, Plan, Reader
from ..core.sentences import tell
from ..core.text import counted
from ..core.undo import leading_to
from . import delivery
from .commit import Draft, Snapshot, commit

if TYPE_CHECKING:
    from . import Desk

REPLACING = ("import", "restore")  # kinds of records that put another list in the place of a plan
_LINES = 10  # sentences of updates in one answer


def take_updates(desk: Desk, *, ids: bool, shown: Sequence[str] = ()) -> list[str]:
    """Return the updates for a desk's reader, which counts as told now. Of several processes that would tell it at
    once, one does. `shown`: items on a list that it was shown just now; that they were added is not told."""

    def work(snapshot: Snapshot) -> tuple[Draft, tuple[list[str], list[Record]]]:
        now, reader = snapshot.plan, snapshot.reader
        records = pending_updates(desk, now, reader)
        lines = update_lines(desk, now, records, ids=ids, is_new=not reader.seen, shown=shown)
        if lines and not may_tell(desk, now, reader):
            return Draft(now), ([], [])
        return Draft(now, reader=reader, told=bool(lines)), (lines, records)

    _, (lines, records) = commit(desk, work)
    desk._seat.owes_list = desk._seat.owes_list or any(record.by == USER for record in records)
    return lines


def pending_updates(desk: Desk, now: Plan, reader: Reader) -> list[Record]:
    """Return the records that a reader has not been told of. For one that was told of nothing yet, the plan begins
    with the last import or restore."""
    seen = max(reader.seen, delivery.told(now.id, desk._seat.reader_key))
    if seen >= now.revision:
        return []
    records = leading_to(desk._seat.store.history(now.id, seen), now.revision)
    if seen:
        return records
    last = max((index for index, record in enumerate(records) if record.kind in REPLACING), default=-1)
    return records[last + 1 :]


def update_lines(
    desk: Desk, now: Plan, records: Sequence[Record], *, ids: bool, is_new: bool, shown: Sequence[str] = ()
) -> list[str]:
    """Return what records say to a desk's reader: what each author in turn made of the plan, a sentence for each
    change. A session that is new to a plan of others is told the plan."""
    if not records:
        return []
    if is_new and desk._seat.is_shared:
        return _complete_list(desk, now, ids=ids)
    from ..core.updates import replaced, turns, worth_telling

    lines: list[str] = []
    for by, reader, replaces, before, after in turns(now, records):
        if reader == desk._seat.reader_key:
            continue
        if replaces:
            lines += replaced(after, ids=ids)
        else:
            changes = [one for one in diff(before, after) if one.kind != "added" or one.id not in shown]
            lines += tell(worth_telling(changes, by), by, now, ids=ids)
    if len(lines) <= _LINES:
        return lines
    if is_new and now.open_items:
        return _complete_list(desk, now, ids=ids)
    return [*lines[:_LINES], f"and {counted(len(lines) - _LINES, 'more change')}."]


def _complete_list(desk: Desk, now: Plan, *, ids: bool) -> list[str]:
    if not now.open_items:
        return []
    from ..policy.wording import restored

    return [restored(now, ids=ids, going_on=False, agent=desk._seat.name if desk._seat.is_shared else "")]


def may_tell(desk: Desk, now: Plan, reader: Reader) -> bool:
    """Return whether no other process is telling this reader of this plan right now. Raises StaleRevision if one just
    has. A process that does not say when its answer was written saves at once what it tells, and needs no claim."""
    if not (delivery.is_held() and desk._seat.store.durable):
        return True
    if not delivery.claim(now.id, desk._seat.reader_key):
        return False
    if desk._seat.peek()[2] != reader:
        raise StaleRevision("the reader was told of it")
    return True


def forget_lists(desk: Desk, restored: Sequence[str]) -> None:
    """The reader has lost its conversation, and was shown these items again: its next list can leave out no others."""
    plan = desk.plan
    lists = desk._seat.store.lists(plan.id, desk._seat.reader_key) if plan.id else {}
    if not lists:
        return
    from ..core.last_sent import from_text, informed, lost, to_text

    kept = {tool: from_text(text) for tool, text in lists.items()}
    records = desk._seat.store.history(plan.id, min(one.at for one in kept.values()))
    known = {tool: informed(one, records, desk._seat.reader_key, plan.revision) for tool, one in kept.items()}
    left = {tool: to_text(lost(one, restored)) for tool, one in known.items()}
    desk._seat.store.keep_lists(plan.id, desk._seat.reader_key, left)

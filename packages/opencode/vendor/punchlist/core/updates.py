"""What of a plan's history is worth telling, and to whom it is to be ascribed."""

from __future__ import annotations

from collections.abc import Sequence

from .diff import Change, Record, undo
from .model import ACTIVE, CHECK, CLOSED, PENDING, USER, Item, Plan
from .text import quoted

_LISTED = 20  # items of a new list that are named

SHOWN = 60  # characters of an item's text in an answer


def turns(now: Plan, records: Sequence[Record]) -> list[tuple[str, str, bool, Plan, Plan]]:
    """Who changed the plan, as which reader, whether the user put another list in its place, from what to what. Changes
    of one author in a row are one turn: what was done and undone again is not worth a word."""
    found: list[tuple[str, str, bool, Plan, Plan]] = []
    for record in reversed(records):
        before = undo(now, record.changes)
        by, reader = record.by, record.reader
        is_new = by == USER and record.kind in ("import", "restore")
        if found and found[0][:3] == (by, reader, is_new):
            found[0] = (by, reader, is_new, before, found[0][4])
        else:
            found.insert(0, (by, reader, is_new, before, now))
        now = before
    return found


def became_active(change: Change) -> bool:
    """Whether a change made an item the current one."""
    if change.kind not in ("added", "changed") or change.after.status != ACTIVE:
        return False
    return change.before is None or change.before.status != ACTIVE


def words_given(records: Sequence[Record]) -> dict[str, str]:
    """Return the words that items were given in these records, by their ids."""
    return {change.id: change.after.text for record in records for change in record.changes if _gave_words(change)}


def _gave_words(change: Change) -> bool:
    if change.kind not in ("added", "changed"):
        return False
    return change.before is None or bool(change.before.text != change.after.text)


def replaced(plan: Plan, *, ids: bool) -> list[str]:
    """That the user put another list in a plan's place, with the list."""
    names = [_listed(item, ids) for item in plan.items[:_LISTED]]
    if len(plan.items) > _LISTED:
        names.append(f"and {len(plan.items) - _LISTED} more")
    now = "it is empty now"
    if names:
        now = f"it is now: {', '.join(names)}"
    return [f"the user replaced the list; {now}."]


def _listed(item: Item, ids: bool) -> str:
    state = "" if item.status == PENDING else f" ({item.status})"
    if ids:
        return f"{item.id} {quoted(item.text)}{state}"
    return f"{quoted(item.text)}{state}"


def worth_telling(changes: Sequence[Change], by: str) -> list[Change]:
    """Every change of the user's, or by a passed check; of another agent's, not what it is busy with, nor that it put
    away what is closed."""
    if by in (USER, CHECK):
        return list(changes)
    told = [change for change in changes if not _is_tidying(change)]
    return [change for change in told if change.kind != "changed" or not _is_work(change)]


def _is_tidying(change: Change) -> bool:
    return change.kind == "removed" and change.before.status in CLOSED


def _is_work(change: Change) -> bool:
    old, new = change.before, change.after
    kept = old._replace(status=new.status, owner=new.owner, evidence=new.evidence)
    return kept == new and new.status in (ACTIVE, PENDING)

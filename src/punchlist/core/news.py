"""What of a plan's history is worth telling, and to whom it is to be ascribed."""

from __future__ import annotations

from collections.abc import Sequence

from .changes import Change, Record, undo
from .model import ACTIVE, CLOSED, PENDING, USER, Plan


def turns(now: Plan, records: Sequence[Record]) -> list[tuple[str, str, Plan, Plan]]:
    """Who changed the plan, as which reader, from what to what. Changes of one author in a row are one turn: what was
    done and undone again is not worth a word."""
    found: list[tuple[str, str, Plan, Plan]] = []
    for record in reversed(records):
        before = undo(now, record.changes)
        if found and found[0][:2] == (record.by, record.reader):
            found[0] = (*found[0][:2], before, found[0][3])
        else:
            found.insert(0, (record.by, record.reader, before, now))
        now = before
    return found


def worth_telling(changes: Sequence[Change], by: str) -> list[Change]:
    """The user's every change; of another agent's, not what it is busy with, nor that it put away what is closed."""
    return [c for c in changes if by == USER or not (_is_tidying(c) or (c.kind == "changed" and _is_work(c)))]


def _is_tidying(change: Change) -> bool:
    return change.kind == "removed" and change.before.status in CLOSED


def _is_work(change: Change) -> bool:
    old, new = change.before, change.after
    kept = old._replace(status=new.status, owner=new.owner, calls=new.calls, evidence=new.evidence)
    return kept == new and new.status in (ACTIVE, PENDING)

"""What of a history can be undone, and what can be done again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .diff import CALLS, QUIET, Record


def undoable(records: Iterable[Record]) -> Record | None:
    """The change that an undo would take back."""
    done, _ = _stacks(records)
    if done:
        return done[-1]
    return None


def redoable(records: Iterable[Record]) -> Record | None:
    """The change that a redo would bring back: the last one undone, unless something else was done since."""
    _, undone = _stacks(records)
    if undone:
        return undone[-1]
    return None


def _stacks(records: Iterable[Record]) -> tuple[list[Record | None], list[Record | None]]:
    """What was done, and what was undone of it; None stands for what is no longer known."""
    done: list[Record | None] = []
    undone: list[Record | None] = []
    for record in records:
        if record.kind in (CALLS, QUIET):
            continue
        if record.kind == "undo":
            undone.append(done.pop() if done else None)
        elif record.kind == "redo":
            done.append(undone.pop() if undone else None)
        else:
            done.append(record)
            undone.clear()
    return done, undone


def leading_to(records: Sequence[Record], revision: int) -> list[Record]:
    """Those records that lead to a revision without a gap: none written since, none before one that is gone. A record
    of tool calls stands for those right before it, which were dropped."""
    kept: list[Record] = []
    wanted = revision
    for record in reversed(records):
        if record.revision > wanted:
            continue
        if record.revision < wanted and not (kept and kept[-1].kind == CALLS):
            break
        kept.append(record)
        wanted = record.revision - 1
    return kept[::-1]

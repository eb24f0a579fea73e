"""Edits of a plan: any pure function from plan to plan, undo and redo, and going back to a revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core._typing import TYPE_CHECKING
from ..core.diff import CALLS, Calls, Change, Record, apply, noted, without_calls
from ..core.diff import undo as taken_back
from ..core.errors import BadShape, Refused, check_type
from ..core.model import USER, Author, Item, Plan
from ..core.undo import leading_to, redoable, undoable
from ..local.files import time_text
from .commit import Changed, Draft, Snapshot, commit, run_edit
from .observations import keep_calls

if TYPE_CHECKING:
    from . import Desk

_CLEAR = "clear"  # the kind of an edit that takes everything off the list
_REPLACING = ("import", "restore")  # kinds of edits that put another list in the place of a plan
_EXAMPLE = 'desk.change(lambda plan: ops.complete(plan, "1"))'


def change(desk: Desk, edit: Callable[[Plan], Plan], by: str, kind: str) -> Changed:
    """Apply an edit to the plan as it is now, and save it."""
    if not callable(edit):
        raise BadShape([f"change takes a function from a plan to a plan, not {type(edit).__name__}: {_EXAMPLE}."])
    if not isinstance(by, str) or not by:
        raise BadShape([f"by must be the name of whoever makes the change, not {by!r}."])
    check_type("kind", kind, str, "a string")
    is_own = by == desk.agent != USER
    key = desk._seat.reader_key if is_own else ""

    def work(snapshot: Snapshot) -> tuple[Draft, Calls]:
        now = snapshot.plan
        at = time_text()
        name = by
        if is_own:
            name = desk._seat.name
        is_first = kind in _REPLACING and not now.revision  # what was done in it, was done before
        author = name
        if is_first or kind == _CLEAR:
            author = kind
        edited = run_edit(desk, edit, now)
        if author == USER and now.id:
            edited = _with_former_words(desk, now, edited)
        who = Author(author, at, desk._seat.folder, by == USER)
        after, changes, calls = _noted(now, edited, who)
        if by != USER and kind not in _REPLACING and any(map(_touches_check, changes)):
            from .check_rules import judge

            after, changes, _ = _noted(now, judge(desk, now, after, ids=True).plan, who)
        if not changes and (now.id or kind != "import"):  # an empty list that is imported is a plan, too
            return Draft(now), calls
        record = Record(now.revision + 1, at, name, key, "", kind, changes)
        knows_all = is_own and snapshot.reader.seen >= now.revision
        return Draft(after, record, snapshot.reader if knows_all else None), calls

    changed, calls = commit(desk, work)
    if calls:
        keep_calls(desk._seat.store, changed.plan.id, calls)
    return changed


def clear(desk: Desk, by: str) -> Changed:
    """Take everything off the list."""
    from ..core.ops import empty

    return change(desk, empty, by, _CLEAR)


def undo(desk: Desk, by: str) -> Changed:
    """Take back the last change."""
    return _step(desk, undoable, taken_back, by, "undo")


def redo(desk: Desk, by: str) -> Changed:
    """Bring back what was undone last."""
    return _step(desk, redoable, apply, by, "redo")


def _step(
    desk: Desk,
    choose: Callable[[list[Record]], Record | None],
    edit: Callable[[Plan, Sequence[Change]], Plan],
    by: str,
    kind: str,
) -> Changed:
    """Undo or redo: apply the changes of one record, or their inverse."""

    def step(now: Plan) -> Plan:
        record = choose(leading_to(desk._seat.store.history(now.id), now.revision)) if now.id else None
        if record is None:
            raise Refused(f"there is nothing to {kind}.")
        after = edit(now, record.changes)
        return after._replace(removed=now.removed)  # what protects is judged again

    return change(desk, step, by, kind)


def restore(desk: Desk, revision: int, by: str) -> Changed:
    """Go back to a revision."""
    old = at_revision(desk, revision)

    def restored(now: Plan) -> Plan:
        wanted = old._replace(revision=now.revision, last_id=now.last_id)
        return now if _in_sight(now) == _in_sight(wanted) else wanted

    return change(desk, restored, by, "restore")


def at_revision(desk: Desk, revision: int) -> Plan:
    """Return the plan as it was at a revision."""
    check_type("revision", revision, int, "the number of a revision")
    now = desk.load()
    if not 0 <= revision <= now.revision:
        raise Refused(f"no revision {revision}; the plan is at revision {now.revision}.")
    records = leading_to(desk._seat.store.history(now.id, revision), now.revision)
    oldest = now.revision
    if records:
        oldest = records[0].revision - 1
    if revision < oldest and not (records and records[0].kind == CALLS):
        raise Refused(f"revision {revision} was trimmed; the oldest that is kept is {oldest}.")
    return rewound(now, records)._replace(revision=revision)


def rewound(plan: Plan, records: Sequence[Record]) -> Plan:
    """Return a plan as it was before these records."""
    for record in reversed(records):
        plan = taken_back(plan, record.changes)
    return plan


def _touches_check(change: Change) -> bool:
    """Whether an item is changed that has a check, or had one."""
    return any(isinstance(item, Item) and bool(item.check) for item in (change.before, change.after))


def _with_former_words(desk: Desk, now: Plan, after: Plan) -> Plan:
    """What the user takes away does not come back in words that it had before it was renamed, either."""
    try:
        old, new = {item.id for item in now.items}, {item.id for item in after.items}
        moved = {id for id in old ^ new if int(id) <= now.last_id}
    except (AttributeError, TypeError, ValueError):  # something else than a plan, which is refused in words
        return after
    if not moved:
        return after
    from ..core.conflicts import all_former_words

    words = all_former_words(desk._seat.store.history(now.id), after)
    removed = [text for text in after.removed if words.get(text) not in new & moved]
    removed += [text for text, id in words.items() if id in old - new]
    return after._replace(removed=tuple(dict.fromkeys(removed)))


def _noted(now: Plan, edited: Plan, author: Author) -> tuple[Plan, tuple[Change, ...], Calls]:
    """What changed, and the tool calls that came with it. Something else than a plan is refused in words."""
    try:
        after, calls = without_calls(edited)
        name, at, folder, is_user = author
        return (*noted(now, after, name, at, folder, is_user=is_user), calls)
    except (AttributeError, TypeError):
        from ..core.codec import refuse_untyped

        refuse_untyped(edited)
        raise


def _in_sight(plan: Plan) -> Plan:
    """A plan without what no screen shows: when an item was closed, and texts that were removed."""
    items = [item._replace(closed=None) for item in plan.items]
    return plan._replace(items=tuple(items), removed=())

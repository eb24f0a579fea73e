"""What differs between two plans: to keep, and to undo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from ._typing import Any, NamedTuple
from .errors import Disagreement
from .model import CLOSED, USER, Author, Closing, Item, Plan, differing
from .text import plainly

# What a plan consists of beside its items. The revision and the last id only ever grow: they are not undone.
_HEAD = ("title", "mode", "paused", "phases", "removed")
_head_of = attrgetter(*_HEAD)
QUIET = "quiet"  # the kind of a record with which an agent entered or left a quiet context
CALLS = "calls"  # the kind of a record in which an older version noted tool calls; it changes nothing
_REMEMBERED = 1000  # how many removed texts a plan keeps
_calls_of = attrgetter("calls")
_evidence_of = attrgetter("evidence")


Calls = Mapping[str, tuple[Mapping[str, Any], ...]]  # tool calls, by item


class Change(NamedTuple):
    """One difference between two revisions."""

    kind: str
    """For an item "added", "removed" or "changed"; for the order "moved"; for another field of the plan "plan"."""
    id: str
    """The id of the item; for "plan" the name of the field."""
    before: Any
    """The item, or None; for "moved" the ids in their order; for "plan" the value of the field."""
    after: Any
    """As `before`. For "removed" the item as it left, if it was changed and cleared at once."""
    at: int = -1
    """The place of an added item now, or of a removed one before."""


class Record(NamedTuple):
    """One line of history: what was changed, by whom, when."""

    revision: int
    at: str
    by: str  # "user", or the agent
    reader: str = ""  # the reader who did it; it need not be told
    dialect: str = ""
    kind: str = "edit"  # edit, undo, redo, calls (of older versions); import and restore put another list in its place
    changes: tuple[Change, ...] = ()


def diff(before: Plan, after: Plan) -> tuple[Change, ...]:
    """Everything that must be done to `before` to get `after`."""
    return (*_items(before, after), *_head(before, after))


def apply(plan: Plan, changes: Iterable[Change]) -> Plan:
    """Do what the changes say. Laws: `apply(a, diff(a, b)) == b`, and `undo` takes it back."""
    kinds: dict[str, dict[str, Change]] = {"changed": {}, "removed": {}, "added": {}, "moved": {}, "plan": {}}
    for change in changes:
        kinds[change.kind][change.id] = change
    new = {id: change.after for id, change in kinds["changed"].items()}
    gone = kinds["removed"]
    kept = [new.get(item.id, item) for item in plan.items if item.id not in gone]
    added = {change.at: change.after for change in kinds["added"].values()}
    _agree(len(kept) + len(gone) == len(plan.items) and new.keys() <= {item.id for item in kept})
    _agree(all(0 <= at < len(kept) + len(added) for at in added) and len(added) == len(kinds["added"]))
    items = _woven(kept, added)
    for change in kinds["moved"].values():
        rank = {id: index for index, id in enumerate(change.after)}
        _agree(all(item.id in rank for item in items))
        items.sort(key=lambda item: rank[item.id])
    head = {id: change.after for id, change in kinds["plan"].items()}
    return plan._replace(items=tuple(items), **head)


def _agree(is_so: bool) -> None:
    if not is_so:
        raise Disagreement("the history does not lead to the plan: one of them was damaged, or put back from a backup.")


def undo(plan: Plan, changes: Sequence[Change]) -> Plan:
    """Take changes back."""
    return apply(plan, [inverted(change) for change in changes])


def inverted(change: Change) -> Change:
    kind = {"added": "removed", "removed": "added"}.get(change.kind, change.kind)
    return Change(kind, change.id, change.after, change.before, change.at)


def noted(
    before: Plan, after: Plan, by: str, at: str, folder: str = "", *, is_user: bool | None = None
) -> tuple[Plan, tuple[Change, ...]]:
    """What was changed, with who closed an item or set its check noted on it, and what the user took away noted on the
    plan. `is_user`: whether the user did, if the name does not tell."""
    if is_user is None:
        is_user = by == USER
    author = Author(by, at, folder, is_user)
    places = touched(before, after)
    if places is None:
        after = _stamped(before, after, author)
        return after, diff(before, after)
    stamped: dict[int, Item] = {}
    found = []
    for place in places:
        old, item = before.items[place], after.items[place]
        new = _stamp(item, old, author)
        if new is not item:
            stamped[place] = new
        if new != old:
            found.append(Change("changed", old.id, old, new))
    if stamped:
        items = list(after.items)
        for place, item in stamped.items():
            items[place] = item
        after = after._replace(items=tuple(items))
    return after, (*found, *_head(before, after))


def without_calls(plan: Plan) -> tuple[Plan, Calls]:
    """The plan without tool calls, which are kept beside it, and those that it had. What is not one stays. What was
    observed of checks is not taken from a plan at all."""
    if any(map(_evidence_of, plan.items)):
        plan = plan._replace(items=tuple([item._replace(evidence=()) for item in plan.items]))
    if not any(map(_calls_of, plan.items)):  # as a rule, and asked in C: a plan may be long
        return plan, {}
    calls = {item.id: item.calls for item in plan.items if item.calls and all(map(_is_call, item.calls))}
    if not calls:
        return plan, calls
    items = list(plan.items)
    for place, item in enumerate(items):
        if item.id in calls:
            items[place] = item._replace(calls=())
    return plan._replace(items=tuple(items)), calls


def _is_call(call: Any) -> bool:
    return isinstance(call, Mapping)


def parted(changes: Iterable[Change], cleared: Iterable[Item], by: str, at: str) -> tuple[Change, ...]:
    """The changes, with what was cleared in the state that it left in: closed by whoever cleared it."""
    left = {item.id: item._replace(closed=item.closed or Closing(by, at)) for item in cleared}
    found = []
    for change in changes:
        if change.kind == "removed":
            change = change._replace(after=left.get(change.id))
        found.append(change)
    return tuple(found)


def _stamped(before: Plan, after: Plan, author: Author) -> Plan:
    old = {item.id: item for item in before.items}
    items = list(after.items)
    for place, item in enumerate(items):
        was = old.get(item.id)
        if item is not was:
            items[place] = _stamp(item, was, author)
    if author.name == USER:
        after = after._replace(removed=_removed(before, after, old))
    return after._replace(items=tuple(items))


def touched(before: Plan, after: Plan) -> list[int] | None:
    """The places of items that differ, if both have the same items in the same order; else None."""
    old, new = before.items, after.items
    if old is new:
        return []
    if len(old) != len(new):
        return None
    places = differing(old, new)
    for place in places:
        if old[place].id != new[place].id:
            return None
    return places


# --- finding -------------------------------------------------------------------------------------------------------


def _items(plan: Plan, other_plan: Plan) -> Iterator[Change]:
    places = touched(plan, other_plan)
    if places is None:
        yield from _all_items(plan.items, other_plan.items)
        return
    for place in places:
        old, new = plan.items[place], other_plan.items[place]
        if old != new:
            yield Change("changed", old.id, old, new)


def _all_items(old: tuple[Item, ...], new: tuple[Item, ...]) -> Iterator[Change]:
    before = {item.id: item for item in old}
    after = {item.id: item for item in new}
    for index, item in enumerate(old):
        other = after.get(item.id)
        if other is None:
            yield Change("removed", item.id, item, None, index)
        elif other is not item and other != item:
            yield Change("changed", item.id, item, other)
    for index, item in enumerate(new):
        if item.id not in before:
            yield Change("added", item.id, None, item, index)
    if [id for id in before if id in after] != [id for id in after if id in before]:
        yield Change("moved", "", tuple(before), tuple(after))


def _head(before: Plan, after: Plan) -> list[Change]:
    if _head_of(before) == _head_of(after):
        return []
    values = zip(_HEAD, _head_of(before), _head_of(after), strict=True)
    return [Change("plan", name, old, new) for name, old, new in values if old != new]


def _woven(kept: list[Item], added: dict[int, Item]) -> list[Item]:
    """The added items at their places, the kept ones in their order between them."""
    if not added:
        return kept
    rest = iter(kept)
    return [added[index] if index in added else next(rest) for index in range(len(kept) + len(added))]


def _stamp(item: Item, old: Item | None, author: Author) -> Item:
    if item.check or item.check_set or item.waived or (old is not None and (old.check or old.waived)):
        from .checks import stamped

        item = stamped(item, old, author)
    if item.status not in CLOSED:
        if item.closed:
            return item._replace(closed=None)
        return item
    if old is None or old.status != item.status:
        if item.closed and (old is None or item.closed != old.closed):
            return item  # an import brings its own
        return item._replace(closed=Closing(author.name, author.at))
    if item.closed:
        return item
    return item._replace(closed=old.closed)


def _removed(before: Plan, after: Plan, old: dict[str, Item]) -> tuple[str, ...]:
    kept = {item.id for item in after.items}
    texts = [plainly(item.text) for item in before.items if item.id not in kept]
    back = {plainly(item.text) for item in after.items if item.id not in old}
    if not texts and not back:
        return after.removed
    return tuple([text for text in dict.fromkeys((*after.removed, *texts)) if text not in back][-_REMEMBERED:])

"""Three-way merge: what its author made of the plan it saw, brought into the plan as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ._typing import NamedTuple, TypeVar
from .diff import touched
from .model import FIELDS, USER, Item, Plan
from .ops import grouped
from .text import plainly, quoted

_T = TypeVar("_T")


def _statements() -> tuple[tuple[str, ...], ...]:
    """The fields that are merged together, each group one statement; most fields are alone."""
    groups: dict[str, tuple[str, ...]] = {}
    for name, field in FIELDS.items():
        word = field.merge or name
        groups[word] = (*groups.get(word, ()), name)
    del groups["id"]
    return tuple(groups.values())


_STATEMENTS = _statements()
_BARE = Item("", "")


class Merged(NamedTuple):
    plan: Plan
    kept: tuple[str, ...] = ()  # one sentence for each request that was not granted


def merge(seen: Plan, mine: Plan, now: Plan, *, mine_wins: bool = False) -> Merged:
    """`mine` was made from `seen`; `now` is what `seen` has become meanwhile. Where both changed the same thing,
    `now` stays, unless `mine_wins`. Laws: with `seen == now` the result is `mine`, with `seen == mine` it is `now`."""
    if seen is now:
        return Merged(mine)
    if _same(seen, now):
        return Merged(mine._replace(removed=now.removed, last_id=max(mine.last_id, now.last_id)))
    if _same(seen, mine):
        return Merged(now._replace(last_id=max(mine.last_id, now.last_id)))
    kept: list[str] = []
    items, twins = _items(seen, mine, now, mine_wins, kept)
    order = _order(seen, mine, now, mine_wins, twins)
    plan = now._replace(
        title=_choose(seen.title, mine.title, now.title, mine_wins),
        mode=_choose(seen.mode, mine.mode, now.mode, mine_wins),
        paused=_choose(seen.paused, mine.paused, now.paused, mine_wins),
        phases=_sequence(seen.phases, mine.phases, now.phases, mine_wins),
        items=tuple(items[id] for id in order if id in items),
        last_id=max(mine.last_id, now.last_id),
    )
    if twins:
        plan = plan._replace(items=tuple(_repointed(item, twins) for item in plan.items))
    return Merged(grouped(_untied(linked(plan), now)), tuple(kept))


def protect(now: Plan, draft: Plan, *, closed_is_final: bool = True) -> Merged:
    """What the user closed stays closed, and what the user removed is not brought back by an agent."""
    if now.items is draft.items:
        return Merged(draft)
    places = touched(now, draft)
    if places is not None and not any(_reopened(now.items[place], draft.items[place]) for place in places):
        return Merged(draft)
    old = {item.id: item for item in now.items}
    kept: list[str] = []
    items: list[Item] = []
    for item in draft.items:
        before = old.get(item.id)
        if before is None and plainly(item.text) in now.removed:
            kept.append(f"{quoted(item.text)} was removed by the user; it was not brought back.")
        elif closed_is_final and before is not None and _reopened(before, item):
            kept.append(f"{quoted(item.text)} was closed by the user; it stays {before.status}.")
            items.append(item._replace(status=before.status, reason=before.reason, closed=before.closed))
        else:
            items.append(item)
    if kept:
        return Merged(grouped(linked(draft._replace(items=tuple(items)))), tuple(kept))
    return Merged(draft)


def _reopened(before: Item, item: Item) -> bool:
    return before.closed is not None and before.closed.by == USER and item.status != before.status


def _items(
    seen: Plan, mine: Plan, now: Plan, mine_wins: bool, kept: list[str]
) -> tuple[dict[str, Item], dict[str, str]]:
    """The merged items by id, and which new item of mine is a new item of theirs under another id."""
    base = {item.id: item for item in seen.items}
    own = {item.id: item for item in mine.items}
    merged: dict[str, Item] = {}
    for item in now.items:
        was, asked = base.get(item.id), own.get(item.id)
        if was is None:
            merged[item.id] = item
        elif asked is not None:
            merged[item.id] = _item(was, asked, item, mine_wins, kept)
        elif not mine_wins and item != was:
            merged[item.id] = item  # mine removed it, and somebody has changed it since
    added = {plainly(item.text): item.id for item in now.items if item.id not in base}
    twins: dict[str, str] = {}
    for item in mine.items:
        if item.id in merged:
            continue
        if item.id not in base:
            twin = added.pop(plainly(item.text), "")
            if twin:
                twins[item.id] = twin
                merged[twin] = _item(Item(twin, item.text), item._replace(id=twin), merged[twin], mine_wins, [])
            else:
                merged[item.id] = item
        elif mine_wins and item != base[item.id]:
            merged[item.id] = item  # theirs removed it, mine changed it
    return merged, twins


def _item(was: Item, asked: Item, now: Item, mine_wins: bool, kept: list[str]) -> Item:
    if was == now:
        return asked
    if was == asked:
        return now
    result = now
    for names in _STATEMENTS:
        old, mine, theirs = ([getattr(item, name) for name in names] for item in (was, asked, now))
        if mine in (old, theirs):
            continue
        if mine_wins or old == theirs:
            result = result._replace(**dict(zip(names, mine, strict=True)))
        elif "notes" in names:
            result = result._replace(notes=_sequence(was.notes, asked.notes, now.notes, mine_wins))
        else:
            kept += _refusals(names, asked, now)
    return result


def _refusals(names: Sequence[str], asked: Item, now: Item) -> Iterator[str]:
    """What to say of a statement that is not taken over."""
    if "status" in names and asked.status != now.status:
        yield stays(now)
    elif "text" in names and asked.text != now.text:
        yield f"{quoted(now.text)} keeps these words, not {quoted(asked.text)}."


def stays(now: Item) -> str:
    """What to say where an item stays as it is."""
    if not now.closed or not now.is_closed:
        return f"{quoted(now.text)} stays {now.status}."
    who = f"agent {now.closed.by}"
    if now.closed.by == USER:
        who = "the user"
    return f"{quoted(now.text)} was closed by {who}; it stays {now.status}."


def _order(seen: Plan, mine: Plan, now: Plan, mine_wins: bool, twins: dict[str, str]) -> list[str]:
    base, own, other = ([item.id for item in plan.items] for plan in (seen, mine, now))
    own = [twins.get(id, id) for id in own]
    return _sequence_of(base, own, other, mine_wins)


def _sequence(seen: tuple[str, ...], mine: tuple[str, ...], now: tuple[str, ...], mine_wins: bool) -> tuple[str, ...]:
    """Three-way merge of a sequence without repetitions: additions of both, removals of both."""
    if mine in (seen, now):
        return now
    if now == seen:
        return mine
    gone = {name for name in seen if name not in mine or name not in now}
    return tuple(name for name in _sequence_of(seen, mine, now, mine_wins) if name not in gone)


def _sequence_of(seen: Sequence[str], mine: Sequence[str], now: Sequence[str], mine_wins: bool) -> list[str]:
    """One order for the names of both: that of whoever changed it, the other's additions behind their neighbors."""
    moved = _common(seen, mine) != _common(mine, seen)
    if moved and (mine_wins or _common(seen, now) == _common(now, seen)):
        return interleaved(mine, now)
    return interleaved(now, mine)


def _common(names: Iterable[str], others: Iterable[str]) -> list[str]:
    wanted = set(others)
    return [name for name in names if name in wanted]


def interleaved(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """`first`, with what only `second` has put behind the neighbor that it follows there."""
    known = set(first)
    behind: dict[str, list[str]] = {}
    anchor = ""
    for name in second:
        if name in known:
            anchor = name
        else:
            behind.setdefault(anchor, []).append(name)
    order = list(behind.get("", ()))
    for name in first:
        order.append(name)
        order += behind.get(name, ())
    return order


def woven(now: Sequence[str], mine: Sequence[str]) -> list[str]:
    """The plan's order, with what is new behind its neighbor in the list; at the head of the list, before the next."""
    known = set(now)
    first = next((index for index, id in enumerate(mine) if id in known), len(mine))
    order = interleaved(now, mine[first:])
    place = order.index(mine[first]) if first < len(mine) else len(order)
    return [*order[:place], *mine[:first], *order[place:]]


def _choose(seen: _T, mine: _T, now: _T, mine_wins: bool) -> _T:
    if mine == seen:
        return now
    if now == seen or mine_wins:
        return mine
    return now


def linked(plan: Plan) -> Plan:
    """Without needs, parents and phases that point at nothing any more."""
    ids = {item.id for item in plan.items}
    phases = dict.fromkeys(plan.phases)
    for item in plan.items:
        if item.phase:
            phases[item.phase] = None
    if len(phases) == len(plan.phases) and not any(item.parent or item.needs for item in plan.items):
        return plan
    return plan._replace(items=tuple([_relinked(item, ids) for item in plan.items]), phases=tuple(phases))


def _same(one: Plan, other: Plan) -> bool:
    """Whether two plans say the same, whatever their revisions."""
    if one.items is not other.items and one.items != other.items:
        return False
    return one[:2] + one[3:6] == other[:2] + other[3:6]


def _repointed(item: Item, twins: dict[str, str]) -> Item:
    if item.parent in twins:
        item = item._replace(parent=twins[item.parent])
    if not twins.keys().isdisjoint(item.needs):
        item = item._replace(needs=tuple(dict.fromkeys(twins.get(id, id) for id in item.needs)))
    return item


def _untied(plan: Plan, now: Plan) -> Plan:
    """Without the circles that two sound plans can make together: items in one go back to what `now` says of them."""
    if not any(item.needs or item.parent for item in plan.items):
        return plan
    from .structure import circle_of_needs

    old = {item.id: item for item in now.items}
    for name in ("needs", "parent"):
        while circle := circle_of_needs({item.id: _pointing(item, name) for item in plan.items}):
            items = _with_field(plan.items, circle, name, old)
            if items == plan.items:  # it was there before
                items = _with_field(plan.items, circle, name, {})
            plan = plan._replace(items=items)
    return plan


def _with_field(items: Sequence[Item], ids: Sequence[str], name: str, source: Mapping[str, Item]) -> tuple[Item, ...]:
    """The items, those with these ids with a field as it is in another source, or without it."""
    found = list(items)
    for place, item in enumerate(found):
        if item.id in ids:
            found[place] = item._replace(**{name: getattr(source.get(item.id, _BARE), name)})
    return tuple(found)


def _pointing(item: Item, name: str) -> tuple[str, ...]:
    if name == "needs":
        return item.needs
    if item.parent:
        return (item.parent,)
    return ()


def _relinked(item: Item, ids: set[str]) -> Item:
    if item.parent and item.parent not in ids:
        item = item._replace(parent="")
    needs = tuple([id for id in item.needs if id in ids])
    if needs != item.needs:
        item = item._replace(needs=needs)
    return item

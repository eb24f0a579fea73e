"""Calls that name items: which parts of a call conflict with what others did, and are not applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ._typing import NamedTuple
from .diff import Record
from .model import ACTIVE, BLOCKED, CLOSED, DONE, DROPPED, MAIN, NOTHING, PENDING, USER, Item, Plan
from .ops import lookup
from .text import inline, plainly, quoted

AGAIN = "say it again if you still mean it."
_MANY = 20  # things asked for in one call, from which on items are looked up in a table

# For each thing a call can ask for: the edits it conflicts with while its author has not been told of them.
_CONFLICTS = {
    "edit": ("renamed",),
    "delete": ("added", "renamed", "blocked", "started", "reopened", "noted", "closed"),
    "start": ("blocked", "closed"),
    "done": ("blocked", "reopened", "closed"),
    "unblock": ("blocked",),
    "block": ("blocked",),
}


class Asked(NamedTuple):
    """One thing that a call asks for."""

    verb: str  # a key of the table above; any other conflicts with nothing
    id: str  # of the item; empty if no item has these words
    word: str = ""  # what the dialect calls it, if that is not the verb
    text: str = ""  # the new words of an edit; the words of an item that was not found


class Spared(NamedTuple):
    """What of a call is not applied, and the sentences that say why."""

    asked: frozenset[tuple[str, str]] = frozenset()  # verb and id
    said: tuple[str, ...] = ()


_ALL = Spared()  # all of it is applied

# By the id of an item: what was done to it, and who did it.
Edits = Mapping[str, Mapping[str, str]]


def unheard_edits(turns: Iterable[tuple[str, Plan, Plan]], now: Plan) -> Edits:
    """Return what others made of each item. `turns`: who, the plan before, the plan after, oldest first."""
    found: dict[str, dict[str, str]] = {}
    current = {item.id: item for item in now.items}
    for by, before, after in turns:
        old = {item.id: item for item in before.items}
        for item in after.items:
            was = old.get(item.id)
            if was is item or item.id not in current:
                continue
            if was is None:
                found.setdefault(item.id, {})["added"] = by
                was = Item(item.id, item.text)  # what else was done to it counts, too
            for kind in _kinds(was, item, current[item.id]):
                found.setdefault(item.id, {})[kind] = by
    return found


def _kinds(old: Item, new: Item, now: Item) -> list[str]:
    """What was done to an item, as far as it still holds."""
    found = []
    if old.text != new.text == now.text:
        found.append("renamed")
    if new.status == BLOCKED == now.status and (old.status, old.reason) != (new.status, new.reason):
        found.append("blocked")
    if old.status != ACTIVE == new.status == now.status:
        found.append("started")
    if old.is_closed and not new.is_closed and not now.is_closed:
        found.append("reopened")
    if new.is_closed and now.is_closed and old.status != new.status:
        found.append("closed")
    if any(note not in old.notes for note in new.notes):
        found.append("noted")
    return found


def finder(asked: Sequence[Asked], now: Plan) -> Callable[[str], Item | None]:
    """Return what finds an item by its id: for a call that names many, in a table."""
    if len(asked) < _MANY:
        return lambda id: lookup(now, id)
    return {item.id: item for item in now.items}.get


def is_undisputed(asked: Sequence[Asked], now: Plan, agent: str) -> bool:
    """Return whether all items that a call names are there, open, and this agent's, as most are. Then only edits that
    it has not been told about can conflict with it."""
    mine = agent
    if agent == MAIN:
        mine = ""
    find = finder(asked, now)
    for one in asked:
        if not one.id:
            continue
        item = find(one.id)
        if item is None or item.closed is not None or item.owner != mine:
            return False
    return not now.removed


def spared(asked: Sequence[Asked], now: Plan, edits: Edits, *, agent: str, final: bool, ids: bool) -> Spared:
    """Return what of a call is not applied. `final`: what the user closed stays closed, also once it was told."""
    kept: set[tuple[str, str]] = set()
    said: list[str] = []
    find = finder(asked, now)
    for one in asked:
        item = find(one.id)
        if item is None:
            continue
        reason = _reason(one, item, now, edits.get(item.id, NOTHING), agent, final, ids)
        if reason:
            kept.add((one.verb, one.id))
            said.append(reason)
    if kept:
        return Spared(frozenset(kept), tuple(dict.fromkeys(said)))
    return _ALL


def _reason(one: Asked, item: Item, now: Plan, edits: Mapping[str, str], agent: str, final: bool, ids: bool) -> str:
    """Why this is not applied; empty if it is."""
    if one.verb == "start" and _is_closed_by_another(item, agent, final):
        return _stays(item, ids)
    if final and _closes_otherwise(one, item):
        return _stays(item, ids)
    if one.verb == "edit" and plainly(one.text) in now.removed and plainly(one.text) != plainly(item.text):
        return f"{quoted(one.text)} was removed by the user; {_name(item, ids)} keeps its words."
    if not edits:
        return ""
    if one.verb == "done" and item.status == DONE:
        return ""
    kind = next((kind for kind in _CONFLICTS.get(one.verb, ()) if kind in edits), "")
    if not kind:
        return ""
    if kind == "closed":
        return _stays(item, ids)
    did = kind
    if kind == "noted":
        did = "noted on"
    return f"{one.word or one.verb} {_target(item, ids)} was not applied: {_who(edits[kind])} {did} it; {AGAIN}"


def _target(item: Item, ids: bool) -> str:
    if ids:
        return item.id
    return quoted(item.text)


def _is_closed_by_another(item: Item, agent: str, final: bool) -> bool:
    if item.status not in CLOSED or item.closed is None:
        return False
    by = item.closed.by
    if by == USER:
        return final
    return by not in (agent, "", "import", "restore")


def _closes_otherwise(one: Asked, item: Item) -> bool:
    """Whether a call finishes what the user dropped, or drops what the user finished."""
    if item.closed is None or item.closed.by != USER:
        return False
    if item.status == DROPPED:
        return one.verb == "done"
    return item.status == DONE and one.word == "drop"


def _name(item: Item, ids: bool) -> str:
    if ids:
        return f"{item.id} {quoted(item.text)}"
    return quoted(item.text)


def _stays(item: Item, ids: bool) -> str:
    who = "another"
    if item.closed:
        who = _who(item.closed.by)
    return f"{_name(item, ids)} was closed by {who}; it stays {item.status}."


def _who(by: str) -> str:
    if by == USER:
        return "the user"
    return f"agent {inline(by)}"


def lasting(asked: Sequence[Asked], now: Plan, records: Iterable[Record], *, agent: str) -> Spared:
    """Return what a new list cannot leave out: open items that others added, and what the user closed."""
    authors = {change.id: record.by for record in records for change in record.changes if change.kind == "added"}
    kept: set[tuple[str, str]] = set()
    said: list[str] = []
    find = finder(asked, now)
    for one in asked:
        item = None
        if one.verb == "omit":
            item = find(one.id)
        if item is None:
            continue
        by = authors.get(item.id, agent)
        if not item.is_closed and by != agent:
            said.append(f"{quoted(item.text)} was added by {_who(by)}; it stays.")
        elif item.closed is None or item.closed.by != USER:
            continue
        kept.add((one.verb, one.id))
    return Spared(frozenset(kept), tuple(said))


def rivals(asked: Sequence[Asked], now: Plan, *, agent: str) -> frozenset[str]:
    """Return the owners of items that a call would start, and that others are taken to work on."""
    mine = _owner_name(agent)
    return frozenset(item.owner for item in _to_start(asked, now) if _is_others(item, mine))


def _owner_name(agent: str) -> str:
    if agent == MAIN:
        return ""
    return agent


def _to_start(asked: Sequence[Asked], now: Plan) -> list[Item]:
    find = finder(asked, now)
    found = [find(one.id) for one in asked if one.verb == "start"]
    return [item for item in found if item is not None]


def _is_others(item: Item, mine: str) -> bool:
    if item.owner == mine:
        return False
    is_reserved = item.status == PENDING and item.owner != ""
    return item.status == ACTIVE or is_reserved


def taken(
    asked: Sequence[Asked], now: Plan, *, agent: str, ended: frozenset[str] = frozenset(), ids: bool = True
) -> Spared:
    """Return what of a call would start an item that another agent works on, or one of an agent that is busy. What an
    agent in `ended` had begun is taken over."""
    mine = _owner_name(agent)
    foreign = [item for item in _to_start(asked, now) if item.owner != mine]
    if not foreign:
        return _ALL
    busy = {item.owner: item for item in now.busy}
    kept: set[tuple[str, str]] = set()
    said: list[str] = []
    for item in foreign:
        other = busy.get(item.owner)
        owner = f"agent {inline(item.owner or MAIN)}"
        name = _name(item, ids)
        if item.owner in ended:
            if _is_others(item, mine):
                said.append(f"{name} is yours now; {owner} is not at work.")
            continue
        if item.status == ACTIVE:
            said.append(f"{name} is being worked on by {owner}.")
        elif item.status == PENDING and item.owner and other is not None:
            said.append(f"{name} belongs to {owner}, which is working on {_target(other, ids)}.")
        else:
            continue
        kept.add(("start", item.id))
    return Spared(frozenset(kept), tuple(said))


def gone(asked: Sequence[Asked], now: Plan) -> Spared:
    """Return what names items that have left the list. A call that asks for nothing else is not spared: it is wrong."""
    find = finder(asked, now)
    missing = [one for one in asked if _was_given(one.id, now) and find(one.id) is None]
    if not missing or len(missing) == len(asked):
        return _ALL
    said = [f"{one.word or one.verb} {one.id} was not applied: {one.id} is no longer on the list." for one in missing]
    return Spared(frozenset((one.verb, one.id) for one in missing), tuple(dict.fromkeys(said)))


def _was_given(id: str, now: Plan) -> bool:
    return id.isdigit() and 0 < int(id) <= now.last_id


def all_former_words(records: Iterable[Record], now: Plan) -> dict[str, str]:
    """Return the ids of items, also of those that left, by the plain form of words that they had once and that no item
    has now."""
    texts = {plainly(item.text) for item in now.items}
    found = {
        plainly(change.before.text): change.id
        for record in records
        for change in record.changes
        if change.kind == "changed" and plainly(change.before.text) != plainly(change.after.text)
    }
    return {text: id for text, id in found.items() if text not in texts}


def former_words(records: Iterable[Record], now: Plan) -> dict[str, str]:
    """Return the ids of items by the words they had before they were renamed."""
    ids = {item.id for item in now.items}
    found: dict[str, str] = {}
    for record in records:
        for change in record.changes:
            if change.kind == "changed" and change.id in ids and change.before.text != change.after.text:
                found[change.before.text] = change.id
    return found

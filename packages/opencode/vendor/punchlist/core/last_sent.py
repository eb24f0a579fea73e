"""The list that an agent sent last, as far as it was applied. What a resent list repeats of it says nothing new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._typing import Any, NamedTuple
from .diff import Record
from .json_text import dumps, loads
from .model import CLOSED, NOTHING, USER, Item, Plan

_PAST = 8  # earlier words of one item, and earlier orders, that are kept
_GONE = 100  # items that were left out and are remembered


class Held(NamedTuple):
    """One entry of the list."""

    id: str
    text: str  # as it was sent
    status: Any  # as it was sent
    own: bool = True  # whether its sender made the item; what others made, a list cannot leave out
    known: bool = True  # False: the conversation was lost since, and the item was not restored
    key: str = ""  # the id that its sender gave it


class Kept(NamedTuple):
    """What one agent sent last with one tool, and what others changed meanwhile that it may not undo by repeating."""

    at: int = 0  # the revision up to which the changes of others are worked in
    entries: tuple[Held, ...] = ()
    past: Mapping[str, tuple[str, ...]] = NOTHING  # by id: the words an item had before somebody else renamed it
    former: Mapping[str, tuple[str, ...]] = NOTHING  # by id: the words it had before its sender renamed it
    orders: tuple[tuple[str, ...], ...] = ()  # the order of ids before somebody else moved them
    theirs: tuple[str, ...] = ()  # ids of items that the user added
    reopened: tuple[str, ...] = ()  # ids of items that the user reopened, and that were not begun again
    gone: tuple[tuple[str, str], ...] = ()  # ids and words of items that the sender left out


class Unheard(NamedTuple):
    """What others changed that the sender has not been told about."""

    fields: Mapping[str, set[str]] = NOTHING  # by id: the names of what was changed
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    moved: bool = False

    def has(self, id: str) -> bool:
        """Whether something of this item was changed without its knowledge."""
        return id in self.fields or id in self.added


_USUAL = (True, True, "")  # what is not said of an entry: its sender made the item, knows it, and gave it no id
NOTHING_UNHEARD = Unheard()


def informed(kept: Kept, records: Sequence[Record], reader: str, revision: int) -> Kept:
    """The list, with what others changed since noted in it."""
    if kept.at >= revision:
        return kept
    past, former = dict(kept.past), dict(kept.former)
    orders = list(kept.orders)
    theirs, reopened = dict.fromkeys(kept.theirs), dict.fromkeys(kept.reopened)
    for record in records:
        if record.reader == reader or record.revision <= kept.at:
            continue
        for kind, id, before, after, _ in record.changes:
            if kind == "changed":
                if before.text != after.text:
                    past[id] = (*past.get(id, ()), *former.pop(id, ()), before.text)[-_PAST:]
                if record.by == USER and (before.status in CLOSED) != (after.status in CLOSED):
                    _switch(reopened, id, before.status in CLOSED)
            elif kind == "added" and record.by == USER:
                theirs[id] = None
            elif kind == "removed":
                theirs.pop(id, None)
                reopened.pop(id, None)
            elif kind == "moved":
                orders.append(before)
    return kept._replace(
        at=revision,
        past=past,
        former=former,
        orders=tuple(orders[-_PAST:]),
        theirs=tuple(theirs),
        reopened=tuple(reopened),
    )


def unheard_of(records: Sequence[Record], reader: str) -> Unheard:
    """What others changed in these records."""
    first: dict[str, Item | None] = {}  # items as they were before; None for one that was not there
    last: dict[str, Item | None] = {}
    orders: list[tuple[str, ...]] = []
    theirs = [change for record in records if record.reader != reader for change in record.changes]
    for kind, id, before, after, _ in theirs:
        if kind == "moved":
            orders += [before, after]
        elif kind != "plan":
            first.setdefault(id, before)
            last[id] = after
            if kind == "removed":
                last[id] = None
    if not first and not orders:
        return NOTHING_UNHEARD
    fields: dict[str, set[str]] = {}
    added, removed = set(), set()
    for id, old in first.items():
        new = last[id]
        if old is None and new is not None:
            added.add(id)
        elif old is not None and new is None:
            removed.add(id)
        elif old is not None and new is not None and old != new:
            fields[id] = _differing(old, new)
    is_reordered = bool(orders) and not in_order(orders[0], orders[-1])
    return Unheard(fields, frozenset(added), frozenset(removed), is_reordered)


def in_order(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether what both have is in the same order in both."""
    mine, theirs = set(names), set(others)
    shared = [name for name in names if name in theirs]
    return shared == [name for name in others if name in mine]


def lost(kept: Kept, restored: Sequence[str]) -> Kept:
    """The list of a sender that has lost its conversation, and was shown these items again."""
    shown = set(restored)
    return kept._replace(entries=tuple([held._replace(known=held.id in shown) for held in kept.entries]))


def without_gone(kept: Kept, plan: Plan) -> Kept:
    """Forget what was noted of items that are not there any more."""
    if len(kept.gone) > _GONE:
        kept = kept._replace(gone=kept.gone[-_GONE:])
    if not kept.past and not kept.former and not kept.theirs and not kept.reopened:
        return kept
    ids = {item.id for item in plan.items}
    return kept._replace(
        past={id: words for id, words in kept.past.items() if id in ids},
        former={id: words[-_PAST:] for id, words in kept.former.items() if id in ids},
        theirs=tuple([id for id in kept.theirs if id in ids]),
        reopened=tuple([id for id in kept.reopened if id in ids]),
    )


def to_text(kept: Kept) -> str:
    """The list as a store keeps it. What has its default is left out."""
    found: dict[str, Any] = {
        "at": kept.at,
        "entries": [_entry_to_json(held) for held in kept.entries],
        "past": dict(kept.past),
        "former": dict(kept.former),
        "orders": kept.orders,
        "theirs": kept.theirs,
        "reopened": kept.reopened,
        "gone": kept.gone,
    }
    return dumps({name: value for name, value in found.items() if value})


def _entry_to_json(held: Held) -> Sequence[Any]:
    if held[3:] == _USUAL:
        return held[:3]
    return held


def from_text(text: str) -> Kept:
    """A list as it was kept; an empty one if that makes no sense: it is worth less than a plan."""
    try:
        found = {}
        if text:
            found = loads(text)
        return Kept(
            int(found.get("at", 0)),
            tuple([_entry_from_json(entry) for entry in found.get("entries", ())]),
            _words(found.get("past", {})),
            _words(found.get("former", {})),
            tuple([tuple(map(str, order)) for order in found.get("orders", ())]),
            tuple(map(str, found.get("theirs", ()))),
            tuple(map(str, found.get("reopened", ()))),
            tuple([(str(id), str(words)) for id, words in found.get("gone", ())]),
        )
    except (ValueError, TypeError, AttributeError, LookupError):
        return Kept()


def _entry_from_json(entry: Sequence[Any]) -> Held:
    id, text, status, *more = entry
    own, known, key = (*more, *_USUAL[len(more) :])[:3]
    return Held(str(id), str(text), str(status), bool(own), bool(known), str(key))


def _words(found: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {str(id): tuple(map(str, words)) for id, words in found.items()}


def _switch(ids: dict[str, None], id: str, on: bool) -> None:
    if on:
        ids[id] = None
    else:
        ids.pop(id, None)


def _differing(old: Item, new: Item) -> set[str]:
    return {name for name in Item._fields if getattr(old, name) != getattr(new, name)}

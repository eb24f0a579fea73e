"""A list that was sent whole becomes the plan: each entry finds the item it means, and what was not said stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .match import Entry, match
from .merge import interleaved, mended
from .model import CLOSED, DONE, DROPPED, PENDING, SUBTASK, Item, Plan
from .ops import grouped
from .text import inline, plainly
from .typed import Any, NamedTuple

OMITTED = "omitted by the agent"


class Sent(NamedTuple):
    """One entry of a sent list. None means that its sender did not speak of it."""

    text: str
    status: str
    active: str | None = None
    priority: str | None = None
    key: str = ""  # the sender's own id
    parts: Sequence[Sent] | None = None
    calls: tuple[Mapping[str, Any], ...] | None = None


def relist(
    plan: Plan, sent: Sequence[Sent], shown: Mapping[str, str], *, omitted: str = "gone", nested: bool = False
) -> Plan:
    """The plan that a sent list asks for.

    `shown` says how the sender sees each status; an item whose status it has no word for is out of its sight and stays.
    An item in sight that is left out is gone; with `omitted="abandoned"` an open one is abandoned instead.
    With `nested` the entries are the items without parent, and their parts are sent inside them.
    """
    listing = _Listing(plan, shown, omitted, nested)
    listing.place([item for item in plan.items if not (nested and item.parent)], sent, None)
    return listing.result()


class _Listing:
    """A plan being listed anew."""

    def __init__(self, plan: Plan, shown: Mapping[str, str], omitted: str, nested: bool) -> None:
        self.plan = plan
        self.shown = shown
        self.omitted = omitted
        self.nested = nested
        self.last_id = plan.last_id
        self.made: list[Item] = []
        self.kept: dict[str, Item] = {}  # not sent, and still there
        self.parts: dict[str, list[Item]] = {}  # by the id of their whole
        for item in plan.items if nested else ():
            self.parts.setdefault(item.parent, []).append(item)
        self.keys: set[str] = set()  # the ids its sender gave
        self.seen: set[str] = set()  # those the sender could have spoken of

    def place(self, old: Sequence[Item], sent: Sequence[Sent], parent: Item | None) -> None:
        self.seen.update(item.id for item in old)
        self.keys.update(entry.key for entry in sent)
        visible = [item for item in old if item.status in self.shown]
        found = match(visible, [Entry(entry.text, entry.status, entry.key) for entry in sent])
        self._take_up_again(found, sent, [item for item in old if item.status not in self.shown])
        taken = {item.id for item in found if item}
        if taken or any(
            item.status not in CLOSED for item in old
        ):  # otherwise it is a new list, and the old one is over
            self._keep([item for item in old if item.id not in taken])
        for entry, item in zip(sent, found, strict=True):
            made = self._new(entry, parent) if item is None else _updated(item, entry, self.shown)
            self.made.append(made)
            if self.nested and parent is None:
                self._parts(entry, made, item)

    def _take_up_again(self, found: list[Item | None], sent: Sequence[Sent], hidden: Sequence[Item]) -> None:
        """An item out of the sender's sight that it sends in the same words is meant, not a second one like it."""
        words = {plainly(item.text): item for item in reversed(hidden)}
        for index, entry in enumerate(sent):
            if found[index] is None and words:
                found[index] = words.pop(plainly(entry.text), None)

    def result(self) -> Plan:
        items = {item.id: item for item in self.made} | self.kept
        wholes = list(items) if self.nested else []
        while wholes:  # parts of parts are out of the sender's sight: they stay with their wholes
            for part in self.parts.get(wholes.pop(), ()):
                if part.id not in self.seen and part.id not in items:
                    items[part.id] = part
                    wholes.append(part.id)
        order = interleaved([item.id for item in self.made], [item.id for item in self.plan.items])
        listed = tuple([items[id] for id in order if id in items])
        if len(listed) == len(self.plan.items) and all(map(_same, listed, self.plan.items)):
            listed = self.plan.items
        return grouped(mended(self.plan._replace(items=listed, last_id=self.last_id)))

    def _keep(self, items: Sequence[Item]) -> None:
        for item in items:
            if item.status not in self.shown or (self.omitted == "abandoned" and item.status == DROPPED):
                self.kept[item.id] = item
            elif self.omitted == "abandoned" and item.status != DONE:
                self.kept[item.id] = item._replace(status=DROPPED, reason=OMITTED)

    def _parts(self, entry: Sent, made: Item, item: Item | None) -> None:
        old = self.parts.get(made.id, [])
        finished = made.status == DONE and item is not None and item.status != DONE
        if entry.parts is None:
            self.seen.update(part.id for part in old)
            self.made += [part._replace(status=DONE) if finished and not part.is_closed else part for part in old]
        else:
            self.place(old, [_follows(part, made, old) for part in entry.parts], made)

    def _new(self, entry: Sent, parent: Item | None) -> Item:
        self.last_id += 1
        while not entry.key and str(self.last_id) in self.keys:  # that would look like an id its sender gave
            self.last_id += 1
        return Item(
            id=str(self.last_id),
            text=entry.text,
            status=entry.status,
            active=entry.active or "",
            phase=parent.phase if parent else self.made[-1].phase if self.made else "",
            parent=parent.id if parent else "",
            priority=entry.priority or "",
            calls=entry.calls or (),
            extra={
                **({"id": entry.key} if entry.key not in ("", str(self.last_id)) else {}),
                **({SUBTASK: True} if parent else {}),
            },
        )


def _same(a: Item, b: Item) -> bool:
    return a is b


def _follows(part: Sent, whole: Item, old: Sequence[Item]) -> Sent:
    """A part is done when the whole is. Where it has no status of its own, it stays as it was."""
    if whole.status == DONE:
        return part._replace(status=DONE)
    if part.status:
        return part
    known = [item.status for item in old if item.extra.get("id") == part.key or item.text == part.text]
    return part._replace(status=known[0] if known else PENDING)


def _updated(item: Item, entry: Sent, shown: Mapping[str, str]) -> Item:
    new: dict[str, Any] = {}
    if entry.text not in (item.text, inline(item.text)):  # its sender may send back what it was shown
        new["text"] = entry.text
    if entry.status != shown.get(item.status):
        new |= {"status": entry.status, "reason": ""}
    if entry.active is not None and entry.active != item.active:
        new["active"] = entry.active
    if entry.priority is not None and entry.priority != item.priority:
        new["priority"] = entry.priority
    if entry.calls is not None and entry.calls != item.calls:
        new["calls"] = entry.calls
    if entry.key and entry.key != (item.extra.get("id") or item.id):
        new["extra"] = {**item.extra, "id": entry.key}
    return item._replace(**new) if new else item

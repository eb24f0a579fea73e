"""A list that was sent whole becomes the plan: each entry finds the item it means, and changes only what differs from
the list that its sender sent before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import is_

from ._typing import Any, NamedTuple
from .last_sent import NOTHING_UNHEARD, Held, Kept, Unheard, in_order, without_gone
from .match import Entry, SenderView, is_beginning, key_of, meant
from .merge import interleaved, linked, stays, woven
from .model import ACTIVE, BLOCKED, CLOSED, DONE, DROPPED, PENDING, SUBTASK, USER, Item, Plan
from .ops import grouped
from .text import inline, plainly, quoted

OMITTED = "omitted by the agent"
_SAID = 5  # sentences of one kind in one answer


class Sent(NamedTuple):
    """One entry of a sent list. None means that its sender did not speak of it."""

    text: str
    status: Any  # one of ours, as the schema of its dialect has checked; empty: it stays
    active: str | None = None
    priority: str | None = None
    key: str = ""  # the sender's own id
    parts: Sequence[Sent] | None = None
    calls: tuple[Mapping[str, Any], ...] | None = None


class ListForm(NamedTuple):
    """How a dialect lists a plan.

    `shown` says how the sender sees each status; an item whose status it has no word for is out of its sight and stays.
    An open item that is left out is gone; with `omitted="abandoned"` it is abandoned instead.
    With `nested` the entries are the items without parent, and their parts are sent inside them.
    """

    shown: Mapping[str, str]
    omitted: str = "gone"
    nested: bool = False


class Relisted(NamedTuple):
    """What a sent list leads to."""

    plan: Plan
    kept: Kept  # the list as it was applied
    said: tuple[str, ...] = ()  # one sentence for each request that was not granted
    is_new_list: bool = False  # whether the list has nothing to do with the one before, which was finished


def relist(
    plan: Plan, sent: Sequence[Sent], shown: Mapping[str, str], *, omitted: str = "gone", nested: bool = False
) -> Plan:
    """The plan that a sent list asks for, if its sender saw all of the plan, and all of it is its own."""
    own = tuple([Held(item.id, item.text, shown.get(item.status, item.status)) for item in plan.items])
    return resent(plan, sent, ListForm(shown, omitted, nested), Kept(entries=own), forgiving=True).plan


def resent(
    plan: Plan,
    sent: Sequence[Sent],
    form: ListForm,
    kept: Kept,
    unheard: Unheard = NOTHING_UNHEARD,
    *,
    closed_is_final: bool = True,
    forgiving: bool = False,
    recall: Callable[[str], Item | None] = lambda id: None,
    hold: Callable[[Item], str] = lambda item: "",
) -> Relisted:
    """The plan that a sent list makes of the plan as it is now.

    `kept` is the list as its sender sent it before, and `unheard` what others changed since it was last told.
    What the list repeats says nothing. What it changes is a request: it is granted unless it is about something that
    others changed unheard, or that the user closed, removed, added or reopened.
    `forgiving`: the list is not an agent's, and nothing of that is looked at.
    `recall` finds an item that left the plan. `hold` says why an item cannot be completed now; nothing if it can.
    """
    listing = _Listing(plan, form, kept, unheard, closed_is_final, forgiving, recall, hold)
    listing.place([item for item in plan.items if not (form.nested and item.parent)], sent, None)
    return listing.result(sent)


class _Listing:
    """A plan that is being listed again."""

    def __init__(
        self,
        plan: Plan,
        form: ListForm,
        kept: Kept,
        unheard: Unheard,
        closed_is_final: bool,
        forgiving: bool,
        recall: Callable[[str], Item | None],
        hold: Callable[[Item], str],
    ) -> None:
        self.plan = plan
        self.form = form
        self.shown = form.shown
        self.base = kept
        self.held = {held.id: held for held in kept.entries}
        self.unheard = unheard
        self.final = closed_is_final
        self.forgiving = forgiving
        self.recall = recall
        self.hold = hold
        self.there = {item.id for item in plan.items}
        self.view = SenderView(plan, form.shown, kept, unheard, self.held, self.there)
        self.removed = frozenset(plan.removed)
        if forgiving:
            self.removed = frozenset()
        self.last_id = plan.last_id
        self.made: list[Item] = []
        self.stayed: dict[str, Item] = {}  # not sent, and still there
        self.entries: list[Held] = []  # the list as it is applied
        self.waiting: list[Held] = []  # left out, but not granted
        self.gone: list[tuple[str, str]] = []
        self.former: dict[str, tuple[str, ...]] = {}
        self.begun: set[str] = set()  # reopened by the user, and begun again by this list
        self.said: list[str] = []
        self.is_new_list = False
        self.parts: dict[str, list[Item]] = {}  # by the id of their whole
        for item in plan.items if form.nested else ():
            self.parts.setdefault(item.parent, []).append(item)
        self.keys: set[str] = set()  # the ids its sender gave
        self.seen: set[str] = set()  # those the sender could have spoken of

    # --- one level of the list -------------------------------------------------------------------------------------

    def place(self, old: Sequence[Item], sent: Sequence[Sent], parent: Item | None) -> None:
        self.seen.update([item.id for item in old])
        self.keys.update([entry.key for entry in sent])
        if self._repeats_words(old, sent):
            found: list[Item | None] = [*old]
        else:
            entries = [Entry(entry.text, entry.status, entry.key) for entry in sent]
            found = meant(self.view, old, entries, top=parent is None)
        taken = {item.id for item in found if item}
        if not taken and self._is_over(old):
            self.is_new_list = self.is_new_list or (parent is None and bool(old))
        else:
            self._leave_out([item for item in old if item.id not in taken])
        for entry, item in zip(sent, found, strict=True):
            made = self._made(entry, item, parent)
            if made is None:
                continue
            self.made.append(made)
            if self.form.nested and parent is None and (entry.parts or made.id in self.parts):
                self._place_parts(entry, made, item)

    def _is_over(self, old: Sequence[Item]) -> bool:
        """Whether the list before is finished, and its sender knows that: what comes now is a new one."""
        if any(item.status not in CLOSED or self.unheard.has(item.id) for item in old):
            return False
        known = [self.held[item.id] for item in old if item.id in self.held]
        return self.forgiving or all(held.status in CLOSED for held in known)

    def _repeats_words(self, old: Sequence[Item], sent: Sequence[Sent]) -> bool:
        """Whether the list has the words of the plan and of the list before, entry by entry, as most have."""
        if not len(old) == len(sent) == len(self.base.entries):
            return False
        for item, entry, held in zip(old, sent, self.base.entries, strict=True):
            if not item.text == entry.text == held.text or item.id != held.id or item.status not in self.shown:
                return False
            if entry.key not in ("", held.key or key_of(item)):
                return False
        return True

    # --- what was left out -----------------------------------------------------------------------------------------

    def _leave_out(self, items: Sequence[Item]) -> None:
        for item in items:
            held = self.held.get(item.id)
            abandons = self.form.omitted == "abandoned"
            if held is None or not self._may_leave(item, held) or (abandons and item.status == DROPPED):
                self.stayed[item.id] = item
            elif abandons and item.status != DONE:
                self.stayed[item.id] = item._replace(status=DROPPED, reason=OMITTED)
            else:
                self.gone.append((item.id, item.text))

    def _may_leave(self, item: Item, held: Held) -> bool:
        """Whether an item leaves the plan because a list does not have it. Where that is not granted, but may be
        another time, the entry stays in the kept list."""
        if item.status not in self.shown:
            return False
        if self.forgiving:
            return True
        if not held.own or _is_closed_by_user(item):
            return False
        is_kept = item.status == BLOCKED or item.id in self.base.reopened or self._has_parts_of_others(item)
        if not held.known or self.unheard.has(item.id) or is_kept:
            self.waiting.append(held)
            return False
        return True

    def _has_parts_of_others(self, item: Item) -> bool:
        """Whether an item has an open part that its sender never listed: they leave together."""
        return any(part.id not in self.held and not part.is_closed for part in self.parts.get(item.id, ()))

    # --- one entry -------------------------------------------------------------------------------------------------

    def _made(self, entry: Sent, item: Item | None, parent: Item | None) -> Item | None:
        """The item that an entry leads to; None if it is not brought back."""
        if item is None:
            return self._new(entry, parent)
        if item.id not in self.there:
            self._refuse_removed(entry, self.held[item.id])
            return None
        held = self.held.get(item.id)
        if held is not None and held.known and self._is_repeated(item, entry, held):
            self.entries.append(held)
            return item
        if self.forgiving:
            made = _updated(item, entry, self.shown)
        else:
            made = self._merged(item, entry, held)
        listed = held or Held(item.id, made.text, self.shown.get(made.status, made.status), False)
        text = listed.text
        if made.text == entry.text:
            text = entry.text
        status = listed.status
        if self.shown.get(made.status) == entry.status:
            status = entry.status
        self.entries.append(Held(item.id, text, status, listed.own, key=entry.key or listed.key))
        return made

    def _is_repeated(self, item: Item, entry: Sent, held: Held) -> bool:
        """Whether an entry says what the plan and the list before say, as most do."""
        return (
            entry.text == held.text == item.text
            and entry.status == held.status == self.shown.get(item.status)
            and entry.active in (None, item.active)
            and entry.priority in (None, item.priority)
            and entry.calls is None
            and entry.key in ("", held.key or key_of(item))
            and item.id not in self.base.reopened
        )

    def _merged(self, item: Item, entry: Sent, held: Held | None) -> Item:
        """The item with what the entry asks for and is granted."""
        changed = self.unheard.fields.get(item.id, ())
        text = item.text
        if self._grants_text(item, entry, held):
            text = entry.text
        status = ""
        if self._grants_status(item, entry, held):
            status = entry.status
        wish = entry._replace(
            text=text,
            status=status,
            active=entry.active if text == entry.text and "active" not in changed else None,
            priority=None if "priority" in changed else entry.priority,
            key=entry.key if self._grants_key(item, entry, held) else "",
        )
        if text != item.text:
            self.former[item.id] = (*self.base.former.get(item.id, ()), item.text)
        if entry.status == ACTIVE and ACTIVE in (status, item.status):
            self.begun.add(item.id)
        return _updated(item, wish, self.shown)

    def _grants_key(self, item: Item, entry: Sent, held: Held | None) -> bool:
        """Whether the item gets the id that its sender uses. What another agent made keeps the id it was given."""
        if held is None or not held.own:
            return item.id in self.base.theirs and (held is None or entry.key != held.key)
        return True

    def _grants_text(self, item: Item, entry: Sent, held: Held | None) -> bool:
        if entry.text == item.text:
            return True
        if entry.text == inline(item.text):  # as it was shown
            return False
        words = plainly(entry.text)
        known = (item.text, *self.base.past.get(item.id, ()))
        if held is not None and entry.text == held.text:
            return False
        if held is not None and is_beginning(entry.text, held.text):
            return False
        if any(is_beginning(entry.text, text) for text in known):
            return False
        if words in map(plainly, known[1:]) or (words == plainly(item.text) and (held is None or not held.own)):
            return False
        if "text" in self.unheard.fields.get(item.id, ()) or item.id in self.unheard.added:
            self.said.append(f"{quoted(item.text)} keeps these words, not {quoted(entry.text)}.")
            return False
        return True

    def _grants_status(self, item: Item, entry: Sent, held: Held | None) -> bool:
        now = self.shown.get(item.status)
        if entry.status == now:
            return False
        if entry.status in CLOSED and item.id in self.unheard.added:  # the words are the same by chance
            self.said.append(stays(item))
            return False
        repeats = held is not None and held.status == entry.status
        is_unheard = "status" in self.unheard.fields.get(item.id, ())
        by_user = _is_closed_by_user(item)
        if repeats:
            if by_user and self.final and not is_unheard:
                self.said.append(stays(item))
            return False
        if by_user and (self.final or is_unheard):
            self.said.append(stays(item))
            return False
        if item.id in self.base.reopened and entry.status in CLOSED:
            return False  # said with what else is reopened
        if held is None and now == ACTIVE and entry.status == PENDING:
            return False  # somebody is at work on it, and the sender only learns of it
        if is_unheard or (item.id in self.unheard.added and item.status != PENDING):
            self.said.append(stays(item))
            return False
        return not self._is_on_hold(item, entry)

    def _is_on_hold(self, item: Item, entry: Sent) -> bool:
        """Whether an entry completes an item that cannot be completed now."""
        if entry.status != DONE or not item.check:
            return False
        why = self.hold(item)
        if why:
            self.said.append(why)
        return bool(why)

    def _refuse_removed(self, entry: Sent, held: Held) -> None:
        """An entry means an item that others removed."""
        is_unheard = held.id in self.unheard.removed
        if plainly(held.text) in self.removed or plainly(entry.text) in self.removed:
            self.said.append(_not_brought_back(entry))
        elif is_unheard or entry.status == held.status:
            self.entries.append(held)
        else:
            self.said.append(f"{quoted(entry.text)} was removed meanwhile; if it is still to be done, send it again.")

    def _new(self, entry: Sent, parent: Item | None) -> Item | None:
        words = plainly(entry.text)
        if words in self.removed and not self.is_new_list:
            self.said.append(_not_brought_back(entry))
            return None
        item = None
        if not self.is_new_list:
            item = self._recalled(words)
        if item is not None:
            item = item._replace(text=entry.text, status=PENDING, reason="", closed=None)
            if self._is_on_hold(item, entry):
                entry = entry._replace(status=PENDING)
            item = item._replace(status=entry.status)
            item = _updated(item, entry._replace(status=""), self.shown)
            item = item._replace(parent=parent.id if parent else "")
        else:
            item = self._begun(entry, parent)
        self.entries.append(Held(item.id, entry.text, entry.status, key=entry.key))
        return item

    def _recalled(self, words: str) -> Item | None:
        """An item that this sender left out before, with the same words."""
        for id, text in reversed(self.base.gone):
            if id not in self.there and plainly(text) == words and all(made.id != id for made in self.made):
                return self.recall(id)
        return None

    def _begun(self, entry: Sent, parent: Item | None) -> Item:
        self.last_id += 1
        while not entry.key and str(self.last_id) in self.keys:  # that would look like an id its sender gave
            self.last_id += 1
        id = str(self.last_id)
        extra: dict[str, Any] = {}
        if entry.key not in ("", id):
            extra["id"] = entry.key
        if parent:
            extra[SUBTASK] = True
        before = parent
        if self.made and not parent:
            before = self.made[-1]
        return Item(
            id=id,
            text=entry.text,
            status=entry.status,
            active=entry.active or "",
            phase=before.phase if before else "",
            parent=parent.id if parent else "",
            priority=entry.priority or "",
            calls=entry.calls or (),
            extra=extra,
        )

    def _place_parts(self, entry: Sent, made: Item, item: Item | None) -> None:
        old = self.parts.get(made.id, [])
        finished = made.status == DONE and item is not None and item.status != DONE
        if entry.parts is None:
            self.seen.update(part.id for part in old)
            self.made += [part._replace(status=DONE) if finished and not part.is_closed else part for part in old]
            self.entries += [self.held[part.id] for part in old if part.id in self.held]
        else:
            mine = [part for part in old if part.id in self.held]
            self.place(old, [_follows(part, made, mine) for part in entry.parts], made)

    # --- all of it -------------------------------------------------------------------------------------------------

    def result(self, sent: Sequence[Sent]) -> Relisted:
        items = {item.id: item for item in self.made} | self.stayed
        wholes = []
        if self.form.nested:
            wholes = list(items)
        while wholes:  # parts of parts are out of the sender's sight: they stay with their wholes
            for part in self.parts.get(wholes.pop(), ()):
                if part.id not in self.seen and part.id not in items:
                    items[part.id] = part
                    wholes.append(part.id)
        order = self._order()
        listed = tuple([items[id] for id in order if id in items])
        if len(listed) == len(self.plan.items) and all(map(is_, listed, self.plan.items)):
            listed = self.plan.items
        plan = grouped(linked(self.plan._replace(items=listed, last_id=self.last_id)))
        if self.is_new_list and not self.forgiving and self.plan.removed:
            plan = plan._replace(removed=())
        if not self.forgiving and not self.is_new_list:
            self._say_what_user_added(sent)
            self._say_what_is_reopened(plan)
        return Relisted(plan, self._kept(plan), tuple(self.said), self.is_new_list)

    def _order(self) -> list[str]:
        """The order of the plan, unless the list asks for another: one that it has not had before, if nobody moved
        anything unheard."""
        mine, now = [item.id for item in self.made], [item.id for item in self.plan.items]
        if mine == now:
            return now
        if self.forgiving:
            return interleaved(mine, now)
        listed = [id for id in mine if id in self.held]
        before = [held.id for held in self.base.entries]
        if in_order(listed, before) or self.unheard.moved or any(in_order(listed, one) for one in self.base.orders):
            return woven(now, mine)
        strangers = {id for id in mine if id in self.there and id not in self.held}
        return interleaved([id for id in mine if id not in strangers], now)

    def _say_what_user_added(self, sent: Sequence[Sent]) -> None:
        """What the user added and the list does not have."""
        words = "was added by the user; it stays"
        if sent and all(entry.status in CLOSED for entry in sent):
            words = "is open: the user added it, and it stays"
        stayed = [self.stayed[id] for id in self.base.theirs if id in self.stayed and id not in self.unheard.added]
        stayed = [item for item in stayed if not item.is_closed and item.status in self.shown]
        for item in stayed[:_SAID]:
            self.said.append(f"{quoted(item.text)} {words}.")

    def _say_what_is_reopened(self, plan: Plan) -> None:
        """What the user reopened and was not begun again."""
        waiting = {id for id in self.base.reopened if id not in self.begun}
        if not waiting:
            return
        open = {item.id: item for item in plan.items if item.id in waiting and not item.is_closed}
        for id in [id for id in self.base.reopened if id in open][:_SAID]:
            self.said.append(
                f"{quoted(open[id].text)} was reopened by the user; set it in_progress before you complete it."
            )

    def _kept(self, plan: Plan) -> Kept:
        if self.is_new_list:
            return Kept(self.base.at, tuple(self.entries))
        reopened = tuple([id for id in self.base.reopened if id not in self.begun])
        kept = self.base._replace(
            entries=(*self.entries, *self.waiting),
            former={**self.base.former, **self.former},
            reopened=reopened,
            gone=(*self.base.gone, *self.gone),
        )
        return without_gone(kept, plan)


def _is_closed_by_user(item: Item) -> bool:
    return item.closed is not None and item.closed.by == USER


def _not_brought_back(entry: Sent) -> str:
    return f"{quoted(entry.text)} was removed by the user; it was not brought back."


def _follows(part: Sent, whole: Item, old: Sequence[Item]) -> Sent:
    """A part is done when the whole is. Where it has no status of its own, it stays as it was."""
    if whole.status == DONE:
        return part._replace(status=DONE)
    if part.status:
        return part
    for item in old:
        if item.extra.get("id") == part.key or item.text == part.text:
            return part._replace(status=item.status)
    return part._replace(status=PENDING)


def _updated(item: Item, entry: Sent, shown: Mapping[str, str]) -> Item:
    """The item with what an entry says. Without a status, it keeps its own."""
    new: dict[str, Any] = {}
    if entry.text not in (item.text, inline(item.text)):  # its sender may send back what it was shown
        new["text"] = entry.text
    if entry.status and entry.status != shown.get(item.status):
        new |= {"status": entry.status, "reason": ""}
    if entry.active is not None and entry.active != item.active:
        new["active"] = entry.active
    if entry.priority is not None and entry.priority != item.priority:
        new["priority"] = entry.priority
    if entry.calls is not None and entry.calls != item.calls:
        new["calls"] = entry.calls
    if entry.key and entry.key != key_of(item):
        new["extra"] = {**item.extra, "id": entry.key}
    if new:
        return item._replace(**new)
    return item

"""Which item of the old list does each entry of a resent list mean?

The written rule, in this order, each old item taken at most once:

1. the entry brings the id that its sender knows the item by, and words that the item is known by;
2. the same text; of several equal texts the first entry means the first item, the second the second;
3. the same text but for case, spacing and end punctuation; then the id alone, unless it would put other words, still to
   do, in the place of a closed item: then an old id was used again for a new thing. Words come before ids because
   models number their lists again when they leave something out. An item that the sender did not list before is not
   found by its id alone: senders choose their ids themselves, and two choose the same;
4. other words that the item is known by: those that others gave it, those it had before;
5. the beginning of one of its texts, as far as it was shown;
6. reworded: texts that are alike. A closed item is never found this way by an open entry (that is a new thing to do),
   nor are texts whose numbers differ ("Fix error 1", "Fix error 2"). Between the same two neighbors a little likeness
   is enough; elsewhere it must be large, and the most alike pair goes first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ._typing import Any, NamedTuple
from .last_sent import Held, Kept, Unheard, in_order
from .model import CLOSED, NOTHING, Item, Plan
from .text import inline, plainly

_ALIKE = 0.5  # anywhere in the list
_ALIKE_HERE = 0.2  # in the same place
_SHORTEST = 20  # characters of a beginning that is recognized
_PAIRS = 10_000  # more leftovers than this are compared only place by place
_NONE: deque[int] = deque()


class Entry(NamedTuple):
    """One line of a resent list, as far as matching goes."""

    text: str
    status: str
    key: str = ""  # an id that the sender uses


class SenderView(NamedTuple):
    """A plan as the sender of a list knows it."""

    plan: Plan
    shown: Mapping[str, str]  # how it sees each status
    kept: Kept  # the list that it sent before
    unheard: Unheard  # what others changed since it was last told
    held: Mapping[str, Held]  # the entries of that list, by id
    there: Collection[str]  # the ids of the plan


# --- one level of a list ---------------------------------------------------------------------------------------------


def meant(view: SenderView, old: Sequence[Item], entries: Sequence[Entry], *, top: bool) -> list[Item | None]:
    """For each entry the item it means: one that its sender listed before, in the words it used then, or another one of
    the plan. An item that others removed is found, too, as it was listed."""
    visible = {item.id: item for item in old if item.status in view.shown}
    found = _read(view, visible, entries, top=top)
    if _has_two_readings(view, visible):
        other = _read(view, visible, entries, top=top, as_now=True)
        if _fit(view, other, entries, as_now=True) >= _fit(view, found, entries, as_now=False):
            found = other
    found = [item and visible.get(item.id, item) for item in found]
    _mean_what_is_left(view, found, entries, visible)
    _take_up_again(found, entries, [item for item in old if item.status not in view.shown])
    return found


def _read(
    view: SenderView, visible: Mapping[str, Item], entries: Sequence[Entry], *, top: bool, as_now: bool = False
) -> list[Item | None]:
    """For each entry the item it means: by the words that its sender used before, or by those of now."""
    before: list[Item] = []
    aliases: dict[str, tuple[str, ...]] = {}
    for held in view.kept.entries:
        item = visible.get(held.id)
        if item is not None:
            words, other = held.text, item.text
            if as_now:
                words, other = other, words
            before.append(_as_sent(item, words, held.key))
            past = view.kept.past.get(held.id, ())
            if past or words != other:
                aliases[held.id] = (other, *past)
        elif top and held.id not in view.there:
            before.append(_as_sent(Item(held.id, held.text, held.status), held.text, held.key))
    strangers = [item for item in visible.values() if item.id not in view.held]
    for item in strangers:
        if item.id in view.kept.past:
            aliases[item.id] = view.kept.past[item.id]
    return match(before, entries, aliases, strangers)


def _has_two_readings(view: SenderView, visible: Mapping[str, Item]) -> bool:
    """Whether somebody gave an item words that its sender used for another one, or the other way round, and its
    sender knows: then the same list means other items before and after the renaming."""
    renamed = [held for held in view.kept.entries if held.id in visible and visible[held.id].text != held.text]
    if not renamed or any("text" in view.unheard.fields.get(held.id, ()) for held in renamed):
        return False
    owners: dict[str, set[str]] = {}
    for item in visible.values():
        owners.setdefault(plainly(item.text), set()).add(item.id)
    for held in view.kept.entries:
        owners.setdefault(plainly(held.text), set()).add(held.id)
    return any(len(owners[plainly(text)]) > 1 for held in renamed for text in (held.text, visible[held.id].text))


def _fit(view: SenderView, found: Sequence[Item | None], entries: Sequence[Entry], *, as_now: bool) -> tuple[int, bool]:
    """How well a reading fits: in how many words, and whether the list is then in order."""
    same = [entry.text == item.text for entry, item in zip(entries, found, strict=True) if item]
    order = [held.id for held in view.kept.entries]
    if as_now:
        order = [item.id for item in view.plan.items]
    return sum(same), in_order([item.id for item in found if item], order)


def _mean_what_is_left(
    view: SenderView, found: list[Item | None], entries: Sequence[Entry], visible: Mapping[str, Item]
) -> None:
    """Of items with equal words, something still to do means the one that is open, rather than one that somebody
    closed or removed."""
    over = [
        index
        for index, item in enumerate(found)
        if item and (item.id not in view.there or (item.is_closed and entries[index].status not in CLOSED))
    ]
    if not over:
        return
    taken = {item.id for item in found if item}
    left = [item for item in visible.values() if item.id not in taken and not item.is_closed]
    words = {plainly(item.text): item for item in reversed(left)}
    for index in over:
        found[index] = words.pop(plainly(entries[index].text), found[index])


def _take_up_again(found: list[Item | None], entries: Sequence[Entry], hidden: Sequence[Item]) -> None:
    """An item out of the sender's sight that it sends in the same words is meant, not a second one like it."""
    words = {plainly(item.text): item for item in reversed(hidden)}
    for index, entry in enumerate(entries):
        if found[index] is None and words:
            found[index] = words.pop(plainly(entry.text), None)


def _as_sent(item: Item, words: str, key: str) -> Item:
    """The item in the words and with the id that its sender uses."""
    if key and key != key_of(item):
        item = item._replace(extra={**item.extra, "id": key})
    if item.text == words:
        return item
    return item._replace(text=words)


def key_of(item: Item) -> str:
    """The id that a sender with ids of its own knows an item by."""
    return str(item.extra.get("id") or item.id)


# --- the written rule ------------------------------------------------------------------------------------------------


def match(
    old: Sequence[Item],
    sent: Sequence[Entry],
    aliases: Mapping[str, Sequence[str]] = NOTHING,
    strangers: Sequence[Item] = (),
) -> list[Item | None]:
    """For each entry the item it means, or None if it is new. `aliases`: other words that items are known by, by their
    ids. `strangers`: items that the sender did not list before. They come last, and are found neither by an id alone
    nor by likeness."""
    found: list[Item | None] = [None] * len(sent)
    known = _Search(old, sent, found, aliases)
    known.by_key(known.is_known_by)
    known.by_text()
    known.by_key(_is_not_used_again)
    known.by_other_words()
    if strangers:
        others = _Search(strangers, sent, found, aliases)
        others.by_key(others.is_known_by)
        others.by_text()
        others.by_other_words()
    if not known.is_over:
        known.by_likeness()
    return found


def is_beginning(text: str, whole: str) -> bool:
    """Whether a text is the beginning of a longer one, as it is shown where there is no room for all of it."""
    start = text[:-1]
    return text.endswith("…") and _SHORTEST <= len(start) < len(whole) and inline(whole).startswith(start)


def _is_not_used_again(item: Item, entry: Entry) -> bool:
    """Whether an id means the same thing as before. For a closed item, other words that are still to do do not."""
    return item.status not in CLOSED or entry.status in CLOSED or plainly(item.text) == plainly(entry.text)


class _Search:
    """Old items, the entries of a list, and what each entry means as far as it is known. An item is taken once."""

    def __init__(
        self,
        old: Sequence[Item],
        sent: Sequence[Entry],
        found: list[Item | None],
        aliases: Mapping[str, Sequence[str]],
    ) -> None:
        self.old = old
        self.sent = sent
        self.found = found
        self.aliases = aliases
        self.free = dict.fromkeys(range(len(old)))  # indexes of items not taken yet, in order

    @property
    def is_over(self) -> bool:
        return not self.free or None not in self.found

    def is_known_by(self, item: Item, entry: Entry) -> bool:
        return plainly(entry.text) in map(plainly, self._texts(item))

    def by_key(self, fits: Callable[[Item, Entry], bool]) -> None:
        """A list that was numbered again gives one id to several items."""
        if any(entry.key for entry in self.sent):
            self._take_by(
                lambda item: (key_of(item),),
                lambda entry: entry.key,
                fits,
            )

    def by_text(self) -> None:
        self._take_by(lambda item: filter(None, (item.text,)), lambda entry: entry.text)
        if not self.is_over:
            self._take_by(lambda item: filter(None, (plainly(item.text),)), lambda entry: plainly(entry.text))

    def by_other_words(self) -> None:
        if self.aliases and not self.is_over:
            self._take_by(
                lambda item: map(plainly, self.aliases.get(item.id, ())),
                lambda entry: plainly(entry.text),
            )
        if not self.is_over:
            self._by_beginning()

    def by_likeness(self) -> None:
        """First in the same place, where a little is enough; then the most alike pairs, wherever they are."""
        for position, index in self._same_places():
            if index in self.free and self._likeness(index, position) >= _ALIKE_HERE:
                self._take(position, index)
        self._take_most_alike()

    def _take_most_alike(self) -> None:
        new = [position for position, item in enumerate(self.found) if item is None]
        if len(new) * len(self.free) > _PAIRS:
            return
        pairs = [(self._likeness(index, position), position, index) for position in new for index in self.free]
        for score, position, index in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
            if score >= _ALIKE and self.found[position] is None and index in self.free:
                self._take(position, index)

    def _take(self, position: int, index: int) -> None:
        self.found[position] = self.old[index]
        del self.free[index]

    def _take_by(
        self,
        keys: Callable[[Item], Iterable[str]],
        key: Callable[[Entry], str],
        fits: Callable[[Item, Entry], bool] = lambda item, entry: True,
    ) -> None:
        """Give each entry without an item the first free one that has its key and fits."""
        places: dict[str, deque[int]] = defaultdict(deque)
        for index in self.free:
            for one in keys(self.old[index]):
                places[one].append(index)
        for position, entry in enumerate(self.sent):
            if self.found[position] is not None:
                continue
            waiting = places.get(key(entry), _NONE)
            while waiting and waiting[0] not in self.free:
                waiting.popleft()
            for index in waiting:
                if index in self.free and fits(self.old[index], entry):
                    self._take(position, index)
                    break

    def _by_beginning(self) -> None:
        for position, entry in enumerate(self.sent):
            if self.found[position] is not None or not entry.text.endswith("…"):
                continue
            for index in self.free:
                if any(is_beginning(entry.text, text) for text in self._texts(self.old[index])):
                    self._take(position, index)
                    break

    def _texts(self, item: Item) -> tuple[str, ...]:
        return item.text, *self.aliases.get(item.id, ())

    def _likeness(self, index: int, position: int) -> float:
        item, entry = self.old[index], self.sent[position]
        return max(likeness(item._replace(text=text), entry) for text in self._texts(item))

    def _same_places(self) -> list[tuple[int, int]]:
        """Pairs of leftovers between the same neighbors, where as many left as came."""
        free = list(self.free)
        pairs: list[tuple[int, int]] = []
        for (low, high), positions in self._gaps().items():
            if low < high:
                indexes = free[bisect_right(free, low) : bisect_left(free, high)]
                if len(indexes) == len(positions):
                    pairs += zip(positions, indexes, strict=True)
        return pairs

    def _gaps(self) -> dict[tuple[int, int], list[int]]:
        """The positions of new entries, by the indexes of the items that their neighbors mean."""
        index_of = {item.id: index for index, item in enumerate(self.old)}
        gaps: dict[tuple[int, int], list[int]] = {}
        left = -1
        run: list[int] = []
        for position, item in enumerate(self.found):
            if item is None:
                run.append(position)
            elif item.id in index_of:  # a stranger is nowhere in the old list
                right = index_of[item.id]
                gaps.setdefault((left, right), []).extend(run)
                left, run = right, []
        gaps.setdefault((left, len(self.old)), []).extend(run)
        return gaps


def likeness(item: Item, entry: Entry) -> float:
    """How alike two texts are, 0 to 1: the share of letter pairs they have in common."""
    if item.status in CLOSED and entry.status not in CLOSED:
        return 0.0
    if _numbers(item.text) != _numbers(entry.text):
        return 0.0
    a, b = _pairs(item.text), _pairs(entry.text)
    if not a or not b:
        return 0.0
    in_both = len(a & b)
    return 2 * in_both / (len(a) + len(b))


def _numbers(text: str) -> list[str]:
    return "".join(char if char.isdigit() else " " for char in text).split()


def _pairs(text: str) -> set[Any]:
    words = plainly(text[:200]).split()
    return {word[i : i + 2] for word in words for i in range(len(word) - 1)} | set(words)

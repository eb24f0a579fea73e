"""Which item of the old list does each entry of a resent list mean?

The written rule, in this order, each old item taken at most once:

1. the entry brings the id that its sender knows the item by, unless it would put other words, still to do, in the
   place of a closed item: then an old id was used again for a new thing;
2. the same text; of several equal texts the first entry means the first item, the second the second;
3. the same text but for case, spacing and end punctuation;
4. reworded: texts that are alike. A closed item is never found this way by an open entry (that is a new thing to do),
   nor are texts whose numbers differ ("Fix error 1", "Fix error 2"). Between the same two neighbours a little likeness
   is enough; elsewhere it must be large, and the most alike pair goes first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence

from .model import CLOSED, Item
from .text import plainly
from .typed import Any, NamedTuple

_ALIKE = 0.5  # anywhere in the list
_ALIKE_HERE = 0.2  # in the same place
_PAIRS = 10_000  # more leftovers than this are compared only place by place


class Entry(NamedTuple):
    """One line of a resent list, as far as matching goes."""

    text: str
    status: str
    key: str = ""  # an id that the sender uses


def match(old: Sequence[Item], sent: Sequence[Entry]) -> list[Item | None]:
    """For each entry the item it means, or None if it is new."""
    found: list[Item | None] = [None] * len(sent)
    free = dict.fromkeys(range(len(old)))  # indexes of old items not taken yet, in order

    def take(old_key: Callable[[Item], Hashable], sent_key: Callable[[Entry], Hashable]) -> None:
        places: dict[Hashable, deque[int]] = defaultdict(deque)
        for index in free:
            key = old_key(old[index])
            if key:
                places[key].append(index)
        for position, entry in enumerate(sent):
            if found[position] is None:
                waiting = places.get(sent_key(entry))
                if waiting:
                    index = waiting.popleft()
                    found[position] = old[index]
                    del free[index]

    if any(entry.key for entry in sent):
        _by_key(old, sent, found, free)
    take(lambda item: item.text, lambda entry: entry.text)
    if free and None in found:
        take(lambda item: plainly(item.text), lambda entry: plainly(entry.text))
    if free and None in found:
        _reworded(old, sent, found, free)
    return found


def _by_key(old: Sequence[Item], sent: Sequence[Entry], found: list[Item | None], free: dict[int, None]) -> None:
    keys = {str(old[index].extra.get("id") or old[index].id): index for index in reversed(free)}
    for position, entry in enumerate(sent):
        index = keys.get(entry.key, -1)
        if index in free and not _used_again(old[index], entry):
            found[position] = old[index]
            del free[index]


def _used_again(item: Item, entry: Entry) -> bool:
    return item.status in CLOSED and entry.status not in CLOSED and plainly(item.text) != plainly(entry.text)


def _reworded(old: Sequence[Item], sent: Sequence[Entry], found: list[Item | None], free: dict[int, None]) -> None:
    for position, index in _same_places(old, sent, found, free):
        if index in free and found[position] is None and likeness(old[index], sent[position]) >= _ALIKE_HERE:
            found[position] = old[index]
            del free[index]
    new = [position for position, item in enumerate(found) if item is None]
    if len(new) * len(free) > _PAIRS:
        return
    pairs = [(likeness(old[index], sent[position]), position, index) for position in new for index in free]
    for score, position, index in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if score >= _ALIKE and found[position] is None and index in free:
            found[position] = old[index]
            del free[index]


def _same_places(
    old: Sequence[Item], sent: Sequence[Entry], found: Sequence[Item | None], free: dict[int, None]
) -> list[tuple[int, int]]:
    """Pairs of leftovers that stand between the same neighbours, where as many left as came."""
    index_of = {item.id: index for index, item in enumerate(old)}
    gaps: dict[tuple[int, int], list[int]] = defaultdict(list)
    left = -1
    run: list[int] = []
    for position in range(len(sent) + 1):
        item = found[position] if position < len(sent) else None
        if position < len(sent) and item is None:
            run.append(position)
            continue
        right = index_of[item.id] if item else len(old)
        if run:
            gaps[left, right] += run
            run = []
        left = right
    pairs: list[tuple[int, int]] = []
    left_over = list(free)
    for (low, high), positions in gaps.items():
        indexes = left_over[bisect_right(left_over, low) : bisect_left(left_over, high)] if low < high else []
        if len(indexes) == len(positions):
            pairs += zip(positions, indexes, strict=True)
    return pairs


def likeness(item: Item, entry: Entry) -> float:
    """How alike two texts are, 0 to 1: the share of letter pairs they have in common."""
    if item.status in CLOSED and entry.status not in CLOSED:
        return 0.0
    if _numbers(item.text) != _numbers(entry.text):
        return 0.0
    a, b = _pairs(item.text), _pairs(entry.text)
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def _numbers(text: str) -> list[str]:
    return "".join(char if char.isdigit() else " " for char in text).split()


def _pairs(text: str) -> set[Any]:
    words = plainly(text[:200]).split()
    return {word[i : i + 2] for word in words for i in range(len(word) - 1)} | set(words)

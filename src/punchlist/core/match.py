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
from collections.abc import Callable, Hashable, Mapping, Sequence

from ._typing import Any, NamedTuple
from .model import CLOSED, NOTHING, Item
from .text import inline, plainly

_ALIKE = 0.5  # anywhere in the list
_ALIKE_HERE = 0.2  # in the same place
_SHORTEST = 20  # characters of a beginning that is recognized
_PAIRS = 10_000  # more leftovers than this are compared only place by place


class Entry(NamedTuple):
    """One line of a resent list, as far as matching goes."""

    text: str
    status: str
    key: str = ""  # an id that the sender uses


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
    free = dict.fromkeys(range(len(old)))  # indexes of old items not taken yet, in order
    has_keys = any(entry.key for entry in sent)
    if has_keys:
        _by_key(old, sent, found, free, lambda item, entry: _is_known_by(item, entry.text, aliases))
    _by_text(old, sent, found, free)
    if has_keys:
        _by_key(old, sent, found, free, _is_not_used_again)
    _by_other_words(old, sent, found, free, aliases)
    if strangers and None in found:
        others = dict.fromkeys(range(len(strangers)))
        _by_key(strangers, sent, found, others, lambda item, entry: _is_known_by(item, entry.text, aliases))
        _by_text(strangers, sent, found, others)
        _by_other_words(strangers, sent, found, others, aliases)
    if free and None in found:
        _reworded(old, sent, found, free, aliases)
    return found


def _by_text(old: Sequence[Item], sent: Sequence[Entry], found: list[Item | None], free: dict[int, None]) -> None:
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

    take(lambda item: item.text, lambda entry: entry.text)
    if free and None in found:
        take(lambda item: plainly(item.text), lambda entry: plainly(entry.text))


def _by_other_words(
    old: Sequence[Item],
    sent: Sequence[Entry],
    found: list[Item | None],
    free: dict[int, None],
    aliases: Mapping[str, Sequence[str]],
) -> None:
    if free and None in found and aliases:
        _by_alias(old, sent, found, free, aliases)
    if free and None in found:
        _by_beginning(old, sent, found, free, aliases)


def is_beginning(text: str, whole: str) -> bool:
    """Whether a text is the beginning of a longer one, as it is shown where there is no room for all of it."""
    start = text[:-1]
    return text.endswith("…") and _SHORTEST <= len(start) < len(whole) and inline(whole).startswith(start)


def _by_alias(
    old: Sequence[Item],
    sent: Sequence[Entry],
    found: list[Item | None],
    free: dict[int, None],
    aliases: Mapping[str, Sequence[str]],
) -> None:
    places: dict[str, list[int]] = {}
    for index in free:
        for words in aliases.get(old[index].id, ()):
            places.setdefault(plainly(words), []).append(index)
    for position, entry in enumerate(sent):
        waiting = places.get(plainly(entry.text), ()) if found[position] is None else ()
        index = next((index for index in waiting if index in free), -1)
        if index >= 0:
            found[position] = old[index]
            del free[index]


def _by_beginning(
    old: Sequence[Item],
    sent: Sequence[Entry],
    found: list[Item | None],
    free: dict[int, None],
    aliases: Mapping[str, Sequence[str]],
) -> None:
    for position, entry in enumerate(sent):
        if found[position] is not None or not entry.text.endswith("…"):
            continue
        for index in free:
            texts = (old[index].text, *aliases.get(old[index].id, ()))
            if any(is_beginning(entry.text, text) for text in texts):
                found[position] = old[index]
                del free[index]
                break


def _by_key(
    old: Sequence[Item],
    sent: Sequence[Entry],
    found: list[Item | None],
    free: dict[int, None],
    fits: Callable[[Item, Entry], bool],
) -> None:
    places: dict[str, list[int]] = {}  # a list that was numbered again gives one id to several items
    for index in free:
        places.setdefault(str(old[index].extra.get("id") or old[index].id), []).append(index)
    for position, entry in enumerate(sent):
        waiting = places.get(entry.key, ()) if entry.key and found[position] is None else ()
        index = next((index for index in waiting if index in free and fits(old[index], entry)), -1)
        if index >= 0:
            found[position] = old[index]
            del free[index]


def _is_known_by(item: Item, text: str, aliases: Mapping[str, Sequence[str]]) -> bool:
    return plainly(text) in map(plainly, (item.text, *aliases.get(item.id, ())))


def _is_not_used_again(item: Item, entry: Entry) -> bool:
    """Whether an id means the same thing as before. For a closed item, other words that are still to do do not."""
    return item.status not in CLOSED or entry.status in CLOSED or plainly(item.text) == plainly(entry.text)


def _reworded(
    old: Sequence[Item],
    sent: Sequence[Entry],
    found: list[Item | None],
    free: dict[int, None],
    aliases: Mapping[str, Sequence[str]],
) -> None:
    def alike(index: int, position: int) -> float:
        item, entry = old[index], sent[position]
        others = aliases.get(item.id, ())
        return max(likeness(item, entry), *(likeness(item._replace(text=text), entry) for text in others), 0.0)

    for position, index in _same_places(old, sent, found, free):
        if index in free and found[position] is None and alike(index, position) >= _ALIKE_HERE:
            found[position] = old[index]
            del free[index]
    new = [position for position, item in enumerate(found) if item is None]
    if len(new) * len(free) > _PAIRS:
        return
    pairs = [(alike(index, position), position, index) for position in new for index in free]
    for score, position, index in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if score >= _ALIKE and found[position] is None and index in free:
            found[position] = old[index]
            del free[index]


def _same_places(
    old: Sequence[Item], sent: Sequence[Entry], found: Sequence[Item | None], free: dict[int, None]
) -> list[tuple[int, int]]:
    """Pairs of leftovers between the same neighbors, where as many left as came."""
    index_of = {item.id: index for index, item in enumerate(old)}
    gaps: dict[tuple[int, int], list[int]] = defaultdict(list)
    left = -1
    run: list[int] = []
    for position in range(len(sent) + 1):
        item = found[position] if position < len(sent) else None
        if position < len(sent) and item is None:
            run.append(position)
            continue
        if item is not None and item.id not in index_of:  # a stranger is nowhere in the old list
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

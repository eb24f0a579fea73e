"""Which item is meant: by its id, by a part of its text, by a range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from .errors import NoSuchItem, Refused
from .model import Item, Plan
from .text import cut, inline, plainly

_ID = itemgetter(Item._fields.index("id"))
Id = str | int  # ids are strings of digits; a number means the same


def find(plan: Plan, id: Id) -> Item:
    """Return the item with this id. Raises NoSuchItem."""
    return plan.items[found_at(plan, id)]


def found_at(plan: Plan, id: Id) -> int:
    """The place of the item with this id."""
    id = as_id(id)
    place = place_of(plan.items, id)
    if place < 0:
        raise _no_such_item(plan, [id])
    return place


def lookup(plan: Plan, id: Id) -> Item | None:
    """Return the item with this id, or None."""
    if type(id) is not str:  # every tool call looks items up
        id = as_id(id)
    place = place_of(plan.items, id)
    if place >= 0:
        return plan.items[place]
    return None


def place_of(items: Sequence[Item], id: str) -> int:
    """The place of an item; -1 if it is not there. Most are where their number says: then no other is looked at."""
    guess = -1
    if id.isdecimal() and len(id) < 19:
        guess = int(id) - 1
    if 0 <= guess < len(items) and items[guess].id == id:
        return guess
    ids = list(map(_ID, items))
    if id in ids:
        return ids.index(id)
    return -1


def as_id(id: Id) -> str:
    """Return an id as a plan has it: a string. Raises Refused for what cannot be one."""
    if type(id) is int:
        return str(id)
    if not isinstance(id, str):
        raise Refused(f"an id must be a string of digits, not {cut(inline(repr(id)), 40)}.")
    return id


def resolve(plan: Plan, words: Id) -> str:
    """Return the id that is meant by an id, or by a part of one item's text.

    Raises NoSuchItem if nothing matches, and Refused if several items do, or if a range or list names several.

        ops.resolve(plan, "tests")  # '2'
    """
    words = as_id(words)
    wanted = words.strip().removeprefix("#")
    ids = [item.id for item in plan.items]
    if wanted in ids:
        return wanted
    if isinstance(_parts_of(words)[0], tuple):
        found = resolve_all(plan, [words])
        if len(found) > 1:
            raise Refused(f"this takes one item, and {inline(words.strip())} names {len(found)}: {', '.join(found)}.")
        return found[0]
    needle = plainly(words)
    exact = [item for item in plan.items if plainly(item.text) == needle]
    hits = exact
    if not hits and (any(map(str.isalnum, needle)) or not needle.isascii()):  # punctuation alone is not a part
        hits = [item for item in plan.items if needle in plainly(item.text)]
    if len(hits) == 1:
        return hits[0].id
    from .structure import no_match, several_match

    if hits:
        raise several_match(words, hits)
    raise no_match(words, ids)


def resolve_all(plan: Plan, words: Iterable[Id]) -> list[str]:
    """Return the ids that are meant by ids, ranges (`1-3`), lists (`1,3`) and parts of texts, each once.

    A range of digits is never taken for a part of a text. What is missing between its ends is left out.
    Raises NoSuchItem if nothing matches a word, and Refused if several items match it.
    """
    wanted = [part for word in words for part in _parts_of(as_id(word))]
    require(plan, [end for part in wanted if isinstance(part, tuple) for end in part])
    ids: list[str] = []
    for part in wanted:
        if isinstance(part, tuple):
            ids += _between(plan, *part)
        else:
            ids.append(resolve(plan, part))
    return list(dict.fromkeys(ids))


def _parts_of(word: str) -> list[str | tuple[str, str]]:
    """A word as the ends of ranges, if it is made of ids, dashes, commas and spaces only; else as it is."""
    ranges: list[str | tuple[str, str]] = []
    for part in word.replace(",", " ").split() or [word]:
        first, dash, last = (end.strip().removeprefix("#") for end in part.partition("-"))
        if not dash:
            last = first
        if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit()):
            return [word]
        ranges.append((first, last))
    return ranges


def _between(plan: Plan, first: str, last: str) -> list[str]:
    """The ids from one to another, by their numbers."""
    if int(first) > int(last):
        raise Refused(f"{first}-{last} is backwards: {last}-{first}.")
    return [item.id for item in plan.items if int(first) <= int(item.id) <= int(last)]


def require(plan: Plan, wanted: Sequence[Id]) -> list[str]:
    """Return these ids as a plan has them. Raises NoSuchItem, with all those that are not in the plan."""
    ids = [as_id(id) for id in wanted]
    if len(ids) < 4:
        unknown = [id for id in ids if place_of(plan.items, id) < 0]
    else:
        known = set(map(_ID, plan.items))
        unknown = [id for id in ids if id not in known]
    if unknown:
        raise _no_such_item(plan, unknown)
    return ids


def _no_such_item(plan: Plan, unknown: Sequence[str]) -> NoSuchItem:
    from .structure import no_such_item

    return no_such_item(plan, unknown)

"""How items hang together: where each goes, which are parts of which, and which wait for each other. Loaded where items
are added, moved or removed, and where one is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .errors import NoSuchItem, Refused
from .model import Item, Plan
from .text import cut, inline, quoted


def place_for(items: Sequence[Item], ranks: Mapping[str, int], item: Item, anchor: Item | None) -> int:
    """Return where an item goes: behind its anchor and the parts of it, or at the end of its phase. Raises Refused."""
    if anchor:
        if anchor.phase != item.phase:
            raise elsewhere(anchor, item.phase)
        return _end_of_family(items, anchor.id)
    own = ranks.get(item.phase, -1)
    index = len(items)
    while index and ranks.get(items[index - 1].phase, -1) > own:
        index -= 1
    return index


def _end_of_family(items: Sequence[Item], id: str) -> int:
    """Behind an item and those of its parts that are in its phase."""
    family = {id}
    end, phase = 0, ""
    for index, item in enumerate(items):
        if item.id == id:
            end, phase = index + 1, item.phase
        elif item.parent in family and end and item.phase == phase:
            family.add(item.id)
            end = index + 1
    return end


def neighbor(items: Sequence[Item], id: str, plan: Plan) -> Item | None:
    """Return the item beside which another one goes; None if no id is named. Raises NoSuchItem."""
    if not id:
        return None
    for item in items:
        if item.id == id:
            return item
    raise no_such_item(plan, [id])


def family_of(plan: Plan, ids: Iterable[str]) -> set[str]:
    """Return these items, their parts, the parts of those, and so on, wherever they are."""
    parts: dict[str, list[str]] = {}
    for item in plan.items:
        if item.parent:
            parts.setdefault(item.parent, []).append(item.id)
    family: set[str] = set()
    found = list(ids)
    while found:
        id = found.pop()
        if id not in family:
            family.add(id)
            found += parts.get(id, ())
    return family


def without_needs(item: Item, gone: set[str]) -> Item:
    """Return an item that no longer needs what is gone."""
    if gone.isdisjoint(item.needs):
        return item
    return item._replace(needs=tuple(id for id in item.needs if id not in gone))


def elsewhere(item: Item, phase: str) -> Refused:
    """Return the error for an item that is to be the neighbor of one in another phase."""
    return Refused(f"item {item.id} is {_in_phase(item.phase)}, not {_in_phase(phase)}.")


def _in_phase(name: str) -> str:
    if name:
        return f"in phase {quoted(name)}"
    return "in no phase"


def check_needs(plan: Plan) -> None:
    """Check that needs name items and do not form a circle. Raises NoSuchItem and Refused."""
    needs = {item.id: item.needs for item in plan.items}
    for id, wanted in needs.items():
        unknown = [other for other in wanted if other not in needs]
        if unknown:
            raise no_such_item(plan, unknown)
        if id in wanted:
            raise Refused(f"item {id} cannot need itself.")
    circle = circle_of_needs(needs)
    if circle:
        raise Refused(f"these items would wait for each other: {' → '.join(circle)}.")


def circle_of_needs(needs: dict[str, tuple[str, ...]]) -> list[str]:
    """Return one circle of needs, as the ids along it; empty if there is none."""
    finished: set[str] = set()
    for root in needs:
        path: list[str] = []
        on_path: set[str] = set()
        todo = [(root, False)]
        while todo:
            id, leaving = todo.pop()
            if leaving:
                path.pop()
                on_path.discard(id)
                finished.add(id)
            elif id in on_path:
                return [*path[path.index(id) :], id]
            elif id not in finished:
                path.append(id)
                on_path.add(id)
                todo.append((id, True))
                todo.extend((other, False) for other in needs.get(id, ()))
    return []


# --- what is said of an item that is not there -----------------------------------------------------------------------


def no_such_item(plan: Plan, unknown: Sequence[str]) -> NoSuchItem:
    """Return the error for ids that are not in a plan."""
    names = ", ".join(repr(cut(inline(id), 40)) for id in list(dict.fromkeys(unknown))[:10])
    return NoSuchItem(f"no item {names}; {_known([item.id for item in plan.items])}.")


def no_match(words: str, ids: Sequence[str]) -> NoSuchItem:
    """Return the error for words that no item has."""
    return NoSuchItem(f"no item matches {quoted(words, 40)}; {_known(ids)}.")


def several_match(words: str, hits: Sequence[Item]) -> Refused:
    """Return the error for words that several items have."""
    listing = _some([f"{item.id} {quoted(item.text, 30)}" for item in hits], 5)
    return Refused(f"{quoted(words, 40)} could be any of {listing}; give the id.")


def _known(ids: Sequence[str]) -> str:
    if not ids:
        return "the plan is empty"
    return f"the ids are {_some(ids, 30)}"


def _some(words: Sequence[str], most: int) -> str:
    listed = ", ".join(words[:most])
    if len(words) > most:
        return f"{listed}, …"
    return listed

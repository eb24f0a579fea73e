"""Rules are data: what a dialect allows, and what it does by itself after a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter

from ._typing import NamedTuple
from .errors import Refused
from .model import ACTIVE, CLOSED, MODES, PENDING, STATUSES, Item, Plan, places
from .text import cut, inline

_ID, _PHASE, _PARENT, _NEEDS = (itemgetter(Item._fields.index(name)) for name in ("id", "phase", "parent", "needs"))
LAST_ID = 10**15  # beyond that an id would be no number for everybody


class Rules(NamedTuple):
    """What a dialect allows, and what it does by itself after a call."""

    max_items: int = 0
    """How many items a plan may have; 0: any number."""
    one_active: bool = False
    """Whether only the first of several active items stays active."""
    promote: bool = False
    """Whether the first pending item becomes active when none is."""
    clear_when_done: bool = False
    """Whether a list that was sent all completed becomes empty once nothing is open."""
    speaks_of: str = "now"
    """What a call talks about: the plan as it is ("now"), or as its author last saw it ("seen")."""
    clears: bool = False
    """Whether closed items leave the list some time after they were closed."""
    owns: bool = False
    """Whether starting an item makes it the agent's own."""


def obeyed(plan: Plan, rules: Rules, before: Plan, owner: str = "", others: frozenset[str] = frozenset()) -> Plan:
    """The plan a call asked for, as its dialect's rules have it. `owner` and `others`: as for `is_of_another`."""
    if len(plan.items) > rules.max_items > 0 and len(plan.items) > len(before.items):
        raise Refused(f"a plan holds at most {rules.max_items} items; this would make {len(plan.items)}.")
    if rules.one_active:
        plan = one_active(plan)
    if not rules.promote:
        return plan
    if owner or others:
        return _promoted_for(plan, before, owner, others)
    return promoted(plan)


def one_active(plan: Plan) -> Plan:
    """Of each owner's active items the first stays active, the others wait."""
    firsts = {item.owner: item.id for item in reversed(plan.busy)}
    if len(firsts) == len(plan.busy):
        return plan
    items = list(plan.items)
    for place in places(plan.statuses, ACTIVE):
        item = items[place]
        if firsts[item.owner] != item.id:
            items[place] = item._replace(status=PENDING)
    return plan._replace(items=tuple(items))


def promoted(plan: Plan) -> Plan:
    """With nothing active, the first pending item becomes active."""
    if plan.active is not None:
        return plan
    for index, item in enumerate(plan.items):
        if item.status == PENDING:
            begun = item._replace(status=ACTIVE)
            return plan._replace(items=(*plan.items[:index], begun, *plan.items[index + 1 :]))
    return plan


def is_of_another(whose: str, owner: str, others: frozenset[str]) -> bool:
    """Return whether the active items of somebody are another session's: for a second session on a plan, which is
    their `owner`, all but its own; for the first, those of `others`."""
    if owner:
        return whose != owner
    return whose in others


def _promoted_for(plan: Plan, before: Plan, owner: str, others: frozenset[str]) -> Plan:
    """With nothing active that is a session's own, its first pending item becomes active: of those that are its own or
    new, or of those that are nobody's if it was at work before."""

    def own(items: Iterable[Item]) -> list[Item]:
        return [item for item in items if not is_of_another(item.owner, owner, others)]

    if own(plan.busy):
        return plan
    waiting = [item for item in plan.items if item.status == PENDING]
    nobodys = [item for item in waiting if not item.owner]
    known = {item.id for item in before.items}
    found = own(waiting) + [item for item in nobodys if item.id not in known]
    if own(before.busy):
        found += nobodys
    if not found:
        return plan
    place = plan.items.index(found[0])
    begun = found[0]._replace(status=ACTIVE, owner=found[0].owner or owner)
    return plan._replace(items=(*plan.items[:place], begun, *plan.items[place + 1 :]))


# --- pausing -------------------------------------------------------------------------------------------------------

_VAGUE = ("can't continue", "stuck", "don't know", "confused", "need help")


def pause_problem(reason: object, *, strict: bool = True) -> str:
    """What is wrong with the reason for a pause; empty if nothing is."""
    if not reason:
        return "Reason is required"
    if not isinstance(reason, str):
        return "Reason must be a string"
    words = reason.strip()
    if not words:
        return "Reason cannot be empty"
    if len(words) > 500:
        return "Reason too long (max 500 characters)"
    if not strict:
        return ""
    if len(words) < 10:
        return "Reason too brief (min 10 characters for clarity)"
    if len(words) < 50 and any(phrase in words.lower() for phrase in _VAGUE):
        return "Please provide a more specific explanation of the blocking issue"
    return ""


# --- the build of a plan -------------------------------------------------------------------------------------------


def is_sound(plan: Plan) -> bool:
    """Return whether there is nothing to find beside the fields of single items; at a fraction of its cost."""
    known = set(map(_ID, plan.items))
    if len(known) < len(plan.items) or len(set(plan.phases)) < len(plan.phases) or not 0 <= plan.last_id <= LAST_ID:
        return False
    rank = {name: index for index, name in enumerate(plan.phases)}
    rank[""] = -1
    ranks = [rank.get(phase, len(rank)) for phase in map(_PHASE, plan.items)]
    if ranks != sorted(ranks) or len(rank) in ranks:
        return False
    is_linked = any(map(_NEEDS, plan.items)) or any(map(_PARENT, plan.items))
    return not is_linked or not problems(plan)


def problems(plan: Plan) -> list[str]:
    """What is wrong with a plan's build; a plan made by the operations has nothing."""
    from .structure import circle_of_needs

    ids = [item.id for item in plan.items]
    known = set(ids)
    found = [f"two items have the id {id!r}" for id, times in Counter(ids).items() if times > 1]
    found += [f"phase {name!r} has no name of its own" for name, n in Counter(plan.phases).items() if n > 1 or not name]
    if plan.last_id > LAST_ID:
        found.append(f"ids go up to {LAST_ID}, and last_id is beyond that")
    if plan.last_id < 0:
        found.append(f"ids go up to {LAST_ID}, and last_id is below 0")
    if plan.mode not in MODES:
        found.append(f"mode {plan.mode!r} is unknown")
    for item in plan.items:
        found += _item_problems(item, plan, known)
    rank = {name: index for index, name in enumerate(plan.phases)}
    ranks = [rank.get(item.phase, -1) for item in plan.items]
    if ranks != sorted(ranks):
        found.append("items are not in the order of their phases")
    for what, circle in (
        ("wait for", circle_of_needs({item.id: item.needs for item in plan.items})),
        ("are parts of", circle_of_needs({item.id: (item.parent,) if item.parent else () for item in plan.items})),
    ):
        if circle:
            found.append(f"these items {what} each other: {' → '.join(circle)}")
    return found


def _item_problems(item: Item, plan: Plan, known: set[str]) -> list[str]:
    where = f"item {cut(inline(item.id), 20)!r}"
    found = []
    if not (item.id.isascii() and item.id.isdigit() and len(item.id) < 19):
        found.append(f"{where}: the id must be a number, in digits")
    elif not 0 < int(item.id) <= plan.last_id:
        found.append(f"{where}: the id must be a number from 1 to {plan.last_id}")
    if not item.text:
        found.append(f"{where}: the text is empty")
    if item.status not in STATUSES:
        found.append(f"{where}: status {item.status!r} is unknown")
    if item.phase and item.phase not in plan.phases:
        found.append(f"{where}: phase {item.phase!r} is not one of the plan's")
    if item.parent and item.parent not in known:
        found.append(f"{where}: parent {item.parent!r} does not exist")
    found += [f"{where}: it needs {id!r}, which does not exist" for id in item.needs if id not in known]
    if item.closed and item.status not in CLOSED:
        found.append(f"{where}: it is open, but someone closed it")
    return found

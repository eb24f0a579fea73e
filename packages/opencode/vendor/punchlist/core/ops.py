"""Everything that can be done to a plan: pure functions from a plan to a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from ._typing import TYPE_CHECKING, Any
from .errors import Refused, check_type
from .find import Id as Id
from .find import as_id as as_id
from .find import find as find
from .find import found_at, place_of
from .find import lookup as lookup
from .find import require as require
from .find import resolve as resolve
from .find import resolve_all as resolve_all
from .model import ACTIVE, BLOCKED, CLOSED, DONE, DROPPED, MAIN, MODES, PENDING, Item, Pause, Plan, places
from .text import cut, inline

if TYPE_CHECKING:
    from .types import Mode

# --- asking --------------------------------------------------------------------------------------------------------


def open_needs(plan: Plan, item: Item) -> list[str]:
    """Return the ids of open items that must close before this item can start."""
    if not item.needs:
        return []
    needed = [other for other in plan.items if other.id in item.needs]
    return [other.id for other in needed if other.status not in CLOSED]


def open_parts(plan: Plan, id: str) -> list[str]:
    """Return the ids of the open items that are parts of this one."""
    parts = [item for item in plan.items if item.parent == id]
    return [item.id for item in parts if item.status not in CLOSED]


def next_ready(plan: Plan, *, owner: str | None = None) -> Item | None:
    """Return the first item in order that could be started now, or None.

    Ready means pending, with nothing it needs and none of its parts still open. `owner`: skip items of other owners.
    """
    open_items = [item for item in plan.items if item.status not in CLOSED]
    open_ids = {item.id for item in open_items}
    wholes = {item.parent for item in open_items}
    for item in open_items:
        is_ready = item.status == PENDING and item.id not in wholes and open_ids.isdisjoint(item.needs)
        if is_ready and (owner is None or item.owner in ("", owner)):
            return item
    return None


def following(plan: Plan) -> Item | None:
    """Return the item that could be started once the active ones are done, or None."""
    items = [item._replace(status=DONE) if item.status == ACTIVE else item for item in plan.items]
    return next_ready(plan._replace(items=tuple(items)))


# --- adding, removing, moving --------------------------------------------------------------------------------------


def add(plan: Plan, text: str, **fields: Any) -> Plan:
    """Add an item at the end of its phase, of its parent's parts, or `after` another; otherwise at the end of the list.

    `fields`: `after`, the id of an item, or any field of an `Item`. Raises Refused if the text is empty or the neighbor
    is in another phase, and NoSuchItem if `after`, `parent` or `needs` names an item that does not exist.

        ops.add(plan, "Fix the parser", after="1", needs=["1"]).items[1].text  # 'Fix the parser'
    """
    return extend(plan, [{"text": _words(text), **fields}])


def extend(plan: Plan, entries: Sequence[dict[str, Any]]) -> Plan:
    """Add several items at once.

    An entry has `text`, and optionally `after` and any other field of an `Item`. One that names no phase, parent or
    neighbor joins the phase of the last item. Raises NoSuchItem and Refused, as `add` does.
    """
    from .structure import check_needs, neighbor, place_for

    items = list(plan.items)
    ranks = _ranks(plan.phases)
    last = plan.last_id
    for entry in entries:
        last += 1
        fields = dict(entry)
        after = as_id(fields.pop("after", ""))
        if "parent" in fields:
            fields["parent"] = as_id(fields["parent"])
        if "needs" in fields:
            fields["needs"] = _ids_of(fields["needs"], "needs")
        if isinstance(fields.get("notes"), list):
            fields["notes"] = tuple(fields["notes"])
        item = Item(id=str(last), **fields)
        if "phase" not in fields:
            beside = neighbor(items, item.parent or after, plan)
            if beside is None and items:
                beside = items[-1]
            if beside is not None:
                item = item._replace(phase=beside.phase)
        if item.phase:
            ranks.setdefault(item.phase, len(ranks))
        items.insert(place_for(items, ranks, item, neighbor(items, after or item.parent, plan)), item)
    result = plan._replace(items=tuple(items), phases=tuple(ranks), last_id=last)
    if any(entry.get("needs") for entry in entries):
        check_needs(result)
    return result


def remove(plan: Plan, *ids: Id) -> Plan:
    """Remove items and their parts. What is left no longer needs them. Raises NoSuchItem."""
    from .structure import family_of, without_needs

    gone = family_of(plan, require(plan, ids))
    kept = [without_needs(item, gone) for item in plan.items if item.id not in gone]
    return plan._replace(items=tuple(kept))


def empty(plan: Plan) -> Plan:
    """Remove all items and phases. Items that were removed before may be added again."""
    return plan._replace(items=(), phases=(), removed=())


def move(plan: Plan, id: Id, *, after: Id = "", before: Id = "", phase: str | None = None) -> Plan:
    """Move an item and its parts behind or before another item, or to the end of a phase.

    Raises NoSuchItem, and Refused if the neighbor is one of its own parts or is in another phase than `phase`.
    """
    from .structure import elsewhere, family_of, neighbor, place_for

    id, after, before = as_id(id), as_id(after), as_id(before)
    item = find(plan, id)
    family = family_of(plan, [id])
    anchor = after or before
    if anchor in family:
        raise Refused(f"item {id} cannot be moved next to itself or one of its own parts.")
    target = item.phase
    if phase is not None:
        target = phase
    if anchor:
        target = find(plan, anchor).phase
        if phase not in (None, target):
            raise elsewhere(find(plan, anchor), phase or "")
    rest = [other for other in plan.items if other.id not in family]
    moved = [other._replace(phase=target) for other in plan.items if other.id in family]
    phases = plan.phases
    if target and target not in phases:
        phases = (*phases, target)
    if before:
        index = next(i for i, other in enumerate(rest) if other.id == before)
    else:
        index = place_for(rest, _ranks(phases), moved[0], neighbor(rest, after, plan))
    rest[index:index] = moved
    return plan._replace(items=tuple(rest), phases=phases)


def set_phases(plan: Plan, phases: Iterable[str]) -> Plan:
    """Set the phases and their order. Raises Refused if one that has items is left out."""
    names = tuple(dict.fromkeys(phases))
    lost = [item.phase for item in plan.items if item.phase and item.phase not in names]
    if lost:
        raise Refused(f"phase {lost[0]!r} still holds items.")
    return grouped(plan._replace(phases=names))


def grouped(plan: Plan) -> Plan:
    """Return the plan with its items in the order of its phases."""
    if not plan.phases:
        return plan
    ranks = _ranks(plan.phases)
    ordered = tuple(sorted(plan.items, key=lambda item: ranks.get(item.phase, -1)))
    if ordered == plan.items:
        return plan
    return plan._replace(items=ordered)


# --- changing ------------------------------------------------------------------------------------------------------


def put(plan: Plan, item: Item) -> Plan:
    """Replace the item that has this item's id. Raises NoSuchItem."""
    return _each(plan, [item.id], lambda _: item)


def start(plan: Plan, id: Id, *, owner: str = "") -> Plan:
    """Start an item; what its owner was working on goes back to pending.

    `owner`: the agent that works on it, if it has no owner yet. Raises NoSuchItem, and Refused if it needs open items.

        ops.start(plan, "2").active.text  # 'Run the tests'
    """
    here = found_at(plan, id)
    item = plan.items[here]
    waiting = open_needs(plan, item)
    if waiting:
        raise Refused(f"item {id} needs {', '.join(waiting)} first.")
    if owner == MAIN:
        owner = ""
    owner = item.owner or owner
    items = list(plan.items)
    for place in places(plan.statuses, ACTIVE):
        if items[place].owner == owner:
            items[place] = items[place]._replace(status=PENDING)
    items[here] = item._replace(status=ACTIVE, owner=owner, reason="", closed=None)
    return plan._replace(items=tuple(items))


def released(plan: Plan, ids: Iterable[Id], owners: Collection[str]) -> Plan:
    """Return the plan with those of the items that belong to these owners pending, and without an owner."""
    if not owners:
        return plan
    for id in ids:
        item = find(plan, id)
        if item.owner in owners and item.status in (ACTIVE, PENDING):
            plan = put(plan, item._replace(owner="", status=PENDING))
    return plan


def owned(before: Plan, plan: Plan, owner: str) -> Plan:
    """Return the plan with this owner for items that became active and have none."""
    busy = {item.id for item in before.busy}
    begun = [item.id for item in plan.busy if item.id not in busy and not item.owner]
    if begun:
        return _each(plan, begun, lambda item: item._replace(owner=owner))
    return plan


def complete(plan: Plan, *ids: Id) -> Plan:
    """Mark items as completed, whatever their status was.

    Raises NoSuchItem.

        ops.complete(plan, "1", "2").progress.percent  # 100
    """

    def completed(item: Item) -> Item:
        if item.status == DONE:
            return item
        return item._replace(status=DONE, reason="")

    return _each(plan, ids, completed)


def drop(plan: Plan, *ids: Id, why: str) -> Plan:
    """Abandon items, with the reason. Raises NoSuchItem, and Refused if `why` is empty."""
    reason = _words(why, "why")
    return _each(plan, ids, lambda item: item._replace(status=DROPPED, reason=reason))


def block(plan: Plan, *ids: Id, why: str) -> Plan:
    """Mark items as blocked, with the reason. Raises NoSuchItem, and Refused if `why` is empty or an item is closed."""
    reason = _words(why, "why")
    wanted = {as_id(id) for id in ids}
    for item in plan.items:
        if item.id in wanted and item.status in CLOSED:
            raise Refused(f"item {item.id} is closed already.")
    return _each(plan, ids, lambda item: item._replace(status=BLOCKED, reason=reason))


def unblock(plan: Plan, *ids: Id) -> Plan:
    """Mark blocked items as pending; others stay as they are. Raises NoSuchItem."""

    def unblocked(item: Item) -> Item:
        if item.status != BLOCKED:
            return item
        return item._replace(status=PENDING, reason="")

    return _each(plan, ids, unblocked)


def reopen(plan: Plan, *ids: Id) -> Plan:
    """Mark items as pending, whatever their status was. Raises NoSuchItem."""
    return _each(plan, ids, lambda item: item._replace(status=PENDING, reason="", closed=None))


def rename(plan: Plan, id: Id, text: str) -> Plan:
    """Change an item's text. Raises NoSuchItem, and Refused if the text is empty."""
    words = _words(text)
    if find(plan, id).text == words:
        return plan
    return _each(plan, [id], lambda item: item._replace(text=words, active=""))


def note(plan: Plan, id: Id, text: str) -> Plan:
    """Add a note to an item. Raises NoSuchItem, and Refused if the note is empty."""
    words = _words(text, "note")
    return _each(plan, [id], lambda item: item._replace(notes=(*item.notes, words)))


def set_check(plan: Plan, id: Id, check: object, *, folder: str = "") -> Plan:
    """Set what shows that an item is done: a command, or an object with `run`, `file` or `contains`.

    `folder`: the directory that it belongs to; otherwise the one in which this is saved. Raises NoSuchItem, and Refused
    for what cannot be a check.

        ops.set_check(plan, "2", "make test").items[1].check  # {'run': 'make test'}
    """
    from .checks import read_check

    item = find(plan, id)
    where: dict[str, Any] = {}
    if folder:
        where = {"dir": folder}
    return put(plan, item._replace(check=read_check(check), check_set=where, waived={}))


def remove_check(plan: Plan, id: Id) -> Plan:
    """Take the check off an item. Raises NoSuchItem."""
    return put(plan, find(plan, id)._replace(check={}, check_set={}))


def approve_check(plan: Plan, id: Id) -> Plan:
    """Take the check of an item for the user's own. Raises NoSuchItem, and Refused if it has none."""
    item = find(plan, id)
    if not item.check:
        raise Refused(f"item {item.id} has no check to approve.")
    return put(plan, item._replace(check_set={**item.check_set, "approved": True}))


def waive(plan: Plan, id: Id, *, why: str, at: str = "") -> Plan:
    """Say that an item needs no check. Only the user can: for others it is not saved.

    Raises NoSuchItem, and Refused if there is no reason.
    """
    return put(plan, find(plan, id)._replace(waived={"why": _words(why, "reason"), "at": at}))


def pause(plan: Plan, reason: str, at: str = "") -> Plan:
    """Pause the plan: its agent may stop until the user's next message.

    `at`: when, in ISO 8601. Raises Refused if `reason` is empty.
    """
    check_type("reason", reason, str, "a string")
    if not reason.strip():
        raise Refused("a pause needs a reason.")
    active = plan.active
    return plan._replace(paused=Pause(reason, at, active.id if active else ""))


def resume(plan: Plan) -> Plan:
    """End a pause."""
    return plan._replace(paused=None)


def set_title(plan: Plan, title: str) -> Plan:
    """Change the title of the plan. Raises Refused if it is empty."""
    return plan._replace(title=_words(title, "title"))


def set_mode(plan: Plan, mode: Mode) -> Plan:
    """Set how the agent may work: "act", "plan" or "quiet". Raises Refused for another mode."""
    if mode not in MODES:
        raise Refused(f"mode must be one of {', '.join(map(repr, MODES))}, not {mode!r}.")
    return plan._replace(mode=mode)


def clear(plan: Plan, before: str, *, keeps_phases: bool = False) -> Plan:
    """Remove items that were closed before a time, and the phases that become empty.

    `before`: a time in ISO 8601. `keeps_phases`: keep those phases. A closed item with open parts stays.
    """
    closed = [item for item in plan.items if item.closed and item.status in CLOSED]
    old = [item.id for item in closed if item.closed and item.closed.at <= before]
    old = [id for id in old if not open_parts(plan, id)]
    if not old:
        return plan
    cleared = remove(plan, *old)
    if keeps_phases:
        return cleared
    emptied = {item.phase for item in plan.items} - {item.phase for item in cleared.items}
    return cleared._replace(phases=tuple(phase for phase in plan.phases if phase not in emptied))


# --- what the above share ------------------------------------------------------------------------------------------


def _each(plan: Plan, wanted: Sequence[Id], change: Callable[[Item], Item]) -> Plan:
    if not wanted:
        return plan
    ids = require(plan, wanted)
    if len(ids) == 1:
        place = place_of(plan.items, ids[0])
        new = change(plan.items[place])
        if new is plan.items[place]:
            return plan
        return plan._replace(items=(*plan.items[:place], new, *plan.items[place + 1 :]))
    chosen = set(ids)
    items = list(plan.items)
    for place, item in enumerate(items):
        if item.id in chosen:
            items[place] = change(item)
    return plan._replace(items=tuple(items))


def _ids_of(ids: Any, name: str) -> tuple[str, ...]:
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise Refused(f"{name} must be a list of ids, not {cut(inline(repr(ids)), 40)}.")
    return tuple([as_id(id) for id in ids])


def _words(text: str, what: str = "text") -> str:
    if type(text) is not str:
        check_type(what, text, str, "a string")
    words = text.strip()
    if not words:
        raise Refused(f"{what} must not be empty.")
    return words


def _ranks(phases: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(phases)}

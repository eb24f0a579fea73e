"""Where a plan comes from: a file of another format, another session's plan, or the session that worked from it before.
Loaded when that is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ..core._typing import TYPE_CHECKING, Any
from ..core.checks import IMPORT
from ..core.errors import Refused
from ..core.model import MAIN, Plan, Reader
from ..core.text import cut, inline, plainly
from ..dialects.formats import load
from ..local.files import time_text
from .seat import reader_key

if TYPE_CHECKING:
    from . import Desk
    from .commit import Changed


def imported(desk: Desk, data: object, format: str) -> Callable[[Plan], Plan]:
    """The edit that puts what a format holds in the place of a plan."""
    module = load(format)
    new: Plan = module.read(data)
    if getattr(module, "OWN_IDS", False) and desk.plan.last_id:
        items = [item._replace(extra={"id": item.id, **item.extra}) for item in new.items]
        new = new._replace(items=tuple(items))
    new = _without_trust(new, desk._seat.folder)
    return lambda now: _replacement(now, new, _own_ids(desk, now, new) if format == "json" else set())


def take_over(desk: Desk, data: object, format: str, tool: str = "") -> Changed:
    """Make a list that the agent kept by itself its plan, unless something was on that already. Its items are known by
    the ids that they have there. `tool`: the one that it sent the complete list with. Raises Refused."""
    module = load(format)
    new: Plan = module.read(data)
    if getattr(module, "OWN_IDS", False):
        items = [item._replace(extra={"id": item.id, **item.extra}) for item in new.items]
        new = new._replace(items=tuple(items))
    new = _without_trust(new, desk._seat.folder)

    def edit(now: Plan) -> Plan:
        if now.last_id:
            return now
        return _replacement(now, new, set())

    changed = desk.change(edit, by=desk.agent, kind="import")
    if tool and changed.changes:
        _keep_sent(desk, changed.plan, tool)
    return changed


def _keep_sent(desk: Desk, plan: Plan, tool: str) -> None:
    """Take the plan for the list that the agent sent last: what its next one leaves out, it takes off the plan."""
    from ..core.last_sent import Held, Kept, to_text

    sent = Kept(plan.revision, tuple([Held(item.id, item.text, item.status) for item in plan.items]))
    desk._seat.store.keep_lists(plan.id, desk._seat.reader_key, {tool: to_text(sent)})


def _without_trust(plan: Plan, folder: str) -> Plan:
    """A plan as somebody else's file says it is: its checks are not the user's until the user approves them."""
    items = list(plan.items)
    for place, item in enumerate(items):
        if item.check or item.check_set or item.waived:
            origin = {}
            if item.check:
                origin = {"by": IMPORT, "at": time_text(), "dir": folder}
            items[place] = item._replace(check_set=origin, waived={})
    return plan._replace(items=tuple(items))


def carry(desk: Desk, source: str, target: str) -> Changed:
    """Give a session a copy of the plan of another session's main agent."""
    copy, old = _load_carried(desk, source, target)
    copy._seat.parent = old.id
    moved = _with_checks_here(desk, old, copy._seat.place)
    changed = copy.change(lambda now: _replacement(now, moved, set()), kind="import")
    _copy_lists(desk.for_session(source), old, copy, changed.plan)
    return changed


def _load_carried(desk: Desk, source: str, target: str) -> tuple[Desk, Plan]:
    """The desk that gets a copy, and the plan it is a copy of."""
    if not source or not target or source == target:
        raise Refused("carry needs two sessions.")
    old, copy = desk.for_session(source).load(calls=True), desk.for_session(target)
    if not old.items:
        raise Refused(f"session {cut(inline(source), 40)!r} has nothing to carry.")
    if copy.plan.id == old.id:
        raise Refused(f"session {cut(inline(target), 40)!r} works from that plan already.")
    return copy, old


def _with_checks_here(desk: Desk, plan: Plan, place: str) -> Plan:
    """The plan as a session in another worktree needs it: its checks belong to the same directories there. Who set them
    stays. What was observed of them stays with the plan it was observed for."""
    if not any(item.check for item in plan.items):
        return plan
    known = desk._seat.store.plans(1, plan=plan.id)
    if not known or not known[0].place or known[0].place == place:
        return plan
    items = [item._replace(check_set=_moved(item.check_set, known[0].place, place)) for item in plan.items]
    return plan._replace(items=tuple(items))


def _moved(origin: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    folder = str(origin.get("dir", ""))
    if folder != old and not folder.startswith(os.path.join(old, "")):
        return origin
    return {**origin, "dir": new + folder.removeprefix(old)}


def _copy_lists(source: Desk, old: Plan, copy: Desk, new: Plan) -> None:
    """Let a copy of a conversation go on from the lists that were sent in it, if its plan has the same ids."""
    lists = source._seat.store.lists(old.id, source._seat.reader_key)
    if not lists or [(item.id, item.text) for item in old.items] != [(item.id, item.text) for item in new.items]:
        return
    from ..core.last_sent import from_text, informed, to_text

    left = {}
    for tool, text in lists.items():
        kept = from_text(text)
        kept = informed(kept, source._seat.store.history(old.id, kept.at), source._seat.reader_key, old.revision)
        left[tool] = to_text(kept._replace(at=new.revision))
    copy._seat.store.keep_lists(new.id, copy._seat.reader_key, left)


def hand_over(desk: Desk, session: str) -> None:
    """Let another session go on with a desk's plan: it knows what whoever worked from it before has heard. If nobody
    has, it is taken to know the plan as it is, which it is told when it starts."""
    plan, store = desk.plan, desk._seat.store
    bound = [one for one, agent in store.sessions(plan.id) if agent == MAIN]
    desk.bind(session)
    if session in bound:
        return
    before = desk.session or (bound[-1] if bound else "")
    old, new = reader_key(before, MAIN), reader_key(session, MAIN)
    _, known = store.peek(plan.id, old)
    store.remember(plan.id, new, known if known.seen else Reader(plan.revision))
    store.keep_lists(plan.id, new, store.lists(plan.id, old))
    if before:
        from .sharing import hand_on

        hand_on(store, plan.id, old, new)


def _own_ids(desk: Desk, now: Plan, new: Plan) -> set[str]:
    """The ids of a plan of ours that mean the same in this one, now or earlier, or that this one has not used."""
    known = {(item.id, plainly(item.text)) for item in now.items}
    if now.id:
        for record in desk._seat.store.history(now.id):
            known.update((c.id, plainly(c.before.text)) for c in record.changes if c.kind in ("removed", "changed"))
    items = [(item.id, plainly(item.text)) for item in new.items]
    return {id for id, words in items if int(id) > now.last_id or (id, words) in known}


def _replacement(now: Plan, new: Plan, own_ids: set[str]) -> Plan:
    """The new plan in the old one's place. What both have keeps its id; no id is used again for something else."""
    if now.last_id:
        new = _renumbered(now, new, own_ids)
    return new._replace(id=now.id, revision=now.revision, last_id=max(now.last_id, new.last_id))


def _renumbered(now: Plan, new: Plan, own_ids: set[str]) -> Plan:
    free: dict[str, list[str]] = {}  # ids of the old items, by their words
    for item in now.items:
        if item.id not in own_ids:
            free.setdefault(plainly(item.text), []).append(item.id)
    last = max([now.last_id, *map(int, own_ids)])
    ids = {"": "", **{id: id for id in own_ids}}
    for item in new.items:
        same = free.get(plainly(item.text), [])
        if item.id not in ids:
            if same:
                ids[item.id] = same.pop(0)
            else:
                last += 1
                ids[item.id] = str(last)
    items = [
        item._replace(id=ids[item.id], parent=ids[item.parent], needs=tuple(ids[id] for id in item.needs))
        for item in new.items
    ]
    paused = new.paused and new.paused._replace(item=ids.get(new.paused.item, ""))
    return new._replace(items=tuple(items), last_id=last, paused=paused)

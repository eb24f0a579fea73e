"""An edit that an agent makes in its shell: it obeys the rules that a tool call obeys."""

from __future__ import annotations

from collections.abc import Iterator

from ..core._typing import Any
from ..core.conflicts import AGAIN, Asked, spared
from ..core.errors import Refused
from ..core.merge import protect
from ..core.model import ACTIVE, BLOCKED, DONE, DROPPED, NOTHING, Item, Plan
from ..core.text import quoted
from ..desk import Desk
from ..desk.tool_call import edits_of_others
from ..desk.updates import pending_updates
from .caller import Caller

_VERBS = {ACTIVE: ("start", "start"), DONE: ("done", "done"), BLOCKED: ("block", "block"), DROPPED: ("delete", "drop")}


def check_edit(desk: Desk, who: Caller, plan: Plan, after: Plan) -> Plan:
    """Return the plan after an agent's edit. Raises Refused if the edit removes something, or conflicts with what
    others did; the refusal tells the agent what it did not know, so that it can try again."""
    _refuse_removal(plan, after)
    own = desk
    if who.session and not desk.session:
        own = desk.for_session(who.session, who.by)
    final = desk.settings.user_closed_is_final
    refusals = spared(
        _asked(plan, after), plan, _unseen_edits(own, plan), agent=own._seat.name, final=final, ids=True
    ).said
    if any(line.endswith(AGAIN) for line in refusals):
        refusals = (*own.take_updates(), *refusals)
    if refusals:
        raise Refused("\n".join(refusals))
    return protect(plan, after, closed_is_final=final).plan


def _unseen_edits(desk: Desk, plan: Plan) -> Any:
    """Return what others changed that the agent was not told."""
    if not plan.id:
        return NOTHING
    updates = pending_updates(desk, plan, desk._seat.store.peek(plan.id, desk._seat.reader_key)[1])
    if not updates:
        return NOTHING
    return edits_of_others(desk, plan, updates)


def _refuse_removal(plan: Plan, after: Plan) -> None:
    left = {item.id for item in after.items}
    for item in plan.items:
        if item.id not in left:
            hint = f"drop it with a reason: punchlist drop {item.id} --why WHY"
            raise Refused(f"only the user removes {item.id} {quoted(item.text)}; {hint}")


def _asked(plan: Plan, after: Plan) -> list[Asked]:
    """Return what an edit does to the items that were there, as things that a call can ask for."""
    new = {item.id: item for item in after.items}
    asked: list[Asked] = []
    for item in plan.items:
        asked += _asked_of(item, new[item.id])
    return asked


def _asked_of(old: Item, new: Item) -> Iterator[Asked]:
    if new.text != old.text:
        yield Asked("edit", old.id, "rename", new.text)
    if new.status == old.status:
        return
    if new.status in _VERBS:
        verb, word = _VERBS[new.status]
        yield Asked(verb, old.id, word)
    elif old.status == BLOCKED:
        yield Asked("unblock", old.id, "unblock")
    else:
        yield Asked("", old.id, "")

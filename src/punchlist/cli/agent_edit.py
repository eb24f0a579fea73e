"""An edit that an agent makes in its shell: it obeys the rules that a tool call obeys."""

from __future__ import annotations

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


def guarded(desk: Desk, who: Caller, plan: Plan, after: Plan) -> Plan:
    """Return the plan that an agent's edit leads to. Raise Refused if it removes something, or conflicts with what
    others did; what the agent was not told is told with the refusal, so that it can say it again."""
    _refuse_removal(plan, after)
    own = desk if desk.session or not who.session else desk.for_session(who.session, who.by)
    asked = _asked(plan, after)
    unheard = pending_updates(own, plan, desk.store.peek(plan.id, own.reader_key)[1]) if plan.id else []
    edits = edits_of_others(own, plan, unheard) if unheard else NOTHING
    final = desk.settings.user_closed_is_final
    said = spared(asked, plan, edits, agent=own.name, final=final, ids=True).said
    if said:
        updates = own.take_updates() if any(line.endswith(AGAIN) for line in said) else []
        raise Refused("\n".join([*updates, *said]))
    return protect(plan, after, closed_is_final=final).plan


def _refuse_removal(plan: Plan, after: Plan) -> None:
    left = {item.id for item in after.items}
    for item in plan.items:
        if item.id not in left:
            hint = f"drop it with a reason: punchlist drop {item.id} --why WHY"
            raise Refused(f"only the user removes {item.id} {quoted(item.text)}; {hint}")


def _asked(plan: Plan, after: Plan) -> list[Asked]:
    """What an edit does to items that were there, as things that a call can ask for."""
    new = {item.id: item for item in after.items}
    return [one for item in plan.items for one in _of(item, new[item.id])]


def _of(old: Item, new: Item) -> list[Asked]:
    found = []
    if new.text != old.text:
        found.append(Asked("edit", old.id, "rename", new.text))
    if new.status != old.status:
        back = ("unblock", "unblock") if old.status == BLOCKED else ("", "")
        verb, word = _VERBS.get(new.status, back)
        found.append(Asked(verb, old.id, word))
    return found

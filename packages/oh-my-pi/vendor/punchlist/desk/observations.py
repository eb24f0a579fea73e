"""Tool calls that were observed, kept beside the plan with the items they were made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any
from ..core.diff import Calls
from ..core.errors import StoreError
from ..core.model import Plan
from ..stores import Store

if TYPE_CHECKING:
    from . import Desk


def with_calls(store: Store, plan: Plan) -> Plan:
    """Return a plan with what was observed of its items and their checks."""
    found = store.load_calls(plan.id)
    if not found:
        return plan
    items = [item._replace(calls=(*item.calls, *found.get(item.id, ()))) for item in plan.items]
    if any(item.check for item in items):
        from .evidence import with_evidence

        items = with_evidence(items, found)
    return plan._replace(items=tuple(items))


def observe(desk: Desk, item: str, calls: Sequence[Mapping[str, Any]], plan: str = "") -> None:
    """Keep tool calls with an item. That is not a change of the plan. A store that can only be read at the moment keeps
    none. `plan`: its id, where that is known."""
    plan = plan or desk.load().id
    try:
        if plan and calls:
            desk._seat.store.observe(plan, item, calls)
    except StoreError as error:
        if not error.is_readable:
            raise


def keep_calls(store: Store, plan: str, calls: Calls) -> None:
    """Keep tool calls that came with a list, by item: those that are not known already."""
    if not calls:
        return
    known = store.load_calls(plan)
    for item, made in calls.items():
        old = [_key(call) for call in known.get(item, ())]
        new = [{"at": "", **call} for call in made if _key(call) not in old]
        if new:
            store.observe(plan, item, new)


def _key(call: Mapping[str, Any]) -> Any:
    """What tells a tool call from others."""
    return call.get("id") or (call.get("name"), call.get("parameters"))

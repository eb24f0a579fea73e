"""Items that are completed by what was seen of their checks, where the user wants that. Imported only then."""

from __future__ import annotations

from ..core import ops
from ..core._typing import TYPE_CHECKING
from ..core.errors import Refused
from ..core.grades import was_fixed
from ..core.model import ACTIVE, CHECK, Item, Plan
from .evidence import load_seen
from .session_state import load_state

if TYPE_CHECKING:
    from . import Desk


def complete_shown(desk: Desk, plan: Plan) -> None:
    """Complete the items that are worked on, and whose checks were seen to fail and then to pass since they were
    started. The next item is started as the model's own `done` would."""
    busy = [item for item in plan.items if item.status == ACTIVE and item.check]
    if not busy or plan.paused:
        return
    seen = load_seen(desk._seat.store, plan, busy)
    is_advanced = desk.dialect.rules.owns and not load_state(desk).dialect
    for item in busy:
        if was_fixed(item, seen[item.id]):
            _complete(desk, item, is_advanced=is_advanced)


def _complete(desk: Desk, item: Item, *, is_advanced: bool) -> None:
    def edit(now: Plan) -> Plan:
        found = ops.find(now, item.id)
        if found.status != ACTIVE or found.check != item.check or ops.open_parts(now, item.id):
            return now
        after = ops.complete(now, item.id)
        if not is_advanced or any(one.owner == found.owner for one in after.busy):
            return after
        ready = ops.next_ready(after, owner=found.owner)
        if ready is None:
            return after
        return ops.start(after, ready.id, owner=found.owner)

    try:
        desk.change(edit, by=CHECK)
    except Refused:  # it left the list meanwhile
        pass

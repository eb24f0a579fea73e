"""The plan as it is shown: in a dialect that clears, without what was closed some time ago."""

from __future__ import annotations

from ..core._typing import TYPE_CHECKING
from ..core.model import Plan
from ..local.files import time_text
from ..local.settings import DEFAULT_DIALECT

if TYPE_CHECKING:
    from . import Desk


def visible(desk: Desk, plan: Plan, *, keeps_phases: bool = False) -> Plan:
    """Return a plan without what its dialect has cleared by now. `keeps_phases`: a tool can still name a phase that is
    empty since."""
    delay = desk.settings.clear_delay
    if delay < 0 or len(plan.open_items) == len(plan.items) or not clears(desk, plan):
        return plan
    from ..core.ops import clear

    return clear(plan, time_text(-delay), keeps_phases=keeps_phases)


def clears(desk: Desk, plan: Plan) -> bool:
    """Return whether closed items leave this plan after a while: in the dialect that was chosen for this desk, else in
    the one that the plan was last worked in."""
    is_chosen = desk._seat.chosen != DEFAULT_DIALECT or desk.settings.origins.get("dialect", "default") != "default"
    if is_chosen:
        name = desk._seat.dialect_name
    else:
        name = _last_dialect(desk, plan)
    if name == DEFAULT_DIALECT:
        return False
    if is_chosen:
        return desk.dialect.rules.clears
    from ..dialects import PATHS, load

    return name in PATHS and load(name).rules.clears


def _last_dialect(desk: Desk, plan: Plan) -> str:
    """The dialect of the last call that changed a plan."""
    if desk._seat.worked_in[:2] != (plan.id, plan.revision):
        last = DEFAULT_DIALECT
        if plan.id:
            last = desk._seat.store.last_dialect(plan.id) or last
        desk._seat.worked_in = (plan.id, plan.revision, last)
    return desk._seat.worked_in[2]

"""Quiet contexts: while a commit or a pull request is made, the plan is left alone."""

from __future__ import annotations

from ..core._typing import TYPE_CHECKING
from ..core.model import Plan, SessionState
from ..policy import wording
from ..prompts import say
from .session_state import update_state

if TYPE_CHECKING:
    from . import Desk


def enter_quiet(desk: Desk) -> Plan:
    """Let the agent enter a quiet context, if there is a plan. Return the plan as it is then; what the context means is
    told by the caller."""
    from .plan_mode import enter

    before = desk.plan
    plan = enter(desk)
    update_state(desk, lambda state: _unmoved(state, before, plan)._replace(planning=mode_sign("quiet")))
    return plan


def end_quiet(desk: Desk) -> Plan:
    """End a quiet context that the agent entered; the user's own stays. Return the plan as it is then."""
    before = desk.plan
    if before.mode != "quiet":
        return before
    from .plan_mode import leave

    plan = leave(desk)
    update_state(desk, lambda state: _unmoved(state, before, plan))
    return plan


def quiet_text(desk: Desk) -> str:
    """What an agent is told in a quiet context."""
    return say("quiet", tools=", ".join(f"`{tool.name}`" for tool in desk.dialect.tools))


def mode_text(desk: Desk, plan: Plan) -> str:
    """What an agent is told of the mode that its plan is in."""
    if plan.mode == "quiet":
        return quiet_text(desk)
    from .plan_mode import plan_file

    return wording.planning(plan_file(plan))


def mode_sign(mode: str) -> int:
    """The sign of the turns that are counted in a mode: those of one are not taken for those of the other."""
    return -1 if mode == "quiet" else 1


def _unmoved(state: SessionState, before: Plan, after: Plan) -> SessionState:
    """The state where the plan has another revision, and nothing on the list has changed."""
    return state._replace(revision=after.revision) if state.revision == before.revision else state

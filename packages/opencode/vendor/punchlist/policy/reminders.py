"""Whether a reminder is due. Ours is rare, and silent more often than not; the others do as their systems did."""

from ..core.model import Plan, SessionState
from .conversation import Tally
from .limits import Limits, tokens


def is_due(heard: Tally, limits: Limits) -> bool:
    """From the conversation alone: whether enough turns have passed."""
    if not heard.turns or limits.remind_after <= 0:
        return False
    if limits.remind_again:
        return heard.since_write >= limits.remind_after and heard.since_reminder >= limits.remind_again
    return heard.since_write >= limits.remind_after * ((2 << heard.reminders) - 1)


def effects_since(plan: Plan, state: SessionState) -> int:
    """How many calls have changed something since the plan last changed."""
    if state.effects_at == plan.revision:
        return state.effects
    return 0


def with_effect(plan: Plan, state: SessionState) -> SessionState:
    """The state after a call that changed something beside the plan."""
    return state._replace(effects=effects_since(plan, state) + 1, effects_at=plan.revision)


def silence(plan: Plan, limits: Limits, *, asking: bool = False) -> str:
    """Why a reminder must not be given now, however long ago the last word was; empty if it may."""
    if not limits.reminders:
        return "reminders are off"
    if plan.paused:
        return "the work is paused"
    if plan.mode != "act":
        return f"the plan is in {plan.mode} mode"
    if not limits.on_empty and not plan.open_items:
        return "nothing is open"
    if asking:
        return "a question is open"
    return ""


def afforded(text: str, state: SessionState, limits: Limits) -> SessionState | None:
    """The state with a reminder paid for; None if the budget does not reach. What has none costs nothing."""
    cost = tokens(text) if limits.budget >= 0 else 0
    if 0 <= limits.budget < state.spent + cost:
        return None
    return state._replace(spent=state.spent + cost, reminded=0, reminders=state.reminders + 1)


def after_turn(plan: Plan, state: SessionState) -> SessionState:
    """The state after one more turn of work: counted from the last change of the plan."""
    if state.revision != plan.revision:
        return state._replace(revision=plan.revision, turns=0, reminded=0, reminders=0)
    return state._replace(turns=state.turns + 1, reminded=state.reminded + 1)


def heard_from(state: SessionState) -> Tally:
    """A state as a conversation would have it, for whoever sees only one event of it at a time."""
    return Tally(
        turns=state.turns,
        since_write=state.turns,
        since_reminder=state.reminded,
        reminders=state.reminders,
        written=True,
    )

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
    return "a question is open" if asking else ""


def afforded(text: str, pace: SessionState, limits: Limits) -> SessionState | None:
    """The pace with a reminder paid for; None if the budget does not reach. What has none costs nothing."""
    cost = tokens(text) if limits.budget >= 0 else 0
    if 0 <= limits.budget < pace.spent + cost:
        return None
    return pace._replace(spent=pace.spent + cost, reminded=0, reminders=pace.reminders + 1)


def worked(plan: Plan, pace: SessionState) -> SessionState:
    """The pace after one more turn of work: counted from the last change of the plan."""
    if pace.revision != plan.revision:
        return pace._replace(revision=plan.revision, turns=0, reminded=0, reminders=0)
    return pace._replace(turns=pace.turns + 1, reminded=pace.reminded + 1)


def heard_from(pace: SessionState) -> Tally:
    """A pace as a conversation would have it, for whoever sees only one event of it at a time."""
    return Tally(
        turns=pace.turns, since_write=pace.turns, since_reminder=pace.reminded, reminders=pace.reminders, written=True
    )

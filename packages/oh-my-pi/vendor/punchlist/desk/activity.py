"""What is known of an agent at work: when it was last heard from, and since when each item is active."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..core._typing import TYPE_CHECKING
from ..core.diff import Record
from ..core.model import ACTIVE, USER, Item, Plan
from ..core.text import in_words
from ..local.files import time_text
from .session_state import load_state

if TYPE_CHECKING:
    from . import Desk

# Seconds for which an agent without a sign is taken to be at work. Between two tool calls it thinks, or waits for a
# command: agents give a command two minutes unless they ask for more.
LATELY = 120.0
_RECENT = 200  # revisions that are searched
_SESSIONS = 8  # of all that work from a plan, those that were bound last


def session_desk(desk: Desk, plan: Plan) -> Desk:
    """Return the desk of the session that was last bound to a plan; this desk if it has a session, or none was."""
    if desk.session or not plan.id:
        return desk
    bound = [who for who in desk._seat.store.sessions(plan.id) if who[0]]
    if bound:
        return desk.for_session(*bound[-1])
    return desk


def recent_records(desk: Desk, plan: Plan) -> list[Record]:
    """Return the last records of a plan, oldest first."""
    return desk._seat.store.history(plan.id, max(plan.revision - _RECENT, 0)) if plan.id else []


def last_heard(desk: Desk, plan: Plan) -> str:
    """Return when an agent last changed the plan, used a tool or was prompted, in ISO 8601; "" if none ever did."""
    return max(heard_in_history(recent_records(desk, plan)), heard_in_sessions(desk, plan.id))


def heard_in_history(records: Sequence[Record]) -> str:
    """Return when an agent last changed the plan."""
    return max((record.at for record in records if record.by != USER), default="")


def heard_in_sessions(desk: Desk, plan: str) -> str:
    """Return when a session that works from the plan last used a tool or was prompted. Cheap enough to be asked every
    second."""
    if not plan:
        return ""
    bound = [who for who in desk._seat.store.sessions(plan) if who[0]]
    return max((load_state(desk.for_session(*who)).heard for who in bound[-_SESSIONS:]), default="")


def stopped_at(plan: str, heard: str) -> str:
    """Return when the agent stopped, in ISO 8601; "" if it was nudged or heard from since."""
    from ..local.event_log import read_latest

    last = read_latest(plan, ("stop", "nudge"))
    at = str(last.get("at", ""))
    return at if last.get("kind") == "stop" and at >= heard else ""


def silence(plan: Plan, heard: str, stopped: str) -> str:
    """Return what to say of an agent that has an active item and does not seem to work on it: "" if it does, or if
    none was ever heard from."""

    if plan.active is None or plan.paused:
        return ""
    if stopped:
        ago = age(stopped)
        if ago >= 60:
            return f"the agent stopped {in_words(ago)} ago"
        return "the agent stopped just now"
    if not heard or heard > time_text(-LATELY):
        return ""
    return quiet_for(age(heard))


def quiet_for(seconds: float) -> str:
    """Return that nothing was heard for so long, in words; "" if that is not long."""
    return f"nothing heard for {in_words(seconds)}" if seconds >= LATELY else ""


def is_working(plan: Plan, heard: str, stopped: str) -> bool:
    """Return whether an agent seems to be at work: it has an item, was heard from lately, and has not stopped since."""
    return bool(plan.active and heard and not plan.paused and not silence(plan, heard, stopped))


def age(at: str) -> float:
    """Return the seconds since a time in ISO 8601; 0 for one that cannot be read."""
    from datetime import datetime

    try:
        return max(time.time() - datetime.fromisoformat(at).timestamp(), 0.0)
    except ValueError:
        return 0.0


def active_since(records: Sequence[Record], plan: Plan) -> dict[str, str]:
    """Return when each active item was started, by id, as far as these records tell."""
    active = {item.id for item in plan.busy}
    found: dict[str, str] = {}
    for record in records:
        for change in record.changes:
            if change.id in active and _starts(change.before, change.after):
                found[change.id] = record.at
    return found


def _starts(before: object, after: object) -> bool:
    was_active = isinstance(before, Item) and before.status == ACTIVE
    return isinstance(after, Item) and after.status == ACTIVE and not was_active

"""What an agent does, written down: with the item it was done for, and as progress since it was last nudged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256

from ..core.diff import CALLS
from ..core.model import MAIN, Item, Plan, SessionState
from ..core.ops import called
from ..core.redact import recorded
from ..desk import Desk
from ..policy.continuation import noticed
from ..policy.effects import changes_something
from .messages import Call, Result


def write_down(desk: Desk, calls: Sequence[tuple[Call, Result]]) -> None:
    """Keep calls with the item that was active while they were made. The same call again is no progress."""
    before = desk.plan
    if not calls or not before.id:
        return
    item = _busy_with(before, desk.name)
    redact = desk.settings.redact_calls
    kept = tuple(
        recorded(call.id, call.tool, call.args, "failed" if result.is_error else "ok", result.text, redact=redact)
        for call, result in calls
    )
    plan = desk.change(lambda plan: called(plan, item.id, kept), by=desk.agent, kind=CALLS) if item else before

    def step(pace: SessionState) -> SessionState:
        if pace.revision == before.revision:  # that a call was noted is no change of the plan
            pace = pace._replace(revision=plan.revision)
        for call, result in calls:
            if not result.is_error and changes_something(call.tool, call.args):
                pace = noticed(pace, _digest(call))
        return pace

    desk.update_state(step)


def _busy_with(plan: Plan, agent: str) -> Item | None:
    """The item an agent works on: its own, else one that is nobody's."""
    mine = "" if agent == MAIN else agent
    return next((item for owner in (mine, "") for item in plan.at_work if item.owner == owner), None)


def _digest(call: Call) -> str:
    text = json.dumps([call.tool, call.args], default=str, sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

"""What an agent does, written down: with the item it was done for, and as progress since it was last nudged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from ..core._typing import Any
from ..core.model import MAIN, Item, Plan, SessionState
from ..core.redact import recorded
from ..desk import Desk
from ..policy.continuation import noticed
from ..policy.effects import changes_something
from .messages import Call, Result


def write_down(desk: Desk, calls: Sequence[tuple[Call, Result]]) -> None:
    """Keep calls with the item that was active while they were made. The same call again is not progress."""
    plan = desk.plan
    if not calls or not plan.id:
        return
    item = _busy_with(plan, desk.name)
    redact = desk.settings.redact_calls
    who = {"at": desk.now(), "session": desk.session, "agent": desk.agent}
    if item is not None:
        desk.observe(item.id, [_recorded(call, result, who, redact=redact) for call, result in calls])

    def step(pace: SessionState) -> SessionState:
        for call, result in calls:
            if not result.is_error and changes_something(call.tool, call.args):
                pace = noticed(pace, _digest(call))
        return pace

    desk.update_state(step)


def _recorded(call: Call, result: Result, who: Mapping[str, str], *, redact: bool) -> dict[str, Any]:
    outcome = "failed" if result.is_error else "ok"
    exit = _exit_code(result.text) if call.tool == "shell" else None
    return recorded(call.id, call.tool, call.args, outcome, result.text, redact=redact, exit=exit, **who)


def _exit_code(text: str) -> int | None:
    """The exit code that our shell writes behind the output of a command."""
    last = text.rstrip().rpartition("\n")[2]
    number = last.removeprefix("(exit code ").removesuffix(")")
    is_code = last == f"(exit code {number})" and number.lstrip("-").isdecimal()
    return int(number) if is_code else None


def _busy_with(plan: Plan, agent: str) -> Item | None:
    """The item an agent works on: its own, else one that is nobody's."""
    mine = "" if agent == MAIN else agent
    return next((item for owner in (mine, "") for item in plan.at_work if item.owner == owner), None)


def _digest(call: Call) -> str:
    text = json.dumps([call.tool, call.args], default=str, sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

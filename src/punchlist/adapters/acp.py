"""The plan for editors that speak ACP: updates for your agent to send, of the plan as it is and of each change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import punchlist

try:
    from acp import plan_entry, update_plan
    from acp.schema import AgentPlanUpdate, PlanEntry
except ImportError as error:
    raise ImportError(f"ACP is needed here: pip install 'punchlist[acp]' ({error})") from None

__all__ = ["as_update", "follow"]

_STATUSES: dict[str, Any] = {"in_progress": "in_progress", "completed": "completed"}  # all others: pending
_HIGH = frozenset(["high", "highest", "urgent", "critical", "important", "p0", "p1"])
_LOW = frozenset(["low", "lowest", "minor", "trivial", "optional", "p3", "p4"])
_DROPPED = "abandoned"
_JOINERS = "\u200c\u200d"


async def follow(desk: punchlist.Desk | punchlist.aio.Desk) -> AsyncIterator[AgentPlanUpdate]:
    """Yield the plan as an update of ACP, and again each time that what an editor shows of it changes.

    It ends when the desk is closed. Raises StoreError if the store fails.

        async for update in follow(desk):
            await connection.session_update(session_id, update)
    """
    awaited = punchlist.aio.Desk(desk) if isinstance(desk, punchlist.Desk) else desk
    plans: Any = awaited.follow()
    shown: AgentPlanUpdate | None = None
    async with aclosing(plans):
        async for plan in plans:
            update = as_update(plan)
            if update != shown:
                shown = update
                yield update


def as_update(plan: punchlist.Plan) -> AgentPlanUpdate:
    """Return a plan as an update of ACP. Items that were dropped are left out; without any, an editor shows no plan."""
    return update_plan([_entry(plan, item) for item in plan.items if item.status != _DROPPED])


def _entry(plan: punchlist.Plan, item: punchlist.Item) -> PlanEntry:
    """An item as an entry. ACP knows no blocked items, and no pause: the text says it."""
    text = _plain(item.text)
    if item.status == "blocked":
        text += _why("blocked", item.reason)
    elif plan.paused and plan.paused.item == item.id:
        text += _why("paused", plan.paused.reason)
    entry = plan_entry(text, priority=_priority(item.priority), status=_STATUSES.get(item.status, "pending"))
    entry.field_meta = {"punchlist": {"id": item.id, "status": item.status}}
    return entry


def _why(word: str, reason: str) -> str:
    reason = _plain(reason)
    return f" ({word}: {reason})" if reason else f" ({word})"


def _priority(words: str) -> Any:
    """A priority in the words of ACP: high, medium or low. Most items have none, and are in the middle."""
    word = words.strip().casefold()
    if word in _HIGH:
        return "high"
    return "low" if word in _LOW else "medium"


def _plain(text: str) -> str:
    """A text in one line, without what could act on a terminal. Joiners stay: emoji and some scripts need them."""
    kept = [char if char.isprintable() or char in _JOINERS else " " for char in text]
    return " ".join("".join(kept).split())

"""The plan of the folder that a test works in."""

from __future__ import annotations

from typing import Any

import punchlist
from punchlist import Plan, ops


def given(*entries: str | dict[str, Any]) -> None:
    """Make a plan to begin with."""
    wanted = [{"text": entry} if isinstance(entry, str) else entry for entry in entries]
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.extend(plan, wanted))


def plan() -> Plan:
    with punchlist.open() as desk:
        return desk.plan


def texts() -> list[str]:
    return [item.text for item in plan().items]

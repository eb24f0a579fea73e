"""What is shown while it happens: `watch`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from ..core.codec import to_json
from ..core.model import MAIN, Plan
from ..desk import Desk
from ..local import event_log
from ..local.settings import Settings


def follow(
    opened: Callable[[], Desk], settings: Settings, whose: Callable[[Desk, str], str] | None, *, is_json: bool
) -> int:
    """Show a plan as it changes, until the user has seen enough. `whose` says who works from a plan."""
    if is_json:
        return _follow_as_json(opened())
    from ..tui import open_panel
    from ..tui.watch import watch

    return watch(opened, open_panel(settings, whole=True, on_toggle=_toggled), whose)


def _toggled(before: bool, plan: Plan) -> None:
    """Write down that the list was shown or hidden. The store is not asked: a key must not wait for it."""
    who = {"session": "", "agent": MAIN, "plan": plan.id}
    event_log.write("toggle", at=Desk.now(), **who, is_expanded=before, has_todos=bool(plan.items))


def _follow_as_json(desk: Desk) -> int:
    """One line for each state of the plan."""
    try:
        for plan in desk.follow():
            sys.stdout.write(json.dumps(to_json(plan)) + "\n")
            sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    return 0

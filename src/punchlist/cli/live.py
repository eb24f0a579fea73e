"""What is shown while it happens: `watch`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from ..core.codec import to_json
from ..desk import Desk
from ..settings import Settings


def follow(opened: Callable[[], Desk], settings: Settings, *, is_json: bool) -> int:
    """Show a plan as it changes, until the user has seen enough."""
    if is_json:
        return _follow_as_json(opened())
    from ..tui import open_panel
    from ..tui.watch import watch

    return watch(opened, open_panel(settings, "watch", expanded=True, whole=True))


def _follow_as_json(desk: Desk) -> int:
    """One line for each state of the plan."""
    try:
        for plan in desk.follow():
            sys.stdout.write(json.dumps(to_json(plan)) + "\n")
            sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    return 0

"""`punchlist watch`: the panel on any plan in any store, live."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..core.model import Plan
from ..desk import Desk
from .follow import Follower, Seen, since
from .panel import Panel
from .plain import Lines
from .view import View

_LEAVING = ("q", "Q", "ctrl+c", "ctrl+d")
_LOOKS = 1.0  # seconds between looks at the time
_SILENT = 3.0  # seconds without an answer of the store until that is said
_NO_ANSWER = "the store does not answer; still trying."
_TIP = "punchlist add TEXT puts more on it"
_WAITING = "No plan here yet, waiting for one"


def watch(opened: Callable[[], Desk], screen: Panel | Lines) -> int:
    """Follow a plan until somebody has seen enough."""
    follower = Follower(opened, screen.wake)
    plan = follower.desk.plan
    try:
        with screen:
            screen.draw(shown(Seen(plan)))
            follower.start(plan)
            _follow(follower, screen)
    except KeyboardInterrupt:
        pass
    return 0


def _follow(follower: Follower, screen: Panel | Lines) -> None:
    drawn: tuple[int, str] | None = None
    while not any(key in _LEAVING for key in screen.wait(_LOOKS)):
        seen, alert = follower.seen, follower.seen.trouble or _silence(follower)
        if (seen.number, alert) != drawn:
            screen.draw(shown(seen._replace(trouble=alert)))
            drawn = (seen.number, alert)


def _silence(follower: Follower) -> str:
    return _NO_ANSWER if time.monotonic() - follower.beat > _SILENT else ""


def shown(seen: Seen) -> View:
    """What a watcher shows of what was seen."""
    plan = seen.plan
    is_waiting = not plan.items and not plan.phases and not seen.trouble
    return View(
        plan,
        busy=is_waiting or (_works(plan) and not seen.trouble),
        seconds=since(seen.began) if seen.began else None,
        status=_WAITING if is_waiting else "",
        alert=seen.trouble,
        hint="q quit",
        tip=_TIP,
    )


def _works(plan: Plan) -> bool:
    return plan.active is not None and not plan.paused

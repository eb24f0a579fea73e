"""`punchlist watch`: the panel on any plan in any store, live."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..core.model import Plan
from ..core.ops import clear
from ..core.render import EMPTIED
from ..desk import Desk, activity
from ..local.files import time_text
from ..stores import masked
from .follow import Follower, Seen
from .panel import Panel
from .plain import Lines
from .view import View

_LEAVING = ("q", "Q", "ctrl+c", "ctrl+d")
_LOOKS = 1.0  # seconds between looks at the time
_SILENT = 3.0  # seconds without an answer of the store until that is said
_NO_ANSWER = "cannot reach the store ({store}); still trying."
_FAILED = "Todo update failed; the list may be behind"
_TIP = "punchlist add TEXT puts more on it"
_WAITING = "No plan here yet, waiting for one"


def watch(opened: Callable[[], Desk], screen: Panel | Lines, whose: Callable[[Desk, str], str] | None = None) -> int:
    """Follow a plan until somebody has seen enough. `whose` says who works from a plan that is not the only one."""
    follower = Follower(opened, screen.wake, whose)
    plan = follower.desk.plan
    try:
        with screen:
            screen.draw(make_view(Seen(plan)))
            follower.start(plan)
            _follow(follower, screen)
    except KeyboardInterrupt:
        pass
    return 0


def _follow(follower: Follower, screen: Panel | Lines) -> None:
    store = masked(follower.desk.settings.store)
    delay = follower.desk.settings.clear_delay
    drawn: tuple[int, View] | None = None
    while not any(key in _LEAVING for key in screen.wait(_LOOKS)):
        seen = follower.seen
        alert = seen.trouble or (_NO_ANSWER.format(store=store) if _is_silent(follower) else "")
        view = make_view(seen._replace(trouble=alert), delay)
        if drawn is None or drawn != (seen.number, view._replace(seconds=drawn[1].seconds, times=drawn[1].times)):
            screen.draw(view)
            drawn = (seen.number, view)


def _is_silent(follower: Follower) -> bool:
    return time.monotonic() - follower.beat > _SILENT


def make_view(seen: Seen, delay: int = -1) -> View:
    """What a watcher shows of what was seen. `delay`: the seconds after which closed items leave a list that clears."""
    plan = seen.plan
    if seen.clears and delay >= 0:
        plan = clear(plan, time_text(-delay))
    if seen.whose:
        plan = plan._replace(title=f"{plan.title or 'Plan'} ({seen.whose})")
    status = _without_items(plan, seen)
    works = activity.is_working(seen.plan, seen.heard, seen.stopped) and not seen.trouble
    times: dict[str, float] = {}
    if works:
        times = {id: activity.age(at) for id, at in seen.since.items()}
    return View(
        plan,
        seen.labels,
        busy=works or status == _WAITING,
        seconds=times.get(plan.active.id) if plan.active else None,
        times=times,
        status=status,
        alert=seen.trouble or (_FAILED if seen.failed else ""),
        quiet=activity.silence(seen.plan, seen.heard, seen.stopped),
        off=seen.off,
        nudges=seen.nudges,
        workers=seen.workers,
        hint="q quit",
        tip=_TIP,
    )


def _without_items(plan: Plan, seen: Seen) -> str:
    """What to say of a plan in which there is nothing to show."""
    if plan.items or plan.phases or seen.trouble:
        return ""
    if plan.last_id:
        return EMPTIED
    return _WAITING

"""`punchlist watch`: the panel on any plan in any store, live."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..core.ops import clear
from ..core.render import EMPTIED
from ..desk import Desk
from ..stores import masked
from .follow import Follower, Seen, since
from .panel import Panel
from .plain import Lines
from .view import View, duration

_LEAVING = ("q", "Q", "ctrl+c", "ctrl+d")
_LOOKS = 1.0  # seconds between looks at the time
_SILENT = 3.0  # seconds without an answer of the store until that is said
_QUIET = 600.0  # seconds without a sign of the agent until it is not taken to be at work
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
            screen.draw(shown(Seen(plan)))
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
        view = shown(seen._replace(trouble=alert), delay)
        if drawn is None or drawn != (seen.number, view._replace(seconds=drawn[1].seconds)):
            screen.draw(view)
            drawn = (seen.number, view)


def _is_silent(follower: Follower) -> bool:
    return time.monotonic() - follower.beat > _SILENT


def shown(seen: Seen, delay: int = -1) -> View:
    """What a watcher shows of what was seen. `delay`: the seconds after which closed items leave a list that clears."""
    plan = clear(seen.plan, Desk.now(-delay)) if seen.clears and delay >= 0 else seen.plan
    if seen.whose:
        plan = plan._replace(title=f"{plan.title or 'Plan'} ({seen.whose})")
    is_waiting = not plan.items and not plan.phases and not seen.trouble
    is_over = is_waiting and bool(plan.last_id)
    works = _works(seen) and not seen.trouble
    status = EMPTIED if is_over else _WAITING if is_waiting else ""
    return View(
        plan,
        busy=(is_waiting and not is_over) or works,
        seconds=since(seen.began) if seen.began and works else None,
        status=status,
        alert=seen.trouble or (_FAILED if seen.failed else ""),
        off=seen.off,
        workers=seen.workers,
        hint="\n".join(filter(None, ("q quit", "" if works else _quiet_for(seen)))),
        tip=_TIP,
    )


def _works(seen: Seen) -> bool:
    """Whether an agent seems to be at work: it has an item, was heard lately, and has not stopped since."""
    if seen.plan.active is None or seen.plan.paused or seen.stopped:
        return False
    age = since(seen.heard)
    return age is not None and age < _QUIET


def _quiet_for(seen: Seen) -> str:
    """How long nothing was heard from the agent, while it has an item that it works on."""
    age = since(seen.heard)
    if age is None or not seen.plan.active:
        return ""
    minutes = int(age // 60)
    return f"agent last heard {duration(minutes * 60)} ago" if minutes else ""

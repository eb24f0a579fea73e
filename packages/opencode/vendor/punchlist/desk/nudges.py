"""What happens when a turn ends: the agent is nudged to continue, or may stop."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..core._typing import TYPE_CHECKING, NamedTuple
from ..core.diff import CALLS, QUIET
from ..core.model import DONE, MAIN, Item, Plan, SessionState
from ..local.files import time_text
from ..local.settings import DIALECTS, UNTIL_DONE, Settings
from ..policy import wording
from ..policy.continuation import TurnEnd, Verdict, go_on
from ..policy.dialect_guide import OURS, Audience, Guide
from ..policy.limits import Limits
from ..prompts import say
from .events import log_event
from .holding import held_back
from .quiet import end_quiet
from .session_state import decide, load_state, update_state
from .updates import take_updates

if TYPE_CHECKING:
    from . import Desk


QUICK = 60.0  # seconds for the checks that are run at the end of a turn


class Nudge(NamedTuple):
    """A decision that the agent should continue."""

    text: str
    """What to send to the model."""
    reason: str
    """Why it should continue, for a log."""


class Stop(NamedTuple):
    """A decision that the agent may stop."""

    reason: str
    """Why it may stop, for a log."""

    @property
    def text(self) -> str:
        """Always empty: there is nothing to send to the model."""
        return ""


class Checks(NamedTuple):
    """The checks of items that a session completed since it was last nudged."""

    missing: tuple[Item, ...] = ()  # not seen to pass
    failed: tuple[Item, ...] = ()  # run just now, and failed
    passed: tuple[Item, ...] = ()  # run just now, and passed


class CheckTime(NamedTuple):
    """How long somebody waits for checks that are run when a turn ends."""

    seconds: float = QUICK
    is_awaited: Callable[[], bool] | None = None  # asked while they run: whether the answer is still wanted


def turn_ended(desk: Desk, end: TurnEnd, find_time: Callable[[], CheckTime] = CheckTime) -> Nudge | Stop:
    """A turn ends. With something open, and nothing against it, the agent is nudged; that is counted before it is
    said. `find_time`: asked only where checks are run."""
    plan = end_quiet(desk)
    if not plan.id:
        return Stop("there is no plan")
    held = held_back(desk)
    if held:
        return _let_stop(desk, plan, held)
    limits = limits_of(desk.settings)
    at = int(time.time())
    known = load_state(desk)
    end = end._replace(
        agent=desk._seat.name if end.agent == desk.agent else end.agent,
        owner=end.owner and _is_owner(desk, plan),
        changed=_last_change(desk, plan, known),
        always=end.always or desk._seat.guide.always_nudged,
    )

    def verdict(state: SessionState) -> Verdict:
        return go_on(plan, state, end._replace(minutes=_minutes(state.since, at)), limits)

    checks = Checks()
    if desk.settings.verify in ("ask", "run") and plan.revision > known.nudged and _is_any_to_verify(plan):
        from .check_nudges import NotAwaited, find_checks, run_checks

        checks = find_checks(desk, plan, known.nudged)
        end = end._replace(unverified=bool(checks.missing))
        if desk.settings.verify == "run" and checks.missing and verdict(known).is_nudge:
            try:
                checks = run_checks(desk, plan, checks, find_time())
            except NotAwaited:
                return _let_stop(desk, plan, "nobody waits for its checks any more")
            end = end._replace(unverified=bool(checks.missing or checks.failed))

    def step(state: SessionState) -> tuple[SessionState, Verdict]:
        found = verdict(state)
        after = found.state
        if found.is_nudge:
            after = after._replace(since=state.since or at, nudged_at=time_text())
        return after, found

    state, found = decide(desk, step, known)
    if not found.is_nudge:
        return _let_stop(desk, plan, found.reason)
    item = found.item
    log_event(desk, "nudge", item=item.id if item else "", number=state.nudges, idle=state.idle)
    to = audience(desk, state)
    told = take_updates(desk, ids=to.knows_ids)
    return Nudge("\n".join([*_nudge(desk, plan, item, checks, to), *told]), found.reason)


def _is_any_to_verify(plan: Plan) -> bool:
    """Whether something is completed that has a check. Nothing about checks is loaded before."""
    return any(item.status == DONE and item.check and not item.waived for item in plan.items)


def note_refusal(desk: Desk) -> None:
    """A permission was refused: no nudge until the agent has changed the plan again."""
    revision = desk.plan.revision
    update_state(desk, lambda state: state._replace(asked=revision, going=False))


def is_continuing(desk: Desk) -> bool:
    """Whether the agent was nudged since the user last spoke, and may pause."""
    plan = desk.plan
    return bool(plan.id and not plan.paused and plan.open_items and load_state(desk).since)


def audience(desk: Desk, state: SessionState) -> Audience:
    """Who is told. A model that writes its plan with a tool of its own does not know our ids."""
    knows_ids = desk._seat.guide.knows_ids and not state.dialect
    return Audience(knows_ids, desk._seat.name if desk._seat.is_shared else "", desk.settings.reminders)


def limits_of(settings: Settings, guide: Guide = OURS) -> Limits:
    """The bounds of a guide, with what the user has set."""
    limits = guide.limits._replace(
        reminders=settings.reminders,
        continuation=settings.continuation is not False,
        until_done=settings.continuation == UNTIL_DONE,
        idle_nudges=settings.idle_nudges,
        nudges=settings.nudges,
        minutes=settings.nudge_minutes,
    )
    if settings.remind_after != DIALECTS:
        limits = limits._replace(remind_after=settings.remind_after)
    if settings.remind_again != DIALECTS:
        limits = limits._replace(remind_again=settings.remind_again)
    if settings.reminder_budget != DIALECTS:
        limits = limits._replace(budget=settings.reminder_budget)
    return limits


def _let_stop(desk: Desk, plan: Plan, reason: str) -> Stop:
    log_event(desk, "stop", reason=reason, open=len(plan.open_items))
    return Stop(reason)


def _nudge(desk: Desk, plan: Plan, item: Item | None, checks: Checks, to: Audience) -> list[str]:
    """What nudges an agent: the item to continue with, and the checks that were not seen to pass."""
    if item is None:
        from .check_nudges import in_words

        return [say("plan.nudge.checks", checks=in_words(checks, ids=to.knows_ids))]
    lines = [_nudge_for(desk, plan, item, to)]
    if checks != Checks():
        from .check_nudges import tell_checks

        lines += tell_checks(checks, ids=to.knows_ids)
    return [*lines, *looks_done_lines(desk, plan, to)]


def looks_done_lines(desk: Desk, plan: Plan, to: Audience) -> list[str]:
    """Sentences on the agent's open items that look done: their checks pass."""
    own = [item for item in plan.open_items if item.check and item.owner in ("", desk._seat.name)]
    if not own:
        return []
    from .check_nudges import tell_looks_done

    return tell_looks_done(desk, plan, own, ids=to.knows_ids)


def _nudge_for(desk: Desk, plan: Plan, item: Item, to: Audience) -> str:
    """What nudges an agent to continue with an item, in words that fit the tool it has."""
    own = desk._seat.guide.nudge
    if own:
        return say(own, item=wording.now(plan, item, ids=False))
    words = wording.now(plan, item, ids=to.knows_ids)
    return say("plan.nudge", now=words) if to.knows_ids else say("plan.nudge.list", now=words)


def is_nudge(desk: Desk, prompt: str) -> bool:
    """Whether a prompt is a nudge of ours that comes back."""
    own = desk._seat.guide.nudge
    names = ("plan.nudge", "plan.nudge.list", "plan.nudge.checks", *([own] if own else []))
    heads = tuple([say(name).partition("{")[0] for name in names])
    return prompt.lstrip().startswith(heads) and bool(load_state(desk).since)


def _last_change(desk: Desk, plan: Plan, state: SessionState) -> int:
    """The last revision of the plan that this agent itself made since the user spoke; 0 if there is none."""
    if plan.revision <= state.asked:
        return 0
    records = desk._seat.store.history(plan.id, state.asked)
    own = [one.revision for one in records if one.reader == desk._seat.reader_key and one.kind not in (CALLS, QUIET)]
    return max(own, default=0)


def _is_owner(desk: Desk, plan: Plan) -> bool:
    """Whether this session is the one that works from the plan: of several, the one that was bound last, or one that
    has an item of its own in work."""
    if desk._seat.name != MAIN and any(item.owner == desk._seat.name for item in plan.busy):
        return True
    bound = desk._seat.store.sessions(plan.id)
    mains = [session for session, agent in bound if agent in (MAIN, desk.agent)]
    return not mains or mains[-1] == desk.session


def _minutes(since: int, now: int) -> float:
    """How long ago that was. A clock that went back counts as no time."""
    return max(now - since, 0) / 60 if since else 0.0

"""The moments of an agent's work, as its hooks or its loop report them: it starts, it is prompted, it works, it stops.
What it should hear then, decided by `policy`, and what is remembered for the next one."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.diff import CALLS, QUIET
from ..core.errors import StoreError
from ..core.model import MAIN, Item, Plan, SessionState
from ..core.ops import resume
from ..core.text import inline
from ..local.settings import ATTACHED, DIALECTS, UNTIL_DONE, Settings
from ..policy import reminders, wording
from ..policy.continuation import INTERRUPTED, LIMITED, WAIT, go_on, next_item, noticed, prompted
from ..policy.continuation import Stop as Stop
from ..policy.limits import OF_DIALECT, OURS, Limits, tokens
from ..prompts import say
from . import Desk
from .holding import held_back, release
from .updates import forget_lists

if TYPE_CHECKING:
    from ..dialects import Dialect

_LATER = ("resume", "compact", "clear", "fork", "rewind")  # starts that find a plan
_MIDWAY = ("compact", "rewind")  # those in the middle of a turn
_LOST = ("resume", "compact", "clear", "rewind")  # those after which the model may not know the plan any more
_WHOLE_LISTS = {"claude-code": "TodoWrite", "gencode": "TodoWrite", "llxprt": "todo_write"}  # with their tools
_OWN_TOOL = "plan"  # whose model knows items by their ids


class Work(NamedTuple):
    """A tool that was used."""

    digest: str  # tells it from others
    tool: str = ""  # its name, where it wrote the plan itself
    failed: bool = False
    interrupted: bool = False
    changes: bool = True  # whether it may have changed something beside the plan
    calls: tuple[Mapping[str, Any], ...] = ()  # what is kept of it


class Sent(NamedTuple):
    """An agent that stopped: nudged with a text, or allowed to stop, and why."""

    text: str
    reason: str


def limits_of(settings: Settings, dialect: str = "") -> Limits:
    """The bounds: a dialect's own, ours if none is named, with what the user has set."""
    limits = OF_DIALECT.get(dialect, OURS)._replace(
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
    return limits if settings.reminder_budget == DIALECTS else limits._replace(budget=settings.reminder_budget)


def started(desk: Desk, source: str) -> list[str]:
    """A session begins, or goes on after a compaction, a `/clear`, a break, a rewind: the plan is told again."""
    plan = desk.plan if source in _MIDWAY else end_quiet(desk)
    if source not in _LATER or not plan.id:
        return []

    def step(pace: SessionState) -> SessionState:
        pace = pace._replace(revision=plan.revision, turns=0, reminded=0, planning=0)
        return pace if source in _MIDWAY else prompted(pace, plan.revision)

    try:
        pace = desk.update_state(step)
        if source in _LOST:
            forget_lists(desk, wording.listed_ids(plan))
    except StoreError as error:
        if not error.is_readable:
            raise
        pace = desk.state  # that nothing can be written down must not keep the plan from the model
    agent = desk.name if desk.is_shared else ""
    text = wording.restored(plan, ids=_knows_ids(desk, pace), going_on=source == "compact", agent=agent)
    if text and not desk.seat.peek()[2].seen:
        desk.take_updates()  # all of it is in the list
    return [*([text] if text else []), *_updates(desk, pace)]


def was_prompted(desk: Desk, prompt: str, *, deaf: bool = False) -> list[str]:
    """The user has spoken: a pause ends, what was counted in a row starts again. `deaf`: nothing can be told now."""
    if _is_nudge(prompt) and desk.state.since:  # our own words come back: nobody has spoken
        return []
    from ..policy.stop_words import says_go_on, says_limit, says_wait

    release(desk)
    plan = end_quiet(desk)
    if plan.paused:
        plan = desk.change(resume).plan
    waiting = WAIT if says_wait(prompt) else LIMITED if says_limit(prompt) else ""
    going = says_go_on(prompt)
    pace = desk.update_state(lambda pace: prompted(pace, plan.revision, waiting=waiting, going=going))
    if deaf:
        return []
    return [*_updates(desk, pace), *_planned(desk, plan, counts=False)]


def worked(desk: Desk, work: Work, *, deaf: bool = False, owes_list: bool = False) -> list[str]:
    """A tool was used. What it was used for is kept with the item that is active. `deaf`: nothing can be told now.
    `owes_list`: the model was told of an edit of the user's just now."""
    desk.owes_list = desk.owes_list or owes_list
    plan = desk.plan
    if not plan.id:
        return []
    _keep_call(desk, plan, work)

    def step(pace: SessionState) -> SessionState:
        pace = reminders.worked(plan, pace)
        if work.changes and not (work.tool or work.failed):
            pace = noticed(pace, work.digest)
        if work.interrupted:
            pace = pace._replace(waiting=INTERRUPTED)
        return pace._replace(tool=work.tool or pace.tool, failed=work.failed if work.tool else pace.failed)

    pace = desk.update_state(step)
    if deaf:
        return []
    return [*_updates(desk, pace), *_reminded(desk, plan, pace), *_planned(desk, plan, counts=True)]


def whole_list(dialect: Dialect, plan: Plan) -> str:
    """The list as a dialect's system hands it over when it changed; nothing if there is none, or it has no form."""
    content = dialect.content(plan) if dialect.content and plan.items else None
    if not content:
        return ""
    if dialect.name == "claude-code":
        from json import dumps

        listed = inline(dumps(content, ensure_ascii=False))
        return say("claude-code.changed", list=listed, next=wording.closing(plan, "Carry on with what is open."))
    if dialect.name == "gencode":
        return say("gencode.list", list=content)
    return say("llxprt.list", list=content) if dialect.name == "llxprt" else ""


def _updates(desk: Desk, pace: SessionState) -> list[str]:
    """What others changed; behind an edit of the user's, the list in the form of the tool that sends it whole, so that
    the next one holds it."""
    told = desk.take_updates(ids=_knows_ids(desk, pace))
    if not desk.owes_list:
        return told
    desk.owes_list = False
    name = desk.dialect_name if desk.dialect_name in _WHOLE_LISTS else "claude-code"
    if pace.tool != _WHOLE_LISTS[name]:
        return told
    from ..dialects import load

    listed = whole_list(load(name), desk.plan)
    return [*told, listed] if listed else told


def _keep_call(desk: Desk, plan: Plan, work: Work) -> None:
    active = _own_work(desk, plan)
    if work.calls and active is not None and not plan.paused:
        desk.observe(active.id, work.calls)


def _own_work(desk: Desk, plan: Plan) -> Item | None:
    """The item that a tool was used for: where several sessions share a plan, none of another's."""
    busy = plan.at_work
    if not busy or not desk.is_shared:
        return next(iter(busy), None)
    mine = "" if desk.name == MAIN else desk.name
    return next((item for item in busy if item.owner == mine), None)


def stopped(desk: Desk, stop: Stop) -> Sent:
    """A turn ends. With something open, and nothing against it, the agent is nudged; that is counted before it is
    said."""
    plan = end_quiet(desk)
    if not plan.id:
        return Sent("", "there is no plan")
    held = held_back(desk)
    if held:
        desk.note("stop", reason=held, open=len(plan.open_items))
        return Sent("", held)
    if stop.agent == desk.agent:
        stop = stop._replace(agent=desk.name)
    limits = limits_of(desk.settings)
    at = int(time.time())
    verdict = [go_on(plan, desk.state, stop, limits)]

    def step(pace: SessionState) -> SessionState:
        known = stop._replace(
            minutes=_minutes(pace.since, at),
            owner=stop.owner and _is_owner(desk, plan),
            changed=_last_change(desk, plan, pace),
        )
        verdict[0] = found = go_on(plan, pace, known, limits)
        return found.pace._replace(since=pace.since or at, nudged_at=desk.now()) if found.item else found.pace

    pace = desk.update_state(step)
    item, reason, _ = verdict[0]
    if item is None:
        desk.note("stop", reason=reason, open=len(plan.open_items))
        return Sent("", reason)
    desk.note("nudge", item=item.id, number=pace.nudges, idle=pace.idle)
    return Sent("\n".join([_nudge(desk, plan, item, pace), *desk.take_updates(ids=_knows_ids(desk, pace))]), reason)


def was_refused(desk: Desk) -> None:
    """A permission was refused: no nudge until the agent has changed the plan again."""
    revision = desk.plan.revision
    desk.update_state(lambda pace: pace._replace(asked=revision, going=False))


def is_continuing(desk: Desk) -> bool:
    """Whether the agent was nudged since the user last spoke, and may pause."""
    plan = desk.plan
    return bool(plan.id and not plan.paused and plan.open_items and desk.state.since)


# --- inside ----------------------------------------------------------------------------------------------------------


def _reminded(desk: Desk, plan: Plan, pace: SessionState) -> list[str]:
    if desk.settings.origins.get("dialect") == ATTACHED:
        from .attachments import reminder

        limits = limits_of(desk.settings, desk.dialect_name)
        bounded = limits._replace(budget=limits_of(desk.settings).budget)  # as often as its system does, on our budget
        made = reminder(desk, reminders.heard_from(pace), bounded)
        return [made.text] if made else []
    limits = limits_of(desk.settings)
    if not reminders.is_due(reminders.heard_from(pace), limits) or reminders.silence(plan, limits):
        return []
    item = next_item(plan, desk.name)
    if item is None:
        return []
    text = wording.reminder(plan, item, pace.turns, pace.tool or _OWN_TOOL, ids=_knows_ids(desk, pace))
    return [text] if paid(desk, text, limits) else []


def paid(desk: Desk, text: str, limits: Limits) -> bool:
    """Take a reminder from the budget of the session, and write it down; whether there was enough."""
    given: list[bool] = []

    def step(pace: SessionState) -> SessionState:
        after = reminders.afforded(text, pace, limits)
        given[:] = [after is not None]
        return after or pace

    spent = desk.update_state(step).spent
    if given[-1]:
        desk.note("reminder", tokens=tokens(text), spent=spent, budget=limits.budget)
    return given[-1]


def _planned(desk: Desk, plan: Plan, *, counts: bool) -> list[str]:
    text = planning(desk, plan, counts=counts)
    return [text] if text else []


def planning(desk: Desk, plan: Plan, *, at_once: bool = False, counts: bool = False, is_request: bool = False) -> str:
    """The text of plan mode or of a quiet context: when it begins, and again every few turns; in another mode nothing,
    and the count is over. `counts`: a turn has passed, or, with `is_request`, begins now."""
    if plan.mode == "act":
        desk.update_state(lambda pace: pace._replace(planning=0))
        return ""
    every = max(desk.settings.plan_mode_every, 1)
    is_due: list[bool] = []

    def step(pace: SessionState) -> SessionState:
        told = pace.planning  # one more than the turns since it was told; none if it never was
        if counts and told and not is_request:
            told += 1
        is_due[:] = [at_once or told == 0 or told > every]
        told = 1 if is_due[0] else told
        return pace._replace(planning=told + 1 if is_request else told)

    desk.update_state(step)
    return mode_text(desk, plan) if is_due[0] else ""


def mode_text(desk: Desk, plan: Plan) -> str:
    """What an agent is told of the mode that its plan is in."""
    if plan.mode == "quiet":
        return quiet_text(desk)
    from .plan_mode import plan_file

    return wording.planning(plan_file(plan))


def quiet_text(desk: Desk) -> str:
    """What an agent is told in a quiet context."""
    return say("quiet", tools=", ".join(f"`{tool.name}`" for tool in desk.dialect.tools))


def enter_quiet(desk: Desk) -> Plan:
    """Let the agent enter a quiet context, if there is a plan. The plan as it is then."""
    from .plan_mode import entered

    before = desk.plan
    plan = entered(desk)
    desk.update_state(
        lambda pace: _unmoved(pace, before, plan)._replace(planning=1)
    )  # what it means is told by the caller
    return plan


def end_quiet(desk: Desk) -> Plan:
    """End a quiet context that the agent entered; the user's own stays. The plan as it is then."""
    before = desk.plan
    if before.mode != "quiet":
        return before
    from .plan_mode import left

    plan = left(desk)
    desk.update_state(lambda pace: _unmoved(pace, before, plan))
    return plan


def _unmoved(pace: SessionState, before: Plan, after: Plan) -> SessionState:
    """The pace where the plan has another revision, and nothing on the list has changed."""
    return pace._replace(revision=after.revision) if pace.revision == before.revision else pace


def _nudge(desk: Desk, plan: Plan, item: Item, pace: SessionState) -> str:
    """What nudges an agent, in words that fit the tool it has."""
    if desk.dialect_name == "llxprt":
        return say("llxprt.continue", item=wording.now(plan, item, ids=False))
    words = wording.now(plan, item, ids=_knows_ids(desk, pace))
    return say("plan.nudge", now=words) if _knows_ids(desk, pace) else say("plan.nudge.list", now=words)


def _is_nudge(prompt: str) -> bool:
    heads = [say(name).partition("{")[0] for name in ("plan.nudge", "plan.nudge.list", "llxprt.continue")]
    return prompt.lstrip().startswith(tuple(heads))


def _knows_ids(desk: Desk, pace: SessionState) -> bool:
    """Whether the model knows items by their ids: by the tool that it was last seen to write the plan with."""
    return (pace.tool or desk.dialect_name) in (_OWN_TOOL, "native")


def _last_change(desk: Desk, plan: Plan, pace: SessionState) -> int:
    """The last revision of the plan that this agent itself made since the user spoke; 0 if there is none."""
    if plan.revision <= pace.asked:
        return 0
    records = desk.store.history(plan.id, pace.asked)
    own = [one.revision for one in records if one.reader == desk.reader_key and one.kind not in (CALLS, QUIET)]
    return max(own, default=0)


def _is_owner(desk: Desk, plan: Plan) -> bool:
    """Whether this session is the one that works from the plan: of several, the one that was bound last, or one that
    has an item of its own in work."""
    if desk.name != MAIN and any(item.owner == desk.name for item in plan.busy):
        return True
    bound = desk.store.sessions(plan.id)
    mains = [session for session, agent in bound if agent in (MAIN, desk.agent)]
    return not mains or mains[-1] == desk.session


def _minutes(since: int, now: int) -> float:
    """How long ago that was. A clock that went back counts as no time."""
    return max(now - since, 0) / 60 if since else 0.0

"""What an agent is told, and when: at a start, with the user's words, before a request, after a tool, when a turn ends.

A hook reports one event at a time, a loop has the conversation as well; both are told the same. `policy` has the rules,
the dialect's `Guide` the words, and what must be remembered for the next event is in the state of the session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.diff import CALLS, QUIET
from ..core.errors import StoreError
from ..core.model import MAIN, Item, Plan, Reader, SessionState
from ..core.ops import resume
from ..local.files import time_text
from ..local.settings import DIALECTS, UNTIL_DONE, Settings
from ..policy import reminders, wording
from ..policy.continuation import INTERRUPTED, LIMITED, WAIT, TurnEnd, after_call, after_prompt, go_on, next_item
from ..policy.conversation import FAILED, REMINDER, Tally
from ..policy.guide import LOST, OURS, Audience, Guide, Listed
from ..policy.limits import Limits, tokens
from ..prompts import say
from .events import log_event
from .holding import held_back, is_off, release
from .observations import observe
from .session_state import decide, load_state, update_state
from .updates import forget_lists, take_updates
from .visible import visible

if TYPE_CHECKING:
    from . import Desk

POST_COMPACT = "post-compact"
EDIT = "edit"  # the kind of what others changed
_CONTEXTS = {"": "start", "start": "start", "startup": "start", "compact": "compact"}  # other starts: resume
_MIDWAY = ("compact", "rewind")  # starts in the middle of a turn


class Guidance(NamedTuple):
    """One thing that the model is told, and that the user is not shown."""

    kind: str  # todo, edit, todo_reminder, todo-write-error-reminder, plan_mode, quiet
    text: str  # as a message of its own: wrapped
    lines: tuple[str, ...] = ()  # for who wraps it, a hook of an agent for example
    context: str = ""
    items: int = 0  # on the list
    content: Any = None  # the list itself, where the dialect hands it over


class ToolUse(NamedTuple):
    """A tool that was used."""

    digest: str  # tells it from others
    tool: str = ""  # its name, where it wrote the plan itself
    failed: bool = False
    interrupted: bool = False
    changes: bool = True  # whether it may have changed something beside the plan
    calls: tuple[Mapping[str, Any], ...] = ()  # what is kept of it
    dialect: str = ""  # of a tool that wrote the plan and is the agent's own: the dialect it is mirrored in


class Nudge(NamedTuple):
    """The agent should continue: `text` is what it is told."""

    text: str
    reason: str


class Stop(NamedTuple):
    """The agent may stop, and why."""

    reason: str

    @property
    def text(self) -> str:
        """Empty: it is told nothing."""
        return ""


class _Event(NamedTuple):
    """One event, with what was read for it."""

    desk: Desk
    plan: Plan
    reader: Reader
    state: SessionState
    context: str = ""

    @property
    def to(self) -> Audience:
        """Who is told. A model that writes its plan with a tool of its own does not know our ids."""
        desk = self.desk
        knows_ids = desk._seat.guide.knows_ids and not self.state.dialect
        return Audience(knows_ids, desk._seat.name if desk._seat.is_shared else "", desk.settings.reminders)


# --- the events ------------------------------------------------------------------------------------------------------


def started(desk: Desk, source: str) -> list[Guidance]:
    """A session begins, or continues after a compaction, a `/clear`, a break, a rewind: the plan is told again.

    `source`: startup, resume, compact, clear, fork, rewind.
    """
    context = _CONTEXTS.get(source, "resume")
    if source not in _MIDWAY:
        end_quiet(desk)
    if context == "resume" and desk._seat.guide.clears_on_resume:
        _clear_closed(desk)
    plan, reader = desk._seat.look()
    state = _restart(desk, plan, source) if plan.id else SessionState()
    event = _Event(desk, plan, reader, state, context)
    found = _each(event, ("listed", _list))
    shown = _listed_ids(event) if found else ()
    return [
        *found,
        *_each(event, ("edited", lambda one: _updates(one, shown)), ("failed", _failed), ("planned", _mode_again)),
    ]


def changed(desk: Desk) -> list[Guidance]:
    """The list has changed: it is told in the form of its dialect, with what others did."""
    event = _look(desk, "changed")
    return _each(event, ("listed", _list), ("edited", _updates), ("failed", _failed), ("planned", _mode_counted))


def prompted(desk: Desk, prompt: str, *, deaf: bool = False) -> list[Guidance]:
    """The user has spoken: a pause ends, what was counted in a row starts again. `deaf`: nothing can be told now."""
    if _is_nudge(desk, prompt):  # our own words come back: nobody has spoken
        return []
    from ..policy.stop_words import says_go_on, says_limit, says_wait

    release(desk)
    plan = end_quiet(desk)
    if plan.paused:
        plan = desk.change(resume).plan
    waiting = WAIT if says_wait(prompt) else LIMITED if says_limit(prompt) else ""
    going = says_go_on(prompt)
    heard = time_text()

    def step(state: SessionState) -> SessionState:
        return after_prompt(state, plan.revision, waiting=waiting, going=going)._replace(heard=heard)

    state = update_state(desk, step)
    if deaf:
        return []
    event = _Event(desk, *desk._seat.look(), state)
    return _each(event, ("edited", _updates), ("listed", _list_after_edit), ("planned", _mode))


def before_request(desk: Desk, heard: Tally) -> list[Guidance]:
    """What the model should be told before it is asked again; `heard` is what the conversation so far says."""
    event = _look(desk)
    return _each(
        event,
        ("edited", _updates),
        ("listed", _list_after_edit),
        ("reminded", lambda one: _reminder(one, heard)),
        ("failed", lambda one: _failed(one, heard)),
        ("planned", _mode_of_request),
    )


def tool_used(desk: Desk, use: ToolUse, *, deaf: bool = False, owes_list: bool = False) -> list[Guidance]:
    """A tool was used: it is recorded, and the model is told what it should know now. `deaf`: nothing can be told now.
    `owes_list`: the model was told of an edit of the user's just now."""
    desk._seat.owes_list = desk._seat.owes_list or owes_list
    plan, reader = desk._seat.look()
    if not plan.id:
        return []
    state = _record(desk, plan, [use], counts=True)
    if deaf:
        return []
    event = _Event(desk, plan, reader, state)
    heard = reminders.heard_from(state)
    return _each(
        event,
        ("edited", _updates),
        ("listed", _list_after_edit),
        ("reminded", lambda one: _reminder(one, heard, limits_of(desk.settings).budget)),
        ("failed", _failed),
        ("planned", _mode_counted),
    )


def record_tool_use(desk: Desk, uses: Sequence[ToolUse]) -> None:
    """Keep calls with the item that is active, and as progress since the agent was last nudged. Nothing is told: a loop
    asks before its next request."""
    plan = desk.plan
    if uses and plan.id:
        _record(desk, plan, uses, counts=False)


def turn_ended(desk: Desk, end: TurnEnd) -> Nudge | Stop:
    """A turn ends. With something open, and nothing against it, the agent is nudged; that is counted before it is
    said."""
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

    def step(state: SessionState) -> tuple[SessionState, tuple[Item | None, str]]:
        item, reason, after = go_on(plan, state, end._replace(minutes=_minutes(state.since, at)), limits)
        if item is not None:
            after = after._replace(since=state.since or at, nudged_at=time_text())
        return after, (item, reason)

    state, (item, reason) = decide(desk, step, known)
    if item is None:
        return _let_stop(desk, plan, reason)
    log_event(desk, "nudge", item=item.id, number=state.nudges, idle=state.idle)
    event = _Event(desk, *desk._seat.look(), state)
    told = take_updates(desk, ids=event.to.knows_ids)
    return Nudge("\n".join([_nudge(desk, plan, item, event.to), *told]), reason)


def describe(
    desk: Desk,
    tool: str,
    args: Any,
    result: Any = "",
    *,
    id: str = "",
    failed: bool = False,
    interrupted: bool = False,
    hides_failure: bool = False,
    exit: int | None = None,
) -> ToolUse:
    """Describe a call of a tool that is not the plan's, as it is kept: bounded, with secrets blanked."""
    from ..core.json_text import dumps
    from ..core.redact import recorded
    from ..policy.effects import changes_something

    outcome = "failed" if failed else "unknown" if hides_failure else "ok"
    given: Any = args if isinstance(args, dict) else {"input": args}
    try:
        shown = result if isinstance(result, str) else dumps(result, ensure_ascii=False)
    except TypeError:  # an object that only this program knows
        shown = str(result)
    who = {"at": time_text(), "session": desk.session, "agent": desk.agent}
    kept = recorded(id, tool, given, outcome, shown, redact=desk.settings.redact_calls, exit=exit, **who)
    return ToolUse(digest(tool, args), "", failed, interrupted, changes_something(tool, args), (kept,))


def digest(tool: str, args: Any) -> str:
    """Return what tells one tool call from another."""
    from zlib import crc32

    return f"{crc32(repr((tool, args)).encode('utf-8', 'replace')):x}"


def note_refusal(desk: Desk) -> None:
    """A permission was refused: no nudge until the agent has changed the plan again."""
    revision = desk.plan.revision
    update_state(desk, lambda state: state._replace(asked=revision, going=False))


def is_continuing(desk: Desk) -> bool:
    """Whether the agent was nudged since the user last spoke, and may pause."""
    plan = desk.plan
    return bool(plan.id and not plan.paused and plan.open_items and load_state(desk).since)


def lines(found: Sequence[Guidance]) -> list[str]:
    """Guidance for an agent that wraps what it is told by itself."""
    return [line for one in found for line in one.lines]


def to_json(one: Guidance, at: str) -> dict[str, Any]:
    """Guidance as a message that the user is not shown."""
    import uuid

    inner = {"type": one.kind, "content": one.content, "itemCount": one.items, "context": one.context or None}
    return {
        "type": "attachment",
        "attachment": {name: value for name, value in inner.items() if value is not None},
        "message": {"role": "user", "content": one.text},
        "isMeta": True,
        "text": one.text,
        "uuid": str(uuid.uuid4()),
        "timestamp": at,
    }


# --- quiet contexts --------------------------------------------------------------------------------------------------


def enter_quiet(desk: Desk) -> Plan:
    """Let the agent enter a quiet context, if there is a plan. Return the plan as it is then; what the context means is
    told by the caller."""
    from .plan_mode import enter

    before = desk.plan
    plan = enter(desk)
    update_state(desk, lambda state: _unmoved(state, before, plan)._replace(planning=1))
    return plan


def end_quiet(desk: Desk) -> Plan:
    """End a quiet context that the agent entered; the user's own stays. Return the plan as it is then."""
    before = desk.plan
    if before.mode != "quiet":
        return before
    from .plan_mode import leave

    plan = leave(desk)
    update_state(desk, lambda state: _unmoved(state, before, plan))
    return plan


def quiet_text(desk: Desk) -> str:
    """What an agent is told in a quiet context."""
    return say("quiet", tools=", ".join(f"`{tool.name}`" for tool in desk.dialect.tools))


def mode_text(desk: Desk, plan: Plan) -> str:
    """What an agent is told of the mode that its plan is in."""
    if plan.mode == "quiet":
        return quiet_text(desk)
    from .plan_mode import plan_file

    return wording.planning(plan_file(plan))


# --- reminders -------------------------------------------------------------------------------------------------------


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


def is_due(desk: Desk, heard: Tally) -> bool:
    """Whether it is time for a reminder, from the conversation alone."""
    if heard.failed and _can_repeat(desk):
        return True
    limits = limits_of(desk.settings, desk._seat.guide)
    return reminders.is_due(heard, limits) and not _asks(heard, limits)


def remind(desk: Desk, heard: Tally) -> list[Guidance]:
    """What reminds, of what is told before a request: updates stay untold, and plan mode uncounted."""
    return _each(
        _look(desk), ("reminded", lambda one: _reminder(one, heard)), ("failed", lambda one: _failed(one, heard))
    )


# --- inside: each thing that is told ---------------------------------------------------------------------------------

_Maker = Callable[[_Event], Guidance | None]


def _look(desk: Desk, context: str = "") -> _Event:
    """The event with what the store has for it. Where that cannot be read, each part says so by itself."""
    try:
        return _Event(desk, *desk._seat.look(), load_state(desk), context)
    except StoreError:
        return _Event(desk, Plan(), Reader(), SessionState(), context)


def _each(event: _Event, *makers: tuple[str, _Maker]) -> list[Guidance]:
    """What each of them makes. One that fails is noted, and keeps the others from nothing."""
    if is_off(event.desk):
        return []
    found = []
    for name, make in makers:
        try:
            made = make(event)
        except Exception as error:
            _note_fault(event.desk, name, error)
            continue
        if made is not None:
            found.append(made)
    return found


def _note_fault(desk: Desk, where: str, error: Exception) -> None:
    """Note what failed, if even that can be done."""
    try:
        log_event(desk, "error", where=where, message=f"{type(error).__name__}: {error}")
    except StoreError:
        pass


def _told(event: _Event, kind: str, listed: Listed, context: str = "", items: int = 0) -> Guidance | None:
    if not listed.text:
        return None
    text = wording.wrapped(listed.text, event.desk._seat.guide.wrapper)
    return Guidance(kind, text, (listed.text,), context or event.context, items, listed.content)


def _list(event: _Event) -> Guidance | None:
    """The list, as the dialect's system tells it in this context."""
    desk, context = event.desk, event.context
    plan = visible(desk, event.plan)
    found = _todo(event, plan, desk._seat.guide.listed(plan, context, event.to))
    if context in LOST:
        forget_lists(desk, _listed_ids(event))
    return found


def _todo(event: _Event, plan: Plan, listed: Listed) -> Guidance | None:
    shown = POST_COMPACT if event.context == "compact" else event.context
    count = len(plan.items) if listed.content is None else len(listed.content)
    return _told(event, "todo", listed, shown, count)


def _listed_ids(event: _Event) -> list[str]:
    """The items that the list shows."""
    if event.desk._seat.guide.lists_all:
        return [item.id for item in event.plan.items]
    return wording.listed_ids(event.plan)


def _updates(event: _Event, shown: Sequence[str] = ()) -> Guidance | None:
    """What others did, once: a list alone tells neither of notes nor of what must not come back. `shown`: items on a
    list that was told just now."""
    desk = event.desk
    if event.reader.seen >= event.plan.revision:
        return None
    told = take_updates(desk, ids=event.to.knows_ids, shown=shown)
    if not told or (shown and not event.reader.seen):  # who is new to the plan has all of it in the list
        return None
    text = wording.wrapped(wording.edited(told), desk._seat.guide.wrapper)
    return Guidance(EDIT, text, tuple(told), event.context, len(event.plan.items))


def _list_after_edit(event: _Event) -> Guidance | None:
    """The whole list behind an edit of the user's, where the model sends it whole: so its next one holds the edit."""
    desk = event.desk
    owed, desk._seat.owes_list = desk._seat.owes_list, False
    if not owed:
        return None
    guide = _guide_of(desk, event.state)
    plan = visible(desk, event.plan)
    if not guide.sends_whole or not plan.items:
        return None
    return _todo(event._replace(context="changed"), plan, guide.listed(plan, "changed", event.to))


def _guide_of(desk: Desk, state: SessionState) -> Guide:
    """The guide of the tool that the model writes its plan with: its own, where it has one."""
    if not state.dialect:
        return desk._seat.guide
    from ..dialects import load

    return load(state.dialect).guide


def _reminder(event: _Event, heard: Tally, budget: int | None = None) -> Guidance | None:
    """The reminder that is due now, as the dialect's system gives it. `budget`: in tokens; None: as its system has."""
    desk, guide = event.desk, event.desk._seat.guide
    limits = limits_of(desk.settings, guide)
    if not reminders.is_due(heard, limits):
        return None
    plan = visible(desk, event.plan)
    if reminders.silence(plan, limits, asking=_asks(heard, limits)):
        return None
    if guide.reminder is not None:
        listed = guide.reminder(plan, heard.since_write)
    else:
        listed = _our_reminder(event, plan, heard.since_write)
    made = _told(event, REMINDER, listed, items=len(plan.items))
    if made is None:
        return None
    text = made.text
    if budget is not None:  # a hook: the agent wraps it
        limits, text = limits._replace(budget=budget), listed.text
    return made if _pay(desk, text, limits) else None


def _our_reminder(event: _Event, plan: Plan, turns: int) -> Listed:
    item = next_item(plan, event.desk._seat.name)
    if item is None:
        return Listed()
    desk = event.desk
    tool = event.state.tool or desk._seat.guide.writer or desk.dialect.tools[0].name
    return Listed(wording.reminder(plan, item, turns, tool, ids=event.to.knows_ids))


def _asks(heard: Tally, limits: Limits) -> bool:
    """Whether a question to the user is a reason for silence; the systems of some dialects did not look."""
    if not limits.heeds_questions or not heard.said:
        return False
    from ..policy.questions import asks

    return asks(heard.said)


def _pay(desk: Desk, text: str, limits: Limits) -> bool:
    """Take a reminder from the budget of the session, and note it. Return whether there was enough."""

    def step(state: SessionState) -> tuple[SessionState, bool]:
        after = reminders.afforded(text, state, limits)
        return after or state, after is not None

    state, is_paid = decide(desk, step)
    if is_paid:
        log_event(desk, "reminder", tokens=tokens(text), spent=state.spent, budget=limits.budget)
    return is_paid


def _failed(event: _Event, heard: Tally = Tally()) -> Guidance | None:  # noqa: B008
    """After a call that failed, where the dialect has a text for it: the user does not see how far the work is. The
    conversation tells, or what was kept of the call itself; that is forgotten once it was said."""
    desk = event.desk
    if not (heard.failed or event.state.failed) or not _can_repeat(desk):
        return None
    if reminders.silence(event.plan, limits_of(desk.settings)._replace(on_empty=True)):
        return None
    update_state(desk, lambda state: state._replace(failed=False))
    return _told(event, FAILED, Listed(say(desk._seat.guide.failed)))


def _can_repeat(desk: Desk) -> bool:
    """Whether the dialect has a text for a failed call, and this agent has the tool to send it again."""
    if not desk._seat.guide.failed:
        return False
    from ..dialects import offered

    return bool(offered(desk.dialect, continuing=True, agent=desk.agent))


def _mode(event: _Event, *, at_once: bool = False, counts: bool = False, is_request: bool = False) -> Guidance | None:
    """The text of plan mode or of a quiet context: when it begins, and again every few turns; in another mode nothing,
    and the count is over. `counts`: a turn has passed; `is_request`: one begins now."""
    desk, plan = event.desk, event.plan
    if plan.mode == "act":
        if event.state.planning:
            update_state(desk, lambda state: state._replace(planning=0))
        return None
    every = max(desk.settings.plan_mode_every, 1)

    def step(state: SessionState) -> tuple[SessionState, bool]:
        told = state.planning  # one more than the turns since it was told; none if it never was
        if counts and told:
            told += 1
        is_due = at_once or told == 0 or told > every
        told = 1 if is_due else told
        return state._replace(planning=told + 1 if is_request else told), is_due

    _, is_due = decide(desk, step)
    kind = "quiet" if plan.mode == "quiet" else "plan_mode"
    return _told(event, kind, Listed(mode_text(desk, plan))) if is_due else None


def _mode_again(event: _Event) -> Guidance | None:
    return _mode(event, at_once=True)


def _mode_counted(event: _Event) -> Guidance | None:
    return _mode(event, counts=True)


def _mode_of_request(event: _Event) -> Guidance | None:
    return _mode(event, is_request=True)


# --- inside: what is remembered --------------------------------------------------------------------------------------


def _restart(desk: Desk, plan: Plan, source: str) -> SessionState:
    """Let the counts start again with a session."""

    def step(state: SessionState) -> SessionState:
        state = state._replace(revision=plan.revision, turns=0, reminded=0, planning=0)
        return state if source in _MIDWAY else after_prompt(state, plan.revision)

    try:
        return update_state(desk, step)
    except StoreError as error:
        if not error.is_readable:
            raise
        return load_state(desk)  # the model is told the plan, even if nothing can be saved


def _clear_closed(desk: Desk) -> None:
    """On resume, what is closed leaves the working list. History still has it."""
    from ..core.ops import clear

    desk.change(lambda plan: clear(plan, "~"), by=desk.agent)


def _record(desk: Desk, plan: Plan, uses: Sequence[ToolUse], *, counts: bool) -> SessionState:
    """Keep what tools were used for. `counts`: as a turn of work, where nobody has the conversation."""
    _keep_calls(desk, plan, tuple([call for use in uses for call in use.calls]))
    heard = time_text()

    def step(state: SessionState) -> SessionState:
        if counts:
            state = reminders.after_turn(plan, state)
        for use in uses:
            state = _after_use(state, use)
        return state._replace(heard=heard)

    return update_state(desk, step)


def _after_use(state: SessionState, use: ToolUse) -> SessionState:
    if use.changes and not (use.tool or use.failed):
        state = after_call(state, use.digest)
    if use.interrupted:
        state = state._replace(waiting=INTERRUPTED)
    if use.tool:
        state = state._replace(tool=use.tool, dialect=use.dialect, failed=use.failed)
    return state


def _keep_calls(desk: Desk, plan: Plan, calls: tuple[Mapping[str, Any], ...]) -> None:
    active = _own_item(desk, plan)
    if calls and active is not None and not plan.paused:
        observe(desk, active.id, calls, plan.id)


def _own_item(desk: Desk, plan: Plan) -> Item | None:
    """The item that a tool was used for: its own, else one that is nobody's; where several sessions share a plan, none
    of another's."""
    busy = plan.at_work
    mine = "" if desk._seat.name == MAIN else desk._seat.name
    own = [item for owner in (mine, "") for item in busy if item.owner == owner]
    if own or desk._seat.is_shared:
        return next(iter(own), None)
    return next(iter(busy), None)


def _unmoved(state: SessionState, before: Plan, after: Plan) -> SessionState:
    """The state where the plan has another revision, and nothing on the list has changed."""
    return state._replace(revision=after.revision) if state.revision == before.revision else state


# --- inside: nudges --------------------------------------------------------------------------------------------------


def _let_stop(desk: Desk, plan: Plan, reason: str) -> Stop:
    log_event(desk, "stop", reason=reason, open=len(plan.open_items))
    return Stop(reason)


def _nudge(desk: Desk, plan: Plan, item: Item, to: Audience) -> str:
    """What nudges an agent, in words that fit the tool it has."""
    own = desk._seat.guide.nudge
    if own:
        return say(own, item=wording.now(plan, item, ids=False))
    words = wording.now(plan, item, ids=to.knows_ids)
    return say("plan.nudge", now=words) if to.knows_ids else say("plan.nudge.list", now=words)


def _is_nudge(desk: Desk, prompt: str) -> bool:
    """Whether a prompt is a nudge of ours that comes back."""
    own = desk._seat.guide.nudge
    names = ("plan.nudge", "plan.nudge.list", *([own] if own else []))
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

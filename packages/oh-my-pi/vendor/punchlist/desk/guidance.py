"""What an agent is told, and when: at a start, with the user's words, before a request, after a tool, when a turn ends.

A hook reports one event at a time, a loop has the conversation as well; both are told the same. `policy` has the rules,
the dialect's `Guide` the words, and what must be remembered for the next event is in the state of the session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.errors import StoreError
from ..core.model import Plan, Reader, SessionState
from ..core.ops import resume
from ..local.files import time_text
from ..policy import reminders, wording
from ..policy.continuation import LIMITED, WAIT, after_prompt, next_item
from ..policy.conversation import FAILED, REMINDER, Tally
from ..policy.dialect_guide import LOST, Audience, Guide, Listed
from ..policy.limits import Limits, tokens
from ..prompts import say
from .events import log_event
from .holding import is_off, release
from .nudges import audience, is_nudge, limits_of, looks_done_lines
from .quiet import end_quiet, mode_sign, mode_text
from .session_state import decide, load_state, update_state
from .tool_use import ToolUse, keep_for_parent, record
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
        return audience(self.desk, self.state)


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
    return _each(event, ("listed", _list), ("edited", _updates), ("failed", _failed), ("planned", _count_mode))


def prompted(desk: Desk, prompt: str, *, is_told: bool = True) -> list[Guidance]:
    """The user has spoken: a pause ends, what was counted in a row starts again. `is_told`: it can be told now."""
    if is_nudge(desk, prompt):  # our own words come back: nobody has spoken
        return []
    from ..policy.stop_words import runs_pause, says_go_on, says_limit, says_wait

    release(desk)
    plan = end_quiet(desk)
    if plan.paused and not runs_pause(prompt):
        plan = desk.change(resume).plan
    waiting = WAIT if says_wait(prompt) else LIMITED if says_limit(prompt) else ""
    going = says_go_on(prompt)
    heard = time_text()

    def step(state: SessionState) -> SessionState:
        return after_prompt(state, plan.revision, waiting=waiting, going=going)._replace(heard=heard)

    state = update_state(desk, step)
    if not is_told:
        return []
    event = _Event(desk, *desk._seat.look(), state)
    return _each(event, ("edited", _updates), ("listed", _list_after_edit), ("planned", _mode))


def before_request(desk: Desk, heard: Tally, *, is_lost: bool = False) -> list[Guidance]:
    """What the model should be told before it is asked again; `heard` is what the conversation so far says. `is_lost`:
    the plan is not in it any more."""
    if is_lost:
        return started(desk, "compact" if heard.turns else "rewind")
    event = _look(desk)
    return _each(
        event,
        ("edited", _updates),
        ("listed", _list_after_edit),
        ("reminded", lambda one: _reminder(one, heard)),
        ("failed", lambda one: _failed(one, heard)),
        ("planned", _mode_of_request),
    )


def tool_used(desk: Desk, use: ToolUse, *, is_told: bool = True, owes_list: bool = False) -> list[Guidance]:
    """A tool was used: it is recorded, and the model is told what it should know now, if `is_told`. `owes_list`: it
    was told of an edit of the user's just now."""
    desk._seat.owes_list = desk._seat.owes_list or owes_list
    plan, reader = desk._seat.look()
    keep_for_parent(desk, plan, [use])
    if not plan.id:
        return []
    state = record(desk, plan, [use], counts=True)
    if desk.settings.auto_done:
        plan, reader = desk._seat.look()  # what was seen may have completed an item
    if not is_told:
        return []
    event = _Event(desk, plan, reader, state)
    heard = reminders.heard_from(state)
    return _each(
        event,
        ("edited", _updates),
        ("listed", _list_after_edit),
        ("reminded", lambda one: _reminder(one, heard, limits_of(desk.settings).budget)),
        ("failed", _failed),
        ("planned", _count_mode),
    )


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


# --- reminders -------------------------------------------------------------------------------------------------------


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
    from .voice import is_worth_a_word

    if not is_worth_a_word(desk, event.plan, event.state, heard, limits):
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
    words = wording.reminder(plan, item, turns, tool, ids=event.to.knows_ids)
    return Listed(" ".join([words, *looks_done_lines(desk, plan, event.to)]))


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
    sign = mode_sign(plan.mode)

    def step(state: SessionState) -> tuple[SessionState, bool]:
        told = max(state.planning * sign, 0)  # one more than the turns since it was told; none if it never was
        if counts and told:
            told += 1
        is_due = at_once or told == 0 or told > every
        told = 1 if is_due else told
        return state._replace(planning=sign * (told + 1 if is_request else told)), is_due

    _, is_due = decide(desk, step)
    kind = "quiet" if plan.mode == "quiet" else "plan_mode"
    return _told(event, kind, Listed(mode_text(desk, plan))) if is_due else None


def _mode_again(event: _Event) -> Guidance | None:
    return _mode(event, at_once=True)


def _count_mode(event: _Event) -> Guidance | None:
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

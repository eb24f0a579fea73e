"""Nudge an agent or let it end, when a turn ends with something open. Whatever is doubtful is a reason to end."""

from __future__ import annotations

from ..core._typing import NamedTuple
from ..core.model import ACTIVE, CLOSED, PENDING, Item, Plan, SessionState
from ..core.ops import open_needs
from .limits import Limits
from .questions import asks

INTERRUPTED = "it was interrupted"
WAIT = "the user said to wait"
LIMITED = "the user asked for a part only"
UNPLANNED = "no planned work since the user's last message"
UNVERIFIED = "what it completed is not verified"
PAUSED, PLANNING = "the work is paused", "planning goes on"
REFUSED, BACKGROUND = "a permission was refused", "work goes on in the background"
# After one of these the agent must change the plan again before it is nudged.
_ENDING = frozenset([INTERRUPTED, PAUSED, PLANNING, REFUSED, BACKGROUND])
_LATELY = 8  # tool calls that are remembered, to tell work from going round in circles


class TurnEnd(NamedTuple):
    """What is known of an agent whose turn ends."""

    said: str = ""  # its last words
    minutes: float = 0.0  # since the first nudge after the user's last word
    agent: str = ""  # who it is; items of others are not its business
    background: bool = False  # work goes on without it
    planning: bool = False  # its own program is in plan mode
    interrupted: bool = False
    awaiting: bool = False  # an approval is awaited
    refused: bool = False  # a permission was refused, and the agent has not changed the plan since
    waits: bool = False  # the user's last words tell it to wait
    owner: bool = True  # whether this session's is the plan
    work: int = 0  # calls that changed something since it was last nudged, where nobody counted them before
    changed: int = 0  # the last revision of the plan that the agent itself made since the user spoke; 0: none
    always: bool = False  # whether it is nudged also where it did no planned work
    ending: bool = False  # its program ends with this turn: no nudge could reach it
    unverified: bool = False  # it completed something, and should be asked to run the checks
    unasked: bool = False  # the user asked for nothing, but typed a command of their own


class Verdict(NamedTuple):
    """What to do with it."""

    item: Item | None  # to go on with, if there is one
    reason: str  # why it stops, or what it is nudged for
    state: SessionState
    is_nudge: bool = False  # whether it is nudged; otherwise it may stop


def go_on(plan: Plan, state: SessionState, end: TurnEnd, limits: Limits) -> Verdict:
    """The verdict, and the state with a nudge counted."""
    state = _progressed(plan, state, end)
    why = _reason_to_stop(plan, state, end, limits)
    if why in _ENDING:
        state = state._replace(asked=plan.revision, going=False)
    item = None if why else next_item(plan, end.agent)
    if item is None and (why or not end.unverified):
        return Verdict(None, why or "only blocked or waiting items are left", state._replace(revision=plan.revision))
    reason = "an item is open"
    if item is None:
        reason = UNVERIFIED
    counted = state._replace(nudges=state.nudges + 1, idle=state.idle + 1, work=0)
    return Verdict(item, reason, counted._replace(revision=plan.revision, nudged=plan.revision), is_nudge=True)


def next_item(plan: Plan, agent: str = "") -> Item | None:
    """What an agent could go on with now: its active item, else the first that waits for nothing."""
    mine = [item for item in plan.items if not item.owner or not agent or item.owner == agent]
    for item in mine:
        if item.status == ACTIVE:
            return item
    by_id = {item.id: item for item in plan.items}
    for item in mine:
        if item.status == PENDING and not open_needs(plan, item) and not _is_held(item, by_id):
            return item
    return None


def after_prompt(state: SessionState, revision: int, *, waiting: str = "", going: bool = False) -> SessionState:
    """The state after the user's next message: what was counted in a row starts again, what counts for the session
    stays. From this revision of the plan on, a change by the agent is planned work."""
    return state._replace(idle=0, work=0, since=0, waiting=waiting, asked=revision, going=going)


def after_call(state: SessionState, call: str) -> SessionState:
    """The state after a call that changed something. One that was made lately does not count as progress, and neither
    do several in turns."""
    known, call = state.lately.split(), "".join(call.split())
    if call in known:
        return state
    return state._replace(work=state.work + 1, lately=" ".join([*known, call][-_LATELY:]))


def _progressed(plan: Plan, state: SessionState, end: TurnEnd) -> SessionState:
    """Only a change of the plan by the agent, or a call that changed something, answers a nudge."""
    if state.revision and state.revision != plan.revision:
        state = state._replace(turns=0, reminded=0, reminders=0)
    if end.changed > state.nudged or state.work + end.work:
        return state._replace(idle=0)
    return state


def _is_planned(state: SessionState, end: TurnEnd, limits: Limits) -> bool:
    """Whether the agent is in the middle of planned work: since the user's last message it has itself changed the plan,
    or that message was a bare "go on"."""
    return state.going or end.changed > state.asked or end.always or limits.until_done


def _reason_to_stop(plan: Plan, state: SessionState, end: TurnEnd, limits: Limits) -> str:
    reasons = (
        (not limits.continuation, "continuation is off"),
        (state.stopped, "the user stopped it for this session"),
        (plan.paused is not None, PAUSED),
        (plan.mode == "quiet", "the plan is in quiet mode"),
        (plan.mode == "plan" or end.planning, PLANNING),
        (not end.owner, "another session works from this plan"),
        (end.ending, "its program ends with this turn"),
        (bool(state.waiting), state.waiting),
        (end.unasked, "the user typed a command, and asked for nothing"),
        (end.interrupted, INTERRUPTED),
        (end.refused, REFUSED),
        (end.waits, WAIT),
        (end.background, BACKGROUND),
        (not end.unverified and not any(item.status not in CLOSED for item in plan.items), "nothing is open"),
        (end.awaiting, "an approval is awaited"),
        (not _is_planned(state, end, limits), UNPLANNED),
        (state.idle >= limits.idle_nudges, "nudges led to no progress"),
        (state.nudges >= limits.nudges, "the nudges of this session are used up"),
        (end.minutes >= limits.minutes, "it has been nudged for long enough"),
    )
    why = next((reason for applies, reason in reasons if applies), "")
    return why or ("it asks the user something" if asks(end.said) else "")


def _is_held(item: Item, by_id: dict[str, Item]) -> bool:
    """Whether what it is a part of cannot go on."""
    whole = by_id.get(item.parent)
    return whole is not None and whole.status not in (PENDING, ACTIVE)

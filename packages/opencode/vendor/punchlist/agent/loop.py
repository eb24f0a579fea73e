"""The loop: ask the model, run its calls, attach what it should hear, nudge it or let it stop.

Read from the top: `work` is one word of the user until the agent stops. The conversation is in the transcript before
each step goes on, so whatever ends the process loses nothing.
"""

from __future__ import annotations

from contextlib import suppress

from ..core.errors import StoreError
from ..core.text import counted, inline
from ..desk import Desk
from ..desk.events import log_event
from ..desk.guidance import prompted
from ..desk.holding import held_back, is_off
from ..desk.nudges import Nudge, Stop, is_continuing, turn_ended
from ..desk.quiet import end_quiet
from ..desk.session_state import load_state
from ..policy.continuation import TurnEnd
from ..prompts import say
from . import compact
from .context import Context
from .events import Attached, Interrupted, Nudged, Planned, Said, Spent, TurnEnded
from .messages import Assistant, Attachment, Call, User, tamed, whole
from .models import ConversationTooLong, ModelAnswer, ModelError
from .tool_runner import NOT_BEGUN, results
from .tools import Tool, ask_user, files, plans, shell
from .tools import delegate as handing
from .transcript import Transcript


def work(context: Context, said: Transcript, prompt: str = "") -> TurnEnded:
    """Ask, act and ask again until the agent stops. Whatever happens, the conversation stays complete."""
    context.desk._seat.known_folder = context.folder
    try:
        end = _until_end(context, said, prompt)
    except Interrupted as error:
        context.subagents.settle()
        said.close_calls(NOT_BEGUN)
        said.add(Attachment("interrupted", say("agent.interrupted")))
        end = TurnEnded(context.agent, "stopped", str(error))
    except (ModelError, StoreError) as error:
        said.close_calls(NOT_BEGUN)
        end = TurnEnded(context.agent, "failed", str(error))
    with suppress(StoreError):  # a quiet context of the agent's own never outlives its turn
        end_quiet(context.desk)
        _note_stop(context.desk, end)
    context.tell(end)
    return end


def _note_stop(desk: Desk, end: TurnEnded) -> None:
    """Write down that the agent stopped where no rule decided it, so that nobody takes it for being at work."""
    reasons = {"stopped": "the user stopped it", "failed": end.text, "limit": end.text}
    plan = desk.plan
    if plan.id and end.why in reasons:
        log_event(desk, "stop", reason=inline(reasons[end.why]), open=len(plan.open_items))


def _until_end(context: Context, said: Transcript, prompt: str) -> TurnEnded:
    if prompt:
        _hear(context, said, prompt)
    for _ in range(context.bounds.turns):
        context.stop.check()
        held = held_back(context.desk)  # asked first: the store may be what failed
        if held:
            return TurnEnded(context.agent, "paused", held)
        paused = context.desk.plan.paused
        if paused:
            return TurnEnded(context.agent, "paused", paused.reason)
        _attach(context, said)
        turn = _ask(context, said)
        if turn.calls:
            for result in results(context, tools(context), turn.calls):
                said.add(result)
        elif end := _end_turn(context, said, turn):
            return end
    return TurnEnded(context.agent, "limit", f"{context.bounds.turns} turns without a word of the user are enough.")


def _hear(context: Context, said: Transcript, prompt: str) -> None:
    """The user's words, and with them what they have changed since."""
    compact.attach(context, said, prompted(context.desk, prompt))
    said.add(User(whole(prompt)))


def _attach(context: Context, said: Transcript) -> None:
    """What the model should hear before it is asked: reports of its sub-agents, updates, reminders."""
    for report in context.subagents.reports():
        text = say("agent.report", agent=report.agent, text=report.text)
        _tell_model(context, said, "report", text, (f"{report.agent} is done: {report.text}",))
    if compact.prepare_request(context, said):
        context.tell(Planned(context.agent, context.desk.plan))


def _ask(context: Context, said: Transcript) -> ModelAnswer:
    """The next turn of the model. A conversation that is too long is compacted first."""
    system = prompt_of(context)
    compact.compact_if_long(context, said, system)
    try:
        return _ask_model(context, said, system)
    except ConversationTooLong:
        if said.unsummed == compact.tokens(said) or not compact.compact(context, said, system):
            raise
        return _ask_model(context, said, system)


def _ask_model(context: Context, said: Transcript, system: str) -> ModelAnswer:
    pieces: list[str] = []

    def on_text(piece: str) -> None:
        context.stop.check()
        if piece:
            pieces.append(piece)
            context.tell(Said(context.agent, piece))

    try:
        offers = [tool.offer for tool in tools(context)]
        turn = context.model.request(system, said.messages, offers, on_text, context.on_wait)
    except (Interrupted, ModelError):
        if pieces:
            said.add(Assistant(whole("".join(pieces)), cut=True))
        raise
    turn = turn._replace(calls=_told_apart(turn.calls))
    said.add(Assistant(whole(turn.text), turn.calls, turn.usage, kept=turn.kept))
    context.tell(Spent(context.agent, turn.usage))
    return turn


def _end_turn(context: Context, said: Transcript, turn: ModelAnswer) -> TurnEnded | None:
    """Why the agent stops; nothing if it was nudged, or if a sub-agent has something to report."""
    if context.subagents.busy:
        context.subagents.await_one(context)
        return None
    if not context.depth and context.desk.plan.open_items and context.is_spoken_to():
        return TurnEnded(context.agent, "waiting", "you have said more")
    open_items = context.desk.plan.open_items
    if context.depth:  # a sub-agent is not nudged
        end: Nudge | Stop = Stop(f"{counted(len(open_items), 'item')} of its list left open")
    else:
        end = turn_ended(context.desk, TurnEnd(said=turn.text, agent=context.agent))
    if isinstance(end, Stop):
        return TurnEnded(context.agent, "waiting" if open_items else "done", end.reason)
    context.tell(Nudged(context.agent, load_state(context.desk).nudges, end.text))
    said.add(Attachment("nudge", end.text, len(context.desk.plan.items)))
    return None


def tools(context: Context) -> list[Tool]:
    """What the model can do now."""
    quiet = context.desk.plan.mode == "quiet"
    if quiet or is_off(context.desk):
        own = []
    else:
        own = plans.tools(context, continuing=is_continuing(context.desk))
    return [*own, *shell.tools(), *files.tools(), *ask_user.tools(), *([] if quiet else handing.tools(context))]


def prompt_of(context: Context) -> str:
    """The system prompt: the same from turn to turn, so that it is paid for once."""
    own = say("agent.system", folder=context.folder)
    words = context.desk.system_prompt()
    if words:
        return f"{own}\n\n{words}"
    return own


def _tell_model(context: Context, said: Transcript, kind: str, text: str, told: tuple[str, ...]) -> None:
    said.add(Attachment(kind, text, len(context.desk.plan.items)))
    context.tell(Attached(context.agent, kind, text, told))


def _told_apart(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """The calls with an id each of their own and arguments that can be kept, whatever the model has made up."""
    calls = tuple(Call(whole(str(call.id)), whole(str(call.tool)), tamed(call.args)) for call in calls)
    if len({call.id for call in calls}) == len(calls) and all(call.id for call in calls):
        return calls
    return tuple(call._replace(id=f"{call.id}~{number}") for number, call in enumerate(calls))

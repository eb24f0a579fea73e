"""The loop: ask the model, run its calls, attach what it should hear, nudge it or let it stop.

Read from the top: `work` is one word of the user until the agent stops. The conversation is in the transcript before
each step goes on, so whatever ends the process loses nothing.
"""

from __future__ import annotations

from contextlib import suppress

from ..core.errors import StoreError
from ..core.text import counted, inline
from ..desk import Desk
from ..desk.guidance import Nudge, Stop, end_quiet, is_continuing, prompted, turn_ended
from ..desk.holding import held_back
from ..dialects import offered
from ..policy.continuation import TurnEnd
from ..prompts import say
from . import compact
from .context import Context
from .events import Attached, Interrupted, Nudged, Planned, Rested, Said, Spent
from .messages import Assistant, Attachment, Call, User, tamed, whole
from .models import ModelAnswer, ModelError, TooLong
from .tool_runner import NOT_BEGUN, results
from .tools import Tool, ask_user, files, plans, shell
from .tools import delegate as handing
from .transcript import Transcript


def work(site: Context, said: Transcript, prompt: str = "") -> Rested:
    """Ask, act and ask again until the agent stops. Whatever happens, the conversation stays complete."""
    try:
        rested = _until_rest(site, said, prompt)
    except Interrupted as error:
        site.crew.settle()
        said.close_calls(NOT_BEGUN)
        said.add(Attachment("interrupted", say("agent.interrupted")))
        rested = Rested(site.agent, "stopped", str(error))
    except (ModelError, StoreError) as error:
        said.close_calls(NOT_BEGUN)
        rested = Rested(site.agent, "failed", str(error))
    with suppress(StoreError):  # a quiet context of the agent's own never outlives its turn
        end_quiet(site.desk)
        _note_stop(site.desk, rested)
    site.tell(rested)
    return rested


def _note_stop(desk: Desk, rested: Rested) -> None:
    """Write down that the agent stopped where no rule decided it, so that nobody takes it for being at work."""
    reasons = {"stopped": "the user stopped it", "failed": rested.text, "limit": rested.text}
    plan = desk.plan
    if plan.id and rested.why in reasons:
        desk.note("stop", reason=inline(reasons[rested.why]), open=len(plan.open_items))


def _until_rest(site: Context, said: Transcript, prompt: str) -> Rested:
    if prompt:
        _hear(site, said, prompt)
    for _ in range(site.bounds.turns):
        site.stop.check()
        held = held_back(site.desk)  # asked first: the store may be what failed
        if held:
            return Rested(site.agent, "paused", held)
        paused = site.desk.plan.paused
        if paused:
            return Rested(site.agent, "paused", paused.reason)
        _attach(site, said)
        turn = _ask(site, said)
        if turn.calls:
            for result in results(site, tools(site), turn.calls):
                said.add(result)
        elif rested := _rested(site, said, turn):
            return rested
    return Rested(site.agent, "limit", f"{site.bounds.turns} turns without a word of the user are enough.")


def _hear(site: Context, said: Transcript, prompt: str) -> None:
    """The user's words, and with them what they have changed since."""
    compact.attach(site, said, prompted(site.desk, prompt))
    said.add(User(whole(prompt)))


def _attach(site: Context, said: Transcript) -> None:
    """What the model should hear before it is asked: reports of its sub-agents, updates, reminders."""
    for report in site.crew.reports():
        text = say("agent.report", agent=report.agent, text=report.text)
        _tell_model(site, said, "report", text, (f"{report.agent} is done: {report.text}",))
    if compact.prepare_request(site, said):
        site.tell(Planned(site.agent, site.desk.plan))


def _ask(site: Context, said: Transcript) -> ModelAnswer:
    """The next turn of the model. A conversation that is too long is compacted first."""
    system = prompt_of(site)
    compact.compact_if_long(site, said, system)
    try:
        return _asked(site, said, system)
    except TooLong:
        if said.unsummed == compact.tokens(said) or not compact.compact(site, said, system):
            raise
        return _asked(site, said, system)


def _asked(site: Context, said: Transcript, system: str) -> ModelAnswer:
    pieces: list[str] = []

    def on_text(piece: str) -> None:
        site.stop.check()
        if piece:
            pieces.append(piece)
            site.tell(Said(site.agent, piece))

    try:
        offers = [tool.offer for tool in tools(site)]
        turn = site.model.request(system, said.messages, offers, on_text, site.on_wait)
    except (Interrupted, ModelError):
        if pieces:
            said.add(Assistant(whole("".join(pieces)), cut=True))
        raise
    turn = turn._replace(calls=_told_apart(turn.calls))
    said.add(Assistant(whole(turn.text), turn.calls, turn.usage, kept=turn.kept))
    site.tell(Spent(site.agent, turn.usage))
    return turn


def _rested(site: Context, said: Transcript, turn: ModelAnswer) -> Rested | None:
    """Why the agent stops; nothing if it was nudged, or if a sub-agent has something to report."""
    if site.crew.busy:
        site.crew.await_one(site)
        return None
    if not site.depth and site.desk.plan.open_items and site.is_spoken_to():
        return Rested(site.agent, "waiting", "you have said more")
    open_items = site.desk.plan.open_items
    if site.depth:  # a sub-agent is not nudged
        end: Nudge | Stop = Stop(f"{counted(len(open_items), 'item')} of its list left open")
    else:
        end = turn_ended(site.desk, TurnEnd(said=turn.text, agent=site.agent))
    if isinstance(end, Stop):
        return Rested(site.agent, "waiting" if open_items else "done", end.reason)
    site.tell(Nudged(site.agent, site.desk.state.nudges, end.text))
    said.add(Attachment("nudge", end.text, len(site.desk.plan.items)))
    return None


def tools(site: Context) -> list[Tool]:
    """What the model can do now."""
    quiet = site.desk.plan.mode == "quiet"
    own = [] if quiet or site.desk.is_off else plans.tools(site, continuing=is_continuing(site.desk))
    return [*own, *shell.tools(), *files.tools(), *ask_user.tools(), *([] if quiet else handing.tools(site))]


def prompt_of(site: Context) -> str:
    """The system prompt: the same from turn to turn, so that it is paid for once."""
    own = say("agent.system", folder=site.folder)
    desk: Desk = site.desk
    found = offered(desk.dialect, continuing=False, agent=desk.agent)
    if not found or desk.is_off or not desk.dialect.system or desk.plan.mode == "quiet":
        return own
    return f"{own}\n\n{say(desk.dialect.system, tool=found[0].name, shell='shell')}"


def _tell_model(site: Context, said: Transcript, kind: str, text: str, told: tuple[str, ...]) -> None:
    said.add(Attachment(kind, text, len(site.desk.plan.items)))
    site.tell(Attached(site.agent, kind, text, told))


def _told_apart(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """The calls with an id each of their own and arguments that can be kept, whatever the model has made up."""
    calls = tuple(Call(whole(str(call.id)), whole(str(call.tool)), tamed(call.args)) for call in calls)
    if len({call.id for call in calls}) == len(calls) and all(call.id for call in calls):
        return calls
    return tuple(call._replace(id=f"{call.id}~{number}") for number, call in enumerate(calls))

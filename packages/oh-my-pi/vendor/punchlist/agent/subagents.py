"""Sub-agents: each in a thread, with a name, a plan and a conversation of its own, out of reach of its parent's."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import count
from threading import Lock
from typing import NamedTuple

from ..core.errors import Refused
from ..core.model import MAIN, USER
from ..core.text import block, cut
from ..prompts import say
from .context import Context
from .events import Event, Planned, SubagentState
from .messages import Assistant
from .tools import Answer
from .transcript import Transcript

_BEAT = 0.1  # seconds between looks at whether the user wants to stop
_LONG = 20_000  # characters of a report


class Report(NamedTuple):
    """What a sub-agent that worked in the background came to."""

    agent: str
    text: str


class Subagents:
    """The sub-agents that one agent has started."""

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="punchlist-worker")
        self._away: dict[Future[Answer], str] = {}  # those in the background
        self._taken: set[str] = set()
        self._lock = Lock()

    @property
    def busy(self) -> bool:
        """Whether somebody works in the background whose report has not been fetched."""
        return bool(self._away)

    def start(self, context: Context, name: str, prompt: str, *, background: bool) -> Answer:
        """Let a sub-agent work; its report, or in the background that it has begun."""
        if context.depth >= context.bounds.depth:
            raise Refused(f"sub-agents go {context.bounds.depth} deep and no deeper; do it yourself.")
        with self._lock:
            hand = new_subagent(context, name, self._taken)
            self._taken.add(hand.agent)
        if not background:
            return run_subagent(hand, name, prompt, background=False)
        self._away[self._pool.submit(run_subagent, hand, name, prompt, background=True)] = hand.agent
        return Answer(f"{hand.agent} has begun; its report comes when it is done.")

    def reports(self) -> list[Report]:
        """What has come in since the last look."""
        done = [future for future in self._away if future.done()]
        return [Report(self._away.pop(future), future.result().text) for future in done]

    def await_one(self, context: Context) -> None:
        """Wait until somebody in the background is done. Raises Interrupted."""
        while self._away and not wait(self._away, _BEAT, return_when=FIRST_COMPLETED).done:
            context.stop.check()

    def settle(self) -> None:
        """Wait for everybody in the background, after they were told to stop."""
        wait(self._away)

    def shut_down(self) -> None:
        """Begin nothing more. Whoever works sees by himself that he should stop."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def new_subagent(context: Context, name: str, taken: set[str]) -> Context:
    """The context of a new sub-agent: a free name, a desk of its own, one level deeper."""
    wanted = name if not context.depth else f"{context.agent}/{name}"
    desk = context.desk.for_session(context.desk.session, wanted)
    number = count(2)
    while desk.agent in (MAIN, USER, *taken) or desk.plan.id or os.path.exists(_path(context, desk.agent)):
        desk = context.desk.for_session(context.desk.session, f"{wanted}-{next(number)}")
    return context._replace(
        desk=desk,
        lead=context.lead or context.desk,
        agent=desk.agent,
        depth=context.depth + 1,
        model=context.model.worker(name),
        subagents=Subagents(context.bounds.workers),
        plan_file="",
    )


def run_subagent(context: Context, name: str, prompt: str, *, background: bool) -> Answer:
    """A sub-agent's whole life; what it said last is its report."""
    from .loop import work
    from .tool_runner import run_guarded

    def tell(event: Event) -> None:
        context.tell(event)
        if isinstance(event, Planned):
            context.tell(SubagentState(context.agent, "Running", event.plan, background))

    def life() -> Answer:
        talk = Transcript(_path(context, context.agent), {"id": context.desk.session, "agent": context.agent})
        try:
            end = work(context._replace(tell=tell), talk, say("agent.worker", agent=name, task=prompt))
        finally:
            context.subagents.shut_down()
            talk.close()
        said = next((one.text for one in reversed(talk.messages) if isinstance(one, Assistant) and one.text), "")
        why = "" if end.why == "waiting" else f"{end.why}: "
        ended = "" if end.why == "done" else f"\n({why}{end.text})"
        return Answer(cut(block(said + ended), _LONG) or "(it said nothing)", end.why in ("failed", "stopped"))

    context.tell(SubagentState(context.agent, "Running", context.desk.plan, background))
    answer = run_guarded(life)
    if context.stop.asked:
        status = "Stopped"
    elif answer.is_error:
        status = "Failed"
    else:
        status = "Completed"
    context.tell(SubagentState(context.agent, status, context.desk.plan, background))
    return answer


def _path(context: Context, agent: str) -> str:
    name = "".join(char if char.isalnum() or char in "-_" else "-" for char in agent)
    return os.path.join(context.state, "sessions", f"{context.desk.session}.{name}.jsonl")

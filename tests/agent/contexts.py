"""Agents to test: a scripted model, a real directory, real tools, a real store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import punchlist
from punchlist.agent.context import Allowed, Bounds, Context
from punchlist.agent.events import Event, Interrupt, Question, TurnEnded
from punchlist.agent.loop import work
from punchlist.agent.messages import Attachment, Message, Result
from punchlist.agent.models import Model
from punchlist.agent.scripted import ScriptPlayer
from punchlist.agent.subagents import Subagents
from punchlist.agent.transcript import Transcript

USUAL = Bounds()


class Agent(NamedTuple):
    """An agent, what it said and heard, and what it told."""

    context: Context
    said: Transcript
    events: list[Event]
    asked: list[Question]

    def work(self, prompt: str = "go") -> TurnEnded:
        return work(self.context, self.said, prompt)

    def told(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def messages(self) -> list[Message]:
        return self.said.messages

    @property
    def results(self) -> list[Result]:
        return [one for one in self.messages if isinstance(one, Result)]

    def attached(self, kind: str) -> list[str]:
        return [one.text for one in self.messages if isinstance(one, Attachment) and one.kind == kind]

    def close(self) -> None:
        self.context.stop.ask()
        self.context.subagents.shut_down()
        self.said.close()
        self.context.desk.close()


def agent(
    folder: Path,
    script: Any,
    *,
    dialect: str = "native",
    bounds: Bounds = USUAL,
    answers: Callable[[Question], str] = lambda question: "",
    model: Model | None = None,
    store: str = "memory:",
    hear: Callable[[Context, Event], None] = lambda context, event: None,
    confirm_shell: str = "never",
) -> Agent:
    """An agent in a directory, with a script for its model: a list of turns, or a whole one."""
    events: list[Event] = []
    asked: list[Question] = []

    def ask(question: Question) -> str:
        asked.append(question)
        return answers(question)

    def tell(event: Event) -> None:
        events.append(event)
        hear(context, event)

    state = folder / "state"
    work_in = folder / "project"
    work_in.mkdir(exist_ok=True)
    context = Context(
        folder=str(work_in.resolve()),
        state=str(state),
        desk=punchlist.open(store, session="s1", dialect=dialect),
        model=model or ScriptPlayer({"turns": script} if isinstance(script, list) else script),
        tell=tell,
        ask=ask,
        stop=Interrupt(),
        allowed=Allowed(),
        subagents=Subagents(bounds.workers),
        bounds=bounds,
        confirm_shell=confirm_shell,
    )
    said = Transcript(str(state / "sessions" / "s1.jsonl"), {"id": "s1", "agent": "main"})
    return Agent(context, said, events, asked)


def call(tool: str, **args: Any) -> dict[str, Any]:
    """A call as a script has it."""
    return {"tool": tool, "args": args}


def turn(*calls: dict[str, Any], text: str = "", **more: Any) -> dict[str, Any]:
    return {"text": text, "calls": list(calls), **more}

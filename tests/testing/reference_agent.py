"""The reference agent, for the conformance kit: its own loop, tools and transcript, with the model of a case."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import punchlist
from punchlist.agent import compact, sessions
from punchlist.agent.context import Allowed, Context
from punchlist.agent.events import Interrupt
from punchlist.agent.loop import prompt_of, work
from punchlist.agent.messages import Assistant, Call, Message, to_json
from punchlist.agent.models import ModelAnswer, Offer, ignore
from punchlist.agent.subagents import Subagents
from punchlist.agent.transcript import Transcript
from punchlist.testing.conformance import Case, CaseModel

_UNSENT = ("details", "plan", "usage", "kept")  # what a message has beside what a model is sent


class BridgedModel:
    """The model of a case, as the agent asks one."""

    def __init__(self, model: CaseModel) -> None:
        self._model = model

    def request(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Offer],
        on_text: Callable[[str], None],
        on_wait: Callable[[str], None] = ignore,
    ) -> ModelAnswer:
        sent = [{key: value for key, value in to_json(one).items() if key not in _UNSENT} for one in messages]
        text, calls = self._model.request(sent, tools)
        on_text(text)
        return ModelAnswer(text, tuple([Call(one.id, one.name, one.args) for one in calls]))

    def worker(self, agent: str) -> BridgedModel:
        return self

    def close(self) -> None: ...


class ReferenceAgent:
    """A session of the reference agent; a second one with the same case continues it."""

    dialect = "native"

    def __init__(self, case: Case) -> None:
        project = os.path.join(case.folder, "project")
        os.makedirs(project, exist_ok=True)
        self._context = Context(
            folder=os.path.realpath(project),
            state=case.folder,
            desk=punchlist.open(case.store, session=case.session, dialect=self.dialect),
            model=BridgedModel(case.model),
            tell=lambda event: None,
            ask=lambda question: "",
            stop=Interrupt(),
            allowed=Allowed(),
            subagents=Subagents(1),
            confirm_shell="never",
        )
        self._said = self._transcript(case)
        sessions.welcome(self._context, self._said)

    def _transcript(self, case: Case) -> Transcript:
        if os.path.exists(sessions.path_of(case.folder, case.session)):
            return sessions.reopen(case.folder, case.session)
        return sessions.begin(case.folder, "", case.session)

    def __call__(self, prompt: str) -> str:
        end = work(self._context, self._said, prompt)
        if end.why == "failed":
            return end.text
        said: list[Any] = [one.text for one in self._said.messages if isinstance(one, Assistant)]
        return str(said[-1])

    def compact(self) -> None:
        compact.compact(self._context, self._said, prompt_of(self._context))

    def close(self) -> None:
        self._context.stop.ask()
        self._context.subagents.shut_down()
        self._said.close()
        self._context.desk.close()


class ReferenceAgentWithTodoWrite(ReferenceAgent):
    dialect = "claude-code"

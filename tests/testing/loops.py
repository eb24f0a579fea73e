"""Loops to check: the one of docs/python.md as an agent, one with a shell tool, and broken ones, wrong in one thing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Event, Lock
from typing import Any, ClassVar

import punchlist
from punchlist import Desk, StoreError
from punchlist.testing import conformance
from punchlist.testing.conformance import Case
from punchlist.testing.scripted_model import ScriptedCall

SHELL = {
    "name": "shell",
    "description": "Run a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
Messages = list[dict[str, Any]]


class Loop:
    """The loop of docs/python.md. What a broken loop does differently is a method of its own."""

    dialect = "native"

    def __init__(self, case: Case) -> None:
        self.case = case
        self.desk = self.open()

    def open(self) -> Desk:
        return punchlist.open(self.case.store, session=self.case.session, dialect=self.dialect)

    def tools(self) -> Messages:
        return self.desk.tools("anthropic")

    def prompted(self, prompt: str) -> list[str]:
        return self.desk.prompted(prompt)

    def before(self, messages: Messages) -> Messages:
        return self.desk.before_request(messages)

    def ask(self, messages: Messages) -> Any:
        return self.case.model.request(messages, self.tools())

    def call(self, name: str, args: Any) -> str:
        return self.desk.call(name, args).text

    def answers(self, calls: Sequence[ScriptedCall]) -> list[str]:
        return [self.call(one.name, one.args) for one in calls]

    def ended(self, said: str) -> str:
        return self.desk.turn_ended(said=said).text

    def __call__(self, prompt: str) -> str:
        said = ""
        messages: Messages = [{"role": "user", "content": "\n".join([prompt, *self.prompted(prompt)])}]
        while messages[-1]["role"] == "user":
            messages += self.before(messages)
            said, calls = self.ask(messages)
            used = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.args} for one in calls]
            messages.append({"role": "assistant", "content": [{"type": "text", "text": said}, *used]})
            answer = "\n".join(self.answers(calls)) or self.ended(said)
            messages += [{"role": "user", "content": answer}] if answer else []
        return said

    def close(self) -> None:
        self.desk.close()


class TodoWriteLoop(Loop):
    dialect = "claude-code"


class ShellLoop(Loop):
    """With a tool of its own, whose calls are reported."""

    def tools(self) -> Messages:
        return [*self.desk.tools("anthropic"), SHELL]

    def call(self, name: str, args: Any) -> str:
        if name != "shell":
            return super().call(name, args)
        result = self.case.tool(args["command"])
        self.report(args, result)
        return result

    def report(self, args: Any, result: str) -> None:
        self.desk.tool_used("shell", args, result, exit=0)


class CompactsLater(Loop):
    """It keeps its conversation between prompts, and lets the model write a summary of it with the next one."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self._old: Messages = []
        self._new: Messages = []
        self._is_long = False

    def compact(self) -> None:
        self._is_long = True

    def prompted(self, prompt: str) -> list[str]:
        if self._is_long:
            summary = self.case.model.request([*self._old, {"role": "user", "content": "Summarize."}], []).text
            self._old, self._is_long = [{"role": "user", "content": summary}], False
        return super().prompted(prompt)

    def before(self, messages: Messages) -> Messages:
        told = self.desk.before_request([*self._old, *messages])
        self._new = [*messages, *told]
        return told

    def ask(self, messages: Messages) -> Any:
        answer = super().ask([*self._old, *messages])
        self._new = [*messages, {"role": "assistant", "content": answer.text}]
        return answer

    def __call__(self, prompt: str) -> str:
        try:
            return super().__call__(prompt)
        finally:
            self._old = [*self._old, *self._new]


# --- broken ones, with what they fail --------------------------------------------------------------------------------


class ForgetsBeforeRequest(ShellLoop):
    fails = ("edit mid-run", "compaction", "restart", "model error")

    def before(self, messages: Messages) -> Messages:
        return []


class ForgetsTurnEnded(Loop):
    fails = ("early stop",)

    def ended(self, said: str) -> str:
        return ""


class NudgesWithoutEnd(Loop):
    fails = ("early stop", "question", "pause")

    def ended(self, said: str) -> str:
        active = self.desk.load().active
        return f"Go on with {active.text}." if active else ""


class NudgesWithoutSayingWhat(Loop):
    fails = ("early stop",)

    def ended(self, said: str) -> str:
        return "Go on." if self.desk.turn_ended(said=said).text else ""


class ForgetsPrompted(Loop):
    """It does not tell the desk that the user said to wait."""

    fails = ("pause",)

    def prompted(self, prompt: str) -> list[str]:
        return []


class RebuildsMessages(Loop):
    """It puts the current plan before the conversation."""

    fails = ("stable prefix",)

    def ask(self, messages: Messages) -> Any:
        done = self.desk.load().progress.completed
        return super().ask([{"role": "user", "content": f"{done} items are done."}, *messages])


class ChangesItsTools(Loop):
    fails = ("stable prefix",)

    def tools(self) -> Messages:
        (tool,) = super().tools()
        done = self.desk.load().progress.completed
        return [{**tool, "description": f"{tool['description']} Done so far: {done}."}]


class RepeatsTheList(Loop):
    """It tells the complete plan with every request, without its notes."""

    fails = ("edit mid-run", "model error")

    def before(self, messages: Messages) -> Messages:
        texts = [item.text for item in self.desk.load().items]
        return [{"role": "user", "content": f"The plan: {'; '.join(texts)}"}] if texts else []


class LosesFailedRuns(CompactsLater):
    """It keeps the conversation of a run only if that ends well, and what it was told is gone with it."""

    fails = ("model error",)

    def __call__(self, prompt: str) -> str:
        before = self._old
        try:
            return super().__call__(prompt)
        except ConnectionError:
            self._old = before
            raise


class HasNoTool(Loop):
    fails = conformance.NAMES

    def tools(self) -> Messages:
        return []


class KeepsItInMemory(Loop):
    """It has the plan in its own process only."""

    fails = (
        *("edit mid-run", "resend that drops items", "pause", "compaction", "restart", "two writers", "two sessions"),
        *("kill", "bad arguments", "parallel calls", "model error", "store gone"),
    )

    def open(self) -> Desk:
        return punchlist.open("memory:", session=self.case.session)


class OverwritesThePlan(TodoWriteLoop):
    """It saves each list that the model sends as it is."""

    fails = ("edit mid-run", "resend that drops items", "two writers", "model error")

    def call(self, name: str, args: Any) -> str:
        if self.desk.call(name, args).is_error:
            return "no"
        self.desk.import_plan(args["todos"], "claude-code", by="main")
        return "saved"


class BreaksOnBadArguments(Loop):
    fails = ("resend that drops items", "bad arguments")

    def call(self, name: str, args: Any) -> str:
        reply = self.desk.call(name, args)
        if reply.is_error:
            raise ValueError(reply.text)
        return reply.text


class StopsOnBadArguments(Loop):
    fails = ("bad arguments",)

    def answers(self, calls: Sequence[ScriptedCall]) -> list[str]:
        replies = [self.desk.call(one.name, one.args) for one in calls]
        return [] if any(one.is_error for one in replies) else [one.text for one in replies]

    def ended(self, said: str) -> str:
        return self.desk.turn_ended(said=said).text if said else ""


class CarriesOutTheFirstCall(Loop):
    fails = ("parallel calls",)

    def answers(self, calls: Sequence[ScriptedCall]) -> list[str]:
        return super().answers(calls[:1])


class SharesItsDesk(Loop):
    """It has one desk for everybody on a store."""

    fails = ("two sessions",)
    desks: ClassVar[dict[str, Desk]] = {}
    lock: ClassVar[Lock] = Lock()

    def open(self) -> Desk:
        with self.lock:
            desk = self.desks.get(self.case.store)
            if desk is None:
                desk = self.desks[self.case.store] = super().open()
            return desk

    def close(self) -> None:
        self.desks.pop(self.case.store, self.desk).close()


class SavesLater(Loop):
    """It answers that a call is saved, and saves it with the next one."""

    fails = (
        *("edit mid-run", "resend that drops items", "compaction", "restart", "two writers", "two sessions", "kill"),
        *("model error", "store gone"),
    )

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self._waiting: list[tuple[str, Any]] = []

    def call(self, name: str, args: Any) -> str:
        self._save()
        self._waiting.append((name, args))
        return "saved"

    def ended(self, said: str) -> str:
        self._save()
        return super().ended(said)

    def _save(self) -> None:
        for name, args in self._waiting:
            self.desk.call(name, args)
        self._waiting = []


class DoesNotReport(ShellLoop):
    fails = ("observations",)

    def report(self, args: Any, result: str) -> None:
        pass


class HidesThatTheStoreIsGone(Loop):
    fails = ("store gone",)

    def call(self, name: str, args: Any) -> str:
        try:
            return super().call(name, args)
        except StoreError:
            raise IndexError("list index out of range") from None


class LeavesWithTheStore(Loop):
    fails = ("store gone",)

    def call(self, name: str, args: Any) -> str:
        try:
            return super().call(name, args)
        except StoreError:
            raise SystemExit(3) from None


class CompactsNothing(CompactsLater):
    """It keeps its conversation, whatever it is told."""

    fails = ("compaction",)

    def compact(self) -> None:
        pass


class HangsInAFork(Loop):
    fails = ("kill",)
    process = os.getpid()

    def call(self, name: str, args: Any) -> str:
        if os.getpid() != self.process:
            Event().wait()
        return super().call(name, args)


class SwallowsEverything(Loop):
    """It asks again whenever something fails."""

    fails = ("early stop", "pause")

    def ended(self, said: str) -> str:
        return super().ended(said) or ("Go on." if said.endswith("here.") else "")

    def ask(self, messages: Messages) -> Any:
        while True:
            try:
                return super().ask(messages)
            except Exception:
                continue


class AsksWithoutTools(Loop):
    """It takes the tools away once there is a plan, and asks on."""

    fails = ("early stop", "question", "pause", "stable prefix")

    def ended(self, said: str) -> str:
        while True:
            self.case.model.request([said], [])


BROKEN = (
    *(ForgetsBeforeRequest, ForgetsTurnEnded, NudgesWithoutEnd, NudgesWithoutSayingWhat, ForgetsPrompted),
    *(RebuildsMessages, ChangesItsTools, RepeatsTheList, HasNoTool, KeepsItInMemory, OverwritesThePlan),
    *(BreaksOnBadArguments, StopsOnBadArguments, CarriesOutTheFirstCall, SharesItsDesk, SavesLater, DoesNotReport),
    *(HidesThatTheStoreIsGone, LeavesWithTheStore, CompactsNothing, SwallowsEverything),
    LosesFailedRuns,
    AsksWithoutTools,
)

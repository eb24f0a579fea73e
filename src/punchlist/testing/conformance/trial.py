"""One agent in one scenario: its case, the model that it asks, and what can be read and changed from outside."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from ...core.errors import PunchlistError
from ...core.model import Plan
from ...core.text import cut, visible
from ...desk import Desk
from ...desk import open as open_desk
from ..plain_data import plain, words_in
from ..scripted_model import ScriptedTurn, read_turn
from .plan_tools import PlanWriter, offered, plan_tool
from .watchdog import limited

STOP = "I stop here."  # what the model says when its script is at its end
MORE = 24  # requests after the script's end, before the kit ends the run
_PATIENCE = 8  # further requests that are refused with an ordinary error
_SEEN = 1500  # characters of a request in the evidence
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV")  # of an environment
_KEPT_KINDS = ("LC_", "LD_", "DYLD_", "PYTHON", "COVERAGE")
_PROCESS = 60.0  # seconds that another process may take

MakeAgent = Callable[["Case"], Callable[[str], Any]]


class Case(NamedTuple):
    """What `make_agent` is given: build your agent with it, and return a function `run(prompt) -> str`."""

    store: str
    """The address of the store: `punchlist.open(case.store, session=case.session)`."""
    session: str
    model: CaseModel
    """The model: `case.model.request(messages, tools)` returns its text and its calls."""
    tool: Callable[[str], str]
    """A function that you may offer to the model as the tool `shell`, with the argument `command`."""
    folder: str
    """An empty directory that is kept between two agents of the same case, for a conversation of your own."""


class Failed(Exception):
    """Something that a scenario expects is not so."""

    def __init__(self, why: str, *evidence: str) -> None:
        super().__init__(why)
        self.why, self.evidence = why, evidence


class NotRun(Exception):
    """A scenario does not apply to this agent, or not on this system."""


class TooManyRequests(PunchlistError):
    """The agent asks its model again and again."""


class Endless(BaseException):
    """The same, for a loop that does not end even then."""


class RecordedRequest(NamedTuple):
    """One request to the model."""

    messages: list[Any]
    tools: Any
    answer: ScriptedTurn

    @property
    def words(self) -> str:
        """Every text in the messages."""
        return words_in(self.messages)


Step = str | Callable[["Trial"], object]  # one turn of a script: what the model says, or what it does


class CaseModel:
    """The model of a case: it plays the script of a scenario, then says that it stops."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._lock = Lock()

    def request(self, messages: Any = (), tools: Any = ()) -> ScriptedTurn:
        """Return the next turn: `text`, and `calls`, each with `id`, `name` and `args`.

        `messages`, `tools`: what your loop would send to its provider, in any form.
        """
        with self._lock:
            return self._trial.answer(messages, tools)


class Trial:
    """An agent with a session of its own, and a script for its model."""

    def __init__(
        self, make_agent: MakeAgent, folder: Path, session: str, steps: Sequence[Step], seconds: float
    ) -> None:
        self._make_agent = make_agent
        self._seconds = seconds  # that a run may take
        self._steps = list(steps)
        self._agent: Any = None
        self._refused = 0
        self._problem: Failed | NotRun | None = None  # that a step of the script came to
        self.home = folder / "store"
        self.home.mkdir(parents=True, exist_ok=True)
        own = folder / session
        own.mkdir(exist_ok=True)
        self.requests: list[RecordedRequest] = []
        self.is_over = False  # whether the kit had to end a run
        self.said: object = ""  # what the last run returned
        self._compaction = ""
        self._summaries = 0
        self.writer: PlanWriter | None = None
        self.commands: list[str] = []
        store = f"sqlite:{self.home / 'plan.db'}"
        self.case = Case(store, session, CaseModel(self), _shell(self.commands), str(own))

    # --- the model ---------------------------------------------------------------------------------------------------

    def answer(self, messages: object, tools: object) -> ScriptedTurn:
        """Play the next step for a request of the agent."""
        said, shown = plain(messages), plain(tools)
        if not isinstance(said, list):
            said = [said]
        number = len(self.requests)
        if number + self._summaries >= len(self._steps) + MORE:
            self._refuse()
        if self._wants_summary(shown):
            self._summaries += 1
            return ScriptedTurn("Some of the work is done.")
        self.requests.append(RecordedRequest(said, shown, ScriptedTurn(STOP)))
        turn = read_turn(self._play(number, shown), number)
        self.requests[number] = RecordedRequest(said, shown, turn)
        return turn

    def _wants_summary(self, tools: object) -> bool:
        """Whether a request is part of a compaction: while that runs, or right behind it and without tools."""
        if self._compaction == "behind" and offered(tools):
            self._compaction = ""
        return bool(self._compaction)

    def _play(self, number: int, tools: object) -> object:
        if number >= len(self._steps):
            return STOP
        step = self._steps[number]
        if isinstance(step, str):
            return step
        if self.writer is None:
            tool = plan_tool(tools)
            if tool is None:
                self._problem = Failed(_missing(tools))
                return "I have no tool for a plan."
            self.writer = PlanWriter(tool, self._id_of, self.statuses())
        try:
            return step(self)
        except (Failed, NotRun) as problem:  # raised when the agent has ended: no loop may swallow it
            self._problem = problem
            return STOP

    def _refuse(self) -> None:
        """End a run that asks without end: with an error, and if that does not end it, with one nobody catches."""
        self.is_over = True
        self._refused += 1
        message = f"the model was asked {len(self.requests)} times, and said {STOP!r} again and again."
        if self._refused > _PATIENCE:
            raise Endless(message)
        raise TooManyRequests(message)

    def _id_of(self, text: str) -> int:
        for item in self.plan().items:
            if item.text == text:
                return int(item.id)
        return 99

    # --- the agent ---------------------------------------------------------------------------------------------------

    def run(self, prompt: str) -> str:
        """Give the agent a prompt and return its answer. Raises Failed if a step of the script did."""
        try:
            with limited(self._seconds):
                if self._agent is None:
                    self._agent = self._make_agent(self.case)
                if not callable(self._agent):
                    raise Failed(f"make_agent must return a function run(prompt); it returned {self._agent!r}.")
                said = _awaited(self._agent(prompt))
        except BaseException as error:
            if not self.is_over or isinstance(error, KeyboardInterrupt):
                raise
            said = ""
        if isinstance(self._problem, Failed):
            raise Failed(self._problem.why, *self.evidence())
        if self._problem:
            raise self._problem
        self.said = said
        return str(said)

    def play_next(self, *steps: Step) -> None:
        """Let the model play these steps from its next request on."""
        missing = len(self.requests) - len(self._steps)
        self._steps = [*self._steps[: len(self.requests)], *[STOP] * missing, *steps]

    def restart(self) -> None:
        """Close the agent; the next run makes a new one."""
        self.close()
        self.forget()

    def forget(self) -> None:
        """Let the next run make a new agent."""
        self._agent = None

    def compact(self) -> bool:
        """Let the agent compact its conversation. Return whether it can."""
        compact = getattr(self._agent, "compact", None)
        if compact is None:
            return False
        self._compaction = "now"
        with limited(self._seconds):
            _awaited(compact())
        self._compaction = "behind"  # some compact only before their next request
        return True

    def close(self) -> None:
        """Close the agent, if it can be closed."""
        close = getattr(self._agent, "close", None)
        if close is not None:
            _awaited(close())

    # --- the user, and the judge -------------------------------------------------------------------------------------

    @contextmanager
    def desk(self) -> Iterator[Desk]:
        """A desk of somebody else on the same plan."""
        desk = open_desk(self.case.store, session=self.case.session)
        try:
            yield desk
        finally:
            desk.close()

    def plan(self, *, calls: bool = False) -> Plan:
        """Return the plan as it is in the store."""
        with self.desk() as desk:
            return desk.load(calls=calls)

    def statuses(self) -> dict[str, str]:
        """Return the texts of the items in the store, with their statuses."""
        return {item.text: item.status for item in self.plan().items}

    def command(self, *words: str) -> None:
        """Edit the plan as the user does in another terminal: with the command line, in another process."""
        where = ["--store", self.case.store, "--session", self.case.session]
        done = subprocess.run(
            [sys.executable, "-m", "punchlist", *words, *where],
            env=environment(self.case.folder),
            cwd=self.case.folder,
            capture_output=True,
            text=True,
            timeout=_PROCESS,
            check=False,
        )
        if done.returncode:
            raise Failed(
                f"the user's edit, `punchlist {words[0]}`, failed: {done.stderr.strip() or done.stdout.strip()}"
            )

    def expect(self, is_so: object, why: str) -> None:
        """Raise Failed with evidence unless something is so."""
        if not is_so:
            raise Failed(why, *self.evidence())

    def evidence(self) -> list[str]:
        """What the model saw last, and the plan in the store."""
        lines = [f"requests to the model: {len(self.requests)}"]
        if self.requests:
            seen = visible(self.requests[-1].words.replace("\n", " | "))
            lines.append(f"the last request ended with: {seen[-_SEEN:]}")
        with suppress(PunchlistError, OSError):
            items = [f"{item.id} {item.text} ({item.status})" for item in self.plan().items]
            lines.append(f"the plan in the store: {cut('; '.join(items), _SEEN) or 'empty'}")
        return lines


def _shell(commands: list[str]) -> Callable[[str], str]:
    """A function that keeps what it is called with; with the name, the text and the types that make a tool of it."""

    def shell(command: str) -> str:
        """Run a command in a shell, and return its output."""
        commands.append(command)
        return "ok"

    return shell


def environment(folder: str) -> dict[str, str]:
    """The environment of a terminal of the user's: not that of an agent's shell, in which these tests may run.

    What the agent itself keeps about its processes is not there, so a command is the user's. `folder`: of the case.
    """
    found = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_KINDS)}
    source = str(Path(__file__).parents[3])
    found["PYTHONPATH"] = os.pathsep.join([source, *filter(None, [found.get("PYTHONPATH", "")])])
    found["XDG_STATE_HOME"] = found["XDG_CONFIG_HOME"] = os.path.join(folder, "terminal")
    return found


def _awaited(value: Any) -> Any:
    """What a function returned; an asynchronous one is run to its end."""
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _missing(tools: object) -> str:
    names = [tool.name for tool in offered(tools)]
    known = "known are `plan` and tools that are sent the complete list, like `TodoWrite`"
    if not names:
        return f"no tool was offered to the model; {known}."
    return f"no plan tool of a known dialect was offered: {cut(visible(', '.join(names)), 200)}; {known}."

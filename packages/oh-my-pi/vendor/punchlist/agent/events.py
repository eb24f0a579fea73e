"""What an agent tells whoever watches it, what it asks of them, and how it is stopped."""

from __future__ import annotations

from threading import Event as Flag
from time import monotonic
from typing import NamedTuple

from ..core.errors import PunchlistError
from ..core.model import Plan
from .messages import Call, Result, Usage


class Said(NamedTuple):
    """A piece of what the model says, as it comes."""

    agent: str
    text: str


class Called(NamedTuple):
    """A tool begins."""

    agent: str
    call: Call
    is_plan: bool = False  # a tool of the plan itself


class Answered(NamedTuple):
    """A tool has ended."""

    agent: str
    call: Call
    result: Result
    is_plan: bool = False
    display: str | None = None  # what the user should see, where that is not what the model reads; empty for nothing


class Planned(NamedTuple):
    """The plan is another than before."""

    agent: str
    plan: Plan


class Waiting(NamedTuple):
    """The model lets itself be waited for, and why; nothing once that is over."""

    agent: str
    text: str


class Spent(NamedTuple):
    """A turn of the model is over."""

    agent: str
    usage: Usage


class Attached(NamedTuple):
    """The model was told something by the agent itself."""

    agent: str
    kind: str
    text: str
    told: tuple[str, ...] = ()  # what others did to the plan, a sentence each, where it tells of that


class Nudged(NamedTuple):
    """The agent stopped early and was nudged."""

    agent: str
    number: int
    text: str


class Compacted(NamedTuple):
    """The conversation grew too long and was replaced by a summary of it."""

    agent: str
    before: int  # tokens, about
    after: int


class SubagentState(NamedTuple):
    """How a sub-agent is getting on."""

    agent: str
    status: str  # Running, Completed, Failed, Stopped
    plan: Plan
    background: bool = False


class Warned(NamedTuple):
    """Something went wrong that the work can go on without."""

    agent: str
    text: str


class TurnEnded(NamedTuple):
    """The agent waits for the user."""

    agent: str
    why: str  # done, waiting, paused, stopped, limit, failed
    text: str = ""


Event = (
    Said
    | Called
    | Answered
    | Planned
    | Waiting
    | Spent
    | Attached
    | Nudged
    | Compacted
    | SubagentState
    | Warned
    | TurnEnded
)


class Question(NamedTuple):
    """Something only the user can say. An empty answer means that nobody is there."""

    kind: str  # ask, allow, enter, approve
    text: str
    choices: tuple[str, ...] = ()
    details: str = ""  # what to show with it


class Interrupted(PunchlistError):
    """The user stopped this turn."""


class Interrupt:
    """The user's request that a turn ends. Whatever waits looks at it often."""

    def __init__(self) -> None:
        self._flag = Flag()
        self._at = 0.0

    def ask(self) -> None:
        self._at = monotonic()
        self._flag.set()

    def forget(self) -> None:
        self._flag.clear()

    @property
    def asked(self) -> bool:
        return self._flag.is_set()

    def is_recent(self, seconds: float) -> bool:
        """Whether it was last asked for within so many seconds."""
        return self.asked and monotonic() - self._at < seconds

    def check(self) -> None:
        """Raise Interrupted if the turn should end."""
        if self._flag.is_set():
            raise Interrupted("stopped by the user.")

    def wait(self, seconds: float) -> None:
        """Let time pass, unless the turn should end."""
        if self._flag.wait(max(seconds, 0)):
            raise Interrupted("stopped by the user.")

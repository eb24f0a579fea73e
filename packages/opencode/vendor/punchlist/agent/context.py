"""Where an agent works: its directory, its plan, its model, and whom it can turn to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..desk import Desk
from .events import Event, Interrupt, Question, Waiting
from .models import Model

if TYPE_CHECKING:
    from .subagents import Subagents


class Bounds(NamedTuple):
    """What keeps a hostile or confused model from going on without end."""

    turns: int = 200  # of the model, after the user's last word
    calls: int = 100  # in one turn
    depth: int = 2  # of sub-agents below the main one
    workers: int = 8  # sub-agents at once
    context: int = 100_000  # tokens; beyond them the conversation is compacted
    seconds: int = 120  # a command may take, unless the model asks for less or more
    output: int = 30_000  # characters of a tool's answer
    args: int = 1_000_000  # characters of a call's arguments


class Allowed:
    """What the user has allowed: places outside of the working directory, and commands that reach there."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.commands: set[str] = set()


class Context(NamedTuple):
    """Everything an agent has to work with."""

    folder: str  # the working directory; real, without symbolic links
    state: str  # where transcripts and plan files are
    desk: Desk
    model: Model
    tell: Callable[[Event], None]
    ask: Callable[[Question], str]
    stop: Interrupt
    allowed: Allowed
    subagents: Subagents  # the sub-agents it has started
    bounds: Bounds = Bounds()
    agent: str = "main"
    depth: int = 0
    lead: Desk | None = None  # of a sub-agent: the plan of the main agent, which tells whether anybody may act
    plan_file: str = ""  # the one file that may be written in plan mode, while it is on
    confirm_shell: str = "outside"  # before which shell commands the user is asked: outside, always, never
    interactive: bool | None = None  # whether a panel shows the list, so that an answer need not; None: as it is set
    is_spoken_to: Callable[[], bool] = lambda: False  # whether the user has said more, which it has yet to hear

    def on_wait(self, why: str) -> None:
        """Tell that the model lets itself be waited for."""
        self.tell(Waiting(self.agent, why))

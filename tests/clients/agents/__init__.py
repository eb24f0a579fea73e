"""The agents, one file each, that says how the program is installed, run and brought into each situation.

To add one: its file, a line in `PATHS`. The scenarios then play with it, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from tests.clients.script import Call, Step

PATHS = {
    "claude-code": "tests.clients.agents.claude_code",
    "codex": "tests.clients.agents.codex",
    "gemini": "tests.clients.agents.gemini",
    "qwen-code": "tests.clients.agents.qwen_code",
}
OTHERS = {  # which not every scenario can be played with
    "opencode": "tests.clients.agents.opencode",
    "oh-my-pi": "tests.clients.agents.oh_my_pi",
    "goose": "tests.clients.agents.goose",
}
_ALL = {**PATHS, **OTHERS}
VIA_PACKAGE = os.environ.get("PUNCHLIST_TEST_VIA") == "package"  # as `make packaged-clients` says
if VIA_PACKAGE:  # those that have one
    PATHS = {name: path for name, path in PATHS.items() if name in ("claude-code", "codex", "gemini")}
    OTHERS = {}


class World(NamedTuple):
    """Where an agent runs."""

    program: Path
    home: Path
    project: Path
    model: str  # the address of the model


class Setup(NamedTuple):
    """How one run differs from the usual."""

    model: str = ""  # which model the agent thinks it talks to
    environ: Mapping[str, str] = {}
    args: tuple[str, ...] = ()
    settings: Mapping[str, object] = {}  # in the agent's own form


class Agent(Protocol):
    """What an agent's file declares."""

    FOLDER: str  # its npm prefix in the folder of agents
    PACKAGES: tuple[str, ...]  # to install there, pinned
    MODELS: tuple[str, ...]  # one for each way in which it shows tools to models
    TOOL: str  # the name of our tool, as the model reads it
    OWN: Setup  # its own plan tool is on
    COMPACTS: Setup  # it compacts its context when the model says that a request had `FULL` tokens
    FULL: int
    ASIDE: str  # words of a request that is for a summary only, where tools do not tell; else empty
    LATE: int  # requests after a compaction in which the plan is not told again yet
    ECHOES: int  # how often the model reads the words that it is nudged with
    EXITS: tuple[int | None, int | None]  # what it says of the exit codes of `echo` and `exit 3`
    SETTINGS: Mapping[str, str]  # files in a home that a user has written, in an odd form

    def program(self, folder: Path) -> Path | None:
        """The program in its npm prefix, if it is there."""

    def trust(self, world: World) -> None:
        """The user trusts the project: what the program writes down then."""

    def environ(self, world: World, setup: Setup) -> dict[str, str]:
        """What it needs in its environment; may write files that are no settings of the user."""

    def command(self, world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
        """The command for one prompt, in a new session or in the last one."""

    def listed(self, *items: tuple[str, str]) -> Call:
        """A call of its own plan tool: texts with pending, in_progress or completed."""

    def delegated(self, prompt: str) -> list[Step]:
        """What the main agent does to have a sub-agent do something, and to wait for it."""

    def concluded(self, text: str) -> Step:
        """How a sub-agent ends."""


def load(name: str) -> Agent:
    agent: Agent = __import__(_ALL[name], fromlist=["command"])
    return agent

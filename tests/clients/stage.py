"""Where an agent plays: a home and a project of its own, a scripted model, and the user with `punchlist` beside it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from punchlist.install import installer_for
from tests.agent.commands import until
from tests.clients.agents import VIA_PACKAGE, Agent, Setup, World, load
from tests.clients.model import Model, Request
from tests.clients.script import Step, says
from tests.commands import logged_errors

SCRIPT = str(Path(sys.executable).parent / "punchlist")
ROOT = Path(__file__).parents[2]
SECONDS = 240
USUAL = Setup()


class Stage:
    """One agent, attached."""

    def __init__(self, name: str, agent: Agent, program: Path, folder: Path) -> None:
        self.name = name
        self.agent = agent
        self.model = Model(agent.ASIDE)
        self.home, self.project = folder / "home", folder / "project"
        for one in (self.home, self.project):
            one.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.programs = folder / "bin"
        self.programs.mkdir(exist_ok=True)
        (self.programs / installer_for(name).PROGRAM).symlink_to(program)
        self.world = World(program, self.home, self.project, self.model.address)
        self.warned = ""  # what the agent last wrote to standard error

    @property
    def environ(self) -> dict[str, str]:
        """A person's environment: nothing of the one that the tests run in but the path, and the agent is on that."""
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), self.model.address)
        near = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        folders = {f"XDG_{name.upper()}_HOME": str(self.home / name) for name in ("config", "data", "cache", "state")}
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        person = {"HOME": str(self.home), "PATH": path, "TERM": "dumb", "LANG": "C.UTF-8", "CI": "1"}
        return {**person, **folders, **proxies, **near}

    # --- the agent ---------------------------------------------------------------------------------------------------

    def run(self, prompt: str, *steps: Step, resume: bool = False, setup: Setup = USUAL, **lines: list[Step]) -> None:
        """Give the agent a prompt, and play the script to its end. Other lines are for who is prompted with their
        names."""
        self.model.play({**lines, "": steps})
        self.finish(self.start(prompt, resume=resume, setup=setup))
        self.require_played()

    def start(
        self, prompt: str, *, resume: bool = False, setup: Setup = USUAL, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        self.warm_up()
        return self._start(self.world, prompt, resume=resume, setup=setup, stdin=stdin)

    def warm_up(self) -> None:
        """Let an agent get to know the tools of a server, if it would otherwise begin without them. It has other plans
        then, so that it does not take one that waits for the first session."""
        knows_tools = getattr(self.agent, "knows_tools", None)
        if knows_tools is None or knows_tools(self.world):
            return
        with closing(Model(self.agent.ASIDE)) as model:
            world = self.world._replace(model=model.address)
            model.play({"": [says("I am.", first=lambda: until(lambda: knows_tools(world), "it knows our tools"))]})
            elsewhere = Setup(environ={"XDG_STATE_HOME": str(self.home.parent / "elsewhere")})
            self.finish(self._start(world, "Are you there?", setup=elsewhere))

    def _start(
        self,
        world: World,
        prompt: str,
        *,
        resume: bool = False,
        setup: Setup = USUAL,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.agent.command(world, prompt, resume, setup),
            cwd=self.project,
            env={**self.environ, **self.agent.environ(world, setup)},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(self, process: subprocess.Popen[str]) -> str:
        """What the agent printed, once it has ended well."""
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise AssertionError(f"{self.name} did not end: {out[-2000:]}\n{err[-2000:]}") from None
        self.warned = err
        said = f"{self.model.faults}\n{out[-2000:]}\n{err[-2000:]}"
        assert (process.returncode, self.model.faults) == (0, []), said
        return out

    def require_played(self) -> None:
        assert (self.model.left, self.model.faults) == (0, [])

    @property
    def requests(self) -> list[Request]:
        return self.model.requests

    def attach(self, *options: str) -> None:
        """Attach punchlist, by `punchlist install`, or by the agent's own command for packages where that is tested."""
        if not VIA_PACKAGE:
            self.punchlist("install", self.name, "--via", "settings", *options)
            return
        if options:
            pytest.skip(f"the package of {self.name} has no {options}")
        self.install_package()

    def install_package(self) -> None:
        """Attach punchlist by the agent's own command for packages. Skips, if it has none."""
        packaged = getattr(self.agent, "packaged", None)
        if packaged is None:
            pytest.skip(f"{self.name} has no package")
        copy = self.home.parent / "packages"  # some programs write into a folder that they install from
        if not copy.exists():
            shutil.copytree(ROOT / "packages", copy, ignore=shutil.ignore_patterns("__pycache__"))
        for words in packaged(self.world, str(copy)):
            self.program(*words)

    def program(self, *words: str) -> str:
        """What the user has the agent's program do, beside running an agent."""
        done = subprocess.run(
            [str(self.world.program), *words],
            cwd=self.project,
            env={**self.environ, **self.agent.environ(self.world, USUAL)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    # --- the user ----------------------------------------------------------------------------------------------------

    def punchlist(self, *words: str, code: int = 0) -> str:
        """What the user types, in the project."""
        done = subprocess.run(
            [SCRIPT, *words], cwd=self.project, env=self.environ, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def configure(self, text: str) -> None:
        """The user's own settings."""
        path = self.home / "config" / "punchlist" / "punchlist.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")

    @property
    def plan(self) -> Any:
        return json.loads(self.punchlist("show", "--json"))

    @property
    def items(self) -> list[tuple[str, str]]:
        return [(item["text"], item.get("status", "pending")) for item in self.plan.get("items", [])]

    @property
    def events(self) -> list[str]:
        """What was written down: nudges, stops, reminders."""
        path = self.home / "state" / "punchlist" / "events.jsonl"
        return [json.loads(line)["kind"] for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def errors(self) -> list[str]:
        """The errors in the event log."""
        return logged_errors(self.home / "state")

    def files(self) -> dict[str, bytes]:
        """Everything in the home and the project."""
        found = [path for folder in (self.home, self.project) for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.home.parent)): path.read_bytes() for path in found}


def built(name: str, folder: Path) -> Stage:
    """A stage for an agent, not attached yet. Skips, if the agent is not there."""
    root = os.environ.get("PUNCHLIST_TEST_CLIENTS", "")
    if not root:
        pytest.skip(f"needs {name}: PUNCHLIST_TEST_CLIENTS names no folder with agents")
    agent = load(name)
    program = agent.program(Path(root, agent.FOLDER))
    if program is None:
        pytest.skip(f"needs {name}, which is not installed")
    return Stage(name, agent, program, folder)


@contextmanager
def staged(name: str, folder: Path, *, own_strays: bool = VIA_PACKAGE) -> Iterator[Stage]:
    """An agent that knows nothing of us yet. Nothing of what it does may leave the machine. `own_strays`: but for what
    its program tries by itself with packages, which is refused."""
    stage = built(name, folder)
    try:
        yield stage
    finally:
        stage.model.close()
    own = getattr(stage.agent, "STRAYS", ()) if own_strays else ()
    strays = [one for one in stage.model.strays if one not in own]
    assert strays == [], strays


@contextmanager
def attached(name: str, folder: Path) -> Iterator[Stage]:
    """An agent with punchlist attached."""
    with staged(name, folder) as stage:
        stage.attach()
        yield stage

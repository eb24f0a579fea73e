"""An agent in its own terminal interface: keys typed, the screen read, everything waited for by what can be seen."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.clients.model import our_tool
from tests.clients.script import Step, says
from tests.clients.stage import USUAL, Stage
from tests.tui.screens import Session

TITLE = "Do not answer the request."  # words of a request of Codex for the title of a session
PATIENCE = 90.0  # seconds until a test gives up waiting
_DONE = re.compile(r"\w+ for <?\d+s")  # what stands below a turn that is over: Worked for 3s
_BEAT = 0.05  # seconds between two looks
ENTER, ESCAPE = "\r", "\x1b"


class Terminal(Session):
    """An agent on a screen of its own."""

    def __init__(
        self, stage: Stage, command: list[str], environ: dict[str, str], size: tuple[int, int] = (110, 45)
    ) -> None:
        self.stage = stage
        words = ["/bin/sh", "-c", f"cd {shlex.quote(str(stage.project))} && exec {shlex.join(command)}"]
        super().__init__(words, *size, environ)

    def awaits(self, is_so: Callable[[], object], what: str) -> None:
        """Read the screen until something is so, on the screen or elsewhere."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            self._read(time.monotonic() + _BEAT)
            assert time.monotonic() < end, f"{what} never came; {self.stage.model.faults}; the screen:\n{self.text}"

    def shows(self, *texts: str) -> None:
        self.awaits(lambda: all(text in self.text for text in texts), " and ".join(map(repr, texts)))

    def say(self, words: str) -> None:
        """Type a line, and send it once it stands on the screen. The turn before is waited for: what Codex is sent in
        the last moments of a turn becomes a part of it, and gets no answer."""
        self.awaits(lambda: not self._is_in_turn(), "the end of the turn before")
        self.type(words)
        self.shows(words)
        self.type(ENTER)

    def _is_in_turn(self) -> bool:
        """Whether a turn of Codex is under way, by what it keeps of its sessions."""
        files = (self.stage.home / ".codex/sessions").rglob("*.jsonl")
        kept = "".join([file.read_text(encoding="utf-8", errors="replace") for file in files])
        ended = kept.count('"type":"task_complete"') + kept.count('"type":"turn_aborted"')
        return kept.count('"type":"task_started"') > ended

    def warm_up(self) -> None:
        """Talk until the model is offered our tool: agents connect to servers while the user can type already."""
        for number in range(50):
            self.plays(says(f"Hello, {number}."))
            self.say(f"hello {number}")
            self.shows(f"Hello, {number}.")
            request = self.stage.requests[0]
            if our_tool(request.offers) or ("exec" in request.names and "mcp__punchlist__" in str(request.body)):
                return
        raise AssertionError(f"the tool of ours never came; the screen:\n{self.text}")

    def plays(self, *steps: Step) -> None:
        self.stage.model.play({TITLE: [says("Mending")] * 3, "": steps})

    def talks(self, prompt: str, *steps: Step) -> list[str]:
        """Say something, wait until the agent has answered with all of these steps and stopped, and return what it was
        nudged for and allowed."""
        before = len(self.decisions)
        self.plays(*steps)
        self.say(prompt)
        self.awaits(lambda: self.decisions[before:].count("stop"), f"an answer to {prompt!r}")
        assert (self.stage.model.unplayed, self.stage.model.faults) == (0, [])
        return self.decisions[before:]

    def awaits_end(self, words: str) -> None:
        """Wait until the turn that ends with these words is over on the screen, too."""
        self.awaits(lambda: _DONE.search(self.text.rpartition(words)[2]), f"the end of the turn behind {words!r}")

    @property
    def decisions(self) -> list[str]:
        return [kind for kind in self.stage.events if kind in ("nudge", "stop")]


@contextmanager
def claude_code(stage: Stage, *more: str, columns: int = 110, rows: int = 45) -> Iterator[Terminal]:
    """Claude Code, past its first questions, with more options."""
    known = json.loads((stage.home / ".claude.json").read_text(encoding="utf-8"))
    known |= {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        "projects": {str(stage.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (stage.home / ".claude.json").write_text(json.dumps(known), encoding="utf-8")
    options = ["--model", "claude-opus-5-5", "--permission-mode", "default", "--allowedTools", "Bash"]
    with _started(stage, [str(stage.world.program), *options, *more], (columns, rows)) as terminal:
        terminal.shows("❯")
        yield terminal


@contextmanager
def codex(stage: Stage) -> Iterator[Terminal]:
    """Codex in its terminal, in a project that the user trusts."""
    with (stage.home / ".codex" / "config.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[projects."{stage.project}"]\ntrust_level = "trusted"\n')
    command = stage.agent.command(stage.world, "", False, USUAL)
    words = [word for word in command if word not in ("exec", "--json", "--skip-git-repo-check", "")]
    with _started(stage, [*words, "-c", "disable_paste_burst=true"]) as terminal:
        terminal.shows("Ask Codex to do anything")
        yield terminal


@contextmanager
def opencode(stage: Stage, columns: int = 160, rows: int = 50) -> Iterator[Terminal]:
    """opencode in its terminal."""
    with _started(stage, [str(stage.world.program)], (columns, rows)) as terminal:
        terminal.shows("Ask anything")
        yield terminal


@contextmanager
def oh_my_pi(stage: Stage, columns: int = 110, rows: int = 45) -> Iterator[Terminal]:
    """oh-my-pi in its terminal, with the tools of servers among the others."""
    stage.warm_up()
    options = ["--model", "fake/m", "--auto-approve", "--no-lsp", "--no-title"]
    with _started(stage, [str(stage.world.program), *options], (columns, rows)) as terminal:
        terminal.shows("Connected to MCP server: punchlist")  # what is sent before may be lost
        yield terminal


@contextmanager
def _started(stage: Stage, command: list[str], size: tuple[int, int] = (110, 45)) -> Iterator[Terminal]:
    environ = {
        **stage.environ,
        **stage.agent.environ(stage.world, USUAL),
        "TERM": "xterm-256color",
        "ENABLE_TOOL_SEARCH": "false",
    }
    del environ["CI"]
    terminal = Terminal(stage, command, environ, size)
    try:
        yield terminal
    finally:
        if terminal.process.isalive():
            os.killpg(terminal.pid, signal.SIGKILL)
            terminal.process.wait()
        terminal.process.close()

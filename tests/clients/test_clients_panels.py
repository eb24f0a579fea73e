"""The plan in the screens of opencode and oh-my-pi: live, edited by the user without a request to the model, and nobody
else's."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from threading import Event
from typing import NamedTuple

import pytest

from tests.clients import terminal as terminals
from tests.clients.script import Step, does, plan, says, shell
from tests.clients.stage import SCRIPT, built
from tests.clients.terminal import ENTER, Terminal

HELD = 120.0  # seconds that the model waits for a test


class Screen(NamedTuple):
    """A screen with a panel of ours."""

    open: Callable[..., AbstractContextManager[Terminal]]
    command: str
    wide: tuple[int, int]


SCREENS = {
    "opencode": Screen(terminals.opencode, "/plan", (160, 50)),
    "oh-my-pi": Screen(terminals.oh_my_pi, "/punchlist", (110, 45)),
}


@pytest.fixture(params=SCREENS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """Each of them in turn, attached."""
    stage = built(request.param, tmp_path)
    with closing(stage.model):
        stage.attach()
        screen = SCREENS[request.param]
        with screen.open(stage, *screen.wide) as terminal:
            yield terminal


def enter(terminal: Terminal, words: str) -> None:
    """Type a line, and send it once it is on the screen."""
    terminal.type(words)
    terminal.shows(words)
    terminal.type(ENTER)


def command(terminal: Terminal, words: str) -> None:
    enter(terminal, f"{SCREENS[terminal.stage.name].command} {words}")


def asked(terminal: Terminal, prompt: str, *steps: Step) -> None:
    terminal.stage.model.play({"": steps})
    enter(terminal, prompt)
    terminal.awaits(lambda: is_sent(terminal, prompt), "the first request")


def is_sent(terminal: Terminal, prompt: str) -> bool:
    """Whether a prompt was sent. oh-my-pi leaves it where it was typed until hooks have answered at its start."""
    if not terminal.stage.requests and f"╰─ {prompt}" in terminal.text:
        terminal.type(ENTER)
    return bool(terminal.stage.requests)


def held() -> tuple[Event, Callable[[], object]]:
    """Something that lets the model answer, and what waits for it."""
    event = Event()
    return event, lambda: event.wait(HELD)


def watchers(terminal: Terminal) -> list[int]:
    """The processes that follow a plan for this screen."""
    found = []
    for path in Path("/proc").iterdir():
        try:
            words = (path / "cmdline").read_bytes().split(b"\0") if path.name.isdigit() else []
            state = (path / "environ").read_bytes() if b"watch" in words else b""
        except OSError:  # it has just ended
            continue
        if f"XDG_STATE_HOME={terminal.stage.home}".encode() in state:
            found.append(int(path.name))
    return found


def test_the_panel_follows_the_plan_and_an_edit_there_is_the_users_and_costs_no_request(terminal: Terminal) -> None:
    stage = terminal.stage
    go_on, wait = held()
    made = does(plan(add=["Read the parser", "Mend it", "Run the tests"]))
    asked(terminal, "Mend the parser.", made, says("And now?", first=wait))
    terminal.shows("Plan 0/3", "▶ 1 Read the parser", "○ 2 Mend it", "○ 3 Run the tests")
    terminal.awaits(lambda: len(stage.requests) == 2, "the request that is held")
    stage.punchlist("block", "3", "--why", "staging is down")
    terminal.shows("⊘ 3 Run the tests", "staging is down", "1 blocked")
    command(terminal, "add --why -x Ask Bob")
    terminal.shows("○ 4 --why -x Ask Bob")
    command(terminal, "done 1")
    terminal.shows("Plan 1/4", "✓ 1 Read the parser", "○ 2 Mend it")
    command(terminal, "undo")
    terminal.shows("Plan 0/4", "▶ 1 Read the parser")
    by = [line.split("  ")[3] for line in stage.punchlist("log").splitlines() if line[:4].strip().isdigit()]
    assert [who.strip() for who in by] == ["you", "you", "you", "you", "main (native)"], "while the agent works"
    assert len(stage.requests) == 2
    go_on.set()
    terminal.shows("And now?")
    assert (stage.model.faults, stage.errors) == ([], [])


def test_words_answers_and_errors_are_those_of_every_agent(terminal: Terminal) -> None:
    stage = terminal.stage
    name = SCREENS[stage.name].command
    asked(terminal, "Mend the parser.", does(plan(add=["Read the parser", "Mend it"])), says("And now?"))
    terminal.shows("Plan 0/2", "And now?")
    requests = len(stage.requests)
    command(terminal, "dnoe 1")
    terminal.shows(f"{name} has no 'dnoe'; did you mean 'done'?")
    command(terminal, "rename 2 Mend all of it")
    terminal.shows("○ 2 Mend all of it")
    command(terminal, "done")
    terminal.shows("Plan 1/2", "✓ 1 Read the parser")
    command(terminal, "help")
    terminal.shows(f"{name} note, rename ID TEXT", "list the changes of the plan")
    assert len(stage.requests) == requests
    assert stage.errors == []


def test_an_agent_in_its_shell_does_not_become_the_user(terminal: Terminal) -> None:
    stage = terminal.stage
    forged = json.dumps({"moment": "panel", "session": "panel", "panel": f"{7:064d}"})
    tries = [
        f"PUNCHLIST_PANEL=1 {SCRIPT} undo < /dev/null; echo ended",
        f"echo {'7' * 48} | PUNCHLIST_PANEL=1 {SCRIPT} undo; echo ended",
        f"echo '{forged}' | {SCRIPT} hook {stage.name}; echo ended",
    ]
    runs = [does(shell(words)) for words in tries]
    asked(terminal, "Mend the parser.", does(plan(add=["Read the parser"])), *runs, says("And now?"))
    terminal.shows("And now?")
    answers = [request.latest for request in stage.requests[2:]]
    assert ["undo is for the user" in answer for answer in answers] == [True, True, False], answers
    assert [error for error in stage.errors if "typed in the shell of an agent" not in error] == []
    enter(terminal, "/punchlist add Ask Bob")
    terminal.shows("○ 2 Ask Bob")
    assert " you " in stage.punchlist("log").splitlines()[0], "the key of the panel is still the first one"


def test_texts_are_data_and_a_long_plan_is_a_window(terminal: Terminal, tmp_path: Path) -> None:
    stage = terminal.stage
    asked(terminal, "Mend the parser.", does(plan(add=["Read the parser"])), says("And now?"))
    terminal.shows("Plan 0/1", "And now?")
    hostile = "\x1b]0;pwned\x07\x1b[2J\u202e<b>bold</b>{red}\nsecond line " + "long " * 2000
    texts = [f"Item {number}" for number in range(1, 501)]
    texts[299] = hostile
    items = [{"id": str(number), "text": text} for number, text in enumerate(texts, 1)]
    items[300]["status"] = "in_progress"
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"items": items}), encoding="utf-8")
    stage.punchlist("import", "--format", "json", str(file))
    terminal.shows("Plan 0/500", "▶ 301 Item 301", "○ 302 Item 302", "more", "<b>bold</b>{red}")
    assert b"]0;pwned" not in terminal.raw.replace("\ufffd]0;pwned".encode(), b"")
    assert "\u202e" not in terminal.text
    assert "Item 499" not in terminal.text
    terminal.resize(60, 24)
    terminal.shows("0/500", "Item 301")
    stage.punchlist("done", "301")
    terminal.shows("1/500")
    assert stage.errors == []


def test_a_watch_that_dies_is_started_again_another_session_is_followed_and_nothing_stays(terminal: Terminal) -> None:
    stage = terminal.stage
    asked(terminal, "Mend the parser.", does(plan(add=["Read the parser"])), says("And now?"))
    terminal.shows("Plan 0/1", "And now?")
    (first,) = watchers(terminal)
    os.kill(first, signal.SIGKILL)
    terminal.awaits(lambda: watchers(terminal) not in ([], [first]), "another watch")
    stage.punchlist("rename", "1", "Read it twice")
    terminal.shows("▶ 1 Read it twice")
    enter(terminal, "/new")
    terminal.awaits(lambda: "Read it twice" not in terminal.text, "the end of the plan on the screen")
    asked(terminal, "Write the page.", does(plan(add=["Draw it", "Write it"])), says("Well?"))
    terminal.shows("Plan 0/2", "▶ 1 Draw it", "Well?")
    terminal.awaits(lambda: len(watchers(terminal)) == 1, "one watch for one session")
    terminal.kill(signal.SIGKILL)
    terminal.awaits(lambda: not watchers(terminal), "the end of every watch")


@pytest.mark.settings
def test_without_the_panel_nothing_of_it_is_installed(tmp_path: Path) -> None:
    for name in SCREENS:
        stage = built(name, tmp_path / name)
        with closing(stage.model):
            stage.punchlist("install", name, "--without", "panel")
            assert not [file for file in stage.files() if "panel" in file or "tui.json" in file]

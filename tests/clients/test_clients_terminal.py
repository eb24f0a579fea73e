"""In the terminal interfaces of Claude Code and Codex: whoever just talks, interrupts or clears is not overridden."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from tests.clients import terminal as terminals
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import SCRIPT, Stage, built
from tests.clients.terminal import ESCAPE, Terminal

TERMINALS: dict[str, Callable[[Stage], AbstractContextManager[Terminal]]] = {
    "claude-code": terminals.claude_code,
    "codex": terminals.codex,
}
NUDGE = "The plan is not finished: now 1"


@pytest.fixture(params=TERMINALS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """Each of them in turn, attached, with our tool at hand."""
    stage = built(request.param, tmp_path)
    with closing(stage.model):
        stage.agent.trust(stage.world)
        stage.attach()
        with TERMINALS[request.param](stage) as terminal:
            terminal.warm_up()
            yield terminal


def test_who_asks_for_something_beside_the_plan_in_a_terminal_gets_just_that(terminal: Terminal) -> None:
    stage = terminal.stage
    made = does(plan(add=["Read the parser", "Mend it", "Run the tests"]))
    assert terminal.talks("Plan the work on the parser.", made, says("Shall I begin?")) == ["stop"]
    read = does(shell("cat /dev/null"))
    assert terminal.talks("What does notes.txt say?", read, says("It is empty.")) == ["stop"]
    assert terminal.talks("Just explain the design.", says("There is a lexer and a parser.")) == ["stop"]
    fixed = does(shell("touch README.md"))
    assert terminal.talks("Fix the typo in README.md.", fixed, says("It is fixed.")) == ["stop"]
    for number, words in enumerate(["wait", "Detente", "Ne continue pas", "Przestań", "Fermati", "Dừng lại"]):
        edited = does(plan(edit=[{"id": 3, "text": f"Run the tests, {number}"}]))
        assert terminal.talks(words, edited, says(f"I wait, {number}.")) == ["stop"], words
    going = [says("I will."), does(plan(done=[1])), says("And what now?")]
    assert terminal.talks("Go on.", *going) == ["nudge", "stop"], "and goes on when that is what the user wants"
    assert stage.errors == []


def test_who_talks_interrupts_or_clears_in_a_terminal_is_not_overridden(terminal: Terminal) -> None:
    stage = terminal.stage
    made = does(plan(add=["Read the parser", "Mend it", "Run the tests", "Ship it"]))
    told = terminal.talks("Mend the parser.", made, says("I have a plan."), does(plan(done=[1])), says("And now?"))
    assert told == ["nudge", "stop"], "in the middle of planned work it is nudged once, and goes on"
    terminal.shows(NUDGE, "And now?")
    assert "hook error" not in terminal.text
    assert terminal.talks("Why did you choose sqlite?", says("Because it is one file.")) == ["stop"]
    assert terminal.talks("thanks", says("You are welcome.")) == ["stop"]
    assert terminal.talks("Do only item 2.", does(plan(done=[2])), says("Item 2 is done.")) == ["stop"]
    assert terminal.talks("Hör auf", does(plan(edit=[{"id": 3, "text": "Run all tests"}])), says("Gut.")) == ["stop"]

    terminal.plays(does(plan(edit=[{"id": 3, "text": "Run the tests"}])), does(shell("touch begun; sleep 600")))
    terminal.say("Run the tests now.")
    terminal.awaits((stage.project / "begun").exists, "the command")
    terminal.type(ESCAPE)
    terminal.awaits(lambda: "nterrupted" in terminal.text, "an interruption")
    assert terminal.talks("hm", says("I have stopped.")) == ["stop"]

    terminal.awaits_end("I have stopped.")
    terminal.say("/clear")
    terminal.awaits(lambda: "I have stopped." not in terminal.text, "an empty screen")
    assert terminal.talks("hello there", says("Hello to you.")) == ["stop"]
    assert stage.errors == []


def finished(stage: Stage) -> set[tuple[str, str]]:
    """Who completed which item."""
    records = json.loads(stage.punchlist("log", "--json"))
    return {(one["by"], words[:11]) for one in records for words in one["changes"] if words.startswith("completed")}


def test_a_command_behind_an_exclamation_mark_is_the_users(terminal: Terminal) -> None:
    stage = terminal.stage
    (stage.project / "punchlist").symlink_to(SCRIPT)  # its full name is longer than a line of the screen
    made = does(plan(add=["Read the parser", "Mend it", "Run the tests", "Ship it"]))
    assert terminal.talks("Mend the parser.", made, says("Is that all?")) == ["stop"]
    before = len(terminal.decisions)
    terminal.plays(says("I have seen that."))
    terminal.type("!")
    terminal.say("./punchlist done 2")
    terminal.awaits(lambda: stage.items[1][1] == "completed", "the edit")
    terminal.shows("completed 2")
    if stage.name == "claude-code":  # which shows its model what the command printed
        terminal.awaits(lambda: terminal.decisions[before:] == ["stop"], "the end of a turn")
    stopped = terminal.talks("Go on.", does(shell("./punchlist done 1")), says("Is that all?"))
    assert stopped == ["stop"]
    assert finished(stage) == {("user", "completed 2"), ("main", "completed 1")}
    assert stage.requests[0].heard.count('the user completed 2 "Mend it"') == 1
    assert stage.errors == []

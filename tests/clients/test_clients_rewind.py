"""A conversation that the user takes back in Claude Code: no hook is told, and still the model has its plan again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients import terminal as terminals
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import built
from tests.clients.terminal import ENTER, ESCAPE, Terminal

UP, CLEAR_LINE = "\x1b[A", "\x15"
LOGS = "~/.claude/projects/*/*.jsonl"  # where a prompt is a moment after its hook
AGAIN = "Your plan (1/3 done); what is open:\n- now 2 Mend it well\n- 3 Run the tests\nContinue it when the user asks"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    stage = built("claude-code", tmp_path)
    with closing(stage.model):
        stage.agent.trust(stage.world)
        stage.attach()
        with terminals.claude_code(stage) as terminal:
            terminal.warm_up()
            yield terminal


def rewind(terminal: Terminal, prompt: str) -> None:
    """Take the conversation back to the point before the last prompt, and the prompt off the line."""
    terminal.type(ESCAPE)
    terminal.type(ESCAPE)
    terminal.shows("Restore the code and/or conversation", "❯ (current)")
    terminal.type(UP)
    terminal.shows(f"❯ {prompt}")
    terminal.type(ENTER)
    terminal.shows("Restore conversation")
    terminal.type(ENTER)
    terminal.awaits(lambda: "Restore conversation" not in terminal.text, "the end of the menu")
    terminal.type(CLEAR_LINE)


def test_after_a_rewind_the_model_is_told_its_plan_with_the_first_result(terminal: Terminal) -> None:
    stage = terminal.stage
    made = does(plan(add=["Read the parser", "Mend it", "Run the tests"]))
    terminal.talks("Mend the parser.", made, says("Which one first?"))
    stage.punchlist("rename", "2", "Mend it well")
    terminal.talks("The first.", does(plan(done=[1])), does(shell("echo read")), says("It is read. And now?"))
    assert "the user renamed" in stage.requests[-1].heard
    assert "Your plan" not in stage.requests[-1].heard, "an ordinary prompt follows what was said last"
    terminal.awaits_end("It is read. And now?")
    rewind(terminal, "The first.")
    begun = does(shell(f"until grep -q 'The second, please.' {LOGS}; do :; done; echo begun"))
    terminal.talks("The second, please.", begun, does(plan(done=[2])), says("Is that all?"))
    before, after, _ = stage.requests
    assert "the user renamed" not in before.heard, "what was told in the part that is gone is gone with it"
    assert after.latest.count(AGAIN) == 1
    assert stage.items[1:] == [("Mend it well", "completed"), ("Run the tests", "in_progress")]
    terminal.talks("Go on.", does(shell("echo on")), does(plan(done=[3])), says("Done."))
    assert stage.requests[-1].heard.count("Your plan") == 1
    assert stage.errors == []

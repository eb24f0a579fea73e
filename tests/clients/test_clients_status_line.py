"""The status line of Claude Code in its terminal: behind the user's own, in several lines, and after an edit."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients.script import does, plan, says
from tests.clients.stage import built
from tests.clients.terminal import claude_code


@pytest.mark.settings
def test_an_edit_of_the_user_is_in_the_status_line_though_nobody_speaks(tmp_path: Path) -> None:
    stage = built("claude-code", tmp_path)
    with closing(stage.model):
        stage.agent.trust(stage.world)
        stage.configure("status_lines = 3")
        settings = stage.home / ".claude" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        own = {"type": "command", "command": "echo >> runs; echo mine"}
        settings.write_text(json.dumps({"statusLine": own}), encoding="utf-8")
        stage.attach()
        with claude_code(stage) as terminal:
            terminal.warm_up()
            made = does(plan(add=["Read the parser", "Run the tests"]))
            terminal.talks("Plan the work on the parser.", made, says("Shall I begin?"))
            terminal.shows("mine | ▶ Read the parser 0/2", "○ next: Run the tests")
            runs = (stage.project / "runs").stat().st_size
            stage.punchlist("done", "1")
            terminal.shows("○ Run the tests 1/2", "✓ done: Read the parser")
            stage.punchlist("add", "Tell Ann")
            terminal.shows("○ Run the tests 1/3", "○ next: Tell Ann")
            stage.punchlist("off")
            terminal.shows("mine | punchlist off")
            again = (stage.project / "runs").stat().st_size - runs
            assert again < 3, "ours ran for each of three edits; theirs only for what its log still got"
    assert stage.errors == []

"""`make house` prints the state of the code against its goals. It is a table: what it says fails no test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]
ROWS = """
    loose modules at the top
    module names that do not tell
    types with two meanings
    tables per command
    files of one dialect's behavior
    rooms of one agent
    public attributes of Desk
    source lines
    conditional expressions per 1,000 lines
    functions with more than a branch for every two lines
    longest file
    median function
    longest function
    SQL statements in PostToolUse
    SQL statements in Stop
    functions on a tool call after a user's edit
    files on a tool call after a user's edit
    observed call
    undo: 20,000 observed calls
"""


def test_the_table_has_a_figure_for_every_goal_and_the_list_says_where_it_comes_from() -> None:
    words = [sys.executable, "-m", "bench.house", "--list"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    for name in ROWS.strip().splitlines():
        shown = [line for line in lines if line.startswith(f"{name.strip()}  ")]
        assert len(shown) == 1, name
        assert any(letter.isdigit() for letter in shown[0].removeprefix(name.strip()))
    assert any(line.startswith("SELECT ") for line in lines)

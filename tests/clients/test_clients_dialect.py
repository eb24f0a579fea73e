"""An agent attached with the todo tool of one's choice: all five layers, as they stand in the agent's own requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from punchlist.prompts import say
from tests.clients.model import our_tool
from tests.clients.script import Call, does, says, shell, tool
from tests.clients.stage import Stage, built

pytestmark = pytest.mark.settings

DESCRIBED = {  # words of the tool's description
    "claude-code": "## Before you set completed",
    "gencode": "in_progress",
    "codex": "Writes the plan.",
}
ADDED = 'the user added "Ask Ann".'
RENAMED = 'the user renamed "Mend it" to "Mend it well".'
READ, MEND = ("Read it", "in_progress"), ("Mend it", "pending")
JSON = (
    '[{"content": "Read it", "status": "in_progress", "activeForm": "Read it"}, '
    '{"content": "%s", "status": "pending", "activeForm": "%s"}, '
    '{"content": "Ask Ann", "status": "pending", "activeForm": "Ask Ann"}]'
)


@contextmanager
def attached(name: str, dialect: str, folder: Path) -> Iterator[Stage]:
    """An agent, attached with a dialect."""
    stage = built(name, folder)
    try:
        stage.punchlist("install", name, "--via", "settings", "--dialect", dialect)
        yield stage
    finally:
        stage.model.close()


def todos(*items: tuple[str, str]) -> Call:
    listed = [{"content": text, "status": status, "activeForm": text} for text, status in items]
    return tool("TodoWrite", todos=listed)


def steps(*items: tuple[str, str]) -> Call:
    return tool("update_plan", plan=[{"step": text, "status": status} for text, status in items])


def toured(stage: Stage, dialect: str, call: Call) -> list[str]:
    """What the model reads for the first time with each request: a list, ten commands, an edit that the same list is
    sent after, and one that a command is run after."""
    stage.run(
        "Mend the parser.",
        does(call),
        *[does(shell(f"echo {number}")) for number in range(10)],
        does(call, first=lambda: stage.punchlist("add", "Ask Ann")),
        does(shell("echo on"), first=lambda: stage.punchlist("rename", "2", "Mend it well")),
        says("Which one first?"),
    )
    first = stage.requests[0]
    offered = our_tool(first.offers, call.name)
    assert offered, first.names
    words = str(offered.spec.get("description") or offered.spec["function"]["description"])
    assert DESCRIBED[dialect] in words
    assert stage.items == [READ, ("Mend it well", "pending"), ("Ask Ann", "pending")]
    assert stage.errors == []
    return [str(first.body), *[request.latest for request in stage.requests[1:]]]


def resumed(stage: Stage) -> str:
    stage.run("The short one.", says("Is it this one?"), resume=True)
    return stage.requests[-1].heard


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_claude_code_has_the_five_layers_of_its_own_dialect(tmp_path: Path) -> None:
    with attached("claude-code", "claude-code", tmp_path) as stage:
        first, *later = toured(stage, "claude-code", todos(READ, MEND))
        assert "## punchlist\\n# Task management\\n\\n`TodoWrite` keeps a todo list" in first
        assert "with `Bash` and see three causes" in first
        assert "SessionStart hook additional context: The todo list is empty." in first
        assert "The todo list is saved." in later[0]
        reminded = [number for number, text in enumerate(later) if "`TodoWrite` has not been called" in text]
        assert reminded == [7, 10], "as often as that system reminds"
        assert "[1. [in_progress] Read it\n2. [pending] Mend it]" in later[7]
        assert ADDED in later[11]
        assert JSON % ("Mend it", "Mend it") in later[11], "the list follows in its form, also in an answer"
        assert RENAMED in later[12]
        assert JSON % ("Mend it well", "Mend it well") in later[12]
        again = resumed(stage)
        assert "SessionStart hook additional context: Your todo list, kept while" in again
        assert "Continue it when the user asks for it." in again
        assert "&lt;" not in again, "a wrapper in the wrapper would be shown as a text"


def test_codex_has_the_layers_of_its_own_dialect(tmp_path: Path) -> None:
    with attached("codex", "codex", tmp_path) as stage:
        stage.configure('voice = "full"')  # the newest models are reminded later
        first, *later = toured(stage, "codex", steps(READ, MEND))
        assert lines(say("codex.system", tool="update_plan"))[0] in first
        assert "While you commit or open a pull request" in first
        assert "Plan updated" in later[0]
        assert 'Plan: now "Read it" (0/2), unchanged for 10 turns.' in later[10]
        assert ADDED in later[11]
        assert RENAMED in later[12]
        again = resumed(stage)
        assert "Your plan; what is open:\n- now Read it\n- Mend it well\n- Ask Ann\nContinue it when the user" in again


def test_opencode_has_the_five_layers_of_gencode(tmp_path: Path) -> None:
    with attached("opencode", "gencode", tmp_path) as stage:
        first, *later = toured(stage, "gencode", todos(READ, MEND))
        assert "keep a list with `TodoWrite`: one item in_progress" in first
        assert "<reminder>\\nPut work of several steps on a list: `TodoWrite`.\\n</reminder>" in first
        assert "[>] Read it <- Read it\n[ ] Mend it\n\n(0/2 completed)" in later[0]
        assert "<reminder>\nThe list has not changed for 10 turns." in later[10]
        assert ADDED in later[11]
        assert later[11].count("[ ] Ask Ann") == 1, "its answer has the list already"
        assert f"{RENAMED}\n<reminder>\nThe list as it stands." in later[12]
        assert "[ ] Mend it well" in later[12]
        assert "<reminder>\nThe list as it stands." in resumed(stage)

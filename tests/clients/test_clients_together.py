"""Claude Code and Codex on one plan: two agents that are told apart, side by side and one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients.script import does, plan, says
from tests.clients.stage import Stage, built


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Stage, Stage]]:
    """Both of them in one project, attached."""
    claude, codex = built("claude-code", tmp_path), built("codex", tmp_path)
    with closing(claude.model), closing(codex.model):
        for stage in (claude, codex):
            stage.attach()
        yield claude, codex


def owners(stage: Stage) -> list[tuple[str, str, str]]:
    """What is open or done, by whom."""
    return [(item["id"], item.get("status", "pending"), item.get("owner", "")) for item in stage.plan["items"]]


def test_two_programs_on_one_plan_are_two_agents(pair: tuple[Stage, Stage]) -> None:
    claude, codex = pair

    def meanwhile() -> None:
        codex.punchlist("bind", "--next")
        codex.run(
            "Go on.",
            does(plan(start=[1])),
            does(plan(start=[2])),
            does(plan(done=[2])),
            says("Is that all?"),
        )

    claude.run(
        "Fix the parser.",
        does(plan(add=["Read the parser", "Fix it", "Test it", "Ship it"])),
        does(plan(start=[4]), first=meanwhile),
        says("Is that all?"),
    )
    [one] = json.loads(claude.punchlist("plans", "--json"))
    assert len(one["sessions"]) == 2
    told = codex.requests[0].heard
    assert told.count("Ship it") == 1, "the list is told once, and not each item again"
    assert "- 1 Read the parser (agent main works on it)" in told
    assert '1 "Read the parser" is being worked on by agent main.' in str(codex.requests[1].answers)
    assert 'agent codex completed 2 "Fix it".' in claude.requests[2].heard
    assert owners(claude) == [
        ("1", "pending", ""),
        ("2", "completed", "codex"),
        ("3", "in_progress", "codex"),
        ("4", "in_progress", ""),
    ]
    assert {record["by"] for record in json.loads(claude.punchlist("log", "--json"))} == {"main", "codex"}

    codex.run("Go on.", does(plan(start=[4])), says("Is that all?"), resume=True)
    assert '4 "Ship it" is yours now; agent main is not at work.' in str(codex.requests[1].answers)
    assert claude.errors == []


def test_who_goes_on_with_the_plan_of_a_program_that_has_ended_is_main(pair: tuple[Stage, Stage]) -> None:
    claude, codex = pair
    claude.run("Fix the parser.", does(plan(add=["Read the parser", "Fix it"])), says("Is that all?"))
    codex.punchlist("bind", "--next")
    codex.run("Go on with it.", does(plan(done=[1])), says("Is that all?"))
    assert "- now 1 Read the parser\n- 2 Fix it" in codex.requests[0].heard
    assert owners(codex) == [("1", "completed", ""), ("2", "in_progress", "")]
    assert {record["by"] for record in json.loads(codex.punchlist("log", "--json"))} == {"main"}
    assert claude.errors == []

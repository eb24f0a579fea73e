"""Around a commit every agent is left alone: nothing is told while it runs, and what waited is told after it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients.agents import OTHERS, PATHS, Setup
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import SCRIPT, USUAL, Stage, built

COMMIT = "git commit -q --allow-empty -m Works; ./look"
RENAMED = 'the user renamed 2 "Commit it" to "Commit all of it".'
ALLOWED = {"gemini": Setup(args=("--approval-mode", "yolo"))}  # it asks before a commit, whatever tools are allowed
REMINDER = "unchanged for"


@pytest.fixture(params=[*[name for name in (*PATHS, *OTHERS) if name != "goose"], "claude-code --hooks process"])
def committing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Each agent whose hooks see a command before it runs, attached; the command looks at the plan."""
    name, *options = request.param.split()
    stage = built(name, tmp_path)
    with closing(stage.model):
        stage.attach(*options)
        look = stage.project / "look"
        look.write_text(f"#!/bin/sh\n{SCRIPT} show --json > during.json\n")
        look.chmod(0o755)
        with (stage.project / ".git" / "config").open("a") as config:
            config.write("[user]\nname = Ann\nemail = ann@example.com\n")
        yield stage


def test_while_a_commit_is_made_nothing_is_told_and_after_it_everything_is(committing: Stage) -> None:
    stage = committing
    stage.configure("remind_after = 2")
    stage.run(
        "Mend the parser.",
        does(plan(add=["Mend it", "Commit it"])),
        does(shell("echo mended")),
        does(shell(COMMIT)),
        does(shell("echo committed")),
        does(shell(COMMIT), first=lambda: stage.punchlist("rename", "2", "Commit all of it")),
        does(shell("echo again")),
        does(plan(done=[1])),
        says("Which one now?"),
        setup=ALLOWED.get(stage.name, USUAL),
    )
    during = json.loads((stage.project / "during.json").read_text(encoding="utf-8"))
    assert during["mode"] == "quiet"
    told = [[words for words in (RENAMED, REMINDER) if words in request.latest] for request in stage.requests]
    assert told == [[], [], [], [], [REMINDER], [], [RENAMED], []]
    assert stage.plan.get("mode", "act") == "act"
    assert stage.items == [("Mend it", "completed"), ("Commit all of it", "in_progress")]
    assert stage.errors == []


def test_a_commit_beside_an_old_plan_is_not_planned_work(committing: Stage) -> None:
    stage, setup = committing, ALLOWED.get(committing.name, USUAL)
    stage.run("Mend the parser.", does(plan(add=["Mend it", "Ship it"])), says("Which one first?"))
    stage.run("Commit what is there.", does(shell(COMMIT)), says("It is committed."), resume=True, setup=setup)
    assert set(stage.events) == {"stop"}
    assert stage.plan.get("mode", "act") == "act"
    assert stage.errors == []

"""What the pages about the agents show of our words is what their models read, to the letter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clients.agents import OTHERS
from tests.clients.script import Step, does, plan, says, shell
from tests.clients.stage import Stage, built

PAGES = Path(__file__).parent.parent.parent / "docs" / "agents"
ASKING = says("Which way do you want it?")
HEADING = "## What reaches the model"


def shown(name: str) -> list[str]:
    """The texts under that heading of a page."""
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    parts = re.findall(r"^(?:```text\n(.*?)^```|(## [^\n]*))$", page, re.S | re.M)  # a heading in a text is none
    begin = parts.index(("", HEADING)) + 1
    texts = [text.rstrip("\n") for text, _ in parts[begin:]]
    return texts[: texts.index("")]


def toured(stage: Stage, *last: Step) -> str:
    """Everything that a model reads in a session in which we say everything that we ever say. `last`: what it says
    when it is nudged."""
    stage.configure("remind_after = 10")  # the newest models are reminded later
    stage.run(
        "Mend the parser.",
        does(plan(add=["Read the parser", "Fix it", "Run the tests"])),
        does(plan(done=[1])),
        does(shell("echo 0"), first=lambda: stage.punchlist("rename", "3", "Run all tests")),
        *[does(shell(f"echo {number}")) for number in range(1, 11)],
        says("That is how far I am."),
        *last,
    )
    read = [str(stage.requests[0].body), stage.requests[-1].heard]
    stage.run("The short one.", says("Is it this one?"), resume=True)
    return "\n".join([*read, stage.requests[-1].heard])


@pytest.mark.settings
def test_the_page_about_an_agent_shows_what_its_model_reads(stage: Stage) -> None:
    read = toured(stage, ASKING)
    blocks = shown(stage.name)
    assert len(blocks) >= 6
    assert [block for block in blocks if block not in read] == []


@pytest.mark.parametrize("name", OTHERS)
def test_the_pages_about_the_others_do_so_as_well(name: str, tmp_path: Path) -> None:
    stage = built(name, tmp_path)
    try:
        stage.attach()
        read = toured(stage, *([] if name == "opencode" else [ASKING]))  # `opencode run` ends before it is nudged
    finally:
        stage.model.close()
    blocks = shown(name)
    assert len(blocks) >= 5
    assert [block for block in blocks if block not in read] == []

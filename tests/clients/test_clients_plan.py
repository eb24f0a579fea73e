"""A plan in the real programs: the tool is there from the start, and a plan is made, advanced and finished with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from punchlist.prompts import say
from tests.clients.agents import PATHS, Setup, load
from tests.clients.model import our_tool
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import attached

ANSWERS = (
    "added 1-3; now 1 Read the parser (0/3)",
    "now 2 Mend it (1/3)",
    "now 3 Run the tests (2/3)",
    "all done (3/3)",
)
EVERY_MODEL = [(name, model) for name in PATHS for model in load(name).MODELS]


@pytest.mark.parametrize(("name", "model"), EVERY_MODEL, ids=lambda value: value)
def test_a_plan_of_three_steps_is_made_advanced_and_finished(name: str, model: str, tmp_path: Path) -> None:
    with attached(name, tmp_path) as stage:
        stage.run(
            "Mend the parser.",
            does(plan(add=["Read the parser", "Mend it", "Run the tests"])),
            does(shell("echo it is read --token=hunter2hunter2")),
            does(shell("exit 3")),
            does(plan(done=[1])),
            does(plan(done=[2])),
            does(plan(done=[3])),
            says("All of it is done."),
            setup=Setup(model),
        )
        first = stage.requests[0]
        assert our_tool(first.offers), first.names
        assert say("mcp") in str(first.body)
        said = stage.requests[-1].answers
        assert [want in one.splitlines() for want, one in zip(ANSWERS, said, strict=True)] == [True] * 4
        assert stage.items == [(text, "completed") for text in ("Read the parser", "Mend it", "Run the tests")]
        assert "what is open" not in stage.requests[-1].heard, "a plan that was not lost is not told again"
        assert (stage.events, stage.errors) == (["stop"], [])
        read, failed = stage.plan["items"][0]["calls"]
        assert "it is read" in read["text"]
        assert (read["outcome"], failed["outcome"]) == ("ok", "failed")
        assert (read.get("exit"), failed.get("exit")) == stage.agent.EXITS
        assert "hunter2" not in str(stage.plan)

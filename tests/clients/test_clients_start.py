"""A plan that was there before the session: written by the user, or named when the agent is started."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.agents import OTHERS, PATHS, Setup
from tests.clients.script import does, plan, says
from tests.clients.stage import Stage, built

ONLY_NUDGED = "goose"  # takes no words from a hook at a start


@pytest.fixture(params=[*PATHS, *OTHERS])
def every(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Every agent in turn, attached."""
    stage = built(request.param, tmp_path)
    try:
        stage.attach()
        yield stage
    finally:
        stage.model.close()


def test_a_list_that_the_user_wrote_first_is_the_plan(every: Stage) -> None:
    every.punchlist("add", "Read the parser", "Mend it")
    every.run("Go ahead.", does(plan(start=[1])), does(plan(done=[1])), says("Is that all?"))
    assert ("- 1 Read the parser\n- 2 Mend it" in every.requests[0].heard) is (every.name != ONLY_NUDGED)
    assert every.items == [("Read the parser", "completed"), ("Mend it", "in_progress")]
    [one] = json.loads(every.punchlist("plans", "--json"))
    assert (one["program"], len(one["sessions"])) == (every.name, 1)
    assert every.errors == []


@pytest.mark.parametrize("by", ["PUNCHLIST_PLAN", "PUNCHLIST_SESSION"])
def test_an_agent_can_be_started_on_a_plan_or_a_session(every: Stage, by: str) -> None:
    every.punchlist("--session", "monday", "add", "Read the parser", "Mend it")
    [old] = json.loads(every.punchlist("plans", "--json"))
    named = {"PUNCHLIST_PLAN": old["id"], "PUNCHLIST_SESSION": "monday"}[by]
    every.run("Go ahead.", does(plan(done=[1])), says("Is that all?"), setup=Setup(environ={by: named}))
    assert ("- 1 Read the parser\n- 2 Mend it" in every.requests[0].heard) is (every.name != ONLY_NUDGED)
    [one] = json.loads(every.punchlist("plans", "--json"))
    assert (one["id"], one["completed"]) == (old["id"], 1)
    assert every.errors == []

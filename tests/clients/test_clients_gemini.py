"""What only Gemini CLI has: it adds an argument of its own to every tool, and sends it with the call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.agents import gemini
from tests.clients.script import does, plan, says
from tests.clients.stage import Stage, attached


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with attached("gemini", tmp_path) as stage:
        yield stage


def test_an_argument_that_is_meant_for_the_agent_is_no_fault_of_the_call(stage: Stage) -> None:
    stage.run("Mend the parser.", does(plan(add=["Mend it"], wait_for_previous=True)), says("What else?"))
    [offered] = [offer for offer in stage.requests[0].offers if offer.name == gemini.TOOL]
    assert "wait_for_previous" in offered.spec["parametersJsonSchema"]["properties"]
    assert "added 1; now 1 Mend it (0/1)" in stage.requests[1].latest
    assert stage.errors == []


def test_the_schema_of_plan_makes_it_print_no_warning(stage: Stage) -> None:
    stage.run("Mend the parser.", does(plan(add=["Mend it"])), does(plan(edit=[{"id": 1, "note": "x"}])), says("Done?"))
    assert "strict mode" not in stage.warned
    assert "allowUnionTypes" not in stage.warned

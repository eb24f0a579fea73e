"""Attached in a project only."""

from __future__ import annotations

import pytest

from tests.clients.model import our_tool
from tests.clients.script import does, plan, says
from tests.clients.stage import Stage

pytestmark = pytest.mark.settings


def test_attached_in_a_project_it_works_there(bare: Stage) -> None:
    bare.punchlist("install", bare.name, "--scope", "project")
    bare.agent.trust(bare.world)
    bare.run("Mend the parser.", does(plan(add=["Mend it"])), says("So far."), says("What else?"))
    assert our_tool(bare.requests[0].offers)
    assert bare.events == ["nudge", "stop"]
    assert bare.errors == []

"""What only Codex has: hooks run once they are trusted, and `doctor` knows which are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.agents import codex
from tests.clients.script import does, plan, says
from tests.clients.stage import Stage, attached


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with attached("codex", tmp_path) as stage:
        yield stage


def trust(stage: Stage) -> None:
    path = stage.home / ".codex" / "hooks.json"
    codex.trust_hooks(stage.world, str(path), json.loads(path.read_text())["hooks"])


@pytest.mark.settings
def test_hooks_run_as_soon_as_they_are_trusted_and_doctor_knows_it(stage: Stage) -> None:
    stage.run("Mend it.", does(plan(add=["Mend it"])), says("So far."), setup=codex.CAUTIOUS)
    assert stage.events == [], "a hook that is not trusted is skipped without a word"
    assert "Codex skips hooks that you have not trusted" in stage.punchlist("doctor", code=1)
    trust(stage)
    assert "Codex skips" not in stage.punchlist("doctor")
    stage.run("Mend it.", does(plan(add=["Mend it"])), says("So far."), says("What else?"), setup=codex.CAUTIOUS)
    assert stage.events == ["nudge", "stop"]
    assert stage.errors == []


@pytest.mark.settings
def test_the_tool_of_an_entry_that_the_user_wrote_is_called_without_asking(stage: Stage) -> None:
    """What our tools say of themselves is enough: no key of its settings approves them."""
    config = stage.home / ".codex" / "config.toml"
    lines = config.read_text(encoding="utf-8").splitlines(keepends=True)
    config.write_text("".join(line for line in lines if "default_tools_approval_mode" not in line), encoding="utf-8")
    assert "asks before calls" not in stage.punchlist("doctor", code=1)
    stage.run("Mend it.", does(plan(add=["Mend it"])), does(plan(done=[1])), says("Done."))
    assert stage.items == [("Mend it", "completed")]

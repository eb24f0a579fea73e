"""The pages about agents show our words as they are. That agents hand them over so, `tests/clients` shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from punchlist import Desk, MemoryStore, moments, ops
from punchlist.prompts import say

PAGES = Path(__file__).parent.parent.parent / "docs" / "agents"


def words() -> dict[str, str]:
    """Everything that we say to a model, in the session that the pages tell of."""
    desk = Desk(MemoryStore(), session="s")
    said = {"tool": desk.dialect.tools[0].description, "instructions": say("mcp")}
    said["making"] = desk.call("plan", {"add": ["Read the parser", "Mend it", "Run the tests"]}).text
    moments.worked(desk, moments.Work("0", "plan"))
    said["advancing"] = desk.call("plan", {"done": [1]}).text
    desk.change(lambda plan: ops.rename(plan, "3", "Run all tests"))
    turns = [moments.worked(desk, moments.Work(str(turn))) for turn in range(1, 13)]
    (said["news"],), (said["reminder"],) = [told for told in turns if told]
    said["push"] = moments.stopped(desk, moments.Stop(agent="main")).text
    (said["again"],) = moments.started(desk, "resume")
    return said


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini"])
def test_the_page_about_an_agent_shows_our_words_as_they_are(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert {about: text for about, text in words().items() if text not in page} == {}

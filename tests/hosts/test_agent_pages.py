"""The pages about agents show our words as they are. That agents hand them over so, `tests/clients` shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from punchlist import Desk, MemoryStore, ops
from punchlist.desk import nudges, tool_use
from punchlist.hosts import HOSTS
from punchlist.policy import wording
from punchlist.policy.continuation import TurnEnd
from punchlist.prompts import say
from tests.policy.told import started, tool_used

PAGES = Path(__file__).parent.parent.parent / "docs" / "agents"
MIRRORED = {
    "claude-code": "TodoWrite",
    "codex": "update_plan",
    "gemini": "write_todos",
    "opencode": "todowrite",
    "oh-my-pi": "todo",
    "qwen-code": "todo_write",
}
UNHEARD = {"goose": ("reminder", "again")}  # what an agent does not hand over
HEADINGS = ("Install", "What you will see", "What reaches the model", "Turn a part off", "Remove it")


def words(tool: str = "plan") -> dict[str, str]:
    """Everything that we say to a model, in the session that the pages tell of; it writes its plan with this tool."""
    desk = Desk(MemoryStore(), session="s")
    said = {"tool": desk.dialect.tools[0].description, "instructions": say("mcp")}
    said["making"] = desk.call("plan", {"add": ["Read the parser", "Fix it", "Run the tests"]}).text
    tool_used(
        desk, tool_use.ToolUse("0", tool, dialect=next((host for host in MIRRORED if MIRRORED[host] == tool), ""))
    )
    said["advancing"] = desk.call("plan", {"done": [1]}).text
    desk.change(lambda plan: ops.rename(plan, "3", "Run all tests"))
    turns = [tool_used(desk, tool_use.ToolUse(str(turn))) for turn in range(1, 13)]
    (said["news"], *listed), (said["reminder"],) = [told for told in turns if told]
    assert len(listed) == (tool == "TodoWrite")  # where a list is sent whole, it follows an edit
    said["nudge"] = nudges.turn_ended(desk, TurnEnd(agent="main")).text
    (said["again"],) = started(desk, "resume")
    return said


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", HOSTS)
def test_the_page_about_an_agent_shows_our_words_as_they_are(name: str) -> None:
    heard = {about: text for about, text in words().items() if about not in UNHEARD.get(name, ())}
    assert {about: text for about, text in heard.items() if text not in page(name)} == {}


@pytest.mark.parametrize(("name", "tool"), MIRRORED.items())
def test_the_page_about_an_agent_shows_our_words_to_a_model_with_a_list_of_its_own(name: str, tool: str) -> None:
    said = {about: text for about, text in words(tool).items() if about in ("news", "reminder", "nudge", "again")}
    said["planning"] = wording.planning("/home/you/.local/state/punchlist/plans/k3x9q2mf.md")
    assert {about: text for about, text in said.items() if f"```text\n{text}\n```" not in page(name)} == {}


@pytest.mark.parametrize("name", HOSTS)
def test_the_page_about_an_agent_tells_the_whole_of_its_life(name: str) -> None:
    headings = [line.removeprefix("## ") for line in page(name).splitlines() if line.startswith("## ")]
    assert [heading for heading in HEADINGS if heading not in headings] == []
    assert f"```text\n{name} is attached for you:\n" in page(name)
    assert f"punchlist uninstall {name}" in page(name)

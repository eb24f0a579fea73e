"""Where the agent behind a call to the server works: a check that it sets belongs there, not where the server runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from punchlist import hosts
from punchlist.dialects import load as load_dialect
from punchlist.local.session_links import AgentRef, link, tool_use_key
from punchlist.local.settings import load as load_settings
from punchlist.mcp.callers import Callers, Given
from punchlist.mcp.desks import Desks

pytestmark = pytest.mark.usefixtures("own_project")


def test_a_check_belongs_to_the_directory_that_a_hook_or_the_call_names(tmp_path: Path) -> None:
    settings = load_settings({"store": "memory:"}, cwd=os.getcwd())
    desks = Desks(settings, Callers(Given(), {}, hosts), load_dialect("native"))
    link(tool_use_key("u1"), AgentRef("s", "main", "claude-code", str(tmp_path / "one")))
    link(tool_use_key("u2"), AgentRef("s", "main", "claude-code", str(tmp_path / "two")))
    link(tool_use_key("u3"), AgentRef("s", "main", "claude-code"))
    found = []
    for number, use in enumerate(("u1", "u2", "u3"), 1):
        desk = desks.of({"claudecode/toolUseId": use}, "claude-code")
        desk.call("plan", {"add": [{"text": f"Pass {number}", "check": "make test"}]})
        found.append(desk.plan.items[-1].check_set["dir"])
    assert found == [str(tmp_path / "one"), str(tmp_path / "two"), os.getcwd()]
    goose = desks.of({"agent-session-id": "g", "agent-working-dir": str(tmp_path)}, "goose-cli")
    goose.call("plan", {"add": [{"text": "Pass", "check": "make test"}]})
    assert goose.plan.items[0].check_set["dir"] == str(tmp_path)
    desks.close()

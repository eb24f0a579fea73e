"""An agent attached with the dialect of one's choice: its tools, its texts, its reminders, its attachments."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.desk.session_state import load_state
from punchlist.dialects import PATHS
from punchlist.hosts import answer
from punchlist.local.settings import attached_dialects, for_host, keep_dialect, load
from punchlist.mcp import protocol
from punchlist.policy.limits import tokens
from tests.commands import do, run
from tests.mcp.raw import Raw

READ = {"content": "Read", "status": "in_progress", "activeForm": "Reading"}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "own"))
    for name in ("CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


def stateless(client: str) -> dict[str, Any]:
    """What a client that does not greet sends with every request."""
    about = {"name": client, "version": "1"}
    capabilities = "io.modelcontextprotocol/clientCapabilities"
    return {protocol.VERSION_KEY: protocol.STATELESS[-1], protocol.CLIENT_KEY: about, capabilities: {}}


def event(name: str, **more: Any) -> str:
    """What the model is told with an event of Claude Code."""
    said = answer("claude-code", {"hook_event_name": name, "session_id": "s1", "cwd": os.getcwd(), **more}, {})
    return str(said["hookSpecificOutput"]["additionalContext"]) if said else ""


def test_install_keeps_the_dialect_doctor_names_it_and_uninstall_drops_it() -> None:
    said = do("install", "claude-code", "--dialect", "claude-code")
    assert "its model is given the tools of claude-code" in said
    assert attached_dialects() == {"claude-code": "claude-code"}
    assert json.loads(do("install", "claude-code", "--json"))["dialect"] == "claude-code"
    doctor = run("doctor")
    assert "its model is given the tools of claude-code" in doctor.stdout
    do("install", "claude-code", "--dialect", "gencode", "--dry-run")
    assert attached_dialects() == {"claude-code": "claude-code"}
    do("uninstall", "claude-code")
    assert attached_dialects() == {}


def test_a_dialect_that_does_not_exist_is_refused_and_nothing_is_installed(tmp_path: Path) -> None:
    done = run("install", "claude-code", "--dialect", "klingon")
    assert done.returncode in (1, 2)
    assert not (tmp_path / "own" / ".claude.json").exists()


def test_the_server_gives_that_agent_its_tool_with_its_own_instructions_and_no_other_agent() -> None:
    keep_dialect("claude-code", "claude-code")
    with Raw() as client:
        words = client.greet("claude-code")["instructions"]
        assert words.startswith("# Task management")
        assert "`TodoWrite`" in words
        assert "with `Bash`" in words
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["TodoWrite"]
        assert "todo list is saved" in client.say("TodoWrite", todos=[READ])
    with Raw() as client:
        client.greet("codex-mcp-client")
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["plan"]


def test_a_client_that_does_not_greet_is_given_it_as_well() -> None:
    keep_dialect("claude-code", "claude-code")
    with Raw() as client:
        found = client.result("server/discover", _meta=stateless("claude-code"))
        assert found["instructions"].startswith("# Task management")
        tools = client.result("tools/list", _meta=stateless("claude-code"))["tools"]
        assert [tool["name"] for tool in tools] == ["TodoWrite"]


@pytest.mark.parametrize(
    ("dialect", "tool", "listed"),
    [
        ("claude-code", "TodoWrite", '{"content": "Ask Ann", "status": "pending", "activeForm": "Ask Ann"}'),
        ("gencode", "TodoWrite", "[ ] Ask Ann"),
        ("llxprt", "todo_write", "- [ ] Ask Ann"),
    ],
)
def test_an_edit_that_is_told_in_an_answer_is_followed_by_the_list_once(dialect: str, tool: str, listed: str) -> None:
    todos = [READ] if tool == "TodoWrite" else [{"id": "1", "content": "Read", "status": "in_progress"}]
    with Raw("--dialect", dialect, env={**os.environ, "PUNCHLIST_SESSION": "s1"}) as client:
        client.greet()
        client.say(tool, todos=todos)
        do("add", "Ask Ann", "--session", "s1")
        told = client.say(tool, todos=todos)
        assert 'the user added "Ask Ann".' in told
        assert told.count(listed) == 1
        again = client.say(tool, todos=todos)
        assert again.count(listed) == (dialect != "claude-code"), "the others always answer with the list"


@pytest.mark.parametrize("dialect", [name for name in PATHS if name != "native"])
def test_the_instructions_of_a_dialect_are_its_own_and_bounded(dialect: str) -> None:
    with Raw("--dialect", dialect) as client:
        words = client.greet()["instructions"]
    assert "commit or open a pull request" in words
    assert tokens(words) <= 500
    assert "{" not in words


def test_a_session_begins_and_goes_on_with_the_attachments_of_the_dialect() -> None:
    keep_dialect("claude-code", "claude-code")
    assert event("SessionStart", source="startup").startswith("The todo list is empty."), "Claude Code wraps it itself"
    with punchlist.open(session="s1", dialect="claude-code") as desk:
        desk.call("TodoWrite", {"todos": [READ]})
    assert "Carry on with what is open." in event("SessionStart", source="compact")
    for source in ("resume", "clear"):
        told = event("SessionStart", source=source)
        assert '"content": "Read"' in told
        assert "Continue it when the user asks for it." in told


def test_reminders_come_as_often_as_that_system_reminds_on_our_budget() -> None:
    keep_dialect("claude-code", "claude-code")
    with punchlist.open(session="s1", dialect="claude-code") as desk:
        desk.call("TodoWrite", {"todos": [READ]})
        event("PostToolUse", tool_name="mcp__punchlist__TodoWrite", tool_input={"todos": [READ]}, tool_use_id="w")
        said = []
        for number in range(40):
            used = {"tool_input": {"command": f"ls {number}"}, "tool_use_id": f"t{number}"}
            said.append(event("PostToolUse", tool_name="Bash", **used))
        reminded = [number for number, text in enumerate(said, 1) if "1. [in_progress] Read" in text]
        assert reminded[:3] == [7, 10, 13]
        assert 0 < load_state(desk).spent <= 400


def test_a_setting_or_the_environment_counts_more(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_dialect("claude-code", "claude-code")
    assert for_host(load(), "claude-code").dialect == "claude-code"
    assert for_host(load(), "codex").dialect == "native"
    monkeypatch.setenv("PUNCHLIST_DIALECT", "gencode")
    assert for_host(load(), "claude-code").dialect == "gencode"

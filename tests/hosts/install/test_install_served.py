"""Hooks of Claude Code that the running server answers: installed, kept, taken out, and answered without a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops
from tests.mcp.raw import Raw

SCRIPT = str(Path(sys.executable).parent / "punchlist")
SERVED = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"]


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    return tmp_path / "work"


def run(*words: str, code: int = 0) -> str:
    done = subprocess.run([SCRIPT, *words], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def faults() -> list[str]:
    """What `doctor` finds wrong with Claude Code."""
    done = subprocess.run([SCRIPT, "doctor", "--json"], capture_output=True, encoding="utf-8", check=False)
    checks = json.loads(done.stdout)["checks"]
    return [one["text"] for one in checks if one["about"] == "claude-code" and one["state"] == "fault"]


def hooks(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    return found


def kinds(home: Path) -> dict[str, list[str]]:
    return {event: [one["type"] for group in groups for one in group["hooks"]] for event, groups in hooks(home).items()}


def test_hooks_go_to_the_server_except_the_one_that_comes_before_it(own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "server")
    assert kinds(own_home) == {"SessionStart": ["command"], **{event: ["mcp_tool"] for event in SERVED}}
    assert hooks(own_home)["PreToolUse"][0]["matcher"] == "mcp__punchlist__.*"


def test_a_further_installation_leaves_them_there_until_another_way_is_named(own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "server")
    before = hooks(own_home)
    assert "nothing had to be changed" in run("install", "claude-code")
    run("install", "claude-code", "--without", "status-line")
    assert hooks(own_home) == before
    assert faults() == []
    assert "not as this version installs it" not in run("doctor")
    run("install", "claude-code", "--hooks", "process")
    assert set(map(tuple, kinds(own_home).values())) == {("command",)}


def test_uninstalling_gives_the_same_bytes_back(own_home: Path) -> None:
    path = own_home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"Stop": [{"hooks": [\n {"type": "mcp_tool", "server": "other", "tool": "x"}]}]}}')
    before = path.read_bytes()
    run("install", "claude-code", "--hooks", "server")
    assert kinds(own_home)["Stop"] == ["mcp_tool", "mcp_tool"]
    run("uninstall", "claude-code")
    assert path.read_bytes() == before


def test_without_the_server_they_are_a_fault() -> None:
    run("install", "claude-code", "--hooks", "server", "--without", "server")
    assert faults() == ["hooks are answered by the server, which is not there"]


def test_other_agents_have_no_such_hooks() -> None:
    assert "only claude-code has" in run("install", "codex", "--hooks", "server", code=1)


# --- answered --------------------------------------------------------------------------------------------------------


def heard(client: Raw, event: str, **fields: Any) -> Any:
    """What Claude Code hears: it hands over every field as a text, and what is not there as an empty one."""
    common = {"host": "claude-code", "hook_event_name": event, "session_id": "s", "cwd": os.getcwd(), "agent_id": ""}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    result = client.result("tools/call", name="hook", arguments={**common, **texts})
    assert result["isError"] is False
    text = result["content"][0]["text"]
    return json.loads(text) if text else None


def test_the_server_answers_hooks_as_a_process_would() -> None:
    with Raw() as client:
        client.greet()
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["plan"]
        heard(client, "UserPromptSubmit", prompt="Mend it.")
        client.say("plan", add=["Read", "Write"])
        used = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}}
        assert heard(client, "PostToolUse", **used, tool_response={"stdout": "fine", "stderr": ""}) is None
        assert heard(client, "PostToolUseFailure", **used, error="Exit code 3", is_interrupt=False) is None
        with punchlist.open(session="s") as desk:
            assert [call["outcome"] for call in desk.plan.items[0].calls] == ["ok", "failed"]
            desk.change(lambda plan: ops.add(plan, "Test"))
        told = heard(client, "UserPromptSubmit", prompt="Go on.")
        assert told["hookSpecificOutput"]["additionalContext"] == 'the user added 3 "Test".'
        stop = {"last_assistant_message": "So far.", "background_tasks": [], "session_crons": []}
        assert heard(client, "Stop", **stop)["decision"] == "block"
        assert heard(client, "Stop", **{**stop, "background_tasks": [{"id": "1"}]}) is None


@pytest.mark.parametrize("fields", [{}, {"host": "nobody"}, {"host": "claude-code", "session_id": 7}, {"host": 3}])
def test_an_event_that_makes_no_sense_is_met_with_silence_and_a_line_in_the_log(
    fields: dict[str, Any], own_home: Path
) -> None:
    with Raw() as client:
        client.greet()
        assert client.call("hook", **fields) == ("", False)
        assert client.say("plan", add=["Read"]) == "added 1; now 1 Read (0/1)"
    assert len((own_home / "punchlist" / "hook.log").read_text().splitlines()) == 1

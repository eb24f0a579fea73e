"""A hook that an agent types in its own shell is refused: it would pose as the user. The agent's own hooks are not."""

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

SCRIPT = str(Path(sys.executable).parent / "punchlist")
PAUSE = "The database schema is unclear and needs a decision of the user."


@pytest.fixture(autouse=True)
def paused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that only the user's next message resumes."""
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})
        desk.change(lambda plan: ops.pause(plan, PAUSE, "2026-01-01T00:00:00.000Z"))


def prompt(host: str, session: str = "s1") -> dict[str, Any]:
    """The user speaks, as each agent tells of it."""
    if host in ("opencode", "oh-my-pi"):
        return {"moment": "prompt", "session": session, "cwd": os.getcwd(), "prompt": "Go on."}
    if host == "goose":
        return {"event": "UserPromptSubmit", "session_id": session, "working_dir": os.getcwd(), "message": "Go on."}
    name = "BeforeAgent" if host == "gemini" else "UserPromptSubmit"
    return {"hook_event_name": name, "session_id": session, "cwd": os.getcwd(), "prompt": "Go on."}


def hook(host: str, event: dict[str, Any], *words: str, **env: str) -> None:
    """Standard output is empty and the exit code 0, whatever happens."""
    given = {**os.environ, **env}
    done = subprocess.run([SCRIPT, "hook", host, *words], input=json.dumps(event), env=given, text=True, check=True)
    assert done.returncode == 0


def is_paused() -> bool:
    with punchlist.open(session="s1") as desk:
        return desk.plan.paused is not None


def faults() -> str:
    path = Path(os.environ["XDG_STATE_HOME"], "punchlist", "hook.log")
    return path.read_text(encoding="utf-8") if path.exists() else ""


IN_SHELL = {
    "claude-code": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"},
    "codex": {"CODEX_THREAD_ID": "s1", "CODEX_SESSION_ID": "s1"},
    "gemini": {"GEMINI_CLI": "1"},
    "goose": {"AGENT_SESSION_ID": "s1"},
}
IN_HOOK = {
    "claude-code": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1", "CLAUDE_PROJECT_DIR": "/work"},
    "codex": {},
    "gemini": {"GEMINI_SESSION_ID": "s1", "GEMINI_PROJECT_DIR": "/work"},
    "goose": {},
}


@pytest.mark.parametrize("host", IN_SHELL)
def test_an_event_with_the_environment_of_a_shell_is_refused(host: str) -> None:
    hook(host, prompt(host), **IN_SHELL[host])
    assert is_paused()
    assert "typed in the shell of an agent" in faults()


@pytest.mark.parametrize("host", IN_HOOK)
def test_an_event_with_the_environment_of_a_hook_is_heard(host: str) -> None:
    hook(host, prompt(host), **IN_HOOK[host])
    assert not is_paused()
    assert faults() == ""


@pytest.mark.parametrize("host", ["codex", "goose"])
def test_an_agent_that_was_started_in_the_shell_of_its_like_is_heard(host: str) -> None:
    outer = dict.fromkeys(IN_SHELL[host], "outer")
    hook(host, prompt(host), **outer)
    assert not is_paused()


def test_no_option_makes_an_event_look_served() -> None:
    hook("claude-code", prompt("claude-code"), "--served", **IN_SHELL["claude-code"])
    assert is_paused()


class TestCommandThatWasSeen:
    """The hook before a tool use has seen that the agent types one. The environment may say what it likes then."""

    @staticmethod
    def use(event: str, use: str, command: str) -> dict[str, Any]:
        args = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": use, "tool_response": "ok"}
        return {"hook_event_name": event, "session_id": "s1", "cwd": os.getcwd(), **args}

    @pytest.mark.parametrize("host", [*IN_HOOK, "opencode", "oh-my-pi"])
    def test_what_an_agent_types_is_refused_for_every_host(self, host: str) -> None:
        hook("claude-code", self.use("PreToolUse", "u1", f"echo '{{}}' | env -i {SCRIPT} hook {host}"))
        hook(host, prompt(host))
        assert is_paused()
        assert "typed in the shell of an agent" in faults()

    def test_with_the_end_of_the_command_hooks_are_heard_again(self) -> None:
        typed = f"{SCRIPT} hook claude-code < event.json"
        hook("claude-code", self.use("PreToolUse", "u1", typed))
        hook("claude-code", self.use("PostToolUse", "u2", typed))
        assert "typed" in faults(), "that is not the end of the command"
        hook("claude-code", self.use("PostToolUse", "u1", typed))
        hook("claude-code", prompt("claude-code"))
        assert not is_paused()

    def test_other_commands_of_ours_are_no_reason(self) -> None:
        hook("claude-code", self.use("PreToolUse", "u1", f"{SCRIPT} done 1"))
        hook("claude-code", prompt("claude-code"))
        assert not is_paused()

    def test_what_was_typed_long_ago_and_never_ended_is_no_reason(self) -> None:
        hook("claude-code", self.use("PreToolUse", "u1", f"{SCRIPT} hook claude-code"))
        for path in Path(os.environ["XDG_STATE_HOME"], "punchlist", "ties").iterdir():
            os.utime(path, (1_000_000_000, 1_000_000_000))
        hook("claude-code", prompt("claude-code"))
        assert not is_paused()

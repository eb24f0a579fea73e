"""Whether a command worked, and its exit code, as each agent tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.hosts import answer

pytestmark = pytest.mark.usefixtures("own_project")


def kept(host: str, event: dict[str, Any]) -> tuple[str, int | None]:
    """The outcome and the exit code that are kept of a tool call."""
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read"]})
        answer(host, event)
        (call,) = desk.load(calls=True).items[0].calls
        return call["outcome"], call.get("exit")


def claude(**more: Any) -> dict[str, Any]:
    return {"session_id": "s", "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}, **more}


def gemini(end: str, printed: str, output: str = "") -> dict[str, Any]:
    about = {"hook_event_name": "AfterTool", "session_id": "s", "tool_name": "run_shell_command", "tool_input": {}}
    shown = f"<untrusted_context>\nOutput: {output or printed}\n{end}Process Group PGID: 13028\n</untrusted_context>"
    return {**about, "tool_response": {"llmContent": shown, "returnDisplay": printed}}


def plugin(**more: Any) -> dict[str, Any]:
    return {"moment": "after", "session": "s", "tool": "bash", "args": {"command": "make"}, "result": "out", **more}


WORKED = {"stdout": "Exit code 3", "stderr": "", "interrupted": False}


@pytest.mark.parametrize(
    ("host", "event", "expected"),
    [
        ("claude-code", claude(hook_event_name="PostToolUse", tool_response=WORKED), ("ok", None)),
        ("claude-code", claude(hook_event_name="PostToolUseFailure", error="Exit code 1"), ("failed", 1)),
        ("claude-code", claude(hook_event_name="PostToolUseFailure", error="Exit code 127\nno x"), ("failed", 127)),
        ("claude-code", claude(hook_event_name="PostToolUseFailure", error="3"), ("failed", None)),
        (
            "claude-code",
            claude(hook_event_name="PostToolUseFailure", error="Exit code " + "9" * 5000),
            ("failed", None),
        ),
        ("gemini", gemini("", "fine"), ("ok", None)),
        ("gemini", gemini("Exit Code: 1\n", "Command exited with code: 1", "(empty)"), ("failed", 1)),
        ("gemini", gemini("Exit Code: 127\n", "bash: no x\nnot found"), ("failed", 127)),
        ("gemini", gemini("Signal: 9\n", "Command terminated by signal: 9", "(empty)"), ("failed", None)),
        ("gemini", gemini("", "what it printed\nExit Code: 4\nSignal: 9"), ("ok", None)),
        ("gemini", gemini("Exit Code: 5\n", "Exit Code: 4"), ("failed", 5)),
        ("opencode", plugin(failed=False, exit=0), ("ok", 0)),
        ("opencode", plugin(failed=True, exit=3), ("failed", 3)),
        ("opencode", plugin(failed=True, exit=None), ("failed", None)),
        ("opencode", plugin(failed=False), ("ok", None)),
        ("oh-my-pi", plugin(failed=False), ("ok", None)),
        ("oh-my-pi", plugin(failed=True, exit=3), ("failed", 3)),
        ("oh-my-pi", plugin(failed=True, exit=True), ("failed", None)),
        ("goose", {"event": "PostToolUse", "session_id": "s", "tool_name": "shell"}, ("ok", None)),
        ("goose", {"event": "PostToolUseFailure", "session_id": "s", "tool_name": "shell"}, ("failed", None)),
    ],
)
def test_a_command_is_kept_with_what_its_agent_says_of_its_end(
    host: str, event: dict[str, Any], expected: tuple[str, int | None]
) -> None:
    assert kept(host, event) == expected


def ended(use: str, code: Any) -> dict[str, Any]:
    item = {"type": "CommandExecution", "id": use, "status": "failed", "aggregated_output": "", "exit_code": code}
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}


CALLED = {"type": "response_item", "payload": {"type": "function_call", "call_id": "t", "name": "exec_command"}}


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([ended("t", 0)], ("ok", 0)),
        ([CALLED, ended("t", 3)], ("failed", 3)),
        ([ended("t", 3), ended("other", 0)], ("failed", 3)),
        ([ended("t", None)], ("unknown", None)),
        ([ended("other, not t", 3)], ("unknown", None)),
        ([CALLED, {"payload": "t"}, {"payload": {"item": "t"}}, 3, "t"], ("unknown", None)),
        ([], ("unknown", None)),
    ],
)
def test_the_log_of_codex_says_how_a_command_ended(
    log: list[Any], expected: tuple[str, int | None], tmp_path: Path
) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in log))
    about = claude(hook_event_name="PostToolUse", tool_response="out", transcript_path=str(path))
    assert kept("codex", about) == expected


@pytest.mark.parametrize("path", ["/nowhere/log.jsonl", "", None])
def test_without_its_log_nobody_knows_how_a_command_of_codex_ended(path: str | None) -> None:
    about = claude(hook_event_name="PostToolUse", tool_response="out", transcript_path=path)
    assert kept("codex", about) == ("unknown", None)

"""Whether a command worked, and its exit code, as each agent tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.hosts import answer, load

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


def qwen(output: str, code: str, signal: str = "(none)", *, hint: str = "") -> dict[str, Any]:
    end = f"Error: (none)\nExit Code: {code}\nSignal: {signal}\nProcess Group PGID: (none)"
    shown = f"Command: make\nDirectory: (root)\nOutput: {output}\n{end}"
    if hint:
        shown += f"\n\n---\n{hint}"
    return qwen_said(shown)


def qwen_said(text: str) -> dict[str, Any]:
    about = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "run_shell_command", "tool_input": {}}
    return {**about, "tool_response": {"llmContent": text, "returnDisplay": text}}


def plugin(**more: Any) -> dict[str, Any]:
    return {"moment": "after", "session": "s", "tool": "bash", "args": {"command": "make"}, "result": "out", **more}


WORKED = {"stdout": "Exit code 3", "stderr": "", "interrupted": False}


@pytest.mark.parametrize(
    ("host", "event", "expected"),
    [
        ("claude-code", claude(hook_event_name="PostToolUse", tool_response=WORKED), ("ok", 0)),
        ("claude-code", claude(hook_event_name="PostToolUseFailure", error="Exit code 1"), ("failed", 1)),
        ("claude-code", claude(hook_event_name="PostToolUseFailure", error="Exit code 127\nno x"), ("failed", 127)),
        ("claude-code", claude(hook_event_name="PostToolUseFailure", error="3"), ("failed", None)),
        (
            "claude-code",
            claude(hook_event_name="PostToolUseFailure", error="Exit code " + "9" * 5000),
            ("failed", None),
        ),
        ("gemini", gemini("", "fine"), ("ok", 0)),
        ("gemini", gemini("Exit Code: 1\n", "Command exited with code: 1", "(empty)"), ("failed", 1)),
        ("gemini", gemini("Exit Code: 127\n", "bash: no x\nnot found"), ("failed", 127)),
        ("gemini", gemini("Signal: 9\n", "Command terminated by signal: 9", "(empty)"), ("failed", None)),
        ("gemini", gemini("", "what it printed\nExit Code: 4\nSignal: 9"), ("ok", 0)),
        ("gemini", gemini("Exit Code: 5\n", "Exit Code: 4"), ("failed", 5)),
        ("qwen-code", qwen("fine", "0"), ("ok", 0)),
        ("qwen-code", qwen("(empty)", "1"), ("failed", 1)),
        ("qwen-code", qwen("what it printed\nExit Code: 4\nSignal: 9", "0"), ("ok", 0)),
        ("qwen-code", qwen("Exit Code: 0", "5", hint="took long"), ("failed", 5)),
        ("qwen-code", qwen("hi", "(none)", "9"), ("failed", None)),
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


def moved(**more: Any) -> dict[str, Any]:
    return claude(hook_event_name="PostToolUse", tool_response={**WORKED, **more})


def failed(error: str, **more: Any) -> dict[str, Any]:
    return claude(hook_event_name="PostToolUseFailure", error=error, is_interrupt=False, **more)


def said(text: str) -> dict[str, Any]:
    event = gemini("", "")
    return {**event, "tool_response": {"llmContent": text, "returnDisplay": text}}


@pytest.mark.parametrize(
    ("host", "event", "code", "why"),
    [
        ("claude-code", moved(returnCodeInterpretation="Condition is false"), 1, ""),
        ("claude-code", moved(returnCodeInterpretation="No matches found"), 1, ""),
        ("claude-code", moved(returnCodeInterpretation="Something new"), None, ""),
        ("claude-code", moved(backgroundTaskId="b1"), None, "it went to the background"),
        ("claude-code", moved(interrupted=True), None, "it was interrupted"),
        ("claude-code", claude(hook_event_name="PostToolUse", tool_response="fine"), None, ""),
        ("claude-code", claude(hook_event_name="PostToolUse", tool_name="mcp__x__run", tool_response=WORKED), None, ""),
        ("claude-code", failed("Exit code 143\nhi\nCommand timed out after 1s"), 143, "it timed out"),
        ("claude-code", failed("Exit code 1\nCommand timed out after 1s"), 1, ""),
        ("claude-code", {**failed("Exit code 130"), "is_interrupt": True}, 130, "it was interrupted"),
        ("gemini", gemini("Background PIDs: 3\n", "hi"), 0, ""),
        ("gemini", gemini("Error: spawn\n", "hi"), None, ""),
        ("gemini", gemini("Exit Code: 0\n", "other", "hi"), None, ""),
        ("gemini", gemini("Signal: 9\n", "hi\nExit Code: 0"), None, "it was killed"),
        ("gemini", said("Command moved to background (PID: 3). Output hidden."), None, "it went to the background"),
        ("gemini", said("Command was automatically cancelled because it took too long"), None, "it timed out"),
        ("gemini", said("Command was cancelled by user before it could complete."), None, "it was interrupted"),
        ("gemini", {**said("x"), "tool_response": {"llmContent": "x", "error": {"message": "y"}}}, None, ""),
        ("qwen-code", qwen("hi\nExit Code: 0", "(none)", "9"), None, "it was killed"),
        ("qwen-code", qwen_said("Command timed out after 9ms.\nExit Code: 0\nSignal: (none)"), None, "it timed out"),
        ("qwen-code", qwen_said("Command was cancelled by user\nExit Code: 0"), None, "it was interrupted"),
        ("qwen-code", qwen_said("Background shell started.\nExit Code: 0"), None, ""),
        ("qwen-code", qwen_said("Command: make\nOutput: cut off"), None, ""),
        (
            "qwen-code",
            {**qwen("hi", "0"), "tool_input": {"command": "make &", "is_background": True}},
            None,
            "it went to the background",
        ),
        ("qwen-code", {**qwen("hi", "0"), "is_interrupt": True}, None, "it was interrupted"),
        (
            "opencode",
            plugin(failed=True, exit=None, no_exit="it timed out or was killed"),
            None,
            "it timed out or was killed",
        ),
        ("oh-my-pi", plugin(no_exit="it went to the background"), None, "it went to the background"),
        (
            "goose",
            {"event": "PostToolUse", "session_id": "s", "tool_name": "shell"},
            None,
            "Goose does not tell its exit code",
        ),
        ("goose", {"event": "PostToolUse", "session_id": "s", "tool_name": "read"}, None, ""),
    ],
)
def test_an_exit_code_that_is_not_certain_is_not_known(
    host: str, event: dict[str, Any], code: int | None, why: str
) -> None:
    found = load(host).read(event)
    assert (found.exit, found.no_exit) == (code, why)


@pytest.mark.parametrize(
    ("command", "log", "folder"),
    [
        ("make", [], None),
        ("cd sub && make", [{"type": "assistant", "cwd": "/p", "id": "t"}], "/p"),
        ("cd sub && make", [{"type": "user", "cwd": "/p/sub", "id": "t"}], ""),
        ("cd sub && make", [{"type": "assistant", "cwd": "/q", "id": "other"}], ""),
        ("pushd sub && make", [], ""),
    ],
)
def test_a_command_of_claude_code_began_where_its_log_says(
    command: str, log: list[dict[str, str]], folder: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in log))
    about = {**moved(), "tool_use_id": '"t"', "cwd": "/p/sub", "transcript_path": str(path)}
    about["tool_input"] = {"command": command}
    found = load("claude-code").read(about)
    if found.find_folder is not None:
        assert (found.folder, found.find_folder()) == ("", folder)
    else:
        assert (found.folder, folder) == (None, None), "it began where it ended"
    assert load("claude-code").read({**about, "hook_event_name": "PostToolUseFailure"}).folder is None, "it stays"


def test_the_log_of_codex_says_where_a_command_ran_and_how_long(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    line = ended("t", 0)
    line["payload"] |= {"started_at_ms": 1000, "completed_at_ms": 3500}
    line["payload"]["item"]["cwd"] = "file:///my%20work/sub"
    path.write_text(json.dumps(line) + "\n")
    about = claude(hook_event_name="PostToolUse", tool_response="out", transcript_path=str(path))
    found = load("codex").read(about)
    assert (found.folder, found.seconds) == ("/my work/sub", 2.5)


def test_a_command_of_codex_that_was_killed_has_no_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_text(json.dumps(ended("t", -1)) + "\n")
    about = claude(hook_event_name="PostToolUse", tool_response="out", transcript_path=str(path))
    found = load("codex").read(about)
    assert (found.exit, found.no_exit, found.failed) == (None, "it was killed", True)


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

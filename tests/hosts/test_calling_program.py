"""Cursor also runs the hooks in Claude Code's settings: each event is answered once, and in its form."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.hosts.calling_program import answering, is_guest
from tests.commands import do

VERSION = {"cursor_version": "3.9.16"}


@pytest.mark.parametrize(
    ("event", "environ", "expected"),
    [
        (VERSION, {}, True),
        (VERSION, {"CLAUDECODE": "1"}, True),
        ({}, {"CURSOR_VERSION": "3.9.16"}, True),
        ({}, {"CURSOR_VERSION": "3.9.16", "CLAUDECODE": "1"}, False),
        ({}, {"CURSOR_VERSION": "3.9.16", "CLAUDE_CODE_SESSION_ID": "s"}, False),
        ({}, {"CURSOR_TRACE_ID": "t"}, False),
        ({"cursor_version": ""}, {}, False),
        ({}, {}, False),
    ],
)
def test_cursor_is_known_by_its_event_or_its_variable(
    event: dict[str, str], environ: dict[str, str], expected: bool
) -> None:
    assert is_guest(event, environ) is expected


@pytest.mark.parametrize(
    ("name", "guest", "attached", "expected"),
    [
        ("claude-code", False, False, "claude-code"),
        ("claude-code", False, True, "claude-code"),
        ("claude-code", True, False, "cursor"),
        ("claude-code", True, True, ""),
        ("cursor", True, True, "cursor"),
        ("codex", True, True, "codex"),
    ],
)
def test_an_event_is_answered_by_one_hook(name: str, guest: bool, attached: bool, expected: str) -> None:
    assert answering(name, is_guest=guest, is_attached=attached) == expected


@pytest.fixture
def project(own_project: None) -> Path:
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})
    return Path.cwd()


def stop(host: str, **more: Any) -> dict[str, Any]:
    about = {"session_id": "s", "conversation_id": "s", "workspace_roots": [os.getcwd()]}
    event = {"hook_event_name": "stop", "status": "completed", "loop_count": 0, **about, **VERSION, **more}
    found: dict[str, Any] = json.loads(do("hook", host, stdin=json.dumps(event)) or "{}")
    return found


def test_claude_code_s_hook_answers_cursor_in_its_form_if_nobody_else_does(project: Path) -> None:
    said = stop("claude-code")
    assert said.keys() == {"followup_message"}
    assert '"Read" (0/2)' in said["followup_message"]


def test_claude_code_s_hook_is_silent_where_cursor_has_one_of_ours(project: Path) -> None:
    do("install", "cursor", "--scope", "project")
    assert stop("claude-code") == {}
    assert stop("cursor").keys() == {"followup_message"}, "which is asked for the first time"


@pytest.mark.parametrize("more", [{"loop_count": 5}, {"status": "aborted"}])
def test_cursor_s_limit_and_an_interruption_are_respected(project: Path, more: dict[str, Any]) -> None:
    assert stop("claude-code", **more) == {}
    assert stop("cursor", **more) == {}


@pytest.mark.parametrize(("host", "name"), [("cursor", "beforeSubmitPrompt"), ("copilot", "UserPromptSubmit")])
def test_a_nudge_that_is_sent_as_a_prompt_is_not_the_user_s(project: Path, host: str, name: str) -> None:
    event = {"session_id": "s", "cwd": os.getcwd()}
    ended = json.dumps({**event, "hook_event_name": "stop" if host == "cursor" else "Stop"})
    first = json.loads(do("hook", host, stdin=ended))
    nudge = first.get("followup_message") or first["reason"]
    do("hook", host, stdin=json.dumps({**event, "hook_event_name": name, "prompt": nudge}))
    assert do("hook", host, stdin=ended) == ""
    do("hook", host, stdin=json.dumps({**event, "hook_event_name": name, "prompt": "Go on."}))
    assert do("hook", host, stdin=ended) != ""


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"output": "hi", "exitCode": 0}', ("hi", 0, False)),
        ('{"stdout": "hi", "exitCode": 3}', ("hi", 3, True)),
        ({"output": "hi"}, ("hi", None, False)),
        ("hi", ("hi", None, False)),
        (None, ("", None, False)),
    ],
)
def test_what_cursor_says_of_a_command(output: Any, expected: tuple[str, int | None, bool]) -> None:
    from punchlist.hosts import load

    event = {"hook_event_name": "postToolUse", "session_id": "s", "tool_name": "Shell", "tool_output": output}
    found = load("cursor").read(event)
    assert (found.result, found.exit, found.failed) == expected


def test_copilot_cli_and_vs_code_each_find_the_answer_where_they_look(project: Path) -> None:
    ended = {"hook_event_name": "Stop", "session_id": "s", "cwd": os.getcwd(), "stop_hook_active": False}
    said = json.loads(do("hook", "copilot", stdin=json.dumps(ended)))
    inner = said.pop("hookSpecificOutput")
    assert said.keys() == {"decision", "reason"}
    assert inner == {"hookEventName": "Stop", **said}

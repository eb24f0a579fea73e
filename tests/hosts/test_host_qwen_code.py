"""What is special about Qwen Code: it sends the event of a prompt with every tool result, and with what it is nudged
with."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops
from punchlist.hosts import load
from punchlist.install.parts import prompt_command
from tests.commands import do

pytestmark = pytest.mark.usefixtures("own_project")


def event(name: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": "s", "cwd": os.getcwd(), "transcript_path": "", **more}


def hook(name: str, **more: Any) -> str:
    return do("hook", "qwen-code", stdin=json.dumps(event(name, **more)))


@pytest.mark.parametrize(
    ("more", "paused"),
    [
        ({"prompt": ""}, True),
        ({"prompt": "The plan is not finished: continue."}, True),
        ({"prompt": "", "submitted_prompt": ""}, True),
        ({"prompt": "<system-reminder>x</system-reminder>Go on.", "submitted_prompt": "Go on."}, False),
    ],
)
def test_only_what_the_user_has_submitted_is_a_prompt(more: dict[str, str], paused: bool) -> None:
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read"]})
        desk.change(lambda plan: ops.pause(plan, "the licence is missing"))
        hook("UserPromptSubmit", **more)
        assert (desk.plan.paused is not None) is paused


def test_a_nudge_that_comes_back_as_a_prompt_does_not_start_the_count_again() -> None:
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read"]})
    stop = {"stop_hook_active": False, "last_assistant_message": "So far.", "background_tasks": [], "crons": []}
    first = json.loads(hook("Stop", **stop))
    assert first.keys() == {"decision", "reason"}
    assert hook("UserPromptSubmit", prompt=first["reason"]) == ""
    assert hook("Stop", **{**stop, "stop_hook_active": True}) == ""


@pytest.mark.parametrize("busy", [{"background_tasks": [{"id": "a", "status": "running"}]}, {"crons": [{"id": "c"}]}])
def test_an_agent_that_waits_for_work_in_the_background_is_not_nudged(busy: dict[str, Any]) -> None:
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read"]})
    stop = {"last_assistant_message": "So far.", "background_tasks": [], "crons": []}
    assert hook("Stop", **{**stop, **busy}) == ""


@pytest.mark.parametrize(
    ("said", "items"), [("User approved. You can now start coding.", 2), ("Leader rejected it.", 0)]
)
def test_a_plan_that_the_user_has_approved_becomes_the_plan(said: str, items: int) -> None:
    given = {"tool_name": "exit_plan_mode", "tool_input": {"plan": "1. Read the parser\n2. Fix it"}}
    hook("PostToolUse", **given, tool_response={"llmContent": said, "returnDisplay": said})
    with punchlist.open(session="s") as desk:
        assert len(desk.plan.items) == items


@pytest.mark.skipif(os.name == "nt", reason="needs sh")
def test_the_hook_for_prompts_starts_punchlist_only_for_what_the_user_has_submitted(tmp_path: Path) -> None:
    program = tmp_path / "it's" / "punchlist"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@"; cat\n')
    program.chmod(0o700)
    command = prompt_command(str(program), "qwen-code")
    submitted, other = event("UserPromptSubmit", prompt="x", submitted_prompt="x"), event("UserPromptSubmit", prompt="")
    quoting = event("UserPromptSubmit", prompt='{"submitted_prompt": "x"}')
    said = [
        subprocess.run(["sh", "-c", command], input=json.dumps(one), capture_output=True, text=True, check=True).stdout
        for one in (submitted, other, quoting)
    ]
    assert said == [f"hook qwen-code\n{json.dumps(submitted)}", "", ""]


def test_what_a_command_printed_is_kept_without_the_lines_around_it() -> None:
    shown = "Command: make\nDirectory: (root)\nOutput: a\nError: b\nError: (none)\nExit Code: 2\nSignal: (none)"
    given = {"tool_name": "run_shell_command", "tool_input": {"command": "make"}, "error": shown}
    found = load("qwen-code").read(event("PostToolUseFailure", **given))
    assert (found.result, found.exit, found.failed) == ("a\nError: b", 2, True)

"""What hooks observe of checks: which runs count, where a check belongs, and what a mirrored tool sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.desk.evidence import load_seen
from punchlist.hosts import answer

pytestmark = pytest.mark.usefixtures("own_project")
WORKED = {"stdout": "fine", "stderr": "", "interrupted": False}


def bash(command: str, folder: str, **more: Any) -> dict[str, Any]:
    about = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t"}
    return {**about, "cwd": folder, "tool_input": {"command": command, **more}, "tool_response": WORKED}


def task(tool: str, folder: str, **args: Any) -> dict[str, Any]:
    about = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": tool, "tool_use_id": "t"}
    return {**about, "cwd": folder, "tool_input": args, "tool_response": {"task": {"id": "1"}}}


def checked(desk: punchlist.Desk, command: str) -> None:
    desk.call("plan", {"add": [{"text": "Read", "check": command}]})


def seen(desk: punchlist.Desk) -> tuple[int, int, list[str]]:
    """How many runs passed and failed, and why others do not count."""
    found = load_seen(desk._seat.store, desk.plan, desk.plan.items)["1"]
    return len(found.passes), len(found.failures), [str(row["why"]) for row in found.hidden]


def test_a_run_that_a_hook_sees_counts(tmp_path: Path) -> None:
    here = str(Path.cwd())
    with punchlist.open(session="s") as desk:
        checked(desk, "make test")
        answer("claude-code", bash("make test", here))
        assert seen(desk) == (1, 0, [])
        failed = {**bash("make test", here), "hook_event_name": "PostToolUseFailure", "error": "Exit code 2"}
        answer("claude-code", failed)
        assert seen(desk) == (1, 1, [])
        answer("claude-code", bash("make test", str(tmp_path)))
        assert seen(desk) == (1, 1, []), "it ran elsewhere"


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (bash("make test", ".", run_in_background=True), "it went to the background"),
        (bash("make test | tail", "."), "a pipe hides its exit code: run it without `| tail`"),
        ({**bash("make test", "."), "tool_name": "mcp__other__run"}, "its exit code is not known"),
        ({**bash("make test", "."), "tool_response": {**WORKED, "interrupted": True}}, "it was interrupted"),
        ({**bash("make test", "."), "tool_response": "fine"}, "its exit code is not known"),
    ],
)
def test_a_run_whose_end_is_not_certain_does_not_count_and_says_why(event: dict[str, Any], why: str) -> None:
    with punchlist.open(session="s") as desk:
        checked(desk, "make test")
        answer("claude-code", {**event, "cwd": str(Path.cwd())})
        assert seen(desk) == (0, 0, [why])


def test_variables_that_a_call_sets_are_a_part_of_its_command() -> None:
    here = str(Path.cwd())
    about = {"moment": "after", "session": "s", "cwd": here, "tool": "bash", "result": "fine", "exit": 0}
    with punchlist.open(session="s") as desk:
        checked(desk, "make test")
        answer("oh-my-pi", {**about, "args": {"command": "make test", "env": {"PATH": "/tmp/mine"}}})
        passes, failures, why = seen(desk)
        assert (passes, failures, len(why)) == (0, 0, 1)
        answer("oh-my-pi", {**about, "args": {"command": "make test", "cwd": "sub"}})
        assert seen(desk)[0] == 0, "it ran elsewhere"
        answer("oh-my-pi", {**about, "args": {"command": "make test"}, "seconds": 1.5})
        assert seen(desk)[0] == 1
        [row] = load_seen(desk._seat.store, desk.plan, desk.plan.items)["1"].passes
        assert row["seconds"] == 1.5


def test_the_metadata_of_a_mirrored_task_sets_its_check_in_the_directory_of_the_agent(tmp_path: Path) -> None:
    with punchlist.open(session="s") as desk:
        about = {"subject": "Read", "description": "all", "metadata": {"check": "make test"}}
        answer("claude-code", task("TaskCreate", str(tmp_path), **about))
        [item] = desk.load().items
        assert (item.check, item.check_set["dir"]) == ({"run": "make test"}, str(tmp_path))
        assert item.check_set["by"] != "user"


@pytest.mark.parametrize("other", [3, ["a"], {"runs": "x"}, "", None, "two\nlines"])
def test_a_mirrored_task_whose_metadata_means_something_else_by_check_is_made_without_one(other: Any) -> None:
    with punchlist.open(session="s") as desk:
        about = {"subject": "Read", "description": "all", "metadata": {"check": other}}
        answer("claude-code", task("TaskCreate", str(Path.cwd()), **about))
        [item] = desk.load().items
        assert (item.text, item.check) == ("Read", {})


@pytest.mark.parametrize(
    "words",
    [
        ["echo", "&&", "make", "test"],
        ["bash", "-c", "true", "&&", "make", "test"],
        ["echo", "-c", "make test"],
        ["./bash", "-c", "make test"],
        ["true", "make test"],
    ],
)
def test_a_list_of_words_means_just_these_words(words: list[str]) -> None:
    with punchlist.open(session="s") as desk:
        checked(desk, "make test")
        desk.tool_used("shell", {"command": words}, "fine", exit=0)
        assert seen(desk)[:2] == (0, 0)
        desk.tool_used("shell", {"command": ["make", "test"]}, "fine", exit=0)
        assert seen(desk)[:2] == (1, 0)


def test_what_an_embedder_reports_counts_only_with_an_exit_code() -> None:
    with punchlist.open(session="s") as desk:
        checked(desk, "make test")
        desk.tool_used("shell", {"command": "make test"}, "fine")
        desk.tool_used("shell", {"cmd": "make test"}, "broken", failed=True)
        assert seen(desk) == (0, 0, ["its exit code is not known"] * 2)
        desk.tool_used("shell", {"script": "make test"}, "broken", exit=2)
        desk.tool_used("shell", {"command": ["bash", "-lc", "make test"]}, "fine", exit=0, seconds=2.0)
        desk.tool_used("shell", {"command": "make test"}, "fine", exit=0, folder="/elsewhere")
        assert seen(desk)[:2] == (1, 1)

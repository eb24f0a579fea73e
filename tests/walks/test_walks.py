"""The three walks through the house, each from end to end: a model's call, a hook, a user's edit."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import punchlist
from tests.commands import SCRIPT, do, logged_errors, run

pytestmark = pytest.mark.usefixtures("own_project")


def call(tool: str, args: object, *words: str) -> Any:
    return json.loads(run("call", tool, *words, stdin=json.dumps(args)).stdout)


def hook(name: str, **more: Any) -> list[str]:
    """An event of Claude Code's session `s1`; the lines the model is told."""
    event = {"hook_event_name": name, "session_id": "s1", "transcript_path": "", "cwd": os.getcwd(), **more}
    said = do("hook", "claude-code", stdin=json.dumps(event))
    answer = json.loads(said) if said else {}
    told: str = answer.get("hookSpecificOutput", {}).get("additionalContext", answer.get("reason", ""))
    return told.splitlines()


def todos(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"todos": [{"content": text, "status": status, "activeForm": f"{text}, now"} for text, status in pairs]}


def items(said: Any) -> list[tuple[str, str]]:
    return [(item["text"], item["status"]) for item in said["plan"]["items"]]


# --- a model's tool call ---------------------------------------------------------------------------------------------


def test_a_model_s_call_goes_from_its_arguments_to_a_durable_plan_and_an_answer() -> None:
    first = call("plan", {"add": ["Read", "Write", {"text": "Test", "needs": [2]}]}, "--session", "s1")
    assert first["text"] == "added 1-3; now 1 Read (0/3)"

    refused = call("plan", {"done": ["one"], "frob": 1}, "--session", "s1")
    assert refused["is_error"]
    assert "frob" in refused["text"]
    assert "done[0]" in refused["text"]
    assert refused["plan"] == first["plan"]

    last = call("plan", {"done": [1], "note": {"2": "in C"}}, "--session", "s1")
    assert last["text"] == "now 2 Write (1/3)"
    assert last["plan"] == json.loads(do("show", "--json", "--session", "s1"))

    with punchlist.open(session="s1") as desk:
        assert [(record.revision, record.by, record.dialect) for record in desk.history()] == [
            (1, "main", "native"),
            (2, "main", "native"),
        ]
        assert punchlist.codec.to_json(desk.at(1)) == first["plan"]


def test_a_list_that_is_sent_whole_is_applied_to_what_its_author_saw() -> None:
    words = ["--session", "s1", "--dialect", "claude-code"]
    call("TodoWrite", todos(("Read", "in_progress"), ("Write", "pending"), ("Test", "pending")), *words)

    for edit in (["done", "Read"], ["rename", "Write", "Write it well"], ["rm", "Test"], ["add", "Ship"]):
        do(*edit, "--session", "s1")

    said = call("TodoWrite", todos(("Read", "pending"), ("Write", "in_progress"), ("Test", "pending")), *words)
    assert items(said) == [("Read", "completed"), ("Write it well", "in_progress"), ("Ship", "pending")]
    for news in ('completed "Read"', 'renamed "Write" to "Write it well"', 'removed "Test"', 'added "Ship"'):
        assert f"the user {news}" in said["text"]

    again = call("TodoWrite", todos(("Read", "completed"), ("Write it well", "completed"), ("Ship", "pending")), *words)
    assert "the user" not in again["text"]
    assert items(again) == [("Read", "completed"), ("Write it well", "completed"), ("Ship", "pending")]


def test_agents_that_call_at_once_lose_nothing() -> None:
    call("plan", {"add": ["Begin"]}, "--session", "s1")
    plan = json.loads(do("show", "--json", "--session", "s1"))["id"]
    words = [SCRIPT, "call", "plan", "--plan", plan]
    racing = [
        subprocess.Popen([*words, "--agent", f"a{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(6)
    ]
    for number, process in enumerate(racing):
        assert process.stdin is not None
        process.stdin.write(json.dumps({"add": [f"Item of agent {number}"]}))
        process.stdin.close()
    for process in racing:
        assert process.stdout is not None
        assert json.loads(process.stdout.read())["is_error"] is False
        process.stdout.close()
        assert process.wait() == 0
    found = json.loads(do("show", "--json", "--plan", plan))
    assert {item["text"] for item in found["items"]} == {"Begin", *(f"Item of agent {number}" for number in range(6))}
    assert sorted(int(item["id"]) for item in found["items"]) == list(range(1, 8))
    assert found["revision"] == 7


# --- a hook at the end of a turn -------------------------------------------------------------------------------------


def test_a_session_of_an_agent_is_followed_by_its_hooks() -> None:
    assert hook("SessionStart", source="startup") == []
    assert hook("UserPromptSubmit", prompt="Fix the parser") == []

    sent = todos(("Reproduce", "in_progress"), ("Fix", "pending"))
    assert hook("PostToolUse", tool_name="TodoWrite", tool_input=sent) == []
    assert do("line") == "▶ Reproduce, now 0/2\n"

    (nudged,) = hook("Stop", stop_hook_active=False, last_assistant_message="So far.")
    assert nudged.startswith('The plan is not finished: now "Reproduce" (0/2). ')
    assert hook("Stop", stop_hook_active=True, last_assistant_message="Which parser do you mean?") == []
    do("add", "Write a test", "--after", "Reproduce")
    assert hook("UserPromptSubmit", prompt="go on")[0] == 'the user added "Write a test".'

    sent = todos(("Reproduce", "completed"), ("Write a test", "completed"), ("Fix", "in_progress"))
    assert hook("PostToolUse", tool_name="TodoWrite", tool_input=sent) == []
    assert do("line") == "▶ Fix, now 2/3\n"
    do("stop", "--session", "s1")
    assert hook("Stop", stop_hook_active=False, last_assistant_message="Nearly.") == []


def test_a_session_that_is_resumed_has_the_same_plan() -> None:
    hook("PostToolUse", tool_name="TodoWrite", tool_input=todos(("Read", "in_progress")))
    before = json.loads(do("show", "--json"))
    for source in ("resume", "compact", "clear"):
        assert hook("SessionStart", source=source)[:2] == ["Your plan; what is open:", "- now Read"]
    assert json.loads(do("show", "--json", "--session", "s1")) == before


def test_an_error_of_ours_is_nothing_an_agent_notices(own_home: Path) -> None:
    (own_home / "punchlist").mkdir()
    (own_home / "punchlist" / "punchlist.db").write_bytes(b"damaged " * 1000)
    assert hook("PostToolUse", tool_name="TodoWrite", tool_input=todos(("Read", "pending"))) == []
    assert hook("Stop", stop_hook_active=False) == []
    assert len(logged_errors()) == 2


# --- a user's edit ---------------------------------------------------------------------------------------------------


def test_a_user_s_edit_is_heard_once_at_whichever_comes_first() -> None:
    native = ["--session", "s1"]
    call("plan", {"add": ["Read", "Write", "Test"]}, *native)

    do("done", "3")
    assert 'the user completed 3 "Test".' in call("plan", {"show": True}, *native)["text"]
    assert hook("UserPromptSubmit", prompt="go on") == []

    do("add", "Ship")
    assert hook("UserPromptSubmit", prompt="go on") == ['the user added 4 "Ship".']
    assert "the user" not in call("plan", {"show": True}, *native)["text"]


def test_until_it_has_heard_a_model_cannot_undo_an_edit_and_afterwards_not_either() -> None:
    words = ["--session", "s1", "--dialect", "claude-code"]
    sent = todos(("Read", "pending"), ("Write", "pending"))
    call("TodoWrite", sent, *words)
    do("done", "Read")
    for _ in range(2):
        said = call("TodoWrite", todos(("Read", "in_progress"), ("Write", "pending")), *words)
        assert items(said) == [("Read", "completed"), ("Write", "pending")]
        assert '"Read" was closed by the user' in said["text"]


def test_other_sessions_of_the_same_directory_are_not_told() -> None:
    call("plan", {"add": ["Read"]}, "--session", "s1")
    call("plan", {"add": ["Else"]}, "--session", "s2")
    do("done", "Read", "--session", "s1")
    assert "the user" not in call("plan", {"show": True}, "--session", "s2")["text"]


def test_two_agents_at_one_plan_hear_of_each_other_but_not_of_themselves() -> None:
    call("plan", {"add": ["Read"]}, "--session", "s1")
    plan = json.loads(do("show", "--json", "--session", "s1"))["id"]
    said = call("plan", {"add": [{"text": "Search", "owner": "helper"}]}, "--plan", plan, "--agent", "helper")
    assert "agent helper" not in said["text"]
    heard = call("plan", {"show": True}, "--session", "s1")["text"]
    assert 'agent helper added 2 "Search"' in heard

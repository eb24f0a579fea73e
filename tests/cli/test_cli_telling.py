"""What a model is told, asked for on the command line, and what the log says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import punchlist
from tests import commands

pytestmark = pytest.mark.usefixtures("own_folder")


def run(*words: str, stdin: Any = None) -> str:
    done = commands.run(*words, stdin="" if stdin is None else json.dumps(stdin))
    assert done.stderr == ""
    return done.stdout


def wrote(*todos: tuple[str, str]) -> None:
    """Claude Code's tool writes this list."""
    sent = [{"content": text, "status": status, "activeForm": text} for text, status in todos]
    run("call", "TodoWrite", "--dialect", "claude-code", "--session", "s1", stdin={"todos": sent})


def all_of() -> list[tuple[str, str]]:
    items = json.loads(run("show", "--all", "--json", "--session", "s1"))["items"]
    return [(item["text"], item["status"]) for item in items]


def test_what_was_left_out_stands_where_it_was() -> None:
    wrote(("a", "pending"), ("b", "pending"), ("c", "pending"))
    wrote(("a", "pending"), ("c", "pending"))
    assert [text for text, _ in all_of()] == ["a", "b", "c"]


def test_asking_whether_a_reminder_is_due_leaves_the_news_to_be_told() -> None:
    run("call", "plan", "--session", "s1", stdin={"add": ["Read", "Fix"]})
    run("done", "2", "--session", "s1")
    Path("messages.json").write_text('[{"type": "user", "message": {"content": "hi"}}]', encoding="utf-8")
    run("remind", "--messages", "messages.json", "--session", "s1")
    said = json.loads(run("call", "plan", "--session", "s1", stdin={"show": True}))
    assert 'the user completed 2 "Fix".' in said["text"]


@pytest.mark.parametrize("dialect", ["claude-code", "gencode", "oh-my-pi", "llxprt", "native"])
def test_what_is_wrapped_ends_right_before_its_wrapper(dialect: str) -> None:
    run("add", "Read", "--session", "s1")
    text = run("attach", "--dialect", dialect, "--context", "resume", "--session", "s1")
    tag = "reminder" if dialect == "gencode" else "system-reminder"
    assert text.startswith(f"<{tag}>\n")
    assert text.endswith(f"\n</{tag}>\n")
    assert "\n\n</" not in text


def test_a_list_that_was_cleared_when_it_was_done_is_shown_as_done() -> None:
    wrote(("Read", "in_progress"), ("Fix", "pending"))
    wrote(("Read", "completed"), ("Fix", "completed"))
    assert run("show", "--session", "s1").startswith("Nothing is open: all done")
    assert all_of() == [("Read", "completed"), ("Fix", "completed")]
    assert [line.split("  ")[-1].strip() for line in run("log", "--session", "s1", "--most", "1").splitlines()] == [
        'completed 1 "Read".',
        'cleared 1 "Read".',
        'completed 2 "Fix".',
        'cleared 2 "Fix".',
    ]


def test_a_list_that_was_left_out_is_shown_as_left_out() -> None:
    wrote(("Read", "in_progress"))
    wrote()
    assert all_of() == [("Read", "abandoned")]


def test_undoing_a_clearing_brings_the_list_back_as_it_was() -> None:
    wrote(("Read", "in_progress"))
    before = json.loads(run("show", "--json", "--session", "s1"))["items"]
    wrote(("Read", "completed"))
    run("undo", "--session", "s1")
    assert json.loads(run("show", "--json", "--session", "s1"))["items"] == before


def test_an_event_is_told_in_words() -> None:
    run("add", "Read", "--session", "s1")
    run("call", "plan", "--session", "s1", stdin={"done": [7]})
    lines = [line.split("  ", 1)[1] for line in run("log", "--events", "--session", "s1").splitlines()]
    assert lines == [
        "refusal  tool plan, dialect native, no item '7'; the ids are 1.",
        'edit     by user, revision 1, added 1 "Read".',
    ]


def test_an_event_about_checks_names_no_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_VERIFY", "ask")
    with punchlist.open(session="s1", dialect="native") as desk:
        desk.prompted("Build it.")
        desk.call("plan", {"add": [{"text": "Build", "check": "make"}]})
        desk.call("plan", {"done": [1]})
        assert "not verified" in desk.turn_ended(said="It is built.").text
    assert "nudge  number 1, idle 1\n" in run("log", "--events", "--session", "s1")


def test_a_call_that_failed_is_reminded_of_unless_the_plan_is_not_to_be_written() -> None:
    run("add", "Read", "--session", "s1")
    entries = [{"role": "toolResult", "toolName": "todo_write", "isError": True, "content": []}]
    Path("messages.json").write_text(json.dumps(entries), encoding="utf-8")
    words = ("remind", "--dialect", "oh-my-pi", "--messages", "messages.json", "--session", "s1")
    assert "todo_write` failed" in json.loads(run(*words))["text"]
    run("mode", "plan", "--session", "s1")
    assert json.loads(run(*words))["text"] == ""

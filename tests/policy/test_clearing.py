"""What leaves a list by itself, and is not lost: closed items after a while, finished lists, items left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from punchlist import Desk, MemoryStore, ops
from punchlist.cli.history import with_cleared
from punchlist.core.sentences import describe
from punchlist.desk.visible import visible
from punchlist.local.files import time_text
from tests.commands import do
from tests.policy.desks import desk, entries
from tests.policy.told import attached


def texts(items: Any) -> list[str]:
    return [item.text for item in items]


def everything(at: Desk) -> list[tuple[str, str]]:
    """What `show --all` shows."""
    return [(item.text, item.status) for item in with_cleared(at).items]


# --- oh-my-pi: after a while -----------------------------------------------------------------------------------------


def aged(delay: int | None, *ages: float, store: MemoryStore | None = None) -> Desk:
    """A desk of oh-my-pi with an item closed so many seconds ago for each age, and one that is open."""
    settings: dict[str, Any] = {} if delay is None else {"clear_delay": delay}
    at = desk("oh-my-pi", store, **settings)
    closed = [
        {
            "id": str(number),
            "text": f"closed {age} ago",
            "status": "abandoned" if number % 2 else "completed",
            "closed": {"by": "main", "at": time_text(-age)},
        }
        for number, age in enumerate(ages, 1)
    ]
    at.import_plan({"items": [*closed, {"id": "9", "text": "open", "status": "in_progress"}]})
    at.take_updates()
    return at


def test_a_phase_whose_items_were_all_cleared_leaves_the_screen_and_can_still_be_named() -> None:
    at = desk("oh-my-pi", clear_delay=0)
    phases = [{"phase": "Find", "items": ["Read"]}, {"phase": "Build", "items": ["Write"]}]
    at.call("todo_write", {"ops": [{"op": "init", "list": phases}]})
    at.call("todo_write", {"ops": [{"op": "done", "phase": "Find"}]})
    assert [*visible(at, at.plan).phases] == ["Build"]
    assert [*at.plan.phases] == ["Find", "Build"]
    assert not at.call("todo_write", {"ops": [{"op": "append", "phase": "Find", "items": ["Look again"]}]}).is_error
    assert [*visible(at, at.plan).phases] == ["Find", "Build"]
    assert not at.call("todo_write", {"ops": [{"op": "rm", "phase": "Build"}]}).is_error
    assert [*visible(at, at.plan).phases] == ["Find", "Build"]


@pytest.mark.parametrize(
    ("delay", "left"),
    [
        (None, ["closed 0 ago", "closed 30 ago", "open"]),
        (60, ["closed 0 ago", "closed 30 ago", "open"]),
        (20, ["closed 0 ago", "open"]),
        (100_000, ["closed 0 ago", "closed 30 ago", "closed 90 ago", "closed 4000 ago", "open"]),
        (0, ["open"]),
        (-1, ["closed 0 ago", "closed 30 ago", "closed 90 ago", "closed 4000 ago", "open"]),
        (-1000, ["closed 0 ago", "closed 30 ago", "closed 90 ago", "closed 4000 ago", "open"]),
    ],
)
def test_closed_items_leave_the_working_list_by_the_times_they_were_closed(delay: int | None, left: list[str]) -> None:
    at = aged(delay, 0, 30, 90, 4000)
    assert texts(visible(at, at.plan).items) == left
    assert len(at.plan.items) == 5  # looking takes nothing away


def test_other_dialects_let_nothing_go() -> None:
    store = MemoryStore()
    aged(0, 4000, store=store)
    for dialect in ("native", "claude-code", "gencode", "llxprt", "codex"):
        assert texts(visible(desk(dialect, store, clear_delay=0), desk(dialect, store, clear_delay=0).plan).items) == [
            "closed 4000 ago",
            "open",
        ]


def test_the_next_call_puts_away_what_was_closed_long_ago_and_history_has_it() -> None:
    at = aged(60, 0, 90)
    reply = at.call("todo_write", {"ops": [{"op": "append", "phase": "Later", "items": ["more"]}]})
    assert not reply.is_error
    tasks = [task["content"] for phase in reply.details["phases"] for task in phase["tasks"]]
    assert tasks == ["closed 0 ago", "open", "more"]
    assert texts(at.plan.items) == ["closed 0 ago", "open", "more"]
    assert ("closed 90 ago", "abandoned") not in everything(at)
    assert ("closed 90 ago", "completed") in everything(at)
    assert 'removed 2 "closed 90 ago".' in describe(at.history()[-1].changes, at.plan)
    at.undo()
    assert texts(at.plan.items) == ["closed 0 ago", "closed 90 ago", "open"]


def test_a_task_that_was_put_away_cannot_be_named_any_more_and_can_be_added_again() -> None:
    at = aged(60, 90)
    start = at.call("todo_write", {"ops": [{"op": "start", "task": "closed 90 ago"}]})
    assert 'Task "closed 90 ago" not found' in start.text
    again = at.call("todo_write", {"ops": [{"op": "append", "phase": "A", "items": ["closed 90 ago"]}]})
    assert not again.is_error


def test_the_answer_to_the_call_that_closes_an_item_still_has_it() -> None:
    at = desk("oh-my-pi", clear_delay=0)
    at.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "A", "items": ["one", "two"]}]}]})
    reply = at.call("todo_write", {"ops": [{"op": "done", "task": "one"}]})
    assert reply.details["completedTasks"] == [{"phase": "A", "content": "one"}]
    assert texts(visible(at, at.plan).items) == ["two"]
    assert everything(at) == [("one", "completed"), ("two", "in_progress")]


def test_on_resume_the_working_list_drops_what_is_closed_and_the_user_still_sees_it() -> None:
    at = aged(-1, 0, 30, 4000)
    (one,) = attached(at, "resume")
    assert "open" in one.text
    assert " ago" not in one.text
    assert texts(at.plan.items) == ["open"]
    assert [status for _, status in everything(at)] == ["abandoned", "completed", "abandoned", "in_progress"]
    assert attached(at, "turn") == []  # nobody is told that it was tidied up
    again = at.call("todo_write", {"ops": [{"op": "start", "task": "open"}]})
    assert "removed" not in again.text


def test_on_resume_others_keep_what_is_closed() -> None:
    at = desk("claude-code")
    at.call("TodoWrite", {"todos": entries(("Read", "completed"), ("Write", "pending"))})
    attached(at, "resume")
    assert texts(at.plan.items) == ["Read", "Write"]


def test_a_whole_with_open_parts_stays() -> None:
    at = desk("oh-my-pi", clear_delay=0)
    whole = {"id": "1", "text": "whole", "status": "completed", "closed": {"by": "main", "at": time_text(-90)}}
    at.import_plan({"items": [whole, {"id": "2", "text": "part", "parent": "1"}]})
    assert texts(visible(at, at.plan).items) == ["whole", "part"]


# --- claude-code: when all is completed ------------------------------------------------------------------------------


def finished() -> Desk:
    at = desk("claude-code")
    at.call("TodoWrite", {"todos": entries(("Read", "in_progress"), ("Write", "pending"))})
    at.call("TodoWrite", {"todos": entries(("Read", "completed"), ("Write", "completed"))})
    return at


def test_a_finished_list_becomes_empty_and_the_user_still_sees_it() -> None:
    at = finished()
    assert at.plan.items == ()
    assert everything(at) == [("Read", "completed"), ("Write", "completed")]
    (said,) = [describe(record.changes, at.plan) for record in at.history()][1:]
    assert said == ['completed 1 "Read".', 'removed 1 "Read".', 'completed 2 "Write".', 'removed 2 "Write".']


def test_what_was_left_out_of_a_finished_list_is_not_shown_as_completed() -> None:
    at = desk("claude-code")
    at.call("TodoWrite", {"todos": entries(("Read", "in_progress"), ("Write", "pending"))})
    at.call("TodoWrite", {"todos": entries(("Read", "completed"))})
    assert at.plan.items == ()
    assert sorted(everything(at)) == [("Read", "completed"), ("Write", "abandoned")]


def test_a_finished_list_that_is_sent_again_with_more_is_taken_as_it_was_sent() -> None:
    at = finished()
    at.call("TodoWrite", {"todos": entries(("Read", "completed"), ("Write", "completed"), ("Ship", "pending"))})
    assert [(item.text, item.status) for item in at.plan.items] == [
        ("Read", "completed"),
        ("Write", "completed"),
        ("Ship", "pending"),
    ]


def test_undo_and_restore_bring_a_finished_list_back() -> None:
    at = finished()
    assert [(item.text, item.status) for item in at.undo().plan.items] == [
        ("Read", "in_progress"),
        ("Write", "pending"),
    ]
    assert at.redo().plan.items == ()
    assert texts(at.restore(1).plan.items) == ["Read", "Write"]
    assert everything(at) == [("Read", "in_progress"), ("Write", "pending")]


def test_what_the_user_added_keeps_the_list_from_being_cleared() -> None:
    at = desk("claude-code")
    at.call("TodoWrite", {"todos": entries(("Read", "in_progress"))})
    at.change(lambda plan: ops.add(plan, "Ship"))
    reply = at.call("TodoWrite", {"todos": entries(("Read", "completed"))})
    assert texts(at.plan.items) == ["Read", "Ship"]
    assert 'the user added "Ship".' in reply.text


# --- items that a rewrite leaves out ---------------------------------------------------------------------------------

WRITES: dict[str, Any] = {
    "claude-code": ("TodoWrite", lambda *names: {"todos": entries(*((name, "pending") for name in names))}),
    "gencode": ("TodoWrite", lambda *names: {"todos": entries(*((name, "pending") for name in names))}),
    "llxprt": ("todo_write", lambda *names: {"todos": [{"content": name, "status": "pending"} for name in names]}),
    "oh-my-pi": (
        "todo_write",
        lambda *names: {"ops": [{"op": "init", "list": [{"phase": "A", "items": list(names)}]}]},
    ),
    "codex": ("update_plan", lambda *names: {"plan": [{"step": name, "status": "pending"} for name in names]}),
    "gemini": ("write_todos", lambda *names: {"todos": [{"description": n, "status": "pending"} for n in names]}),
    "opencode": (
        "todowrite",
        lambda *names: {"todos": [{"content": n, "status": "pending", "priority": "low"} for n in names]},
    ),
}
SEEDS = ("claude-code", "gencode", "llxprt", "oh-my-pi")
MIRRORS = ("codex", "gemini", "opencode")


def rewritten(dialect: str) -> Desk:
    at = desk(dialect)
    tool, write = WRITES[dialect]
    assert not at.call(tool, write("Read", "Write", "Test")).is_error
    assert not at.call(tool, write("Read", "Test")).is_error
    return at


@pytest.mark.parametrize("dialect", SEEDS)
def test_what_a_rewrite_leaves_out_is_gone_from_the_list_and_kept_in_history(dialect: str) -> None:
    at = rewritten(dialect)
    assert texts(at.plan.items) == ["Read", "Test"]
    assert ("Write", "abandoned") in everything(at)
    assert any('removed 2 "Write"' in line for line in describe(at.history()[-1].changes, at.plan))
    assert "Write" in texts(at.undo().plan.items)
    at.redo()
    assert texts(at.restore(1).plan.items) == ["Read", "Write", "Test"]


@pytest.mark.parametrize("dialect", MIRRORS)
def test_what_a_mirrored_rewrite_leaves_out_is_abandoned_with_the_reason_and_not_a_word(dialect: str) -> None:
    at = desk(dialect)
    tool, write = WRITES[dialect]
    at.call(tool, write("Read", "Write", "Test"))
    reply = at.call(tool, write("Read", "Test"))
    left = next(item for item in at.plan.items if item.text == "Write")
    assert (left.status, left.reason) == ("abandoned", "omitted by the agent")
    assert reply.updates == ()


def test_native_cannot_leave_anything_out() -> None:
    at = desk()
    at.call("plan", {"add": ["Read", "Write"]})
    for args in ({"add": ["Read"]}, {"done": [1]}, {"show": True}, {}):
        at.call("plan", args)
        assert "Write" in texts(at.plan.items)
    refused = at.call("plan", {"drop": [2]})
    assert refused.is_error
    assert "why" in refused.text


def test_what_the_user_took_away_is_not_shown_again() -> None:
    at = rewritten("claude-code")
    at.change(lambda plan: ops.remove(plan, "1"))
    assert [text for text, _ in everything(at)] == ["Write", "Test"]


# --- from end to end -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def shown(*words: str, **env: str) -> list[tuple[str, str]]:
    found = json.loads(do("show", "--json", *words, **env))
    return [(item["text"], item["status"]) for item in found["items"]]


def test_the_commands_show_and_bring_back_what_a_rewrite_left_out(folder: Path) -> None:
    for names in (["Read", "Write"], ["Read"]):
        sent = json.dumps({"todos": entries(*((name, "pending") for name in names))})
        do("call", "TodoWrite", "--dialect", "claude-code", stdin=sent)
    assert shown() == [("Read", "pending")]
    assert shown("--all") == [("Read", "pending"), ("Write", "abandoned")]
    assert "left out by the agent" in do("show", "--all", "--markdown")
    assert 'removed 2 "Write".' in do("log")
    do("restore", "1")
    assert shown() == [("Read", "pending"), ("Write", "pending")]
    do("undo")
    assert shown() == [("Read", "pending")]
    do("undo")
    assert shown() == [("Read", "pending"), ("Write", "pending")]


@pytest.mark.parametrize("dialect", ["oh-my-pi", "claude-code"])
def test_a_session_s_todo_shows_and_exports_what_was_cleared(folder: Path, dialect: str) -> None:
    own = {"PUNCHLIST_DIALECT": dialect, "PUNCHLIST_CLEAR_DELAY": "0", "PUNCHLIST_STYLE": "punchlist"}
    if dialect == "oh-my-pi":
        batch = [{"op": "init", "list": [{"phase": "A", "items": ["Read", "Write"]}]}, {"op": "done"}]
        do("call", "todo_write", stdin=json.dumps({"ops": batch}), **own)
        do("call", "todo_write", stdin=json.dumps({"ops": [{"op": "append", "phase": "B", "items": ["Test"]}]}), **own)
    else:
        for status in ("pending", "completed"):
            sent = {"todos": entries(("Read", status), ("Write", status))}
            do("call", "TodoWrite", stdin=json.dumps(sent), **own)
    assert ("Read", "completed") not in shown(**own)
    assert do("run", "/todo", **own) == do("show", "--all", **own)
    assert "✓ 1 Read" in do("run", "/todo", **own)
    do("run", "/todo export", **own)
    assert "- [x] Read" in Path("TODO.md").read_text(encoding="utf-8")


def test_the_commands_show_what_oh_my_pi_has_put_away(folder: Path) -> None:
    own = {"PUNCHLIST_DIALECT": "oh-my-pi", "PUNCHLIST_CLEAR_DELAY": "0"}
    sent = [{"op": "init", "list": [{"phase": "A", "items": ["Read", "Write"]}]}, {"op": "done", "task": "Read"}]
    do("call", "todo_write", stdin=json.dumps({"ops": sent}), **own)
    assert shown(**own) == [("Write", "in_progress")]
    assert shown("--all", **own) == [("Read", "completed"), ("Write", "in_progress")]
    assert shown("--all", **{**own, "PUNCHLIST_CLEAR_DELAY": "-1"}) == [("Read", "completed"), ("Write", "in_progress")]
    do("attach", "--context", "resume", **own)
    assert shown("--all", **own) == [("Read", "completed"), ("Write", "in_progress")]

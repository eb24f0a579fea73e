"""Subtasks of llxprt: one can be worked on, it carries its tool calls, and todos are what is counted."""

from __future__ import annotations

from typing import Any

from punchlist import Desk, MemoryStore, ops
from punchlist.desk import guidance, tool_use

PARTS = [{"id": "a", "content": "Read"}, {"id": "b", "content": "Write"}]
TODOS: list[dict[str, Any]] = [
    {"id": "1", "content": "Build", "status": "in_progress", "subtasks": PARTS},
    {"id": "2", "content": "Ship", "status": "pending"},
]


def desk_of(todos: list[dict[str, Any]]) -> Desk:
    desk = Desk(MemoryStore(), session="s", dialect="llxprt")
    assert not desk.call("todo_write", {"todos": todos}).is_error
    return desk


def used(desk: Desk) -> dict[str, Any]:
    """A tool was used; the first todo as `todo_read` has it then."""
    call = {"id": "c1", "name": "shell", "parameters": {"command": "make"}}
    guidance.tool_used(desk, tool_use.ToolUse("x", calls=(call,)))
    first: dict[str, Any] = desk.call("todo_read", {}).details["todos"][0]
    return first


def test_a_subtask_that_is_sent_in_progress_is_active_and_carries_its_calls() -> None:
    parts = [PARTS[0], {**PARTS[1], "status": "in_progress"}]
    desk = desk_of([{**TODOS[0], "subtasks": parts}, TODOS[1]])
    first = used(desk)
    assert first["status"] == "in_progress"
    assert first["subtasks"][0] == PARTS[0]
    assert first["subtasks"][1]["status"] == "in_progress"
    assert [call["name"] for call in first["subtasks"][1]["toolCalls"]] == ["shell"]
    assert desk.export_plan("llxprt")[0] == first


def test_a_subtask_that_the_user_starts_makes_its_todo_the_current_one() -> None:
    desk = desk_of(TODOS)
    desk.change(lambda plan: ops.start(plan, "2"))
    first = used(desk)
    assert [call["name"] for call in first["subtasks"][0]["toolCalls"]] == ["shell"]
    assert "- [→] ← current Build\n" in desk.call("todo_read", {}).text


def test_calls_made_while_a_todo_is_active_are_shown_with_it() -> None:
    first = used(desk_of(TODOS))
    assert [call["name"] for call in first["toolCalls"]] == ["shell"]
    assert first["subtasks"] == PARTS


def test_todos_are_counted_and_subtasks_are_not() -> None:
    desk = desk_of([{**TODOS[0], "status": "completed"}, TODOS[1]])
    assert desk.plan.progress == (1, 2, 50)


def test_a_todo_that_is_left_out_stays_while_it_has_an_open_subtask_of_the_user() -> None:
    desk = desk_of(TODOS)
    desk.change(lambda plan: ops.add(plan, "Ask Kim", parent="1"))
    desk.call("todo_write", {"todos": [TODOS[1]]})
    assert [item.text for item in desk.plan.items if not item.parent] == ["Build", "Ship"]
    assert "Ask Kim" in [item.text for item in desk.plan.items if item.parent == "1"]


def test_a_subtask_with_an_id_that_another_session_gave_is_a_subtask_of_its_own() -> None:
    store = MemoryStore()
    first, second = (Desk(store, session=session, dialect="llxprt") for session in ("s", "t"))
    first.call("todo_write", {"todos": TODOS})
    first.bind("t")
    for _ in range(2):
        parts = [{"id": "a", "content": "Publish"}]
        second.call("todo_write", {"todos": [{**TODOS[0], "subtasks": parts}]})
    assert {item.text for item in first.plan.items if item.parent == "1"} == {"Read", "Write", "Publish"}
    assert len(first.plan.items) == 5

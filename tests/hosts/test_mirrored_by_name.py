"""An agent's own tools that name items: Claude Code's tasks by number, oh-my-pi's todos by their words."""

from __future__ import annotations

import os
from typing import Any

import pytest

import punchlist
from punchlist import Desk, MemoryStore, ops
from punchlist.hosts import answer, load
from punchlist.hosts.host import HookEvent
from punchlist.hosts.mirror import mirror


def desk_of() -> Desk:
    return Desk(MemoryStore(), session="s")


def statuses(desk: Desk) -> list[tuple[str, str]]:
    return [(item.text, item.status) for item in desk.plan.items]


def mirrored(desk: Desk, host: str, tool: str, args: Any, result: Any) -> list[str]:
    return list(mirror(desk, HookEvent("after", "s", tool=tool, args=args, result=result), load(host).HOST).updates)


def todo(desk: Desk, op: str, **args: Any) -> list[str]:
    return mirrored(desk, "oh-my-pi", "todo", {"i": "plan", "op": op, **args}, "")


def opened(desk: Desk) -> None:
    todo(desk, "init", list=[{"phase": "Build", "items": ["Read", "Write", "Test"]}])


def test_a_created_task_is_the_user_s_open_item_in_the_same_words() -> None:
    desk = desk_of()
    desk.change(lambda plan: ops.add(plan, "Ask Ann"))
    made = {"task": {"id": "7", "subject": "Ask Ann"}}
    mirrored(desk, "claude-code", "TaskCreate", {"subject": "Ask Ann", "description": ""}, made)
    mirrored(desk, "claude-code", "TaskUpdate", {"taskId": "7", "status": "completed"}, "")
    assert statuses(desk) == [("Ask Ann", "completed")]


def test_a_deletion_does_not_take_away_what_the_user_renamed_unheard() -> None:
    desk = desk_of()
    made = {"task": {"id": "1", "subject": "Deploy"}}
    mirrored(desk, "claude-code", "TaskCreate", {"subject": "Deploy", "description": ""}, made)
    desk.change(lambda plan: ops.rename(plan, "1", "Deploy to staging"))
    told = mirrored(desk, "claude-code", "TaskUpdate", {"taskId": "1", "status": "deleted"}, "")
    assert statuses(desk) == [("Deploy to staging", "pending")]
    assert told[-1] == (
        'deleted "Deploy to staging" was not applied: the user renamed it; say it again if you still mean it.'
    )


@pytest.mark.parametrize("is_heard", [False, True])
@pytest.mark.parametrize(
    ("op", "status"), [("done", "completed"), ("drop", "abandoned"), ("block", "blocked"), ("start", "in_progress")]
)
def test_a_renamed_todo_is_found_by_its_old_words(op: str, status: str, is_heard: bool) -> None:
    desk = desk_of()
    opened(desk)
    desk.change(lambda plan: ops.rename(plan, "2", "Write it well"))
    if is_heard or op == "drop":  # an unheard rename conflicts with a drop
        desk.take_updates()
    todo(desk, op, task="Write", reason="no key")
    assert dict(statuses(desk))["Write it well"] == status


def test_a_renamed_todo_is_unblocked_by_its_old_words() -> None:
    desk = desk_of()
    opened(desk)
    todo(desk, "block", task="Write", reason="no key")
    desk.change(lambda plan: ops.rename(plan, "2", "Write it well"))
    todo(desk, "unblock", task="Write")
    assert dict(statuses(desk))["Write it well"] == "pending"


def test_an_unblock_does_not_undo_a_block_of_the_user_that_is_unheard() -> None:
    desk = desk_of()
    opened(desk)
    desk.change(lambda plan: ops.block(plan, "2", why="frozen"))
    told = todo(desk, "unblock", task="Write")
    assert dict(statuses(desk))["Write"] == "blocked"
    assert told[-1] == 'unblock "Write" was not applied: the user blocked it; say it again if you still mean it.'


@pytest.mark.parametrize(("tool", "status"), [("todo_write", "completed"), ("todo", "in_progress")])
def test_a_partly_failed_call_is_mirrored_with_what_it_did(tool: str, status: str) -> None:
    """`todo` itself gives up the whole call when a part of it fails."""
    init = {"op": "init", "list": [{"phase": "Build", "items": ["Read", "Write"]}]}
    done = [{"op": "done", "task": "Read"}, {"op": "done", "task": "Nope"}]
    event = {"moment": "after", "session": "s", "cwd": os.getcwd()}
    answer("oh-my-pi", {**event, "tool": "todo_write", "args": {"ops": [init]}}, {})
    args = {"ops": done} if tool == "todo_write" else done[0]
    answer("oh-my-pi", {**event, "tool": tool, "args": args, "failed": True}, {})
    with punchlist.open(session="s") as desk:
        assert statuses(desk)[0] == ("Read", status)

"""A quiet context around a commit: an agent enters and leaves it, it ends by itself, and the user's own stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, MemoryStore, ops
from punchlist.agent.loop import prompt_of
from punchlist.desk.nudges import turn_ended
from punchlist.desk.plan_mode import enter, leave, makes_commit
from punchlist.desk.quiet import end_quiet, enter_quiet
from punchlist.desk.session_state import load_state
from punchlist.desk.tool_use import ToolUse
from punchlist.hosts import answer
from punchlist.policy.continuation import TurnEnd
from tests.agent.contexts import agent, call, turn
from tests.policy.told import TURN, attached, prompted, tool_used

COMMIT = {"command": "git add -A && git -C repo commit -m 'It works'"}


def planned() -> Desk:
    desk = Desk(MemoryStore(), session="s1")
    desk.call("plan", {"add": ["Read", "Write"]})
    return desk


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (COMMIT, True),
        ({"command": "git commit --amend"}, True),
        ({"command": "/usr/bin/git -c user.name=x commit -am y"}, True),
        ({"command": ["bash", "-lc", "git commit -m x"]}, True),
        ({"cmd": "gh pr create --fill"}, True),
        ({"command": "gh -R a/b pr create"}, True),
        ({"command": "cd x; glab mr create"}, True),
        ({"command": "(hub pull-request)"}, True),
        ({"command": "git status"}, False),
        ({"command": "git log --grep commit"}, False),
        ({"command": "gh pr view 3"}, False),
        ({"command": "echo commit"}, False),
        ({"path": "git commit"}, False),
        ({"command": "git " * 50_000}, False),
        ({"command": "x " * 200_000 + "git commit"}, True),
        ({"command": 3}, False),
        ({"command": ""}, False),
        (None, False),
    ],
)
def test_a_command_that_commits_or_opens_a_pull_request_is_known(args: Any, expected: bool) -> None:
    assert makes_commit(args) is expected


def test_an_agent_enters_and_leaves_and_the_list_is_left_alone_between() -> None:
    desk = planned()
    assert enter(desk).mode == "quiet"
    assert desk.call("plan", {"done": [1]}).is_error
    assert leave(desk).mode == "act"
    assert not desk.call("plan", {"done": [1]}).is_error


@pytest.mark.parametrize(
    "ends", [lambda desk: turn_ended(desk, TurnEnd(said="Done.")), lambda desk: prompted(desk, "hi")]
)
def test_it_ends_with_the_turn_of_the_agent_and_the_user_s_own_does_not(ends: Any) -> None:
    desk = planned()
    enter(desk)
    ends(desk)
    assert desk.load().mode == "act"
    desk.change(lambda plan: ops.set_mode(plan, "quiet"))
    ends(desk)
    assert desk.load().mode == "quiet"
    assert leave(desk).mode == "quiet"


def test_a_quiet_context_is_nothing_that_an_undo_takes_back() -> None:
    desk = planned()
    desk.change(lambda plan: ops.add(plan, "Mine"))
    enter(desk)
    leave(desk)
    assert "Mine" not in [item.text for item in desk.undo().plan.items]
    assert desk.load().mode == "act"


def test_its_text_reaches_the_model_once_also_when_the_user_switched_to_it() -> None:
    desk = planned()
    desk.change(lambda plan: ops.set_mode(plan, "quiet"))
    texts = [one.text for one in attached(desk, TURN) if one.kind == "quiet"]
    assert len(texts) == 1
    assert "`plan`" in texts[0]
    assert "sub-agent" in texts[0]
    assert [one for one in attached(desk, TURN) if one.kind == "quiet"] == []


def test_a_hook_that_sees_a_commit_enters_before_it_and_leaves_after_it(tmp_path: Path) -> None:
    def event(name: str, **more: Any) -> dict[str, Any]:
        return {"hook_event_name": name, "session_id": "s1", "cwd": str(tmp_path), "tool_name": "Bash", **more}

    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})
        told = answer("claude-code", event("PreToolUse", tool_input=COMMIT, tool_use_id="t1"), {})
        assert "commit or a pull request" in json.dumps(told)
        assert desk.load().mode == "quiet"
        assert answer("claude-code", event("PreToolUse", tool_input={"command": "ls"}, tool_use_id="t2"), {}) is None
        answer("claude-code", event("PostToolUse", tool_input=COMMIT, tool_response="ok", tool_use_id="t1"), {})
        assert desk.load().mode == "act"
        answer("claude-code", event("PreToolUse", tool_input=COMMIT, tool_use_id="t3"), {})
        answer("claude-code", {"hook_event_name": "Stop", "session_id": "s1", "last_assistant_message": "Well?"}, {})
        assert desk.load().mode == "act"


def test_a_commit_is_neither_planned_work_nor_a_change_that_reminders_count_from() -> None:
    desk = planned()
    tool_used(desk, ToolUse("one"))
    prompted(desk, "Commit it.")
    before = load_state(desk)
    enter_quiet(desk)
    end_quiet(desk)
    assert turn_ended(desk, TurnEnd(said="It is committed.")).reason == "no planned work since the user's last message"
    assert (load_state(desk).turns, load_state(desk).reminders) == (before.turns, before.reminders)


def test_an_attached_agent_that_calls_its_tool_after_a_commit_was_refused_is_heard() -> None:
    """Whoever refuses a commit ends it without a further event."""
    desk = Desk(MemoryStore(), session="s1", host="claude-code")
    desk.call("plan", {"add": ["Read", "Write"]})
    enter_quiet(desk)
    desk.change(lambda plan: ops.rename(plan, "2", "Write it"))
    said = desk.call("plan", {"done": [1]})
    assert (said.is_error, desk.load().mode) == (False, "act")
    assert 'the user renamed 2 "Write" to "Write it".' in said.text
    desk.change(lambda plan: ops.set_mode(plan, "quiet"))
    assert desk.call("plan", {"done": [2]}).is_error, "the user's own stays"


def test_an_agent_of_ours_calls_a_tool_for_it_and_is_told_what_it_means(tmp_path: Path) -> None:
    script = [
        turn(call("plan", add=["Read", "Write"])),
        turn(call("quiet")),
        turn(call("shell", command="git commit -m x || true")),
        turn(call("quiet", over=True)),
        turn(call("quiet")),
        turn(text="Shall I go on?"),
    ]
    made = agent(tmp_path, script, dialect="native")
    before = prompt_of(made.context)
    offered: list[list[str]] = []
    ask = made.context.model.request

    def request(system: str, messages: Any, tools: Any, *more: Any) -> Any:
        offered.append([tool.name for tool in tools if tool.name in ("plan", "task")] + [str(system == before)])
        return ask(system, messages, tools, *more)

    made.context.model.request = request  # type: ignore[method-assign, assignment]
    made.work()
    away, there = ["False"], ["plan", "task", "True"]
    assert offered == [there, there, away, away, there, away]
    assert "no call of `plan`" in made.results[1].text
    assert made.attached("quiet") == []
    assert made.context.desk.load().mode == "act"
    made.close()


def test_a_list_that_claude_code_takes_in_its_own_plan_mode_comes_with_the_first_one_after_it(tmp_path: Path) -> None:
    todos = {"todos": [{"content": "Read", "status": "pending", "activeForm": "Reading"}]}
    event: dict[str, Any] = {"hook_event_name": "PostToolUse", "session_id": "s1", "cwd": str(tmp_path)}
    event |= {"tool_name": "TodoWrite", "tool_input": todos, "tool_response": "ok", "tool_use_id": "t1"}
    with punchlist.open(session="s1") as desk:
        answer("claude-code", {**event, "permission_mode": "plan"}, {})
        assert desk.plan.progress.total == 0
        answer("claude-code", {**event, "permission_mode": "default"}, {})
        assert [item.text for item in desk.plan.items] == ["Read"]

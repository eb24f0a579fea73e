"""In which order calls run, and what becomes of calls that make no sense."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

import pytest

from punchlist import ops
from punchlist.agent.context import Bounds, Context
from punchlist.agent.messages import Call, Result
from punchlist.agent.tool_runner import results
from punchlist.agent.tools import WORDS, Answer, Tool, ask_user, files, form, plans, shell
from punchlist.desk.plan_mode import plan_file
from tests.agent.contexts import Agent, agent


def run(made: Agent, tools: list[Tool], *calls: Call) -> list[Result]:
    return list(results(made.context, tools, calls))


def numbered(*tools: str) -> list[Call]:
    return [Call(str(number), tool, {}) for number, tool in enumerate(tools)]


def meeting(parties: int) -> tuple[list[Tool], list[str]]:
    """`safe` returns only once so many of it run together; `unsafe` must find itself alone."""
    barrier, lock = Barrier(parties), Lock()
    running: list[str] = []
    seen: list[str] = []

    def safe(context: Context, args: Mapping[str, Any]) -> Answer:
        with lock:
            running.append("safe")
        barrier.wait(30)
        with lock:
            running.remove("safe")
            seen.append("safe")
        return Answer("met")

    def unsafe(context: Context, args: Mapping[str, Any]) -> Answer:
        seen.append("alone" if not running else "in company")
        return Answer("done")

    tools = [
        Tool("safe", "", form({}), safe, read_only=True, concurrency_safe=True),
        Tool("unsafe", "", form({}), unsafe),
    ]
    return tools, seen


def test_safe_calls_run_together_and_an_unsafe_one_waits_and_makes_the_rest_wait(tmp_path: Path) -> None:
    made = agent(tmp_path, [])
    tools, seen = meeting(3)
    found = run(made, tools, *numbered("safe", "safe", "safe", "unsafe", "unsafe", "safe", "safe", "safe"))
    assert seen == ["safe", "safe", "safe", "alone", "alone", "safe", "safe", "safe"]
    assert [result.id for result in found] == ["0", "1", "2", "3", "4", "5", "6", "7"]
    made.close()


def test_a_tool_that_breaks_is_an_answer_and_the_next_one_runs(tmp_path: Path) -> None:
    def breaks(context: Context, args: Mapping[str, Any]) -> Answer:
        raise ZeroDivisionError("by nothing")

    made = agent(tmp_path, [])
    tools = [Tool("breaks", "", form({}), breaks), Tool("works", "", form({}), lambda context, args: Answer("fine"))]
    first, second = run(made, tools, *numbered("breaks", "works"))
    assert (first.text, first.is_error) == ("the tool broke: ZeroDivisionError: by nothing", True)
    assert (second.text, second.is_error) == ("fine", False)
    made.close()


# --- what models make up ---------------------------------------------------------------------------------------------

TOOLS = [*shell.tools(), *files.tools(), *ask_user.tools()]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (Call("1", "rm_rf", {}), "no tool 'rm_rf'; the tools are shell, read"),
        (Call("1", "\x1b[31m" + "x" * 100, {}), "no tool"),
        (Call("1", "shell", "ls"), "shell: the arguments must be an object, not 'ls'."),
        (Call("1", "shell", None), "shell: the arguments must be an object, not null."),
        (Call("1", "shell", []), "must be an object, not a list."),
        (Call("1", "shell", {}), "shell: command is missing."),
        (Call("1", "shell", {"command": ["ls"]}), "shell: command must be a string, not a list."),
        (Call("1", "shell", {"command": "ls", "cwd": "/"}), "shell: cwd is not a key"),
        (Call("1", "shell", {"command": "ls\0"}), "command must not hold a NUL character."),
        (Call("1", "read", {"path": "a\0b"}), "path must be the name of a file."),
        (Call("1", "read", {"path": "a" * 5000}), "path must be the name of a file."),
        (Call("1", "read", {"path": "a", "from": 0}), "from must be"),
        (Call("1", "write", {"path": "a", "text": "x" * 1_000_001}), "at most 1000000 are taken."),
        (Call("1", "write", {"path": ".", "text": "x"}), "is a directory."),
        (Call("1", "write", {"path": "a" * 300, "text": "x"}), "File name too long."),
    ],
)
def test_calls_that_make_no_sense_are_answered_in_words_and_change_nothing(
    tmp_path: Path, call: Call, words: str
) -> None:
    made = agent(tmp_path, [])
    (result,) = run(made, TOOLS, call)
    assert result.is_error
    assert words in result.text
    assert "\x1b" not in result.text
    assert os.listdir(made.context.folder) == []
    made.close()


def test_of_a_thousand_calls_in_a_turn_only_so_many_are_run_and_every_one_is_answered(tmp_path: Path) -> None:
    made = agent(tmp_path, [], bounds=Bounds(calls=20))
    counted: list[int] = []

    def count(context: Context, args: Mapping[str, Any]) -> Answer:
        counted.append(1)
        return Answer("ok")

    found = run(made, [Tool("count", "", form({}), count)], *numbered(*["count"] * 1000))
    assert len(counted) == 20
    assert len(found) == 1000
    assert found[20].text == "not run: at most 20 calls in one turn."
    made.close()


def test_once_the_user_wants_to_stop_the_rest_is_not_begun(tmp_path: Path) -> None:
    made = agent(tmp_path, [])

    def stop(context: Context, args: Mapping[str, Any]) -> Answer:
        context.stop.ask()
        return Answer("stopping")

    tools = [Tool("stop", "", form({}), stop), *TOOLS]
    found = run(made, tools, Call("1", "stop", {}), Call("2", "shell", {"command": "touch here"}))
    assert found[0].text == "stopping"
    assert found[1].text == "not run: the turn was stopped before this call began."
    assert os.listdir(made.context.folder) == []
    made.close()


def test_a_call_that_was_running_when_the_user_stopped_is_not_said_to_have_done_nothing(tmp_path: Path) -> None:
    made = agent(tmp_path, [])

    def half(context: Context, args: Mapping[str, Any]) -> Answer:
        Path(context.folder, "here").touch()
        context.stop.ask()
        context.stop.check()
        return Answer("never")

    (found,) = run(made, [Tool("half", "", form({}), half)], Call("1", "half", {}))
    assert found.text.startswith("interrupted: the user stopped this turn while the call ran;")
    assert "half done" in found.text
    made.close()


# --- plan mode -------------------------------------------------------------------------------------------------------


@pytest.fixture
def planning(tmp_path: Path) -> Agent:
    """An agent in plan mode."""
    made = agent(tmp_path, [], answers=lambda question: "yes", store=f"sqlite:{tmp_path / 'p.db'}")
    made.context.desk.change(lambda plan: ops.set_mode(ops.add(plan, "Read"), "plan"))
    return made


def all_tools(made: Agent) -> list[Tool]:
    spare = Tool("spare", "", form({}, x=WORDS), lambda context, args: Answer("changed the world"))
    return [*plans.tools(made.context, continuing=False), *TOOLS, spare]


def test_plan_mode_refuses_everything_that_could_change_something(planning: Agent) -> None:
    calls = [
        Call("1", "shell", {"command": "touch here"}),
        Call("2", "write", {"path": "here", "text": "x"}),
        Call("3", "edit", {"path": "here", "old": "x", "new": "y"}),
        Call("4", "spare", {}),
        Call("5", "plan", {"add": ["More"]}),
    ]
    found = run(planning, all_tools(planning), *calls)
    assert all(result.is_error for result in found)
    assert found[0].text == "plan mode is on: shell has to wait until the user has approved the plan."
    assert os.listdir(planning.context.folder) == []
    assert len(planning.context.desk.plan.items) == 1
    planning.close()


def test_plan_mode_lets_the_agent_look_and_ask(planning: Agent) -> None:
    (Path(planning.context.folder) / "a.txt").write_text("one")
    calls = [
        Call("1", "read", {"path": "a.txt"}),
        Call("2", "glob", {"pattern": "*"}),
        Call("3", "grep", {"pattern": "one"}),
        Call("4", "ask", {"question": "Which?"}),
    ]
    assert [result.is_error for result in run(planning, all_tools(planning), *calls)] == [False] * 4
    planning.close()


def test_the_plan_file_can_be_written_behind_a_link(
    planning: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "link"))
    desk = planning.context.desk
    path = tmp_path / "link" / "punchlist" / "plans" / f"{desk.plan.id}.md"
    (wrote,) = run(planning, all_tools(planning), Call("1", "write", {"path": str(path), "text": "# Mend\n"}))
    assert (wrote.is_error, path.read_text()) == (False, "# Mend\n")
    planning.close()


def test_the_plan_file_can_be_written_in_plan_mode_and_is_what_the_user_approves(planning: Agent) -> None:
    desk = planning.context.desk
    path = plan_file(desk.plan)
    early = run(planning, all_tools(planning), Call("1", "exit_plan_mode", {}))
    assert early[0].text == f"there is no plan yet: write it to {path} first."
    text = "# Mend\n- [ ] First\n"
    wrote, left = run(
        planning, all_tools(planning), Call("1", "write", {"path": path, "text": text}), Call("2", "exit_plan_mode", {})
    )
    assert (wrote.is_error, left.is_error) == (False, False)
    assert planning.asked[-1].kind == "approve"
    assert planning.asked[-1].details == text.rstrip("\n")
    assert desk.plan.mode == "act"
    assert Path(path).read_text() == text
    planning.close()


def test_the_plan_file_is_for_the_user_s_eyes_only(planning: Agent) -> None:
    desk = planning.context.desk
    path = Path(plan_file(desk.plan))
    path.parent.mkdir(parents=True)
    path.write_text("as an older program left it")
    path.chmod(0o644)
    for text in ("first", "second"):
        run(planning, all_tools(planning), Call("1", "write", {"path": str(path), "text": text}))
        assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (text, 0o600)
    planning.close()


def test_a_plan_that_is_not_approved_keeps_plan_mode_on_and_the_wish_is_told(tmp_path: Path) -> None:
    made = agent(tmp_path, [], answers=lambda question: "smaller steps", store=f"sqlite:{tmp_path / 'p.db'}")
    desk = made.context.desk
    desk.change(lambda plan: ops.set_mode(ops.add(plan, "Read"), "plan"))
    path = plan_file(desk.plan)
    _, left = run(made, TOOLS, Call("1", "write", {"path": path, "text": "all"}), Call("2", "exit_plan_mode", {}))
    assert left.text == "the user did not approve the plan: smaller steps; plan mode stays on."
    assert desk.plan.mode == "plan"
    made.close()


@pytest.mark.parametrize(("answer", "mode"), [("yes", "plan"), ("no", "act"), ("", "act")])
def test_plan_mode_begins_only_when_the_user_confirms(tmp_path: Path, answer: str, mode: str) -> None:
    made = agent(tmp_path, [], answers=lambda question: answer)
    (result,) = run(made, TOOLS, Call("1", "enter_plan_mode", {"why": "it is big"}))
    assert made.context.desk.plan.mode == mode
    assert result.is_error is (mode == "act")
    assert (made.asked[0].kind, made.asked[0].details) == ("enter", "it is big")
    assert made.context.desk.take_updates() == []
    made.close()

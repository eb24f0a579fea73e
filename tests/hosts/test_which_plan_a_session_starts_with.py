"""Which plan a session starts with: a list that was written before it, or one that the user named."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.stores import PlanKey
from tests.commands import SCRIPT, do

HOSTS = ["claude-code", "codex", "gemini", "opencode", "oh-my-pi", "goose", "qwen-code"]


pytestmark = pytest.mark.usefixtures("own_project")


def start(session: str, source: str = "startup", host: str = "claude-code", **env: str) -> str:
    """What the model is told when a session starts."""
    if host in ("opencode", "oh-my-pi"):
        event: dict[str, Any] = {"moment": "start", "session": session, "cwd": os.getcwd(), "source": source}
    elif host == "goose":
        event = {"event": "SessionStart", "session_id": session, "working_dir": os.getcwd()}
    else:
        event = {"hook_event_name": "SessionStart", "session_id": session, "cwd": os.getcwd(), "source": source}
    said = json.loads(do("hook", host, stdin=json.dumps(event), **env) or "{}")
    told: str = said.get("context") or said.get("hookSpecificOutput", {}).get("additionalContext", "")
    return told


def texts(session: str) -> list[str]:
    with punchlist.open(session=session) as desk:
        return [item.text for item in desk.plan.items]


def plan_of(session: str) -> str:
    with punchlist.open(session=session) as desk:
        return desk.plan.id


@pytest.mark.parametrize("host", HOSTS)
def test_a_list_written_first_is_the_plan_of_the_next_session(host: str) -> None:
    do("add", "Run the tests", "Fix them")
    told = start("s1", host=host)
    assert texts("s1") == ["Run the tests", "Fix them"]
    assert ("- 1 Run the tests\n- 2 Fix them" in told) is (host != "goose"), "no words of a hook reach Goose's model"
    [row] = json.loads(do("plans", "--json"))
    assert (row["session"], row["program"], row["active"]) == ("s1", host, "Run the tests")


def test_it_is_told_once_and_later_edits_are_updates() -> None:
    do("add", "Run the tests")
    start("s1")
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": os.getcwd(), "prompt": "Go."}
    assert do("hook", "claude-code", stdin=json.dumps(prompt)) == ""
    do("add", "Fix them")
    assert "the user added 2" in do("hook", "claude-code", stdin=json.dumps(prompt))


def test_only_one_session_gets_it() -> None:
    do("add", "Run the tests")
    start("s1")
    assert start("s2") == ""
    assert texts("s2") == []


def test_of_two_sessions_that_start_at_once_exactly_one_gets_it() -> None:
    do("add", "Run the tests")
    sessions = [f"s{number}" for number in range(6)]
    with ThreadPoolExecutor(len(sessions)) as pool:
        told = list(pool.map(start, sessions))
    assert len([one for one in told if one]) == 1
    assert [texts(session) for session in sessions].count(["Run the tests"]) == 1


@pytest.mark.parametrize("source", ["resume", "compact", "clear"])
def test_a_session_that_has_a_plan_keeps_it(source: str) -> None:
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Mine"]})
    with punchlist.open() as desk:
        store = desk._seat.store
        desk.change(lambda plan: punchlist.ops.add(plan, "prepared"))
        assert store.plans(9, place=desk._seat.place)
    start("s1", source)
    assert "Mine" in texts("s1")


def test_a_sub_agent_gets_no_prepared_list() -> None:
    do("add", "Run the tests")
    event = {"moment": "start", "session": "s1", "agent": "helper", "cwd": os.getcwd(), "source": "startup"}
    assert do("hook", "opencode", stdin=json.dumps(event)) == ""
    with punchlist.open(session="s1", agent="helper") as desk:
        assert desk.plan.items == ()


def test_a_finished_list_or_one_of_another_directory_is_left_alone(tmp_path: Path) -> None:
    do("add", "Run the tests")
    do("done", "1")
    assert start("s1") == ""
    (tmp_path / "other" / ".git").mkdir(parents=True)
    os.chdir(tmp_path / "other")
    do("add", "Elsewhere")
    os.chdir(tmp_path / "work")
    assert start("s2") == ""


def test_a_list_that_a_session_worked_from_once_is_not_given_away() -> None:
    do("add", "Run the tests")
    start("s1")
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"start": [1]})
        desk._seat.store.bind(PlanKey(desk._seat.place, "s1", "main"), "elsewhere")
    assert start("s2") == ""


# --- named by the user -----------------------------------------------------------------------------------------------


@pytest.fixture
def other() -> str:
    """A plan of another session."""
    with punchlist.open(session="old") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})
        return desk.plan.id


def test_bind_next_gives_a_plan_to_the_next_session_and_to_no_other(other: str) -> None:
    assert do("bind", "--next", "--plan", other).endswith(f"works from plan {other}.\n")
    assert "- 1 Read (agent main works on it)\n- 2 Write" in start("s1")
    assert plan_of("s1") == other
    assert start("s2") == ""


def test_bind_next_counts_in_its_own_directory_only(other: str, tmp_path: Path) -> None:
    do("bind", "--next", "--plan", other)
    (tmp_path / "elsewhere" / ".git").mkdir(parents=True)
    os.chdir(tmp_path / "elsewhere")
    assert start("s1") == ""
    os.chdir(tmp_path / "work")
    assert start("s2") != ""


def test_of_two_sessions_that_start_at_once_one_gets_the_plan_of_bind_next(other: str) -> None:
    do("bind", "--next", "--plan", other)
    sessions = [f"s{number}" for number in range(6)]
    with ThreadPoolExecutor(len(sessions)) as pool:
        told = list(pool.map(start, sessions))
    assert len([one for one in told if one]) == 1


def test_bind_next_refuses_a_plan_that_is_not_there() -> None:
    done = subprocess.run([SCRIPT, "bind", "--next", "--plan", "nosuch"], capture_output=True, text=True, check=False)
    assert (done.returncode, "no plan 'nosuch'" in done.stderr) == (1, True)


@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_started_with_a_plan_works_from_it(host: str, other: str) -> None:
    told = start("s1", host=host, PUNCHLIST_PLAN=other)
    assert plan_of("s1") == other
    assert ("- 2 Write" in told) is (host != "goose")


@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_started_with_a_session_goes_on_with_it(host: str, other: str) -> None:
    told = start("s1", host=host, PUNCHLIST_SESSION="old")
    assert ("- 2 Write" in told) is (host != "goose")
    assert (plan_of("s1"), plan_of("old")) == ("", other)


def test_the_status_line_shows_the_plan_that_the_agent_was_started_with(other: str) -> None:
    given = json.dumps({"session_id": "s1"})
    for env in ({"PUNCHLIST_PLAN": other}, {"PUNCHLIST_SESSION": "old"}):
        assert "Read 0/2" in do("line", "--host", "claude-code", stdin=given, **env)
    assert do("line", "--host", "claude-code", stdin=given) == ""


def test_an_agent_in_the_shell_of_ours_does_not_take_its_plan(other: str) -> None:
    env = {"PUNCHLIST_SESSION": "old", "PUNCHLIST_PLAN": other, "PUNCHLIST_BY": "main"}
    assert start("s1", **env) == ""
    assert plan_of("s1") == ""

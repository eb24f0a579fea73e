"""Which plan a command is about: of a directory, a session, an agent, or by its id."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.commands import do

pytestmark = pytest.mark.usefixtures("own_folder")


def texts(*words: str, cwd: str = ".", **env: str) -> list[str]:
    """The items of the plan that a command shows."""
    return [item["text"] for item in json.loads(do(*words, "--json", cwd=cwd, **env))["items"]]


def call(args: str, *words: str) -> None:
    do("call", "plan", *words, stdin=args)


def plan_id(*words: str) -> str:
    id: str = json.loads(do(*words, "--json"))["id"]
    return id


def make_git_root(path: str) -> None:
    os.makedirs(os.path.join(path, ".git"))


def test_the_plan_of_a_git_root_is_found_from_every_folder_below_it() -> None:
    make_git_root("repo")
    os.makedirs("repo/src/deep")
    texts("add", "here", cwd="repo/src/deep")
    assert texts(cwd="repo") == texts(cwd="repo/src") == ["here"]


def test_a_worktree_whose_git_is_a_file_is_a_root_of_its_own() -> None:
    make_git_root("repo")
    os.makedirs("repo/tree/src")
    Path("repo/tree/.git").write_text("gitdir: ../.git/worktrees/tree\n")
    texts("add", "tree", cwd="repo/tree/src")
    assert (texts(cwd="repo/tree"), texts(cwd="repo")) == (["tree"], [])


def test_without_a_git_root_a_directory_has_its_own_plan() -> None:
    os.makedirs("one/below")
    texts("add", "one", cwd="one")
    assert (texts(cwd="one"), texts(cwd="one/below"), texts(cwd=".")) == (["one"], [], [])


def test_a_directory_reached_by_a_link_is_the_same_directory() -> None:
    os.mkdir("real")
    os.symlink("real", "link")
    texts("add", "one", cwd="link")
    assert texts(cwd="real") == ["one"]


def test_two_sessions_keep_two_plans() -> None:
    texts("add", "a", "--session", "s1")
    texts("add", "b", "--session", "s2")
    assert (texts("--session", "s1"), texts("--session", "s2")) == (["a"], ["b"])


def test_two_agents_of_a_session_keep_two_plans() -> None:
    call('{"add": ["main work"]}', "--session", "s")
    call('{"add": ["side work"]}', "--session", "s", "--agent", "helper")
    assert texts("--session", "s") == texts("--session", "s", "--agent", "main") == ["main work"]
    assert texts("--session", "s", "--agent", "helper") == ["side work"]


def test_an_agent_of_the_same_name_in_another_session_is_another_agent() -> None:
    texts("add", "a", "--session", "s1", "--agent", "helper")
    assert texts("--session", "s2", "--agent", "helper") == []


def test_what_an_agent_without_a_session_adds_is_found_again() -> None:
    texts("add", "a", "--agent", "helper")
    assert texts("--agent", "helper") == ["a"]


def test_with_nothing_named_it_is_the_plan_a_main_agent_touched_last() -> None:
    texts("add", "older", "--session", "s1")
    texts("add", "newer", "--session", "s2")
    texts("add", "of a helper", "--session", "s2", "--agent", "helper")
    assert texts() == ["newer"]
    texts("start", "1", "--session", "s1")
    assert texts() == ["older"]


def test_looking_at_a_session_neither_makes_a_plan_nor_touches_one() -> None:
    texts("add", "older", "--session", "s1")
    texts("add", "newer", "--session", "s2")
    assert (texts("--session", "s1"), texts("--session", "new")) == (["older"], [])
    assert texts() == ["newer"]


def test_a_plan_goes_by_its_id_from_anywhere() -> None:
    texts("add", "a", "--session", "s1")
    texts("add", "b", "--session", "s2")
    id = plan_id("--session", "s1")
    os.mkdir("elsewhere")
    assert texts("add", "more", "--plan", id, cwd="elsewhere") == ["a", "more"]
    assert texts("--session", "s1") == ["a", "more"]


def test_the_environment_names_plan_session_agent_and_store() -> None:
    texts("add", "a", PUNCHLIST_SESSION="s1", PUNCHLIST_AGENT="helper")
    assert texts("--session", "s1", "--agent", "helper") == ["a"]
    id = plan_id("--session", "s1", "--agent", "helper")
    assert texts(PUNCHLIST_PLAN=id) == ["a"]
    texts("add", "b", PUNCHLIST_STORE="sqlite:other.db")
    assert texts("--store", "sqlite:other.db") == ["b"]


def test_a_session_on_the_command_line_wins_over_a_plan_of_the_environment() -> None:
    texts("add", "a", "--session", "s1")
    id = plan_id("--session", "s1")
    texts("add", "b", "--session", "s2", PUNCHLIST_PLAN=id)
    assert (texts("--session", "s1"), texts("--session", "s2")) == (["a"], ["b"])
    do("bind", "--session", "s3", PUNCHLIST_PLAN=id)
    assert texts("--session", "s3") == ["a"]


def test_an_option_wins_over_the_environment() -> None:
    texts("add", "a", "--session", "s1", PUNCHLIST_SESSION="s2")
    assert (texts("--session", "s1"), texts("--session", "s2")) == (["a"], [])


def test_two_stores_keep_two_plans() -> None:
    texts("add", "a", "--store", "sqlite:one.db")
    texts("add", "b", "--store", "sqlite:two.db")
    assert (texts("--store", "sqlite:one.db"), texts("--store", "sqlite:two.db")) == (["a"], ["b"])


@pytest.mark.parametrize(
    "session", ["a/b", "../../etc", "snow ☃", "x" * 3000, "'; drop table plans; --", "caf\udce9", "%s"]
)
def test_a_session_may_have_any_name(session: str) -> None:
    texts("add", "a", "--session", session)
    assert texts("--session", session) == ["a"]


def test_the_usual_store_is_in_the_state_folder(own_home: Path) -> None:
    texts("add", "a")
    assert [path.relative_to(own_home).as_posix() for path in own_home.rglob("*.db")] == ["punchlist/punchlist.db"]

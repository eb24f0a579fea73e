"""`punchlist check` and `waive`: what shows that an item is done, set by the user and by nobody else."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.checks import approvals
from tests.commands import SCRIPT, do, run
from tests.tui.screens import running

AGENT = {"CLAUDECODE": "1"}


@pytest.fixture(autouse=True)
def plan(own_project: Path) -> None:
    do("add", "Fix the parser", "Write the notes")


def item(id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(do("show", id, "--json"))
    return found


def model_sets(id: str, command: str) -> None:
    with punchlist.open() as desk:
        desk.change(lambda plan: punchlist.ops.set_check(plan, id, command), by="main")


def test_a_command_is_set_as_the_users_in_this_directory_and_approved() -> None:
    assert do("check", "1", "make test") == 'set the check of 1 "Fix the parser" to "make test".\n'
    assert item("1")["check"] == {"run": "make test"}
    assert approvals.load().has({"run": "make test"}, os.getcwd())


@pytest.mark.parametrize(
    ("words", "check"),
    [
        (["make", "test"], {"run": "make test"}),
        (["--", "pytest", "-q", "a b"], {"run": "pytest -q 'a b'"}),
        (["echo 'a b' && true"], {"run": "echo 'a b' && true"}),
        (["--file", "dist/app"], {"file": "dist/app"}),
        (["--contains", "CHANGELOG.md", "version 2.0"], {"contains": ["CHANGELOG.md", "version 2.0"]}),
        (["make test", "--scope", "src/**", "--scope", "tests"], {"run": "make test", "scope": ["src/**", "tests"]}),
    ],
)
def test_every_kind_of_check_can_be_typed(words: list[str], check: dict[str, Any]) -> None:
    do("check", "parser", *words)
    assert item("1")["check"] == check


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "ID is missing"),
        (["1", "pytest", "-q"], 2, "no option '-q'"),
        (["1", "--contains", "a"], 2, "--contains needs a text, too"),
        (["1", "make", "--file", "a"], 2, "a check is a command or a file, not both"),
        (["1", "--remove", "--approve"], 2, "cannot be combined"),
        (["1", "x", "--remove"], 2, "take no command and no scope"),
        (["9", "true"], 1, "no item '9'"),
        (["1", "--file", "../x"], 1, "a path inside of its directory"),
        (["1", "--file", "/etc/passwd"], 1, "a path inside of its directory"),
        (["1", "a\x1b[2Jb"], 1, "one line, without control characters"),
        (["1", "x" * 2001], 1, "1 to 2000 characters"),
        (["1", "--scope", "src"], 1, "item 1 has no check that could have a scope"),
        (["1", "--approve"], 1, "item 1 has no check to approve"),
    ],
)
def test_what_cannot_be_a_check_is_refused_and_nothing_is_changed(words: list[str], code: int, said: str) -> None:
    before = do("show", "--json")
    done = run("check", *words)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert "\x1b" not in done.stderr
    assert do("show", "--json") == before


def test_a_scope_can_be_changed_alone() -> None:
    os.mkdir("inside")
    do("check", "1", "make test", cwd="inside")
    do("check", "1", "--scope", "src")
    assert item("1")["check"] == {"run": "make test", "scope": ["src"]}
    assert approvals.load().has({"run": "make test", "scope": ["src"]}, os.path.abspath("inside"))


def test_a_check_is_shown_with_who_set_it_and_whether_it_may_be_run() -> None:
    assert do("check", "1") == "item 1 has no check; set one: punchlist check 1 'make test'\n"
    model_sets("1", "make evil")
    said = do("check", "1")
    assert "check of 1: make evil\n" in said
    assert "set by: main" in said
    assert "not approved; to approve it: punchlist check 1 --approve" in said
    assert json.loads(do("check", "1", "--json"))["approved"] is False


def test_the_commands_to_type_next_are_for_the_plan_that_was_named() -> None:
    store = "sqlite:my plan.db"
    options = f"--store '{store}' --session parser"
    with punchlist.open(store, session="parser") as desk:
        desk.call("plan", {"add": ["Read", {"text": "Write", "check": "true"}], "done": [2]})
    named = shlex.split(options)
    assert do("check", "1", *named) == f"item 1 has no check; set one: punchlist check 1 'make test' {options}\n"
    assert f"to approve it: punchlist check 2 --approve {options}\n" in do("check", "2", *named)
    said = " ".join(do("show", "2", *named).split())
    (command,) = re.findall("not approved: punchlist (check .* parser)", said)
    assert command == f"check 2 --approve {options}"
    assert do(*shlex.split(command)).startswith("approved the check of 2")
    assert "not approved" not in do("show", "2", *named)


def test_a_check_can_be_approved_and_removed() -> None:
    model_sets("1", "make test")
    assert do("check", "1", "--approve") == f"approved the check of 1: make test (in {os.getcwd()})\n"
    assert "not approved" not in do("check", "1")
    assert approvals.load().has({"run": "make test"}, os.getcwd())
    do("check", "1", "--remove")
    assert "has no check" in do("check", "1")


def test_an_item_is_added_with_its_check() -> None:
    do("add", "Ship it", "--check", "make release")
    assert item("3")["check"] == {"run": "make release"}
    assert approvals.load().has({"run": "make release"}, os.getcwd())


def test_an_item_that_is_waived_says_why_until_that_is_taken_back() -> None:
    do("waive", "1", "--why", "only a comment")
    assert item("1")["waived"]["why"] == "only a comment"
    assert do("waive", "1", "--undo") == '1 "Fix the parser" is not waived any more.\n'
    assert "waived" not in item("1")
    assert run("waive", "1").returncode == 2
    assert run("waive", "1", "--why", " ").returncode == 1


@pytest.mark.parametrize(
    "words",
    [
        ("check", "1", "true"),
        ("check", "1", "--approve"),
        ("check", "1", "--remove"),
        ("waive", "1", "--why", "x"),
        ("verify", "--trust", "1"),
        ("verify", "--revoke", "1"),
    ],
)
def test_what_is_the_users_is_refused_in_an_agents_shell(words: tuple[str, ...]) -> None:
    model_sets("1", "make test")
    before = do("show", "--json")
    done = run(*words, **AGENT)
    assert done.returncode == 1
    assert "is for the user" in done.stderr
    assert do("show", "--json") == before
    assert approvals.load().known == {}


def test_a_check_that_an_agent_types_with_an_item_is_the_agents() -> None:
    do("add", "Mine", "--check", "make mine", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s1")
    assert approvals.load().known == {}


def test_a_check_written_in_the_editor_is_approved_and_one_from_a_file_is_not(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "  - check: make edited\\n" >> "$1"\n')
    editor.chmod(0o755)
    do("edit", EDITOR=str(editor), VISUAL="")
    assert item("2")["check"] == {"run": "make edited"}
    assert approvals.load().has({"run": "make edited"}, os.getcwd())
    text = do("show", "--markdown").replace("make edited", "make evil")
    Path("TODO.md").write_text(text)
    do("edit", "--file", "TODO.md")
    assert item("2")["check"] == {"run": "make evil"}
    assert not approvals.load().has({"run": "make evil"}, os.getcwd())


# --- a default check -------------------------------------------------------------------------------------------------


def test_without_a_terminal_a_default_check_is_suggested_and_nothing_is_written() -> None:
    Path("Makefile").write_text("test:\n\ttrue\n")
    assert do("check", "--suggest") == "make test  (Makefile has the target test)\n"
    assert json.loads(do("check", "--suggest", "--json"))["suggestions"][0]["command"] == "make test"
    assert sorted(os.listdir()) == [".git", "Makefile"]


def test_where_no_file_says_how_to_test_that_is_told() -> None:
    assert do("check", "--suggest").startswith("no Makefile, pyproject.toml")


@pytest.mark.parametrize("before", ["", "plain = true\n", "plain = true", "[checks]\n", "# mine\n[checks] # here\n"])
def test_on_a_terminal_a_yes_writes_the_default_check_and_approves_it(before: str) -> None:
    Path("Makefile").write_text("test:\n\ttrue\n")
    if before:
        Path("punchlist.toml").write_text(before)
    with running(SCRIPT, "check", "--suggest") as screen:
        screen.sees('+default = "make test"', "[y/N]")
        screen.type("y\n")
        screen.sees("make test is the default check of this project")
        assert screen.ends() == 0
    assert json.loads(do("settings", "--json"))["default_check"]["value"] == "make test"
    assert Path("punchlist.toml").read_text().startswith(before.rstrip("\n"))
    assert approvals.load().has({"run": "make test"}, os.getcwd())
    assert "is set already: make test" in do("check", "--suggest")


def test_a_no_writes_nothing() -> None:
    Path("Makefile").write_text("test:\n\ttrue\n")
    with running(SCRIPT, "check", "--suggest") as screen:
        screen.sees("[y/N]")
        screen.type("n\n")
        screen.sees("nothing was written.")
        assert screen.ends() == 0
    assert not os.path.exists("punchlist.toml")


@pytest.mark.parametrize("check", ["", "  "])
def test_an_item_with_an_empty_check_is_refused(check: str) -> None:
    done = run("add", "Another", "--check", check)
    assert done.returncode == 1
    assert "the command of a check" in done.stderr
    assert "Another" not in do("show")


@pytest.mark.parametrize("words", [["check", "1", "--approve"], ["verify", "--trust", "1"]])
def test_an_approval_that_is_undone_is_taken_back_and_that_is_told(words: list[str]) -> None:
    model_sets("1", "true")
    run(*words)
    assert approvals.load().known
    assert "true is not approved any more, and not run.\n" in do("undo")
    assert not approvals.load().known
    assert "the check of 1 is not approved to be run; to approve it: punchlist check 1 --approve\n" in do("redo")
    assert not approvals.load().known, "what the user approves again, they have seen again"


def test_undo_of_a_revoke_tells_that_the_check_is_not_run() -> None:
    model_sets("1", "true")
    do("check", "1", "--approve")
    do("verify", "--revoke", "1")
    assert "the check of 1 is not approved to be run" in do("undo")
    assert not approvals.load().known


def test_undo_of_something_else_leaves_approvals_alone() -> None:
    do("check", "1", "make test")
    do("note", "1", "Later")
    assert "approved" not in do("undo")
    assert approvals.load().has({"run": "make test"}, os.getcwd())


def test_an_approval_stays_while_another_item_has_the_check() -> None:
    do("check", "1", "make test")
    do("check", "2", "make test")
    assert "approved" not in do("undo")
    assert approvals.load().has({"run": "make test"}, os.getcwd())

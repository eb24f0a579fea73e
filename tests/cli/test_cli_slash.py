"""`punchlist slash`: what is typed behind /todo at an agent's prompt is one text, and none of it is an option."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import punchlist
from punchlist.cli.slash import COMMANDS
from tests import commands


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")


def slash(text: str, code: int = 0) -> str:
    done = commands.run("slash", "--session", "s1", "--", text)
    assert done.returncode == code, done.stdout + done.stderr
    return (done.stdout + done.stderr).strip()


def items() -> list[tuple[str, str]]:
    with punchlist.open(session="s1") as desk:
        return [(item.text, item.status) for item in desk.plan.items]


def test_every_verb_does_what_the_command_does() -> None:
    assert slash("add Ask Ann, and wait") == 'added 1 "Ask Ann, and wait".'
    assert slash('add "Read it" \'Fix it\' "Ship it"').count("added") == 3
    assert slash("start 2") == 'started 2 "Read it".'
    assert slash("done 1-2").count("completed") == 2
    assert slash("drop 3 it doesn't pay") == 'dropped 3 "Fix it": it doesn\'t pay.'
    assert slash("block 4 'no access'") == 'blocked 4 "Ship it": no access.'
    assert slash("note 4 asked for it").startswith("noted on 4")
    assert slash("rename 4 'Ship all'") == 'renamed 4 "Ship it" to "Ship all".'
    assert slash("unblock ship") == 'unblocked 4 "Ship all".'
    assert slash("undo") == 'blocked 4 "Ship all": no access.'
    assert slash("pause wait for Ann") == "paused the work: wait for Ann."
    assert "paused: wait for Ann" in slash("")
    slash("resume")
    slash("title The release")
    assert slash("show").startswith("The release")
    assert "no completed item has a check" in slash("verify")
    assert "/todo drop, block ID WHY" in slash("help")
    assert max(map(len, slash("help").splitlines())) <= 80
    with punchlist.open(session="s1") as desk:
        assert {record.by for record in desk.history()} == {"user"}


def test_a_check_is_set_shown_and_approved() -> None:
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": [{"text": "Read it", "check": "true"}]})
    assert "not approved" in slash("check 1")
    slash("approve 1")
    assert "not approved" not in slash("check 1")
    slash("check 1 test -d .")
    assert "test -d ." in slash("check 1")


@pytest.mark.parametrize(
    "text",
    [
        "--help",
        "-h",
        "--session s2",
        "--phase=Evil x",
        "-- x",
        "$(touch pwned) `touch pwned` ; touch pwned",
        "${HOME}",
        "<Box>x</Box>",
        "don't",
        '"half a quote',
        "'one' and 'two'",
        "x" * 10_000,
    ],
)
def test_a_text_is_data(text: str) -> None:
    slash(f"add {text}")
    slash("add Second")
    slash(f"rename 2 {text}")
    assert [found for found, _ in items()] == [text, text]
    slash(f"drop 2 {text}")
    slash(f"pause {text}")
    with punchlist.open(session="s1") as desk:
        assert desk.plan.items[1].reason == text
        assert desk.plan.paused
        assert desk.plan.paused.reason == text
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dnoe 1", "/todo has no 'dnoe'; did you mean 'done'?"),
        ("\x1b[31mred", "/todo has no"),
        ("drop 1", "/todo drop needs an item and a reason: /todo drop 2 WHY"),
        ("undo everything", "/todo undo takes nothing, but there is 1 word behind it"),
        ("done", "ID is missing"),
        ("done --all", "no item"),
        ("note 1", "TEXT is missing"),
        ("add", "TEXT is missing"),
    ],
)
def test_a_mistake_is_explained_and_changes_nothing(text: str, said: str) -> None:
    slash("add Read it")
    before = items()
    done = commands.run("slash", "--session", "s1", "--", text)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "\x1b" not in done.stderr
    assert items() == before


def test_an_agent_does_not_become_the_user_by_it() -> None:
    slash("add Read it")
    agent = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
    done = commands.run("slash", "rm 1", **agent)
    assert done.returncode == 1
    assert "rm is for the user" in done.stderr
    assert commands.do("slash", "start 1", **agent) == 'started 1 "Read it".\n'
    with punchlist.open(session="s1") as desk:
        assert desk.history()[-1].by == "main"


def test_done_alone_means_the_item_that_is_worked_on() -> None:
    slash('add "Read it" "Fix it" "Ship it"')
    slash("start 2")
    assert slash("done") == 'completed 2 "Fix it".'
    assert "ID is missing" in slash("done", code=2), "nothing is worked on"


def test_help_has_every_command_and_is_called_as_the_slash_command_is() -> None:
    listed = json.loads(commands.do("slash", "--json", "help"))
    assert sorted([*listed, "help"]) == sorted(COMMANDS)
    assert "/plan undo, redo" in commands.do("slash", "--called", "plan", "help")
    done = commands.run("slash", "--called=plan", "--session", "s1", "--", "dnoe")
    assert done.stderr == "/plan has no 'dnoe'; did you mean 'done'?\n"
    done = commands.run("slash", "--called=plan", "--session", "s1", "--", "drop 2")
    assert done.stderr == "/plan drop needs an item and a reason: /plan drop 2 WHY\n"

"""Off and on: what is said, what keeps it off, what an agent is offered then, and that it is written down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = str(Path(sys.executable).parent / "punchlist")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def run(*words: str, cwd: str = ".", stdin: str = "", **env: str) -> str:
    done = subprocess.run(
        [SCRIPT, *words], input=stdin, cwd=cwd, env={**os.environ, **env},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def events(*words: str, cwd: str = ".") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("log", "--events", "--json", *words, cwd=cwd))
    return found


def test_a_plan_that_is_shown_while_it_is_off_says_so() -> None:
    run("add", "Read")
    run("off")
    assert run().splitlines()[-1] == "off here: no agent is told of this plan (punchlist on)"
    run("on")
    assert "off here" not in run()


def test_off_and_on_are_said_for_the_project_they_are_meant_for() -> None:
    here = os.path.realpath(".")
    assert run("off") == f"punchlist is off for {here}.\n"
    assert run("off") == f"punchlist is off already for {here}.\n"
    assert run("on") == f"punchlist is on for {here}.\n"
    assert run("off", "--session", "s1") == "punchlist is off for session s1.\n"


def test_turning_on_says_what_keeps_it_off() -> None:
    run("off", "--everywhere")
    assert run("on").splitlines()[1:] == ["but it is off in every project: `punchlist on --everywhere`."]
    assert json.loads(run("on", "--json"))["still_off"] == ["it is off in every project: `punchlist on --everywhere`"]
    run("on", "--everywhere")
    assert run("on").count("\n") == 1


def test_a_session_that_is_turned_on_in_a_project_that_is_off_is_told_so() -> None:
    run("off")
    assert run("on", "--session", "s1").splitlines()[1:] == ["but it is off in this project: `punchlist on`."]


def test_turning_on_names_the_setting_that_keeps_it_off() -> None:
    assert run("on", PUNCHLIST_OFF="yes").splitlines()[1:] == ["but the setting 'off' is true: PUNCHLIST_OFF."]


def test_where_it_is_off_there_is_no_tool_and_no_word_about_one(tmp_path: Path) -> None:
    assert json.loads(run("tools")) != []
    run("off")
    assert json.loads(run("tools")) == []
    assert run("prompt") == ""
    assert run("prompt", cwd=str(tmp_path / "other")) != ""
    assert json.loads(run("tools", "--session", "s1", cwd=str(tmp_path / "other"))) != []
    run("off", "--session", "s1")
    assert json.loads(run("tools", "--session", "s1", cwd=str(tmp_path / "other"))) == []


def test_off_and_on_are_written_down_with_what_was_before(tmp_path: Path) -> None:
    run("off")
    run("off")
    run("on")
    here = os.path.realpath(".")
    told = [(one["kind"], one["to"], one["before"], one["place"]) for one in events()]
    assert told == [("toggle", "on", "off", here), ("toggle", "off", "on", here)]
    assert events(cwd=str(tmp_path / "other")) == []
    run("off", "--everywhere")
    assert [one["to"] for one in events(cwd=str(tmp_path / "other"))] == ["off"]


def test_what_happens_to_a_session_without_a_plan_is_not_told_elsewhere(tmp_path: Path) -> None:
    run("stop", "--session", "s1")
    assert [one["kind"] for one in events("--session", "s1")] == ["no-nudges"]
    assert events() == []

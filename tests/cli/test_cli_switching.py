"""Off and on: what is said, what keeps it off, what an agent is offered then, and that it is written down."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.commands import do


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def events(*words: str, cwd: str = ".") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(do("log", "--events", "--json", *words, cwd=cwd))
    return found


def test_a_plan_that_is_shown_while_it_is_off_says_so() -> None:
    do("add", "Read")
    do("off")
    assert do().splitlines()[1] == "off here: no agent is told of this plan (punchlist on)"
    do("on")
    assert "off here" not in do()


def test_off_and_on_are_said_for_the_project_they_are_meant_for() -> None:
    here = os.path.realpath(".")
    assert do("off") == f"punchlist is off for {here}.\n"
    assert do("off") == f"punchlist is off already for {here}.\n"
    assert do("on") == f"punchlist is on for {here}.\n"
    assert do("off", "--session", "s1") == "punchlist is off for session s1.\n"


def test_turning_on_says_what_keeps_it_off() -> None:
    do("off", "--everywhere")
    assert do("on").splitlines()[1:] == ["but it is off in every project: `punchlist on --everywhere`."]
    assert json.loads(do("on", "--json"))["still_off"] == ["it is off in every project: `punchlist on --everywhere`"]
    do("on", "--everywhere")
    assert do("on").count("\n") == 1


def test_a_session_that_is_turned_on_in_a_project_that_is_off_is_told_so() -> None:
    do("off")
    assert do("on", "--session", "s1").splitlines()[1:] == ["but it is off in this project: `punchlist on`."]


def test_turning_on_names_the_setting_that_keeps_it_off() -> None:
    assert do("on", PUNCHLIST_OFF="yes").splitlines()[1:] == ["but the setting 'off' is true: PUNCHLIST_OFF."]


def test_where_it_is_off_there_is_no_tool_and_no_word_about_one(tmp_path: Path) -> None:
    assert json.loads(do("tools")) != []
    do("off")
    assert json.loads(do("tools")) == []
    assert do("prompt") == ""
    assert do("prompt", cwd=str(tmp_path / "other")) != ""
    assert json.loads(do("tools", "--session", "s1", cwd=str(tmp_path / "other"))) != []
    do("off", "--session", "s1")
    assert json.loads(do("tools", "--session", "s1", cwd=str(tmp_path / "other"))) == []


def test_off_and_on_are_written_down_with_what_was_before(tmp_path: Path) -> None:
    do("off")
    do("off")
    do("on")
    here = os.path.realpath(".")
    told = [(one["kind"], one["to"], one["before"], one["place"]) for one in events()]
    assert told == [("toggle", "on", "off", here), ("toggle", "off", "on", here)]
    assert events(cwd=str(tmp_path / "other")) == []
    do("off", "--everywhere")
    assert [one["to"] for one in events(cwd=str(tmp_path / "other"))] == ["off"]


def test_what_happens_to_a_session_without_a_plan_is_not_told_elsewhere(tmp_path: Path) -> None:
    do("stop", "--session", "s1")
    assert [one["kind"] for one in events("--session", "s1")] == ["no-nudges"]
    assert events() == []

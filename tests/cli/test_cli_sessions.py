"""plans, bind and carry: which session works from which plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PUNCHLIST_STORE", f"sqlite:{tmp_path}/plans.db")


def answer(*words: str) -> Any:
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def begun(session: str, text: str) -> str:
    """The id of a new plan of a session."""
    return str(answer("add", text, "--session", session)["id"])


def shown(session: str) -> list[str]:
    return [item["text"] for item in answer("--session", session)["items"]]


@pytest.mark.parametrize(
    "words", [(), ("--session", "s"), ("--plan", "p"), ("--json",), ("--session", "", "--plan", "p")]
)
def test_bind_without_a_session_or_a_plan_is_misuse_and_opens_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run("bind", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("punchlist bind: --session S and --plan ID are needed, or --next and --plan ID; see")
    assert not (tmp_path / "plans.db").exists()


def test_bind_to_a_plan_that_is_not_there_is_refused() -> None:
    begun("monday", "a")
    done = run("bind", "--session", "tuesday", "--plan", "nothing")
    assert done.returncode == 1
    assert "no plan 'nothing'" in done.stderr


def test_more_plans_than_are_listed_are_hinted_at() -> None:
    for session in ("one", "two", "three"):
        begun(session, "a")
    assert run("plans", "--most", "2").stdout.splitlines()[2:] == ["and more: punchlist plans --most 4"]
    assert run("plans", "--most", "3").stdout.count("\n") == 3
    assert len(answer("plans", "--most", "2")) == 2


def test_bind_lets_a_session_work_from_a_plan() -> None:
    plan = begun("monday", "a")
    assert run("bind", "--session", "tuesday", "--plan", plan).stdout == f"session tuesday works from plan {plan}.\n"
    assert shown("tuesday") == ["a"]
    assert answer("plans")[0]["sessions"] == ["monday", "tuesday"]


def test_bind_takes_session_and_plan_from_the_environment_too() -> None:
    plan = begun("monday", "a")
    done = run("bind", "--json", PUNCHLIST_SESSION="tuesday", PUNCHLIST_PLAN=plan, PUNCHLIST_AGENT="helper")
    assert json.loads(done.stdout) == {"session": "tuesday", "plan": plan}
    assert [item["text"] for item in answer("--session", "tuesday", "--agent", "helper")["items"]] == ["a"]
    assert shown("tuesday") == []


def test_carry_gives_a_copy_and_plans_shows_its_whole_lineage() -> None:
    one, two, three = (begun(name, name) for name in ("one", "two", "three"))
    for source, target in (("one", "two"), ("two", "three")):
        assert run("carry", source, target).returncode == 0
    assert shown("three") == ["one"]
    assert {plan["id"]: plan["parent"] for plan in answer("plans")} == {one: "", two: one, three: two}
    lines = {line.split()[0]: line for line in run("plans").stdout.splitlines()}
    assert lines[three].endswith(f"three (copied from {two} ← {one})")
    assert lines[two].endswith(f"two (copied from {one})")
    assert "copied" not in lines[one]


def test_plans_that_were_copied_from_each_other_are_listed_all_the_same() -> None:
    one, two = begun("one", "1"), begun("two", "2")
    run("carry", "one", "two")
    run("add", "more", "--session", "two")
    run("carry", "two", "one")
    lines = {line.split()[0]: line for line in run("plans").stdout.splitlines()}
    assert lines[one].endswith(f"(copied from {two})")
    assert lines[two].endswith(f"(copied from {one})")


def test_carry_of_nothing_is_refused() -> None:
    begun("monday", "a")
    done = run("carry", "sunday", "monday")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "punchlist: session 'sunday' has nothing to carry.\n"
    assert shown("monday") == ["a"]

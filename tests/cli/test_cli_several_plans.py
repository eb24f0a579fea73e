"""Several live plans in one directory: whose each one is, which one is chosen, and where an edit lands."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

import punchlist
from punchlist import Desk
from punchlist.local.settings import load
from punchlist.stores import open_store
from tests import commands
from tests.commands import SCRIPT


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("COLUMNS", "100")


def run(*words: str, code: int = 0) -> str:
    done = commands.run(*words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def works(session: str, host: str = "codex", **call: object) -> str:
    """Let an agent use its plan, and return the plan's id."""
    settings = load()
    desk = Desk(open_store(settings.store), session=session, settings=settings, host=host)
    with desk:
        assert not desk.call("plan", call or {"add": [f"{session} one", f"{session} two"]}).is_error
        return desk.plan.id


def statuses(session: str) -> list[str]:
    with punchlist.open(session=session) as desk:
        return [item.status for item in desk.plan.items]


def test_an_edit_lands_in_the_plan_that_was_shown_whoever_worked_since() -> None:
    works("a")
    works("b")
    assert "b one" in run()
    works("a", edit=[{"id": 1, "note": "seen"}])
    assert run("done", "2") == 'completed 2 "b two".\n'
    assert (statuses("a"), statuses("b")) == (["in_progress", "pending"], ["in_progress", "completed"])


@pytest.mark.parametrize("words", [("done", "1"), ("add", "More"), ("undo",), ("mode", "plan"), ("pause", "wait")])
def test_where_nothing_was_shown_an_edit_is_refused_with_the_list(words: tuple[str, ...]) -> None:
    works("a", "claude-code")
    works("b")
    said = run(*words, code=1)
    assert "it is not certain which one you mean" in said
    assert "claude-code, session a" in said
    assert "codex, session b" in said
    assert "punchlist use 1" in said
    assert (statuses("a"), statuses("b")) == (["in_progress", "pending"], ["in_progress", "pending"])


def test_an_edit_of_a_named_plan_makes_the_next_one_uncertain() -> None:
    works("a")
    works("b")
    run()
    run("--session", "a", "done", "1")
    assert "not certain" in run("done", "2", code=1)
    run("--session", "b", "done", "2")


def test_a_plan_that_was_shown_and_is_finished_gives_way_to_no_other() -> None:
    works("a")
    run()
    works("a", done=[1, 2])
    works("b")
    assert "not certain" in run("done", "1", code=1)
    assert statuses("b") == ["in_progress", "pending"]


def test_with_one_live_plan_nothing_has_to_be_chosen() -> None:
    works("a")
    assert run("done", "1") == 'completed 1 "a one".\n'
    assert run().startswith("Plan  ")


def test_headers_name_the_program_and_the_session_where_there_are_several() -> None:
    works("a")
    assert "session" not in run() + run("line")
    works("b", "claude-code")
    assert run().startswith("Plan (claude-code, session b)  ")
    assert run("line") == "▶ b one 0/2 (claude-code, session b)\n"
    for style in ("claude-code", "gencode", "oh-my-pi"):
        assert run("show", "--style", style).startswith("Plan (claude-code, session b)\n")
    assert run("--session", "a").startswith("Plan  "), "whoever names a session knows whose plan it is"


def test_use_lists_the_plans_and_chooses_one_for_this_terminal() -> None:
    first, second = works("a"), works("b", "claude-code")
    lines = run("use").splitlines()
    assert lines == [
        f"→ 1  {second}  0/2  claude-code, session b  b one",
        f"  2  {first}  0/2  codex, session a        a one",
    ]
    works("a", edit=[{"id": 1, "note": "the order of the list changes now"}])
    chosen = run("use", "2")
    assert next(line for line in chosen.splitlines() if line.startswith("→")).split()[2] == first
    works("b", edit=[{"id": 1, "note": "touched last"}])
    assert "a one" in run()
    assert "a one" in run("line")
    assert run("done", "1") == 'completed 1 "a one".\n'


@pytest.mark.parametrize("words", ["ID", "b-session", "b-sess", "B-SESSION ONE"])
def test_a_plan_is_chosen_by_its_id_its_session_or_its_words(words: str) -> None:
    works("a")
    plan = works("b-session")
    works("a", edit=[{"id": 1, "note": "touched last"}])
    run("use", plan if words == "ID" else words)
    [row] = [row for row in json.loads(run("use", "--json")) if row["chosen"]]
    assert (row["id"], row["session"], row["program"]) == (plan, "b-session", "codex")


def test_what_fits_no_plan_or_several_is_refused() -> None:
    works("same")
    works("same too")
    assert "no plan 'nothing' here" in run("use", "nothing", code=1)
    assert "fits 2 plans" in run("use", "one", code=1)


def test_another_terminal_has_a_choice_of_its_own() -> None:
    works("a")
    works("b")
    run("use", "a")
    done = subprocess.run([SCRIPT], capture_output=True, encoding="utf-8", check=True, start_new_session=True)
    assert "b one" in done.stdout
    assert "a one" in run()


def test_what_a_terminal_was_shown_is_for_its_owner_only(own_home: Path) -> None:
    before = os.umask(0)
    try:
        works("a")
        run()
    finally:
        os.umask(before)
    folder = own_home / "punchlist" / "terminals"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())] == [0o700, 0o600]


def test_an_empty_directory_says_that_there_are_plans_elsewhere(tmp_path: Path) -> None:
    assert "other directories" not in run()
    works("a")
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    os.chdir(tmp_path / "empty")
    assert run().endswith("There are plans in other directories: punchlist plans\n")


def test_an_agent_in_its_shell_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = works("a")
    works("b")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "use is for the user" in run("use", plan, code=1)
    run("use")


def test_two_sessions_of_run_are_told_apart_where_they_are_named() -> None:
    for session in ("20261117-025856-fws9", "20261117-025858-autj"):
        works(session, host="")
    shown = run("use")
    assert "session 20261117-025856-fws9" in shown
    assert "session 20261117-025858-autj" in shown
    assert "(session 20261117-025858-autj)" in run()

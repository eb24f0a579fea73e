"""`trim` forgets the history of the plans that are named, asks on a terminal, and says of which."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.commands import SCRIPT, do


@pytest.fixture(autouse=True)
def two_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for session in ("A", "B"):
        do("add", "Run the tests", "--session", session)
        do("done", "1", "--session", session)


def changes(session: str) -> int:
    return len(json.loads(do("log", "--json", "--session", session)))


def plan(session: str) -> str:
    return str(json.loads(do("show", "--json", "--session", session))["id"])


def on_a_terminal(typed: str, *words: str) -> str:
    """What is shown there, and what is typed."""
    main, other = pty.openpty()
    shown = b""
    with subprocess.Popen([SCRIPT, *words], stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        while b"[y/N]" not in shown:
            shown += os.read(main, 1000)
        os.write(main, typed.encode())
        try:
            while data := os.read(main, 1000):
                shown += data
        except OSError:  # that is how a terminal ends
            pass
    os.close(main)
    assert process.returncode == 0
    return shown.decode()


def test_trim_with_a_session_forgets_only_that_session_s_history() -> None:
    said = do("trim", "--older-than", "0d", "--session", "A")
    assert said == f"deleted 2 changes; no plan was changed.\n{plan('A')}: 2 changes\n"
    assert (changes("A"), changes("B")) == (0, 2)


def test_the_log_of_a_trimmed_plan_says_that_nothing_is_kept() -> None:
    do("trim", "--older-than", "0d", "--session", "A")
    assert do("log", "--session", "A") == "no changes are kept; the plan is at revision 2.\n"


def test_trim_with_a_plan_forgets_only_that_plan_s_history() -> None:
    said = json.loads(do("trim", "--older-than", "0d", "--plan", plan("B"), "--json"))
    assert said == {"trimmed": 2, "plans": {plan("B"): 2}}
    assert (changes("A"), changes("B")) == (2, 0)


def test_trim_without_a_plan_forgets_the_history_of_all_and_names_them() -> None:
    said = do("trim", "--older-than", "0d")
    assert said.startswith("deleted 4 changes; no plan was changed.\n")
    assert set(said.splitlines()[1:]) == {f"{plan('A')}: 2 changes", f"{plan('B')}: 2 changes"}


def test_trim_says_what_stays_because_an_agent_has_not_been_told() -> None:
    call = [SCRIPT, "call", "plan", "--session", "B"]
    subprocess.run(call, input=b'{"add": ["Ship it"]}', stdout=subprocess.DEVNULL, check=True)
    do("done", "2", "--session", "B")
    said = do("trim", "--older-than", "0d", "--session", "B")
    stays = "kept 1 change that a running agent has not seen yet."
    assert said == f"deleted 3 changes; no plan was changed.\n{plan('B')}: 3 changes\n{stays}\n"
    told = subprocess.run(call, input=b'{"show": true}', capture_output=True, check=True).stdout.decode()
    assert "the user completed 2" in told


def test_trim_of_a_session_without_a_plan_is_refused() -> None:
    done = subprocess.run([SCRIPT, "trim", "--older-than", "0d", "--session", "C"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"punchlist: there is no plan to trim.\n")
    assert (changes("A"), changes("B")) == (2, 2)


@pytest.mark.parametrize(("typed", "left"), [("n\n", 2), ("\n", 2), ("y\n", 0)])
def test_on_a_terminal_trim_asks_first(typed: str, left: int) -> None:
    shown = on_a_terminal(typed, "trim", "--older-than", "0d", "--session", "A")
    assert f"Delete the history of plan {plan('A')} from before " in shown
    assert (changes("A"), changes("B")) == (left, 2)


def test_on_a_terminal_nothing_is_asked_with_yes() -> None:
    main, other = pty.openpty()
    words = [SCRIPT, "trim", "--older-than", "0d", "--session", "A", "--yes"]
    assert subprocess.run(words, stdin=other, stdout=other, stderr=other, check=False).returncode == 0
    assert b"[y/N]" not in os.read(main, 1000)
    os.close(main)
    os.close(other)
    assert changes("A") == 0


def test_plans_lists_only_those_of_the_session_or_agent_that_was_typed() -> None:
    do("add", "Help", "--session", "A", "--agent", "w1")
    listed = {(*row["sessions"], row["agent"]) for row in json.loads(do("plans", "--json", "--session", "A"))}
    assert listed == {("A", "main"), ("A", "w1")}
    (row,) = json.loads(do("plans", "--json", "--agent", "w1"))
    assert row["agent"] == "w1"
    assert do("plans", "--session", "nobody") == "no such plan.\n"

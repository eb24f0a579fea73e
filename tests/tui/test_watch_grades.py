"""Grades on a live screen: they follow what is observed and the files, without a key that has to wait."""

from __future__ import annotations

from pathlib import Path

import pytest

import punchlist
from punchlist import Plan, ops
from punchlist.desk import evidence
from punchlist.desk.grade_labels import FRESH, LiveLabels
from punchlist.local.files import time_text
from tests.tui.screens import watching

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("PUNCHLIST_EXPANDED", "yes")
    Path("code.py").write_text("1\n")
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.set_check(ops.add(ops.add(plan, "Fix it"), "Ship it"), "1", "make test"))


def observe(exit: int = 0) -> None:
    with punchlist.open() as desk:
        item = ops.find(desk.plan, "1")
        row = {"at": time_text(), "tier": "seen", "command": "make test", "exit": exit}
        evidence.record_run(desk, desk.plan, item, row)


def done() -> None:
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.complete(plan, "1"))


@pytest.mark.parametrize(
    ("columns", "rows"),
    [(80, 24), pytest.param(200, 50, marks=pytest.mark.torture), pytest.param(60, 12, marks=pytest.mark.torture)],
)
def test_a_grade_comes_and_goes_with_the_files(columns: int, rows: int) -> None:
    with watching(columns=columns, rows=rows) as session:
        session.sees("○ 1 Fix it  check: make test")
        observe()
        done()
        session.sees("✔ 1 Fix it", "verified", "1/2 · 1 verified")
        assert session.style("✔").fg == "green"
        Path("code.py").write_text("2\n")
        session.sees("✓ 1 Fix it", "outdated: 1 file changed since").sees_no("✔", "1 verified")
        observe(exit=1)
        session.sees("failed", "exit code 1")
        assert session.style("failed").fg == "red"
        Path("code.py").write_text("1\n")
        session.sees("✔ 1 Fix it", "verified")
        session.type("q")
        assert session.ends() == 0


def test_without_color_and_in_ascii_the_word_stays() -> None:
    observe()
    done()
    with watching(NO_COLOR="1", PUNCHLIST_UNICODE="no") as session:
        session.sees("x 1 Fix it", "verified", "1/2, 1 verified")
        assert session.style("x 1").fg == "default"


def test_line_by_line_another_grade_is_a_line() -> None:
    with watching("--plain") as session:
        session.sees("1 Fix it")
        observe()
        done()
        session.hears('1 "Fix it": verified')
        Path("code.py").write_text("2\n")
        session.hears('1 "Fix it": outdated: 1 file changed since')
        session.kill(15)


def test_the_files_are_looked_at_again_only_if_something_is_new_or_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    observe()
    done()
    looks: list[Plan] = []
    look = evidence.graded

    def counted(desk: punchlist.Desk, plan: Plan, seconds: float = 30.0) -> evidence.Graded:
        looks.append(plan)
        return look(desk, plan, seconds)

    monkeypatch.setattr(evidence, "graded", counted)
    now = 100.0
    monkeypatch.setattr("punchlist.desk.grade_labels.monotonic", lambda: now)
    with punchlist.open() as desk:
        live = LiveLabels(desk)
        found = [live.look(desk.plan) for _ in range(5)]
        assert (len(looks), found[-1].verified) == (1, frozenset("1"))
        observe()
        live.look(desk.plan)
        assert len(looks) == 2
        now += FRESH
        live.look(desk.plan)
        live.look(desk.plan)
        assert len(looks) == 3
        desk.change(lambda plan: ops.add(plan, "More"))
        live.look(desk.plan)
        assert len(looks) == 4

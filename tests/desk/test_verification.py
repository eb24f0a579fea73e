"""Checks of a plan, run: identical ones once, and what came to no end is not evidence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from punchlist import Desk, MemoryStore, Plan, ops
from punchlist.checks import approvals
from punchlist.checks.output import read_output
from punchlist.core.checks import subjects
from punchlist.desk.verification import FAILED, PASSED, VOID, Job, jobs_of, run_approved, run_job


@pytest.fixture
def folder(own_folder: Path) -> str:
    (own_folder / "a").write_text("1")
    return str(own_folder)


def planned(desk: Desk, *checks: str) -> Plan:
    def edit(plan: Plan) -> Plan:
        for number, check in enumerate(checks, 1):
            plan = ops.set_check(ops.add(plan, "x"), str(number), check)
        return plan

    return desk.change(edit).plan


def test_identical_checks_are_one_job_in_the_order_of_their_items(folder: str) -> None:
    desk = Desk(MemoryStore())
    plan = planned(desk, "true", "false", "true")
    desk.change(lambda now: ops.add(now, "without one"))
    jobs = jobs_of(desk.plan.items)
    assert [(job.words, [item.id for item in job.items]) for job in jobs] == [("true", ["1", "3"]), ("false", ["2"])]
    assert jobs_of(plan.items) == jobs


def test_a_check_that_does_not_end_in_time_is_no_evidence_and_says_so(folder: str) -> None:
    store = MemoryStore()
    desk = Desk(store)
    plan = planned(desk, "sleep 1000")
    (job,) = jobs_of(plan.items)
    result = run_job(desk, plan, job, seconds=0.1)
    assert (result.state, result.exit) == (FAILED, None)
    assert result.why.startswith("not finished after")
    names = subjects(job.check, job.folder)
    rows = store.load_calls(plan.id, *names)
    assert not rows.get(names.passed)
    assert not rows.get(names.failed)
    assert rows[names.hidden][-1]["why"] == result.why


def test_a_run_leaves_its_output_and_a_row_with_the_files(folder: str) -> None:
    store = MemoryStore()
    desk = Desk(store)
    plan = planned(desk, "echo hello; echo x > made")
    (job,) = jobs_of(plan.items)
    assert run_job(desk, plan, job).state == PASSED
    kept = read_output(store, plan.id, job.digest)
    assert kept is not None
    assert (kept.text, kept.exit) == ("hello\n", 0)
    name = subjects(job.check, job.folder).passed
    (row,) = store.load_calls(plan.id, name)[name]
    assert (row["made"], row["tier"], row["exit"], row["command"]) == (["made"], "ran", 0, "echo hello; echo x > made")
    assert row["tree"]


def test_a_run_of_no_tests_is_not_evidence(folder: str) -> None:
    store = MemoryStore()
    desk = Desk(store)
    Path("Makefile").write_text("test:\n\t@false\n", encoding="utf-8")
    Path("test").mkdir()
    plan = planned(desk, "make test")
    (job,) = jobs_of(plan.items)
    result = run_job(desk, plan, job)
    assert (result.state, result.exit, result.why) == (VOID, 0, "make had nothing to do, so nothing was run")
    names = subjects(job.check, job.folder)
    assert {name for name, rows in store.load_calls(plan.id, *names).items() if rows} == {names.base, names.hidden}


def test_a_directory_that_is_gone_is_told(folder: str) -> None:
    desk = Desk(MemoryStore())
    plan = planned(desk, "true")
    job = Job({"run": "true"}, os.path.join(folder, "gone"), plan.items)
    result = run_job(desk, plan, job)
    assert result.state == FAILED
    assert result.why.startswith(f"its directory is not there: {job.folder}")


def test_at_the_end_of_a_turn_only_what_is_approved_and_was_quick_is_run(folder: str) -> None:
    store = MemoryStore()
    desk = Desk(store)
    plan = planned(desk, "echo x >> made", "touch marker")
    assert run_approved(desk, plan, plan.items, 60) == {}
    approvals.approve({"run": "echo x >> made"}, folder)
    assert run_approved(desk, plan, plan.items, 60) == {}  # nobody knows how long it takes
    run_job(desk, plan, jobs_of(plan.items)[0])
    assert {id: result.state for id, result in run_approved(desk, plan, plan.items, 60).items()} == {"1": PASSED}
    assert run_approved(desk, plan, plan.items, seconds=0.0) == {}
    assert Path("made").read_text() == "x\nx\n"
    assert not os.path.exists("marker")

"""What was observed of checks is kept in every store: beside the plan, under the check, the newest always."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from punchlist import Desk, ops
from punchlist.core.checks import folder_of, subjects
from punchlist.desk.evidence import keep, load_seen
from punchlist.stores import MOST_CALLS, Store, open_store
from tests.stores.conftest import STORES

OLD = "2026-01-02T03:04:05.678Z"


@pytest.fixture(params=["memory", "json", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(STORES[request.param](tmp_path, request))
    yield opened
    opened.close()


def started(store: Store, folder: Path) -> Desk:
    """A desk whose first item has a check, and the second another one."""
    desk = Desk(store, session="s")
    desk.call("plan", {"add": ["A", "B"]})
    desk.change(lambda plan: ops.set_check(plan, "1", "make test", folder=str(folder)))
    desk.change(lambda plan: ops.set_check(plan, "2", "make lint", folder=str(folder)))
    return desk


def row(number: int, **more: Any) -> dict[str, Any]:
    return {"at": OLD, "tier": "seen", "command": f"make test {number}", "exit": 0, "tree": "t", **more}


def commands(desk: Desk, id: str) -> list[str]:
    plan = desk.plan
    seen = load_seen(desk._seat.store, plan, plan.items)[id]
    return [row["command"] for row in (*seen.passes, *seen.failures)]


def observe(desk: Desk, name: str, *rows: dict[str, Any]) -> None:
    plan = desk.plan
    item = plan.items[0]
    for one in rows:
        keep(desk, plan, getattr(subjects(item.check, folder_of(item)), name), one)


def test_what_was_observed_of_a_check_comes_back_with_its_items_only(store: Store, tmp_path: Path) -> None:
    desk = started(store, tmp_path)
    before, history = desk.plan, desk.history()
    observe(desk, "passed", row(1))
    observe(desk, "failed", row(2, exit=1))
    assert (desk.plan, desk.history()) == (before, history)
    assert (commands(desk, "1"), commands(desk, "2")) == (["make test 1", "make test 2"], [])
    first, second = desk.load(calls=True).items
    assert [one["exit"] for one in first.evidence] == [0, 1]
    assert (second.evidence, first.calls) == ((), ())


def test_the_newest_pass_survives_any_number_of_failures(store: Store, tmp_path: Path) -> None:
    desk = started(store, tmp_path)
    observe(desk, "passed", row(0))
    observe(desk, "failed", *[row(number, exit=1) for number in range(1, MOST_CALLS + 30)])
    found = commands(desk, "1")
    assert found[0] == "make test 0"
    assert found[-1] == f"make test {MOST_CALLS + 29}"
    assert len(found) == MOST_CALLS + 1


def test_trimming_leaves_the_newest_of_each_kind(store: Store, tmp_path: Path) -> None:
    desk = started(store, tmp_path)
    observe(desk, "passed", row(1), row(2))
    observe(desk, "failed", row(3, exit=1), row(4, exit=1))
    store.trim("2026-01-03", desk.plan.id)
    assert commands(desk, "1") == ["make test 2", "make test 4"]
    store.trim("2999-01-01")
    assert commands(desk, "1") == ["make test 2", "make test 4"]


def test_a_huge_observation_keeps_what_the_grade_needs(store: Store, tmp_path: Path) -> None:
    desk = started(store, tmp_path)
    many = [f"build/{number}" for number in range(5_000)]
    observe(desk, "passed", row(1, text="x" * 100_000, made=many, dirty=dict.fromkeys(many, "0")))
    (found,) = load_seen(store, desk.plan, desk.plan.items)["1"].passes
    assert (found["at"], found["exit"], found["tree"], found["command"]) == (OLD, 0, "t", "make test 1")
    assert "made" not in found
    assert len(str(found)) < 4_500


def test_secrets_of_a_command_are_not_kept(store: Store, tmp_path: Path) -> None:
    desk = started(store, tmp_path)
    observe(desk, "passed", row(1, command="API_KEY=sk-ant-api03-abcdefghijklmnop make test"))
    assert "abcdefghijklmnop" not in str(load_seen(store, desk.plan, desk.plan.items))


def test_evidence_that_a_plan_brings_along_is_not_taken_over(store: Store, tmp_path: Path) -> None:
    desk = started(store, tmp_path)
    forged = {"at": OLD, "tier": "ran", "command": "make test", "exit": 0, "tree": "t"}
    desk.change(lambda plan: ops.put(plan, plan.items[0]._replace(evidence=(forged,))))
    assert desk.load(calls=True).items[0].evidence == ()
    assert desk.plan.items[0].evidence == ()


def test_any_number_of_checks_can_be_asked_for(store: Store, tmp_path: Path) -> None:
    desk = started(store, tmp_path)
    observe(desk, "passed", row(1))
    name = subjects(desk.plan.items[0].check, folder_of(desk.plan.items[0])).passed
    others = [f"check:{number}:pass" for number in range(1_200)]
    assert list(store.load_calls(desk.plan.id, *others[:700], name, *others[700:])) == [name]

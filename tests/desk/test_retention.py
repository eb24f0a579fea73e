"""History is kept for ever, unless somebody says how long."""

from __future__ import annotations

import pytest

from punchlist import Desk, MemoryStore, ops
from punchlist.local.age import ago
from punchlist.local.settings import load

LONG_AGO = 915_148_800.0  # 1999


def begun_long_ago(store: MemoryStore) -> Desk:
    desk = Desk(store, session="old")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("punchlist.local.files.time", lambda: LONG_AGO)
        desk.change(lambda plan: ops.add(plan, "Run the tests"))
        desk.change(lambda plan: ops.complete(plan, "1"))
    return desk


def test_nothing_is_trimmed_by_itself() -> None:
    store = MemoryStore()
    old = begun_long_ago(store)
    Desk(store, session="new").change(lambda plan: ops.add(plan, "Ship"))
    assert len(old.history()) == 2


def test_what_is_older_than_the_setting_is_trimmed_when_a_plan_is_begun() -> None:
    store = MemoryStore()
    old = begun_long_ago(store)
    settings = load({"keep_history": "90d"}, environ={})
    new = Desk(store, session="new", settings=settings)
    new.change(lambda plan: ops.add(plan, "Ship"))
    assert old.history() == []
    assert [item.text for item in old.plan.items] == ["Run the tests"]
    assert len(new.history()) == 1


def test_nobody_s_setting_trims_the_plans_of_another_place() -> None:
    store = MemoryStore()
    old = begun_long_ago(store)
    settings = load({"keep_history": "90d"}, environ={})
    Desk(store, session="new", settings=settings, place="/elsewhere").change(lambda plan: ops.add(plan, "Ship"))
    assert len(old.history()) == 2


def test_an_age_that_makes_no_sense_is_a_fault_of_the_settings() -> None:
    settings = load(environ={"PUNCHLIST_KEEP_HISTORY": "soon"})
    assert settings.keep_history == ""
    assert settings.problems[0].startswith("PUNCHLIST_KEEP_HISTORY: 'keep_history': 'soon' is not an age")


def test_a_very_long_age_trims_nothing() -> None:
    store = MemoryStore()
    desk = Desk(store, session="s")
    desk.change(lambda plan: ops.add(plan, "Run the tests"))
    store.trim(ago("500000d"))
    assert len(desk.history()) == 1


def test_what_happened_a_moment_ago_is_older_than_no_time() -> None:
    store = MemoryStore()
    desk = Desk(store, session="s")
    desk.change(lambda plan: ops.add(plan, "Run the tests"))
    (done,) = desk.history()
    while ago("0d") <= done.at:  # times are kept to the millisecond
        pass
    store.trim(ago("0d"))
    assert desk.history() == []

"""Which plan a desk that names none is on."""

from __future__ import annotations

from punchlist import Desk, MemoryStore, ops


def test_a_desk_keeps_to_the_plan_it_found_until_it_is_told_to_look_again() -> None:
    store = MemoryStore()
    first, second, any_desk = (Desk(store, session=name, place="here") for name in ("s1", "s2", ""))
    first.change(lambda plan: ops.add(plan, "First"))
    assert any_desk.plan.items[0].text == "First"
    second.change(lambda plan: ops.add(plan, "Second"))
    assert any_desk.plan.items[0].text == "First"
    any_desk._seat.forget()
    assert any_desk.plan.items[0].text == "Second"


def test_a_call_after_looking_again_is_for_the_plan_that_was_found() -> None:
    store = MemoryStore()
    any_desk, second = Desk(store, place="here"), Desk(store, session="s2", place="here")
    any_desk.call("plan", {"add": ["First"]})
    second.call("plan", {"add": ["Second"]})
    any_desk._seat.forget()
    any_desk.call("plan", {"add": ["Third"]})
    assert [item.text for item in second.plan.items] == ["Second", "Third"]


def test_a_desk_that_names_its_plan_finds_no_other() -> None:
    store = MemoryStore()
    first, second = (Desk(store, session=name, place="here") for name in ("s1", "s2"))
    first.change(lambda plan: ops.add(plan, "First"))
    named = Desk(store, plan=first.plan.id, place="here")
    second.change(lambda plan: ops.add(plan, "Second"))
    for desk in (first, named):
        desk._seat.forget()
        assert desk.plan.items[0].text == "First"

"""The laws of the core, on plans of any kind."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from punchlist import Desk, MemoryStore
from punchlist.core import codec
from punchlist.core.diff import apply, diff, undo
from punchlist.core.errors import Refused
from punchlist.core.merge import merge, protect
from punchlist.core.model import Plan
from punchlist.core.rules import problems
from punchlist.local.settings import load
from tests.core.plans import Wish, all_granted, granted, often, plans, wishes

SETTINGS = load({}, environ={})


def body(plan: Plan) -> Plan:
    """A plan without what only ever grows: its revision and the last id."""
    return plan._replace(revision=0, last_id=0)


# --- operations ----------------------------------------------------------------------------------------------------


@often(150)
@given(plans(), st.lists(wishes(), max_size=6))
def test_every_operation_leaves_a_plan_that_is_well_built(plan: Plan, several: list[Wish]) -> None:
    for wish in several:
        plan = granted(plan, wish)
        assert problems(plan) == [], wish


@often(100)
@given(plans(), st.lists(wishes(), max_size=8))
def test_no_operation_gives_an_id_twice(plan: Plan, several: list[Wish]) -> None:
    for wish in several:
        after = granted(plan, wish)
        given_before = {item.id for item in plan.items}
        new = [int(item.id) for item in after.items if item.id not in given_before]
        assert all(number > plan.last_id for number in new)
        assert after.last_id == max([plan.last_id, *new])
        plan = after


# --- changes -------------------------------------------------------------------------------------------------------


@often(100)
@given(plans(), plans())
def test_doing_what_differs_makes_one_plan_of_the_other(before: Plan, after: Plan) -> None:
    assert body(apply(before, diff(before, after)))._replace(id="") == body(after)._replace(id="")


@often(100)
@given(plans(), plans())
def test_rewinding_undoes_what_differs(before: Plan, after: Plan) -> None:
    assert body(undo(after, diff(before, after)))._replace(id="") == body(before)._replace(id="")


@often(100)
@given(plans(), st.lists(wishes(), max_size=6))
def test_history_that_was_stored_and_read_undoes_it_too(before: Plan, several: list[Wish]) -> None:
    after = all_granted(before, several)
    kept = [codec.change_from_json(codec.change_to_json(change)) for change in diff(before, after)]
    assert body(undo(after, kept)) == body(before)


# --- merging -------------------------------------------------------------------------------------------------------


def copied(plan: Plan) -> Plan:
    """An equal plan that shares no value with the other, as one read from a store twice."""
    return codec.from_json(codec.to_json(plan))


@often(100)
@given(plans(), st.lists(wishes(), max_size=6), st.booleans())
def test_merging_into_a_plan_that_nobody_touched_gives_mine(seen: Plan, several: list[Wish], mine_wins: bool) -> None:
    mine = all_granted(seen, several)
    now = copied(seen)._replace(revision=seen.revision + 2, last_id=seen.last_id + 2, removed=("gone",))
    result = merge(seen, mine, now, mine_wins=mine_wins)
    assert body(result.plan) == body(mine)._replace(removed=("gone",))
    assert result.plan.last_id == max(mine.last_id, now.last_id)
    assert result.kept == ()


@often(100)
@given(plans(), st.lists(wishes(), max_size=6), st.booleans())
def test_merging_with_someone_who_did_nothing_gives_theirs(seen: Plan, several: list[Wish], mine_wins: bool) -> None:
    now = all_granted(seen, several)
    result = merge(seen, copied(seen), now, mine_wins=mine_wins)
    assert result.plan == now
    assert result.kept == ()


@often(150)
@given(plans(), st.lists(wishes(), max_size=5), st.lists(wishes(), max_size=5), st.booleans())
def test_any_merge_leaves_a_plan_that_is_well_built(
    seen: Plan, mine: list[Wish], theirs: list[Wish], mine_wins: bool
) -> None:
    now = all_granted(seen, theirs)
    seen = seen._replace(last_id=now.last_id)
    result = merge(seen, all_granted(seen, mine), now, mine_wins=mine_wins)
    assert problems(result.plan) == []


@often(100)
@given(plans(), st.lists(wishes(), max_size=5), st.lists(wishes(), max_size=5))
def test_no_merge_takes_back_what_the_other_did_to_a_status(seen: Plan, mine: list[Wish], theirs: list[Wish]) -> None:
    now = all_granted(seen, theirs)
    seen = seen._replace(last_id=now.last_id)
    merged = {item.id: item.status for item in merge(seen, all_granted(seen, mine), now).plan.items}
    before = {item.id: item.status for item in seen.items}
    for item in now.items:
        if item.id in before and item.status != before[item.id]:
            assert merged.get(item.id) == item.status


@often(60)
@given(plans(), st.lists(wishes(), max_size=5))
def test_protection_leaves_a_plan_that_is_well_built(now: Plan, several: list[Wish]) -> None:
    result = protect(now, all_granted(now, several))
    assert problems(result.plan) == []


# --- the codec -----------------------------------------------------------------------------------------------------


@often(150)
@given(plans())
def test_the_codec_loses_nothing(plan: Plan) -> None:
    assert codec.from_json(codec.to_json(plan)) == plan


# --- at the door ---------------------------------------------------------------------------------------------------

FORMATS = ("markdown", "oh-my-pi", "claude-code", "claude-tasks", "llxprt")


@often(40)
@given(st.lists(wishes(), min_size=1, max_size=8))
def test_every_revision_can_be_looked_at_again(several: list[Wish]) -> None:
    desk = Desk(MemoryStore(), session="s", settings=SETTINGS)
    stored = {0: Plan()}
    for wish in several:
        plan = desk.change(lambda now, wish=wish: granted(now, wish)).plan  # type: ignore[misc]
        stored[plan.revision] = plan
    for revision, plan in stored.items():
        assert body(desk.at(revision))._replace(id="") == body(plan)._replace(id="")


def imported(desk: Desk, source: Plan, format: str) -> None:
    """Import a plan by way of a format, unless the format does not take it."""
    other = Desk(MemoryStore(), session="o", settings=SETTINGS)
    try:
        other.change(lambda now: source._replace(id=now.id, revision=now.revision))
        desk.import_plan(other.export_plan(format), format)  # type: ignore[arg-type]
    except Refused:
        pass


def steps() -> st.SearchStrategy[Any]:
    call = st.lists(st.sampled_from(("Run the tests", "Ship", "Fix error 1", "Zip")), max_size=4)
    return wishes() | call | st.tuples(plans(3), st.sampled_from(FORMATS))


@often(80)
@given(st.lists(steps(), max_size=7))
def test_no_edit_call_or_import_gives_an_id_twice(several: list[Any]) -> None:
    desk = Desk(MemoryStore(), session="s", dialect="codex", settings=SETTINGS)
    for step in several:
        before = desk.plan
        if isinstance(step, Wish):
            desk.change(lambda now, wish=step: granted(now, wish))  # type: ignore[misc]
        elif isinstance(step, list):
            desk.call("update_plan", {"plan": [{"step": text, "status": "pending"} for text in step]})
        else:
            imported(desk, *step)
        after = desk.plan
        known = {item.id for item in before.items}
        assert all(int(item.id) > before.last_id for item in after.items if item.id not in known), step
        assert after.last_id >= before.last_id
        assert problems(after) == []


def test_an_import_of_json_does_not_give_an_old_id_to_another_thing() -> None:
    desk = Desk(MemoryStore(), session="s", settings=SETTINGS)
    desk.call("plan", {"add": ["Run the tests", "Ship"]})
    desk.import_plan({"items": [{"id": "1", "text": "Something else entirely"}]})
    assert [item.id for item in desk.plan.items] == ["3"]


def test_an_import_of_the_plan_itself_keeps_its_ids() -> None:
    desk = Desk(MemoryStore(), session="s", settings=SETTINGS)
    desk.call("plan", {"add": ["Run the tests", "Ship"]})
    exported = desk.export_plan()
    desk.change(lambda plan: plan._replace(items=plan.items[1:]))
    desk.import_plan(exported)
    assert [(item.id, item.text) for item in desk.plan.items] == [("1", "Run the tests"), ("2", "Ship")]

"""One contract for all stores. A new store is one line in the table of conftest.py."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist import Desk, MemoryStore, ops
from punchlist.core.diff import Record, diff
from punchlist.core.errors import Refused, StaleRevision, StoreError
from punchlist.core.model import DONE, USER, Plan, Reader, SessionState
from punchlist.core.rules import problems
from punchlist.desk.commit import trim
from punchlist.desk.updates import forget_lists
from punchlist.local.origin import upgrade_command
from punchlist.local.settings import load
from punchlist.stores import Commit, PlanKey, Store, open_store
from punchlist.stores.sqlite import VERSION, SqliteStore
from tests.core.plans import HOSTILE, Wish, granted, ids, often, plan_of, plans, texts, wishes

SETTINGS = load({}, environ={})

_numbers = count(1)


def saved(
    store: Store, before: Plan | None, after: Plan, *, reader: str = "", by: str = USER, home: PlanKey | None = None
) -> Plan:
    """Save what a plan has become, as the desk does; a new plan gets an id."""
    after = after._replace(id=after.id or f"plan{next(_numbers)}", revision=(before.revision if before else 0) + 1)
    changes = diff(before or Plan(), after)
    record = Record(after.revision, "noon", by, reader, "native", "edit", changes)
    heard = Reader(after.revision) if reader else None
    store.save(Commit(before, after, record, heard, home if before else home or PlanKey()))
    return after


def seen(store: Store, plan: Plan, reader: str) -> int:
    return store.peek(plan.id, reader)[1].seen


# --- plans ---------------------------------------------------------------------------------------------------------


def test_a_plan_that_was_never_saved_is_not_there(store: Store) -> None:
    assert store.load("nothing") is None
    assert store.peek("nothing", "me") == (0, Reader())
    assert store.history("nothing") == []


def test_an_empty_list_that_is_imported_is_a_plan(store: Store) -> None:
    desk = Desk(store, session="s", settings=SETTINGS)
    plan = desk.import_plan([], "claude-code").plan
    assert plan.id
    assert store.load(plan.id) == plan
    assert [record.kind for record in store.history(plan.id)] == ["import"]
    assert desk.import_plan([], "claude-code").plan == plan


def test_a_session_with_two_agents_on_one_plan_is_listed_once(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey(session="s", agent="main"))
    store.bind(PlanKey(session="s", agent="helper"), plan.id)
    assert [listing.sessions for listing in store.plans(1)] == [("s",)]


def test_a_plan_comes_back_as_it_was_saved(store: Store) -> None:
    @often(40)
    @given(plans())
    def comes_back(plan: Plan) -> None:
        kept = saved(store, None, plan._replace(id=""))
        assert store.load(kept.id) == kept
        assert store.peek(kept.id, "")[0] == kept.revision

    comes_back()


def test_a_plan_comes_back_after_any_edits(store: Store) -> None:
    @often(25)
    @given(plans(4), st.lists(wishes(), max_size=5))
    def comes_back(plan: Plan, several: list[Wish]) -> None:
        kept = saved(store, None, plan._replace(id=""))
        for wish in several:
            kept = saved(store, kept, granted(kept, wish))
            assert store.load(kept.id) == kept

    comes_back()


@pytest.mark.parametrize(
    ("edit", "order"),
    [
        (lambda plan: ops.add(plan, "new", after="1"), ["1", "5", "2", "3", "4"]),
        (lambda plan: ops.move(ops.add(plan, "new"), "5", before="1"), ["5", "1", "2", "3", "4"]),
        (lambda plan: ops.move(plan, "4", before="2"), ["1", "4", "2", "3"]),
        (lambda plan: ops.remove(plan, "2"), ["1", "3", "4"]),
        (lambda plan: ops.add(ops.remove(plan, "4"), "new"), ["1", "2", "3", "5"]),
        (lambda plan: ops.move(ops.add(ops.remove(plan, "2"), "new"), "5", before="3"), ["1", "5", "3", "4"]),
        (lambda plan: plan._replace(items=tuple(reversed(plan.items))), ["4", "3", "2", "1"]),
    ],
)
def test_items_keep_their_order(store: Store, edit: Callable[[Plan], Plan], order: list[str]) -> None:
    first = saved(store, None, plan_of("a", "b", "c", "d"))
    second = saved(store, first, edit(first))
    assert ids(store.load(first.id) or Plan()) == order
    saved(store, second, ops.add(second, "last"))
    assert ids(store.load(first.id) or Plan())[:-1] == order


def test_a_stale_revision_is_refused_and_changes_nothing(store: Store) -> None:
    first = saved(store, None, plan_of("a", "b"))
    second = saved(store, first, ops.complete(first, "1"), reader="one")
    with pytest.raises(StaleRevision):
        saved(store, first, ops.remove(first, "2"), reader="two")
    assert store.load(first.id) == second
    assert [record.revision for record in store.history(first.id)] == [1, 2]
    assert seen(store, second, "two") == 0


def test_a_plan_that_exists_cannot_be_made_again(store: Store) -> None:
    first = saved(store, None, plan_of("a"))
    with pytest.raises(StaleRevision):
        saved(store, None, plan_of("b")._replace(id=first.id))
    assert store.load(first.id) == first


def test_a_plan_that_is_not_there_cannot_be_changed(store: Store) -> None:
    with pytest.raises(StaleRevision):
        saved(store, Plan(id="ghost", revision=3), plan_of("a")._replace(id="ghost"))
    assert store.load("ghost") is None
    assert store.history("ghost") == []


def test_plans_do_not_touch_each_other(store: Store) -> None:
    one, two = saved(store, None, plan_of("one")), saved(store, None, plan_of("two"))
    saved(store, one, ops.remove(one, "1"))
    assert store.load(two.id) == two
    assert len(store.history(two.id)) == 1


# --- history -------------------------------------------------------------------------------------------------------


def test_history_is_told_oldest_first_and_behind_a_revision(store: Store) -> None:
    plan = saved(store, None, plan_of("a"))
    for number in range(3):
        plan = saved(store, plan, ops.note(plan, "1", f"note {number}"), by=f"agent {number}")
    assert [record.by for record in store.history(plan.id)] == ["user", "agent 0", "agent 1", "agent 2"]
    assert [record.revision for record in store.history(plan.id, 2)] == [3, 4]
    assert store.history(plan.id, 4) == []
    assert [record.revision for record in store.history(plan.id, by="agent 1")] == [3]
    assert store.history(plan.id, 1, by=USER) == []


def test_the_last_dialect_is_that_of_the_last_call_of_a_tool(store: Store) -> None:
    first = plan_of("a")._replace(id="dialects", revision=1)
    assert store.last_dialect(first.id) == ""
    store.save(Commit(None, first, Record(1, "noon", USER, changes=diff(Plan(), first)), None, PlanKey()))
    assert store.last_dialect(first.id) == ""
    second = ops.note(first, "1", "by an agent")._replace(revision=2)
    store.save(Commit(first, second, Record(2, "noon", "main", "", "gencode", "edit", diff(first, second))))
    third = ops.note(second, "1", "by the user")._replace(revision=3)
    store.save(Commit(second, third, Record(3, "noon", USER, changes=diff(second, third))))
    assert store.last_dialect(first.id) == "gencode"


def test_a_record_comes_back_as_it_was_written(store: Store) -> None:
    @often(25)
    @given(plans(4), plans(4))
    def comes_back(before: Plan, after: Plan) -> None:
        first = saved(store, None, before._replace(id=""))
        changes = diff(first, after)
        record = Record(2, "noon", "helper", "s/helper", "codex", "import", changes)
        store.save(Commit(first, after._replace(id=first.id, revision=2), record))
        assert store.history(first.id, 1) == [record]

    comes_back()


@pytest.mark.parametrize("small", [True, False])
def test_a_save_for_a_session_that_works_from_another_plan_by_now_is_refused(store: Store, small: bool) -> None:
    seat = PlanKey(session="s")
    plan = saved(store, None, plan_of("a"), reader="me", home=seat)
    other = saved(store, None, plan_of("b"))
    after = ops.complete(plan, "1") if small else ops.extend(plan, [{"text": "c"}])
    after = after._replace(revision=2)
    record = Record(2, "noon", "main", "me", changes=diff(plan, after))
    store.bind(seat, other.id)
    with pytest.raises(StaleRevision):
        store.save(Commit(plan, after, record, Reader(2), seat))
    assert store.load(plan.id) == plan
    assert store.history(plan.id, 1) == []
    store.bind(seat, plan.id)
    store.save(Commit(plan, after, record, Reader(2), seat))
    assert store.load(plan.id) == after
    assert seen(store, plan, "me") == 2


def test_an_agent_that_works_on_hears_of_whoever_came_between(store: Store) -> None:
    desk, user = (Desk(store, session="s", settings=SETTINGS) for _ in range(2))
    desk.call("plan", {"add": ["a", "b", "c"]})
    assert desk.call("plan", {"done": [1]}).updates == ()
    user.change(lambda plan: ops.complete(plan, "2"))
    reply = desk.call("plan", {"start": [2]})
    assert "it stays completed" in reply.text  # it is told of the plan as it is, not as it was
    desk.call("plan", {"done": [3]})
    Desk(store, session="t", settings=SETTINGS).call("plan", {"add": ["other"]})
    Desk(store, session="t", settings=SETTINGS).bind("s")
    desk.call("plan", {"add": ["more"]})
    assert texts(desk.plan) == ["other", "more"]


def test_every_revision_can_be_looked_at_again(store: Store) -> None:
    desk = Desk(store, session="s", settings=SETTINGS)
    stored = [desk.change(lambda plan: ops.add(plan, "a")).plan]
    stored.append(desk.change(lambda plan: ops.add(plan, "b", after="1")).plan)
    stored.append(desk.change(lambda plan: ops.move(plan, "2", before="1")).plan)
    stored.append(desk.change(lambda plan: ops.remove(plan, "1")).plan)
    for plan in stored:
        assert desk.at(plan.revision)._replace(last_id=0) == plan._replace(last_id=0)


# --- readers -------------------------------------------------------------------------------------------------------


def test_who_saves_a_plan_has_seen_it_and_nobody_else_has(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), reader="one")
    assert (seen(store, plan, "one"), seen(store, plan, "two")) == (1, 0)


def test_what_a_reader_has_heard_is_kept(store: Store) -> None:
    plan = saved(store, None, plan_of("a"))
    store.remember(plan.id, "one", Reader(1))
    assert (seen(store, plan, "one"), seen(store, plan, "two")) == (1, 0)
    store.remember(plan.id, "one", Reader(7))
    assert seen(store, plan, "one") == 7


@pytest.mark.parametrize("second", ["", "two"], ids=["the user", "another agent"])
@pytest.mark.parametrize("looking", [True, False], ids=["looked at before", "not looked at"])
def test_a_save_by_another_is_not_heard_and_what_was_heard_is_not_forgotten(
    store: Store, second: str, looking: bool
) -> None:
    plan = saved(store, None, plan_of("a"), reader="one")
    if looking:
        store.peek(plan.id, second)
    plan = saved(store, plan, ops.complete(plan, "1"), reader=second)
    assert seen(store, plan, "one") == 1


def test_what_was_heard_is_not_forgotten_when_two_plans_are_saved_in_turn(store: Store) -> None:
    one, two = saved(store, None, plan_of("a"), reader="r"), saved(store, None, plan_of("b"), reader="r")
    store.peek(one.id, "")
    store.peek(two.id, "")
    saved(store, one, ops.complete(one, "1"))
    saved(store, two, ops.complete(two, "1"))
    assert (seen(store, one, "r"), seen(store, two, "r")) == (1, 1)


def test_readers_of_different_plans_are_different_readers(store: Store) -> None:
    one, two = saved(store, None, plan_of("a")), saved(store, None, plan_of("b"))
    store.remember(one.id, "me", Reader(1))
    assert seen(store, two, "me") == 0


# --- sessions and places -------------------------------------------------------------------------------------------


def test_a_session_and_agent_is_bound_to_its_plan(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s1", "main"))
    assert store.find(PlanKey(session="s1", agent="main")) == plan.id
    assert store.find(PlanKey(session="s1", agent="other")) == ""
    assert store.find(PlanKey(session="s2", agent="main")) == ""


def test_a_session_and_agent_has_one_plan_only(store: Store) -> None:
    first = saved(store, None, plan_of("a"), home=PlanKey("/here", "s1", "main"))
    with pytest.raises(StaleRevision):
        saved(store, None, plan_of("b")._replace(id="second"), home=PlanKey("/here", "s1", "main"))
    assert store.find(PlanKey(session="s1", agent="main")) == first.id
    assert store.load("second") is None
    assert store.history("second") == []
    assert store.find(PlanKey("/here")) == first.id


def test_a_plan_without_a_session_is_bound_to_none(store: Store) -> None:
    for place in ("/here", "/there"):
        saved(store, None, plan_of("a"), home=PlanKey(place, "", "main"))
    assert store.find(PlanKey(session="", agent="main")) == ""


def test_two_who_begin_a_plan_in_one_place_at_once_begin_one(store: Store) -> None:
    one = saved(store, None, plan_of("a"), home=PlanKey("/here", "", "main"))
    with pytest.raises(StaleRevision):
        saved(store, None, plan_of("b"), home=PlanKey("/here", "", "main"))
    assert store.find(PlanKey("/here")) == one.id


def test_what_was_heard_is_never_unheard(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    store.remember(plan.id, "r", Reader(5))
    store.remember(plan.id, "r", Reader(3))
    assert store.peek(plan.id, "r")[1] == Reader(5)


def test_who_was_told_meanwhile_is_not_told_again(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    store.remember(plan.id, "r", Reader(1), Reader(0))
    with pytest.raises(StaleRevision):
        store.remember(plan.id, "r", Reader(1), Reader(0))
    plan = saved(store, plan, ops.add(plan, "b"), reader="r")
    with pytest.raises(StaleRevision):
        store.remember(plan.id, "r", Reader(2), Reader(1))
    assert seen(store, plan, "r") == 2


def test_who_was_told_while_its_call_was_worked_out_has_it_worked_out_again(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    after = ops.complete(plan, "1")._replace(revision=2)
    record = Record(2, "noon", "main", "r", changes=diff(plan, after))
    store.remember(plan.id, "r", Reader(1), Reader(0))
    with pytest.raises(StaleRevision):
        store.save(Commit(plan, after, record, Reader(0)))
    assert store.load(plan.id) == plan
    assert store.history(plan.id, 1) == []
    store.save(Commit(plan, after, record, Reader(1)))
    assert store.load(plan.id) == after
    assert seen(store, plan, "r") == 2


def test_the_list_that_a_reader_sent_last_is_saved_with_the_change_it_made(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    after = ops.complete(plan, "1")._replace(revision=2)
    record = Record(2, "noon", "main", "r", changes=diff(plan, after))
    store.save(Commit(plan, after, record, Reader(1), None, {"TodoWrite": "sent"}))
    assert store.lists(plan.id, "r") == {"TodoWrite": "sent"}
    assert store.lists(plan.id, "another") == store.lists("another", "r") == {}


def test_a_list_that_came_too_late_is_not_kept(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    saved(store, plan, ops.add(plan, "b"))
    after = ops.complete(plan, "1")._replace(revision=2)
    record = Record(2, "noon", "main", "r", changes=diff(plan, after))
    with pytest.raises(StaleRevision):
        store.save(Commit(plan, after, record, Reader(1), None, {"TodoWrite": "sent"}))
    assert store.lists(plan.id, "r") == {}


def test_each_tool_of_a_reader_has_a_list_of_its_own(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    store.keep_lists(plan.id, "r", {"TodoWrite": "one", "update_plan": "two"})
    store.keep_lists(plan.id, "r", {"TodoWrite": "three"})
    assert store.lists(plan.id, "r") == {"TodoWrite": "three", "update_plan": "two"}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_list_is_kept_for_a_reader_of_any_name(store: Store, name: str) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    store.keep_lists(plan.id, name, {"TodoWrite": json.dumps(HOSTILE)})
    assert store.lists(plan.id, name) == {"TodoWrite": json.dumps(HOSTILE)}


def test_trimming_forgets_lists_of_long_ago(store: Store) -> None:
    plan = saved(store, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    store.keep_lists(plan.id, "r", {"TodoWrite": "sent"})
    store.trim("2001-01-01")
    assert store.lists(plan.id, "r") == {"TodoWrite": "sent"}
    store.trim("2999-01-01")
    assert store.lists(plan.id, "r") == {}


def test_a_call_and_hooks_of_one_instant_tell_an_edit_once(store: Store) -> None:
    agent, user, *hooks = (Desk(store, session="s", settings=SETTINGS) for _ in range(5))
    agent.call("plan", {"add": ["a"]})
    for number in range(10):
        user.change(lambda plan, number=number: ops.add(plan, f"more {number}"))  # type: ignore[misc]
        with ThreadPoolExecutor(4) as pool:
            heard = [pool.submit(desk.take_updates) for desk in hooks]
            answer = pool.submit(agent.call, "plan", {"note": {"1": f"found {number}"}}).result()
        told = [*answer.updates, *(line for hook in heard for line in hook.result())]
        assert told == [f'the user added {number + 2} "more {number}".']


def test_of_many_who_would_tell_the_same_at_once_one_does(store: Store) -> None:
    Desk(store, session="s", settings=SETTINGS).call("plan", {"add": ["a"]})
    user = Desk(store, session="s", settings=SETTINGS)
    for number in range(10):
        user.change(lambda plan, number=number: ops.add(plan, f"more {number}"))  # type: ignore[misc]
        desks = [Desk(store, session="s", settings=SETTINGS) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            told = [line for lines in pool.map(lambda desk: desk.take_updates(), desks) for line in lines]
        assert told == [f'the user added {number + 2} "more {number}".']


def test_the_latest_plan_of_a_place_is_the_one_that_was_touched_last(store: Store) -> None:
    one = saved(store, None, plan_of("a"), home=PlanKey("/here", "s1", "main"))
    two = saved(store, None, plan_of("b"), home=PlanKey("/here", "s2", "main"))
    assert store.find(PlanKey("/here")) == two.id
    one = saved(store, one, ops.complete(one, "1"))
    assert store.find(PlanKey("/here")) == one.id
    assert store.find(PlanKey("/elsewhere")) == ""


def test_the_latest_plan_is_known_whatever_was_looked_at_before(store: Store) -> None:
    one = saved(store, None, plan_of("a"), home=PlanKey("/here", "s1", "main"))
    store.peek(one.id, "")
    two = saved(store, None, plan_of("b"), home=PlanKey("/here", "s2", "main"))
    assert store.find(PlanKey("/here")) == two.id
    saved(store, one, ops.complete(one, "1"))
    assert store.find(PlanKey("/here")) == one.id


def test_the_plan_of_a_sub_agent_is_not_the_latest_of_a_place(store: Store) -> None:
    main = saved(store, None, plan_of("a"), home=PlanKey("/here", "s1", "main"))
    sub = saved(store, None, plan_of("b"), home=PlanKey("/here", "s1", "helper"))
    saved(store, sub, ops.complete(sub, "1"))
    assert store.find(PlanKey("/here")) == main.id


def test_a_plan_that_belongs_nowhere_is_nobodys_latest(store: Store) -> None:
    plan = plan_of("a")._replace(id="nowhere", revision=1)
    store.save(Commit(None, plan, Record(1, "noon", USER, changes=diff(Plan(), plan))))
    assert store.load("nowhere") == plan
    assert store.find(PlanKey("/here")) == ""


# --- lineage -------------------------------------------------------------------------------------------------------


def begun(store: Store, session: str, *words: str) -> Desk:
    desk = Desk(store, session=session, settings=SETTINGS, place="/here")
    for word in words:
        desk.change(lambda plan, word=word: ops.add(plan, word))  # type: ignore[misc]
    return desk


def parents(store: Store) -> dict[str, str]:
    return {listing.id: listing.parent for listing in store.plans(50)}


def test_a_session_without_a_plan_is_given_a_copy_that_knows_its_parent(store: Store) -> None:
    old = begun(store, "monday", "a", "b").plan
    copy = begun(store, "any").carry("monday", "tuesday").plan
    assert texts(copy) == ["a", "b"]
    assert parents(store) == {old.id: "", copy.id: old.id}
    assert begun(store, "tuesday").plan == copy


def test_a_plan_that_has_become_a_copy_knows_its_parent(store: Store) -> None:
    old = begun(store, "monday", "a", "b").plan
    target = begun(store, "tuesday", "c")
    mine = target.plan
    copy = target.carry("monday", "tuesday").plan
    assert (copy.id, copy.revision, texts(copy)) == (mine.id, 2, ["a", "b"])
    assert target.plan == store.load(mine.id) == copy
    assert parents(store) == {old.id: "", mine.id: old.id}
    target.undo()
    assert texts(target.plan) == ["c"]


def test_lineage_goes_on_from_copy_to_copy_and_the_last_carry_counts(store: Store) -> None:
    one, two, three = (begun(store, name, name) for name in ("one", "two", "three"))
    two.carry("one", "two")
    three.carry("two", "three")
    assert parents(store) == {one.plan.id: "", two.plan.id: one.plan.id, three.plan.id: two.plan.id}
    three.change(lambda plan: ops.add(plan, "more"))
    three.carry("one", "three")
    assert parents(store)[three.plan.id] == one.plan.id


def test_a_plan_keeps_its_parent_when_its_history_is_trimmed(store: Store) -> None:
    old = begun(store, "monday", "a").plan
    target = begun(store, "tuesday", "c")
    target.carry("monday", "tuesday")
    assert sum(store.trim("9999").values()) == 3
    assert parents(store)[target.plan.id] == old.id
    target.change(lambda plan: ops.add(plan, "more"))
    assert parents(store)[target.plan.id] == old.id


def test_trimming_one_plan_leaves_every_other_as_it_was(store: Store) -> None:
    one, other = begun(store, "one", "a"), begun(store, "other", "b")
    for desk in (one, other):
        desk.change(lambda plan: ops.complete(plan, "1"))
        store.remember(desk.plan.id, "somebody", Reader(2))
    assert store.trim("9999", plan=one.plan.id) == {one.plan.id: 2}
    assert one.history() == []
    assert len(other.history()) == 2
    assert store.peek(other.plan.id, "somebody") == (2, Reader(2))
    assert store.trim("9999", plan="nowhere") == {}


def test_trimming_a_place_leaves_the_plans_of_others_as_they_were(store: Store) -> None:
    mine = Desk(store, session="mine", place="/mine", settings=SETTINGS)
    theirs = Desk(store, session="theirs", place="/theirs", settings=SETTINGS)
    for desk in (mine, theirs):
        desk.change(lambda plan: ops.add(plan, "a"))
    assert store.trim("9999", place="/mine") == {mine.plan.id: 1}
    assert (len(mine.history()), len(theirs.history())) == (0, 1)


def test_plans_are_listed_of_a_session_of_an_agent_or_one_alone(store: Store) -> None:
    main, other = begun(store, "one", "a").plan.id, begun(store, "two", "b").plan.id
    helper = Desk(store, session="one", agent="helper", settings=SETTINGS)
    helper.change(lambda plan: ops.add(plan, "c"))

    def listed(**wanted: str) -> set[str]:
        return {listing.id for listing in store.plans(9, **wanted)}

    assert listed() == {main, other, helper.plan.id}
    assert listed(session="one") == {main, helper.plan.id}
    assert listed(agent="helper") == listed(session="one", agent="helper") == {helper.plan.id}
    assert listed(plan=other) == {other}
    assert listed(session="none") == set()


def test_a_copy_of_what_has_changed_meanwhile_is_no_copy_at_all(store: Store) -> None:
    begun(store, "monday", "a")
    target = begun(store, "tuesday", "c")
    before = target.plan
    with pytest.raises(StaleRevision):
        saved(store, before._replace(revision=7), before, home=PlanKey("/here", "tuesday", "main", parent="x"))
    assert parents(store)[before.id] == ""


def test_a_session_that_works_from_a_plan_is_not_given_a_copy_of_it(store: Store) -> None:
    old = begun(store, "monday", "a")
    old.bind("tuesday")
    with pytest.raises(Refused, match="session 'tuesday' works from that plan already"):
        old.carry("monday", "tuesday")
    assert parents(store) == {old.plan.id: ""}


def test_a_session_without_items_has_nothing_to_carry(store: Store) -> None:
    with pytest.raises(Refused, match="session 'monday' has nothing to carry"):
        begun(store, "tuesday", "a").carry("monday", "tuesday")


def test_a_session_that_is_bound_works_from_the_plan_and_is_listed_with_it(store: Store) -> None:
    desk = begun(store, "monday", "a")
    begun(store, "tuesday", "b")
    desk.bind("tuesday")
    assert begun(store, "tuesday", "c").plan.id == desk.plan.id
    listed = {listing.id: listing.sessions for listing in store.plans(50)}
    assert sorted(listed[desk.plan.id]) == ["monday", "tuesday"]
    assert sorted(map(len, listed.values())) == [0, 2]


def test_an_open_desk_goes_with_its_session_to_another_plan_at_once(store: Store) -> None:
    desk, other = begun(store, "monday", "a"), begun(store, "tuesday", "b")
    assert (texts(desk.plan), texts(other.plan)) == (["a"], ["b"])
    other.bind("monday")
    assert desk.plan == other.plan
    desk.change(lambda plan: ops.add(plan, "c"))
    assert texts(other.plan) == ["b", "c"]
    assert begun(store, "monday").plan == desk.plan


def test_a_glance_from_a_session_is_a_glance_at_its_plan(store: Store) -> None:
    seat = PlanKey(session="s", agent="main")
    assert store.peek_session(seat, "r") == ("", 0, Reader())
    plan = saved(store, None, plan_of("a"), reader="r", home=PlanKey("/here", "s", "main"))
    assert store.peek_session(seat, "r") == (plan.id, *store.peek(plan.id, "r")) == (plan.id, 1, Reader(1))
    assert store.peek_session(seat, "another") == (plan.id, 1, Reader(0))
    assert store.peek_session(PlanKey(session="s", agent="other"), "r") == ("", 0, Reader())
    plan = saved(store, plan, ops.add(plan, "b"), reader="another")
    assert store.peek_session(seat, "r") == (plan.id, 2, Reader(1))


# --- hostile names -------------------------------------------------------------------------------------------------

NAMES = (
    *HOSTILE,
    "plain",
    "plain ",
    "PLAIN",
    '"plain"',
    "\x00",
    "a\x00b",
    "a\x00c",
    "🙂",
    "'; DROP TABLE plans; --",
    "\ud800",
    "\udfff",
    "%s",
    "../../etc/passwd",
    "x" * 10_000,
    "x" * 9_999 + "y",
)


def test_sessions_agents_and_places_of_any_name_are_kept_apart(store: Store) -> None:
    kept = {name: saved(store, None, plan_of("a"), home=PlanKey(name, name, "main")) for name in NAMES}
    assert len(kept) == len(set(NAMES))
    for name, plan in kept.items():
        assert store.find(PlanKey(session=name, agent="main")) == plan.id
        assert store.find(PlanKey(name)) == plan.id
        assert store.find(PlanKey(session="s", agent=name)) == ""


def test_agents_of_any_name_are_kept_apart(store: Store) -> None:
    kept = {name: saved(store, None, plan_of("a"), home=PlanKey("/here", "s", name)) for name in NAMES}
    found = {name: store.find(PlanKey(session="s", agent=name)) for name in NAMES}
    assert found == {name: plan.id for name, plan in kept.items()}


def test_readers_of_any_name_are_kept_apart(store: Store) -> None:
    plan = saved(store, None, plan_of("a"))
    for number, name in enumerate(NAMES, 1):
        store.remember(plan.id, name, Reader(number))
    assert [seen(store, plan, name) for name in NAMES] == list(range(1, len(NAMES) + 1))


def test_who_saved_is_known_by_any_name(store: Store) -> None:
    plan = saved(store, None, plan_of("a"))
    for name in NAMES:
        plan = saved(store, plan, ops.note(plan, "1", "x"), reader=name, by=name)
        assert seen(store, plan, name) == plan.revision
        last = store.history(plan.id, plan.revision - 1)[0]
        assert (last.by, last.reader) == (name, name)


def test_a_plan_of_any_name_can_be_asked_for(store: Store) -> None:
    for name in NAMES:
        assert store.load(name) is None
        assert store.peek(name, name) == (0, Reader())
        assert store.history(name) == []


@pytest.mark.parametrize("id", ["\x00", "two\nlines", "\ud800", "\u2028", '"quoted"', "x" * 301])
def test_a_plan_s_id_that_not_every_store_can_keep_is_refused(store: Store, id: str) -> None:
    with pytest.raises(StoreError, match="cannot be the id of a plan"):
        saved(store, None, plan_of("a")._replace(id=id), home=PlanKey("/here", "s", "main"))
    with pytest.raises(StoreError, match="cannot be the id of a plan"):
        store.bind(PlanKey("/here", "s", "main"), id)
    assert store.load(id) is None
    assert store.find(PlanKey(session="s", agent="main")) == ""
    assert store.plans(9) == []
    store.remember(id, "r", Reader(3))
    store.keep_lists(id, "r", {"tool": "data"})
    assert store.lists(id, "r") == {"tool": "data"}


@pytest.mark.parametrize("id", ["x" * 300, " ", "é", "a/b", "../x", "it's", "100%"])
def test_a_plan_with_any_other_id_is_found_again(store: Store, id: str) -> None:
    home = PlanKey("/here", "s", "main")
    plan = saved(store, None, plan_of("a")._replace(id=id), home=home)
    plan = saved(store, plan, ops.add(plan, "b"))
    assert store.load(store.find(home)) == plan
    assert [summary.id for summary in store.plans(9, plan=id)] == [id]
    assert len(store.history(id)) == 2


def test_the_sessions_of_a_plan_are_told_by_names_that_find_it(store: Store) -> None:
    plan = saved(store, None, plan_of("a"))
    for name in NAMES:
        store.bind(PlanKey("", name, name), plan.id)
    bound = store.sessions(plan.id)
    assert len(bound) == len(NAMES)
    assert {(name, name) for name in NAMES if len(name) <= 300} <= set(bound)
    assert {store.find(PlanKey("", *each)) for each in bound} == {plan.id}


def test_readers_whose_session_and_agent_join_alike_are_kept_apart(store: Store) -> None:
    plan = Desk(store, session="s", settings=SETTINGS).change(lambda plan: ops.add(plan, "a")).plan
    one = Desk(store, session="a/b", agent="c", plan=plan.id, settings=SETTINGS)
    two = Desk(store, session="a", agent="b/c", plan=plan.id, settings=SETTINGS)
    assert one.take_updates() != []
    assert two.take_updates() != []


# --- opening -------------------------------------------------------------------------------------------------------


def test_a_store_says_whether_it_outlives_its_process(store: Store) -> None:
    assert store.durable == (not isinstance(store, MemoryStore))


@pytest.mark.parametrize("url", ["", "plain", "klingon:x", ":x", "sqlite:"])
def test_a_store_that_cannot_be_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match=r"no store|needs a path"):
        open_store(url)


def test_each_memory_is_a_store_of_its_own() -> None:
    one, two = open_store("memory:"), open_store("memory:")
    plan = saved(one, None, plan_of("a"))
    assert two.load(plan.id) is None


@pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)  # the others hold nothing open
def test_a_store_that_was_closed_says_so(url: str) -> None:
    store = open_store(url)
    plan = saved(store, None, plan_of("a"))
    store.close()
    uses: list[Callable[[], object]] = [
        lambda: store.load(plan.id),
        lambda: store.find(PlanKey("/here")),
        lambda: store.trim("1999"),
        lambda: saved(store, plan, ops.add(plan, "b")),
    ]
    for use in uses:
        with pytest.raises(StoreError):
            use()


def test_what_is_remembered_of_readers_is_trimmed_with_history(store: Store) -> None:
    plan = saved(store, None, plan_of("a"))
    store.remember(plan.id, "r", Reader(1))
    store.save_state("r", SessionState(), SessionState(nudges=1))
    store.trim("1999")
    assert (seen(store, plan, "r"), store.load_state("r").nudges) == (1, 1)
    store.trim("9999")
    assert (seen(store, plan, "r"), store.load_state("r").nudges) == (0, 0)


def test_trimming_leaves_what_a_reader_at_work_has_not_heard_of(store: Store) -> None:
    agent = desk_of(store)
    agent.call("TodoWrite", todos(Alpha="pending"))
    agent.change(lambda plan: ops.add(plan, "Ask Ann"))
    agent.change(lambda plan: ops.complete(plan, "1"))
    trim(agent, "9999")
    assert desk_of(store).take_updates(ids=False) == ['the user completed "Alpha".', 'the user added "Ask Ann".']
    assert desk_of(store).take_updates() == []


def test_trimming_leaves_the_list_of_a_reader_at_work(store: Store) -> None:
    agent = desk_of(store)
    sent = todos(Alpha="pending", Beta="pending")
    agent.call("TodoWrite", sent)
    agent.change(lambda plan: ops.rename(plan, "1", "Alpha, but better"))
    assert agent.take_updates()
    trim(agent, "9999")
    desk_of(store).call("TodoWrite", sent)
    assert [item.text for item in agent.plan.items] == ["Alpha, but better", "Beta"]
    agent.clear()
    trim(agent, "9999")
    desk_of(store).call("TodoWrite", sent)
    assert agent.plan.items == ()


def test_trimming_keeps_what_was_renamed_before_a_conversation_was_lost(store: Store) -> None:
    agent = desk_of(store)
    agent.call("TodoWrite", todos(Alpha="pending"))
    agent.change(lambda plan: ops.rename(plan, "1", "Alpha, but better"))
    assert agent.take_updates()
    forget_lists(agent, ["1"])
    trim(agent, "9999")
    desk_of(store).call("TodoWrite", todos(Alpha="pending"))
    assert [item.text for item in agent.plan.items] == ["Alpha, but better"]


def test_a_reader_that_was_told_of_everything_holds_no_history(store: Store) -> None:
    agent = desk_of(store, "native")
    agent.call("plan", {"add": ["Alpha"]})
    agent.change(lambda plan: ops.complete(plan, "1"))
    agent.call("plan", {"add": ["Beta"]})
    assert sum(trim(agent, "9999").values()) == 3
    assert agent.history() == []


def test_a_reader_of_long_ago_holds_no_history(store: Store) -> None:
    agent = desk_of(store)
    agent.call("TodoWrite", todos(Alpha="pending"))
    agent.change(lambda plan: ops.complete(plan, "1"))
    assert sum(store.trim("9999", live="9998").values()) == 2
    assert store.lists(agent.plan.id, agent._seat.reader_key) == {}
    assert agent.history() == []


# --- races ---------------------------------------------------------------------------------------------------------


class Racing:
    """A store in which somebody else saves first: once, right before the next save."""

    def __init__(self, inner: Store, meanwhile: Callable[[], object]) -> None:
        self._inner = inner
        self._meanwhile: Callable[[], object] | None = meanwhile
        self.durable, self.patience = inner.durable, inner.patience
        self.peek, self.peek_session = inner.peek, inner.peek_session
        self.load, self.remember = inner.load, inner.remember
        self.history, self.find, self.bind, self.close = inner.history, inner.find, inner.bind, inner.close
        self.plans, self.trim, self.wait = inner.plans, inner.trim, inner.wait
        self.sessions, self.load_state, self.save_state = inner.sessions, inner.load_state, inner.save_state
        self.lists, self.keep_lists = inner.lists, inner.keep_lists
        self.observe, self.load_calls, self.last_dialect = inner.observe, inner.load_calls, inner.last_dialect

    def save(self, commit: Commit) -> None:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile:
            meanwhile()
        self._inner.save(commit)


def desk_of(store: Store, dialect: str = "claude-code") -> Desk:
    return Desk(store, session="s", dialect=dialect, settings=SETTINGS)


def todos(**wanted: str) -> dict[str, object]:
    return {"todos": [{"content": text, "status": status, "activeForm": text} for text, status in wanted.items()]}


def test_a_user_s_edit_between_load_and_save_is_not_lost(store: Store) -> None:
    user = desk_of(store)
    user.call("TodoWrite", todos(Alpha="pending", Beta="pending"))
    racing = Racing(store, lambda: user.change(lambda plan: ops.complete(plan, "2")))
    reply = desk_of(racing).call("TodoWrite", todos(Alpha="in_progress", Beta="pending"))
    assert [(item.text, item.status) for item in user.plan.items] == [("Alpha", "in_progress"), ("Beta", DONE)]
    assert 'the user completed "Beta".' in reply.text


def test_what_a_hook_told_after_the_call_was_made_is_not_taken_for_known_to_the_call(store: Store) -> None:
    user = desk_of(store)
    user.call("TodoWrite", todos(Alpha="pending"))
    user.change(lambda plan: ops.add(plan, "Beta"))
    heard: list[str] = []
    racing = Racing(store, lambda: heard.extend(desk_of(store).take_updates(ids=False)))
    reply = desk_of(racing).call("TodoWrite", todos(Alpha="in_progress"))
    assert [(item.text, item.status) for item in user.plan.items] == [("Alpha", "in_progress"), ("Beta", "pending")]
    assert heard == ['the user added "Beta".']
    assert reply.updates == ()


def test_a_call_is_applied_again_to_the_newest_plan(store: Store) -> None:
    user = desk_of(store, "native")
    user.call("plan", {"add": ["Alpha", "Beta"]})
    racing = Racing(store, lambda: user.change(lambda plan: ops.drop(plan, "2", why="not wanted")))
    reply = desk_of(racing, "native").call("plan", {"done": [1]})
    assert reply.text.splitlines() == ["all done (1/1)", 'the user dropped 2 "Beta": "not wanted".']


def test_an_edit_is_applied_again_to_the_newest_plan(store: Store) -> None:
    user = desk_of(store)
    user.change(lambda plan: ops.add(plan, "Alpha"))
    racing = Racing(store, lambda: user.change(lambda plan: ops.add(plan, "theirs")))
    desk_of(racing).change(lambda plan: ops.add(plan, "mine"))
    assert [(item.id, item.text) for item in user.plan.items] == [("1", "Alpha"), ("2", "theirs"), ("3", "mine")]


def test_two_who_make_the_first_plan_of_a_session_at_once_share_it(store: Store) -> None:
    user = desk_of(store)
    racing = Racing(store, lambda: user.change(lambda plan: ops.add(plan, "theirs")))
    desk_of(racing).change(lambda plan: ops.add(plan, "mine"))
    assert texts(user.plan) == ["theirs", "mine"]
    assert store.find(PlanKey(session="s", agent="main")) == user.plan.id


# --- threads -------------------------------------------------------------------------------------------------------


def at_the_same_time(works: list[Callable[[], object]]) -> list[object]:
    """Do every work in a thread of its own; what each of them came to."""
    begin = Barrier(len(works))

    def begun_together(work: Callable[[], object]) -> object:
        begin.wait(60)
        return work()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(begun_together, works))


def test_threads_that_share_a_desk_lose_nothing(store: Store) -> None:
    desk = desk_of(store, "native")

    def adds(name: str) -> None:
        for number in range(8):
            desk.change(partial(ops.add, text=f"{name} {number}"))

    at_the_same_time([partial(adds, str(worker)) for worker in range(4)])
    plan = desk.plan
    assert sorted(texts(plan)) == sorted(f"{worker} {number}" for worker in range(4) for number in range(8))
    assert len(set(ids(plan))) == 32
    assert [record.revision for record in desk.history()] == list(range(1, 33))
    assert store.load(plan.id) == plan
    assert desk.at(0).items == ()


def test_threads_that_call_share_and_look_at_a_desk_see_whole_plans(store: Store) -> None:
    desk = desk_of(store, "native")
    desk.call("plan", {"add": ["first"]})

    def calls(name: str) -> bool:
        return any(desk.call("plan", {"add": [f"{name} {number}"]}).is_error for number in range(6))

    def looks() -> bool:
        seen = [desk.plan for _ in range(40)]
        revisions = [plan.revision for plan in seen]
        return any(problems(plan) for plan in seen) or revisions != sorted(revisions)

    assert at_the_same_time([partial(calls, "a"), partial(calls, "b"), looks, looks]) == [False] * 4
    assert len(desk.plan.items) == 13


def test_threads_with_desks_of_their_own_on_one_store_do_not_mix_their_plans(store: Store) -> None:
    def works(name: str) -> list[str]:
        desk = Desk(store, session=name, settings=SETTINGS)
        for number in range(6):
            desk.call("plan", {"add": [f"{name} {number}"]})
            desk.change(partial(ops.note, id="1", text=str(number)))
        assert len(desk.plan.items[0].notes) == 6
        return texts(desk.plan)

    names = ["one", "two", "three", "four"]
    found = at_the_same_time([partial(works, name) for name in names])
    assert found == [[f"{name} {number}" for number in range(6)] for name in names]


# --- sqlite: files and processes -----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "plans.db"


def mode(path: Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_the_file_and_its_folder_are_the_owner_s_alone(file: Path) -> None:
    store = open_store(f"sqlite:{file}")
    saved(store, None, plan_of("a"))
    assert mode(file.parent) == 0o700
    assert {mode(path) for path in file.parent.iterdir()} == {0o600}
    store.close()


def test_a_folder_that_is_there_stays_as_it_is(file: Path) -> None:
    file.parent.mkdir(mode=0o755)
    file.parent.chmod(0o755)
    open_store(f"sqlite:{file}").close()
    assert mode(file.parent) == 0o755


def test_plans_outlive_the_store_that_saved_them(file: Path) -> None:
    first = open_store(f"sqlite:{file}")
    plan = saved(first, None, plan_of("a", *HOSTILE), reader="me", home=PlanKey("/here", "s", "main"))
    first.close()
    again = open_store(f"sqlite:{file}")
    assert again.load(plan.id) == plan
    assert again.find(PlanKey(session="s", agent="main")) == plan.id
    assert seen(again, plan, "me") == 1
    again.close()


def test_two_stores_on_one_file_see_each_other(file: Path) -> None:
    one, two = open_store(f"sqlite:{file}"), open_store(f"sqlite:{file}")
    plan = saved(one, None, plan_of("a"), home=PlanKey("/here", "s", "main"))
    assert two.load(plan.id) == plan
    later = saved(two, plan, ops.complete(plan, "1"))
    assert one.load(plan.id) == later
    with pytest.raises(StaleRevision):
        saved(one, plan, ops.remove(plan, "1"))
    one.close()
    two.close()


def refusal(file: Path) -> str:
    with pytest.raises(StoreError) as refused:
        open_store(f"sqlite:{file}")
    return str(refused.value)


def written(file: Path, *statements: str) -> None:
    """Do something to the file that no store of ours would do."""
    db = sqlite3.connect(file)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize("version", [0, 1, 99])
def test_a_database_of_somebody_else_is_refused_and_left_alone(file: Path, version: int) -> None:
    file.parent.mkdir()
    tables = ("bookmarks", "plans", "items", "history")[: 1 if version else 4]
    written(file, *(f"CREATE TABLE {name} (address)" for name in tables), f"PRAGMA user_version={version}")
    content = file.read_bytes()
    assert refusal(file) == f"{file} is not a store of punchlist: it holds other tables; name another file."
    assert file.read_bytes() == content
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_host_in_the_address_of_a_file_is_refused() -> None:
    with pytest.raises(StoreError, match="takes a path, not a host"):
        open_store("sqlite://user:secret@host/plan.db")


def aside(file: Path, *, logs: bool) -> Path:
    """Move a database away, with what belongs to it or alone; where it is now."""
    away = file.parent / "away"
    away.mkdir()
    for path in file.parent.glob(f"{file.name}*" if logs else file.name):
        path.rename(away / path.name)
    return away / file.name


def texts_in(file: Path) -> list[str]:
    with closing(Desk(open_store(f"sqlite:{file}"), session="s", settings=SETTINGS)) as desk:
        return [item.text for item in desk.plan.items]


@pytest.mark.parametrize("logs", [True, False])
def test_nothing_is_written_to_a_file_that_has_lost_its_name(file: Path, logs: bool) -> None:
    running = Desk(open_store(f"sqlite:{file}"), session="s", settings=SETTINGS)
    for text in ("one", "two", "three"):
        running.call("plan", {"add": [text]})
    away = aside(file, logs=logs)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"{file} is gone: it was moved away or deleted"):
            running.call("plan", {"add": ["lost?"]})
    assert texts_in(away) == ["one", "two", "three"]
    assert not file.exists()
    for path in away.parent.iterdir():
        path.rename(file.parent / path.name)
    running.call("plan", {"add": ["four"]})
    running.close()
    assert texts_in(file) == ["one", "two", "three", "four"]


@pytest.mark.parametrize("logs", [True, False])
def test_a_file_that_was_put_in_the_place_of_another_is_worked_with(file: Path, logs: bool) -> None:
    running = Desk(open_store(f"sqlite:{file}"), session="s", settings=SETTINGS)
    running.call("plan", {"add": ["one"]})
    other = file.parent / "other.db"
    with closing(Desk(open_store(f"sqlite:{other}"), session="s", settings=SETTINGS)) as desk:
        desk.call("plan", {"add": ["theirs"]})
    running.call("plan", {"add": ["two"]})
    away = aside(file, logs=logs)
    other.rename(file)
    assert [item.text for item in running.plan.items] == ["theirs"]
    running.call("plan", {"add": ["mine"]})
    running.close()
    assert texts_in(file) == ["theirs", "mine"]
    assert texts_in(away) == ["one", "two"]


def test_a_file_that_could_not_be_opened_again_is_tried_anew(file: Path) -> None:
    running = Desk(open_store(f"sqlite:{file}", patience="0"), session="s", settings=SETTINGS)
    running.call("plan", {"add": ["one"]})
    aside(file, logs=True)
    with closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked by another process"):
            running.call("plan", {"add": ["two"]})
    running.call("plan", {"add": ["three"]})
    running.close()
    assert texts_in(file) == ["three"]


def test_a_file_of_a_newer_version_is_refused_and_left_alone(file: Path) -> None:
    open_store(f"sqlite:{file}").close()
    written(file, "PRAGMA user_version=99")
    content = file.read_bytes()
    assert refusal(file) == f"{file} was written by a newer punchlist; upgrade this one: {upgrade_command()}"
    assert file.read_bytes() == content


def aged(file: Path) -> bytes:
    """A file that says it is of the second version, and cannot be brought up to date; and what a copy of it was."""
    open_store(f"sqlite:{file}").close()
    written(file, "PRAGMA user_version=2", "CREATE TABLE more (text)", "INSERT INTO more VALUES (zeroblob(300000))")
    Path(f"{file}.version-2").write_bytes(b"of an earlier time")
    return file.read_bytes()


def test_a_file_that_cannot_be_brought_up_to_date_leaves_no_copy_behind(file: Path) -> None:
    content = aged(file)
    for _ in range(2):
        assert "table paces already exists" in refusal(file)
    assert file.read_bytes() == content
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, f"{file.name}.version-2"]
    assert Path(f"{file}.version-2").read_bytes() == b"of an earlier time"


_CRAMPED = """
import resource, sys
from punchlist.stores import open_store
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
open_store(f"sqlite:{sys.argv[1]}")
"""


def test_a_copy_that_does_not_fit_is_not_left_behind(file: Path) -> None:
    aged(file)
    done = subprocess.run([sys.executable, "-c", _CRAMPED, str(file)], capture_output=True, text=True, check=False)
    assert "StoreError" in done.stderr
    assert "paces" not in done.stderr
    assert [path.name for path in file.parent.iterdir() if ".version-2-" in path.name] == []


@pytest.mark.parametrize("content", [b"this is no database, whatever its name says" * 100, b"\x00" * 5000])
def test_a_damaged_file_is_named_and_left_alone(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    said = refusal(file)
    assert str(file) in said
    assert "damaged" in said
    assert file.read_bytes() == content


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    assert str(tmp_path) in refusal(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE items SET data = '{broken'",
        "UPDATE items SET data = '[]'",
        'UPDATE items SET data = \'{"id": "1"}\'',
        "UPDATE plans SET head = '{broken'",
        "UPDATE plans SET head = 'null'",
    ],
)
def test_a_damaged_plan_is_an_error_that_names_the_file(file: Path, damage: str) -> None:
    store = open_store(f"sqlite:{file}")
    plan = saved(store, None, plan_of("a"))
    written(file, damage)
    with pytest.raises(StoreError, match="cannot be read") as refused:
        store.load(plan.id)
    assert str(file) in str(refused.value)
    store.close()


@pytest.mark.parametrize("damage", ["{broken", "null", "[[]]", '[["changed", "1", 3, 4, 0]]'])
def test_a_damaged_history_is_an_error_that_names_the_file(file: Path, damage: str) -> None:
    store = open_store(f"sqlite:{file}")
    plan = saved(store, None, plan_of("a"))
    written(file, f"UPDATE history SET changes = '{damage}'")
    with pytest.raises(StoreError) as refused:
        store.history(plan.id)
    assert str(file) in str(refused.value)
    store.close()


def test_a_table_that_is_gone_is_an_error_that_names_the_file(file: Path) -> None:
    store = open_store(f"sqlite:{file}")
    plan = saved(store, None, plan_of("a"))
    written(file, "DROP TABLE items", "DROP TABLE history", "DROP TABLE bindings", "DROP TABLE places")
    for act in (
        lambda: store.load(plan.id),
        lambda: store.history(plan.id),
        lambda: store.find(PlanKey(session="s", agent="main")),
        lambda: store.find(PlanKey("/here")),
        lambda: saved(store, plan, ops.add(plan, "b")),
    ):
        with pytest.raises(StoreError) as refused:
            act()
        assert str(file) in str(refused.value)
    store.close()


def test_a_save_that_fails_leaves_the_plan_as_it_was(file: Path) -> None:
    store = open_store(f"sqlite:{file}")
    plan = saved(store, None, plan_of("a"))
    written(file, "CREATE TRIGGER no BEFORE INSERT ON history BEGIN SELECT RAISE(ABORT, 'not today'); END")
    with pytest.raises(StoreError, match="not today"):
        saved(store, plan, ops.add(plan, "b"), reader="me")
    assert store.load(plan.id) == plan
    assert seen(store, plan, "me") == 0
    store.close()


ADDING = """
import sys
import punchlist
from punchlist import ops
with punchlist.open(f"sqlite:{sys.argv[1]}", session="s") as desk:
    for number in range(25):
        desk.change(lambda plan: ops.add(plan, f"{sys.argv[2]} {number}"))
"""


def test_a_file_that_another_process_makes_meanwhile_is_taken_for_ours(tmp_path: Path) -> None:
    path = str(tmp_path / "plans.db")
    store = SqliteStore(path)
    store.close()
    os.unlink(path)
    store._db = sqlite3.connect(path, isolation_level=None)
    others: list[SqliteStore] = []

    def make_it(statement: str) -> None:
        if "sqlite_master" in statement and not others:  # between the two looks
            others.append(SqliteStore(path))

    store._db.set_trace_callback(make_it)
    assert store._identity() == (VERSION, set())
    others[0].close()
    store._db.close()


def test_processes_that_add_at_the_same_time_lose_nothing(file: Path) -> None:
    adding = [subprocess.Popen([sys.executable, "-c", ADDING, str(file), str(worker)]) for worker in range(4)]
    assert [process.wait(timeout=60) for process in adding] == [0, 0, 0, 0]
    store = open_store(f"sqlite:{file}")
    desk = desk_of(store)
    plan = desk.plan
    assert sorted(texts(plan)) == sorted(f"{worker} {number}" for worker in range(4) for number in range(25))
    assert sorted(map(int, ids(plan))) == list(range(1, 101))
    assert [record.revision for record in desk.history()] == list(range(1, 101))
    assert problems(plan) == []
    for worker in range(4):
        own = [text for text in texts(plan) if text.startswith(f"{worker} ")]
        assert own == [f"{worker} {number}" for number in range(25)]
    store.close()


CALLING = """
import sys
import punchlist
with punchlist.open(f"sqlite:{sys.argv[1]}", session="s", dialect="native") as desk:
    for number in range(25):
        assert not desk.call("plan", {"add": [f"{sys.argv[2]} {number}"], "done": [1]}).is_error
"""


def test_processes_that_call_at_the_same_time_lose_nothing(file: Path) -> None:
    calling = [subprocess.Popen([sys.executable, "-c", CALLING, str(file), str(worker)]) for worker in range(2)]
    assert [process.wait(timeout=60) for process in calling] == [0, 0]
    store = open_store(f"sqlite:{file}")
    plan = desk_of(store).plan
    assert sorted(texts(plan)) == sorted(f"{worker} {number}" for worker in range(2) for number in range(25))
    assert [item.status for item in plan.items].count(DONE) == 1
    store.close()

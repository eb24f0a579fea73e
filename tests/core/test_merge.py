"""Three-way merge: what its author made of the plan it saw, brought into the plan as it is now."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from punchlist.core import ops
from punchlist.core.diff import noted
from punchlist.core.merge import Merged, interleaved, linked, merge, protect
from punchlist.core.model import ACTIVE, DONE, DROPPED, PENDING, USER, Closing, Item, Plan
from punchlist.core.structure import circle_of_needs
from tests.core.plans import ids, plan_of, statuses, texts

SEEN = plan_of("Alpha", "Beta", "Gamma")


def by_user(edit: Callable[[Plan], Plan], plan: Plan = SEEN) -> Plan:
    """What the user makes of a plan, as the door notes it."""
    return noted(plan, edit(plan), USER, "noon")[0]


def met(mine: Callable[[Plan], Plan], theirs: Callable[[Plan], Plan], *, mine_wins: bool = False) -> Merged:
    """What comes of two edits of the same plan. Ids that theirs gave are not given again by mine."""
    now = by_user(theirs)
    seen = SEEN._replace(last_id=now.last_id)
    return merge(seen, mine(seen), now, mine_wins=mine_wins)


# --- both did something else ---------------------------------------------------------------------------------------


def test_changes_of_different_items_both_stand() -> None:
    result = met(lambda plan: ops.complete(plan, "1"), lambda plan: ops.complete(plan, "3"))
    assert statuses(result.plan) == {"1": DONE, "2": PENDING, "3": DONE}
    assert result.kept == ()


def test_changes_of_different_fields_of_one_item_both_stand() -> None:
    result = met(lambda plan: ops.complete(plan, "1"), lambda plan: ops.rename(plan, "1", "Alef"))
    assert (result.plan.items[0].text, result.plan.items[0].status) == ("Alef", DONE)
    assert result.kept == ()


def test_notes_of_both_stand() -> None:
    result = met(lambda plan: ops.note(plan, "1", "mine"), lambda plan: ops.note(plan, "1", "theirs"))
    assert set(result.plan.items[0].notes) == {"mine", "theirs"}


def test_additions_of_both_stand_behind_their_neighbours() -> None:
    result = met(lambda plan: ops.add(plan, "mine", after="1"), lambda plan: ops.add(plan, "theirs", after="2"))
    assert texts(result.plan) == ["Alpha", "mine", "Beta", "theirs", "Gamma"]


def test_removals_of_both_stand() -> None:
    result = met(lambda plan: ops.remove(plan, "1"), lambda plan: ops.remove(plan, "3"))
    assert ids(result.plan) == ["2"]


def test_an_order_that_only_mine_changed_stands_with_what_theirs_added() -> None:
    result = met(lambda plan: ops.move(plan, "1", after="3"), lambda plan: ops.add(plan, "new", after="2"))
    assert texts(result.plan) == ["Beta", "new", "Gamma", "Alpha"]


def test_phases_of_both_stand() -> None:
    result = met(lambda plan: plan._replace(phases=("Build",)), lambda plan: plan._replace(phases=("Ship",)))
    assert set(result.plan.phases) == {"Build", "Ship"}


def test_what_is_beside_the_items_is_taken_from_whoever_changed_it() -> None:
    result = met(lambda plan: ops.pause(plan, "lunch"), lambda plan: plan._replace(title="Big", mode="plan"))
    assert (result.plan.title, result.plan.mode) == ("Big", "plan")
    assert result.plan.paused is not None


# --- both did the same thing differently ---------------------------------------------------------------------------


def test_of_two_statuses_theirs_stays_and_that_is_said() -> None:
    result = met(lambda plan: ops.start(plan, "1"), lambda plan: ops.complete(plan, "1"))
    assert result.plan.items[0].status == DONE
    assert result.kept == ('"Alpha" was closed by the user; it stays completed.',)


def test_of_two_open_statuses_theirs_stays_and_that_is_said() -> None:
    result = met(lambda plan: ops.start(plan, "1"), lambda plan: ops.block(plan, "1", why="no key"))
    assert (result.plan.items[0].status, result.plan.items[0].reason) == ("blocked", "no key")
    assert result.kept == ('"Alpha" stays blocked.',)


def test_of_two_wordings_theirs_stays_and_that_is_said() -> None:
    result = met(lambda plan: ops.rename(plan, "1", "Mine"), lambda plan: ops.rename(plan, "1", "Theirs"))
    assert result.plan.items[0].text == "Theirs"
    assert result.kept == ('"Theirs" keeps these words, not "Mine".',)


def test_of_two_orders_theirs_stays() -> None:
    result = met(lambda plan: ops.move(plan, "1", after="3"), lambda plan: ops.move(plan, "3", before="1"))
    assert ids(result.plan) == ["3", "1", "2"]


def test_what_theirs_removed_is_not_brought_back_by_a_change_of_mine() -> None:
    result = met(lambda plan: ops.complete(plan, "1"), lambda plan: ops.remove(plan, "1"))
    assert ids(result.plan) == ["2", "3"]


def test_what_theirs_changed_is_not_removed_by_mine() -> None:
    result = met(lambda plan: ops.remove(plan, "1"), lambda plan: ops.note(plan, "1", "important"))
    assert ids(result.plan) == ["1", "2", "3"]


def test_what_both_did_alike_is_no_conflict() -> None:
    both: Callable[[Plan], Plan] = lambda plan: ops.rename(ops.complete(plan, "1"), "1", "Alef")  # noqa: E731
    assert met(both, both).kept == ()


def test_nothing_stands_for_an_item_that_one_removed_and_the_other_needs() -> None:
    result = met(lambda plan: ops.add(plan, "Last", needs=("2",)), lambda plan: ops.remove(plan, "2"))
    assert result.plan.items[-1].needs == ()


def test_an_item_whose_phase_the_other_took_away_keeps_it() -> None:
    seen = plan_of("a", "b", phase="Build")
    now = by_user(lambda plan: ops.set_phases(ops.move(ops.move(plan, "1", phase=""), "2", phase=""), []), seen)
    result = merge(seen, ops.add(seen, "c"), now)
    assert result.plan.phases == ("Build",)
    assert [item.phase for item in result.plan.items] == ["", "", "Build"]


def test_needs_of_both_never_make_a_circle() -> None:
    def waits(id: str, other: str) -> Callable[[Plan], Plan]:
        return lambda plan: ops.put(plan, ops.find(plan, id)._replace(needs=(other,)))

    result = met(waits("1", "2"), waits("2", "1"))
    assert circle_of_needs({item.id: item.needs for item in result.plan.items}) == []


# --- mine wins: the user's own edit, made in a document --------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "theirs", "wanted"),
    [
        (lambda plan: ops.rename(plan, "1", "Mine"), lambda plan: ops.rename(plan, "1", "Theirs"), "Mine"),
        (lambda plan: ops.rename(plan, "1", "Mine"), lambda plan: ops.remove(plan, "1"), "Mine"),
        (lambda plan: ops.rename(plan, "1", "Mine"), lambda plan: ops.note(plan, "1", "x"), "Mine"),
        (lambda plan: ops.remove(plan, "1"), lambda plan: ops.rename(plan, "1", "Theirs"), None),
        (lambda plan: plan, lambda plan: ops.rename(plan, "1", "Theirs"), "Theirs"),
        (lambda plan: plan, lambda plan: ops.remove(plan, "1"), None),
    ],
)
def test_where_mine_wins_the_other_stays_only_where_mine_said_nothing(
    mine: Callable[[Plan], Plan], theirs: Callable[[Plan], Plan], wanted: str | None
) -> None:
    result = met(mine, theirs, mine_wins=True)
    found = {item.id: item.text for item in result.plan.items}
    assert found.get("1") == wanted
    assert result.kept == ()


def test_where_mine_wins_its_order_and_title_stand() -> None:
    result = met(
        lambda plan: ops.move(plan, "1", after="3")._replace(title="Mine"),
        lambda plan: ops.move(plan, "3", before="1")._replace(title="Theirs"),
        mine_wins=True,
    )
    assert (ids(result.plan), result.plan.title) == (["2", "3", "1"], "Mine")


def test_what_the_user_removed_stays_known_when_all_else_is_as_it_was_seen() -> None:
    now = SEEN._replace(removed=("delta",), last_id=4)  # the user added it and took it away again
    result = merge(SEEN, ops.complete(SEEN, "1"), now)
    assert (result.plan.removed, result.plan.last_id) == (("delta",), 4)
    assert statuses(result.plan) == {"1": DONE, "2": PENDING, "3": PENDING}


# --- twins: both added the same thing ------------------------------------------------------------------------------


def test_the_same_thing_added_by_both_is_one_item() -> None:
    result = met(lambda plan: ops.add(plan, "Delta"), lambda plan: ops.add(plan, "delta."))
    assert texts(result.plan) == ["Alpha", "Beta", "Gamma", "delta."]
    assert ids(result.plan)[-1] == "4"


def test_a_twin_takes_over_what_mine_said_of_it() -> None:
    result = met(
        lambda plan: ops.complete(ops.add(plan, "Delta", notes=("mine",)), "5"), lambda plan: ops.add(plan, "Delta")
    )
    assert result.plan.items[-1] == Item("4", "Delta", DONE, notes=("mine",))


def test_two_twins_of_mine_are_not_one() -> None:
    result = met(lambda plan: ops.add(ops.add(plan, "Delta"), "Delta"), lambda plan: ops.add(plan, "Delta"))
    assert texts(result.plan).count("Delta") == 2


def test_a_twin_stands_where_theirs_put_it() -> None:
    result = met(lambda plan: ops.add(plan, "Delta"), lambda plan: ops.add(plan, "Delta", after="1"))
    assert texts(result.plan) == ["Alpha", "Delta", "Beta", "Gamma"]


def test_the_parts_of_a_twin_become_parts_of_the_one_item() -> None:
    result = met(lambda plan: ops.add(ops.add(plan, "Delta"), "part", parent="5"), lambda plan: ops.add(plan, "Delta"))
    assert [(item.id, item.text, item.parent) for item in result.plan.items[-2:]] == [
        ("4", "Delta", ""),
        ("6", "part", "4"),
    ]


def test_what_needs_a_twin_needs_the_one_item() -> None:
    result = met(
        lambda plan: ops.add(ops.add(plan, "Delta"), "Last", needs=("5",)), lambda plan: ops.add(plan, "Delta")
    )
    assert result.plan.items[-1].needs == ("4",)


# --- what the user closed or removed is guarded ----------------------------------------------------------------------


def closed_by(who: str) -> Plan:
    return noted(SEEN, ops.complete(SEEN, "1"), who, "noon")[0]


def test_what_the_user_closed_stays_closed() -> None:
    now = closed_by(USER)
    result = protect(now, ops.start(now, "1"))
    assert result.plan.items[0].status == DONE
    assert result.plan.items[0].closed == Closing(USER, "noon")
    assert result.kept == ('"Alpha" was closed by the user; it stays completed.',)


def test_what_the_user_completed_is_not_dropped_either() -> None:
    now = closed_by(USER)
    assert protect(now, ops.drop(now, "1", why="no")).plan.items[0].status == DONE


def test_what_an_agent_closed_may_be_opened_again() -> None:
    now = closed_by("main")
    draft = ops.start(now, "1")
    assert protect(now, draft) == Merged(draft)


def test_what_the_user_closed_may_be_opened_where_that_is_not_final() -> None:
    now = closed_by(USER)
    draft = ops.start(now, "1")
    assert protect(now, draft, closed_is_final=False) == Merged(draft)


def test_what_the_user_removed_is_not_brought_back() -> None:
    now = by_user(lambda plan: ops.remove(plan, "1"))
    result = protect(now, ops.add(ops.add(now, "ALPHA!"), "Other words"))
    assert texts(result.plan) == ["Beta", "Gamma", "Other words"]
    assert result.kept == ('"ALPHA!" was removed by the user; it was not brought back.',)


def test_an_item_that_gets_the_words_of_a_removed_one_is_not_taken_for_it() -> None:
    now = by_user(lambda plan: ops.remove(plan, "1"))
    draft = ops.rename(now, "2", "Alpha")
    assert protect(now, draft) == Merged(draft)


def test_a_draft_that_changes_nothing_guarded_passes_as_it_is() -> None:
    now = closed_by(USER)
    draft = ops.complete(now, "2")
    assert protect(now, draft) == Merged(draft)


# --- pieces --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("abc", "abc", "abc"),
        ("abc", "axbyc", "axbyc"),
        ("abc", "xabc", "xabc"),
        ("cab", "axb", "caxb"),
        ("", "xy", "xy"),
        ("ab", "", "ab"),
    ],
)
def test_what_only_the_second_has_stands_behind_its_neighbour(first: str, second: str, wanted: str) -> None:
    assert "".join(interleaved(list(first), list(second))) == wanted


def test_mending_takes_away_what_points_at_nothing() -> None:
    item = Item("1", "a", phase="Build", parent="8", needs=("2", "9"))
    plan = linked(Plan(items=(item, Item("2", "b", phase="Build")), last_id=2))
    assert plan.items[0] == item._replace(parent="", needs=("2",))
    assert plan.phases == ("Build",)


def test_a_plan_in_which_all_points_somewhere_needs_no_mending() -> None:
    assert linked(SEEN) is SEEN


def test_a_status_its_reason_its_owner_and_its_closing_are_one_statement() -> None:
    seen = ops.start(SEEN, "1")
    now = by_user(lambda plan: ops.drop(plan, "1", why="not wanted"), seen)
    result = merge(seen, ops.start(seen, "1", owner="helper"), now)
    assert result.plan.items[0] == Item("1", "Alpha", DROPPED, reason="not wanted", closed=Closing(USER, "noon"))


def test_an_item_that_both_started_under_different_owners_stays_with_theirs() -> None:
    seen = SEEN
    now = noted(seen, ops.start(seen, "1", owner="helper"), "helper", "noon")[0]
    result = merge(seen, ops.start(seen, "1"), now)
    assert (result.plan.items[0].status, result.plan.items[0].owner) == (ACTIVE, "helper")

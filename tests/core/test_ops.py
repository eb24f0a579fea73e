"""The operations: each of them, what it refuses and in which words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from punchlist.core import ops
from punchlist.core.errors import NoSuchItem, Refused
from punchlist.core.model import ACTIVE, BLOCKED, DONE, DROPPED, PENDING, Closing, Item, Pause, Plan
from punchlist.core.rules import problems
from punchlist.core.structure import circle_of_needs
from tests.core.plans import ids, plan_of, statuses, texts

ABC = plan_of("Alpha", "Beta", "Gamma")


def refusal(action: Callable[[], object]) -> str:
    """What is said when this is refused."""
    with pytest.raises(Refused) as refused:
        action()
    return str(refused.value)


# --- finding -------------------------------------------------------------------------------------------------------


def test_an_item_is_found_by_its_id() -> None:
    assert ops.find(ABC, "2").text == "Beta"


def test_an_unknown_id_is_refused_with_the_ids_there_are() -> None:
    with pytest.raises(NoSuchItem) as refused:
        ops.find(ABC, "7")
    assert str(refused.value) == "no item '7'; the ids are 1, 2, 3."


def test_an_unknown_id_in_an_empty_plan_says_that_it_is_empty() -> None:
    assert refusal(lambda: ops.find(Plan(), "1")) == "no item '1'; the plan is empty."


def test_of_many_ids_a_refusal_names_thirty() -> None:
    long = plan_of(*(f"item {number}" for number in range(40)))
    said = refusal(lambda: ops.find(long, "99"))
    assert "29, 30, …." in said
    assert "31" not in said


def test_a_hostile_id_is_harmless_in_the_refusal() -> None:
    said = refusal(lambda: ops.find(ABC, "\x1b[2J\u202e" + "9" * 1000))
    assert said.isprintable()
    assert len(said) < 120


@pytest.mark.parametrize("words", ["2", " 2 ", "#2", "Beta", "beta", "BETA.", "et"])
def test_an_item_is_meant_by_its_id_or_by_part_of_its_text(words: str) -> None:
    assert ops.resolve(ABC, words) == "2"


def test_the_whole_text_means_more_than_part_of_another() -> None:
    plan = plan_of("Test the parser", "Test")
    assert ops.resolve(plan, "test") == "2"


def test_a_number_that_is_no_id_is_not_looked_for_in_the_texts() -> None:
    assert refusal(lambda: ops.resolve(plan_of("Fix error 7"), "7")) == "no item '7'; the ids are 1."


def test_words_that_could_mean_several_items_are_refused_with_the_choice() -> None:
    said = refusal(lambda: ops.resolve(plan_of("Run the tests", "Fix the tests", "Ship"), "the tests"))
    assert said == '"the tests" could be any of 1 "Run the tests", 2 "Fix the tests"; give the id.'


def test_of_many_possible_items_five_are_named() -> None:
    said = refusal(lambda: ops.resolve(plan_of(*["the same"] * 7), "same"))
    assert '5 "the same", …; give the id.' in said


def test_words_that_match_nothing_are_refused() -> None:
    assert refusal(lambda: ops.resolve(ABC, "delta")) == 'no item matches "delta"; the ids are 1, 2, 3.'


@pytest.mark.parametrize("words", ["", "  ", "...", "#"])
def test_words_that_say_nothing_match_nothing(words: str) -> None:
    assert "no item matches" in refusal(lambda: ops.resolve(ABC, words))


@pytest.mark.parametrize("words", ["!!!", "--", ".", "\udcff", "?", "*"])
def test_punctuation_matches_nothing_but_an_equal_text(words: str) -> None:
    plan = plan_of("\u5bb6\u65cf", "-", "Why? *Read* it.")
    assert "no item matches" in refusal(lambda: ops.resolve(plan, words))
    assert ops.resolve(plan, "-") == "2"
    assert ops.resolve(plan_of("-", words), words) == "2"


def test_an_emoji_is_a_part_of_a_text() -> None:
    assert ops.resolve(plan_of("\U0001f41b Fix it", "\U0001f680 Ship it"), "\U0001f680") == "2"


def test_what_an_item_waits_for_is_what_is_still_open() -> None:
    plan = ops.complete(ops.add(ABC, "Last", needs=("1", "3")), "1")
    assert ops.open_needs(plan, ops.find(plan, "4")) == ["3"]


def test_the_open_parts_of_an_item_are_named() -> None:
    plan = ops.add(ops.add(ABC, "part one", parent="1"), "part two", parent="1")
    assert ops.open_parts(ops.complete(plan, "4"), "1") == ["5"]


# --- the next item -------------------------------------------------------------------------------------------------


def next_id(plan: Plan, owner: str | None = None) -> str | None:
    item = ops.next_ready(plan, owner=owner)
    return item.id if item else None


def test_the_next_item_is_the_first_pending_one() -> None:
    assert next_id(ops.complete(ABC, "1")) == "2"


def test_the_next_item_is_the_first_in_order_wherever_it_was_moved_to() -> None:
    assert next_id(ops.complete(ops.move(ABC, "3", before="1"), "1")) == "3"


def test_what_is_blocked_active_or_closed_is_not_next() -> None:
    plan = ops.drop(ops.block(ops.start(ABC, "1"), "2", why="no key"), "3", why="not wanted")
    assert next_id(plan) is None


def test_an_item_is_ready_once_what_it_needs_is_closed() -> None:
    plan = ops.extend(Plan(), [{"text": "later", "needs": ("2",)}, {"text": "first"}])
    assert next_id(plan) == "2"
    assert next_id(ops.drop(plan, "2", why="not wanted")) == "1"


def test_an_item_is_ready_once_its_parts_are_closed() -> None:
    plan = ops.add(plan_of("whole"), "part", parent="1")
    assert next_id(plan) == "2"
    assert next_id(ops.complete(plan, "2")) == "1"


def test_an_owner_is_given_its_own_items_and_those_of_nobody() -> None:
    plan = ops.extend(Plan(), [{"text": "yours", "owner": "other"}, {"text": "anyone's"}])
    assert next_id(plan, owner="me") == "2"
    assert next_id(plan, owner="other") == "1"
    assert next_id(plan) == "1"


# --- adding --------------------------------------------------------------------------------------------------------


def test_a_new_item_stands_at_the_end_and_is_pending() -> None:
    plan = ops.add(ABC, "  Delta ")
    assert plan.items[-1] == Item("4", "Delta", PENDING)
    assert plan.last_id == 4


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_an_empty_text_is_refused(text: str) -> None:
    assert refusal(lambda: ops.add(ABC, text)) == "text must not be empty."


def test_the_id_of_a_removed_item_is_not_given_again() -> None:
    assert ids(ops.add(ops.remove(ABC, "3"), "Delta")) == ["1", "2", "4"]


def test_an_item_goes_behind_the_one_it_is_put_after() -> None:
    assert ids(ops.add(ABC, "Delta", after="1")) == ["1", "4", "2", "3"]


def test_an_item_put_after_another_goes_behind_its_parts_and_into_its_phase() -> None:
    plan = ops.add(plan_of("whole", "next", phase="Build"), "part", parent="1")
    plan = ops.add(ops.add(plan, "part of the part", parent="3"), "new", after="1")
    assert texts(plan) == ["whole", "part", "part of the part", "new", "next"]
    assert plan.items[3].phase == "Build"


def test_a_part_stands_behind_the_parts_of_its_parent() -> None:
    plan = ops.add(ops.add(ABC, "one", parent="1"), "two", parent="1")
    assert texts(plan) == ["Alpha", "one", "two", "Beta", "Gamma"]


def test_a_phase_that_is_new_is_put_at_the_end() -> None:
    plan = ops.add(plan_of("a", phase="Build"), "b", phase="Ship")
    assert plan.phases == ("Build", "Ship")


def test_an_item_goes_to_the_end_of_its_phase() -> None:
    plan = ops.extend(
        Plan(), [{"text": "a", "phase": "Build"}, {"text": "b", "phase": "Ship"}, {"text": "c", "phase": "Build"}]
    )
    assert texts(plan) == ["a", "c", "b"]


def test_an_item_without_a_word_on_its_phase_joins_that_of_the_last_item() -> None:
    assert ops.add(plan_of("a", phase="Build"), "b").items[-1].phase == "Build"


def test_items_without_a_phase_stand_before_the_phases() -> None:
    assert texts(ops.add(plan_of("a", phase="Build"), "loose", phase="")) == ["loose", "a"]


def test_an_item_cannot_go_behind_one_of_another_phase() -> None:
    plan = plan_of("a", phase="Build")
    assert (
        refusal(lambda: ops.add(plan, "b", phase="Ship", after="1"))
        == 'item 1 is in phase "Build", not in phase "Ship".'
    )


@pytest.mark.parametrize("fields", [{"after": "9"}, {"parent": "9"}, {"needs": ("9",)}])
def test_a_neighbour_parent_or_need_that_does_not_exist_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(NoSuchItem, match="no item '9'; the ids are 1, 2, 3"):
        ops.add(ABC, "new", **fields)


def test_items_of_one_call_may_need_each_other_in_any_order() -> None:
    plan = ops.extend(Plan(), [{"text": "b", "needs": ("2",)}, {"text": "a"}])
    assert problems(plan) == []


# --- needs ---------------------------------------------------------------------------------------------------------


def test_an_item_cannot_need_itself() -> None:
    said = refusal(lambda: ops.extend(Plan(), [{"text": "a", "needs": ("1",)}]))
    assert said == "item 1 cannot need itself."


def test_items_that_would_wait_for_each_other_are_refused_with_the_circle() -> None:
    circle = [{"text": "a", "needs": ("3",)}, {"text": "b", "needs": ("1",)}, {"text": "c", "needs": ("2",)}]
    said = refusal(lambda: ops.extend(Plan(), circle))
    assert said == "these items would wait for each other: 1 → 3 → 2 → 1."


def test_a_circle_behind_a_tail_is_named_without_the_tail() -> None:
    assert circle_of_needs({"1": ("2",), "2": ("3",), "3": ("2",)}) == ["2", "3", "2"]


def test_needing_one_item_by_two_ways_is_no_circle() -> None:
    assert circle_of_needs({"1": ("2", "3"), "2": ("4",), "3": ("4",), "4": ()}) == []


def test_a_chain_of_ten_thousand_needs_is_no_circle() -> None:
    entries = [{"text": "step", "needs": (str(number),) if number else ()} for number in range(10_000)]
    assert len(ops.extend(Plan(), entries).items) == 10_000


def test_a_circle_of_ten_thousand_needs_is_refused() -> None:
    entries = [{"text": "step", "needs": (str(number or 10_000),)} for number in range(10_000)]
    assert "these items would wait for each other" in refusal(lambda: ops.extend(Plan(), entries))


# --- removing and moving -------------------------------------------------------------------------------------------


def family() -> Plan:
    """1 whole, with its part 3 and that part's part 4; 2 stands alone and needs 3."""
    plan = ops.add(ops.add(plan_of("whole", "other"), "part", parent="1"), "part of the part", parent="3")
    return ops.put(plan, ops.find(plan, "2")._replace(needs=("3",)))


def upside_down() -> Plan:
    """The same family, each part before its whole: an edited or imported plan may stand like that."""
    plan = family()
    return plan._replace(items=tuple(ops.find(plan, id) for id in ("4", "3", "1", "2")))


def test_a_removed_item_takes_its_parts_along() -> None:
    assert ids(ops.remove(family(), "1")) == ["2"]


def test_nothing_needs_what_was_removed() -> None:
    assert ops.remove(family(), "3").items[-1].needs == ()


def test_removing_an_item_takes_its_parts_along_wherever_they_stand() -> None:
    assert ids(ops.remove(upside_down(), "1")) == ["2"]


def test_all_unknown_ids_are_refused_together() -> None:
    said = refusal(lambda: ops.remove(ABC, "8", "1", "9", "8"))
    assert said == "no item '8', '9'; the ids are 1, 2, 3."


def test_an_item_moves_behind_or_before_another() -> None:
    assert ids(ops.move(ABC, "1", after="2")) == ["2", "1", "3"]
    assert ids(ops.move(ABC, "3", before="1")) == ["3", "1", "2"]


def test_a_moved_item_takes_its_parts_along() -> None:
    assert ids(ops.move(family(), "1", after="2")) == ["2", "1", "3", "4"]


def test_a_moved_item_takes_its_parts_along_wherever_they_stand() -> None:
    assert ids(ops.move(upside_down(), "1", after="2")) == ["2", "4", "3", "1"]


def test_an_item_moves_to_the_end_of_a_phase() -> None:
    plan = ops.move(ops.add(plan_of("a", "b", phase="Build"), "c", phase="Ship"), "1", phase="Ship")
    assert [(item.id, item.phase) for item in plan.items] == [("2", "Build"), ("3", "Ship"), ("1", "Ship")]


def test_an_item_may_move_to_a_phase_that_is_new() -> None:
    assert ops.move(ABC, "1", phase="Later").phases == ("Later",)


def test_an_item_may_leave_its_phase() -> None:
    plan = ops.move(plan_of("a", "b", phase="Build"), "2", phase="")
    assert [(item.id, item.phase) for item in plan.items] == [("2", ""), ("1", "Build")]


def test_an_item_that_moves_next_to_another_joins_its_phase_with_its_parts() -> None:
    plan = ops.add(ops.add(plan_of("a", phase="Build"), "part", parent="1"), "b", phase="Ship")
    moved = ops.move(plan, "1", after="3")
    assert [(item.id, item.phase) for item in moved.items] == [("3", "Ship"), ("1", "Ship"), ("2", "Ship")]


@pytest.mark.parametrize("anchor", ["1", "3", "4"])
def test_an_item_cannot_move_next_to_itself_or_its_parts(anchor: str) -> None:
    said = refusal(lambda: ops.move(family(), "1", after=anchor))
    assert said == "item 1 cannot be moved next to itself or one of its own parts."


def test_an_item_cannot_move_next_to_one_of_another_phase_than_was_said() -> None:
    plan = ops.add(plan_of("a", phase="Build"), "b", phase="Ship")
    assert (
        refusal(lambda: ops.move(plan, "1", after="2", phase="Build"))
        == 'item 2 is in phase "Ship", not in phase "Build".'
    )


@pytest.mark.parametrize(("id", "after", "before"), [("9", "1", ""), ("1", "9", ""), ("1", "", "9")])
def test_moving_an_unknown_item_or_next_to_one_is_refused(id: str, after: str, before: str) -> None:
    with pytest.raises(NoSuchItem, match="no item '9'"):
        ops.move(ABC, id, after=after, before=before)


def test_items_follow_the_order_of_their_phases() -> None:
    plan = ops.add(plan_of("a", phase="Build"), "b", phase="Ship")
    turned = ops.set_phases(plan, ["Ship", "Build", "Ship", "Empty"])
    assert turned.phases == ("Ship", "Build", "Empty")
    assert texts(turned) == ["b", "a"]


def test_a_phase_that_holds_items_cannot_be_left_out() -> None:
    assert refusal(lambda: ops.set_phases(plan_of("a", phase="Build"), ["Ship"])) == "phase 'Build' still holds items."


def test_grouping_keeps_the_order_inside_a_phase() -> None:
    items = (Item("1", "a", phase="Ship"), Item("2", "b", phase="Build"), Item("3", "c", phase="Ship"), Item("4", "d"))
    plan = ops.grouped(Plan(phases=("Build", "Ship"), items=items, last_id=4))
    assert ids(plan) == ["4", "2", "1", "3"]


# --- changing ------------------------------------------------------------------------------------------------------


def test_a_started_item_is_active_and_what_was_active_waits() -> None:
    plan = ops.start(ops.start(ABC, "1"), "2")
    assert statuses(plan) == {"1": PENDING, "2": ACTIVE, "3": PENDING}


def test_items_of_different_owners_may_be_active_together() -> None:
    plan = ops.start(ops.start(ABC, "1", owner="one"), "2", owner="two")
    assert [item.owner for item in plan.busy] == ["one", "two"]


def test_the_main_agent_needs_no_name_as_an_owner() -> None:
    assert ops.start(ABC, "1", owner="main").items[0].owner == ""


def test_an_item_stays_with_its_owner_when_someone_else_starts_it() -> None:
    assert ops.start(plan_of("a", owner="one"), "1", owner="two").items[0].owner == "one"


def test_an_item_cannot_start_before_what_it_needs() -> None:
    plan = ops.add(ABC, "Last", needs=("1", "3"))
    assert refusal(lambda: ops.start(plan, "4")) == "item 4 needs 1, 3 first."


def test_a_closed_item_that_is_started_is_open_again() -> None:
    closed = Plan(items=(Item("1", "a", DROPPED, reason="no", closed=Closing("main", "now")),), last_id=1)
    assert ops.start(closed, "1").items[0] == Item("1", "a", ACTIVE)


def test_completing_ends_a_block_and_its_reason() -> None:
    plan = ops.complete(ops.block(ABC, "1", why="no key"), "1", "2")
    assert plan.items[0] == Item("1", "Alpha", DONE)
    assert statuses(plan) == {"1": DONE, "2": DONE, "3": PENDING}


def test_completing_what_is_completed_changes_nothing() -> None:
    done = ops.complete(ABC, "1")
    assert ops.complete(done, "1") is done


def test_dropping_keeps_the_reason() -> None:
    item = ops.drop(ABC, "1", why=" not wanted ").items[0]
    assert (item.status, item.reason) == (DROPPED, "not wanted")


def test_blocking_keeps_the_reason_and_unblocking_ends_it() -> None:
    blocked = ops.block(ABC, "1", why="no key")
    assert (blocked.items[0].status, blocked.items[0].reason) == (BLOCKED, "no key")
    assert ops.unblock(blocked, "1") == ABC


def test_dropping_and_blocking_need_a_reason() -> None:
    assert refusal(lambda: ops.drop(ABC, "1", why=" ")) == "why must not be empty."
    assert refusal(lambda: ops.block(ABC, "1", why="")) == "why must not be empty."


def test_what_is_closed_cannot_be_blocked() -> None:
    assert refusal(lambda: ops.block(ops.complete(ABC, "2"), "1", "2", why="no")) == "item 2 is closed already."


def test_unblocking_what_is_not_blocked_changes_nothing() -> None:
    active = ops.start(ABC, "1")
    assert ops.unblock(active, "1", "2") == active


def test_a_reopened_item_is_as_it_was_before_it_was_closed() -> None:
    closed = Plan(items=(Item("1", "a", DROPPED, reason="no", closed=Closing("user", "now")),), last_id=1)
    assert ops.reopen(closed, "1").items[0] == Item("1", "a")


def test_renaming_keeps_the_id_and_forgets_the_active_form() -> None:
    plan = ops.rename(plan_of("Run", active="Running"), "1", " Walk ")
    assert plan.items[0] == Item("1", "Walk")


def test_renaming_to_the_same_text_changes_nothing() -> None:
    plan = plan_of("Run", active="Running")
    assert ops.rename(plan, "1", "Run") is plan


def test_notes_are_put_behind_each_other() -> None:
    plan = ops.note(ops.note(ABC, "1", "first  \n"), "1", "second")
    assert plan.items[0].notes == ("first", "second")


def test_an_empty_name_or_note_is_refused() -> None:
    assert refusal(lambda: ops.rename(ABC, "1", " ")) == "text must not be empty."
    assert refusal(lambda: ops.note(ABC, "1", "\n")) == "note must not be empty."


def test_a_pause_knows_what_was_being_done() -> None:
    plan = ops.pause(ops.start(ABC, "2"), "waiting for a key", "now")
    assert plan.paused == Pause("waiting for a key", "now", "2")
    assert ops.resume(plan).paused is None


def test_a_mode_that_is_unknown_is_refused() -> None:
    assert ops.set_mode(ABC, "plan").mode == "plan"
    assert refusal(lambda: ops.set_mode(ABC, "fast")) == "mode must be one of 'act', 'plan', 'quiet', not 'fast'."  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", [ops.complete, ops.unblock, ops.reopen, ops.remove])
def test_no_id_at_all_changes_nothing(verb: Callable[..., Plan]) -> None:
    assert verb(ABC) == ABC


@pytest.mark.parametrize("verb", [ops.complete, ops.unblock, ops.reopen, ops.remove])
def test_an_operation_on_items_of_which_one_is_unknown_is_refused(verb: Callable[..., Plan]) -> None:
    assert refusal(lambda: verb(ABC, "1", "9")) == "no item '9'; the ids are 1, 2, 3."


# --- finding -------------------------------------------------------------------------------------------------------


def test_an_item_is_found_wherever_it_stands() -> None:
    plan = plan_of("a", "b", "c", "d", "e")
    plan = ops.move(ops.remove(plan, "2"), "5", before="1")
    plan = ops.add(plan, "f", after="5")
    assert [item.id for item in plan.items] == ["5", "6", "1", "3", "4"]
    assert [ops.find(plan, item.id) for item in plan.items] == list(plan.items)
    for id in ("1", "3", "4", "5", "6"):
        noted = ops.note(plan, id, "here")
        assert [item.id for item in noted.items if item.notes] == [id]
        assert ops.start(plan, id).busy == (ops.find(plan, id)._replace(status=ACTIVE),)


@pytest.mark.parametrize("id", ["2", "0", "7", "01", "-1", "²", "", "1 ", "9" * 5_000])
def test_an_id_that_no_item_has_is_not_found(id: str) -> None:
    plan = ops.remove(plan_of("a", "b", "c"), "2")
    for act in (ops.find, ops.start, ops.complete, lambda plan, id: ops.require(plan, ["1", id])):
        with pytest.raises(NoSuchItem, match="the ids are 1, 3"):
            act(plan, id)

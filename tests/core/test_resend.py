"""A list that was sent whole becomes the plan, and what was not said stays."""

from __future__ import annotations

from hypothesis import assume, given

from punchlist.core import ops
from punchlist.core.model import ACTIVE, BLOCKED, DONE, DROPPED, PENDING, Closing, Item, Plan
from punchlist.core.resend import OMITTED, Sent, relist
from punchlist.core.rules import problems
from tests.core.plans import ids, often, plan_of, plans, statuses, texts

# How most senders see a status: they have no word for abandoned, and take blocked for pending.
SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE}
ABC = plan_of("Alpha", "Beta", "Gamma")


def to_do(*texts: str) -> list[Sent]:
    return [Sent(text, PENDING) for text in texts]


def abandoning(plan: Plan, sent: list[Sent]) -> Plan:
    return relist(plan, sent, SHOWN, omitted="abandoned")


def nested(plan: Plan, sent: list[Sent]) -> Plan:
    return relist(plan, sent, SHOWN, nested=True)


# --- flat ----------------------------------------------------------------------------------------------------------


def test_a_first_list_becomes_the_plan() -> None:
    plan = relist(Plan(), [Sent("Run", ACTIVE, "Running", "high"), Sent("Ship", PENDING)], SHOWN)
    assert plan.items == (Item("1", "Run", ACTIVE, "Running", priority="high"), Item("2", "Ship"))
    assert plan.last_id == 2


def test_words_that_are_sent_back_as_they_were_shown_are_not_other_words() -> None:
    plan = plan_of("Parse List<int>", "Drop [INST] and </s>")
    assert relist(plan, to_do("Parse List‹int>", "Drop ⟦INST] and ‹/s>"), SHOWN).items is plan.items


def test_a_list_that_is_sent_again_leaves_the_very_same_items() -> None:
    assert relist(ABC, to_do("Alpha", "Beta", "Gamma"), SHOWN).items is ABC.items


def test_what_the_sender_does_not_speak_of_stays() -> None:
    item = Item(
        "1",
        "Run the tests",
        DONE,
        "Running",
        "",
        "",
        (),
        ("note",),
        "high",
        "me",
        "",
        {"run": "make"},
        evidence=({"exit": 0},),
        calls=({"id": "c"},),
    )
    plan = Plan(items=(item, Item("2", "x")), last_id=2)
    assert relist(plan, [Sent("Run all tests", DONE), Sent("x", PENDING)], SHOWN).items[0] == item._replace(
        text="Run all tests"
    )


def test_what_the_sender_says_is_taken_over() -> None:
    sent = [Sent("Alpha", ACTIVE, "Doing alpha", "low", "x1")]
    item = relist(plan_of("Alpha"), sent, SHOWN).items[0]
    assert item == Item("1", "Alpha", ACTIVE, "Doing alpha", priority="low", extra={"id": "x1"})


def test_the_order_is_the_one_that_was_sent() -> None:
    assert ids(relist(ABC, to_do("Gamma", "New", "Alpha", "Beta"), SHOWN)) == ["3", "4", "1", "2"]


def test_an_item_that_is_left_out_is_gone_and_its_id_with_it() -> None:
    plan = relist(ABC, to_do("Alpha", "Gamma"), SHOWN)
    assert ids(plan) == ["1", "3"]
    assert ids(relist(plan, to_do("Alpha", "Gamma", "Zip"), SHOWN)) == ["1", "3", "4"]


def test_nothing_needs_an_item_that_is_gone() -> None:
    plan = ops.add(ABC, "Last", needs=("2", "3"))
    assert relist(plan, to_do("Alpha", "Gamma", "Last"), SHOWN).items[-1].needs == ("3",)


def test_a_blocked_item_that_is_repeated_as_the_sender_sees_it_stays_blocked() -> None:
    plan = ops.block(ABC, "2", why="no key")
    assert relist(plan, to_do("Alpha", "Beta", "Gamma"), SHOWN) == plan


def test_a_new_status_ends_the_reason_of_the_old_one() -> None:
    plan = ops.block(plan_of("Alpha"), "1", why="no key")
    item = relist(plan, [Sent("Alpha", ACTIVE)], SHOWN).items[0]
    assert (item.status, item.reason) == (ACTIVE, "")


def test_an_item_out_of_the_senders_sight_stays_in_its_place() -> None:
    plan = ops.drop(ABC, "2", why="not wanted")
    assert relist(plan, to_do("Alpha", "Gamma"), SHOWN) == plan


def test_an_item_keeps_its_phase_and_a_new_one_joins_the_phase_before_it() -> None:
    plan = ops.add(plan_of("a", phase="Build"), "b", phase="Ship")
    made = relist(plan, to_do("a", "new", "b"), SHOWN)
    assert [(item.text, item.phase) for item in made.items] == [("a", "Build"), ("new", "Build"), ("b", "Ship")]


def test_a_list_of_which_nothing_is_known_replaces_one_that_is_over() -> None:
    plan = ops.drop(ops.complete(plan_of("Alpha", "Beta"), "1"), "2", why="not wanted")
    assert texts(relist(plan, to_do("Zip"), SHOWN)) == ["Zip"]
    assert texts(abandoning(plan, to_do("Zip"))) == ["Zip"]


# --- left out means abandoned --------------------------------------------------------------------------------------


def test_an_open_item_that_is_left_out_may_be_abandoned_instead() -> None:
    plan = abandoning(ABC, to_do("Alpha", "Gamma"))
    assert plan.items[1] == Item("2", "Beta", DROPPED, reason=OMITTED)
    assert OMITTED == "omitted by the agent"


def test_a_completed_item_that_is_left_out_is_gone_all_the_same() -> None:
    assert ids(abandoning(ops.complete(ABC, "2"), to_do("Alpha", "Gamma"))) == ["1", "3"]


def test_an_abandoned_item_that_is_left_out_keeps_its_own_reason() -> None:
    plan = ops.drop(ABC, "2", why="not wanted")
    shown = {**SHOWN, DROPPED: DROPPED}
    assert relist(plan, to_do("Alpha", "Gamma"), shown, omitted="abandoned") == plan


def test_an_empty_list_abandons_all_that_is_open() -> None:
    assert statuses(abandoning(ops.start(ABC, "1"), [])) == {"1": DROPPED, "2": DROPPED, "3": DROPPED}


# --- nested --------------------------------------------------------------------------------------------------------


def test_parts_are_sent_inside_their_whole() -> None:
    plan = nested(Plan(), [Sent("Whole", PENDING, parts=to_do("one", "two")), Sent("Other", PENDING)])
    assert [(item.text, item.parent) for item in plan.items] == [
        ("Whole", ""),
        ("one", "1"),
        ("two", "1"),
        ("Other", ""),
    ]


def test_parts_that_are_not_spoken_of_stay() -> None:
    plan = nested(Plan(), [Sent("Whole", PENDING, parts=to_do("one", "two"))])
    assert nested(plan, to_do("Whole")) == plan


def test_parts_that_are_left_out_are_gone() -> None:
    plan = nested(Plan(), [Sent("Whole", PENDING, parts=to_do("one", "two"))])
    assert texts(nested(plan, [Sent("Whole", PENDING, parts=to_do("two"))])) == ["Whole", "two"]
    assert texts(nested(plan, [Sent("Whole", PENDING, parts=[])])) == ["Whole"]


def test_parts_are_done_when_the_whole_is() -> None:
    sent = [Sent("Whole", DONE, parts=to_do("one"))]
    assert statuses(nested(Plan(), sent)) == {"1": DONE, "2": DONE}


def test_a_part_keeps_the_status_it_has() -> None:
    plan = ops.complete(nested(Plan(), [Sent("Whole", PENDING, parts=to_do("one", "two"))]), "2")
    silent = [part._replace(status="") for part in to_do("one", "two")]
    assert nested(plan, [Sent("Whole", PENDING, parts=silent)]) == plan


def test_parts_follow_their_whole_when_it_moves() -> None:
    plan = nested(Plan(), [Sent("Whole", PENDING, parts=to_do("one")), Sent("Other", PENDING)])
    assert texts(nested(plan, to_do("Other", "Whole"))) == ["Other", "Whole", "one"]


def test_the_parts_of_a_part_are_out_of_the_senders_sight_and_stay() -> None:
    plan = nested(Plan(), [Sent("Whole", PENDING, parts=to_do("one"))])
    plan = ops.add(plan, "deep", parent="2")
    assert nested(plan, to_do("Whole")) == plan
    assert nested(plan, [Sent("Whole", PENDING, parts=to_do("one"))]) == plan


def test_the_parts_of_an_item_out_of_the_senders_sight_stay_with_it() -> None:
    plan = nested(Plan(), [Sent("Whole", PENDING, parts=to_do("one")), Sent("Other", PENDING)])
    plan = ops.drop(plan, "1", why="not wanted")
    assert nested(plan, to_do("Other")) == plan


def test_an_item_out_of_the_senders_sight_that_is_sent_again_is_taken_up_again() -> None:
    plan = ops.drop(ABC, "2", why="not wanted")
    made = relist(plan, to_do("Alpha", "Beta", "Gamma"), SHOWN)
    assert made == ABC


def test_an_id_that_is_assigned_is_not_one_that_was_brought() -> None:
    plan = nested(Plan(), [Sent("a", PENDING, key="2"), Sent("b", PENDING)])
    assert [item.extra.get("id", item.id) for item in plan.items] == ["2", "3"]


def test_the_parts_of_parts_stay_wherever_they_stand() -> None:
    plan = ops.add(ops.add(ops.add(plan_of("Whole"), "one", parent="1"), "two", parent="2"), "three", parent="3")
    turned = plan._replace(items=(plan.items[0], *reversed(plan.items[1:])))
    assert set(ids(nested(turned, to_do("Whole")))) == {"1", "2", "3", "4"}


def test_calls_that_are_sent_with_a_part_are_kept_with_it() -> None:
    part = Sent("one", PENDING, calls=({"id": "c1"},))
    plan = nested(Plan(), [Sent("Whole", PENDING, parts=[part])])
    assert plan.items[1].calls == ({"id": "c1"},)


# --- laws ----------------------------------------------------------------------------------------------------------


def as_seen(plan: Plan) -> list[Sent]:
    return [Sent(item.text, SHOWN[item.status]) for item in plan.items if item.status in SHOWN]


@often(60)
@given(plans())
def test_a_plan_that_is_listed_as_it_is_seen_stays_as_it_is(plan: Plan) -> None:
    assume(as_seen(plan))  # with nothing in sight it would be a new list
    assert relist(plan, as_seen(plan), SHOWN) == plan


@often(100)
@given(plans())
def test_a_list_that_does_not_speak_of_parts_loses_none(plan: Plan) -> None:
    sent = [Sent(item.text, SHOWN[item.status]) for item in plan.items if item.status in SHOWN and not item.parent]
    assume(sent)
    assert set(ids(nested(plan, sent))) == set(ids(plan))


@often(60)
@given(plans(), plans())
def test_any_list_makes_a_plan_that_is_well_built(plan: Plan, other: Plan) -> None:
    sent = as_seen(other)
    for made in (relist(plan, sent, SHOWN), abandoning(plan, sent), nested(plan, sent)):
        assert problems(_unclosed(made)) == []


def _unclosed(plan: Plan) -> Plan:
    """Who closed an item is noted at the door, not here."""
    return plan._replace(items=tuple(item._replace(closed=None) for item in plan.items))


@often(60)
@given(plans(), plans())
def test_where_left_out_means_abandoned_no_open_item_disappears(plan: Plan, other: Plan) -> None:
    made = abandoning(plan, as_seen(other))
    assert {item.id for item in plan.open_items} <= set(ids(made))


def test_who_closed_an_item_survives_a_list_that_repeats_it() -> None:
    plan = Plan(items=(Item("1", "a", DONE, closed=Closing("user", "now")), Item("2", "b")), last_id=2)
    assert relist(plan, [Sent("a", DONE), Sent("b", PENDING)], SHOWN) == plan

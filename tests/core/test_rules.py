"""Rules are data: what a dialect allows and does by itself, when a pause is well founded, when a plan is well built."""

from __future__ import annotations

from typing import Any

import pytest

from punchlist.core import ops
from punchlist.core.errors import Refused
from punchlist.core.model import ACTIVE, BLOCKED, DONE, DROPPED, PENDING, Closing, Item, Plan
from punchlist.core.rules import Rules, obeyed, one_active, pause_problem, problems, promoted
from tests.core.plans import plan_of, statuses

ABC = plan_of("Alpha", "Beta", "Gamma")


def with_statuses(*wanted: Any) -> Plan:
    items = tuple(Item(str(number), "x", status) for number, status in enumerate(wanted, 1))
    return Plan(items=items, last_id=len(items))


# --- what a dialect allows, and what it does by itself ----------------------------------------------------------------


def test_without_rules_a_plan_stays_as_it_was_asked_for() -> None:
    plan = with_statuses(ACTIVE, ACTIVE, PENDING)
    assert obeyed(plan, Rules(), Plan()) is plan


def test_a_plan_that_grows_beyond_the_limit_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        obeyed(ABC, Rules(max_items=2), Plan())
    assert str(refused.value) == "a plan holds at most 2 items; this would make 3."


def test_a_plan_may_fill_its_limit() -> None:
    assert obeyed(ABC, Rules(max_items=3), Plan()) == ABC


def test_a_plan_that_is_beyond_the_limit_already_may_be_worked_on() -> None:
    assert obeyed(ops.complete(ABC, "1"), Rules(max_items=2), ABC) == ops.complete(ABC, "1")


def test_of_several_active_items_the_first_stays_active() -> None:
    plan = one_active(with_statuses(PENDING, ACTIVE, ACTIVE, DONE, ACTIVE))
    assert list(statuses(plan).values()) == [PENDING, ACTIVE, PENDING, DONE, PENDING]


def test_with_nothing_active_the_first_pending_item_is() -> None:
    plan = promoted(with_statuses(DONE, BLOCKED, PENDING, PENDING))
    assert list(statuses(plan).values()) == [DONE, BLOCKED, ACTIVE, PENDING]


@pytest.mark.parametrize("wanted", [(), (DONE, DROPPED), (BLOCKED,), (PENDING, ACTIVE)])
def test_with_nothing_pending_or_something_active_nothing_is_promoted(wanted: tuple[str, ...]) -> None:
    plan = with_statuses(*wanted)
    assert promoted(plan) == plan
    assert one_active(plan) == plan


def test_the_rules_are_obeyed_together() -> None:
    plan = obeyed(with_statuses(PENDING, ACTIVE, ACTIVE), Rules(one_active=True, promote=True), Plan())
    assert list(statuses(plan).values()) == [PENDING, ACTIVE, PENDING]
    assert statuses(obeyed(ABC, Rules(promote=True), Plan()))["1"] == ACTIVE


# --- pausing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        (None, "Reason is required"),
        ("", "Reason is required"),
        (0, "Reason is required"),
        (7, "Reason must be a string"),
        (["x"], "Reason must be a string"),
        ("   ", "Reason cannot be empty"),
        ("x" * 501, "Reason too long (max 500 characters)"),
        ("too brief", "Reason too brief (min 10 characters for clarity)"),
        ("I am stuck here", "Please provide a more specific explanation of the blocking issue"),
        ("The key in settings.toml has expired", ""),
        ("  " + "x" * 500 + "  ", ""),
    ],
)
def test_a_reason_for_a_pause_is_judged(reason: object, fault: str) -> None:
    assert pause_problem(reason) == fault


@pytest.mark.parametrize("reason", ["stuck", "I am stuck here", "lunch"])
def test_without_strictness_a_brief_or_vague_reason_will_do(reason: str) -> None:
    assert pause_problem(reason, strict=False) == ""


@pytest.mark.parametrize("reason", [None, "", 7, "  ", "x" * 501])
def test_without_strictness_a_reason_is_still_a_text_of_some_length(reason: object) -> None:
    assert pause_problem(reason, strict=False) != ""


# --- the build of a plan -------------------------------------------------------------------------------------------


def test_a_plan_made_by_the_operations_is_well_built() -> None:
    plan = ops.add(ops.add(plan_of("a", "b", phase="Build"), "part", parent="1"), "c", phase="Ship", needs=("1",))
    assert problems(plan) == []
    assert problems(Plan()) == []


def built(*items: Item, last_id: int = 9, phases: tuple[str, ...] = (), mode: Any = "act") -> Plan:
    return Plan(items=items, last_id=last_id, phases=phases, mode=mode)


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        (built(Item("1", "a"), Item("1", "b")), "two items have the id '1'"),
        (built(mode="fast"), "mode 'fast' is unknown"),
        (built(last_id=10**16), "ids go up to 1000000000000000, and last_id is beyond that"),
        (built(last_id=-1), "ids go up to 1000000000000000, and last_id is below 0"),
        (built(Item("x", "a")), "item 'x': the id must be a number, in digits"),
        (built(Item("0", "a")), "item '0': the id must be a number from 1 to 9"),
        (built(Item("10", "a")), "item '10': the id must be a number from 1 to 9"),
        (built(Item("٣", "a")), "item '٣': the id must be a number, in digits"),
        (built(Item("1", "")), "item '1': the text is empty"),
        (built(Item("1", "a", "done")), "item '1': status 'done' is unknown"),  # type: ignore[arg-type]
        (built(Item("1", "a", phase="Build")), "item '1': phase 'Build' is not one of the plan's"),
        (built(Item("1", "a", parent="2")), "item '1': parent '2' does not exist"),
        (built(Item("1", "a", needs=("2",))), "item '1': it needs '2', which does not exist"),
        (built(Item("1", "a", closed=Closing("user", ""))), "item '1': it is open, but someone closed it"),
        (
            built(Item("1", "a", phase="B"), Item("2", "b", phase="A"), phases=("A", "B")),
            "items are not in the order of their phases",
        ),
        (
            built(Item("1", "a", needs=("2",)), Item("2", "b", needs=("1",))),
            "these items wait for each other: 1 → 2 → 1",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_in_the_build_of_a_plan_is_named(plan: Plan, fault: str) -> None:
    assert problems(plan) == [fault]


def test_all_faults_are_named_together() -> None:
    assert len(problems(built(Item("x", "", "done", phase="P", parent="8", needs=("9",))))) == 6  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "items",
    [
        (Item("1", "a", parent="1"),),
        (Item("1", "a", parent="2"), Item("2", "b", parent="1")),
    ],
)
def test_items_that_are_parts_of_each_other_are_a_fault(items: tuple[Item, ...]) -> None:
    assert problems(built(*items)) != []


@pytest.mark.parametrize("phases", [("",), ("Build", "Build")])
def test_a_phase_without_a_name_of_its_own_is_a_fault(phases: tuple[str, ...]) -> None:
    assert problems(built(phases=phases)) != []


def test_an_id_of_thousands_of_digits_is_a_fault_like_any_other() -> None:
    assert len(problems(built(Item("9" * 5000, "a")))) == 1

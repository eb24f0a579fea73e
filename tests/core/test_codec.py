"""Plans as JSON: the canonical form, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from punchlist.core import ops
from punchlist.core.codec import change_from_json, change_to_json, from_json, to_json
from punchlist.core.diff import diff
from punchlist.core.errors import BadShape
from punchlist.core.model import BLOCKED, DONE, Closing, Item, Pause, Plan
from tests.core.plans import HOSTILE, any_json, often, plan_of, plans, wild_text

FULL = Plan(
    id="abc",
    title="Release",
    revision=7,
    mode="plan",
    paused=Pause("lunch", "noon", "2", 3, "eleven"),
    phases=("Build", "Ship"),
    items=(
        Item(
            "2",
            "Run the tests",
            DONE,
            active="Running the tests",
            phase="Build",
            notes=("green",),
            priority="high",
            owner="helper",
            check={"run": "make test"},
            evidence=({"exit": 0},),
            calls=({"id": "c1"},),
            closed=Closing("user", "noon"),
            extra={"id": "x"},
        ),
        Item("3", "Ship", phase="Ship", parent="2", needs=("2",)),
    ),
    last_id=5,
    removed=("old thing",),
)


def faults(data: object) -> list[str]:
    with pytest.raises(BadShape) as refused:
        from_json(data)
    return list(refused.value.problems)


def test_the_canonical_form_holds_everything() -> None:
    assert to_json(FULL) == {
        "id": "abc",
        "title": "Release",
        "revision": 7,
        "mode": "plan",
        "paused": {"reason": "lunch", "at": "noon", "item": "2", "attempts": 3, "last_prompt_at": "eleven"},
        "phases": ["Build", "Ship"],
        "items": [
            {
                "id": "2",
                "text": "Run the tests",
                "status": "completed",
                "active": "Running the tests",
                "phase": "Build",
                "notes": ["green"],
                "priority": "high",
                "owner": "helper",
                "check": {"run": "make test"},
                "evidence": [{"exit": 0}],
                "calls": [{"id": "c1"}],
                "closed": {"by": "user", "at": "noon"},
                "extra": {"id": "x"},
            },
            {"id": "3", "text": "Ship", "status": "pending", "phase": "Ship", "parent": "2", "needs": ["2"]},
        ],
        "last_id": 5,
        "removed": ["old thing"],
    }


def test_what_is_absent_has_its_default() -> None:
    assert to_json(Plan()) == {"revision": 0, "items": []}
    assert from_json({}) == Plan()
    assert from_json({"items": [{"id": "1", "text": "a"}]}) == plan_of("a")


def test_the_form_survives_text() -> None:
    for ascii_only in (True, False):
        assert from_json(json.loads(json.dumps(to_json(FULL), ensure_ascii=ascii_only))) == FULL


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_carried_as_it_is(text: str) -> None:
    plan = ops.note(plan_of(text.strip(), phase=text), "1", text)._replace(title=text)
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan


@often(80)
@given(plans())
def test_any_plan_survives_text(plan: Plan) -> None:
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan


@often(80)
@given(wild_text, any_json)
def test_any_characters_survive_text(text: str, data: Any) -> None:
    item = Item("1", text or "x", BLOCKED, text, text, notes=(text,), reason=text, extra={text: data})
    plan = Plan(title=text, paused=Pause(text or "x"), phases=(text or "x",), items=(item,), last_id=1)
    plan = plan._replace(items=(item._replace(phase=plan.phases[0]),))
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan


def test_a_pause_without_a_reason_survives() -> None:
    plan = Plan(paused=Pause("", "noon"))
    assert from_json(to_json(plan)) == plan


def test_the_last_id_is_at_least_the_highest() -> None:
    assert from_json({"items": [{"id": "7", "text": "a"}], "last_id": 3}).last_id == 7


@often(30)
@given(plans(4), plans(4))
def test_any_change_survives_text(before: Plan, after: Plan) -> None:
    for change in diff(before, after):
        assert change_from_json(json.loads(json.dumps(change_to_json(change)))) == change


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (None, "the plan must be an object, not null."),
        ([], "the plan must be an object, not a list."),
        ({"items": {}}, "items must be a list, not an object."),
        ({"items": [{"text": "a"}]}, "items[0].id is missing."),
        ({"items": [{"id": "1"}]}, "items[0].text is missing."),
        ({"items": [{"id": 1, "text": "a"}]}, "items[0].id must be a string, not 1."),
        ({"items": [{"id": "1", "text": ""}]}, "items[0].text must not be empty."),
        ({"items": [{"id": "1", "text": "a", "notes": "x"}]}, "items[0].notes must be a list, not 'x'."),
        ({"items": [{"id": "1", "text": "a", "evidence": [1]}]}, "items[0].evidence[0] must be an object, not 1."),
        ({"items": [{"id": "1", "text": "a", "closed": None}]}, "items[0].closed must be an object, not null."),
        ({"mode": "fast"}, "mode must be one of 'act', 'plan', 'quiet', not 'fast'."),
        ({"paused": {}}, "paused.reason is missing."),
        ({"paused": {"reason": "x", "attempts": "3"}}, "paused.attempts must be a whole number, not '3'."),
        ({"revision": True}, "revision must be a whole number, not true."),
        ({"phases": [1]}, "phases[0] must be a string, not 1."),
    ],
)
def test_a_document_of_the_wrong_form_is_refused_with_its_path(data: object, fault: str) -> None:
    assert faults(data) == [fault]


@pytest.mark.parametrize("where", ["top", "item", "paused", "closed"])
def test_an_unknown_key_is_refused_by_name(where: str) -> None:
    document: dict[str, Any] = {
        "items": [{"id": "1", "text": "a", "status": "completed", "closed": {"by": "user"}}],
        "paused": {"reason": "x"},
    }
    at = {
        "top": document,
        "item": document["items"][0],
        "paused": document["paused"],
        "closed": document["items"][0]["closed"],
    }
    assert from_json(document).items[0].closed == Closing("user", "")
    at[where]["colour"] = "red"
    (fault,) = faults(document)
    assert "colour is not a key; the keys are" in fault


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ([{"id": "1", "text": "a"}, {"id": "1", "text": "b"}], "two items have the id '1'."),
        ([{"id": "x", "text": "a"}], "item 'x': the id must be a number, in digits."),
        ([{"id": "1", "text": "a", "parent": "2"}], "item '1': parent '2' does not exist."),
        ([{"id": "1", "text": "a", "needs": ["1"]}], "these items wait for each other: 1 → 1."),
        ([{"id": "1", "text": "a", "phase": "B"}], "item '1': phase 'B' is not one of the plan's."),
    ],
)
def test_a_document_that_makes_no_plan_is_refused(items: list[Any], fault: str) -> None:
    assert faults({"items": items}) == [fault]


@pytest.mark.parametrize("digits", [19, 5000])
def test_an_id_of_very_many_digits_is_refused(digits: int) -> None:
    assert len(faults({"items": [{"id": "9" * digits, "text": "a"}]})) == 1


def test_all_faults_are_refused_together() -> None:
    assert len(faults({"mode": 1, "items": [{"id": 1}, 2]})) == 4


def test_a_refusal_of_hostile_words_is_harmless() -> None:
    (fault,) = faults({"items": [{"id": "1", "text": "a", "phase": "\x1b[2J\u202e"}]})
    assert fault.isprintable()

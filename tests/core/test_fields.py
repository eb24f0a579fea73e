"""Every field of an item survives: the table of fields is complete, and each row is proved by a value of its kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from punchlist.core.codec import ITEM_SCHEMA, change_from_json, change_to_json, from_json, to_json
from punchlist.core.diff import apply, diff, undo
from punchlist.core.markdown import read_document, write_document
from punchlist.core.merge import merge
from punchlist.core.model import DONE, FIELDS, Closing, Item, Plan

# A value for each kind of field, other than the default; items 1, 2 and 3 exist.
VALUES: dict[str, Any] = {
    "text": "Other words",
    "words": "1",
    "status": DONE,
    "ids": ("1", "3"),
    "texts": ("a note", "another\nwith two lines"),
    "objects": ({"exit": 0}, {"deep": [1, None, {}]}),
    "check": {"run": "make test", "scope": ["src/**"]},
    "object": {"from": ["a", {"dialect": True}]},
    "closing": Closing("user", "2026-01-01T00:00:00Z"),
}
NAMES = [name for name in FIELDS if name != "id"]
BASE = Plan(phases=("1",), items=(Item("1", "One"), Item("3", "Three"), Item("2", "Two")), last_id=3)


def changed(name: str) -> Plan:
    """A plan whose last item has a value in this field."""
    value = VALUES[FIELDS[name].kind]
    item = BASE.items[2]._replace(**{name: value})
    if name == "closed":
        item = item._replace(status=DONE)  # only what is closed was closed by somebody
    return BASE._replace(items=(*BASE.items[:2], item))


def test_the_table_of_fields_has_a_row_for_every_field() -> None:
    assert list(FIELDS) == list(Item._fields), "FIELDS in core/model.py needs a row for each field, in the same order"
    derived = ["grade", "looks_done"]  # what is shown of an item, and passed over when it is read
    assert list(ITEM_SCHEMA["properties"]) == [*Item._fields, *derived]


@pytest.mark.parametrize("name", NAMES)
def test_a_field_survives_json(name: str) -> None:
    plan = changed(name)
    assert plan.items[2] != BASE.items[2]
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan


@pytest.mark.parametrize("name", NAMES)
def test_a_field_survives_markdown(name: str) -> None:
    plan = changed(name)
    assert read_document(write_document(plan), plan) == plan


@pytest.mark.parametrize("name", NAMES)
def test_a_field_survives_history_and_undo(name: str) -> None:
    plan = changed(name)
    changes = diff(BASE, plan)
    kept = [change_from_json(json.loads(json.dumps(change_to_json(change)))) for change in changes]
    assert apply(BASE, kept) == plan
    assert undo(plan, kept) == BASE


def statement(name: str) -> str:
    return FIELDS[name].merge or name


APART = [(a, b) for a in NAMES for b in NAMES if statement(a) != statement(b) and "closed" not in (a, b)]


@pytest.mark.parametrize(("name", "other"), APART)
def test_a_field_survives_a_merge_with_another_field_of_the_same_item(name: str, other: str) -> None:
    mine, now = changed(name), changed(other)
    for wins in (False, True):
        got = merge(BASE, mine, now, mine_wins=wins).plan.items[2]
        assert getattr(got, name) == getattr(mine.items[2], name)
        assert getattr(got, other) == getattr(now.items[2], other)


@pytest.mark.parametrize("name", NAMES)
def test_a_field_survives_a_merge_with_what_others_added(name: str) -> None:
    now = BASE._replace(items=(*BASE.items, Item("4", "Four")), last_id=4)
    for mine, theirs in ((changed(name), now), (now, changed(name))):
        items = {item.id: item for item in merge(BASE, mine, theirs).plan.items}
        assert items["2"] == changed(name).items[2]
        assert "4" in items

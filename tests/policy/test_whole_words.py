"""The user's words reach the model as they were typed, in updates, nudges and a plan that is told again."""

from __future__ import annotations

import pytest

from punchlist import ops
from punchlist.desk.nudges import turn_ended
from punchlist.policy.continuation import TurnEnd
from tests.policy.desks import desk, planned
from tests.policy.told import attached, started

LONG = ("Reject rows that have more columns than the header, and log each with its line number. " * 6)[:499] + "."
LONGER = LONG + " And what stands behind that."


@pytest.mark.parametrize("ids", [True, False])
def test_what_the_user_adds_renames_notes_and_blocks_is_told_whole(ids: bool) -> None:
    at = desk()
    at.call("plan", {"add": ["Read"]})
    at.change(lambda plan: ops.add(plan, LONG))
    at.change(lambda plan: ops.note(plan, "1", LONG[::-1]))
    at.change(lambda plan: ops.block(plan, "2", why=LONG.upper()))
    told = "\n".join(at.take_updates(ids=ids))
    assert f'"{LONG}"' in told
    assert f'"{LONG[::-1]}"' in told
    assert f'"{LONG.upper()}"' in told
    at.change(lambda plan: ops.rename(plan, "1", LONG.lower()))
    assert f'to "{LONG.lower()}".' in at.take_updates(ids=ids)[0]


def test_beyond_five_hundred_characters_a_mark_says_that_something_is_left_out() -> None:
    at = desk()
    at.call("plan", {"add": ["Read"]})
    at.change(lambda plan: ops.add(plan, LONGER))
    (told,) = at.take_updates()
    assert told.endswith('…".')
    assert LONG[:490] in told


def test_a_nudge_names_the_user_s_item_whole() -> None:
    at = desk()
    at.change(lambda plan: ops.add(plan, LONG))
    at.call("plan", {"start": [1]})
    assert f'now 1 "{LONG}" (0/1)' in turn_ended(at, TurnEnd(said="So far.")).text


def test_a_plan_that_is_told_again_has_its_items_whole_and_the_notes_of_the_active_one() -> None:
    at = desk()
    at.change(lambda plan: ops.add(ops.add(plan, LONG), "Write"))
    at.change(lambda plan: ops.note(ops.note(plan, "1", "Ask Ann first."), "2", "Later."))
    at.call("plan", {"start": [1]})
    told = started(at, "compact")[0]
    assert f'- now 1 {LONG}\n  note: "Ask Ann first."\n- 2 Write\n' in told
    assert "Later." not in told


@pytest.mark.parametrize("dialect", ["claude-code", "gencode", "oh-my-pi", "llxprt", "native"])
def test_the_notes_of_the_active_item_come_back_after_a_compaction(dialect: str) -> None:
    at = planned(dialect)
    at.change(lambda plan: ops.note(ops.note(plan, "2", "Ask Ann first."), "3", "Later."))
    at.take_updates()
    told = "\n".join(one.text for one in attached(at, "compact"))
    assert "Ask Ann first." in told
    assert "Later." not in told

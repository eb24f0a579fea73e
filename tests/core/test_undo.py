"""What of a history can be undone, and what still fits together of one with gaps."""

from __future__ import annotations

import pytest

from punchlist import Desk, MemoryStore, Plan, Refused, ops
from punchlist.core.diff import Record
from punchlist.core.undo import leading_to, redoable, undoable


def lines(*kinds: str) -> list[Record]:
    return [Record(number, "noon", "user", kind=kind) for number, kind in enumerate(kinds, 1)]


def revision(record: Record | None) -> int | None:
    return record.revision if record else None


@pytest.mark.parametrize(
    ("kinds", "back", "forth"),
    [
        ((), None, None),
        (("edit", "edit"), 2, None),
        (("edit", "edit", "undo"), 1, 2),
        (("edit", "edit", "undo", "undo"), None, 1),
        (("edit", "edit", "undo", "redo"), 2, None),
        (("edit", "undo", "edit"), 3, None),
        (("undo", "edit"), 2, None),
        (("undo", "redo"), None, None),  # what they spoke of was trimmed
    ],
)
def test_undo_and_redo_find_their_change(kinds: tuple[str, ...], back: int | None, forth: int | None) -> None:
    records = lines(*kinds)
    assert (revision(undoable(records)), revision(redoable(records))) == (back, forth)


def test_records_written_since_a_look_do_not_count() -> None:
    assert [record.revision for record in leading_to(lines("edit", "edit", "edit"), 2)] == [1, 2]


def test_records_before_a_gap_do_not_count() -> None:
    records = lines("edit", "edit", "edit", "edit")
    del records[1]
    assert [record.revision for record in leading_to(records, 4)] == [3, 4]


def test_a_restore_of_what_is_there_already_leaves_redo_as_it_was() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.change(lambda plan: ops.add(plan, "a"))
    desk.change(lambda plan: ops.add(plan, "b"))
    desk.change(lambda plan: ops.remove(plan, "2"))
    desk.undo()
    desk.undo()
    assert desk.restore(1).plan == desk.plan  # what was removed once is remembered, and not seen
    assert desk.plan.revision == 5
    assert [item.text for item in desk.redo().plan.items] == ["a", "b"]
    desk.restore(1)
    with pytest.raises(Refused, match="there is nothing to redo"):
        desk.redo()


def test_what_was_trimmed_can_be_neither_seen_nor_undone() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.change(lambda plan: ops.add(plan, "a"))
    desk._seat.store.trim("9999")
    with pytest.raises(Refused, match="revision 0 was trimmed; the oldest that is kept is 1"):
        desk.at(0)
    with pytest.raises(Refused, match="there is nothing to undo"):
        desk.undo()


def test_two_undos_keep_the_protection_of_the_first() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.call("plan", {"add": ["A", "B"]})
    desk.change(lambda plan: ops.remove(plan, "2"))
    desk.call("plan", {"add": ["C"]})
    desk.undo()
    assert "c" in desk.undo().plan.removed
    assert "was removed by the user" in desk.call("plan", {"add": ["C"]}).text


def test_a_record_of_calls_stands_for_those_right_before_it_that_were_dropped() -> None:
    records = lines("edit", "edit", "calls", "calls", "calls", "edit")
    del records[2:4]
    assert [record.revision for record in leading_to(records, 6)] == [1, 2, 5, 6]
    assert [record.revision for record in leading_to(records, 5)] == [1, 2, 5]
    del records[1]
    assert [record.revision for record in leading_to(records[1:], 6)] == [5, 6]


@pytest.mark.parametrize(("source", "target"), [("", "b"), ("a", ""), ("a", "a")])
def test_carry_needs_two_sessions(source: str, target: str) -> None:
    desk = Desk(MemoryStore(), session="a")
    desk.change(lambda plan: ops.add(plan, "x"))
    with pytest.raises(Refused, match="carry needs two sessions"):
        desk.carry(source, target)
    assert Desk(desk._seat.store, session="b").plan == Plan()

"""One door: whatever somebody else does meanwhile, a change says what it did, and nothing invalid is saved."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

import punchlist
from punchlist import BadShape, Desk, MemoryStore, Plan, Refused, ops
from punchlist.cli.agent import slash
from punchlist.core.render import UNICODE
from punchlist.stores import Commit


class Racing(MemoryStore):
    """A store in which somebody else writes just before the next save."""

    meanwhile: Callable[[], object] | None = None

    def save(self, commit: Commit) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        super().save(commit)


def racing() -> tuple[Racing, Desk, Desk]:
    store = Racing()
    mine, theirs = Desk(store, session="s"), Desk(store, session="s")
    mine.call("plan", {"add": ["Read", "Write"]})
    return store, mine, theirs


def test_a_change_returns_what_it_did_and_not_what_others_did_meanwhile() -> None:
    store, mine, theirs = racing()
    store.meanwhile = lambda: theirs.change(lambda plan: ops.note(plan, "2", "by hand"))
    changed = mine.change(lambda plan: ops.complete(plan, "1"))
    assert changed.before.items[1].notes == ("by hand",), "it was applied to what the other one had saved"
    assert [(one.kind, one.id) for one in changed.changes] == [("changed", "1")]
    assert changed.plan == mine.load() == theirs.load()


def test_an_undo_tells_what_it_took_back_when_somebody_writes_at_the_same_moment() -> None:
    store, mine, theirs = racing()
    mine.change(lambda plan: ops.complete(plan, "1"))
    store.meanwhile = lambda: theirs.change(lambda plan: ops.note(plan, "2", "by hand"))
    changed = mine.undo()
    assert [(one.id, one.before.notes, one.after.notes) for one in changed.changes] == [("2", ("by hand",), ())]


def test_a_slash_command_tells_only_what_it_did_itself() -> None:
    store, mine, theirs = racing()
    store.meanwhile = lambda: theirs.change(lambda plan: ops.note(plan, "2", "by hand"))
    lines = slash.run_command(mine, "/todo done 1", 80, UNICODE)
    said = "\n".join("".join(span.text for span in line) for line in lines)
    assert "Read" in said
    assert "by hand" not in said


def test_a_change_that_changes_nothing_says_so() -> None:
    _, mine, _ = racing()
    plan = mine.load()
    assert mine.change(lambda plan: plan) == punchlist.Changed(plan, plan, ())


def test_a_call_on_a_plan_that_the_desk_remembers_sees_what_others_added_since() -> None:
    _, mine, theirs = racing()
    theirs.change(lambda plan: ops.add(plan, "Test"))
    assert not mine.call("plan", {"start": [3]}).is_error
    assert mine.load().items[2].status == "in_progress"


def test_a_call_that_is_refused_is_refused_on_the_plan_as_it_is_now() -> None:
    _, mine, theirs = racing()
    theirs.change(lambda plan: ops.remove(plan, "2"))
    reply = mine.call("plan", {"start": [2]})
    assert reply.is_error
    assert any('removed 2 "Write"' in line for line in reply.updates)


def test_a_second_session_is_noticed_by_a_desk_that_is_open_for_long() -> None:
    _, mine, theirs = racing()
    assert not mine._seat.is_shared
    theirs.bind("another")
    other = Desk(mine._seat.store, session="another")
    other.call("plan", {"start": [2]})
    mine.load()
    assert mine._seat.is_shared


def of_first(**fields: Any) -> Callable[[Plan], Plan]:
    return lambda plan: ops.put(plan, plan.items[0]._replace(**fields))


@pytest.mark.parametrize(
    "edit",
    [
        of_first(status="done"),
        of_first(owner=3),
        of_first(needs=[2]),
        of_first(text=5),
        of_first(notes="a note"),
        lambda plan: plan._replace(items=(*plan.items, punchlist.Item(3, "three")), last_id=3),  # type: ignore[arg-type]
        lambda plan: plan._replace(mode="fast"),
        lambda plan: plan._replace(title="t", last_id="x"),
        lambda plan: None,
    ],
)
def test_what_is_not_valid_is_refused_and_never_saved(edit: Any) -> None:
    _, mine, _ = racing()
    before = mine.load()
    with pytest.raises(BadShape):
        mine.change(edit)
    assert mine.load() == before


@pytest.mark.parametrize("swallows", [False, True])
def test_an_edit_that_calls_its_own_desk_is_refused_at_once_and_nothing_is_saved(swallows: bool) -> None:
    _, mine, _ = racing()
    before = mine.load()
    edits = []

    def edit(plan: Plan) -> Plan:
        edits.append(plan)
        try:
            mine.call("plan", {"add": ["nested"]})
        except Refused:
            if not swallows:
                raise
        return ops.remove(plan, "1")

    with pytest.raises(Refused, match="an edit must not call the desk it is made with"):
        mine.change(edit)
    assert len(edits) == 1
    assert mine.load() == before
    assert mine.change(lambda plan: ops.complete(plan, "1")).plan.progress.completed == 1


def test_an_edit_does_not_keep_other_threads_and_desks_from_saving() -> None:
    _, mine, theirs = racing()
    others = [Thread(target=mine.call, args=("plan", {"add": ["by a thread"]}))]

    def edit(plan: Plan) -> Plan:
        if others:
            other = others.pop()
            other.start()
            other.join()
            theirs.call("plan", {"add": ["by another desk"]})
        return ops.complete(plan, "1")

    mine.change(edit)
    items = [(item.text, item.is_closed) for item in mine.load().items]
    assert items == [("Read", True), ("Write", False), ("by a thread", False), ("by another desk", False)]


def test_an_integer_is_understood_as_an_id() -> None:
    _, mine, _ = racing()
    assert mine.change(lambda plan: ops.complete(plan, 1)).plan.items[0].status == "completed"


def test_a_plan_in_the_place_of_a_function_is_refused_with_an_example() -> None:
    _, mine, _ = racing()
    with pytest.raises(BadShape, match=r"change takes a function .* not Plan: desk\.change\(lambda plan"):
        mine.change(mine.load())  # type: ignore[arg-type]


def test_whoever_makes_a_change_has_a_name() -> None:
    _, mine, _ = racing()
    with pytest.raises(BadShape, match="by must be the name"):
        mine.change(lambda plan: ops.complete(plan, "1"), by=3)  # type: ignore[arg-type]
    with pytest.raises(BadShape, match="session must be a string"):
        Desk(MemoryStore(), session=7)  # type: ignore[arg-type]


def test_a_desk_shows_where_it_is() -> None:
    _, mine, _ = racing()
    plan = mine.load()
    assert repr(mine) == f"<Desk session='s' agent='main' dialect='native' plan='{plan.id}' revision=1 in Racing>"

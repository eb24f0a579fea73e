"""What `native` answers, beside the vectors."""

from __future__ import annotations

from punchlist import Desk, MemoryStore, ops
from punchlist.settings import Settings, load

LONG = (
    "Reject rows that have more columns than the header, log each of them with its line number, and go on with the rest"
)


def test_the_user_s_words_are_whole_when_they_become_current_and_cut_afterwards() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.call("plan", {"add": [{"text": "Read the file"}]})
    desk.change(lambda plan: ops.add(plan, LONG))
    assert desk.call("plan", {"done": [1]}).text.splitlines()[0] == f"now 2 {LONG} (1/2)"
    assert desk.call("plan", {"show": False}).text == f"now 2 {LONG[:59].rstrip()}… (1/2)"


def test_the_user_s_new_words_for_an_item_of_the_model_are_whole_when_they_become_current() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.call("plan", {"add": [{"text": "Read the file"}, {"text": "Check the rows"}]})
    desk.change(lambda plan: ops.rename(plan, "2", LONG))
    assert desk.call("plan", {"done": [1]}).text.splitlines()[0] == f"now 2 {LONG} (1/2)"


def test_the_model_s_own_words_are_cut_at_60_characters() -> None:
    desk = Desk(MemoryStore(), session="s")
    reply = desk.call("plan", {"add": [{"text": LONG}]})
    assert reply.text == f"added 1; now 1 {LONG[:59].rstrip()}… (0/1)"


def test_very_long_words_of_the_user_are_cut_at_500_characters() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.call("plan", {"add": [{"text": "a"}]})
    desk.change(lambda plan: ops.add(plan, "x" * 600))
    assert desk.call("plan", {"done": [1]}).text.splitlines()[0] == f"now 2 {'x' * 499}… (1/2)"


def test_an_item_that_was_cleared_from_sight_does_not_disturb_a_call() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="oh-my-pi", settings=_clearing())
    desk.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["a", "b", "c"]}]}]})
    desk.call("todo_write", {"ops": [{"op": "done", "task": "a"}]})
    desk.change(lambda plan: ops.rename(plan, "2", "B"))
    reply = desk.call("todo_write", {"ops": [{"op": "done", "task": "b"}]})
    assert not reply.is_error
    assert [item.text for item in desk.plan.open_items] == ["c"]


def _clearing() -> Settings:
    """Closed items leave the list at once."""
    return load({"clear_delay": 0}, environ={})

"""What `native` answers, beside the vectors."""

from __future__ import annotations

from punchlist import Desk, MemoryStore, ops
from punchlist.core.diff import Record
from punchlist.local.settings import Settings, load

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


def test_long_words_of_the_user_are_whole_whenever_and_wherever_they_were_given() -> None:
    store = MemoryStore()
    desk, other = Desk(store, session="s"), Desk(store, session="s")
    desk.call("plan", {"add": [{"text": LONG}, {"text": "b"}, {"text": "c"}]})
    other.change(lambda plan: ops.rename(plan, "2", LONG + "!"))
    assert desk.call("plan", {"done": [1]}).text.splitlines()[0] == f"now 2 {LONG}! (1/3)"
    other.change(lambda plan: ops.rename(plan, "3", LONG + "?"))
    assert desk.call("plan", {"done": [2]}).text.splitlines()[0] == f"now 3 {LONG}? (2/3)"


def test_words_that_the_model_put_in_the_place_of_the_user_s_are_cut() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.call("plan", {"add": [{"text": "a"}]})
    desk.change(lambda plan: ops.add(plan, LONG))
    desk.call("plan", {"show": True})
    desk.call("plan", {"edit": [{"id": 2, "text": f"First {LONG}"}]})
    assert desk.call("plan", {"done": [1]}).text == f"now 2 First {LONG[:53].rstrip()}… (1/2)"


def test_starting_an_item_with_long_words_reads_no_more_of_a_long_history() -> None:
    store = CountingStore()
    desk = Desk(store, session="s")
    desk.call("plan", {"add": [{"text": LONG}, {"text": f"Then {LONG}"}]})
    for id in [1, 2] * 20:
        desk.call("plan", {"start": [id]})
    store.read = 0
    desk.call("plan", {"start": [1]})
    assert store.read == 0


class CountingStore(MemoryStore):
    """A store that counts the records that are read."""

    read = 0

    def history(self, plan: str, after: int = 0, by: str = "") -> list[Record]:
        found = super().history(plan, after, by)
        self.read += len(super().history(plan, after))
        return found


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

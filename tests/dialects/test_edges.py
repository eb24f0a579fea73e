"""Edges of the seed dialects that the vectors cannot show: who may call, what is logged, who listens."""

from __future__ import annotations

import pytest

from punchlist import Desk, MemoryStore, ops
from punchlist.core.model import Pause
from punchlist.core.sentences import describe
from punchlist.desk.events import read_events
from punchlist.desk.session_state import load_state
from punchlist.local.settings import load
from punchlist.stores import PlanKey

REASON = "The configuration file is missing and only the user can provide it"


@pytest.mark.parametrize(("args", "kind"), [([], "a list"), (None, "null")])
def test_arguments_that_are_no_object_are_named_as_the_arguments(args: object, kind: str) -> None:
    reply = Desk(MemoryStore(), session="s", dialect="llxprt").call("todo_write", args)
    assert reply.text.startswith(f"Invalid todo data: arguments: must be an object, not {kind}")


def test_a_sub_agent_that_may_not_call_the_tool_is_not_asked_to_repeat_the_call() -> None:
    store = MemoryStore()
    main = Desk(store, session="s", dialect="oh-my-pi")
    main.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "A", "items": ["a"]}]}]})
    sub = Desk(store, session="s", agent="sub", plan=store.find(PlanKey(session="s", agent="main")), dialect="oh-my-pi")
    assert sub.call("todo_write", {"ops": [{"op": "done"}]}).is_error
    assert not load_state(sub).failed
    assert main.call("todo_write", {"ops": [{"op": "done", "task": "b"}]}).is_error
    assert load_state(main).failed


def test_a_listener_that_raises_makes_the_pause_fail_in_the_words_of_the_dialect() -> None:
    def listener(pause: Pause) -> None:
        raise RuntimeError("no bell")

    desk = Desk(MemoryStore(), session="s", dialect="llxprt")
    desk.call("todo_write", {"todos": [{"content": "a", "status": "in_progress"}]})
    desk.on_pause(listener)
    reply = desk.call("todo_pause", {"reason": REASON}, continuing=True)
    assert (reply.text, reply.is_error) == ("Failed to pause task: no bell", True)


def test_the_events_of_a_memory_store_hold_pauses() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="llxprt")
    desk.call("todo_write", {"todos": [{"content": "a", "status": "in_progress"}]})
    desk.call("todo_pause", {"reason": REASON}, continuing=True)
    desk.change(ops.resume)
    found = [(event["kind"], event.get("reason")) for event in read_events(desk)]
    assert [pair for pair in found if pair[0] in ("pause", "resume")] == [("pause", REASON), ("resume", None)]


def test_what_an_agent_clears_is_not_called_removed() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="oh-my-pi", settings=load({"clear_delay": 0}, environ={}))
    desk.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "A", "items": ["a", "b"]}]}]})
    desk.call("todo_write", {"ops": [{"op": "done", "task": "a"}]})
    desk.call("todo_write", {"ops": [{"op": "note", "task": "b", "text": "x"}]})
    said = [line for record in desk.history() for line in describe(record.changes, desk.plan, by=record.by)]
    assert 'cleared 1 "a".' in said
    assert [line for line in said if line.startswith("removed")] == []


def test_clear_takes_everything_off_and_is_told_in_one_sentence() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="gencode")
    todos = [{"content": text, "status": "pending", "activeForm": text} for text in ("a", "b", "c")]
    desk.call("TodoWrite", {"todos": todos})
    assert desk.clear().plan.items == ()
    assert desk.take_updates() == ["the user cleared the list."]
    assert desk.undo().plan.open_items != ()
    assert [item.text for item in desk.plan.items] == ["a", "b", "c"]


def test_after_a_clear_the_same_words_can_be_added_again() -> None:
    desk = Desk(MemoryStore(), session="s")
    desk.call("plan", {"add": [{"text": "Run the tests"}]})
    desk.change(lambda plan: ops.remove(plan, "1"))
    desk.clear()
    desk.call("plan", {"add": [{"text": "Ship"}]})
    desk.clear()
    desk.call("plan", {"add": [{"text": "Ship"}, {"text": "Run the tests"}]})
    assert [item.text for item in desk.plan.items] == ["Ship", "Run the tests"]

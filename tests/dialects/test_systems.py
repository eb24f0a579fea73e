"""What the documents ask of their lists beside the tools: queries, odd cases, and a way to test without an agent."""

from __future__ import annotations

from punchlist import Desk, MemoryStore, PauseRecorder, Plan

TODOS = [
    {"content": "Read", "status": "completed", "activeForm": "Reading"},
    {"content": "Write", "status": "in_progress", "activeForm": "Writing"},
    {"content": "Test", "status": "pending", "activeForm": "Testing"},
]
REASON = "The certificate in certs/ has expired"


def test_progress_is_counted_and_its_percentage_is_rounded_half_up() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="gencode")
    assert desk.plan.progress == (0, 0, 0)
    desk.call("TodoWrite", {"todos": TODOS})
    assert desk.plan.progress == (1, 3, 33)
    eight = [{**TODOS[0], "content": "1"}, *({**TODOS[2], "content": str(number)} for number in range(2, 9))]
    desk.call("TodoWrite", {"todos": eight})
    assert desk.plan.progress == (1, 8, 13)


def test_the_active_item_or_none_can_be_asked_for() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="gencode")
    assert desk.plan.active is None
    desk.call("TodoWrite", {"todos": TODOS})
    active = desk.plan.active
    assert active is not None
    assert (active.text, active.active) == ("Write", "Writing")


def test_a_plan_that_was_given_out_does_not_change_with_the_list() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="gencode")
    desk.call("TodoWrite", {"todos": TODOS})
    before: Plan = desk.plan
    desk.call("TodoWrite", {"todos": []})
    assert [item.text for item in before.items] == ["Read", "Write", "Test"]
    assert desk.plan.items == ()


def test_an_empty_phase_name_is_an_error_of_its_own() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="oh-my-pi")
    desk.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["Compile"]}]}]})
    reply = desk.call("todo_write", {"ops": [{"op": "done", "phase": ""}]})
    assert reply.is_error
    assert reply.details["errors"] == ["Missing phase name"]


class _Unreadable(str):
    def strip(self, chars: str | None = None, /) -> str:
        raise RuntimeError("no")


def test_a_check_of_a_pause_that_breaks_says_so() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="llxprt")
    reply = desk.call("todo_pause", {"reason": _Unreadable(REASON)}, continuing=True)
    assert reply.is_error
    assert "Unable to validate pause reason. Please try again." in reply.text
    assert desk.plan.paused is None


def test_a_desk_in_memory_and_a_recorder_are_all_that_a_test_of_a_pause_needs() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="llxprt")
    recorder = PauseRecorder()
    desk.on_pause(recorder)
    desk.call("todo_write", {"todos": [{"id": "a", "content": "Deploy", "status": "in_progress"}]})
    reply = desk.call("todo_pause", {"reason": REASON}, continuing=True)
    assert reply.details["type"] == "pause"
    assert [pause.reason for pause in recorder.pauses] == [REASON]

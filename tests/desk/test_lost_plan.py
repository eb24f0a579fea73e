"""A conversation that was compacted, cut or begun again is told the plan; one that shows it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from punchlist import Desk, MemoryStore, ops
from punchlist.desk.lost_plan import hear
from punchlist.dialects import PATHS

ASKED = {"role": "user", "content": "Fix the parser."}


def planned(*texts: str) -> tuple[MemoryStore, Desk]:
    store = MemoryStore()
    desk = Desk(store, session="s1")
    desk.call("plan", {"add": list(texts)})
    return store, desk


def conversation(*texts: str) -> list[Any]:
    call = {"type": "tool_use", "id": "1", "name": "plan", "input": {"add": list(texts)}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "added"}
    return [ASKED, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def told(desk: Desk, messages: list[Any]) -> str:
    found = desk.before_request(messages)
    messages += found
    return "\n".join(one["content"] for one in found)


def test_a_program_that_starts_again_with_an_empty_conversation_is_told_the_plan_once() -> None:
    store, _ = planned("Read the parser", "Run the tests")
    again = Desk(store, session="s1")
    messages: list[Any] = [ASKED]
    words = told(again, messages)
    assert "Read the parser" in words
    assert "Run the tests" in words
    assert told(again, messages) == ""


def test_a_program_that_starts_again_with_its_conversation_is_told_nothing() -> None:
    store, _ = planned("Read the parser", "Run the tests")
    assert told(Desk(store, session="s1"), conversation("Read the parser", "Run the tests")) == ""


@pytest.mark.parametrize("is_ascii", [True, False])
@pytest.mark.parametrize(
    "text", ['Say "hello"', "Read C:\\x", "Größe prüfen", "日本\t🙂", "first line\nsecond line", "x" * 500]
)
def test_items_are_found_in_arguments_that_are_json_in_a_string(text: str, is_ascii: bool) -> None:
    store, _ = planned(text)
    arguments = json.dumps({"add": [text]}, ensure_ascii=is_ascii)
    call = {"id": "1", "type": "function", "function": {"name": "plan", "arguments": arguments}}
    messages = [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert told(Desk(store, session="s1"), messages) == ""


def test_a_conversation_that_was_replaced_by_a_summary_is_told_the_plan() -> None:
    _, desk = planned("Read the parser", "Run the tests")
    messages = conversation("Read the parser", "Run the tests")
    assert told(desk, messages) == ""
    summary: list[Any] = [{"role": "user", "content": "Summary: the parser was read."}, *messages[-1:]]
    assert "Run the tests" in told(desk, summary)
    assert told(desk, summary) == ""


def test_a_window_that_slides_over_the_conversation_is_told_the_plan_when_it_has_left_it() -> None:
    _, desk = planned("Read the parser", "Run the tests")
    messages = conversation("Read the parser", "Run the tests")
    work: list[Any] = [{"role": "assistant", "content": f"step {number}"} for number in range(3)]
    assert told(desk, [*messages, *work]) == ""
    assert "Run the tests" in told(desk, [ASKED, *messages[2:], *work, {"role": "assistant", "content": "more"}])


class Watched(dict[str, Any]):
    """A message that knows how often it was looked into."""

    looks = 0

    def get(self, *args: Any) -> Any:
        self.looks += 1
        return super().get(*args)


def test_of_a_conversation_that_has_grown_only_what_is_new_is_read() -> None:
    _, desk = planned("Read the parser", "Run the tests")
    messages = [Watched(one) for one in conversation("Read the parser", "Run the tests")]
    desk.before_request(messages)
    looks = [one.looks for one in messages]
    assert min(looks) > 0
    new = Watched(role="assistant", content="step")
    desk.before_request([*messages, new])
    assert [one.looks for one in messages] == looks
    assert new.looks > 0


def test_a_conversation_that_was_cut_is_counted_from_its_beginning() -> None:
    _, desk = planned("Read the parser", "Run the tests")
    messages = conversation("Read the parser", "Run the tests")
    work: list[Any] = [{"role": "assistant", "content": f"step {number}"} for number in range(9)]
    for count in range(9):
        hear(desk, [*messages, *work[:count]])
    assert hear(desk, [*messages, *work])[0].turns == 10
    assert hear(desk, [*messages, *work[5:]])[0].turns == 5
    assert hear(desk, [*messages, *work[5:], ASKED])[0].turns == 5


def test_what_is_closed_is_not_missed() -> None:
    store, desk = planned("Read the parser", "Run the tests")
    desk.call("plan", {"done": [1, 2]})
    assert told(Desk(store, session="s1"), [ASKED]) == ""


def test_an_edit_is_told_with_the_list_and_once() -> None:
    store, desk = planned("Read the parser", "Run the tests")
    desk.change(lambda plan: ops.note(plan, "2", "use -x"))
    again = Desk(store, session="s1")
    messages: list[Any] = [ASKED]
    words = told(again, messages)
    assert words.count("use -x") == 1
    assert told(again, messages) == ""


def test_wait_holds_for_a_program_that_starts_again() -> None:
    store, _ = planned("Read the parser")
    again = Desk(store, session="s1")
    again.prompted("Wait, do nothing yet.")
    assert "Read the parser" in told(again, [{"role": "user", "content": "Wait, do nothing yet."}])
    assert again.turn_ended(said="I am waiting.").text == ""


@pytest.mark.parametrize("dialect", PATHS)
def test_the_plan_comes_back_in_every_dialect(dialect: str) -> None:
    store, _ = planned("Read the parser", "Run the tests")
    again = Desk(store, session="s1", dialect=dialect)
    assert "Run the tests" in told(again, [ASKED])


def test_a_call_that_is_cleared_in_the_middle_of_the_conversation_is_missed() -> None:
    _, desk = planned("Read the parser", "Run the tests")
    messages = conversation("Read the parser", "Run the tests")
    messages += [{"role": "assistant", "content": f"step {number}"} for number in range(3)]
    assert told(desk, messages) == ""
    cleared = {**messages[1], "content": [{**messages[1]["content"][0], "input": {}}]}
    edited = [messages[0], cleared, *messages[2:], {"role": "assistant", "content": "more"}]
    assert "Run the tests" in told(desk, edited)
    assert told(desk, edited) == ""

"""`ScriptedModel`: it answers what its script says, and remembers what it was asked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from punchlist import BadShape
from punchlist.testing import MemoryStore, PauseRecorder, ScriptedModel
from punchlist.testing.scripted_model import ScriptedCall, ScriptedTurn, ScriptEnded

ADD = {"add": ["Run the tests"]}


@pytest.mark.parametrize(
    ("turn", "text", "calls"),
    [
        ("Hello.", "Hello.", []),
        (("plan", ADD), "", [("plan", ADD)]),
        ([("plan", ADD), ("shell", {"command": "ls"})], "", [("plan", ADD), ("shell", {"command": "ls"})]),
        (("I plan.", [("plan", ADD)]), "I plan.", [("plan", ADD)]),
        ({"text": "I plan.", "calls": [("plan", ADD)]}, "I plan.", [("plan", ADD)]),
        ({"calls": [{"name": "plan", "args": ADD}]}, "", [("plan", ADD)]),
        ({"calls": [{"name": "show"}]}, "", [("show", {})]),
        (ScriptedTurn("Hi.", (ScriptedCall("7", "plan", ADD),)), "Hi.", [("plan", ADD)]),
        (lambda messages, tools: f"{len(messages)} messages, {len(tools)} tools", "1 messages, 2 tools", []),
        (lambda messages, tools: [("plan", {"done": messages})], "", [("plan", {"done": ["hi"]})]),
        (("plan", "not an object"), "", [("plan", "not an object")]),
    ],
)
def test_a_turn_is_a_text_calls_both_or_a_function(turn: Any, text: str, calls: list[Any]) -> None:
    model = ScriptedModel([turn])
    found, made = model.request(["hi"], ["a", "b"])
    assert found == text
    assert [(one.name, one.args) for one in made] == calls
    assert len({one.id for one in made} - {""}) == len(calls)


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        (7, "turn 0 must be a text, a call, a list of calls, or a dict of both, not 7."),
        ({"texts": "Hi."}, "turn 0: 'texts' is not a key; the keys are 'text' and 'calls'."),
        ({"calls": "plan"}, "turn 0: calls must be a list, not 'plan'."),
        ([7], "call-0-0 must be a tool's name and its arguments, not 7."),
        ({"calls": [{"tool": "plan"}]}, "call-0-0 must be a tool's name and its arguments, not {'tool': 'plan'}."),
    ],
)
def test_a_turn_that_is_none_is_refused_with_what_it_should_be(turn: Any, problem: str) -> None:
    with pytest.raises(BadShape) as refusal:
        ScriptedModel([turn]).request()
    assert refusal.value.problems == (problem,)


def test_at_the_end_of_its_script_it_says_so() -> None:
    model = ScriptedModel(["Hello."])
    model.request()
    with pytest.raises(ScriptEnded, match="the script is at its end: it has 1 turns, and another was asked for"):
        model.request(["more"])
    assert [one.messages for one in model.requests] == [[], ["more"]], "what it was asked is kept all the same"


def test_what_it_was_asked_is_a_copy() -> None:
    model = ScriptedModel(["One.", "Two."])
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    model.request(messages, [{"name": "plan"}])
    messages[0]["content"] = "changed"
    messages.append({"role": "assistant", "content": "One."})
    model.request(messages)
    first, second = model.requests
    assert first == ([{"role": "user", "content": "hi"}], [{"name": "plan"}])
    assert len(second.messages) == 2


def test_threads_get_a_turn_each() -> None:
    model = ScriptedModel([str(number) for number in range(200)])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: model.request().text, range(200)))
    assert sorted(found, key=int) == [str(number) for number in range(200)]
    assert len(model.requests) == 200


def test_what_tests_need_is_in_one_place() -> None:
    assert MemoryStore().__class__.__name__ == "MemoryStore"
    assert PauseRecorder().pauses == ()

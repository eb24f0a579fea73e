"""What is said in a conversation, and its JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.agent.messages import (
    Assistant,
    Attachment,
    Call,
    Message,
    Result,
    Summary,
    Usage,
    User,
    dangling,
    from_json,
    to_json,
    turns,
)
from punchlist.core.errors import Refused
from tests.core.plans import often

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**99), 2**99) | st.text(),  # beyond that a number is refused
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=2)
CALLS = st.builds(Call, st.text(), st.text(), JSON)
COUNTS = st.integers(0, 10**6)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(User, st.text()),
    st.builds(
        Assistant,
        st.text(),
        st.lists(CALLS, max_size=3).map(tuple),
        st.builds(Usage, COUNTS, COUNTS),
        st.booleans(),
        st.dictionaries(st.text(), JSON, max_size=2),
    ),
    st.builds(Result, st.text(), st.text(), st.text(), st.booleans(), OBJECTS, OBJECTS),
    st.builds(Attachment, st.text(), st.text(), COUNTS),
    st.builds(Summary, st.text(), COUNTS),
)


@often(100)
@given(MESSAGES)
def test_a_message_comes_back_from_its_json_as_it_was(message: Message) -> None:
    assert from_json(json.loads(json.dumps(to_json(message)))) == message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "type must be one of 'user', 'assistant'"),
        ({"type": "nobody"}, "not 'nobody'"),
        ({"type": "user"}, "text is missing"),
        ({"type": "user", "text": 3}, "text must be a string, not 3"),
        ({"type": "assistant", "calls": [{"id": "1"}]}, r"calls\[0\].tool is missing"),
        ({"type": "assistant", "usage": {"input": "many"}}, "usage.input must be a whole number"),
        ({"type": "result", "id": "1", "tool": "read", "text": "", "is_error": "no"}, "is_error must be true or false"),
    ],
)
def test_what_is_no_message_is_refused_with_its_fault(data: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        from_json(data)


def test_the_calls_that_nothing_came_of_are_found() -> None:
    one, two = Call("1", "read", {}), Call("2", "read", {})
    said: list[Message] = [User("go"), Assistant("", (one, two)), Result("1", "read", "text")]
    assert dangling(said) == [two]
    assert dangling([*said, Result("2", "read", "text")]) == []
    assert dangling([User("go")]) == []


def test_a_summary_counts_as_the_turns_it_stands_for() -> None:
    assert turns([Summary("so far", 7), Assistant("on"), User("yes"), Assistant("done")]) == 9

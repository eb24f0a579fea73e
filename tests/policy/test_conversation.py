"""What a conversation tells: how many turns ago the list was written, whether somebody asks, whether somebody waits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.dialects import load
from punchlist.policy.conversation import RunningTally, Tally, read, tally
from punchlist.policy.questions import asks
from punchlist.policy.reminders import is_due
from punchlist.policy.stop_words import says_wait
from tests.core.plans import often
from tests.growth import grows_evenly
from tests.policy import talk
from tests.policy.talk import conversation, result, say, use, user

VECTORS = Path(__file__).parent.parent / "vectors" / "policy"
TALLIES = json.loads((VECTORS / "tally.json").read_text(encoding="utf-8"))
WORDS = json.loads((VECTORS / "words.json").read_text(encoding="utf-8"))
CLAUDE = load("claude-code").guide.limits


def heard(*said: Any, dialect: str = "claude-code") -> Tally:
    return talk.heard(dialect, *said)


# --- turns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TALLIES, ids=lambda case: case["name"])
def test_turns_are_counted_as_claude_code_counts_them(case: dict[str, Any]) -> None:
    found = heard(*case["said"])
    assert [found.since_write, found.since_reminder, is_due(found, CLAUDE)] == case["expect"]


_SAID = st.lists(st.sampled_from(["say", "work", "write", "think", "user", "result", "reminded"]), max_size=40)


def _backwards(said: list[str]) -> tuple[int, int]:
    """The document's counter, word by word: from the end, until both are found."""
    write = reminder = -1
    since_write = since_reminder = 0
    for index in range(len(said) - 1, -1, -1):
        if said[index] in ("say", "work", "write"):
            since_write += write == -1
            since_reminder += reminder == -1
            if write == -1 and said[index] == "write":
                write = index
        elif reminder == -1 and said[index] == "reminded":
            reminder = index
        if write != -1 and reminder != -1:
            break
    return since_write, since_reminder


@often(100)
@given(_SAID)
def test_counting_forwards_gives_what_the_document_counts_backwards(said: list[str]) -> None:
    found = heard(*said)
    assert (found.since_write, found.since_reminder) == _backwards(said)


_PART = st.lists(st.sampled_from(["say", "ask", "write", "user", "failure", "reminded"]), max_size=5)


@often(100)
@given(st.lists(_PART, max_size=6))
def test_a_conversation_that_is_read_as_it_grows_counts_like_one_that_is_read_at_once(parts: list[list[str]]) -> None:
    marks = load("claude-code").guide.marks
    running = RunningTally(talk.tools("claude-code"))
    said: list[str] = []
    for part in parts:
        running.add(read(conversation("claude-code", *part), marks))
        said += part
        assert running.tally() == heard(*said)


_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["assistant", "user", "TodoWrite", "tool_use", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "message", "content", "name", "id", "text", "tool_calls", "function"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@often(100)
@given(st.lists(_JSON, max_size=6))
def test_no_entry_whatever_its_form_breaks_the_count(entries: list[Any]) -> None:
    found = tally(read([*entries, *conversation("claude-code", "write", "say")]), ["TodoWrite"])
    assert found.since_write == 2


# --- the last words, the last outcome --------------------------------------------------------------------------------


def test_the_last_words_of_both_are_known() -> None:
    found = heard(say("Reading."), user("Faster."), say("Which one?"))
    assert (found.said, found.asked) == ("Which one?", "Faster.")


def test_a_question_that_the_user_has_answered_is_not_open_any_more() -> None:
    assert asks(heard("ask").said)
    assert not asks(heard("ask", "user").said)
    assert asks(heard("ask", "think").said)


def test_what_was_asked_before_a_tool_call_is_not_the_last_word() -> None:
    assert heard("ask", "work").said == ""


def test_a_meta_message_is_not_the_user_s_word() -> None:
    assert heard(user("Stop."), {**user("go on"), "isMeta": True}).asked == "Stop."


@pytest.mark.parametrize(
    ("said", "failed"),
    [
        (["write", "result"], False),
        (["write", "failure"], True),
        (["write", "failure", "say", "work"], True),
        (["write", "failure", "write", "result"], False),
        (["work", "failure"], False),
        (["write"], False),
    ],
)
def test_whether_the_last_plan_call_failed_is_known_from_its_result(said: list[str], failed: bool) -> None:
    assert heard(*said, dialect="oh-my-pi").failed is failed


def test_the_result_of_another_call_says_nothing_about_the_plan() -> None:
    found = heard(use("todo_write", id="a"), use("Bash", id="b"), result(failed=True, id="b"), dialect="oh-my-pi")
    assert not found.failed


def test_a_result_without_an_id_belongs_to_the_last_call() -> None:
    failure = result(failed=True)
    del failure["message"]["content"][0]["tool_use_id"]
    nameless = use("todo_write")
    del nameless["message"]["content"][0]["id"]
    assert heard(nameless, failure, dialect="oh-my-pi").failed
    assert heard("write", failure, dialect="oh-my-pi").failed
    assert not heard("write", "result", "work", failure, dialect="oh-my-pi").failed


def test_what_a_sub_agent_says_in_the_same_log_is_passed_over() -> None:
    aside = {**say("Which one?"), "isSidechain": True}
    assert heard("write", aside, {**use("TodoWrite"), "isSidechain": True}, "say")[:2] == (2, 2)
    assert heard(say("Done."), aside).said == "Done."


@pytest.mark.parametrize("is_error", [True, False])
def test_a_result_in_oh_my_pi_s_own_form_is_understood(is_error: bool) -> None:
    entry = {"type": "message", "message": {"role": "toolResult", "toolName": "todo_write", "isError": is_error}}
    assert heard("write", entry, dialect="oh-my-pi").failed is is_error


# --- asking and waiting ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", WORDS["asks"], ids=ascii)
def test_a_message_that_ends_with_a_question_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", WORDS["tells"], ids=ascii)
def test_a_message_that_ends_without_a_question_does_not_ask(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize("text", WORDS["waits"], ids=ascii)
def test_a_user_who_says_wait_or_stop_means_it(text: str) -> None:
    assert says_wait(text)


@pytest.mark.parametrize("text", WORDS["goes_on"], ids=ascii)
def test_a_user_who_speaks_of_stopping_something_else_does_not_mean_the_agent(text: str) -> None:
    assert not says_wait(text)


@pytest.mark.parametrize("length", [10, 300, 5_000])
def test_a_stop_counts_however_much_is_said_after_it(length: int) -> None:
    assert says_wait("Stop. " + "The reason is long. " * length)


def test_a_question_counts_however_much_is_said_before_it() -> None:
    assert asks("Read the file.\n" * 5_000 + "Which one?")


CODE = "```python\n" + "x = 1  # a line of code here\n" * 900 + "```\n"


def test_what_stands_behind_long_code_counts() -> None:
    assert asks(f"Here it is:\n{CODE}\nShall I apply this?")
    assert not asks(f"Shall I apply this?\n\nYes.\n\nSo I did.\n\n{CODE}\nIt is applied.\n" + "It is tested.\n" * 12)
    assert says_wait("Here is what I have.\n" * 1200 + CODE * 2 + "Now stop and wait for me.")
    assert not says_wait("Here is what I have.\n" * 1200 + CODE * 2 + "```\nstop\n```\nNow mend it.")


@pytest.mark.parametrize("piece", ["```\n", "````a\n~~~\n", "~~~ x\n", "`", "```\n~~~~\n"])
def test_the_time_grows_with_the_number_of_fences_and_no_faster(piece: str) -> None:
    def read(times: int) -> None:
        asks(piece * times * 10)
        says_wait("".join("`" * (3 + length % 300) + " a\n" for length in range(times)))

    assert grows_evenly(read, 400, 3_200)


@often(100)
@given(st.text(max_size=300))
def test_any_text_is_understood_somehow(text: str) -> None:
    assert isinstance(asks(text), bool)
    assert isinstance(says_wait(text), bool)

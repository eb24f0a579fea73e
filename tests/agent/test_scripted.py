"""The scripted model: what it plays, and what it says when things are not as its script has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from punchlist.agent.events import Interrupted
from punchlist.agent.messages import Assistant, Attachment, Message, Result, Summary, Usage, User
from punchlist.agent.models import ModelAnswer, ModelError, Offer, open_model
from punchlist.agent.scripted import ScriptPlayer
from punchlist.core.errors import Refused

TOOLS = [Offer("read", "Read.", {"type": "object"})]


def play(script: Any, *messages: Message, on_text: Callable[[str], None] = lambda piece: None) -> ModelAnswer:
    return ScriptPlayer(script).request("", list(messages), TOOLS, on_text)


def test_the_turn_it_plays_is_the_number_of_its_answers_so_far() -> None:
    script = {"turns": [{"text": "one"}, {"text": "two"}, {"text": "three"}]}
    assert play(script, User("go")).text == "one"
    assert play(script, User("go"), Assistant("one"), User("on")).text == "two"
    assert play(script, Summary("so far", 2), User("on")).text == "three"


def test_text_comes_word_by_word() -> None:
    pieces: list[str] = []
    play({"turns": [{"text": "one two  three"}]}, User("go"), on_text=pieces.append)
    assert [piece for piece in pieces if piece] == ["one ", "two ", " ", "three"]


def test_a_turn_holds_calls_with_ids_and_usage() -> None:
    made = play({"turns": [{"calls": [{"tool": "read"}, {"tool": "x", "args": "no json", "id": "mine"}]}]}, User("go"))
    assert [(call.id, call.tool, call.args) for call in made.calls] == [
        ("call-0-0", "read", {}),
        ("mine", "x", "no json"),
    ]
    said = play({"turns": [{"text": "x", "usage": {"input": 7}}]}, User("go"))
    assert said.usage == Usage(7, 0)


def test_what_it_expects_is_looked_for_in_what_came_since_its_last_answer() -> None:
    script = {"turns": [{}, {"expect": ["3 failed"], "absent": ["passed"]}]}
    seen: list[Message] = [User("3 failed"), Assistant("ok")]
    with pytest.raises(ModelError, match=r"turn 1: expected '3 failed', and saw 'all passed'"):
        play(script, *seen, Result("1", "shell", "all passed"))
    with pytest.raises(ModelError, match="'passed' should not be in"):
        play(script, *seen, Result("1", "shell", "3 failed, 1 passed"))
    play(script, *seen, Result("1", "shell", "3 failed"), Attachment("news", "more"))


def test_each_error_happens_once_and_then_the_turn_is_played() -> None:
    model = ScriptPlayer({"turns": [{"text": "at last", "errors": ["overloaded", "cut off"]}]})
    for words in ("overloaded", "cut off"):
        with pytest.raises(ModelError, match=words):
            model.request("", [User("go")], TOOLS, lambda piece: None)
    assert model.request("", [User("go")], TOOLS, lambda piece: None).text == "at last"


def test_a_script_that_is_at_its_end_says_so_and_one_that_repeats_begins_again() -> None:
    with pytest.raises(ModelError, match="at its end: it has 1 turns"):
        play({"turns": [{"text": "one"}]}, User("go"), Assistant("one"))
    assert play({"turns": [{"text": "one"}], "again": True}, User("go"), Assistant("one")).text == "one"


def test_it_can_be_stopped_while_it_waits() -> None:
    def stop(piece: str) -> None:
        raise Interrupted("now")

    with pytest.raises(Interrupted):
        play({"turns": [{"wait": 3600}]}, User("go"), on_text=stop)


def test_without_tools_it_is_asked_to_sum_up() -> None:
    model = ScriptPlayer({"turns": [], "summary": "much was done"})
    assert model.request("", [User("sum up")], [], lambda piece: None).text == "much was done"


def test_a_sub_agent_plays_the_script_of_its_name() -> None:
    model = ScriptPlayer({"turns": [], "workers": {"docs": {"turns": [{"text": "written"}]}, "*": {"turns": []}}})
    assert model.worker("docs").request("", [User("go")], TOOLS, lambda piece: None).text == "written"
    assert model.worker("other") is not None
    with pytest.raises(ModelError, match="no script for the sub-agent 'docs'"):
        ScriptPlayer({"turns": []}).worker("docs")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([], "must be an object"),
        ({}, "turns is missing"),
        ({"turns": [{"txt": "x"}]}, r"turns\[0\].txt is not a key"),
        ({"turns": [{"calls": [{"args": {}}]}]}, r"turns\[0\].calls\[0\].tool is missing"),
        ({"turns": [], "workers": {"a": {}}}, "a: turns is missing"),
    ],
)
def test_a_script_that_is_malformed_is_refused_with_its_faults(script: Any, words: str) -> None:
    with pytest.raises(Refused, match=words):
        ScriptPlayer(script)


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"turns": [{"text": "hello"}]}))
    assert open_model(f"script:{path}").request("", [User("go")], TOOLS, lambda piece: None).text == "hello"
    path.write_text("{")
    with pytest.raises(Refused, match="not valid JSON"):
        open_model(f"script:{path}")


def test_a_file_that_is_nested_too_deeply_is_no_script(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000)
    with pytest.raises(Refused, match=r"deep\.json: not valid JSON: nested too deeply\."):
        open_model(f"script:{path}")

"""Which class a model has, by its name, and when a model of each class is reminded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist import Desk, MemoryStore, ops
from punchlist.core.errors import Refused
from punchlist.desk import tool_use
from punchlist.desk.voice import find_voice, switch_text
from punchlist.local.settings import Settings
from punchlist.policy.limits import Limits, tokens
from punchlist.policy.voice import BRIEF, FULL, STALE_EFFECTS, STALE_TURNS, TABLE, class_of, matches, read_table
from punchlist.prompts import say
from tests.policy.told import tool_used

CLASSES = {
    # newest large models, as different programs write their names
    "claude-opus-5-5": BRIEF,
    "claude-opus-5-5[1m]": BRIEF,
    "us.anthropic.claude-sonnet-5-20260901-v1:0": BRIEF,
    "anthropic/claude-opus-4-8": BRIEF,
    "gpt-6.1-sol": BRIEF,
    "openai/gpt-5.5-codex": BRIEF,
    "models/gemini-3.1-pro-preview": BRIEF,
    "GEMINI-3-PRO": BRIEF,
    # small ones
    "claude-haiku-4-5": FULL,
    "claude-haiku-5-5": FULL,
    "claude-3-5-haiku-20241022": FULL,
    "gpt-5.5-mini": FULL,
    "gpt-6-nano": FULL,
    "gpt-4o-mini": FULL,
    "o4-mini": FULL,
    "o4-mini-2025-04-16": FULL,
    "gpt-4o-mini:free": FULL,
    "nemotron-nano-v2": FULL,
    "gemini-3-flash": FULL,
    "gemini-2.5-flash-lite": FULL,
    "gemma3": FULL,
    "qwen3:8b": FULL,
    "qwen2.5-coder:1.5b": FULL,
    "qwen3-30b-a3b": FULL,
    "gpt-oss-20b": FULL,
    "hf.co/unsloth/Llama-3.1-8B-Instruct": FULL,
    # neither
    "claude-sonnet-4-5": "",
    "claude-opus-4-1": "",
    "gpt-5": "",
    "gpt-4o": "",
    "gemini-2.5-pro": "",
    "gpt-oss-120b": "",
    "qwen3-coder-480b-a35b": "",
    "llama-3.3-70b": "",
    "deepseek-v3": "",
    "hosted-minimax-m2": "",
    "nanobot": "",
    "my-model": "",
    "b": "",
    "1..5b": "",
    "": "",
    "  ": "",
}


@pytest.mark.parametrize(("model", "wanted"), CLASSES.items())
def test_the_name_of_a_model_tells_its_class(model: str, wanted: str) -> None:
    assert class_of(model) == wanted


@given(st.text(max_size=300))
def test_any_name_has_a_class_or_none_whatever_its_case(name: str) -> None:
    assert class_of(name) in (BRIEF, FULL, "")
    if name.isascii():
        assert class_of(name) == class_of(name.upper())


@given(st.text(alphabet="xyzå_", max_size=50))
def test_a_name_that_no_pattern_knows_has_none(name: str) -> None:
    assert class_of(name) == ""


@given(st.text(max_size=30), st.lists(st.integers(0, 30), max_size=3))
def test_a_pattern_made_from_a_name_fits_it(name: str, cuts: list[int]) -> None:
    name = name.replace("*", "").casefold()
    pattern = name
    for cut in cuts:
        pattern = f"{pattern[:cut]}*{pattern[cut + 2 :]}"
    assert matches(pattern, name)
    assert matches("*", name)
    assert not matches(name, f"{name}!")


@pytest.mark.parametrize(("pattern", "name"), [("a*a", "a"), ("ab*ba", "aba"), ("*aa*a", "aa"), ("*a*a*", "a")])
def test_no_character_is_counted_twice(pattern: str, name: str) -> None:
    assert not matches(pattern, name)


def test_the_longest_pattern_counts_and_of_two_the_later() -> None:
    own = read_table("big-*=brief, big-local-*=full, *=brief, x*=full, x*=brief")
    assert class_of("big-one", own) == BRIEF
    assert class_of("big-local-one", own) == FULL
    assert class_of("xs", own) == BRIEF
    assert class_of("claude-haiku-4-5", own) == BRIEF, "the user's come before ours"
    assert class_of("Claude-Haiku-4-5", read_table("claude-HAIKU-4-5=brief")) == BRIEF


@pytest.mark.parametrize("pattern", TABLE)
def test_every_pattern_of_ours_can_count(pattern: str) -> None:
    assert pattern == pattern.casefold()
    assert class_of(pattern.replace("*", "")) == TABLE[pattern]


@pytest.mark.parametrize("text", ["x", "x=", "=full", "x=loud", "x=full, y", "x=FULL", f"{'x' * 201}=full"])
def test_a_table_that_is_wrong_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        read_table(text)


def test_a_table_has_a_bound() -> None:
    assert len(read_table(", ".join(f"m{number}=full" for number in range(100)))) == 100
    with pytest.raises(Refused, match="101 patterns are too many; 100 are the most"):
        read_table(", ".join(f"m{number}=full" for number in range(101)))
    assert read_table("") == read_table(" , ") == ()


# --- reminders -------------------------------------------------------------------------------------------------------


def reminded(model: str, settings: Settings = Settings(), *, changes: bool = True, turns: int = 220) -> list[int]:  # noqa: B008
    """The turns at which a model is reminded that never updates its plan."""
    desk = Desk(MemoryStore(), session="s", settings=settings, model=model)
    desk.call("plan", {"add": ["Read", "Mend"]})
    uses = [tool_use.ToolUse(str(turn), changes=changes) for turn in range(turns)]
    return [turn for turn, use in enumerate(uses) if tool_used(desk, use)]


def test_a_model_of_each_class_is_reminded_as_often_as_it_needs() -> None:
    usual = [10, 30, 70, 150]
    assert reminded("claude-haiku-4-5") == reminded("unknown") == reminded("") == usual
    assert reminded("claude-opus-5-5") == [30, 90, 210]
    assert reminded("claude-opus-5-5", Settings(voice=FULL)) == usual
    assert reminded("claude-haiku-4-5", Settings(voice=BRIEF)) == reminded("", Settings(voice=BRIEF)) == [30, 90, 210]
    assert reminded("my-own", Settings(voices="my-*=brief")) == [30, 90, 210]


def test_a_brief_one_that_only_reads_is_not_reminded() -> None:
    assert reminded("claude-opus-5-5", changes=False) == []
    assert reminded("unknown", changes=False) == [10, 30, 70, 150]


def test_it_is_reminded_once_enough_was_changed() -> None:
    desk = Desk(MemoryStore(), session="s", settings=Settings(voice=BRIEF))
    desk.call("plan", {"add": ["Read", "Mend"]})
    reads = [tool_used(desk, tool_use.ToolUse(f"r{turn}", changes=False)) for turn in range(STALE_TURNS + 20)]
    writes = [tool_used(desk, tool_use.ToolUse(f"w{turn}")) for turn in range(STALE_EFFECTS)]
    assert [*reads, *writes[:-1]] == [[]] * (STALE_TURNS + 20 + STALE_EFFECTS - 1)
    assert writes[-1] != []


def test_an_update_of_the_plan_starts_the_count_again() -> None:
    desk = Desk(MemoryStore(), session="s", settings=Settings(voice=BRIEF))
    desk.call("plan", {"add": ["Read", "Mend"]})
    for turn in range(STALE_TURNS - 1):
        assert tool_used(desk, tool_use.ToolUse(str(turn))) == []
    desk.change(lambda plan: ops.rename(plan, "2", "Mend it"), by="main")
    told = [tool_used(desk, tool_use.ToolUse(f"again {turn}")) for turn in range(STALE_TURNS + 1)]
    assert [number for number, one in enumerate(told) if one] == [STALE_TURNS]


def test_what_the_user_set_for_reminders_is_kept() -> None:
    assert reminded("claude-opus-5-5", Settings(remind_after=5), turns=20) == [5, 15]
    assert reminded("claude-opus-5-5", Settings(remind_after=0)) == []
    assert reminded("claude-opus-5-5", Settings(reminders=False)) == []


def test_other_systems_remind_as_they_do() -> None:
    conversation = [{"role": "assistant", "content": "On it."}] * 12
    for dialect in ("claude-code", "gencode"):
        desk = Desk(MemoryStore(), session="s", dialect=dialect, settings=Settings(voice=BRIEF, dialect=dialect))
        desk.change(lambda plan: ops.add(plan, "Read"), by="main")
        assert desk.before_request(conversation) != []


def test_in_a_loop_it_is_the_same() -> None:
    for voice, expected in ((FULL, 10), (BRIEF, STALE_TURNS)):
        desk = Desk(MemoryStore(), session="s", settings=Settings(voice=voice))
        desk.call("plan", {"add": ["Read", "Mend"]})
        messages: list[dict[str, object]] = [{"role": "user", "content": "Mend it."}]
        at = 0
        while not (told := desk.before_request(messages)) and at < 100:
            at += 1
            messages.append({"role": "assistant", "content": f"Step {at}."})
            desk.tool_used("shell", {"command": f"sed -i s/{at}// x"}, exit=0)
        assert (at, len(told)) == (expected, 1)


# --- texts -----------------------------------------------------------------------------------------------------------


def test_the_tool_has_the_description_of_the_class() -> None:
    for model, name in (("claude-haiku-4-5", "native.full"), ("claude-opus-5-5", "native"), ("", "native")):
        desk = Desk(MemoryStore(), session="s", settings=Settings(), model=model)
        for found in (desk, desk.for_session("other"), desk.for_session("s", "helper")):
            assert [tool["description"] for tool in found.tools()] == [say(name)]


def test_the_full_description_has_a_bound() -> None:
    desk = Desk(MemoryStore(), session="s", settings=Settings(voice=FULL))
    assert tokens(json.dumps(desk.tools())) <= 700


def test_the_texts_of_other_dialects_do_not_change() -> None:
    for dialect in ("claude-code", "codex", "gencode", "llxprt", "oh-my-pi", "claude-tasks", "gemini", "opencode"):
        brief, full = (
            Desk(MemoryStore(), session="s", dialect=dialect, settings=Settings(voice=voice, dialect=dialect))
            for voice in (BRIEF, FULL)
        )
        assert (brief.tools(), brief.system_prompt()) == (full.tools(), full.system_prompt())


def test_a_setting_comes_before_the_name() -> None:
    store = MemoryStore()
    assert find_voice(Desk(store, session="s", settings=Settings(voice=FULL), model="claude-opus-5-5")) == FULL
    assert find_voice(Desk(store, session="s", settings=Settings(voices="opus=full"), model="opus")) == FULL
    assert find_voice(Desk(store, session="s", settings=Settings(), model="opus")) == ""


def test_a_small_model_that_takes_over_is_told_what_the_one_before_did_not_need() -> None:
    settings, large, small = Settings(), "claude-opus-5-5", "claude-haiku-4-5"
    assert switch_text(settings, large, small) == f"How to use the tool `plan`:\n{say('native.full')}"
    assert switch_text(settings, "", small) == switch_text(settings, large, small)
    for old, new in ((small, small), (small, large), (large, large), (large, "")):
        assert switch_text(settings, old, new) == ""
    for own in (Settings(voice=BRIEF), Settings(voice=FULL), Settings(dialect="claude-code")):
        assert switch_text(own, large, small) == ""


def test_the_bounds_of_a_class_are_those_that_the_page_names() -> None:
    assert (STALE_TURNS, STALE_EFFECTS, Limits().remind_after, Limits().effects) == (30, 10, 10, 0)

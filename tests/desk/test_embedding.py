"""The desk as a program with a loop of its own uses it, in every dialect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import BadShape, Desk, MemoryStore, Nudge, Stop, ops
from punchlist import open as open_desk
from punchlist.desk.quiet import enter_quiet
from punchlist.dialects import PATHS
from punchlist.local import on_off
from punchlist.local.settings import load, place
from tests.statements import trace

NAMES: dict[str, Callable[[dict[str, Any]], str]] = {
    "anthropic": lambda tool: tool["name"],
    "openai": lambda tool: tool["function"]["name"],
}


def opened(dialect: str = "native", session: str = "s1", store: MemoryStore | None = None, **settings: Any) -> Desk:
    made = MemoryStore() if store is None else store
    return Desk(made, session=session, dialect=dialect, settings=load(settings, environ={}))


def begun(dialect: str = "native", **more: Any) -> Desk:
    desk = opened(dialect, **more)
    desk.change(lambda plan: ops.start(ops.extend(plan, [{"text": "Read"}, {"text": "Write"}]), "1"), by="main")
    return desk


@pytest.mark.parametrize("dialect", PATHS)
def test_the_tools_and_the_text_that_goes_with_them_are_those_of_the_dialect(dialect: str) -> None:
    desk = opened(dialect)
    for format, name in NAMES.items():
        offered = [name(tool) for tool in desk.tools(format)]  # type: ignore[arg-type]
        assert offered
        assert set(offered) <= {tool.name for tool in desk.dialect.tools}
    assert [tool["name"] for tool in desk.tools("mcp")] == [tool["name"] for tool in desk.tools()]
    assert all("inputSchema" in tool for tool in desk.tools("mcp"))
    words = desk.system_prompt(shell="terminal")
    assert words
    assert "{" not in words.replace("{id", "")


def test_what_a_loop_asks_with_each_request_is_few_questions_to_the_store(tmp_path: Path) -> None:
    asked: list[str] = []
    end = trace(asked.append)
    desk = open_desk(f"sqlite:{tmp_path}/plan.db", session="s1")
    end()
    messages = [{"role": "user", "content": "Fix it."}]
    desk.before_request(messages)
    desk.call("plan", {"add": ["Read", "Write"]})
    counts = []
    for ask in (desk.tools, desk.system_prompt, lambda: desk.before_request(messages)):
        asked.clear()
        ask()
        counts.append(len(asked))
    desk.close()
    assert counts == [1, 1, 2]


def test_a_form_of_tools_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(BadShape, match=r"format must be one of .*anthropic.*, not 'gemini'"):
        opened().tools("gemini")  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", PATHS)
def test_while_punchlist_is_off_the_model_is_given_nothing(dialect: str) -> None:
    desk = begun(dialect, off=True)
    assert desk.tools() == []
    assert desk.system_prompt() == ""
    assert desk.prompted("Go on.") == []
    assert desk.before_request([{"role": "user", "content": "Go on."}]) == []


def test_while_punchlist_is_off_nobody_is_nudged() -> None:
    assert begun().turn_ended("Half of it.") != Stop("punchlist is off")
    assert begun(off=True).turn_ended("Half of it.") == Stop("punchlist is off")


def test_off_for_one_session_leaves_the_tools_of_another() -> None:
    store = MemoryStore()
    on_off.set_off(True, place=place(), session="s1")
    assert opened(store=store).tools() == []
    assert len(opened(store=store, session="s2").tools()) == 1
    on_off.set_off(False, place=place(), session="s1")
    assert len(opened(store=store).tools()) == 1


@pytest.mark.parametrize("dialect", PATHS)
def test_in_a_quiet_context_there_are_no_tools_until_the_turn_ends(dialect: str) -> None:
    desk = begun(dialect)
    enter_quiet(desk)
    assert desk.tools() == []
    assert desk.system_prompt() == ""
    desk.turn_ended(said="Committed.")
    assert desk.tools()
    assert desk.system_prompt()


def test_a_quiet_context_is_ended_by_the_prompt_of_its_own_session_only() -> None:
    store = MemoryStore()
    desk = begun(store=store)
    desk.bind("s2")
    enter_quiet(desk)
    other = opened(store=store, session="s2")
    other.prompted("Go on.")
    assert desk.load().mode == "quiet"
    desk.prompted("Go on.")
    assert desk.plan.mode == "act"


@pytest.mark.parametrize("dialect", PATHS)
def test_an_edit_of_the_user_is_told_once_before_the_next_request(dialect: str) -> None:
    desk = begun(dialect)
    desk.before_request([])
    desk.change(lambda plan: ops.add(plan, "Ask Ann"))
    told = desk.before_request([{"role": "user", "content": "Go on."}])
    assert "Ask Ann" in "".join(one["content"] for one in told)
    assert {one["role"] for one in told} == {"user"}
    assert not any("the user added" in one["content"] for one in desk.before_request(told))


@pytest.mark.parametrize("dialect", PATHS)
def test_an_edit_of_the_user_is_told_with_their_next_words(dialect: str) -> None:
    desk = begun(dialect)
    desk.before_request([])
    desk.change(lambda plan: ops.add(plan, "Ask Ann"))
    assert "Ask Ann" in "\n".join(desk.prompted("And now?"))
    assert desk.take_updates() == []


@pytest.mark.parametrize("dialect", PATHS)
def test_a_turn_that_ends_early_is_nudged_and_one_that_asks_may_stop(dialect: str) -> None:
    end = begun(dialect).turn_ended(said="Half of it is done.")
    assert isinstance(end, Nudge)
    assert "Read" in end.text
    assert end.reason
    finished = begun(dialect)
    finished.change(lambda plan: ops.complete(ops.complete(plan, "1"), "2"), by="main")
    assert finished.turn_ended(said="All done.") == Stop("nothing is open")


def test_a_turn_without_a_plan_may_end() -> None:
    assert opened().turn_ended(said="Hello.") == Stop("there is no plan")
    assert opened().turn_ended(said="Hello.").text == ""


@pytest.mark.parametrize("dialect", PATHS)
def test_a_tool_of_the_program_is_kept_with_the_active_item(dialect: str) -> None:
    desk = begun(dialect)
    desk.tool_used("shell", {"command": "make test"}, "1 failed", exit=2)
    desk.tool_used("search", "parser", ["a.py"], failed=False)
    first, second = desk.load(calls=True).items[0].calls
    assert (first["name"], first["outcome"], first["exit"], first["text"]) == ("shell", "failed", 2, "1 failed")
    assert (second["name"], second["outcome"], second["parameters"]) == ("search", "ok", {"input": "parser"})
    assert [item.calls for item in desk.plan.items] == [(), ()]
    assert desk.plan.revision == 1


def test_a_program_without_messages_is_told_with_the_tool_and_reminded_in_time() -> None:
    desk = begun()
    desk.change(lambda plan: ops.note(plan, "1", "use -x"))
    assert desk.tool_used("shell", {"command": "ls"}, "x") == [], "nothing is told unless it is asked for"
    told = desk.tool_used("shell", {"command": "make"}, "fine", exit=0, tell=True)
    assert told == ['the user noted on 1 "Read": "use -x".']
    assert desk.tool_used("shell", {"command": "make"}, "fine", exit=0, tell=True) == []
    later = [desk.tool_used("shell", {"command": f"make {number}"}, "fine", exit=0, tell=True) for number in range(12)]
    (reminder,) = [text for texts in later for text in texts]
    assert reminder.startswith('Plan: now 1 "Read"')
    assert len(desk.load(calls=True).items[0].calls) == 15


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_conversation_that_begins_or_was_compacted_is_told_the_plan(source: str) -> None:
    assert opened().started(source) == [], "there is no plan"
    desk = begun()
    desk.change(lambda plan: ops.rename(plan, "2", "Fix all of it"))
    listed, *others = desk.started(source)
    assert "- now 1 Read" in listed
    assert "- 2 Fix all of it" in listed
    assert desk.prompted("Go on.") == [], f"{others} has told the edit"


def test_an_agent_that_works_elsewhere_has_its_plan_and_its_checks_there(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    store = f"sqlite:{tmp_path}/plan.db"
    with punchlist.open(store, session="s1", folder=str(there)) as desk:
        desk.call("plan", {"add": [{"text": "Read", "check": "make test"}]})
        assert desk.for_session("s1").plan.items[0].check_set["dir"] == str(there)
        desk.tool_used("shell", {"command": "make test"}, "1 passed", exit=0)
        assert [one["exit"] for one in desk.load(calls=True).items[0].evidence] == [0]
    with punchlist.open(store, folder=str(there)) as desk:
        assert [item.text for item in desk.plan.items] == ["Read"]
    with punchlist.open(store, folder=str(here)) as desk:
        assert desk.plan.items == ()


def test_a_pause_ends_with_the_next_words_of_the_user() -> None:
    desk = begun()
    desk.call("plan", {"pause": "the deploy key has expired"})
    assert isinstance(desk.turn_ended(said="I wait."), Stop)
    desk.prompted("Here is a new key.")
    assert desk.plan.paused is None


def test_a_desk_says_what_it_is() -> None:
    desk = begun("codex")
    assert (
        repr(desk)
        == f"<Desk session='s1' agent='main' dialect='codex' plan='{desk.plan.id}' revision=1 in MemoryStore>"
    )


def test_a_desk_shows_what_a_program_needs() -> None:
    shown = {name for name in dir(opened()) if not name.startswith("_")}
    assert len(shown) <= 31, "what only our own rooms use is a function, or at `desk._seat`"


def test_a_tool_call_may_be_nested_without_end() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    itself: dict[str, object] = {"command": "make"}
    itself["again"] = itself
    with opened() as desk:
        desk.call("plan", {"add": ["Read it"]})
        desk.tool_used("shell", {"command": deep}, deep)
        desk.tool_used("shell", itself, itself)
        calls = desk.load(calls=True).items[0].calls
    assert [call["name"] for call in calls] == ["shell", "shell"]
    assert calls[1]["parameters"]["command"] == "make"


@pytest.mark.parametrize("tool", [5, None, "no such tool"])
def test_a_call_of_what_is_not_a_tool_is_answered(tool: object) -> None:
    with opened() as desk:
        reply = desk.call(tool, None)  # type: ignore[arg-type]
    assert reply.is_error
    assert "the tools are plan" in reply.text

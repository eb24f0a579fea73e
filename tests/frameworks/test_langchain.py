"""The plan in an agent of LangChain, with its own fake model and a real store."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import logging
import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    ShellToolMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, interrupt
from pydantic import BaseModel

import punchlist
from punchlist import ops
from punchlist.adapters.langchain import SOURCE, Punchlist
from punchlist.stores.sqlite import SqliteStore
from punchlist.testing import conformance
from tests.frameworks.langchain_model import Bridge, Model, Request, Turn, add, calls, done, model

NUDGE = "The plan is not finished"
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run an agent with some words of the user, or with an input of the graph."""

    def play(agent: Any, said: Any = "Fix the parser.", thread: str = "t1") -> dict[str, Any]:
        given = {"messages": [HumanMessage(said)]} if isinstance(said, str) else said
        config = {"configurable": {"thread_id": thread}} if thread else {}
        if request.param == "sync":
            return dict(agent.invoke(given, config))
        return dict(asyncio.run(agent.ainvoke(given, config)))

    return play


def agent_of(played: Model, store: str, *tools: Any, **options: Any) -> Any:
    middleware = [*options.pop("before", []), Punchlist(store), *options.pop("after", [])]
    return create_agent(played, list(tools), middleware=middleware, **options)


def plan_of(store: str, session: str = "t1", agent: str = "main") -> punchlist.Plan:
    with punchlist.open(store, session=session, agent=agent) as desk:
        return desk.load(calls=True)


def texts(plan: punchlist.Plan) -> list[tuple[str, str]]:
    return [(item.text, item.status) for item in plan.items]


def edit(store: str, change: Callable[[punchlist.Plan], punchlist.Plan], session: str = "t1") -> None:
    """An edit of the user's, from another desk."""
    with punchlist.open(store, session=session) as desk:
        desk.change(change)


def told(found: dict[str, Any] | Request) -> list[str]:
    """What the model was told by us."""
    messages = found.messages if isinstance(found, Request) else found["messages"]
    return [str(one.text) for one in messages if one.additional_kwargs.get("lc_source") == SOURCE]


def is_prefix(requests: list[Request]) -> bool:
    """Whether each request begins with the one before, byte by byte."""
    pairs = itertools.pairwise(requests)
    grew = [later.wire[: len(earlier.wire)] == earlier.wire for earlier, later in pairs]
    tools = {json.dumps(request.tools) for request in requests}
    return all(grew) and len(tools) == 1 and len({request.system for request in requests}) == 1


@tool
def shell(command: str) -> dict[str, Any]:
    """Run a command."""
    return {"exit_code": 1 if "fail" in command else 0, "output": "said something"}


# --- the tool, and what goes with it ---------------------------------------------------------------------------------


def test_the_tool_and_its_text_are_in_the_first_request(store: str, run: Run) -> None:
    played = model("Hello.")
    run(agent_of(played, store, shell, system_prompt="You write code."), "Hi.")
    (request,) = played.requests
    assert request.names == ["plan", "shell"]
    assert request.system.startswith("You write code.\n\nFor work of 3 or more steps")
    assert request.tools[0]["function"]["parameters"]["properties"]["add"]["items"]["required"] == ["text"]


@pytest.mark.parametrize("system", [None, SystemMessage([{"type": "text", "text": "You write code."}])])
def test_a_system_prompt_may_be_missing_or_made_of_blocks(store: str, system: SystemMessage | None) -> None:
    played = model("Hello.")
    agent_of(played, store, system_prompt=system).invoke({"messages": [HumanMessage("Hi.")]})
    assert "make a plan with `plan`" in played.requests[0].system


def test_a_text_that_the_user_has_put_into_the_system_prompt_is_there_once(store: str) -> None:
    with punchlist.open(store) as desk:
        words = desk.system_prompt()
    played = model("Hello.")
    agent_of(played, store, system_prompt=f"You write code. {words}").invoke({"messages": [HumanMessage("Hi.")]})
    assert played.requests[0].system.count("make a plan with") == 1


def test_the_plan_is_in_the_state_of_the_graph_for_screens(store: str) -> None:
    played = model(add("Read", "Fix"), done(1), done(2), "Both are done.")
    seen = [
        update["todos"]
        for chunk in agent_of(played, store).stream({"messages": [HumanMessage("Go.")]}, stream_mode="updates")
        for update in chunk.values()
        if update and "todos" in update
    ]
    assert seen == [
        [{"content": "Read", "status": one}, {"content": "Fix", "status": other}]
        for one, other in (("in_progress", "pending"), ("completed", "in_progress"), ("completed", "completed"))
    ]


def test_an_edit_of_the_user_is_in_the_state_of_the_graph(store: str, run: Run) -> None:
    def added() -> str:
        edit(store, lambda plan: ops.add(plan, "Write a note"))
        return "Which format do you want?"

    found = run(agent_of(model(add("Read"), added), store))
    assert [one["content"] for one in found["todos"]] == ["Read", "Write a note"]


def test_langchains_own_list_is_left_out_beside_the_plan(store: str, run: Run) -> None:
    stubborn = calls(("write_todos", {"todos": [{"content": "Read", "status": "pending"}]}))
    played = model(stubborn, "So be it.")
    found = run(agent_of(played, store, shell, system_prompt="You write code.", before=[TodoListMiddleware()]))
    assert played.requests[0].names == ["plan", "shell"]
    assert "write_todos" not in played.requests[0].system
    assert "the tools of the plan are plan" in played.requests[1].texts[-1]
    assert not found.get("todos")


def test_a_tool_of_the_user_called_write_todos_stays(store: str) -> None:
    @tool
    def write_todos(text: str) -> str:
        """Write a comment."""
        return text

    played = model(calls(("write_todos", {"text": "mine"})), "Done.")
    agent_of(played, store, write_todos).invoke({"messages": [HumanMessage("Hi.")]})
    assert played.requests[0].names == ["plan", "write_todos"]
    assert played.requests[1].texts[-1] == "mine"


@pytest.mark.parametrize(("dialect", "other"), [("native", "codex"), ("codex", "native")])
def test_a_tool_of_the_user_with_the_name_of_the_plans_is_refused(
    store: str, run: Run, dialect: str, other: str
) -> None:
    with punchlist.open(store, dialect=dialect) as desk:
        name = desk.dialect.tools[0].name
    mine = StructuredTool.from_function(lambda text: text, name=name, description="Draw a floor plan.")
    agent = create_agent(model("never asked"), [mine], middleware=[Punchlist(store, dialect=dialect)])
    with pytest.raises(punchlist.Refused, match=f"your tool '{name}' has the name .*rename it.*dialect="):
        run(agent)
    played = model("Hello.")
    run(create_agent(played, [mine], middleware=[Punchlist(store, dialect=other)]))
    assert len(played.requests[0].names) == 2


def test_langchains_own_list_may_have_the_name_of_the_plans(store: str, run: Run) -> None:
    played = model("Hello.")
    run(create_agent(played, [], middleware=[TodoListMiddleware(), Punchlist(store, dialect="gemini")]))
    assert played.requests[0].names == ["write_todos"]


def test_a_tool_for_a_continuation_is_offered_only_then(store: str, run: Run) -> None:
    todo = {"id": "1", "content": "Read", "status": "in_progress", "priority": "high"}
    played = model(
        calls(("todo_pause", {"reason": "the deploy key has expired"})),
        calls(("todo_write", {"todos": [todo]})),
        "I have read half of it.",
        calls(("todo_pause", {"reason": "the deploy key has expired"})),
        "I wait.",
    )
    agent = create_agent(played, [shell], middleware=[Punchlist(store, dialect="llxprt")])
    run(agent)
    offered = ["todo_pause" in request.names for request in played.requests]
    assert offered == [False, False, False, True, False]
    assert played.requests[1].messages[-1].status == "error"  # type: ignore[attr-defined]
    assert plan_of(store).paused


def test_while_punchlist_is_off_nothing_of_it_is_in_a_request(store: str, run: Run, own_home: Path) -> None:
    run(agent_of(model(add("Read"), "Which one?"), store))
    command = [sys.executable, "-m", "punchlist", "off", "--session", "t1"]
    subprocess.run(command, check=True, capture_output=True)
    played = model("I have read half of it.")
    run(agent_of(played, store, shell, system_prompt="You write code."), "Continue.")
    (request,) = played.requests
    assert request.names == ["shell"]
    assert request.system == "You write code."
    assert told(request) == []
    played = model("Which one?")
    run(agent_of(played, store, before=[TodoListMiddleware()]), "Continue.")
    assert played.requests[0].names == ["write_todos"], "then another list is not in the way"


# --- restarts, edits, nudges -----------------------------------------------------------------------------------------


def test_the_plan_survives_a_restart_with_and_without_the_conversation(store: str, tmp_path: Path, run: Run) -> None:
    run(agent_of(model(add("Read", "Fix"), "Which one first?"), store))
    played = model(done(1), "Which one now?")
    run(agent_of(played, store), "Continue.")
    assert "Read" in "".join(told(played.requests[0])), "the conversation is gone: the plan is told"
    assert texts(plan_of(store)) == [("Read", "completed"), ("Fix", "in_progress")]


def test_the_plan_survives_a_restart_of_the_process_with_a_checkpointer(store: str, tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import sys
        from langchain.agents import create_agent
        from langchain_core.messages import HumanMessage
        from langgraph.checkpoint.sqlite import SqliteSaver
        from punchlist.adapters.langchain import Punchlist
        from tests.frameworks.langchain_model import add, model
        with SqliteSaver.from_conn_string({str(tmp_path / "talk.db")!r}) as saver:
            agent = create_agent(
                model(add("Read", "Fix"), "Which one first?"), middleware=[Punchlist({store!r})], checkpointer=saver
            )
            agent.invoke({{"messages": [HumanMessage("Go.")]}}, {{"configurable": {{"thread_id": "t1"}}}})
    """)
    root = Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    with SqliteSaver.from_conn_string(str(tmp_path / "talk.db")) as saver:
        played = model(done(1), "Which one now?")
        agent = agent_of(played, store, checkpointer=saver)
        agent.invoke({"messages": [HumanMessage("Read.")]}, {"configurable": {"thread_id": "t1"}})
    assert told(played.requests[0]) == [], "the plan is in the conversation, which goes on"
    assert len(played.requests[0].messages) == 5
    assert texts(plan_of(store)) == [("Read", "completed"), ("Fix", "in_progress")]


def test_an_edit_of_the_user_is_told_once_and_is_not_undone(store: str, run: Run) -> None:
    def edited() -> AIMessage:
        edit(store, lambda plan: ops.add(ops.complete(plan, "1"), "Write a note"))
        return calls(("shell", {"command": "ls"}))

    played = model(add("Read", "Fix"), edited, calls(("shell", {"command": "pwd"})), done(2), "Which note?")
    found = run(agent_of(played, store, shell))
    assert [len(told(request)) for request in played.requests] == [0, 0, 1, 1, 1]
    (text,) = told(found)
    assert "Write a note" in text
    assert texts(plan_of(store)) == [("Read", "completed"), ("Fix", "completed"), ("Write a note", "in_progress")]
    assert is_prefix(played.requests)


def test_an_edit_between_two_runs_is_told_with_the_next(store: str, run: Run) -> None:
    saver = InMemorySaver()
    run(agent_of(model(add("Read"), "Which one?"), store, checkpointer=saver))
    edit(store, lambda plan: ops.rename(plan, "1", "Read the lexer"))
    played = model("And which lexer?")
    found = run(agent_of(played, store, checkpointer=saver), "The first.")
    (text,) = told(played.requests[0])
    assert text.startswith("<system-reminder>\nThe plan was edited. The user")
    assert "Read the lexer" in text
    assert [one.type for one in found["messages"][-3:]] == ["human", "human", "ai"]


def test_an_early_stop_is_nudged_within_the_bounds(store: str, run: Run) -> None:
    played = model(add("Read", "Fix"), "I have read half of it.", "That is all.")
    found = run(agent_of(played, store))
    assert len(played.requests) == 3
    (text,) = told(found)
    assert text.startswith(NUDGE)
    assert found["messages"][-1].text == "That is all."
    assert is_prefix(played.requests)


@pytest.mark.parametrize("words", ["Which of the two do you want?", "Let me know how to go on."])
def test_a_question_is_not_answered_with_a_nudge(store: str, run: Run, words: str) -> None:
    assert told(run(agent_of(model(add("Read"), words), store))) == []


def test_a_pause_is_not_nudged_and_ends_with_the_users_next_words(store: str, run: Run) -> None:
    pause = calls(("plan", {"pause": "the deploy key has expired"}))
    assert told(run(agent_of(model(add("Read"), pause, "I stop here."), store))) == []
    assert plan_of(store).paused
    run(agent_of(model("Which key?"), store), "There is a new key.")
    assert not plan_of(store).paused


def test_wait_is_respected(store: str, run: Run) -> None:
    assert told(run(agent_of(model(add("Read"), "It is planned."), store), "Make a plan, and wait for me.")) == []


def test_a_run_that_a_limit_has_ended_is_not_nudged(store: str, run: Run) -> None:
    limit = ModelCallLimitMiddleware(run_limit=2, exit_behavior="end")
    played = model(add("Read"), calls(("shell", {"command": "ls"})), "never asked")
    found = run(agent_of(played, store, shell, before=[limit]))
    assert len(played.requests) == 2
    assert told(found) == []


def test_nudged_turns_count_for_a_limit_of_model_calls(store: str, run: Run) -> None:
    limit = ModelCallLimitMiddleware(run_limit=3, exit_behavior="end")
    played = model(add("Read"), "Half of it.", calls(("shell", {"command": "ls"})), "never asked")
    run(agent_of(played, store, shell, before=[limit]))
    assert len(played.requests) == 3


def test_hooks_behind_a_models_answer_run_before_a_nudge(store: str, run: Run) -> None:
    hide = PIIMiddleware("email", apply_to_output=True)
    played = model(add("Read"), "I wrote to me@example.com about it.", "That is all.")
    run(agent_of(played, store, before=[hide]))
    assert "me@example.com" not in "".join(played.requests[2].wire)


# --- what was compacted or cut ---------------------------------------------------------------------------------------


def summarized() -> SummarizationMiddleware:
    return SummarizationMiddleware(
        model("A summary.", "A summary."), trigger=("messages", 7), keep=("messages", 2), trim_tokens_to_summarize=None
    )


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_summarized_conversation_gets_the_plan_back_once(store: str, run: Run, place: str) -> None:
    look = [calls(("shell", {"command": f"look {number}"})) for number in range(3)]
    played = model(add("Read the parser", "Fix it"), *look, "Which one?")
    given: dict[str, Any] = {place: [summarized()]}
    run(agent_of(played, store, shell, **given))
    compacted = played.requests[3:]
    assert "A summary." in compacted[0].texts[0]
    assert ["Read the parser" in "".join(told(request)) for request in compacted] == [True] * len(compacted)
    assert all(len(told(request)) == 1 for request in compacted)
    assert is_prefix(compacted)


def test_a_conversation_that_the_user_has_cut_gets_the_plan_back(store: str, run: Run) -> None:
    saver = InMemorySaver()
    run(agent_of(model(add("Read the parser"), "Which one?"), store, checkpointer=saver))
    played = model("Which parser?")
    cut = {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("Go on.")]}
    run(agent_of(played, store, checkpointer=saver), cut)
    assert "Read the parser" in "".join(told(played.requests[0]))


class Window(AgentMiddleware[Any, Any, Any]):
    """Sends only the last messages, and leaves the graph as it is."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(messages=request.messages[-4:]))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(messages=request.messages[-4:]))


def test_a_request_that_lost_the_plan_is_told_it_and_the_graph_keeps_what_was_told(store: str, run: Run) -> None:
    look = [calls(("shell", {"command": f"look {number}"})) for number in range(3)]
    played = model(add("Read the parser"), *look, "Which one?")
    found = run(agent_of(played, store, shell, before=[Window()]))
    assert all("Read the parser" in "".join(request.wire) for request in played.requests[1:])
    assert 1 <= len(told(found)) <= 2
    kinds = [one.type for one in found["messages"]]
    assert kinds[kinds.index("human", 1) + 1] == "ai", "told before the answer, as in the request"


def test_a_request_that_is_repeated_is_told_the_same(store: str, run: Run) -> None:
    look = [calls(("shell", {"command": f"look {number}"})) for number in range(2)]
    played = model(add("Read the parser"), *look, ConnectionError("lost"), ConnectionError("lost"), "Which one?")
    retry = ModelRetryMiddleware(max_retries=3, initial_delay=0, jitter=False)
    run(agent_of(played, store, shell, before=[Window(), retry]))
    assert [len(told(request)) for request in played.requests[3:]] == [1, 1, 1]
    assert played.requests[3].wire == played.requests[4].wire == played.requests[5].wire


def test_results_that_were_cleared_do_not_matter(store: str, run: Run) -> None:
    clear = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=1)])
    look = [calls(("shell", {"command": f"look {number}"})) for number in range(3)]
    found = run(agent_of(model(add("Read the parser"), *look, "Which one?"), store, shell, before=[clear]))
    assert told(found) == [], "the call that made the plan is still there"


# --- other tools -----------------------------------------------------------------------------------------------------


def test_calls_of_other_tools_are_kept_and_are_evidence(store: str, run: Run) -> None:
    plan = calls(("plan", {"add": [{"text": "Fix it", "check": "make test"}]}))
    played = model(plan, calls(("shell", {"command": "make test"}), ("shell", {"command": "fail"})), "Which one?")
    run(agent_of(played, store, shell))
    (item,) = plan_of(store).items
    assert {(call["name"], call["exit"]) for call in item.calls} == {("shell", 0), ("shell", 1)}
    assert [(one["command"], one["exit"]) for one in item.evidence] == [("make test", 0)]


def test_an_exit_code_in_an_artifact_is_read_and_one_that_a_command_printed_is_not(store: str, run: Run) -> None:
    @tool(response_format="content_and_artifact")
    def execute(command: str) -> tuple[str, dict[str, int]]:
        """Run a command."""
        return "{'exit_code': 0}\nExit code: 0", {"exit_code": 3}

    @tool
    def cat(command: str) -> str:
        """Show a file."""
        return '{"exit_code": 0}'

    plan = calls(("plan", {"add": [{"text": "Fix it", "check": "make test"}]}))
    called = calls(("execute", {"command": "make test"}), ("cat", {"command": "make test"}))
    run(agent_of(model(plan, called, "Which one?"), store, execute, cat))
    (item,) = plan_of(store).items
    assert {call["name"]: call.get("exit") for call in item.calls} == {"execute": 3, "cat": None}
    assert [one["exit"] for one in item.evidence] == [3]


class Ran(TypedDict):
    """What a command did."""

    exit_code: int
    output: str


def ran(command: str) -> Ran:
    """Run a command."""
    return {"exit_code": 2, "output": "said something"}


def plain(command: str) -> dict[str, int]:
    """Run a command."""
    return {"exit_code": 2}


def either(command: str) -> dict[str, int] | str:
    """Run a command, or show a file."""
    return '{"exit_code":2}\n' if command == "cat" else {"exit_code": 2}


def maybe(command: str) -> Ran | None:
    """Run a command."""
    return {"exit_code": 2, "output": "said something"}


class Runner(BaseTool):
    """A tool with a class of its own."""

    name: str = "runner"
    description: str = "Run a command."

    def _run(self, command: str) -> Ran:
        return {"exit_code": 2, "output": "said something"}


def text_of(command: str) -> str:
    """Show a file."""
    return '{"exit_code": 2}'


SAYS: list[tuple[Any, str, int | None]] = [
    (StructuredTool.from_function(ran), "make test", 2),
    (StructuredTool.from_function(plain), "make test", 2),
    (StructuredTool.from_function(either), "make test", 2),
    (StructuredTool.from_function(either), "cat", None),
    (StructuredTool.from_function(maybe), "make test", 2),
    (Runner(), "make test", 2),
    (StructuredTool.from_function(text_of), "make test", None),
]


@pytest.mark.parametrize(("made", "command", "code"), SAYS, ids=[f"{made.name}-{code}" for made, _, code in SAYS])
def test_a_tool_that_says_that_it_returns_a_dict_tells_its_exit_code(
    store: str, run: Run, made: Any, command: str, code: int | None
) -> None:
    run(agent_of(model(add("Fix it"), calls((made.name, {"command": command})), "Which one?"), store, made))
    assert [call.get("exit") for call in plan_of(store).items[0].calls] == [code]


def test_the_shell_of_langchain_says_its_exit_code(store: str, tmp_path: Path, run: Run) -> None:
    plan = calls(("plan", {"add": [{"text": "Fix it", "check": "true"}]}))
    played = model(plan, calls(("shell", {"command": "true"})), calls(("shell", {"command": "false"})), "Which one?")
    run(agent_of(played, store, before=[ShellToolMiddleware(str(tmp_path))]))
    (item,) = plan_of(store).items
    assert [call["exit"] for call in item.calls] == [0, 1]
    assert [one["exit"] for one in item.evidence] == [0]


def test_a_shell_that_is_closed_before_a_nudge_is_not_used_after_it(
    store: str, tmp_path: Path, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    shells = [ShellToolMiddleware(str(tmp_path))]
    found = run(agent_of(model(add("Read"), calls(("shell", {"command": "true"})), "Half of it."), store, after=shells))
    assert told(found) == []
    (warning,) = [one for one in caplog.records if one.name == "punchlist"]
    assert "behind ShellToolMiddleware" in warning.getMessage()
    turns: list[Turn] = [
        calls(("shell", {"command": "true"})),
        "Half of it.",
        calls(("shell", {"command": "false"})),
        "Which one?",
    ]
    found = run(agent_of(model(*turns), store, before=shells), "Continue.")
    assert [one for one in told(found) if one.startswith(NUDGE)]


def test_an_exception_in_a_tool_is_kept_and_is_the_frameworks_to_handle(store: str, run: Run) -> None:
    @tool
    def broken(path: str) -> str:
        """Read a file."""
        raise OSError(f"no such file: {path}")

    with pytest.raises(OSError, match="no such file"):
        run(agent_of(model(add("Read"), calls(("broken", {"path": "x"}))), store, broken))
    (item,) = plan_of(store).items
    assert [(call["name"], call["outcome"]) for call in item.calls] == [("broken", "failed")]


def test_parallel_calls_of_the_plan_in_one_turn_are_all_carried_out(store: str, run: Run) -> None:
    made = [("plan", {"add": [{"text": f"Step {number}"}]}) for number in range(6)]
    played = model(calls(*made, ("shell", {"command": "ls"})), "Which one?")
    found = run(agent_of(played, store, shell))
    assert {item.text for item in plan_of(store).items} == {f"Step {number}" for number in range(6)}
    assert len({one.tool_call_id for one in found["messages"] if one.type == "tool"}) == 7


# --- bad input -------------------------------------------------------------------------------------------------------

WRONG: list[dict[str, Any]] = [
    {"add": "Read"},
    {"done": "first"},
    {"done": [99]},
    {"add": [{"phase": "one"}]},
    {"remove": [1]},
    {"drop": [1]},
    {"add": {"text": 7}},
    {"self": 1, "config": {}, "run_manager": None, "tool_call_id": "x"},
    {},
]


@pytest.mark.parametrize("args", WRONG, ids=json.dumps)
def test_arguments_that_are_wrong_are_answered_and_the_run_goes_on(store: str, args: dict[str, Any]) -> None:
    played = model(calls(("plan", args)), "Which one?")
    found = agent_of(played, store).invoke({"messages": [HumanMessage("Go.")]})
    (answer,) = [one for one in found["messages"] if one.type == "tool"]
    assert answer.text
    assert len(played.requests) == 2


def broken(text: str, id: str | None = "call_x", name: str = "plan") -> AIMessage:
    call = {"name": name, "args": text, "id": id, "error": None, "type": "invalid_tool_call"}
    return AIMessage("", invalid_tool_calls=[call])


@pytest.mark.parametrize("text", ['{"add": [{"text": "Re', "Read the parser", "", "[1, 2]", "null"])
def test_a_call_that_is_not_json_is_answered_by_the_plan(store: str, run: Run, text: str) -> None:
    played = model(broken(text), add("Read"), "Which one?")
    found = run(agent_of(played, store))
    answer = found["messages"][2]
    assert answer.type == "tool"
    assert answer.tool_call_id == "call_x"
    assert answer.status == "error"
    assert len(played.requests) == 3
    assert is_prefix(played.requests)


def test_a_broken_call_without_an_id_is_answered_too(store: str, run: Run) -> None:
    played = model(broken("{", None), add("Read"), "Which one?")
    found = run(agent_of(played, store))
    assert len(told(found)) == 1
    assert len(played.requests) == 3


def test_a_model_that_only_makes_broken_calls_comes_to_an_end(store: str, run: Run) -> None:
    played = model(*[broken("{", f"call_{number}") for number in range(9)])
    run(agent_of(played, store))
    assert len(played.requests) == 4


def test_a_broken_call_beside_a_good_one_is_answered(store: str, run: Run) -> None:
    both = calls(("shell", {"command": "ls"}))
    both.invalid_tool_calls = broken("{", "call_bad").invalid_tool_calls
    found = run(agent_of(model(both, "Fine."), store, shell))
    assert {one.tool_call_id for one in found["messages"] if one.type == "tool"} >= {"call_bad"}


def test_a_broken_call_of_another_tool_is_nudged_like_an_early_stop(store: str, run: Run) -> None:
    played = model(add("Read"), broken("{", name="shell"), "Which one?")
    found = run(agent_of(played, store, shell))
    assert len(played.requests) == 3
    assert told(found)[0].startswith(NUDGE)


@pytest.mark.parametrize("why", [{"finish_reason": "length"}, {"stop_reason": "max_tokens"}])
def test_an_answer_that_was_cut_off_is_not_taken_for_a_question(store: str, run: Run, why: dict[str, str]) -> None:
    cut = AIMessage("Should I first read the parser, or is it enough to look at the lexer?", response_metadata=why)
    assert told(run(agent_of(model(add("Read"), cut, "Which one?"), store)))[0].startswith(NUDGE)


def test_a_stream_that_breaks_off_loses_nothing(store: str) -> None:
    saver = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t1"}}
    played = model(add("Read", "Fix"), "I have CUT", done(1), "Which one?")
    agent = agent_of(played, store, checkpointer=saver)
    with pytest.raises(ConnectionError):
        list(agent.stream({"messages": [HumanMessage("Go.")]}, config, stream_mode="messages"))
    edit(store, lambda plan: ops.add(plan, "Write a note"))
    found = agent.invoke(None, config)
    assert texts(plan_of(store)) == [("Read", "completed"), ("Fix", "in_progress"), ("Write a note", "pending")]
    assert (
        sum("Write a note" in text for text in told(found))
        + sum("Write a note" in one.text for one in found["messages"] if one.type == "tool")
        == 1
    )


def test_a_stream_of_words_tells_ours_from_the_models(store: str) -> None:
    async def main() -> list[Any]:
        played = model(add("Read"), "Half of it.", "That is all.")
        stream = agent_of(played, store).astream({"messages": [HumanMessage("Go.")]}, stream_mode="messages")
        return [one async for one, _ in stream]

    found = asyncio.run(main())
    assert [one.text for one in found if one.type == "human"][-1].startswith(NUDGE)
    assert all(one.additional_kwargs.get("lc_source") == SOURCE for one in found if one.text.startswith(NUDGE))
    assert "That is all. " in "".join(one.text for one in found if one.type == "AIMessageChunk")


# --- interrupts ------------------------------------------------------------------------------------------------------


def test_a_resume_after_an_interrupt_is_not_the_users_word(store: str, run: Run) -> None:
    ask = HumanInTheLoopMiddleware(interrupt_on={"shell": True})
    played = model(add("Read"), calls(("shell", {"command": "ls"})), "I stop here.")
    agent = agent_of(played, store, shell, before=[ask], checkpointer=InMemorySaver())
    assert run(agent)["__interrupt__"]
    edit(store, lambda plan: ops.pause(plan, "the user is away"))
    found = run(agent, Command(resume={"decisions": [{"type": "approve"}]}))
    assert plan_of(store).paused, "the user's next words would have ended it"
    assert found["messages"][-1].text == "I stop here."
    assert not any(text.startswith(NUDGE) for text in told(found))


def test_a_tool_that_asks_in_the_middle_is_kept_once(store: str, run: Run) -> None:
    @tool
    def deploy(target: str) -> str:
        """Deploy."""
        return str(interrupt({"deploy": target}))

    played = model(add("Deploy it"), calls(("deploy", {"target": "staging"})), "Which one now?")
    agent = agent_of(played, store, deploy, checkpointer=InMemorySaver())
    assert run(agent)["__interrupt__"]
    assert plan_of(store).items[0].calls == ()
    run(agent, Command(resume="yes"))
    assert [call["text"] for call in plan_of(store).items[0].calls] == ["yes"]


def test_a_run_that_failed_goes_on_where_it_was(store: str, run: Run) -> None:
    played = model(add("Read"), ConnectionError("lost"), done(1), "Done.")
    agent = agent_of(played, store, checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        run(agent)
    run(agent, None)
    assert texts(plan_of(store)) == [("Read", "completed")]
    assert is_prefix(played.requests)


def test_what_was_told_in_a_request_that_failed_is_told_again_and_once(store: str, run: Run) -> None:
    def edit_and_look() -> AIMessage:
        edit(store, lambda plan: ops.note(plan, "1", "mind the quotes"))
        return calls(("shell", {"command": "look"}))

    played = model(add("Read"), edit_and_look, ConnectionError("lost"), "Which one?", "That one?")
    agent = agent_of(played, store, shell, checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        run(agent)
    run(agent, "Go on.")
    run(agent, "This one.")
    counts = [str(request.wire).count("mind the quotes") for request in played.requests]
    assert counts == [0, 0, 1, 1, 1]


BATCHED = [{"type": "reject"}, {"type": "reject", "message": "Not now."}]


@pytest.mark.parametrize("decision", BATCHED, ids=["plain", "with a reason"])
def test_a_call_that_the_user_refused_is_not_followed_by_a_nudge(
    store: str, run: Run, decision: dict[str, str]
) -> None:
    ask = HumanInTheLoopMiddleware(interrupt_on={"shell": True})
    turns: list[Turn] = [add("Read"), calls(("shell", {"command": "ls"})), "Ok, I leave it."]
    agent = agent_of(model(*turns), store, shell, before=[ask], checkpointer=InMemorySaver())
    assert run(agent)["__interrupt__"]
    found = run(agent, Command(resume={"decisions": [decision]}))
    assert found["messages"][-1].text == "Ok, I leave it."
    assert told(found) == []
    assert plan_of(store).items[0].calls == ()


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_call_that_the_user_refused_when_it_began_is_not_followed_by_a_nudge(
    store: str, run: Run, place: str
) -> None:
    if "interrupt_mode" not in inspect.signature(HumanInTheLoopMiddleware).parameters:
        pytest.skip("this LangChain asks once for all calls of a turn")
    ask = HumanInTheLoopMiddleware(interrupt_on={"shell": True}, interrupt_mode="per_call")
    turns: list[Turn] = [add("Read"), calls(("shell", {"command": "ls"})), "Ok, I leave it."]
    given: dict[str, Any] = {place: [ask]}
    agent = agent_of(model(*turns), store, shell, checkpointer=InMemorySaver(), **given)
    (asked,) = run(agent)["__interrupt__"]
    found = run(agent, Command(resume={asked.id: {"type": "reject"}}))
    assert found["messages"][-1].text == "Ok, I leave it."
    assert told(found) == []
    assert plan_of(store).items[0].calls == ()


def test_after_a_refusal_a_nudge_comes_again_once_the_plan_has_changed(store: str, run: Run) -> None:
    ask = HumanInTheLoopMiddleware(interrupt_on={"shell": True})
    turns: list[Turn] = [
        add("Read", "Fix"),
        calls(("shell", {"command": "ls"})),
        done(1),
        "Half of it.",
        "That is all.",
    ]
    agent = agent_of(model(*turns), store, shell, before=[ask], checkpointer=InMemorySaver())
    run(agent)
    found = run(agent, Command(resume={"decisions": [{"type": "reject"}]}))
    assert [text.startswith(NUDGE) for text in told(found)] == [True]


def test_an_answer_of_the_user_in_place_of_a_tool_is_not_a_refusal(store: str, run: Run) -> None:
    ask = HumanInTheLoopMiddleware(interrupt_on={"shell": True})
    turns: list[Turn] = [add("Read"), calls(("shell", {"command": "ls"})), "Half of it.", "That is all."]
    agent = agent_of(model(*turns), store, shell, before=[ask], checkpointer=InMemorySaver())
    run(agent)
    found = run(agent, Command(resume={"decisions": [{"type": "respond", "message": "a.py"}]}))
    assert [text.startswith(NUDGE) for text in told(found)] == [True]


def test_neither_a_limit_nor_a_tool_that_fails_is_a_refusal(store: str, run: Run) -> None:
    limit = ToolCallLimitMiddleware(tool_name="shell", run_limit=1)
    look = [calls(("shell", {"command": f"look {number}"})) for number in range(2)]
    found = run(agent_of(model(add("Read"), *look, "Half of it.", "That is all."), store, shell, before=[limit]))
    assert [text.startswith(NUDGE) for text in told(found)] == [True]

    @tool
    def lost(path: str) -> str:
        """Read a file."""
        raise ToolException("no such file")

    lost.handle_tool_error = True
    turns: list[Turn] = [add("Read"), calls(("lost", {"path": "x"})), "Half of it.", "That is all."]
    found = run(agent_of(model(*turns), store, lost), thread="t2")
    assert [text.startswith(NUDGE) for text in told(found)] == [True]


# --- with other parts of LangChain -----------------------------------------------------------------------------------


class Report(BaseModel):
    """What was found."""

    words: str


def test_a_structured_answer_before_the_end_is_nudged_and_the_last_one_counts(store: str, run: Run) -> None:
    early, late = calls(("Report", {"words": "Half."})), calls(("Report", {"words": "All of it."}))
    played = model(add("Read"), early, done(1), late)
    found = run(agent_of(played, store, response_format=ToolStrategy(Report)))
    assert found["structured_response"] == Report(words="All of it.")
    assert len(told(found)) == 1
    assert played.requests[0].names == ["plan", "Report"]
    assert is_prefix(played.requests)


def test_a_limit_of_tool_calls_ends_the_run(store: str, run: Run) -> None:
    limit = ToolCallLimitMiddleware(tool_name="shell", run_limit=1, exit_behavior="end")
    look = [calls(("shell", {"command": f"look {number}"})) for number in range(2)]
    found = run(agent_of(model(add("Read"), *look, "never asked"), store, shell, before=[limit]))
    assert told(found) == []


def test_successive_requests_begin_with_the_one_before(store: str, run: Run) -> None:
    def edited() -> AIMessage:
        edit(store, lambda plan: ops.add(plan, "Write a note"))
        return calls(("shell", {"command": "make"}), ("plan", {"done": [1]}))

    saver = InMemorySaver()
    turns: list[Turn] = [add("Read", "Fix"), edited, "Half of it.", broken("{"), done(2), "Which note?"]
    turns += [calls(("plan", {"block": [3], "why": "it needs a title"})), "Done so far.", "What title?"]
    played = model(*turns)
    agent = agent_of(played, store, shell, system_prompt="You write code.", checkpointer=saver)
    run(agent)
    edit(store, lambda plan: ops.add(plan, "And a title"))
    run(agent, "A short one.")
    assert len(played.requests) >= 8
    assert is_prefix(played.requests)


# --- several at once -------------------------------------------------------------------------------------------------


@tool
def nothing() -> str:
    """Do nothing."""
    return "ok"


class Planner(Model):
    """Plans what it is asked for, and asks back."""

    def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
        asked = next(str(one.text) for one in messages if one.type == "human")
        if not any(one.type == "tool" for one in messages):
            made: Turn = add(asked)
        else:
            made = "Which one?"
        return Model(messages=iter([made]))._generate(messages, *args, **options)  # type: ignore[list-item]


def test_runs_in_threads_keep_their_plans_apart(store: str) -> None:
    agent = create_agent(Planner(messages=iter([])), [nothing], middleware=[Punchlist(store)])
    given = [{"messages": [HumanMessage(f"Step {number}")]} for number in range(12)]
    configs: Any = [{"configurable": {"thread_id": f"t{number}"}} for number in range(12)]
    agent.batch(given, configs)  # type: ignore[arg-type]
    assert [texts(plan_of(store, f"t{number}")) for number in range(12)] == [
        [(f"Step {number}", "in_progress")] for number in range(12)
    ]


def test_runs_in_tasks_keep_their_plans_apart_in_any_event_loop(store: str) -> None:
    agent = create_agent(Planner(messages=iter([])), [nothing], middleware=[Punchlist(store)])

    async def main(start: int) -> None:
        runs: list[Any] = []
        for number in range(start, start + 6):
            config: Any = {"configurable": {"thread_id": f"t{number}"}}
            runs.append(agent.ainvoke({"messages": [HumanMessage(f"Step {number}")]}, config))
        await asyncio.gather(*runs)

    asyncio.run(main(0))
    asyncio.run(main(6))
    assert [texts(plan_of(store, f"t{number}")) for number in range(12)] == [
        [(f"Step {number}", "in_progress")] for number in range(12)
    ]


def test_without_a_thread_the_conversation_is_known_by_its_first_message(store: str, run: Run) -> None:
    middleware = Punchlist(store)

    def agent(*turns: Turn) -> Any:
        return create_agent(model(*turns), [nothing], middleware=[middleware])

    first = run(agent(add("Read"), "Which one?"), thread="")
    other = run(agent(add("Write"), "Which one?"), thread="")
    again = run(agent(done(1), "Done."), {"messages": [*first["messages"], HumanMessage("It.")]}, thread="")
    assert again["todos"] == [{"content": "Read", "status": "completed"}]
    assert other["todos"] == [{"content": "Write", "status": "in_progress"}]


def test_a_session_that_is_given_is_the_one_of_every_run(store: str, run: Run) -> None:
    played = model(add("Read"), "Which one?")
    run(create_agent(played, middleware=[Punchlist(store, session="mine")]), thread="t9")
    assert len(plan_of(store, "mine").items) == 1


# --- sub-agents ------------------------------------------------------------------------------------------------------


def plans(store: str) -> dict[str, list[str]]:
    """What is on each plan of the session, by agent."""
    path = store.removeprefix("sqlite:")
    command = [sys.executable, "-m", "punchlist", "plans", "--json", "--store", f"sqlite:{path}"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout)
    return {row["agent"]: [one for one, _ in texts(plan_of(store, row["session"], row["agent"]))] for row in rows}


def test_an_agent_that_is_a_tool_has_a_plan_for_each_call(store: str, run: Run) -> None:
    worker = create_agent(Planner(messages=iter([])), [nothing], middleware=[Punchlist(store)], name="worker")

    @tool
    def delegate(task: str) -> str:
        """Hand over a task."""
        return str(worker.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    handed = calls(("plan", {"add": ["Main"]}), ("delegate", {"task": "One"}), ("delegate", {"task": "Two"}))
    run(agent_of(model(handed, "Which one?"), store, delegate))
    found = plans(store)
    assert found.pop("main") == ["Main"]
    assert sorted(found.values()) == [["One"], ["Two"]]
    assert all("-" in name for name in found)


def test_an_agent_that_calls_itself_does_not_lock_and_has_a_plan_of_its_own(store: str, run: Run) -> None:
    agents: list[Any] = []

    @tool
    def again(task: str) -> str:
        """Start over."""
        return str(agents[0].invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    played = model(
        calls(("plan", {"add": ["Outer"]}), ("again", {"task": "Inner"})), add("Inner"), "Half of it.", "Which one?"
    )
    agents.append(agent_of(played, store, again))
    found = run(agents[0])
    assert sorted(plans(store).values()) == [["Inner"], ["Outer"]]
    assert told(found) == [], "a sub-agent is not nudged"


def test_a_node_of_a_graph_keeps_its_plan_from_turn_to_turn(store: str, run: Run) -> None:
    from langgraph.graph import START, MessagesState, StateGraph

    played = model(add("Read"), "Which one?", done(1), "Done.")
    graph: Any = StateGraph(MessagesState)
    graph.add_node("coder", agent_of(played, store))
    graph.add_edge(START, "coder")
    compiled = graph.compile(checkpointer=InMemorySaver())
    run(compiled)
    run(compiled, "The first.")
    assert plans(store) == {"main": ["Read"]}
    assert texts(plan_of(store)) == [("Read", "completed")]


# --- what fails ------------------------------------------------------------------------------------------------------


def test_a_store_that_is_gone_stops_no_run(tmp_path: Path, run: Run, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plan.db").mkdir()
    played = model(add("Read"), calls(("shell", {"command": "ls"})), "Done.")
    with caplog.at_level(logging.WARNING, "punchlist"):
        found = run(agent_of(played, f"sqlite:{tmp_path}/plan.db", shell))
    assert found["messages"][-1].text == "Done."
    assert "Not saved" in found["messages"][2].text
    assert len([one for one in caplog.records if one.name == "punchlist"]) == 1
    assert is_prefix(played.requests)


def test_a_store_that_is_locked_stops_no_run(store: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(agent_of(model(add("Read"), "Which one?"), store))
    monkeypatch.setattr(SqliteStore.__init__, "__defaults__", ("normal", "0.01", ""))  # seconds that it waits
    holder = sqlite3.connect(store.removeprefix("sqlite:"), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        found = run(agent_of(model(done(1), "Done."), store))
    finally:
        holder.close()
    assert found["messages"][-1].text == "Done."
    assert "Not saved" in found["messages"][2].text
    assert texts(plan_of(store)) == [("Read", "in_progress")]


def test_a_run_that_is_cancelled_ends_and_the_store_is_free(store: str) -> None:
    begun = Event()

    @tool
    async def wait() -> str:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    middleware = Punchlist(store)

    async def main() -> None:
        config: Any = {"configurable": {"thread_id": "t1"}}
        agent = create_agent(model(add("Read"), calls(("wait", {}))), [wait], middleware=[middleware])
        task = asyncio.create_task(agent.ainvoke({"messages": [HumanMessage("Go.")]}, config))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        agent = create_agent(model(done(1), "Done."), [wait], middleware=[middleware])
        await agent.ainvoke({"messages": [HumanMessage("Go on.")]}, config)

    asyncio.run(main())
    assert texts(plan_of(store)) == [("Read", "completed")]
    assert plan_of(store).items[0].calls == (), "a call that was cancelled has no outcome"


def test_threads_on_one_session_lose_nothing(store: str) -> None:
    start = Barrier(8)
    middleware = Punchlist(store, session="shared")

    def work(number: int) -> None:
        agent = create_agent(model(add(f"Step {number}"), "Which one?"), [nothing], middleware=[middleware])
        start.wait()
        agent.invoke({"messages": [HumanMessage("Go.")]})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sorted(item.text for item in plan_of(store, "shared").items) == [f"Step {number}" for number in range(8)]


def test_a_dialect_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(punchlist.PunchlistError):
        Punchlist("memory:", dialect="klingon")


def test_without_langchain_the_import_says_what_to_install() -> None:
    program = "import sys; sys.modules['langchain'] = None; import punchlist.adapters.langchain"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert "pip install 'punchlist[langchain]'" in done.stderr.splitlines()[-1]
    assert "During handling" not in done.stderr


def test_the_middleware_can_be_closed_and_used_again(store: str, run: Run) -> None:
    middleware = Punchlist(store)
    for number in range(2):
        run(create_agent(model(add(f"Step {number}"), "Which one?"), middleware=[middleware]))
        middleware.close()
    assert len(plan_of(store).items) == 2


# --- the conformance kit ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_conformance_kit_passes(how: str) -> None:
    def make_agent(case: conformance.Case) -> Any:
        @tool("shell")
        def run_shell(command: str) -> str:
            """Run a command."""
            return str(case.tool(command))

        played = Bridge(asked=case.model)
        middleware = Punchlist(case.store)
        agent: Any = create_agent(played, [run_shell], middleware=[middleware], checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": case.session}}

        def run(prompt: str) -> str:
            given = {"messages": [HumanMessage(prompt)]}
            if how == "sync":
                return str(agent.invoke(given, config)["messages"][-1].text)
            return str(asyncio.run(agent.ainvoke(given, config))["messages"][-1].text)

        def compact() -> None:
            summary = played.invoke([*agent.get_state(config).values["messages"], HumanMessage("Summarize it.")])
            agent.update_state(config, {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage(summary.text)]})

        run.compact = compact  # type: ignore[attr-defined]
        run.close = middleware.close  # type: ignore[attr-defined]
        return run

    report = conformance.check(make_agent)
    report.check()
    assert [one.name for one in report.results if one.outcome != "passed"] == []


def test_a_request_takes_no_more_steps_of_the_graph_than_without_a_plan(store: str, run: Run) -> None:
    """Each of them is written to the checkpoints, which takes longer than anything the plan does."""
    steps = []
    for middleware in ([], [Punchlist(store)]):
        turns: list[Turn] = [calls(("nothing", {})), calls(("nothing", {})), calls(("nothing", {})), "Done."]
        agent: Any = create_agent(model(*turns), [nothing], middleware=middleware, checkpointer=InMemorySaver())
        run(agent)
        steps.append(len(list(agent.get_state_history({"configurable": {"thread_id": "t1"}}))))
    assert steps[1] - steps[0] == 2  # one where the run begins, and one where it ends

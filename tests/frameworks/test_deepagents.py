"""The plan in a deep agent: its sub-agents, its own summarization, its shell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend, StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

import punchlist
from punchlist.adapters.langchain import Punchlist
from punchlist.testing import conformance
from tests.frameworks.langchain_model import Bridge, Model, add, calls, done, model
from tests.frameworks.test_langchain import is_prefix, plan_of, plans, texts, told

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    def play(agent: Any, said: Any = "Fix the parser.", thread: str = "t1") -> dict[str, Any]:
        given = {"messages": [HumanMessage(said)]} if isinstance(said, str) else said
        config = {"configurable": {"thread_id": thread}}
        if request.param == "sync":
            return dict(agent.invoke(given, config))
        return dict(asyncio.run(agent.ainvoke(given, config)))

    return play


@tool
def look(path: str) -> str:
    """Look at a file."""
    return f"{path}: " + "a line of a file, and " * 20


def listed(texts: list[str]) -> list[str]:
    """What was told of a plan that was lost; there may be a reminder as well."""
    return [text for text in texts if "what is open:" in text]


class Crew(Model):
    """The main agent hands over three tasks; whoever gets one plans it, asks nothing and reports."""

    def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
        asked = next(str(one.text) for one in messages if one.type == "human")
        results = [one for one in messages if one.type == "tool"]
        made: str | AIMessage
        if asked == "Research it.":
            made = self._lead(len(results))
        elif results:
            made = f"{asked} is done so far."
        else:
            made = add(asked)
        return Model(messages=iter([made]))._generate(messages, *args, **options)

    def _lead(self, results: int) -> str | AIMessage:
        if results:
            return "Which one is the best?"
        kinds = [("One", "researcher"), ("Two", "researcher"), ("Three", "general-purpose")]
        tasks = [("task", {"description": words, "subagent_type": kind}) for words, kind in kinds]
        return calls(("plan", {"add": ["Main"]}), *tasks)


def crew(store: str) -> Any:
    named = Punchlist(store, agent="researcher")
    main = Punchlist(store)
    return create_deep_agent(
        Crew(messages=iter([])),
        middleware=[main],
        subagents=[
            {"name": "researcher", "description": "finds out", "system_prompt": "Find out.", "middleware": [named]},
            {"name": "general-purpose", "description": "any", "system_prompt": "Do it.", "middleware": [main]},
        ],
    )


def test_the_tool_is_in_the_first_request_of_a_deep_agent(store: str, run: Run) -> None:
    played = model(add("Read", "Fix"), "Half of it.", done(1, 2), "Both are done.")
    found = run(create_deep_agent(played, [look], middleware=[Punchlist(store)]))
    assert "plan" in played.requests[0].names
    assert "write_todos" not in played.requests[0].names
    assert "make a plan with `plan`" in played.requests[0].system
    assert len(told(found)) == 1
    assert [one["status"] for one in found["todos"]] == ["completed", "completed"]
    assert is_prefix(played.requests)


def test_sub_agents_have_plans_of_their_own_also_two_of_the_same_kind_at_once(store: str, run: Run) -> None:
    found = run(crew(store), "Research it.")
    kept = plans(store)
    assert found["todos"] == [{"content": "Main", "status": "in_progress"}]
    assert kept.pop("main") == ["Main"]
    assert sorted(kept.values()) == [["One"], ["Three"], ["Two"]]
    assert sorted(name.rpartition("-")[0] for name in kept) == ["general-purpose", "researcher", "researcher"]


def test_a_sub_agent_that_goes_on_after_a_restart_has_the_same_plan(store: str, run: Run) -> None:
    @tool
    def ask(question: str) -> str:
        """Ask the user."""
        return str(interrupt(question))

    saver = InMemorySaver()

    def agent(*turns: Any) -> Any:
        played = model(*turns)
        helper = {"name": "helper", "description": "helps", "system_prompt": "", "middleware": [Punchlist(store)]}
        return create_deep_agent(
            played,
            [ask],
            middleware=[Punchlist(store)],
            subagents=[helper],  # type: ignore[list-item]
            checkpointer=saver,
        )

    handed = calls(("task", {"description": "Deploy", "subagent_type": "helper"}))
    before = run(agent(handed, add("Deploy it"), calls(("ask", {"question": "Where?"}))))
    assert before["__interrupt__"]
    run(agent(done(1), "It is deployed.", "All done."), Command(resume="To staging."))
    (name,) = plans(store)
    assert name.startswith("helper-")
    assert texts(plan_of(store, agent=name)) == [("Deploy it", "completed")]


def test_a_fork_has_a_plan_of_its_own(store: str, run: Run) -> None:
    handed = calls(("task", {"description": "Look closer", "subagent_type": "twin"}))
    played = model(add("Read"), handed, add("Look closer"), "Looked.", "Which one?")
    twin = {"name": "twin", "description": "goes on", "mode": "fork"}
    run(create_deep_agent(played, middleware=[Punchlist(store)], subagents=[twin]))  # type: ignore[list-item]
    kept = plans(store)
    assert kept.pop("main") == ["Read"]
    assert list(kept.values()) == [["Look closer"]]


def test_a_summary_that_only_the_request_has_gets_the_plan_back_once(store: str, run: Run) -> None:
    brief = SummarizationMiddleware(
        model(*[f"Summary {number}." for number in range(9)]),
        backend=StateBackend(),
        trigger=("messages", 8),
        keep=("messages", 3),
    )
    looks = [calls(("look", {"path": f"file {number}"})) for number in range(12)]
    played = model(add("Read the parser", "Fix it"), *looks, done(1), "Which one?")
    agent = create_deep_agent(played, [look], middleware=[brief, Punchlist(store)], checkpointer=InMemorySaver())
    found = run(agent)
    groups: dict[str, list[Any]] = {}
    for request in played.requests:
        groups.setdefault(request.wire[0], []).append(request)
    assert len(groups) >= 3, "more than once"
    for requests in list(groups.values())[1:]:
        assert all("Read the parser" in "".join(request.wire) for request in requests[:1])
        assert all(len(listed(told(request))) == 1 for request in requests)
        assert is_prefix(requests)
    assert 2 <= len(listed(told(found))) < len(groups)
    assert texts(plan_of(store)) == [("Read the parser", "completed"), ("Fix it", "in_progress")]


def test_the_shell_of_a_deep_agent_says_its_exit_code(store: str, tmp_path: Path, run: Run) -> None:
    plan = calls(("plan", {"add": [{"text": "Fix it", "check": "true"}]}))
    printed = "printf '[Command succeeded with exit code 0]'; exit 3"
    played = model(plan, *[calls(("execute", {"command": line})) for line in ("true", printed)], "Which one?")
    backend = LocalShellBackend(root_dir=str(tmp_path), virtual_mode=True)
    run(create_deep_agent(played, backend=backend, middleware=[Punchlist(store)]))
    (item,) = plan_of(store).items
    assert [call["exit"] for call in item.calls] == [0, 3]
    assert [one["exit"] for one in item.evidence] == [0]


def test_the_plan_of_a_deep_agent_survives_a_restart(store: str, run: Run) -> None:
    run(create_deep_agent(model(add("Read"), "Which one?"), middleware=[Punchlist(store)]))
    played = model(done(1), "Done.")
    run(create_deep_agent(played, middleware=[Punchlist(store)]), "The first.")
    assert "Read" in "".join(told(played.requests[0]))
    with punchlist.open(store, session="t1") as desk:
        assert desk.load().progress.completed == 1


def test_the_conformance_kit_passes_in_a_deep_agent() -> None:
    def make_agent(case: conformance.Case) -> Any:
        @tool("shell")
        def run_shell(command: str) -> str:
            """Run a command."""
            return str(case.tool(command))

        middleware = Punchlist(case.store)
        agent: Any = create_deep_agent(Bridge(asked=case.model), [run_shell], middleware=[middleware])
        config: Any = {"configurable": {"thread_id": case.session}}
        talk: list[Any] = []  # without a checkpointer, as many have it

        def run(prompt: str) -> str:
            talk[:] = agent.invoke({"messages": [*talk, HumanMessage(prompt)]}, config)["messages"]
            return str(talk[-1].text)

        run.close = middleware.close  # type: ignore[attr-defined]
        return run

    report = conformance.check(make_agent)
    report.check()
    assert [one.name for one in report.results if one.outcome != "passed"] == []

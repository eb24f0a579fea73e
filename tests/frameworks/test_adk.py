"""The plugin for Google ADK, with a model that plays a script, ADK's own runners and sessions, and a SQLite store."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import BaseAgent, LlmAgent, ParallelAgent, RunConfig, SequentialAgent
from google.adk.agents._streaming_mode import StreamingMode
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig, ResumabilityConfig
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.workflow import Workflow
from google.genai import types
from pydantic import BaseModel, PrivateAttr

import punchlist
from punchlist import ops
from punchlist.adapters.adk import PunchlistPlugin
from punchlist.testing import conformance

NUDGE = "The plan is not finished"


class Request:
    """What a model was asked, as data."""

    def __init__(self, asked: LlmRequest) -> None:
        self.contents = [json.dumps(one.model_dump(mode="json", exclude_none=True)) for one in asked.contents]
        self.system = asked.config.system_instruction
        tools = [one for one in asked.config.tools or [] if isinstance(one, types.Tool)]
        self.tools = [json.dumps(one.model_dump(mode="json", exclude_none=True)) for one in tools]
        self.names = [one.name for tool in tools for one in tool.function_declarations or []]

    @property
    def words(self) -> str:
        return "\n".join(self.contents)


Turn = Any  # a text, calls as a list of tuples, an error, a list of chunks, or a function that returns one of these


class Script(BaseLlm):
    """A model that plays a script."""

    _turns: list[Turn] = PrivateAttr()
    _requests: list[Request] = PrivateAttr(default_factory=list)

    def __init__(self, *turns: Turn) -> None:
        super().__init__(model="script")
        self._turns = list(turns)

    @property
    def requests(self) -> list[Request]:
        return self._requests

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._requests.append(Request(llm_request))
        turn = self._turns.pop(0)
        if callable(turn):
            turn = turn()
        if asyncio.iscoroutine(turn):
            turn = await turn
        for chunk in turn if isinstance(turn, tuple) else ():
            if isinstance(chunk, Exception):
                raise chunk
            yield LlmResponse(content=said(chunk), partial=True)
        turn = "".join(turn) if isinstance(turn, tuple) else turn
        yield LlmResponse(content=said(turn) if isinstance(turn, str) else called(*turn))


def said(text: str) -> types.Content:
    return types.Content(role="model", parts=[types.Part(text=text)])


def called(*calls: tuple[str, Any]) -> types.Content:
    parts = [types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in calls]
    return types.Content(role="model", parts=parts)


def add(*texts: str) -> list[tuple[str, Any]]:
    return [("plan", {"add": [{"text": text} for text in texts]})]


def done(*ids: int) -> list[tuple[str, Any]]:
    return [("plan", {"done": list(ids)})]


def shell(command: str) -> dict[str, Any]:
    """Run a command."""
    return {"exit_code": 1 if "fail" in command else 0, "stdout": "ran"}


def coder(*turns: Turn, name: str = "coder", tools: Any = (shell,), **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=Script(*turns), instruction="You fix code.", tools=list(tools), **more)


def script(agent: LlmAgent) -> Script:
    model = agent.model
    assert isinstance(model, Script)
    return model


async def tell(runner: Runner, text: str, session: str = "s1", **more: Any) -> list[Event]:
    """Say something to an agent, and return the events."""
    service = runner.session_service
    if await service.get_session(app_name=runner.app_name, user_id="u", session_id=session) is None:
        await service.create_session(app_name=runner.app_name, user_id="u", session_id=session)
    message = types.Content(role="user", parts=[types.Part(text=text)])
    run = runner.run_async(user_id="u", session_id=session, new_message=message, **more)
    return [event async for event in run]


def run(agent: Any, store: str, *prompts: str, session: str = "s1", plugins: Any = (), **more: Any) -> list[Event]:
    """Say some things to an agent, in a new runner with a plan."""

    async def main() -> list[Event]:
        runner = InMemoryRunner(agent, plugins=[*plugins, PunchlistPlugin(store)], **more)
        events: list[Event] = []
        for prompt in prompts or ("Fix the parser.",):
            events += await tell(runner, prompt, session)
        await runner.close()
        return events

    return asyncio.run(main())


def texts(events: list[Event]) -> list[str]:
    parts = [part for event in events if event.content for part in event.content.parts or []]
    return [part.text for part in parts if part.text]


def load(store: str, session: str = "s1", agent: str = "main", calls: bool = False) -> punchlist.Plan:
    with punchlist.open(store, session=session, agent=agent) as desk:
        return desk.load(calls=calls)


def items(store: str, session: str = "s1", agent: str = "main") -> list[str]:
    return [item.text for item in load(store, session, agent).items]


def edit(store: str, change: Callable[[punchlist.Plan], punchlist.Plan], session: str = "s1") -> None:
    """Edit a plan as the user, in another terminal."""
    with punchlist.open(store, session=session) as desk:
        desk.change(change)


def expect_stable(requests: list[Request]) -> None:
    """Each request begins with the one before."""
    for before, after in pairwise(requests):
        assert after.contents[: len(before.contents)] == before.contents
        assert after.tools == before.tools
        assert after.system == before.system


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


# --- the request -----------------------------------------------------------------------------------------------------


def test_the_tool_and_its_text_are_in_the_first_request(store: str) -> None:
    agent = coder("Hello.")
    run(agent, store, "Hello.")
    (request,) = script(agent).requests
    assert request.names == ["shell", "plan"]
    assert isinstance(request.system, str)
    assert request.system.startswith("You fix code.")
    assert "make a plan with `plan`" in request.system
    assert request.contents == ['{"parts": [{"text": "Hello."}], "role": "user"}']


def test_successive_requests_begin_with_the_ones_before(store: str) -> None:
    def rename() -> Turn:
        edit(store, lambda plan: ops.rename(plan, "2", "Fix the lexer"))
        return [("shell", {"command": "ls"})]

    agent = coder(add("Read", "Fix"), rename, "Half of it.", done(1), "More?", add("Test"), done(2, 3), "All done.")
    run(agent, store, "Fix the parser.", "Yes.")
    requests = script(agent).requests
    assert len(requests) == 8
    expect_stable(requests)
    assert requests[-1].words.count(NUDGE) == 1
    assert "Fix the lexer" in requests[2].contents[-1]


def test_a_user_s_edit_is_told_once_and_not_undone(store: str) -> None:
    def change() -> Turn:
        edit(store, lambda plan: ops.rename(plan, "2", "Write the tests first"))
        return [("shell", {"command": "ls"})]

    agent = coder(add("Read", "Fix"), change, [("shell", {"command": "ls"})], done(1), "Which one?")
    run(agent, store)
    told = ["Write the tests first" in request.contents[-1] for request in script(agent).requests]
    assert told == [False, False, True, False, True]  # and in the answer of the call that starts it
    assert items(store) == ["Read", "Write the tests first"]


def test_an_edit_between_two_messages_is_told_with_the_next(store: str) -> None:
    agent = coder(add("Read", "Fix"), "Shall I?", "All right?")

    async def main() -> None:
        runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
        await tell(runner, "Fix it.")
        edit(store, lambda plan: ops.note(plan, "1", "start with the lexer"))
        await tell(runner, "Yes.")
        await runner.close()

    asyncio.run(main())
    last = script(agent).requests[-1]
    assert last.words.count("start with the lexer") == 1
    assert "Yes." in last.contents[-2]
    expect_stable(script(agent).requests)


def test_a_tool_of_the_same_name_is_left_alone(store: str, caplog: pytest.LogCaptureFixture) -> None:
    def plan(goal: str) -> str:
        """Plan something."""
        return f"planned {goal}"

    agent = coder([("plan", {"goal": "lunch"})], "Done.", tools=[plan])
    events = run(agent, store)
    assert script(agent).requests[0].names == ["plan"]
    assert "make a plan" not in str(script(agent).requests[0].system)
    assert "planned lunch" in script(agent).requests[1].words
    assert texts(events) == ["Done."]
    assert [one.getMessage()[:25] for one in caplog.records if one.name == "punchlist"] == ["an agent has a tool 'plan"]


def test_an_agent_that_answers_in_json_is_left_alone(store: str) -> None:
    class Answer(BaseModel):
        text: str

    agent = coder('{"text": "yes"}', tools=[], output_schema=Answer)
    run(agent, store)
    assert script(agent).requests[0].names == []


def test_an_agent_without_history_keeps_its_turn(store: str) -> None:
    def change() -> Turn:
        edit(store, lambda plan: ops.note(plan, "1", "start with the lexer"))
        return [("shell", {"command": "ls"})]

    agent = coder(add("Read", "Fix"), change, "Half.", "Really.", "Again?", include_contents="none")
    run(agent, store, "Fix the parser.", "Go on.")
    requests = script(agent).requests
    expect_stable(requests[:4])
    assert "start with the lexer" in requests[2].words
    assert NUDGE in requests[3].contents[-1]
    assert "Fix the parser." not in requests[4].words
    assert "Read" in requests[4].words, "a conversation without the plan is told it"


# --- the end of a turn -----------------------------------------------------------------------------------------------


def test_an_early_stop_is_nudged_and_the_run_continues(store: str) -> None:
    agent = coder(add("Read", "Fix"), "I have read it.", done(1, 2), "Fixed.")
    events = run(agent, store)
    assert texts(events) == ["I have read it.", "Fixed."]
    assert all(event.is_final_response() for event in events if texts([event]))
    assert script(agent).requests[2].contents[-1].count(NUDGE) == 1
    assert "code_execution" not in script(agent).requests[-1].words


def test_nudges_are_bounded(store: str) -> None:
    agent = coder(add("Read", "Fix"), "I have read it.", "I stop.", "Still.")
    events = run(agent, store)
    assert texts(events) == ["I have read it.", "I stop."]
    assert len(script(agent).requests) == 3


@pytest.mark.parametrize(
    ("prompt", "last"),
    [
        ("Fix the parser.", ["Shall I also fix the lexer?"]),
        ("Make a plan, then wait for me.", ["Here it is."]),
        ("Fix it.", [[("plan", {"pause": "The deploy key has expired; ops has a new one."})], "I have paused."]),
    ],
)
def test_a_question_and_a_pause_and_wait_are_respected(store: str, prompt: str, last: list[Turn]) -> None:
    agent = coder(add("Read", "Fix"), *last)
    events = run(agent, store, prompt)
    assert len(texts(events)) == 1
    assert NUDGE not in script(agent).requests[-1].words


def test_words_of_a_callback_are_not_a_turn(store: str) -> None:
    agent = coder(add("Read", "Fix"), "Shall I?", after_agent_callback=lambda callback_context: said("Thank you."))
    assert texts(run(agent, store)) == ["Shall I?", "Thank you."]


def test_an_output_key_holds_all_that_was_said(store: str) -> None:
    async def main() -> Any:
        runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
        await tell(runner, "Fix it.")
        session = await runner.session_service.get_session(app_name=runner.app_name, user_id="u", session_id="s1")
        assert session is not None
        return session.state["answer"]

    agent = coder(add("Read"), "I have read it.", done(1), "Fixed.", output_key="answer")
    assert asyncio.run(main()) == "I have read it.Fixed."  # as ADK does with words before a tool call


def test_a_limit_of_model_calls_counts_nudges(store: str) -> None:
    agent = coder(add("Read", "Fix"), "I have read it.", "I stop.")
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    with pytest.raises(Exception, match="Max number of llm calls"):
        asyncio.run(tell(runner, "Fix it.", run_config=RunConfig(max_llm_calls=2)))
    assert len(script(agent).requests) == 2


# --- memory ----------------------------------------------------------------------------------------------------------


def test_the_plan_survives_another_process(store: str, tmp_path: Path) -> None:
    program = f"""
import os
from tests.frameworks.test_adk import add, coder, run
run(coder(add("Read the parser", "Fix it"), lambda: os._exit(7)), {store!r})
"""
    root = Path(__file__).parent.parent.parent
    ended = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, check=False)
    assert ended.returncode == 7, ended.stderr
    agent = coder("Go on?")
    run(agent, store, "Where were we?")
    (request,) = script(agent).requests
    assert "Read the parser" in request.contents[-1]
    assert "Fix it" in request.contents[-1]


def test_a_conversation_that_was_kept_goes_on_where_it_was(store: str, tmp_path: Path) -> None:
    def change() -> Turn:
        edit(store, lambda plan: ops.note(plan, "1", "start with the lexer"))
        return [("shell", {"command": "ls"})]

    async def once(agent: LlmAgent, prompt: str) -> None:
        service = SqliteSessionService(str(tmp_path / "sessions.db"))
        runner = Runner(app_name="app", agent=agent, session_service=service, plugins=[PunchlistPlugin(store)])
        await tell(runner, prompt)
        await runner.close()

    agent = coder(add("Read", "Fix"), change, "Half.", "Shall I?")
    asyncio.run(once(agent, "Fix it."))
    again = coder("Really?")
    asyncio.run(once(again, "Yes."))
    requests = [*script(agent).requests, *script(again).requests]
    assert len(requests) == 5
    expect_stable(requests)
    assert len(requests[-1].contents) == len(requests[-2].contents) + 2


def test_a_compacted_conversation_is_told_the_plan_once(store: str) -> None:
    agent = coder(add("Read the parser", "Fix it"), "Shall I?", "A summary.", "Really?", "Sure?")
    compaction = EventsCompactionConfig(compaction_interval=1, overlap_size=0)
    app = App(name="app", root_agent=agent, plugins=[PunchlistPlugin(store)], events_compaction_config=compaction)

    async def main() -> None:
        runner = InMemoryRunner(app=app)
        await tell(runner, "Fix the parser.")
        app.events_compaction_config = None
        await tell(runner, "Yes.")
        await tell(runner, "Of course.")
        await runner.close()

    asyncio.run(main())
    requests = [one for one in script(agent).requests if "plan" in one.names]
    assert len(requests) == 4
    assert "A summary." in requests[2].words
    assert "Fix the parser." not in requests[2].words
    assert "Read the parser" in requests[2].contents[-1]
    expect_stable(requests[2:])
    assert requests[3].words.count("Read the parser") == 1


def test_a_conversation_that_is_cut_is_told_the_plan(store: str) -> None:
    agent = coder(add("Read the parser", "Fix it"), "Shall I?", "Really?")
    run(agent, store, "Fix the parser.", "Yes.", plugins=[ContextFilterPlugin(num_invocations_to_keep=1)])
    last = script(agent).requests[-1]
    assert "Fix the parser." not in last.words
    assert last.words.count("Read the parser") == 1


# --- tools -----------------------------------------------------------------------------------------------------------


def test_calls_of_other_tools_are_observed_and_are_evidence(store: str) -> None:
    planned = [("plan", {"add": [{"text": "Fix it", "check": "make test"}]})]
    agent = coder(planned, [("shell", {"command": "make fail"})], [("shell", {"command": "make test"})], "Is it good?")
    run(agent, store)
    (item,) = load(store, calls=True).items
    assert [(call["name"], call["outcome"], call["exit"]) for call in item.calls] == [
        ("shell", "failed", 1),
        ("shell", "ok", 0),
    ]
    assert item.evidence


def test_an_exception_in_a_tool_ends_the_run_as_without_a_plan_and_is_observed(store: str) -> None:
    def burn(command: str) -> str:
        """Burn."""
        raise ValueError("no fuel")

    agent = coder(add("Read"), [("burn", {"command": "x"})], "Still here?", tools=[burn])
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    with pytest.raises(ValueError, match="no fuel"):
        asyncio.run(tell(runner, "Fix it."))
    (item,) = load(store, calls=True).items
    assert [(call["name"], call["outcome"]) for call in item.calls] == [("burn", "failed")]
    assert texts(asyncio.run(tell(runner, "Go on."))) == ["Still here?"]


def test_several_calls_in_one_turn_are_all_carried_out(store: str) -> None:
    many = [("plan", {"add": [f"Step {number}"]}) for number in range(5)]
    agent = coder([*many, ("shell", {"command": "ls"})], "Shall I?")
    run(agent, store)
    assert sorted(items(store)) == [f"Step {number}" for number in range(5)]


@pytest.mark.parametrize(
    "args",
    [{}, {"add": "Read"}, {"add": [{}]}, {"done": "first"}, {"done": [99]}, {"add": [[1]]}, {"add": None}, {"x": {}}],
)
def test_malformed_arguments_are_answered_and_the_run_goes_on(store: str, args: Any) -> None:
    agent = coder([("plan", args)], add("Write"), "Shall I?")
    assert texts(run(agent, store)) == ["Shall I?"]
    assert "Write" in items(store)
    answer = json.loads(script(agent).requests[1].contents[-1])["parts"][0]["function_response"]["response"]
    assert answer.get("error") or answer.get("result")


def test_a_call_of_a_tool_that_does_not_exist_is_answered(store: str) -> None:
    agent = coder([("plans", {"add": ["Read"]})], "Shall I?")
    assert texts(run(agent, store)) == ["Shall I?"]
    assert "only call a tool from that list" in script(agent).requests[1].words


@pytest.mark.parametrize("confirmed", [True, False])
def test_nobody_is_nudged_after_the_user_did_not_confirm_a_call(store: str, confirmed: bool) -> None:
    turns: list[Turn] = [add("Deploy", "Write"), [("shell", {"command": "deploy"})]]
    turns += ["It is there.", "Half of it?"] if confirmed else ["Then I leave it."]
    more = [done(1), "Half of it.", "Right?"]
    agent = coder(*turns, *more, tools=[FunctionTool(shell, require_confirmation=True)])

    async def main() -> None:
        runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
        events = await tell(runner, "Deploy it.")
        assert load(store, calls=True).items[0].calls == (), "a call that awaits a confirmation has not run"
        (asked,) = [one for event in events for one in event.get_function_calls() if "confirmation" in (one.name or "")]
        answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed})
        message = types.Content(role="user", parts=[types.Part(function_response=answer)])
        async for _ in runner.run_async(user_id="u", session_id="s1", new_message=message):
            pass
        assert len(script(agent).requests) == len(turns), "a call that was made is followed by a nudge"
        assert [one["name"] for one in load(store, calls=True).items[0].calls] == (["shell"] if confirmed else [])
        await tell(runner, "Go on.")
        assert len(script(agent).requests) == len(turns) + len(more), "the user has spoken since"
        await runner.close()

    asyncio.run(main())
    expect_stable(script(agent).requests)


# --- sub-agents ------------------------------------------------------------------------------------------------------


def test_a_sub_agent_has_a_plan_of_its_own_and_is_not_nudged(store: str) -> None:
    helper = coder(add("Look"), "Looked.", name="helper", description="Looks.")
    to_helper = [("transfer_to_agent", {"agent_name": "helper"})]
    agent = coder(add("Read", "Fix"), to_helper, sub_agents=[helper])
    assert texts(run(agent, store)) == ["Looked."]
    assert items(store) == ["Read", "Fix"]
    assert items(store, agent="helper") == ["Look"]
    assert script(helper).requests[0].names[-1] == "plan"


def test_an_agent_that_is_a_tool_keeps_its_plan_between_calls(store: str) -> None:
    helper = coder(add("Look"), "Looked.", done(1), "Done.", name="helper", description="Looks.")
    calls = [[("helper", {"request": "Look."})], [("helper", {"request": "Again."})]]
    agent = coder(add("Read"), *calls, done(1), "Done.", tools=[AgentTool(helper)])
    run(agent, store)
    assert items(store) == ["Read"]
    assert [item.status for item in load(store, agent="helper").items] == ["completed"]
    assert "Look" in script(helper).requests[2].contents[-1], "its next session is told what is open"
    with punchlist.open(store, session="s1") as desk:
        assert [call["name"] for item in desk.load(calls=True).items for call in item.calls] == ["helper", "helper"]


def test_agents_in_parallel_have_plans_of_their_own(store: str) -> None:
    agents: list[BaseAgent] = [coder(add(f"Of {name}"), "Done.", name=name) for name in ("one", "two", "three")]
    run(ParallelAgent(name="all", sub_agents=agents), store)
    assert [items(store, agent=agent.name) for agent in agents] == [["Of one"], ["Of two"], ["Of three"]]


def test_agents_in_parallel_keep_what_they_were_told(store: str, tmp_path: Path) -> None:
    def change(name: str) -> Callable[[], Turn]:
        def play() -> Turn:
            with punchlist.open(store, session="s1", agent=name) as desk:
                desk.change(lambda plan: ops.note(plan, "1", f"a note for {name}"))
            return [("shell", {"command": "ls"})]

        return play

    names = [f"agent{number}" for number in range(6)]
    agents = [coder(add("Look", "Fix"), change(name), done(1), "Done.", name=name) for name in names]
    parallel = ParallelAgent(name="all", sub_agents=list[BaseAgent](agents))

    async def main() -> None:
        service = SqliteSessionService(str(tmp_path / "sessions.db"))
        runner = Runner(app_name="app", agent=parallel, session_service=service, plugins=[PunchlistPlugin(store)])
        await tell(runner, "Look.")
        await runner.close()

    asyncio.run(main())
    for agent in agents:
        requests = script(agent).requests
        assert f"a note for {agent.name}" in requests[2].contents[-1]
        expect_stable(requests)


def test_a_model_that_fails_is_told_again_what_it_was_told(store: str) -> None:
    def fail() -> Turn:
        raise ConnectionError("gone")

    agent = coder(add("Read"), "Shall I?", fail, "Really?")
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    asyncio.run(tell(runner, "Fix it."))
    edit(store, lambda plan: ops.note(plan, "1", "start with the lexer"))
    with pytest.raises(ConnectionError):
        asyncio.run(tell(runner, "Yes."))
    asyncio.run(tell(runner, "Again."))
    assert script(agent).requests[-1].words.count("start with the lexer") == 1
    expect_stable(script(agent).requests)


def test_a_request_can_be_copied_with_its_tools(store: str) -> None:
    copied: list[str] = []

    class Copies(BasePlugin):
        async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
            copied.extend(llm_request.model_copy(deep=True).tools_dict)

    runner = InMemoryRunner(coder(add("Read"), "Shall I?"), plugins=[PunchlistPlugin(store), Copies("copies")])
    asyncio.run(tell(runner, "Fix it."))
    assert "plan" in copied


def test_agents_one_after_the_other_have_plans_of_their_own(store: str) -> None:
    agents: list[BaseAgent] = [coder(add(f"Of {name}"), "Done.", name=name) for name in ("one", "two")]
    events = run(SequentialAgent(name="all", sub_agents=agents), store)
    assert texts(events) == ["Done.", "Done."]
    assert [items(store, agent=agent.name) for agent in agents] == [["Of one"], ["Of two"]]
    assert items(store) == []


def test_an_agent_for_a_single_turn_has_a_plan_of_its_own(store: str) -> None:
    helper = coder(add("Look"), "Looked.", name="helper", description="Looks.", mode="single_turn")
    agent = coder(add("Read"), [("helper", {"request": "Look."})], done(1), "Done.", sub_agents=[helper])
    assert texts(run(agent, store)) == ["Looked.", "Done."]
    assert items(store) == ["Read"]
    assert items(store, agent="helper") == ["Look"]
    expect_stable(script(helper).requests)


def test_agents_of_a_workflow_have_plans_of_their_own(store: str) -> None:
    agents = [coder(add(f"Of {name}"), "Done.", name=name) for name in ("one", "two")]
    run(None, store, node=Workflow(name="flow", edges=[("START", *agents)]))
    assert [items(store, agent=agent.name) for agent in agents] == [["Of one"], ["Of two"]]
    assert items(store) == []


# --- several at once, and what goes wrong ----------------------------------------------------------------------------


def test_runs_at_the_same_time_keep_their_plans_apart(store: str) -> None:
    async def main() -> None:
        plugin = PunchlistPlugin(store)
        agents = [coder(add(f"Of {number}"), done(1), "Done.") for number in range(8)]
        runners = [InMemoryRunner(agent, plugins=[plugin]) for agent in agents]
        await asyncio.gather(*[tell(one, "Go.", f"s{number}") for number, one in enumerate(runners)])
        await plugin.close()

    asyncio.run(main())
    assert [items(store, f"s{number}") for number in range(8)] == [[f"Of {number}"] for number in range(8)]


def test_threads_and_event_loops_share_a_plugin(store: str) -> None:
    plugin = PunchlistPlugin(store)

    def work(number: int) -> None:
        runner = InMemoryRunner(coder(add(f"Of {number}"), "Half.", done(1), "Done."), plugins=[plugin])
        found.append(texts(asyncio.run(tell(runner, "Go.", f"s{number}"))))

    found: list[list[str]] = []
    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["Half.", "Done."]] * 4
    assert [items(store, f"s{number}") for number in range(4)] == [[f"Of {number}"] for number in range(4)]


def test_one_runner_in_two_event_loops(store: str) -> None:
    agent = coder(add("Read"), "Shall I?", done(1), "Done.")
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    asyncio.run(tell(runner, "Fix it."))
    assert texts(asyncio.run(tell(runner, "Yes."))) == ["Done."]
    expect_stable(script(agent).requests)


def test_the_synchronous_runner(store: str) -> None:
    agent = coder(add("Read"), "Half.", done(1), "Done.")
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    asyncio.run(runner.session_service.create_session(app_name=runner.app_name, user_id="u", session_id="s1"))
    message = types.Content(role="user", parts=[types.Part(text="Fix it.")])
    assert texts(list(runner.run(user_id="u", session_id="s1", new_message=message))) == ["Half.", "Done."]


def test_a_tool_that_runs_the_same_agent_again(store: str) -> None:
    async def delegate(task: str) -> str:
        """Delegate."""
        return "\n".join(texts(await tell(runner, task, "inner")))

    turns = (add("Read"), [("delegate", {"task": "Look."})], add("Look"), "Looked?", done(1), "Done.")
    runner = InMemoryRunner(coder(*turns, tools=[delegate]), plugins=[PunchlistPlugin(store)])
    assert texts(asyncio.run(tell(runner, "Fix it."))) == ["Done."]
    assert items(store) == ["Read"]
    assert items(store, "inner") == ["Look"]


@pytest.mark.parametrize("error", [None, ValueError("It does not look.")])
def test_a_run_in_a_task_that_outlives_the_agent_that_was_a_tool_is_no_sub_agent(
    store: str, error: Exception | None
) -> None:
    later: list[asyncio.Task[Any]] = []

    async def main() -> None:
        is_returned = asyncio.Event()

        async def serve() -> None:
            await is_returned.wait()
            runner = InMemoryRunner(coder(add("Of Bob"), "Shall I?"), plugins=[plugin])
            await tell(runner, "I am Bob.", "bob")

        async def begin() -> str:
            """Begin."""
            later.append(asyncio.create_task(serve()))
            return "begun"

        def looked() -> str:
            if error is not None:
                raise error
            return "Looked."

        plugin = PunchlistPlugin(store)
        helper = coder([("begin", {})], looked, name="helper", description="Looks.", tools=[begin])
        agent = coder(add("Of Alice"), [("helper", {"request": "Look."})], "Shall I?", tools=[AgentTool(helper)])
        with pytest.raises(ValueError, match="look") if error else nullcontext():
            await tell(InMemoryRunner(agent, plugins=[plugin]), "I am Alice.", "alice")
        is_returned.set()
        await later[0]

    asyncio.run(main())
    assert items(store, "alice") == ["Of Alice"]
    assert items(store, "bob") == ["Of Bob"]


def test_a_session_that_was_given_is_the_one_of_every_run(store: str) -> None:
    plugin = PunchlistPlugin(store, session="mine", agent="lead")
    for session in ("a", "b"):
        asyncio.run(tell(InMemoryRunner(coder(add(f"Of {session}"), "Shall I?"), plugins=[plugin]), "Go.", session))
    assert items(store, "mine", "lead") == ["Of a", "Of b"]


def test_a_streamed_answer_is_nudged_once(store: str) -> None:
    agent = coder(add("Read"), ("I have ", "read it."), done(1), ("All ", "done."))
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    events = asyncio.run(tell(runner, "Fix it.", run_config=RunConfig(streaming_mode=StreamingMode.SSE)))
    assert texts(events) == ["I have ", "read it.", "I have read it.", "All ", "done.", "All done."]
    assert script(agent).requests[-1].words.count(NUDGE) == 1
    expect_stable(script(agent).requests)


def test_a_stream_that_is_cut_off_loses_nothing(store: str) -> None:
    agent = coder(add("Read"), ("I have ", ConnectionError("gone")), "Where was I?")
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    streamed = RunConfig(streaming_mode=StreamingMode.SSE)
    with pytest.raises(ConnectionError):
        asyncio.run(tell(runner, "Fix it.", run_config=streamed))
    assert texts(asyncio.run(tell(runner, "Go on.")))[-1] == "Where was I?"
    assert items(store) == ["Read"]


def test_a_caller_that_leaves_early_can_come_back(store: str) -> None:
    async def leave() -> None:
        async for event in runner.run_async(user_id="u", session_id="s1", new_message=message):
            if texts([event]):
                break

    agent = coder(add("Read"), "I have read it.", done(1), "Done.")
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    asyncio.run(runner.session_service.create_session(app_name=runner.app_name, user_id="u", session_id="s1"))
    message = types.Content(role="user", parts=[types.Part(text="Fix it.")])
    asyncio.run(leave())
    assert texts(asyncio.run(tell(runner, "Go on.")))[-1] == "Done."
    assert NUDGE not in script(agent).requests[2].words, "the user has spoken since"


def test_a_task_that_is_cancelled_ends_and_the_store_is_free(store: str) -> None:
    async def hang(command: str) -> str:
        """Hang."""
        started.set()
        await asyncio.Event().wait()
        return ""

    async def main() -> None:
        task = asyncio.create_task(tell(runner, "Fix it."))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert texts(await tell(runner, "Go on.")) == ["Done."]

    started = asyncio.Event()
    agent = coder(add("Read"), [("hang", {"command": "x"})], done(1), "Done.", tools=[hang])
    runner = InMemoryRunner(agent, plugins=[PunchlistPlugin(store)])
    asyncio.run(main())
    assert [item.status for item in load(store).items] == ["completed"]


def test_a_store_that_is_gone_stops_no_run_and_warns_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plan.db").mkdir()
    agent = coder(add("Read"), [("shell", {"command": "ls"})], done(1), "Done.")
    with caplog.at_level(logging.WARNING, "punchlist"):
        assert texts(run(agent, f"sqlite:{tmp_path}/plan.db")) == ["Done."]
    assert len([one for one in caplog.records if one.name == "punchlist"]) == 1
    assert "Not saved" in script(agent).requests[1].words
    assert script(agent).requests[0].names == ["shell", "plan"]
    expect_stable(script(agent).requests)


def test_other_plugins_see_every_event(store: str) -> None:
    class Seen(BasePlugin):
        async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
            seen.extend(texts([event]))

    seen: list[str] = []
    run(coder(add("Read"), "Half.", done(1), "Done."), store, plugins=[Seen("seen")])
    assert seen == ["Half.", "Done."]


def test_an_app_that_can_be_resumed(store: str) -> None:
    agent = coder(add("Read"), "Half.", done(1), "Done.", "Hello.")
    resumable = ResumabilityConfig(is_resumable=True)
    app = App(name="app", root_agent=agent, plugins=[PunchlistPlugin(store)], resumability_config=resumable)
    runner = InMemoryRunner(app=app)
    assert texts(asyncio.run(tell(runner, "Fix it."))) == ["Half.", "Done."]
    assert texts(asyncio.run(tell(runner, "Hello."))) == ["Hello."]
    expect_stable(script(agent).requests)


def test_a_call_that_is_carried_out_after_a_restart(store: str) -> None:
    """A resumed run begins with the calls that were not answered, before there is a request with the tool in it."""

    async def main() -> list[Event]:
        runner = InMemoryRunner(app=app)
        session = await runner.session_service.create_session(app_name="app", user_id="u", session_id="s1")
        message = types.Content(role="user", parts=[types.Part(text="Fix it.")])
        asked = called(*add("Read"))
        assert asked.parts is not None
        assert asked.parts[0].function_call is not None
        asked.parts[0].function_call.id = "call-1"
        for author, content in (("user", message), ("coder", asked)):
            event = Event(invocation_id="before", author=author, content=content)
            await runner.session_service.append_event(session, event)
        run = runner.run_async(user_id="u", session_id="s1", invocation_id="before")
        return [event async for event in run]

    agent = coder("Shall I?")
    resumable = ResumabilityConfig(is_resumable=True)
    app = App(name="app", root_agent=agent, plugins=[PunchlistPlugin(store)], resumability_config=resumable)
    assert texts(asyncio.run(main())) == ["Shall I?"]
    assert items(store) == ["Read"]
    assert "added 1" in script(agent).requests[0].words


def test_without_adk_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['google.adk'] = None; import punchlist.adapters.adk"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: Google ADK is needed here: pip install 'punchlist[adk]'")


def test_nothing_is_remembered_of_runs_that_are_over(store: str) -> None:
    plugin = PunchlistPlugin(store)
    runner = InMemoryRunner(coder(add("Read"), "Half.", done(1), "Done."), plugins=[plugin])
    asyncio.run(tell(runner, "Fix it."))
    assert plugin._turns == {}


# --- the kit ---------------------------------------------------------------------------------------------------------


class Bridge(BaseLlm):
    """The model of the conformance kit."""

    _asked: Any = PrivateAttr()

    def __init__(self, asked: Any) -> None:
        super().__init__(model="kit")
        self._asked = asked

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        tools = [one for one in llm_request.config.tools or [] if isinstance(one, types.Tool)]
        declared = [one for tool in tools for one in tool.function_declarations or []]
        definitions = [
            {"name": one.name, "description": one.description, "input_schema": one.parameters_json_schema}
            for one in declared
        ]
        turn = await asyncio.to_thread(self._asked.request, llm_request.contents, definitions)
        parts = [types.Part(text=turn.text)] if turn.text else []
        for call in turn.calls:
            args = call.args if isinstance(call.args, dict) else {"args": call.args}
            parts.append(types.Part(function_call=types.FunctionCall(id=call.id, name=call.name, args=args)))
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def make_agent(case: conformance.Case) -> Callable[[str], str]:
    def shell(command: str) -> str:
        """Run a command."""
        return case.tool(command)

    agent = LlmAgent(name="coder", model=Bridge(case.model), tools=[shell])
    compaction = EventsCompactionConfig(compaction_interval=1, overlap_size=0)
    app = App(name="app", root_agent=agent, plugins=[PunchlistPlugin(case.store)])
    runner = InMemoryRunner(app=app)

    def run(prompt: str) -> str:
        return texts(asyncio.run(tell(runner, prompt, case.session)))[-1]

    def compact() -> None:
        app.events_compaction_config = compaction
        session = asyncio.run(runner.session_service.get_session(app_name="app", user_id="u", session_id=case.session))
        assert session is not None
        asyncio.run(runner._run_post_invocation_compaction(session=session))
        app.events_compaction_config = None

    run.compact = compact  # type: ignore[attr-defined]
    run.close = lambda: asyncio.run(runner.close())  # type: ignore[attr-defined]
    return run


def test_the_conformance_kit_passes() -> None:
    report = conformance.check(make_agent)
    assert report.passed, str(report)

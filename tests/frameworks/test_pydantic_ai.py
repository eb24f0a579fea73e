"""The plan in agents of Pydantic AI: its own `FunctionModel`, and a real SQLite store."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Any
from zlib import crc32

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ImageUrl,
    ModelRetry,
    NativeOutput,
    RunContext,
    Tool,
    ToolDenied,
    ToolReturn,
    UsageLimits,
)
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls, ProcessHistory
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.messages import (
    CompactionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.run import AgentRunResult
from pydantic_ai_harness.compaction import SlidingWindowCompaction
from pydantic_ai_harness.subagents import SubAgent, SubAgents

import punchlist
from punchlist import ops
from punchlist.adapters.pydantic_ai import Punchlist
from punchlist.testing import conformance

pytestmark = pytest.mark.anyio  # the plugin of anyio, which the framework depends on, runs what is asynchronous

Step = Sequence[Any] | str | Callable[[], Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Script:
    """A model that plays a script, and keeps each request as it got it."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[list[ModelMessage]] = []
        self.wires: list[list[str]] = []
        self.infos: list[tuple[str | None, str]] = []
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> list[Any]:
        self.requests.append(list(messages))
        self.wires.append([wire(one) for one in messages])
        self.infos.append((info.instructions, repr(info.function_tools)))
        step = self.steps.pop(0)
        if callable(step):
            step = step()
        if isinstance(step, str):
            return [TextPart(step)]
        return list(step)

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = self._next(messages, info)
        parts = [await part if isinstance(part, Awaitable) else part for part in parts]
        return ModelResponse(parts=[part for part in parts if part is not None])

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for place, part in enumerate(self._next(messages, info)):
            if isinstance(part, TextPart):
                for word in part.content.split(" "):
                    yield f"{word} "
            else:
                yield {place: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}

    @property
    def told(self) -> list[str]:
        """What the last request ends with: the words in its last message."""
        return [str(getattr(part, "content", "")) for part in self.requests[-1][-1].parts]


def wire(one: ModelMessage) -> str:
    """A message without what a provider does not get: times and ids of runs."""
    if isinstance(one, ModelRequest):
        return f"{one.instructions} {[(part.part_kind, getattr(part, 'content', '')) for part in one.parts]}"
    return repr([(part.part_kind, getattr(part, "content", ""), getattr(part, "args", "")) for part in one.parts])


def plan(**verbs: Any) -> ToolCallPart:
    return ToolCallPart("plan", verbs)


def texts(messages: Sequence[ModelMessage]) -> str:
    return "\n".join(str(getattr(part, "content", "")) for one in messages for part in one.parts)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


def look(store: str, session: str = "s1", agent: str = "main", *, calls: bool = False) -> punchlist.Plan:
    with punchlist.open(store, session=session, agent=agent) as desk:
        return desk.load(calls=calls)


def edit(store: str, change: Callable[[punchlist.Plan], punchlist.Plan], session: str = "s1") -> None:
    """Another terminal."""
    with punchlist.open(store, session=session) as desk:
        desk.change(change)


def agent_with(script: Script, store: str, *more: AbstractCapability[Any], **options: Any) -> Agent[None, Any]:
    session = options.pop("session", "s1")
    return Agent(script.model, capabilities=[Punchlist(store, session=session), *more], **options)


def test_without_the_framework_it_is_said_what_to_install() -> None:
    code = "import sys; sys.modules['pydantic_ai'] = None; import punchlist.adapters.pydantic_ai"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'punchlist[pydantic-ai]'" in done.stderr.splitlines()[-1]


# --- the tool, and what the model is told ----------------------------------------------------------------------------


def test_the_tool_and_its_text_are_in_the_first_request(store: str) -> None:
    script = Script("Hello.")
    agent = agent_with(script, store, instructions="You are terse.")
    assert agent.run_sync("Hi").output == "Hello."
    instructions, tools = script.infos[0]
    assert instructions is not None
    assert instructions.startswith("You are terse.")
    assert "make a plan with `plan`" in instructions
    assert "name='plan'" in tools


def test_a_test_model_that_calls_every_tool_is_answered(store: str) -> None:
    agent = Agent(TestModel(), capabilities=[Punchlist(store, session="s1")])
    result = agent.run_sync("Hi")
    assert [part for one in result.all_messages() for part in one.parts if isinstance(part, RetryPromptPart)] == []


def test_the_plan_is_there_after_a_restart(store: str) -> None:
    first = Script([plan(add=["Read", "Write"])], "Which one do you mean?")
    agent_with(first, store).run_sync("Go on.")
    again = Script([plan(done=[1])], "Shall I write it?")
    result = agent_with(again, store).run_sync("Go on.")
    assert "Read" in again.told[0] or "Read" in texts(again.requests[0])
    assert [item.status for item in look(store).items] == ["completed", "in_progress"]
    assert result.output == "Shall I write it?"


def test_the_plan_of_another_process_is_worked_on(store: str) -> None:
    code = f"""
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from punchlist.adapters.pydantic_ai import Punchlist

steps = [[ToolCallPart("plan", {{"add": ["Read", "Write"]}})], [TextPart("What next?")]]
model = FunctionModel(lambda messages, info: ModelResponse(parts=steps.pop(0)))
print(Agent(model, capabilities=[Punchlist({store!r})]).run_sync("Go", conversation_id="c1").output)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert (done.returncode, done.stdout) == (0, "What next?\n"), done.stderr
    script = Script([plan(done=[1, 2])], "Done.")
    Agent(script.model, capabilities=[Punchlist(store)]).run_sync("Go on.", conversation_id="c1")
    assert [item.status for item in look(store, "c1").items] == ["completed", "completed"]


def test_an_edit_of_the_user_is_told_once_and_not_undone(store: str) -> None:
    def another_terminal() -> list[Any]:
        edit(store, lambda now: ops.add(ops.complete(now, "1"), "Ask the user's team"))
        return [ToolCallPart("look", {})]

    script = Script(
        [plan(add=["Read", "Write"])],
        another_terminal,
        [ToolCallPart("look", {})],
        [plan(start=2)],
        "Shall I continue?",
    )
    agent = agent_with(script, store, tools=[Tool(lambda: "seen", name="look")])
    result = agent.run_sync("Go on.")
    assert texts(script.requests[2]).count("Ask the user's team") == 1
    assert texts(result.all_messages()).count("Ask the user's team") == 1
    assert [item.status for item in look(store).items] == ["completed", "in_progress", "pending"]


def test_what_the_model_is_told_stays_in_the_history_of_the_next_run(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "Which one?")
    agent = agent_with(script, store)
    first = agent.run_sync("Go on.")
    edit(store, lambda now: ops.note(now, "1", "use heron"))
    script.steps = ["Shall I?"]
    second = agent.run_sync("Go on.", message_history=first.all_messages())
    assert texts(second.all_messages()).count("use heron") == 1
    edit(store, lambda now: ops.note(now, "1", "and egret"))
    script.steps = ["Shall I?"]
    third = agent.run_sync("Go on.", message_history=second.all_messages())
    said = texts(third.all_messages())
    assert (said.count("use heron"), said.count("and egret")) == (1, 1)
    assert_prefixes(script)


def test_history_that_was_saved_as_json_brings_the_same_prefix(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "I have read half.", "Shall I?")
    agent = agent_with(script, store)
    first = agent.run_sync("Go on.")
    loaded = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    script.steps = ["Shall I?"]
    agent.run_sync("Go on.", message_history=loaded)
    assert_prefixes(script)
    assert look(store, "s1").items[0].text == "Read"


def assert_prefixes(script: Script) -> None:
    """Each request begins with the one before, byte by byte; tools and instructions are the same."""
    for before, after in zip(script.wires, script.wires[1:], strict=False):
        assert after[: len(before)] == before
    assert len(set(script.infos)) == 1


def test_nothing_before_the_end_of_a_conversation_changes(store: str) -> None:
    def another_terminal() -> list[Any]:
        edit(store, lambda now: ops.note(now, "2", "use heron"))
        return [ToolCallPart("look", {})]

    looks: list[Step] = [[ToolCallPart("look", {})] for _ in range(20)]
    script = Script(
        [plan(add=["Read", "Write"])], another_terminal, *looks, "Half of it.", [plan(done=[1])], "Shall I?"
    )
    agent = agent_with(script, store, tools=[Tool(lambda: "seen", name="look")])
    result = agent.run_sync("Go on.")
    assert len(script.wires) == 25
    assert_prefixes(script)
    assert "use heron" in texts(result.all_messages())
    script.steps = ["Shall I?"]
    agent.run_sync("Go on.", message_history=result.all_messages())
    assert_prefixes(script)


# --- early stops -----------------------------------------------------------------------------------------------------


def test_an_early_stop_is_nudged_and_the_nudges_are_bounded(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "I have read half.", "I stop here.", "never said")
    result = agent_with(script, store).run_sync("Go on.")
    assert result.output == "I stop here."
    assert "The plan is not finished" in script.told[0]
    assert "The plan is not finished" in texts(result.all_messages())
    assert script.steps == ["never said"]


@pytest.mark.parametrize("last", ["Which of the two parsers do you mean?", "Please tell me which one. Let me know."])
def test_a_question_is_not_nudged(store: str, last: str) -> None:
    script = Script([plan(add=["Read", "Write"])], last)
    assert agent_with(script, store).run_sync("Go on.").output == last


def test_a_pause_is_not_nudged_and_ends_with_the_next_prompt(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], [plan(pause="the deploy key has expired")], "I pause.")
    agent = agent_with(script, store)
    result = agent.run_sync("Go on.")
    assert result.output == "I pause."
    assert look(store).paused is not None
    script.steps = ["Which one?"]
    agent.run_sync("Go on.", message_history=result.all_messages())
    assert look(store).paused is None


def test_a_user_who_says_to_wait_is_not_nudged(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "I have a plan.")
    assert agent_with(script, store).run_sync("Make a plan, then wait for me.").output == "I have a plan."


class Answer(BaseModel):
    """A structured output."""

    summary: str
    question: str = ""


def _output(**values: Any) -> list[Any]:
    return [ToolCallPart("final_result", values)]


def test_a_structured_output_that_comes_early_is_nudged(store: str) -> None:
    early, late = _output(summary="half"), _output(summary="all of it")
    script = Script([plan(add=["Read", "Write"])], early, [plan(done=[1, 2])], late)
    result = agent_with(script, store, output_type=Answer).run_sync("Go on.")
    assert result.output == Answer(summary="all of it")
    assert_prefixes(script)


def test_a_question_in_a_structured_output_is_not_nudged(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], _output(summary="half", question="Which parser do you mean?"))
    assert agent_with(script, store, output_type=Answer).run_sync("Go on.").output.summary == "half"


def test_output_that_is_json_text_is_nudged_too(store: str) -> None:
    script = Script(
        [plan(add=["Read", "Write"])], '{"summary": "half"}', [plan(done=[1, 2])], '{"summary": "all of it"}'
    )
    agent = agent_with(script, store, output_type=NativeOutput(Answer))
    assert agent.run_sync("Go on.").output.summary == "all of it"


def test_an_output_that_its_validator_refuses_is_not_an_end(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "too short", "I have read half of it.", "I stop.")
    agent = agent_with(script, store)

    @agent.output_validator
    def long_enough(output: str) -> str:
        if output == "too short":
            raise ModelRetry("longer, please")
        return output

    assert agent.run_sync("Go on.").output == "I stop."
    assert [("not finished" in text) for text in map(texts, script.requests)] == [False, False, False, True]


@pytest.mark.parametrize("limits", [UsageLimits(request_limit=3), UsageLimits(tool_calls_limit=1)], ids=str)
def test_a_run_at_its_limit_keeps_its_result(store: str, limits: UsageLimits) -> None:
    script = Script([plan(add=["Read", "Write"])], "I have read half.")
    result = agent_with(script, store).run_sync("Go on.", usage_limits=limits)
    assert result.output == "I have read half."


# --- ways to run -----------------------------------------------------------------------------------------------------


async def test_async_run_and_iter_and_events(store: str) -> None:
    steps: list[Step] = [[plan(add=["Read", "Write"])], "I have read half.", [plan(done=[1, 2])], "Done."]
    script = Script(*steps)
    assert (await agent_with(script, store, session="a").run("Go on.")).output == "Done."
    script = Script(*steps)
    async with agent_with(script, store, session="b").iter("Go on.") as run:
        nodes = [type(node).__name__ async for node in run]
    assert run.result is not None
    assert run.result.output == "Done."
    assert nodes.count("ModelRequestNode") == 4
    script = Script(*steps)
    async with agent_with(script, store, session="c").run_stream_events("Go on.") as events:
        found = [event async for event in events]
    assert found[-1].result.output.strip() == "Done."  # type: ignore[union-attr]
    assert len(script.requests) == 4


async def test_a_streamed_run_ends_with_the_first_answer_and_the_next_run_goes_on(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "I have read half.")
    agent = agent_with(script, store)
    async with agent.run_stream("Go on.") as result:
        assert (await result.get_output()).strip() == "I have read half."
    assert [item.text for item in look(store).items] == ["Read", "Write"]
    script.steps = [[plan(done=[1, 2])], "Done."]
    async with agent.run_stream("Go on.", message_history=result.all_messages()) as result:
        assert (await result.get_output()).strip() == "Done."
    assert_prefixes(script)


async def test_a_stream_that_is_cut_off_leaves_the_plan_as_it_was(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "one two three four five")
    agent = agent_with(script, store)
    async with agent.run_stream("Go on.") as result:
        async for _ in result.stream_text(delta=True):
            break
    assert len(look(store).items) == 2
    script.steps = [[plan(done=[1, 2])], "Done."]
    assert (await agent.run("Go on.")).output == "Done."


def test_the_conversation_is_the_session_if_none_was_given(store: str) -> None:
    script = Script([plan(add=["Read"])], "Which one?", [plan(add=["Other"])], "Which one?", [plan(done=[1])], "Done.")
    agent = Agent(script.model, capabilities=[Punchlist(store)])
    first = agent.run_sync("Go on.")
    agent.run_sync("Go on.")
    agent.run_sync("Go on.", message_history=first.all_messages())
    conversation = first.all_messages()[0].conversation_id
    assert conversation
    assert [(item.text, item.status) for item in look(store, conversation).items] == [("Read", "completed")]


def test_a_capability_of_one_run_replaces_the_one_of_the_agent(store: str) -> None:
    script = Script([plan(add=["Read"])], "Which one?")
    agent_with(script, store).run_sync("Go on.", capabilities=[Punchlist(store, session="s2")])
    assert look(store).items == ()
    assert [item.text for item in look(store, "s2").items] == ["Read"]


def test_of_two_capabilities_the_last_counts(store: str, tmp_path: Path) -> None:
    script = Script([plan(add=["Read"])], "Which one?")
    other = Punchlist(f"sqlite:{tmp_path}/other.db", session="s1")
    Agent(script.model, capabilities=[other, Punchlist(store, session="s1")]).run_sync("Go on.")
    assert [item.text for item in look(store).items] == ["Read"]
    assert look(f"sqlite:{tmp_path}/other.db").items == ()


def test_a_tool_with_a_prefix_is_still_ours(store: str) -> None:
    script = Script([ToolCallPart("my_plan", {"add": ["Read"]})], "Which one?")
    Agent(script.model, capabilities=[Punchlist(store, session="s1").prefix_tools("my")]).run_sync("Go on.")
    (item,) = look(store, calls=True).items
    assert (item.text, item.calls) == ("Read", ())


def test_while_it_is_off_there_is_nothing(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_OFF", "true")
    script = Script("Hello.")
    agent_with(script, store).run_sync("Hi")
    assert script.infos == [(None, "[]")]


def test_in_a_quiet_plan_there_is_no_tool_and_the_model_is_told_why(store: str) -> None:
    edit(store, lambda now: ops.set_mode(ops.add(now, "Read"), "quiet"))
    script = Script("Hello.")
    agent_with(script, store).run_sync("Hi")
    assert script.infos == [(None, "[]")]
    assert "leave the list alone" in texts(script.requests[0])


@pytest.mark.parametrize(
    "prompt", [[ImageUrl("https://example.org/x.png")], ["Look.", ImageUrl("https://example.org/x.png")], "", None]
)
def test_prompts_that_are_not_only_words(store: str, prompt: Any) -> None:
    script = Script([plan(add=["Read"])], "Which one?")
    history = [ModelRequest(parts=[UserPromptPart("Go on.")])] if prompt is None else None
    assert agent_with(script, store).run_sync(prompt, message_history=history).output == "Which one?"


def test_a_user_who_says_to_wait_in_a_history_is_not_nudged(store: str) -> None:
    script = Script([plan(add=["Read", "Write"])], "I have a plan.")
    history = [ModelRequest(parts=[UserPromptPart("Make a plan, then wait for me.")])]
    assert agent_with(script, store).run_sync(message_history=history).output == "I have a plan."


def test_an_agent_can_be_made_from_a_spec(store: str) -> None:
    spec = {"capabilities": [{"Punchlist": {"store": store, "session": "s1"}}]}
    script = Script([plan(add=["Read"])], "Which one?")
    agent = Agent.from_spec(spec, model=script.model, custom_capability_types=[Punchlist])
    agent.run_sync("Go on.")
    assert [item.text for item in look(store).items] == ["Read"]


@pytest.mark.parametrize("dialect", ["claude-code", "codex", "llxprt"])
def test_another_dialect(store: str, dialect: str) -> None:
    script = Script("Hello.")
    agent = Agent(script.model, capabilities=[Punchlist(store, session="s1", dialect=dialect)])
    agent.run_sync("Hi")
    name = {"claude-code": "TodoWrite", "codex": "update_plan", "llxprt": "todo_write"}[dialect]
    assert f"name='{name}'" in script.infos[0][1]


def test_a_tool_that_is_for_a_nudge_only_is_offered_then(store: str) -> None:
    items = [{"id": "1", "content": "Read", "status": "in_progress", "priority": "high"}]
    pause = [ToolCallPart("todo_pause", {"reason": "the deploy key of the server has expired"})]
    script = Script([ToolCallPart("todo_write", {"todos": items})], "Half of it.", pause, "I pause.")
    Agent(script.model, capabilities=[Punchlist(store, session="s1", dialect="llxprt")]).run_sync("Go on.")
    assert [("todo_pause" in tools) for _, tools in script.infos][:3] == [False, False, True]
    assert look(store).paused is not None


# --- a conversation that was cut -------------------------------------------------------------------------------------


def last_two(messages: list[ModelMessage]) -> list[ModelMessage]:
    return messages[-2:]


def last_ones(messages: list[ModelMessage]) -> list[ModelMessage]:
    return messages[-1:] if len(messages) > 7 else messages


def long_run(script: Script, store: str, *more: AbstractCapability[Any]) -> Any:
    agent = agent_with(script, store, *more, tools=[Tool(lambda: "seen", name="look")])
    return agent.run_sync("Go on.")


def looking(times: int) -> list[Step]:
    return [[ToolCallPart("look", {})] for _ in range(times)]


def test_a_conversation_that_a_processor_cut_gets_the_plan_back_once(store: str) -> None:
    cut = False

    def once(messages: list[ModelMessage]) -> list[ModelMessage]:
        nonlocal cut
        if len(messages) < 7 or cut:
            return messages
        cut = True
        return [ModelRequest(parts=[UserPromptPart("You were looking at things.")])]

    script = Script([plan(add=["Read heron", "Write egret"])], *looking(8), "Which one?")
    result = long_run(script, store, ProcessHistory(once))
    assert cut
    assert texts(result.all_messages()).count("Write egret") == 1
    sizes = [len(request) for request in script.requests]
    first = sizes.index(min(sizes[1:]), 1)
    assert "Write egret" in texts(script.requests[first]), "in the first request after the cut"


def test_the_compaction_of_the_harness_brings_the_plan_back(store: str) -> None:
    script = Script([plan(add=["Read heron", "Write egret"])], *looking(12), "Which one?")
    window = SlidingWindowCompaction[Any](max_messages=9, keep_messages=4, preserve_first_user_message=False)
    long_run(script, store, window)
    assert min(map(len, script.requests[2:])) <= 6, "it was cut"
    assert all("Write egret" in texts(request) or "Write egret" in repr(request) for request in script.requests[1:])
    longest = max(texts(request).count("Write egret") for request in script.requests)
    assert longest == 1


def test_a_run_without_the_history_is_told_the_plan_once(store: str) -> None:
    script = Script([plan(add=["Read heron", "Write egret"])], "Which one?")
    agent = agent_with(script, store)
    agent.run_sync("Go on.")
    script.steps = [[plan(start=1)], "Which one?"]
    agent.run_sync("Go on.")
    assert [texts(request).count("Write egret") for request in script.requests[2:]] == [1, 1]


def test_a_compaction_by_the_provider_brings_the_plan_back(store: str) -> None:
    compacted = [CompactionPart("You were looking at things.", provider_name="function"), ToolCallPart("look", {})]
    script = Script([plan(add=["Read heron", "Write egret"])], compacted, [ToolCallPart("look", {})], "Which one?")
    result = long_run(script, store)
    assert texts(result.all_messages()).count("Write egret") == 1


# --- other tools -----------------------------------------------------------------------------------------------------


def test_calls_of_other_tools_are_kept_with_the_item_and_are_evidence(store: str) -> None:
    def shell(command: str) -> ToolReturn[str] | dict[str, Any]:
        if command == "ls":
            return ToolReturn("parser.py")
        return {"output": "2 passed", "exit_code": 0}

    check = [plan(add=[{"text": "Read", "check": "make test"}, "Write"])]
    run = [[ToolCallPart("shell", {"command": one})] for one in ("ls", "make test")]
    script = Script(check, *run, "Which one?")
    agent_with(script, store, tools=[shell]).run_sync("Go on.")
    (first, _) = look(store, calls=True).items
    assert [(call["name"], call["outcome"], call.get("exit")) for call in first.calls] == [
        ("shell", "ok", None),
        ("shell", "ok", 0),
    ]
    assert len(first.evidence) == 1


def test_a_tool_that_raises_is_recorded_as_failed_and_its_error_is_the_users(store: str) -> None:
    def fetch() -> str:
        raise ValueError("no network")

    script = Script([plan(add=["Read"])], [ToolCallPart("fetch", {})])
    with pytest.raises(ValueError, match="no network"):
        agent_with(script, store, tools=[fetch]).run_sync("Go on.")
    (item,) = look(store, calls=True).items
    assert [(call["name"], call["outcome"]) for call in item.calls] == [("fetch", "failed")]


def test_a_tool_that_asks_for_a_retry_is_recorded_as_failed(store: str) -> None:
    def fetch() -> str:
        raise ModelRetry("try another address")

    script = Script([plan(add=["Read"])], [ToolCallPart("fetch", {})], "Which address?")
    agent_with(script, store, tools=[fetch]).run_sync("Go on.")
    (item,) = look(store, calls=True).items
    assert [call["outcome"] for call in item.calls] == ["failed"]


def test_a_call_that_waits_for_an_approval_is_recorded_when_it_runs(store: str) -> None:
    def deploy(ctx: RunContext[None]) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return "deployed"

    script = Script([plan(add=["Deploy", "Write"])], [ToolCallPart("deploy", {}, tool_call_id="d1")])
    agent = agent_with(script, store, tools=[deploy], output_type=[str, DeferredToolRequests])
    first = agent.run_sync("Go on.")
    assert isinstance(first.output, DeferredToolRequests), "nobody is nudged while an approval is awaited"
    assert look(store, calls=True).items[0].calls == ()
    script.steps = ["Which one is next?"]
    results = DeferredToolResults(approvals={"d1": True})
    agent.run_sync(message_history=first.all_messages(), deferred_tool_results=results)
    assert [call["text"] for call in look(store, calls=True).items[0].calls] == ["deployed"]
    assert_prefixes(script)


def test_a_result_that_comes_from_outside_is_recorded(store: str) -> None:
    def deploy() -> str:
        raise CallDeferred

    script = Script([plan(add=["Deploy", "Write"])], [ToolCallPart("deploy", {}, tool_call_id="d1")])
    agent = agent_with(script, store, tools=[deploy], output_type=[str, DeferredToolRequests])
    first = agent.run_sync("Go on.")
    script.steps = [[plan(done=[1])], "Which one is next?"]
    results = DeferredToolResults(calls={"d1": "deployed from outside"})
    agent.run_sync(message_history=first.all_messages(), deferred_tool_results=results)
    assert [call["text"] for call in look(store, calls=True).items[0].calls] == ["deployed from outside"]


@pytest.mark.parametrize("denied", [True, False])
def test_nobody_is_nudged_after_the_user_denied_a_call(store: str, denied: bool) -> None:
    def deploy() -> str:
        return "deployed"

    script = Script([plan(add=["Deploy", "Write"])], [ToolCallPart("deploy", {}, tool_call_id="d1")])
    tools = [Tool(deploy, requires_approval=True)]
    agent = agent_with(script, store, tools=tools, output_type=[str, DeferredToolRequests])
    first = agent.run_sync("Go on.")
    script.steps = ["Then I leave it."] if denied else ["It is there.", "Which one is next?"]
    results = DeferredToolResults(approvals={"d1": ToolDenied("no") if denied else True})
    second = agent.run_sync(message_history=first.all_messages(), deferred_tool_results=results)
    assert script.steps == [], "an approved call is followed by a nudge, a denied one is not"
    assert len(look(store, calls=True).items[0].calls) == (0 if denied else 1)
    script.steps = [[plan(done=[1])], "Half of it.", "Which one is next?"]
    agent.run_sync("Go on.", message_history=second.all_messages())
    assert script.steps == [], "the user has spoken since: there are nudges again"
    assert_prefixes(script)


def test_a_denial_within_a_run_is_respected_until_the_plan_changes(store: str) -> None:
    def deploy() -> str:
        return "deployed"

    async def deny(ctx: RunContext[None], requests: DeferredToolRequests) -> DeferredToolResults:
        return DeferredToolResults(approvals={one.tool_call_id: ToolDenied("no") for one in requests.approvals})

    turns: list[Any] = [[plan(add=["Deploy", "Write"])], [ToolCallPart("deploy", {})], "Then I leave it."]
    for after, more in (([], []), ([[plan(done=[1])]], ["Which one is next?"])):
        script = Script(*turns[:2], *after, turns[2], *more)
        tools = [Tool(deploy, requires_approval=True)]
        own = [Punchlist(store, session=f"s{len(more)}"), HandleDeferredToolCalls(deny)]
        Agent(script.model, tools=tools, capabilities=own).run_sync("Go on.")
        assert script.steps == []


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        '{"add": ["Read"',
        "add Read",
        '["Read"]',
        '"Read"',
        "null",
        "3",
        "[" * 50_000,
        {"add": 3},
        {"ad": ["Read"]},
        {"add": [{"text": ""}]},
        {"done": "all of them"},
        {"add": {"text": {"text": 1}}},
    ],
    ids=lambda args: str(args)[:20],
)
def test_malformed_arguments_are_answered_and_cost_no_retry(store: str, args: Any) -> None:
    wrong = [[ToolCallPart("plan", args)] for _ in range(4)]
    script = Script(*wrong, [plan(add=["Read"])], "Which one?")
    result = agent_with(script, store, retries=0).run_sync("Go on.")
    assert result.output == "Which one?"
    answers = [part for one in result.all_messages() for part in one.parts if isinstance(part, ToolReturnPart)]
    assert [part.outcome for part in answers] == ["failed"] * 4 + ["success"]
    assert all(part.content for part in answers)
    assert [item.text for item in look(store).items] == ["Read"]


def test_no_arguments_and_unknown_tools(store: str) -> None:
    script = Script([ToolCallPart("plan", None), ToolCallPart("plan", "")], [ToolCallPart("plans", {})], "Which one?")
    assert agent_with(script, store).run_sync("Go on.").output == "Which one?"


def test_parallel_calls_of_one_turn_change_the_plan_in_their_order(store: str) -> None:
    many = [plan(add=[f"Step {number}"]) for number in range(8)]
    script = Script([*many, ToolCallPart("look", {}), plan(done=[1, 2])], "Which one?")
    agent_with(script, store, tools=[Tool(lambda: "seen", name="look")]).run_sync("Go on.")
    assert [item.text for item in look(store).items] == [f"Step {number}" for number in range(8)]
    assert [item.status for item in look(store).items][:3] == ["completed", "completed", "in_progress"]


def test_a_store_that_is_gone_stops_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plan.db").mkdir()
    script = Script([plan(add=["Read"])], [ToolCallPart("look", {})], "I go on without.")
    agent = agent_with(script, f"sqlite:{tmp_path}/plan.db", tools=[Tool(lambda: "seen", name="look")])
    with caplog.at_level(logging.WARNING, "punchlist"):
        assert agent.run_sync("Go on.").output == "I go on without."
    assert "Not saved" in texts(script.requests[1])
    assert len([record for record in caplog.records if record.name == "punchlist"]) == 1


async def test_a_run_that_is_cancelled_ends_and_leaves_the_store_usable(store: str) -> None:
    begun = asyncio.Event()

    async def wait() -> str:
        begun.set()
        await asyncio.Event().wait()
        return "never"

    script = Script([plan(add=["Read"])], [ToolCallPart("wait", {})])
    agent = agent_with(script, store, tools=[wait])
    task = asyncio.create_task(agent.run("Go on."))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    script.steps = [[plan(done=[1])], "Done."]
    assert (await agent.run("Go on.")).output == "Done."
    assert look(store).items[0].calls == ()


async def test_what_was_told_in_a_run_that_failed_later_is_told_again_and_once(store: str) -> None:
    def fail() -> Any:
        raise ConnectionError("gone")

    script = Script([plan(add=["Read"])], "Which one?", [ToolCallPart("look", {})], fail, "Shall I?", "Really?")
    agent = agent_with(script, store, tools=[Tool(lambda: "seen", name="look")])
    talk = (await agent.run("Go on.")).all_messages()
    edit(store, lambda now: ops.note(now, "1", "start with the lexer"))
    with pytest.raises(ConnectionError):
        await agent.run("Go on.", message_history=talk)
    talk = (await agent.run("Go on.", message_history=talk)).all_messages()
    await agent.run("Go on.", message_history=talk)
    assert [texts(one).count("start with the lexer") for one in script.requests] == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_what_was_told_in_a_request_without_an_answer_is_told_again_and_once(
    store: str, is_cancelled: bool
) -> None:
    asked = asyncio.Event()

    async def wait() -> Any:
        asked.set()
        if is_cancelled:
            await asyncio.Event().wait()
        raise ConnectionError("gone")

    script = Script([plan(add=["Read"])], "Which one?", lambda: [wait()], "Shall I?", "Really?")
    agent = agent_with(script, store)
    talk = (await agent.run("Go on.")).all_messages()
    edit(store, lambda now: ops.note(now, "1", "start with the lexer"))
    task = asyncio.create_task(agent.run("Go on.", message_history=talk))
    await asked.wait()
    if is_cancelled:
        task.cancel()
    with pytest.raises(asyncio.CancelledError if is_cancelled else ConnectionError):
        await task
    talk = (await agent.run("Go on.", message_history=talk)).all_messages()
    await agent.run("Go on.", message_history=talk)
    assert [texts(one).count("start with the lexer") for one in script.requests] == [0, 0, 1, 1, 1]


def test_the_same_agent_in_two_event_loops(store: str) -> None:
    script = Script([plan(add=["Read"])], "Which one?", [plan(done=[1])], "Done.")
    agent = agent_with(script, store)
    asyncio.run(agent.run("Go on."))
    asyncio.run(agent.run("Go on."))
    assert look(store).items[0].status == "completed"


# --- several at once -------------------------------------------------------------------------------------------------


def scripted(name: str) -> Script:
    return Script([plan(add=[f"Read {name}", f"Write {name}"])], [plan(done=[1])], f"Which {name}?")


async def test_tasks_at_once_keep_their_plans_apart(store: str) -> None:
    capability = Punchlist(store)
    agents = [Agent(scripted(f"t{number}").model, capabilities=[capability]) for number in range(6)]
    runs = [agent.run("Go on.", conversation_id=f"c{number}") for number, agent in enumerate(agents)]
    await asyncio.gather(*runs)
    for number in range(6):
        assert [item.text for item in look(store, f"c{number}").items] == [f"Read t{number}", f"Write t{number}"]


def test_threads_at_once_keep_their_plans_apart(store: str) -> None:
    capability = Punchlist(store)

    def work(number: int) -> None:
        agent = Agent(scripted(f"t{number}").model, capabilities=[capability])
        agent.run_sync("Go on.", conversation_id=f"c{number}")

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        assert [item.text for item in look(store, f"c{number}").items] == [f"Read t{number}", f"Write t{number}"]


def test_two_agents_with_one_capability_hand_over_the_plan_of_a_session(store: str) -> None:
    capability = Punchlist(store, session="s1")
    first = Script([plan(add=["Read", "Write"])], "Which one?")
    second = Script([plan(done=[1])], "Which one?")
    Agent(first.model, name="planner", capabilities=[capability]).run_sync("Go on.")
    Agent(second.model, name="coder", capabilities=[capability]).run_sync("Go on.")
    assert [item.status for item in look(store).items] == ["completed", "in_progress"]


def sub_agent(name: str, result: AgentRunResult[Any]) -> str:
    """The name under which a sub-agent has its plan."""
    conversation = result.all_messages()[0].conversation_id
    assert conversation
    return f"{name}-{crc32(conversation.encode()):08x}"


async def test_an_agent_that_a_tool_runs_has_a_plan_of_its_own(store: str) -> None:
    inner = Script([plan(add=["Search"])], "I have found half.", [plan(add=["Something else"])], "Found.")
    capability = Punchlist(store)
    researcher = Agent(inner.model, name="researcher", capabilities=[capability])
    results = []

    async def research() -> str:
        results.append(await researcher.run("Find it."))
        return results[-1].output

    twice: list[Step] = [[ToolCallPart("research", {})], [ToolCallPart("research", {})]]
    outer = Script([plan(add=["Read", "Write"])], *twice, [plan(done=[1])], "Which one?")
    agent = Agent(outer.model, name="coder", capabilities=[capability], tools=[research])
    await agent.run("Go on.", conversation_id="c1")
    assert [item.text for item in look(store, "c1").items] == ["Read", "Write"]
    plans = [look(store, "c1", sub_agent("researcher", result)) for result in results]
    assert [[item.text for item in one.items] for one in plans] == [["Search"], ["Something else"]]
    assert len(inner.requests) == 4, "a sub-agent is not nudged"
    assert "Search" not in texts(inner.requests[2]), "nor told the plan of another"


async def test_a_sub_agent_whose_conversation_goes_on_keeps_its_plan(store: str) -> None:
    inner = Script([plan(add=["Search"])], "I have found half.", [plan(done=[1])], "Found.")
    capability = Punchlist(store)
    researcher = Agent(inner.model, name="researcher", capabilities=[capability])
    results: list[AgentRunResult[str]] = []

    async def research() -> str:
        history = results[-1].all_messages() if results else None
        results.append(await researcher.run("Find it.", message_history=history))
        return results[-1].output

    outer = Script([ToolCallPart("research", {})], [ToolCallPart("research", {})], "Which one?")
    await Agent(outer.model, capabilities=[capability], tools=[research]).run("Go on.", conversation_id="c1")
    (item,) = look(store, "c1", sub_agent("researcher", results[0])).items
    assert (item.text, item.status) == ("Search", "completed")


async def test_sub_agents_of_one_name_at_once_have_a_plan_each(store: str) -> None:
    ready = asyncio.Barrier(2)
    capability = Punchlist(store)
    found: dict[str, str] = {}

    async def research(what: str) -> str:
        async def both() -> TextPart:
            await ready.wait()
            return TextPart("Found.")

        inner = Script([plan(add=[f"Search {what}"])], lambda: [both()])
        agent = Agent(inner.model, name="researcher", capabilities=[capability])
        result = await agent.run("Find it.")
        found[what] = sub_agent("researcher", result)
        return result.output

    calls = [ToolCallPart("research", {"what": what}) for what in ("heron", "egret")]
    outer = Script(calls, "Which one?")
    await Agent(outer.model, capabilities=[capability], tools=[research]).run("Go on.", conversation_id="c1")
    for what, agent in found.items():
        assert [item.text for item in look(store, "c1", agent).items] == [f"Search {what}"]


async def test_a_sub_agent_with_a_name_of_its_own_has_one_plan(store: str) -> None:
    inner = Script([plan(add=["Search"])], "I have found half.")
    researcher = Agent(inner.model, capabilities=[Punchlist(store, agent="researcher")])

    async def research() -> str:
        return (await researcher.run("Find it.")).output

    outer = Script([ToolCallPart("research", {})], "Which one?")
    await Agent(outer.model, capabilities=[Punchlist(store)], tools=[research]).run("Go on.", conversation_id="c1")
    assert [item.text for item in look(store, "c1", "researcher").items] == ["Search"]


async def test_a_sub_agent_of_the_harness(store: str) -> None:
    inner = Script([plan(add=["Search"])], "I have found half.")
    capability = Punchlist(store, session="s1")
    researcher = Agent(inner.model, name="researcher", capabilities=[Punchlist(store, agent="researcher")])
    outer = Script([ToolCallPart("delegate_task", {"agent_name": "researcher", "task": "Find it."})], "Which one?")
    delegation = SubAgents[None](agents=[SubAgent(researcher, description="finds things")])
    await Agent(outer.model, capabilities=[capability, delegation]).run("Go on.")
    assert [item.text for item in look(store, agent="researcher").items] == ["Search"]
    assert "I have found half." in texts(outer.requests[-1])


def test_a_tool_that_runs_the_same_agent_again(store: str) -> None:
    script = Script(
        [plan(add=["Read", "Write"])],
        [ToolCallPart("again", {})],
        [plan(add=["Inner"])],
        "The inner one is done.",
        [plan(done=[1])],
        "Which one?",
    )
    agent = agent_with(script, store, name="coder")
    results = []

    @agent.tool_plain
    async def again() -> str:
        results.append(await agent.run("Do the inner one."))
        return str(results[0].output)

    agent.run_sync("Go on.")
    assert [item.text for item in look(store).items] == ["Read", "Write"]
    assert [item.text for item in look(store, agent=sub_agent("coder", results[0])).items] == ["Inner"]


@pytest.mark.parametrize("agent", ["main", "coder"])
async def test_a_run_in_a_task_that_outlives_the_tool_that_started_it_is_no_sub_agent(store: str, agent: str) -> None:
    capability = Punchlist(store, agent=agent)
    is_returned = asyncio.Event()
    later: list[asyncio.Task[Any]] = []
    second = Script([plan(add=["Of Bob"])], "Which one?")

    async def work() -> None:
        await is_returned.wait()
        await Agent(second.model, name="bot", capabilities=[capability]).run("I am Bob.", conversation_id="bob")

    async def begin() -> str:
        later.append(asyncio.create_task(work()))
        return "begun"

    first = Script([plan(add=["Of Alice"])], [ToolCallPart("begin", {})], "Which one?")
    bot = Agent(first.model, name="bot", capabilities=[capability], tools=[begin])
    await bot.run("I am Alice.", conversation_id="alice")
    is_returned.set()
    await later[0]
    assert [item.text for item in look(store, "alice", agent).items] == ["Of Alice"]
    assert [item.text for item in look(store, "bob", agent).items] == ["Of Bob"]


async def test_each_of_the_runs_in_each_other_has_a_plan_whatever_the_agent_is_called(store: str) -> None:
    once_more: Step = [ToolCallPart("again", {})]
    script = Script(
        [plan(add=["One"])], once_more, [plan(add=["Two"])], once_more, [plan(add=["Three"])], "Three?", "Two?", "One?"
    )
    agent = Agent(script.model, name="bot", capabilities=[Punchlist(store, agent="coder")])

    @agent.tool_plain
    async def again() -> str:
        return str((await agent.run("Go on.", conversation_id="\ud800")).output)

    await agent.run("Go on.", conversation_id="c1")
    letters = crc32(b"\xed\xa0\x80")
    inner = f"bot-{letters:08x}"
    plans = [look(store, "c1", name) for name in ("coder", inner, f"{inner}-3")]
    assert [[item.text for item in one.items] for one in plans] == [["One"], ["Two"], ["Three"]]


async def test_an_error_of_a_tool_that_has_no_text_stays_what_it_is(store: str) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    async def fail() -> str:
        raise Odd

    script = Script([plan(add=["Read"])], [ToolCallPart("fail", {})], "Which one?")
    with pytest.raises(Odd):
        await Agent(script.model, capabilities=[Punchlist(store)], tools=[fail]).run("Go on.", conversation_id="s1")
    (item,) = look(store, calls=True).items
    assert [call["name"] for call in item.calls] == ["fail"]


def test_the_operations_on_plans_are_loaded_when_they_are_used() -> None:
    code = "import sys, punchlist.adapters.pydantic_ai; print('punchlist.core.ops' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False"]


# --- the kit ---------------------------------------------------------------------------------------------------------


def sent(messages: Sequence[ModelMessage]) -> list[dict[str, Any]]:
    """A conversation as a provider gets it."""
    found: list[dict[str, Any]] = []
    for one in messages:
        for part in one.parts:
            if isinstance(part, ToolCallPart):
                found.append({"role": "assistant", "id": part.tool_call_id, "call": part.tool_name, "args": part.args})
            elif isinstance(part, ToolReturnPart):
                found.append({"role": "tool", "id": part.tool_call_id, "content": part.model_response_str()})
            else:
                role = "assistant" if isinstance(one, ModelResponse) else "user"
                found.append({"role": role, "content": getattr(part, "content", "")})
    return found


def make_agent(case: conformance.Case) -> Any:
    """An agent of the conformance kit."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema}
            for tool in info.function_tools
        ]
        said, calls = case.model.request(sent(messages), tools)
        parts: list[Any] = [TextPart(said)] if said or not calls else []
        return ModelResponse(parts=[*parts, *[ToolCallPart(one.name, one.args, one.id) for one in calls]])

    capability = Punchlist(case.store, session=case.session)
    agent = Agent(FunctionModel(answer), capabilities=[capability], tools=[Tool(case.tool, name="shell")])
    history: list[ModelMessage] = []

    def run(prompt: str) -> str:
        result = asyncio.run(agent.run(prompt, message_history=history))
        history[:] = result.all_messages()
        return result.output

    def compact() -> None:
        history[:] = [ModelRequest(parts=[UserPromptPart("You were working on something.")])]

    run.close = capability.close  # type: ignore[attr-defined]
    run.compact = compact  # type: ignore[attr-defined]
    return run


def test_the_conformance_kit_passes() -> None:
    report = conformance.check(make_agent)
    assert report.passed, str(report)

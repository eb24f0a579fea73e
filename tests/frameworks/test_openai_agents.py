"""A plan in agents of the OpenAI Agents SDK, with the SDK's own scripted model and a real SQLite store."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import wraps
from itertools import pairwise
from pathlib import Path
from threading import Barrier, Thread
from typing import Any
from weakref import ref

import pytest
from agents import (
    Agent,
    FunctionTool,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelResponse,
    OutputGuardrail,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    RunHooks,
    Runner,
    SessionSettings,
    ShellCallOutcome,
    ShellCommandOutput,
    ShellCommandRequest,
    ShellResult,
    ShellTool,
    SQLiteSession,
    Usage,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.extensions.handoff_filters import remove_all_tools
from agents.models.interface import Model
from agents.run import CallModelData, ModelInputData
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

import punchlist
from punchlist import ops
from punchlist.adapters.openai_agents import AgentPlan, plan
from punchlist.testing import conformance

set_tracing_disabled(True)

STEPS = ["Read the parser", "Fix it"]


def asynchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in an event loop of its own."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))

    return run


def say(text: str) -> list[Any]:
    return [assistant_message(text)]


class Script:
    """Steps for a scripted model, with an id for each call."""

    def __init__(self) -> None:
        self.number = 0

    def use(self, tool: str, arguments: str) -> Any:
        self.number += 1
        return function_call(tool, arguments, call_id=f"call{self.number}")

    def plan(self, **verbs: Any) -> Any:
        return self.use("plan", json.dumps(verbs))


def model(*steps: Any) -> ScriptedModel:
    """A model that plays these steps: a text is said, an item is called, a list is several at once."""
    return ScriptedModel([_step(step) for step in steps])


def _step(step: Any) -> Any:
    if isinstance(step, str):
        return say(step)
    if isinstance(step, list | ModelStep):
        return step
    if callable(step):
        return ModelStep.respond(step)
    return [step]


def address(folder: Path) -> str:
    return f"sqlite:{folder}/plan.db"


def coder(p: AgentPlan, script: ScriptedModel, *tools: Any, **options: Any) -> Agent[Any]:
    return Agent(name="Coder", instructions="You fix bugs.", model=script, tools=[*tools, *p.tools], **options)


def texts(call: ModelCall | None) -> list[str]:
    """What a request has, an entry each."""
    assert call is not None
    return [json.dumps(item, default=str) for item in call.input]


def told(call: ModelCall) -> list[str]:
    """Words of the user's side in a request."""
    return [item["content"] for item in call.input if item.get("role") == "user"]


def assert_stable(calls: Sequence[ModelCall]) -> None:
    """Each request begins with the one before, byte by byte, and has the same tools and system prompt."""
    assert len(calls) > 1
    for before, after in pairwise(calls):
        assert texts(after)[: len(before.input)] == texts(before)
        assert after.system_instructions == before.system_instructions
        assert [described(tool) for tool in after.tools] == [described(tool) for tool in before.tools]


def described(tool: Any) -> tuple[str, str, str]:
    return (tool.name, tool.description, json.dumps(tool.params_json_schema))


def open_items(folder: Path, session: str = "s1", agent: str = "main") -> list[str]:
    with punchlist.open(address(folder), session=session, agent=agent) as desk:
        return [item.text for item in desk.load().open_items]


def edit(folder: Path, change: Callable[[punchlist.Plan], punchlist.Plan], session: str = "s1") -> None:
    """An edit of the user's, from another desk."""
    with punchlist.open(address(folder), session=session) as desk:
        desk.change(change)


# --- the tool, the plan, the user ------------------------------------------------------------------------------------


@asynchronous
async def test_the_tool_and_its_text_are_in_the_first_request(tmp_path: Path) -> None:
    script = model("Hello.")
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script), "Hi")
    first = script.calls[0]
    assert [tool.name for tool in first.tools] == ["plan"]
    assert first.system_instructions is not None
    assert first.system_instructions.startswith("You fix bugs.\n\nFor work of 3 or more steps")
    assert texts(first) == ['{"content": "Hi", "role": "user"}']


@asynchronous
async def test_a_text_that_the_agent_has_already_is_not_added(tmp_path: Path) -> None:
    script = model("Hello.", "Hello.")
    with plan(address(tmp_path), session="s1") as p:
        agent = Agent(name="Coder", instructions=f"Be kind.\n{p.instructions}", model=script, tools=p.tools)
        await p.run(agent, "Hi")
        await p.run(Agent(name="Coder", model=script, tools=p.tools), "Hi")
    assert script.calls[0].system_instructions == f"Be kind.\n{p.instructions}"
    assert script.calls[1].system_instructions == p.instructions, "an agent without instructions has the text alone"


@asynchronous
async def test_the_plan_survives_a_restart_of_the_process(tmp_path: Path) -> None:
    program = f"""
import asyncio
from pathlib import Path
from tests.frameworks.test_openai_agents import *

async def main():
    with plan({address(tmp_path)!r}) as p:
        session = SQLiteSession("chat", {str(tmp_path / "chat.db")!r})
        script = model(Script().plan(add={STEPS!r}), "Shall I go on?")
        await p.run(coder(p, script), "The parser drops a line.", session=session)

asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert open_items(tmp_path, "chat") == STEPS, "the session is the SDK's"
    script = model(Script().plan(done=[1, 2]), "Fixed.")
    async with plan(address(tmp_path)) as p:
        await p.run(coder(p, script), "Yes.", session=SQLiteSession("chat", tmp_path / "chat.db"))
        assert open_items(tmp_path, "chat") == []
        other = model("Go on with what?")
        await p.run(coder(p, other), "Go on.", session=SQLiteSession("new", tmp_path / "chat.db"))
    assert len(told(script.calls[0])) == 2, "the plan is in the conversation: it is not told again"


@asynchronous
async def test_a_new_conversation_of_a_session_is_told_its_plan(tmp_path: Path) -> None:
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, model(Script().plan(add=STEPS), "Shall I go on?")), "The parser drops a line.")
    script = model(Script().plan(done=[1]), "Shall I fix it?")
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script), "Go on.")
    assert "Fix it" in told(script.calls[0])[-1]
    assert_stable(script.calls)


@asynchronous
async def test_an_edit_of_the_user_is_told_once_and_not_undone(tmp_path: Path) -> None:
    use = Script()

    @function_tool
    def shell(command: str) -> str:
        """Run a command."""
        edit(tmp_path, lambda plan: ops.add(ops.rename(plan, "2", "Fix the quotes"), "Ask Ann"))
        return "ok"

    script = model(
        use.plan(add=STEPS),
        use.use("shell", '{"command": "ls"}'),
        use.use("shell", "{"),  # the user's tool says what is wrong with it
        use.plan(done=[1]),
        "Shall I ask her?",
    )
    with plan(address(tmp_path), session="s1") as p:
        result = await p.run(coder(p, script, shell), "The parser drops a line.")
    assert open_items(tmp_path) == ["Fix the quotes", "Ask Ann"]
    assert [len(told(call)) for call in script.calls] == [1, 1, 2, 2, 2]
    assert "Ask Ann" in told(script.calls[2])[1]
    assert_stable(script.calls)
    history = [json.dumps(item, default=str) for item in result.to_input_list()]
    assert history[: len(script.calls[-1].input)] == texts(script.calls[-1]), "the history has what was told"


@asynchronous
async def test_what_was_told_is_in_a_session_of_the_sdk_and_in_the_next_run(tmp_path: Path) -> None:
    use = Script()

    @function_tool
    def shell(command: str) -> str:
        """Run a command."""
        edit(tmp_path, lambda plan: ops.note(plan, "1", "use -x"), "chat")
        return "ok"

    script = model(
        use.plan(add=STEPS),
        use.use("shell", '{"command": "ls"}'),
        "Half of it.",
        use.plan(done=[1]),
        "Shall I fix it?",
        use.plan(done=[2]),
        "Done.",
    )
    session = SQLiteSession("chat", tmp_path / "chat.db")
    with plan(address(tmp_path)) as p:
        agent = coder(p, script, shell)
        await p.run(agent, "The parser drops a line.", session=session)
        await p.run(agent, "Yes.", session=SQLiteSession("chat", tmp_path / "chat.db"))
    script.assert_complete()
    assert_stable(script.calls)
    assert sum("use -x" in text for text in texts(script.last_call)) == 1
    kept = [json.dumps(item, default=str) for item in await session.get_items()]
    assert kept[:-1] == texts(script.last_call)


@asynchronous
async def test_streamed_runs_tell_and_continue_in_the_same_way(tmp_path: Path) -> None:
    use = Script()
    edit(tmp_path, lambda plan: ops.add(plan, "Ask Ann"), "chat")
    script = model(use.plan(add=STEPS), "Half of it.", use.plan(done=[2, 3]), use.plan(done=[1]), "Done.")
    session = SQLiteSession("chat", tmp_path / "chat.db")
    async with plan(address(tmp_path)) as p:
        streamed = p.run_streamed(coder(p, script), "The parser drops a line.", session=session)
        events = [event async for event in streamed.stream_events()]
        assert streamed.final_output == "Done."
        assert streamed.is_complete
        again = model("Bye.")
        await p.run(coder(p, again), "Thanks.", session=session)
    assert len([event for event in events if event.type == "raw_response_event"]) > 10
    assert len(streamed.raw_responses) == 5
    assert "Ask Ann" in told(script.calls[0])[1]
    assert_stable([*script.calls, *again.calls])


# --- nudges ----------------------------------------------------------------------------------------------------------


@asynchronous
async def test_an_early_stop_is_nudged_within_the_bounds_and_the_result_is_of_all_of_it(tmp_path: Path) -> None:
    script = model(Script().plan(add=STEPS), "Half of it.", "I stop here.", "never")
    with plan(address(tmp_path), session="s1") as p:
        result = await p.run(coder(p, script), "The parser drops a line.")
    assert result.final_output == "I stop here."
    assert script.remaining_steps == 1, "a nudge that leads to nothing is the last"
    assert told(script.calls[2])[1].startswith('The plan is not finished: now 1 "Read the parser" (0/2).')
    assert len(result.raw_responses) == 3
    assert [item.type for item in result.new_items] == [
        "tool_call_item",
        "tool_call_output_item",
        "message_output_item",
        "input_item",
        "message_output_item",
    ]
    history = [json.dumps(item, default=str) for item in result.to_input_list()]
    assert history[:-1] == texts(script.last_call)
    assert_stable(script.calls)


@pytest.mark.parametrize("last", ["Shall I fix it now?", "I have read it. Please tell me which quotes you mean."])
@asynchronous
async def test_a_question_is_not_nudged(tmp_path: Path, last: str) -> None:
    script = model(Script().plan(add=STEPS), last)
    with plan(address(tmp_path), session="s1") as p:
        result = await p.run(coder(p, script), "The parser drops a line.")
    assert result.final_output == last
    assert len(script.calls) == 2


@asynchronous
async def test_a_pause_and_a_user_who_says_wait_are_respected_also_after_a_handoff(tmp_path: Path) -> None:
    use = Script()
    script = model(use.plan(add=STEPS), use.plan(pause="the deploy key has expired"), "I am waiting for a key.")
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script), "The parser drops a line.")
        waiting = model(use.plan(done=[1]), "I have read it.")
        await p.run(coder(p, waiting), "Read the parser, then stop and wait for me.")
        handed = model(use.plan(add=["Look"]), "I have looked at half.")
        writer = Agent(name="Writer", model=handed, tools=p.tools)
        triage = model(use.use("transfer_to_writer", "{}"))
        await p.run(coder(p, triage, handoffs=[writer]), "Make a plan, then stop and wait for me.")
    assert [len(one.calls) for one in (script, waiting, handed)] == [3, 2, 2]


@asynchronous
async def test_max_turns_is_for_all_of_it_and_a_nudge_that_has_no_turn_left_is_not_given(tmp_path: Path) -> None:
    use = Script()
    with plan(address(tmp_path), session="s1") as p:
        script = model(use.plan(add=STEPS), "Half of it.", "never")
        result = await p.run(coder(p, script), "The parser drops a line.", max_turns=2)
        assert result.final_output == "Half of it."
        script = model(use.plan(done=[1]), "More of it.", use.plan(note={"2": "quotes"}), "never")
        with pytest.raises(MaxTurnsExceeded):
            await p.run(coder(p, script), "Go on.", max_turns=3)
    assert script.remaining_steps == 1


@asynchronous
async def test_guardrails_are_for_the_users_words_and_a_refused_nudge_ends_the_run_as_it_was(tmp_path: Path) -> None:
    def check(context: Any, agent: Any, input: Any) -> GuardrailFunctionOutput:
        last = input if isinstance(input, str) else input[-1]["content"]
        return GuardrailFunctionOutput(last, tripwire_triggered="not finished" in last or "secret" in last)

    use = Script()
    guard = InputGuardrail(check, run_in_parallel=False)
    with plan(address(tmp_path), session="s1") as p:
        with pytest.raises(InputGuardrailTripwireTriggered):
            await p.run(coder(p, model("never"), input_guardrails=[guard]), "a secret")
        script = model(use.plan(add=STEPS), "Half of it.", "never")
        result = await p.run(coder(p, script, input_guardrails=[guard]), "The parser drops a line.")
        assert result.final_output == "Half of it."
        config = RunConfig(input_guardrails=[guard])
        script = model(use.plan(done=[1]), "More of it.", "I stop.")
        result = await p.run(coder(p, script), "Go on.", run_config=config)
        assert result.final_output == "I stop.", "those of a run look at what the user said"

        def no(context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
            return GuardrailFunctionOutput(None, tripwire_triggered=True)

        with pytest.raises(OutputGuardrailTripwireTriggered):
            await p.run(coder(p, model("Done."), output_guardrails=[OutputGuardrail(no)]), "Go on.")


def test_run_sync_continues_too_with_a_session_and_hooks_and_a_context(tmp_path: Path) -> None:
    seen: list[str] = []

    class Mine(RunHooks[Any]):
        async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
            seen.append(f"{tool.name} {context.context}")

        async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
            seen.append("asked")

    use = Script()
    script = model(use.plan(add=STEPS), "Half of it.", use.plan(done=[1, 2]), "Done.")
    with plan(address(tmp_path)) as p:
        session = SQLiteSession("chat", tmp_path / "chat.db")
        result = p.run_sync(coder(p, script), "Go.", session=session, hooks=Mine(), context="mine", max_turns=9)
    assert result.final_output == "Done."
    assert seen == ["asked", "plan mine", "asked", "asked", "plan mine", "asked"]
    assert result.context_wrapper.context == "mine"
    assert open_items(tmp_path, "chat") == []


@asynchronous
async def test_usage_is_counted_once_for_all_of_it(tmp_path: Path) -> None:
    script = ScriptedModel(
        [[Script().plan(add=STEPS)], say("Half of it."), say("I stop.")],
        default_usage=Usage(requests=1, input_tokens=10, output_tokens=1, total_tokens=11),
    )
    with plan(address(tmp_path), session="s1") as p:
        result = await p.run(coder(p, script), "Go.")
    assert result.context_wrapper.usage.total_tokens == 33
    assert result.context_wrapper.usage.requests == 3


# --- what the user has already ---------------------------------------------------------------------------------------


@asynchronous
async def test_a_filter_of_the_user_comes_first_and_a_trimmed_history_is_told_the_plan_once(tmp_path: Path) -> None:
    use = Script()

    def trim(data: CallModelData[Any]) -> ModelInputData:
        items = data.model_data.input
        if len(items) > 7:
            items = [items[0], *items[-2:]]
        return ModelInputData(items, data.model_data.instructions)

    @function_tool
    def shell(command: str) -> str:
        """Run a command."""
        return "ok"

    ls = '{"command": "ls"}'
    steps = [use.plan(add=STEPS), *[use.use("shell", ls) for _ in range(5)], "Shall I go on?"]
    script = model(*steps)
    with plan(address(tmp_path), session="s1") as p:
        config = RunConfig(call_model_input_filter=trim)
        await p.run(coder(p, script, shell), "The parser drops a line.", run_config=config)
    lists = [sum("Fix it" in text for text in told(call)) for call in script.calls]
    assert [len(call.input) for call in script.calls][3:5] == [7, 4]
    assert lists[:5] == [0, 0, 0, 0, 1]
    assert max(lists) == 1


@asynchronous
async def test_a_session_that_is_cut_brings_the_plan_back_once_and_it_stays(tmp_path: Path) -> None:
    use = Script()
    session = SQLiteSession("chat", tmp_path / "chat.db")
    with plan(address(tmp_path)) as p:
        await p.run(coder(p, model(use.plan(add=STEPS), "Shall I go on?")), "The parser drops a line.", session=session)
        config = RunConfig(session_settings=SessionSettings(limit=1))
        script = model(use.plan(done=[1]), use.plan(note={"2": "quotes"}), "Shall I fix it?")
        await p.run(coder(p, script), "Yes.", session=session, run_config=config)
    assert [sum("Fix it" in text for text in told(call)) for call in script.calls] == [1, 1, 1]
    assert_stable(script.calls)
    kept = [item.get("content") for item in await session.get_items() if item.get("role") == "user"]
    assert sum("Fix it" in str(content) for content in kept) == 1


@asynchronous
async def test_the_parts_work_with_a_runner_of_the_users_own(tmp_path: Path) -> None:
    use = Script()

    @function_tool
    def shell(command: str) -> dict[str, Any]:
        """Run a command."""
        edit(tmp_path, lambda plan: ops.note(plan, "1", "use -x"))
        return {"exit_code": 1, "output": "failed"}

    script = model(use.plan(add=STEPS), use.use("shell", '{"command": "make"}'), use.plan(done=[1]), "Half of it.")
    with plan(address(tmp_path), session="s1") as p:
        config = RunConfig(call_model_input_filter=p.input_filter)
        result = await Runner.run(coder(p, script, shell), "Go.", run_config=config, hooks=p.hooks)
        assert result.final_output == "Half of it.", "it is not nudged"
        calls = observed(tmp_path)
    assert_stable(script.calls)
    assert "use -x" in told(script.calls[2])[1]
    assert [(call["name"], call.get("exit")) for call in calls] == [("shell", 1)]


@asynchronous
async def test_a_conversation_that_the_provider_keeps_gets_only_what_is_new(tmp_path: Path) -> None:
    use = Script()

    @function_tool
    def shell(command: str) -> str:
        """Run a command."""
        edit(tmp_path, lambda plan: ops.note(plan, "1", "use -x"), "conv_1")
        return "ok"

    script = model(
        use.plan(add=STEPS), use.use("shell", '{"command": "ls"}'), use.plan(done=[1]), "Half of it.", "I stop.", "Bye."
    )
    with plan(address(tmp_path)) as p:
        await p.run(coder(p, script, shell), "Go.", conversation_id="conv_1")
        await p.run(coder(p, script, shell), "Thanks.", conversation_id="conv_1")
    said = [[item.get("content", item.get("output")) for item in call.input] for call in script.calls]
    assert [len(one) for one in said] == [1, 1, 2, 1, 1, 1]
    assert "use -x" in said[2][1]
    assert said[4][0].startswith("The plan is not finished")
    assert said[5] == ["Thanks."]


@asynchronous
async def test_a_chain_of_responses_is_continued_from_the_last(tmp_path: Path) -> None:
    steps: list[Any] = [[Script().plan(add=STEPS)], say("Half of it."), say("I stop.")]
    script = ScriptedModel([ModelStep(output=step, response_id=f"resp_{n}") for n, step in enumerate(steps)])
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script), "Go.", auto_previous_response_id=True)
    assert [call.previous_response_id for call in script.calls] == [None, "resp_0", "resp_1"]
    assert len(script.calls[2].input) == 1


@asynchronous
async def test_an_approval_that_is_awaited_is_not_nudged_and_the_resumed_run_has_what_was_told(tmp_path: Path) -> None:
    use = Script()
    edit(tmp_path, lambda plan: ops.add(plan, "Ask Ann"))

    @function_tool(needs_approval=True)
    def deploy(place: str) -> str:
        """Deploy."""
        return "deployed"

    script = model(use.plan(add=STEPS), use.use("deploy", '{"place": "here"}'), "Deployed. Shall I go on?")
    with plan(address(tmp_path), session="s1") as p:
        agent = coder(p, script, deploy)
        result = await p.run(agent, "Go.")
        assert len(result.interruptions) == 1
        state = result.to_state()
        state.approve(result.interruptions[0])
        result = await p.run(agent, state)
    assert result.final_output == "Deployed. Shall I go on?"
    assert "Ask Ann" in told(script.calls[0])[1]
    assert_stable(script.calls)


@pytest.mark.parametrize("kept", ["nobody", "session", "server"])
@asynchronous
async def test_nobody_is_nudged_after_the_user_refused_a_call(tmp_path: Path, kept: str) -> None:
    use = Script()

    @function_tool(needs_approval=True)
    def deploy(place: str) -> str:
        """Deploy."""
        return "deployed"

    options: Any = {"session": SQLiteSession("s1")} if kept == "session" else {}
    if kept == "server":
        options = {"auto_previous_response_id": True}
    turns = [use.plan(add=STEPS), use.use("deploy", '{"place": "here"}'), "Then I leave it."]
    script = model(*turns, use.plan(done=[1]), "Half of it.", "Right?")
    with plan(address(tmp_path), session="s1") as p:
        agent = coder(p, script, deploy)
        result = await p.run(agent, "Go.", **options)
        state = result.to_state()
        state.reject(result.interruptions[0])
        result = await p.run(agent, state, **options)
        assert result.final_output == "Then I leave it."
        assert len(script.calls) == 3
        await p.run(agent, "Go on.", **options)
    script.assert_complete()


@asynchronous
async def test_a_tool_that_is_offered_only_at_times(tmp_path: Path) -> None:
    use = Script()
    item = {"id": "1", "content": "Read", "status": "in_progress", "priority": "high"}
    script = model(
        use.use("todo_write", json.dumps({"todos": [item]})),
        "Half of it.",
        use.use("todo_pause", json.dumps({"reason": "the deploy key has expired"})),
        "I am waiting for a key.",
    )
    with plan(address(tmp_path), session="s1", dialect="llxprt") as p:
        await p.run(coder(p, script), "Go.")
    offered = [[tool.name for tool in call.tools] for call in script.calls]
    assert "todo_pause" not in offered[0]
    assert "todo_pause" in offered[2]
    script.assert_complete()


# --- observations ----------------------------------------------------------------------------------------------------


def observed(folder: Path, session: str = "s1", agent: str = "main") -> list[Any]:
    with punchlist.open(address(folder), session=session, agent=agent) as desk:
        return [call for item in desk.load(calls=True).items for call in item.calls]


@asynchronous
async def test_calls_of_other_tools_are_observed_and_evidence_with_an_exit_code(tmp_path: Path) -> None:
    use = Script()

    @function_tool
    def bash(command: str) -> dict[str, Any]:
        """Run a command."""
        return {"exit_code": 0, "stdout": "2 passed"}

    @function_tool
    def search(words: str) -> str:
        """Search."""
        raise ValueError("no index")

    script = model(
        use.plan(add=[{"text": "Fix it", "check": "make test"}]),
        [use.use("bash", '{"command": "make test"}'), use.use("search", '{"words": "quotes"}')],
        "Shall I go on?",
    )
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script, bash, search), "Go.")
    assert {(call["name"], call.get("exit"), call["outcome"]) for call in observed(tmp_path)} == {
        ("bash", 0, "ok"),
        ("search", None, "failed"),
    }
    with punchlist.open(address(tmp_path), session="s1") as desk:
        assert desk.load(calls=True).items[0].evidence
    assert "bash" in str(script.calls[0].system_instructions) or "shell" not in str(p.instructions)


@asynchronous
async def test_the_shell_tool_of_the_sdk_is_observed_with_its_exit_codes(tmp_path: Path) -> None:
    from openai.types.responses.response_function_shell_tool_call import Action, ResponseFunctionShellToolCall

    async def execute(request: ShellCommandRequest) -> ShellResult:
        done = [
            ShellCommandOutput(stdout="2 passed", outcome=ShellCallOutcome(type="exit", exit_code=0)),
            ShellCommandOutput(stderr="no such file", outcome=ShellCallOutcome(type="exit", exit_code=2)),
        ]
        return ShellResult(output=done)

    action = Action(commands=["make test", "cat x"], max_output_length=None, timeout_ms=None)
    call = ResponseFunctionShellToolCall(
        id="sh1", call_id="sh1", type="shell_call", status="completed", action=action, environment=None
    )
    script = model(Script().plan(add=[{"text": "Fix it", "check": "make test"}]), [call], "Shall I go on?")
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script, ShellTool(executor=execute)), "Go.")
    assert [(one["name"], one.get("exit")) for one in observed(tmp_path)] == [("shell", 0), ("shell", 2)]
    with punchlist.open(address(tmp_path), session="s1") as desk:
        assert desk.load(calls=True).items[0].evidence


# --- several agents --------------------------------------------------------------------------------------------------


@asynchronous
async def test_an_agent_that_is_handed_to_has_a_plan_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    use = Script()
    with plan(address(tmp_path), session="s1") as p:
        writer_script = model(use.plan(add=["Draft"]), "Shall I go on?", use.plan(done=[1]), "Done.")
        writer = Agent(name="Writer", model=writer_script, tools=p.tools)
        script = model(use.plan(add=STEPS), use.use("transfer_to_writer", "{}"))
        result = await p.run(coder(p, script, handoffs=[writer]), "Go.")
        assert (open_items(tmp_path), open_items(tmp_path, agent="Writer")) == (STEPS, ["Draft"])
        assert result.last_agent.name == "Writer"
        items: list[Any] = [*result.to_input_list(), {"role": "user", "content": "Yes."}]
        await p.run(result.last_agent, items)
    assert (open_items(tmp_path), open_items(tmp_path, agent="Writer")) == (STEPS, [])


@asynchronous
async def test_an_agent_that_is_a_tool_has_a_plan_of_its_own_and_its_calls_are_observed_there(tmp_path: Path) -> None:
    use = Script()

    @function_tool
    def look(where: str) -> str:
        """Look."""
        return '{"exit_code": 3}'

    with plan(address(tmp_path), session="s1") as p:
        inner = model(use.plan(add=["Look"]), use.use("look", '{"where": "here"}'), use.plan(done=[1]), "Found.")
        finder = Agent(name="Finder", model=inner, tools=[look, *p.tools])
        tool = finder.as_tool("find", "Find something.")
        script = model(use.plan(add=STEPS), use.use("find", '{"input": "quotes"}'), "Shall I go on?")
        await p.run(coder(p, script, tool), "Go.")
    assert open_items(tmp_path) == STEPS
    with punchlist.open(address(tmp_path), session="s1", agent="Finder") as desk:
        assert [item.status for item in desk.load().items] == ["completed"]
    assert [(call["name"], call.get("exit")) for call in observed(tmp_path, agent="Finder")] == [("look", 3)]
    assert [call["name"] for call in observed(tmp_path)] == ["find"]
    assert_stable(inner.calls)
    assert_stable(script.calls)


@asynchronous
async def test_a_tool_that_runs_the_same_agent_again(tmp_path: Path) -> None:
    use = Script()
    script = model(
        use.plan(add=STEPS),
        use.use("again", "{}"),
        use.plan(done=[1]),
        "The first is done. Shall I go on?",  # of the inner run
        use.plan(done=[2]),
        "Done.",
    )
    with plan(address(tmp_path), session="s1") as p:

        @function_tool
        async def again() -> str:
            """Work on it."""
            result = await p.run(agent, "Do the first.")
            return str(result.final_output)

        agent = coder(p, script, again)
        result = await p.run(agent, "Go.")
    assert result.final_output == "Done."
    assert open_items(tmp_path) == []
    outer = [script.calls[number] for number in (0, 1, 4, 5)]
    assert_stable(outer)


@asynchronous
async def test_several_tasks_at_once_keep_their_plans_apart(tmp_path: Path) -> None:
    with plan(address(tmp_path)) as p:

        async def one(number: int) -> None:
            use = Script()
            script = model(use.plan(add=[f"Step {number}"]), "Half of it.", use.plan(note={"1": "x"}), "Shall I go on?")
            await p.run(coder(p, script), "Go.", session=SQLiteSession(f"chat{number}", tmp_path / "chat.db"))
            seen = "\n".join(texts(script.last_call))
            assert [other for other in range(6) if f"Step {other}" in seen] == [number]

        await asyncio.gather(*[one(number) for number in range(6)])
    assert [open_items(tmp_path, f"chat{number}") for number in range(6)] == [[f"Step {number}"] for number in range(6)]


def test_several_threads_and_event_loops_use_one_object(tmp_path: Path) -> None:
    with plan(address(tmp_path)) as p:
        together = Barrier(3)

        def one(number: int) -> None:
            script = model(Script().plan(add=[f"Step {number}"]), "Shall I go on?")
            together.wait()
            config = RunConfig(group_id=f"group{number}")
            asyncio.run(p.run(coder(p, script), "Go.", run_config=config))

        threads = [Thread(target=one, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in (1, 2):  # the same object in two loops, one after the other
            script = model(Script().plan(add=[f"More {number}"]), "Shall I go on?")
            asyncio.run(p.run(coder(p, script), "Go.", run_config={"group_id": "group0"}))
    assert open_items(tmp_path, "group0") == ["Step 0", "More 1", "More 2"]
    assert open_items(tmp_path, "group2") == ["Step 2"]


# --- bad input -------------------------------------------------------------------------------------------------------


@asynchronous
async def test_parallel_calls_in_one_turn_all_count(tmp_path: Path) -> None:
    use = Script()
    script = model([use.plan(add=[f"Step {number}"]) for number in range(5)], "Shall I go on?")
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script), "Go.")
    assert sorted(open_items(tmp_path)) == [f"Step {number}" for number in range(5)]


@pytest.mark.parametrize(
    "arguments",
    ['{"add": "[\\"Read"', "not JSON", "", "[]", "null", '"add"', '{"done": "x"}', '{"add": 3}', '{"nope": 1}'],
)  # fmt: skip
@asynchronous
async def test_malformed_arguments_are_answered_and_the_run_goes_on(tmp_path: Path, arguments: str) -> None:
    use = Script()
    script = model(use.plan(add=STEPS), use.use("plan", arguments), use.plan(done=[1]), "Shall I go on?")
    with plan(address(tmp_path), session="s1") as p:
        await p.run(coder(p, script), "Go.")
    output = script.calls[2].input[-1]["output"]
    assert output
    assert open_items(tmp_path) == STEPS[1:]
    if arguments == "not JSON":
        assert "for example" in output, output


@asynchronous
async def test_an_exception_in_a_tool_of_the_user_ends_or_does_not_end_the_run_as_in_the_sdk(tmp_path: Path) -> None:
    @function_tool(failure_error_function=None)
    def burn() -> str:
        """Burn."""
        raise LookupError("burnt")

    use = Script()
    with plan(address(tmp_path), session="s1") as p:
        with pytest.raises(Exception, match="burnt"):
            await p.run(coder(p, model(use.plan(add=STEPS), use.use("burn", "{}")), burn), "Go.")
        script = model(use.plan(done=[1]), "Shall I go on?")
        await p.run(coder(p, script), "Go on.")
    assert open_items(tmp_path) == STEPS[1:]


@asynchronous
async def test_a_request_that_fails_loses_nothing_that_was_told(tmp_path: Path) -> None:
    session = SQLiteSession("chat", tmp_path / "chat.db")
    script = model(
        Script().plan(add=STEPS),
        "Shall I go on?",
        ModelStep.raise_error(ConnectionError("cut")),
        "Shall I use it?",
        "Yes?",
    )
    with plan(address(tmp_path)) as p:
        await p.run(coder(p, script), "Go.", session=session)
        edit(tmp_path, lambda plan: ops.note(plan, "1", "use -x"), "chat")
        with pytest.raises(ConnectionError):
            await p.run(coder(p, script), "Yes.", session=session)
        await p.run(coder(p, script), "Go on.", session=session)
        await p.run(coder(p, script), "Yes.", session=session)
    assert [sum("use -x" in text for text in texts(call)) for call in script.calls] == [0, 0, 1, 1, 1]


@asynchronous
async def test_a_run_that_fails_later_loses_nothing_that_was_told_without_a_session(tmp_path: Path) -> None:
    use = Script()
    cut = ModelStep.raise_error(ConnectionError("cut"))
    script = model(use.plan(add=STEPS), "Shall I?", use.plan(done=[1]), cut, "Really?", "Sure?")
    with plan(address(tmp_path), session="s1") as p:
        talk: list[Any] = (await p.run(coder(p, script), "Go.")).to_input_list()
        edit(tmp_path, lambda plan: ops.note(plan, "2", "use -x"))
        more: Any = {"role": "user", "content": "Go on."}
        with pytest.raises(ConnectionError):
            await p.run(coder(p, script), [*talk, more])
        talk = (await p.run(coder(p, script), [*talk, more])).to_input_list()
        await p.run(coder(p, script), [*talk, more])
    assert [sum("use -x" in text for text in texts(call)) for call in script.calls] == [0, 0, 1, 1, 1, 1]


@asynchronous
async def test_a_stream_that_is_cut_off_in_the_middle(tmp_path: Path) -> None:
    use = Script()
    with plan(address(tmp_path), session="s1") as p:
        script = model(use.plan(add=STEPS), "Half of it.", "never")
        streamed = p.run_streamed(coder(p, script), "Go.")
        async for event in streamed.stream_events():
            if event.type == "run_item_stream_event" and event.name == "tool_output":
                streamed.cancel()
        assert script.remaining_steps >= 1

        async def cut(call: ModelCall) -> AsyncIterator[Any]:
            raise ConnectionError("cut")
            yield

        script = model(ModelStep.stream(cut))
        with pytest.raises(ConnectionError):
            async for _ in p.run_streamed(coder(p, script), "Go on.").stream_events():
                pass
        script = model(use.plan(done=[1]), "Shall I go on?")
        async for _ in p.run_streamed(coder(p, script), "Go on.").stream_events():
            break
        script = model("Shall I go on?")
        await p.run(coder(p, script), "Go on.")
    assert open_items(tmp_path)[-1:] == STEPS[-1:]


@asynchronous
async def test_a_task_that_is_cancelled_ends_and_the_store_is_free(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def wait(call: ModelCall) -> Any:
        asked.set()
        await asyncio.Event().wait()

    with plan(address(tmp_path), session="s1") as p:
        script = model(Script().plan(add=STEPS), wait)
        task = asyncio.create_task(p.run(coder(p, script), "Go."))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        edit(tmp_path, lambda plan: ops.complete(plan, "1"))
        script = model("Shall I go on?")
        await p.run(coder(p, script), "Go on.")
    assert open_items(tmp_path) == STEPS[1:]


@asynchronous
async def test_a_store_that_cannot_be_opened_ends_no_run_and_warns_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "plan.db").mkdir()
    use = Script()
    script = model(use.plan(add=STEPS), use.plan(done=[1]), "I did what I could.")
    with caplog.at_level(logging.WARNING, "punchlist"), plan(address(tmp_path), session="s1") as p:
        result = await p.run(coder(p, script), "Go.")
    assert result.final_output == "I did what I could."
    assert [tool.name for tool in script.calls[0].tools] == ["plan"]
    assert script.calls[1].input[-1]["output"].startswith("Not saved: ")
    assert len([one for one in caplog.records if one.name == "punchlist"]) == 1


@asynchronous
async def test_hooks_that_are_not_hooks_of_a_run_are_refused_by_the_sdk(tmp_path: Path) -> None:
    with plan(address(tmp_path), session="s1") as p, pytest.raises(TypeError, match="RunHooks"):
        await p.run(coder(p, model("never")), "Go.", hooks="mine")  # type: ignore[arg-type]


@asynchronous
async def test_an_agent_without_the_tools_is_left_alone(tmp_path: Path) -> None:
    edit(tmp_path, lambda plan: ops.add(plan, "Ask Ann"))
    script = model("Hello.")
    with plan(address(tmp_path), session="s1") as p:
        await p.run(Agent(name="Greeter", instructions="Greet.", model=script), "Hi")
    assert script.calls[0].system_instructions == "Greet."
    assert len(script.calls[0].input) == 1


@asynchronous
async def test_what_was_told_after_a_handoff_that_changes_the_history_stays_after_a_nudge(tmp_path: Path) -> None:
    use = Script()
    with punchlist.open(address(tmp_path), session="s1", agent="Writer") as desk:
        desk.change(lambda plan: ops.add(plan, "Ask Ann"))
    with plan(address(tmp_path), session="s1") as p:
        handed = model(use.plan(add=["Draft"]), "Half of it.", use.plan(done=[1, 2]), "Done.")
        writer = Agent(name="Writer", model=handed, tools=p.tools)
        script = model(use.plan(add=STEPS), use.use("transfer_to_writer", "{}"))
        to_writer = handoff(writer, input_filter=remove_all_tools)
        result = await p.run(coder(p, script, handoffs=[to_writer]), "Go.")
    assert result.final_output == "Done."
    assert "Ask Ann" in told(handed.calls[0])[-1]
    assert_stable(handed.calls)


@asynchronous
async def test_an_agent_that_is_a_tool_of_itself_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    use = Script()
    edit(tmp_path, lambda plan: ops.add(ops.add(plan, "Ask Ann"), "Fix it"))
    session = SQLiteSession("chat", tmp_path / "chat.db")
    with plan(address(tmp_path), session="s1") as p:
        inner = model(use.plan(note={"1": "looked"}), "Found.")
        again = coder(p, inner).as_tool("again", "Do a part of it.")

        def edit_and_call(call: ModelCall) -> Any:
            edit(tmp_path, lambda plan: ops.note(plan, "2", "use -x"))
            return [use.use("again", '{"input": "Go."}')]

        script = model(edit_and_call, use.plan(done=[1]), "Shall I go on?")
        await p.run(coder(p, script, again), "Go.", session=session)
    assert any("use -x" in text for text in told(inner.calls[0]))
    assert_stable(script.calls)
    assert_stable(inner.calls)
    kept = [json.dumps(item, default=str) for item in await session.get_items()]
    assert kept[:-1] == texts(script.last_call), "what the inner one was told is not in the session of the outer"


@asynchronous
async def test_hooks_for_an_agent_that_is_a_tool_see_its_exit_codes_and_keep_its_conversation_apart(
    tmp_path: Path,
) -> None:
    use = Script()
    with punchlist.open(address(tmp_path), session="chat", agent="Finder") as desk:
        desk.change(lambda plan: ops.start(ops.add(plan, "Ask Bob"), "1"))

    @function_tool
    def look() -> dict[str, Any]:
        """Look."""
        return {"returncode": 4}

    session = SQLiteSession("chat", tmp_path / "chat.db")
    with plan(address(tmp_path)) as p:
        inner = model(use.use("look", "{}"), use.plan(done=[1]), "Found.")
        finder = Agent(name="Finder", model=inner, tools=[look, *p.tools])
        find = finder.as_tool("find", "Find something.", hooks=p.hooks)
        script = model(use.plan(add=STEPS), use.use("find", '{"input": "quotes"}'), "Shall I go on?")
        await p.run(coder(p, script, find), "Go.", session=session)
    assert "Ask Bob" in told(inner.calls[0])[-1]
    assert_stable(inner.calls)
    assert not any("Ask Bob" in str(item) for item in await session.get_items())
    assert [(call["name"], call.get("exit")) for call in observed(tmp_path, "chat", "Finder")] == [("look", 4)]


class Late(SQLiteSession):
    """As one of OpenAI's conversations: its id comes with the first answer of the server."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_used = False
        super().__init__(name)

    @property
    def session_id(self) -> str:
        if not self._is_used:
            raise ValueError("not yet")
        return self._name

    @session_id.setter
    def session_id(self, value: str) -> None:
        pass

    async def get_items(self, limit: int | None = None, *args: Any, **options: Any) -> list[Any]:
        self._is_used = True
        return await super().get_items(limit, *args, **options)


@asynchronous
async def test_a_session_that_has_no_name_before_its_first_use_names_the_plan(tmp_path: Path) -> None:
    with plan(address(tmp_path)) as p:
        script = model(Script().plan(add=STEPS), "Shall I go on?")
        await p.run(coder(p, script), "Go.", session=Late("late"))
    assert open_items(tmp_path, "late") == STEPS


@pytest.mark.parametrize("fails", [True, False], ids=["a request that failed", "a run that is still going"])
@asynchronous
async def test_what_one_user_was_told_reaches_no_other_whose_session_has_no_name_yet(
    tmp_path: Path, fails: bool
) -> None:
    use = Script()
    asked, may_go_on = asyncio.Event(), asyncio.Event()

    async def last(call: ModelCall) -> Any:
        asked.set()
        await may_go_on.wait()
        if fails:
            raise ConnectionError("cut")
        return say("Shall I go on?")

    @function_tool
    def shell(command: str) -> str:
        """Run a command."""
        edit(tmp_path, lambda plan: ops.note(plan, "1", "a secret of Ann"), "ann")
        return "ok"

    anns, bobs = Late("ann"), Late("bob")
    script = model(use.plan(add=STEPS), use.use("shell", '{"command": "ls"}'), last, "Shall I go on?")
    other = model("Hello.", "Hello.")
    with plan(address(tmp_path)) as p:
        running = asyncio.create_task(p.run(coder(p, script, shell), "I am Ann.", session=anns))
        await asked.wait()
        if not fails:
            await p.run(coder(p, other), "I am Bob.", session=bobs)
        may_go_on.set()
        ended = await asyncio.gather(running, return_exceptions=True)
        assert isinstance(ended[0], ConnectionError) == fails
        await p.run(coder(p, other), "I am Bob.", session=bobs if not fails else Late("bob"))
        if fails:
            await p.run(coder(p, script, shell), "Go on.", session=anns)
    assert not any("secret" in text or "Fix it" in text for call in other.calls for text in texts(call))
    assert sum("secret" in text for text in texts(script.last_call)) == 1, "Ann is told, once"


@asynchronous
async def test_what_nobody_has_answered_is_told_to_whoever_is_asked_next(tmp_path: Path) -> None:
    asked, may_go_on = asyncio.Event(), asyncio.Event()

    async def wait(call: ModelCall) -> Any:
        asked.set()
        await may_go_on.wait()
        raise ConnectionError("cut")

    edit(tmp_path, lambda plan: ops.add(plan, "Ask Ann"))
    first, second, third = model(wait), model("Shall I go on?"), model("Shall I go on?")
    with plan(address(tmp_path), session="s1") as p:
        running = asyncio.create_task(p.run(coder(p, first), "Go."))
        await asked.wait()
        await p.run(coder(p, second), "Go.")
        before = told(second.calls[0])
        may_go_on.set()
        with pytest.raises(ConnectionError):
            await running
        await p.run(coder(p, third), "Go.")
    given = told(first.calls[0])[1]
    assert "Ask Ann" in given
    assert given in before, "the first has not answered"
    assert given not in told(third.calls[0]), "the second has"


@asynchronous
async def test_runs_without_a_session_have_a_plan_of_their_own(tmp_path: Path) -> None:
    use = Script()
    named, unnamed, again = (model(use.plan(add=[step]), "Shall I go on?") for step in ("Named", "First", "Second"))
    with plan(address(tmp_path)) as p:
        await p.run(coder(p, named), "Go.", session=SQLiteSession("chat"))
        await p.run(coder(p, unnamed), "Go.")
        await p.run(coder(p, again), "Go.")
    assert open_items(tmp_path, "chat") == ["Named"]
    assert open_items(tmp_path, "default") == ["First", "Second"]
    assert not any("Named" in text for text in [*texts(unnamed.last_call), *texts(again.last_call)])


@asynchronous
async def test_a_runner_of_the_users_own_is_refused_a_plan_whose_session_is_not_known(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    use = Script()

    @function_tool
    def shell(command: str) -> str:
        """Run a command."""
        return "ok"

    scripts = [model(use.plan(add=[name]), use.use("shell", "{}"), "Shall I go on?") for name in ("Ann's", "Bob's")]
    with caplog.at_level(logging.WARNING, "punchlist"), plan(address(tmp_path)) as p:
        config = RunConfig(call_model_input_filter=p.input_filter)
        for number, script in enumerate(scripts):
            session = SQLiteSession(f"chat{number}")
            await Runner.run(coder(p, script, shell), "Go.", session=session, run_config=config, hooks=p.hooks)
    for script in scripts:
        assert script.calls[1].input[-1]["output"].startswith("Not saved: it is not known whose plan this is.")
        assert [len(call.input) for call in script.calls] == [1, 3, 5]
    assert not any(open_items(tmp_path, session) for session in ("", "default", "chat0", "chat1"))
    warnings = [one.getMessage() for one in caplog.records if one.name == "punchlist"]
    assert len(warnings) == 1
    assert "plan(..., session=...)" in warnings[0]


@asynchronous
async def test_agents_have_the_same_plans_after_a_restart_whoever_comes_first(tmp_path: Path) -> None:
    use = Script()
    with plan(address(tmp_path), session="s1") as p:
        writer = Agent(name="Writer", model=model(use.plan(add=["Draft"]), "Shall I go on?"), tools=p.tools)
        script = model(use.plan(add=STEPS), use.use("transfer_to_writer", "{}"))
        await p.run(coder(p, script, handoffs=[writer]), "Go.")
    with plan(address(tmp_path), session="s1") as p:
        back = coder(p, model(use.plan(add=["Test it"]), "Shall I go on?"))
        script = model(use.plan(add=["Print"]), use.use("transfer_to_coder", "{}"))
        await p.run(Agent(name="Writer", model=script, tools=p.tools, handoffs=[back]), "Go on.")
    assert open_items(tmp_path) == [*STEPS, "Test it"]
    assert open_items(tmp_path, agent="Writer") == ["Draft", "Print"]


@asynchronous
async def test_with_a_name_for_the_first_agent_every_plan_is_under_the_name_of_its_agent(tmp_path: Path) -> None:
    use = Script()
    for name in ("Coder", "Writer", "Coder"):
        with plan(address(tmp_path), session="s1", agent="Coder") as p:
            script = model(use.plan(add=[f"A step of {name}"]), "Shall I go on?")
            await p.run(Agent(name=name, model=script, tools=p.tools), "Go.")
    assert open_items(tmp_path, agent="Writer") == ["A step of Writer"]
    assert open_items(tmp_path, agent="Coder") == ["A step of Coder", "A step of Coder"]
    assert open_items(tmp_path) == []


def test_what_a_run_was_given_is_not_kept_after_it(tmp_path: Path) -> None:
    class Mine:
        pass

    known: list[ref[Any]] = []

    async def run(p: AgentPlan, number: int, is_streamed: bool) -> None:
        mine, session = Mine(), SQLiteSession(f"chat{number}")
        known.extend([ref(mine), ref(session)])
        agent = coder(p, model("Shall I go on?"))
        if not is_streamed:
            await p.run(agent, "Go.", session=session, context=mine)
            return
        async for _ in p.run_streamed(agent, "Go.", session=session, context=mine).stream_events():
            pass

    with plan(address(tmp_path)) as p:
        for number in range(4):
            asyncio.run(run(p, number, number % 2 == 1))
        gc.collect()
        assert [one() for one in known] == [None] * 8


@asynchronous
async def test_a_runner_of_the_users_own_inside_of_a_tool_knows_the_session(tmp_path: Path) -> None:
    use = Script()
    with plan(address(tmp_path)) as p:
        inner = Agent(name="Finder", model=model(use.plan(add=["Look"]), "Found."), tools=p.tools)

        @function_tool
        async def find() -> str:
            """Find something."""
            return str((await Runner.run(inner, "Look.")).final_output)

        script = model(use.plan(add=STEPS), use.use("find", "{}"), "Shall I go on?")
        await p.run(coder(p, script, find), "Go.", session=SQLiteSession("chat", tmp_path / "chat.db"))
    assert open_items(tmp_path, "chat", "Finder") == ["Look"]


@asynchronous
async def test_a_run_that_a_tool_ends_is_not_nudged_and_one_with_a_typed_output_is(tmp_path: Path) -> None:
    use = Script()
    with plan(address(tmp_path), session="s1") as p:
        script = model(use.plan(add=STEPS), "never")
        result = await p.run(coder(p, script, tool_use_behavior="stop_on_first_tool"), "Go.")
        assert result.final_output == "added 1-2; now 1 Read the parser (0/2)"
        script = model(use.plan(done=[1]), '{"response": [1]}', use.plan(done=[2]), '{"response": [2]}')
        result = await p.run(coder(p, script, output_type=list[int]), "Go on.")
    assert result.final_output == [2]


@asynchronous
async def test_a_store_that_goes_away_in_the_middle_ends_no_run(tmp_path: Path) -> None:
    use = Script()

    @function_tool
    def move() -> str:
        """Move the store away."""
        (tmp_path / "store").rename(tmp_path / "away")
        (tmp_path / "store").touch()
        return "ok"

    (tmp_path / "store").mkdir()
    script = model(use.plan(add=STEPS), use.use("move", "{}"), use.plan(done=[1]), "I did what I could.")
    with plan(address(tmp_path / "store"), session="s1") as p:
        result = await p.run(coder(p, script, move), "Go.")
        assert result.final_output == "I did what I could."
        assert script.calls[3].input[-1]["output"].startswith("Not saved: ")
        (tmp_path / "store").unlink()
        (tmp_path / "away").rename(tmp_path / "store")
        script = model(use.plan(done=[1]), "Shall I go on?")
        await p.run(coder(p, script), "Go on.")
    assert open_items(tmp_path / "store") == STEPS[1:]


# --- the conformance kit ---------------------------------------------------------------------------------------------


class Bridged(Model):
    """A model of the SDK that asks the one of a case."""

    def __init__(self, asked: Any) -> None:
        self._asked = asked

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **options: Any) -> ModelResponse:
        tools = options.get("tools", rest[1] if len(rest) > 1 else [])
        shown = [
            {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
            for tool in tools
            if isinstance(tool, FunctionTool)
        ]
        system = {"role": "system", "content": system_instructions}
        turn = await asyncio.to_thread(self._asked.request, [system, *input], shown)
        output: list[Any] = say(turn.text) if turn.text or not turn.calls else []
        output += [function_call(one.name, json.dumps(one.args), call_id=one.id) for one in turn.calls]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError


def make_agent(case: conformance.Case) -> Any:
    p = plan(case.store, session=case.session)
    session = SQLiteSession(case.session, Path(case.folder, "chat.db"))

    @function_tool
    def shell(command: str) -> str:
        """Run a command."""
        return case.tool(command)

    agent = Agent(name="Coder", model=Bridged(case.model), tools=[shell, *p.tools])

    async def run(prompt: str) -> str:
        result = await p.run(agent, prompt, session=session, max_turns=50)
        return str(result.final_output)

    async def compact() -> None:
        await session.clear_session()
        await session.add_items([{"role": "user", "content": "Some of the work is done."}])

    run.compact = compact  # type: ignore[attr-defined]
    run.close = p.close  # type: ignore[attr-defined]
    return run


def test_the_conformance_kit_passes() -> None:
    report = conformance.check(make_agent)
    assert report.passed, str(report)
    assert [one.name for one in report.results if one.outcome == "not run"] == []

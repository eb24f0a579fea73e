"""The adapter for smolagents, with models that play a script, both kinds of agents, and a SQLite store."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Generator
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("smolagents")

from smolagents import CodeAgent, Model, MultiStepAgent, Tool, ToolCallingAgent
from smolagents.memory import TaskStep
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    get_tool_json_schema,
)
from smolagents.monitoring import LogLevel
from smolagents.utils import AgentError, AgentGenerationError

import punchlist
from punchlist import ops
from punchlist.adapters.smolagents import plan
from punchlist.testing import conformance

NUDGE = "The plan is not finished"
Turn = Any  # a text (code, or a final answer), calls as a list of tuples, an error, or a function that returns one


class Script(Model):
    """A model that plays a script."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__(model_id="script")
        self.turns = list(turns)
        self.requests: list[list[str]] = []
        self.tools: list[str] = []

    def generate(self, messages: Any, *_: Any, tools_to_call_from: Any = None, **named: Any) -> ChatMessage:
        self.requests.append([json.dumps({"role": one.role, "content": one.content}) for one in messages])
        self.tools.append(json.dumps([get_tool_json_schema(one) for one in tools_to_call_from or []]))
        turn = self.turns.pop(0)
        if callable(turn):
            turn = turn()
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str) and tools_to_call_from is not None:
            turn = [("final_answer", {"answer": turn})]
        if isinstance(turn, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=turn)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[_call(*one) for one in turn])

    def generate_stream(self, messages: Any, *more: Any, **named: Any) -> Generator[ChatMessageStreamDelta, None, None]:
        whole = self.generate(messages, *more, **named)
        for piece in str(whole.content).split("|"):
            if piece == "BROKEN":
                raise ConnectionError("gone")
            yield ChatMessageStreamDelta(content=piece)

    @property
    def last(self) -> str:
        return "\n".join(self.requests[-1])


def _call(name: str, args: Any) -> ChatMessageToolCall:
    _call.count += 1  # type: ignore[attr-defined]
    function = ChatMessageToolCallFunction(name=name, arguments=args)
    return ChatMessageToolCall(function=function, id=f"call-{_call.count:06}", type="function")  # type: ignore[attr-defined]


_call.count = 0  # type: ignore[attr-defined]


class Shell(Tool):  # type: ignore[no-untyped-call]
    name = "shell"
    description = "Run a command."
    inputs = {"command": {"type": "string", "description": "The command."}}  # noqa: RUF012
    output_type = "object"

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def forward(self, command: str) -> Any:
        if "raise" in command:
            raise ValueError("no fuel")
        return {"exit_code": 1 if "fail" in command else 0, "stdout": "ran"}


def add(*texts: str) -> list[tuple[str, Any]]:
    return [("plan", {"add": [{"text": text} for text in texts]})]


def done(*ids: int) -> list[tuple[str, Any]]:
    return [("plan", {"done": list(ids)})]


def shell(command: str = "ls") -> list[tuple[str, Any]]:
    return [("shell", {"command": command})]


def caller(*turns: Turn, **more: Any) -> ToolCallingAgent:
    more.setdefault("tools", [Shell()])
    return ToolCallingAgent(model=Script(*turns), verbosity_level=LogLevel.OFF, **more)


def coder(*turns: Turn, **more: Any) -> CodeAgent:
    more.setdefault("tools", [Shell()])
    codes = [turn if callable(turn) else f"<code>\n{turn}\n</code>" for turn in turns]
    return CodeAgent(model=Script(*codes), verbosity_level=LogLevel.OFF, **more)


def script(agent: MultiStepAgent) -> Script:
    assert isinstance(agent.model, Script)
    return agent.model


def load(store: str, session: str = "s1", agent: str = "main", calls: bool = False) -> punchlist.Plan:
    with punchlist.open(store, session=session, agent=agent) as desk:
        return desk.load(calls=calls)


def items(store: str, session: str = "s1", agent: str = "main") -> list[str]:
    return [item.text for item in load(store, session, agent).items]


def edit(store: str, change: Callable[[punchlist.Plan], punchlist.Plan]) -> None:
    """Edit a plan as the user, in another terminal."""
    with punchlist.open(store, session="s1") as desk:
        desk.change(change)


def expect_stable(model: Script) -> None:
    """Each request begins with the one before, and has the same tools."""
    for before, after in pairwise(model.requests):
        assert after[: len(before)] == before
    assert len(set(model.tools)) == 1


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


def run(agent: MultiStepAgent, store: str, *tasks: str, session: str = "s1") -> list[Any]:
    """Give an agent some tasks, one conversation, with a plan."""
    with plan(store, session=session) as p:
        p.attach(agent)
        return [agent.run(task, reset=number == 0) for number, task in enumerate(tasks or ("Fix the parser.",))]


# --- the request -----------------------------------------------------------------------------------------------------


def test_the_tool_and_its_text_are_in_the_first_request(store: str) -> None:
    agent = caller("Hello.", instructions="Be kind.")
    run(agent, store, "Hello.")
    model = script(agent)
    (tool,) = [one for one in json.loads(model.tools[0]) if one["function"]["name"] == "plan"]
    assert tool["function"]["parameters"]["properties"]["done"]["items"] == {"type": "integer"}
    assert tool["function"]["parameters"]["required"] == []
    assert "make a plan with `plan`" in model.requests[0][0]
    assert "Be kind." in model.requests[0][0]
    assert json.loads(model.requests[0][1])["content"][0]["text"] == "New task:\nHello."


def test_an_agent_that_writes_code_is_shown_a_function(store: str) -> None:
    agent = coder("final_answer('Hello.')")
    run(agent, store, "Hello.")
    prompt = json.loads(script(agent).requests[0][0])["content"][0]["text"]
    assert "def plan(add: list[dict] = None, edit: list[dict] = None, start: list[int] = None" in prompt
    assert "add: dicts with text: str, phase: str = None" in prompt
    assert "make a plan with `plan`" in prompt


def test_successive_requests_begin_with_the_ones_before(store: str) -> None:
    def rename() -> Turn:
        edit(store, lambda plan: ops.rename(plan, "2", "Fix the lexer"))
        return shell()

    agent = caller(add("Read", "Fix"), rename, "Half of it.", done(1), "More?", add("Test"), done(2, 3), "All done.")
    assert run(agent, store, "Fix the parser.", "Yes.") == ["More?", "All done."]
    model = script(agent)
    assert len(model.requests) == 8
    expect_stable(model)
    assert model.last.count(NUDGE) == 1
    assert "Fix the lexer" in model.requests[2][-1]


def test_successive_requests_of_code_begin_with_the_ones_before(store: str) -> None:
    def rename() -> Turn:
        edit(store, lambda plan: ops.rename(plan, "2", "Fix the lexer"))
        return "<code>\nprint(shell(command='ls'))\n</code>"

    agent = coder(
        "plan(add=[{'text': 'Read'}, 'Fix'])\nx = 1",
        rename,
        "final_answer('Half.')",
        "plan(done=[1, 2])\nfinal_answer('All done.')",
    )
    assert run(agent, store) == ["All done."]
    expect_stable(script(agent))
    assert "added 1-2; now 1 Read" in script(agent).requests[1][-1], "an answer that the code ignored"
    assert "Fix the lexer" in script(agent).requests[2][-1]
    assert NUDGE in script(agent).requests[3][-1]
    assert [item.status for item in load(store).items] == ["completed", "completed"]


def test_a_user_s_edit_is_told_once_and_not_undone(store: str) -> None:
    def change() -> Turn:
        edit(store, lambda plan: ops.note(plan, "2", "with the lexer"))
        return shell()

    agent = caller(add("Read", "Fix"), change, shell(), shell("pwd"), "Shall I?")
    run(agent, store)
    assert ["with the lexer" in request[-1] for request in script(agent).requests] == [False, False, True, False, False]
    assert load(store).items[1].notes


def test_a_tool_of_the_same_name_is_refused(store: str) -> None:
    class Other(Shell):  # type: ignore[no-untyped-call]
        name = "plan"

    with plan(store) as p, pytest.raises(ValueError, match="a tool 'plan' of its own"):
        p.attach(caller(tools=[Other()]))


def test_attaching_twice_is_attaching_once(store: str) -> None:
    agent = caller(add("Read"), "Half.", done(1), "Done.")
    with plan(store, session="s1") as p:
        assert p.attach(p.attach(agent)).run("Fix it.") == "Done."
    assert script(agent).last.count(NUDGE) == 1


def test_the_parts_can_be_given_one_by_one(store: str) -> None:
    with plan(store, session="s1") as p:
        agent = caller(
            add("Read"),
            shell(),
            "Half.",
            done(1),
            "Done.",
            tools=[Shell(), *p.tools],
            instructions=p.instructions,
            final_answer_checks=[p.check],
            step_callbacks=[p.tell],
        )
        assert agent.run(p.begin("Fix it.")) == "Done."
    expect_stable(script(agent))
    (item,) = load(store, calls=True).items
    assert [call["name"] for call in item.calls] == ["shell"]


# --- the end ---------------------------------------------------------------------------------------------------------


def test_an_early_answer_is_nudged_and_the_run_continues(store: str) -> None:
    agent = caller(add("Read", "Fix"), "I have read it.", done(1, 2), "Fixed.")
    assert run(agent, store) == ["Fixed."]
    assert script(agent).requests[2][-1].count(NUDGE) == 1


def test_nudges_are_bounded(store: str) -> None:
    agent = caller(add("Read", "Fix"), "I have read it.", "I stop.", "Still.")
    assert run(agent, store) == ["I stop."]
    assert len(script(agent).requests) == 3


@pytest.mark.parametrize(
    ("task", "last"),
    [
        ("Fix the parser.", ["Shall I also fix the lexer?"]),
        ("Make a plan, then wait for me.", ["Here it is."]),
        ("Fix it.", [[("plan", {"pause": "The deploy key has expired; ops has a new one."})], "I have paused."]),
    ],
)
def test_a_question_and_a_pause_and_wait_are_respected(store: str, task: str, last: list[Turn]) -> None:
    agent = caller(add("Read", "Fix"), *last)
    assert run(agent, store, task) == [last[-1]]
    assert NUDGE not in script(agent).last


def test_other_checks_are_still_made(store: str) -> None:
    agent = caller("Bad.", "Good.", final_answer_checks=[lambda answer, memory, agent: answer == "Good."])
    assert run(agent, store) == ["Good."]


def test_the_last_step_ends_the_run(store: str) -> None:
    agent = caller(add("Read"), "Half.", "It was too much.", max_steps=2)
    with plan(store, session="s1") as p:
        p.attach(agent)
        assert agent.run("Fix it.") == "It was too much."


# --- memory ----------------------------------------------------------------------------------------------------------


def test_the_plan_survives_another_process(store: str) -> None:
    program = f"""
import os
from tests.frameworks.test_smolagents import add, caller, run
run(caller(add("Read the parser", "Fix it"), lambda: os._exit(7)), {store!r})
"""
    root = Path(__file__).parent.parent.parent
    ended = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, check=False)
    assert ended.returncode == 7, ended.stderr
    agent = caller("Go on?")
    run(agent, store, "Where were we?")
    (request,) = script(agent).requests
    assert "Read the parser" in request[-1]
    assert "Fix it" in request[-1]


def test_a_run_that_begins_again_is_told_the_plan_and_one_that_goes_on_is_not(store: str) -> None:
    agent = caller(add("Read the parser"), "Shall I?", "Really?", "Sure?")
    with plan(store, session="s1") as p:
        p.attach(agent)
        agent.run("Fix it.")
        agent.run("Yes.", reset=False)
        assert script(agent).last.count("Read the parser") == 2  # the call, and its answer
        agent.run("Yes.")
        assert script(agent).last.count("Read the parser") == 1


def test_steps_that_are_removed_bring_the_plan_back_once(store: str) -> None:
    def forget(step: Any, agent: MultiStepAgent) -> None:
        if len(agent.memory.steps) == 3:
            del agent.memory.steps[1:]

    agent = caller(
        add("Read the parser", "Fix it"),
        shell(),
        shell("one"),
        shell("two"),
        shell("three"),
        "Shall I?",
        step_callbacks=[forget],
    )
    run(agent, store)
    counts = ["\n".join(request).count("Fix it") for request in script(agent).requests]
    assert counts[1] == 1
    assert counts[3:] == [1, 1, 1], "it is told once, and stays"
    assert "Fix it" in script(agent).requests[3][-1]


def test_planning_steps_do_no_harm(store: str) -> None:
    agent = caller("1. Read it.", add("Read"), "Half.", "2. Go on.", done(1), "Done.", planning_interval=2)
    assert run(agent, store) == ["Done."]
    assert "\n".join(script(agent).requests[4]).count(NUDGE) == 1


# --- tools -----------------------------------------------------------------------------------------------------------


def test_calls_of_other_tools_are_observed_and_are_evidence(store: str) -> None:
    planned = [("plan", {"add": [{"text": "Fix it", "check": "make test"}]})]
    agent = caller(planned, shell("make fail"), shell("make test"), shell("raise"), "Is it good?")
    run(agent, store)
    (item,) = load(store, calls=True).items
    calls = [(call["name"], call["outcome"], call.get("exit")) for call in item.calls]
    assert calls == [("shell", "failed", 1), ("shell", "ok", 0), ("shell", "failed", None)]
    assert item.evidence


def test_calls_in_code_are_observed_and_are_evidence(store: str) -> None:
    first = "plan(add=[{'text': 'Fix it', 'check': 'make test'}])"
    agent = coder(first, "shell('make fail')\nshell(command='make test')", "x = 1 + 1", "final_answer('Is it good?')")
    run(agent, store)
    (item,) = load(store, calls=True).items
    calls = [(call["name"], call["outcome"], call.get("exit")) for call in item.calls]
    assert calls[:2] == [("shell", "failed", 1), ("shell", "ok", 0)]
    assert calls[2][:2] == ("python_interpreter", "ok")
    assert item.evidence


def test_several_calls_in_one_turn_are_all_carried_out(store: str) -> None:
    many = [("plan", {"add": [{"text": f"Step {number}"}]}) for number in range(5)]
    run(caller([*many, *shell()], "Shall I?"), store)
    assert sorted(items(store)) == [f"Step {number}" for number in range(5)]


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"add": "Read"},
        {"add": [{}]},
        {"done": "first"},
        {"done": [99]},
        {"add": [[1]]},
        {"x": {}},
        "not json",
        None,
    ],
)
def test_malformed_arguments_are_answered_and_the_run_goes_on(store: str, args: Any) -> None:
    agent = caller([("plan", args)], add("Write"), "Shall I?")
    assert run(agent, store) == ["Shall I?"]
    assert "Write" in items(store)
    answer = script(agent).requests[1][-1]
    assert "tool-response" in answer


@pytest.mark.parametrize("code", ["plan()", "plan('Read')", "plan(add={})", "plan(x=1)", "plan(done='first')", "plan("])
def test_malformed_code_is_answered_and_the_run_goes_on(store: str, code: str) -> None:
    agent = coder(code, "plan(['Write'])", "final_answer('Shall I?')")
    assert run(agent, store) == ["Shall I?"]
    assert "Write" in items(store)


# --- managed agents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [caller, coder])
def test_a_managed_agent_has_a_plan_of_its_own_and_is_not_nudged(store: str, kind: Any) -> None:
    helper = caller(add("Look"), "Looked.", done(1), "Done.", name="helper", description="Looks.")
    if kind is caller:
        ask = [[("helper", {"task": "Look."})], [("helper", {"task": "Again."})]]
        agent = caller(add("Read"), *ask, done(1), "Done.", managed_agents=[helper])
    else:
        code = ["helper(task='Look.')", "helper(task='Again.')", "plan(done=[1])\nfinal_answer('Done.')"]
        agent = coder("plan(add=['Read'])", *code, managed_agents=[helper])
    assert run(agent, store) == ["Done."]
    assert items(store) == ["Read"]
    assert [item.status for item in load(store, agent="helper").items] == ["completed"]
    assert "Look" in script(helper).requests[2][-1], "its next run is told what is open"


# --- several at once, and what goes wrong ----------------------------------------------------------------------------


def test_runs_at_the_same_time_keep_their_plans_apart(store: str) -> None:
    def work(number: int) -> None:
        found.extend(run(caller(add(f"Of {number}"), "Half.", done(1), "Done."), store, session=f"s{number}"))

    found: list[str] = []
    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["Done."] * 4
    assert [items(store, f"s{number}") for number in range(4)] == [[f"Of {number}"] for number in range(4)]


def test_a_run_in_a_thread_of_an_event_loop(store: str) -> None:
    agent = caller(add("Read"), "Shall I?", done(1), "Done.")
    with plan(store, session="s1") as p:
        p.attach(agent)
        assert asyncio.run(asyncio.to_thread(agent.run, "Fix it.")) == "Shall I?"
        assert asyncio.run(asyncio.to_thread(agent.run, "Yes.", reset=False)) == "Done."


def test_a_run_that_is_streamed(store: str) -> None:
    agent = coder(add, stream_outputs=True)
    turns = ["plan(add=['Read'])", "final_answer('Half.')", "plan(done=[1])\nfinal_answer('Done.')"]
    script(agent).turns = [f"<code>|\n{turn}\n|</code>" for turn in turns]
    with plan(store, session="s1") as p:
        p.attach(agent)
        stream: Any = agent.run("Fix it.", stream=True)
        steps = list(stream)
    assert steps[-1].output == "Done."
    expect_stable(script(agent))


def test_a_stream_that_is_cut_off_loses_nothing(store: str) -> None:
    agent = coder(add, stream_outputs=True)
    script(agent).turns = [
        "<code>\nplan(add=['Read'])\n</code>",
        "<code>|BROKEN",
        "<code>\nfinal_answer('Who?')\n</code>",
    ]
    with plan(store, session="s1") as p:
        p.attach(agent)
        with pytest.raises(AgentGenerationError):
            agent.run("Fix it.")
        assert agent.run("Go on.", reset=False) == "Who?"
    assert items(store) == ["Read"]


def test_what_was_told_in_a_request_without_an_answer_is_told_again_and_once(store: str) -> None:
    def edited() -> Turn:
        edit(store, lambda plan: ops.note(plan, "1", "start with the lexer"))
        return "Shall I?"

    agent = caller(add("Read"), edited, ConnectionError("gone"), shell(), ConnectionError("gone"), "Really?", "Sure?")
    with plan(store, session="s1") as p:
        p.attach(agent)
        agent.run("Fix it.")
        for _ in range(2):
            with pytest.raises(AgentGenerationError):
                agent.run("Go on.")  # with a new memory
        agent.run("Go on.")
        agent.run("Go on.", reset=False)
    told = ["\n".join(one).count("The user noted on 1") for one in script(agent).requests]
    assert told == [0, 0, 1, 1, 1, 1, 1]


class Untold(Exception):
    """An error that cannot be written as Python would."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    def __str__(self) -> str:
        return "the disk is full"


class Odd(Tool):  # type: ignore[no-untyped-call]
    name = "odd"
    description = "Fails."
    inputs: dict[str, Any] = {}  # noqa: RUF012
    output_type = "string"

    def forward(self) -> str:
        raise Untold


def test_the_error_of_a_tool_stays_what_it_is(store: str) -> None:
    agent = caller(add("Read"), [("odd", {})], "Who?", tools=[Odd()])  # type: ignore[no-untyped-call]
    with plan(store, session="s1") as p:
        p.attach(agent)
        assert agent.run("Fix it.") == "Who?"
    said = [str(getattr(step, "error", "")) for step in agent.memory.steps]
    assert "Untold: the disk is full" in "".join(said)


def test_a_caller_that_leaves_early_can_come_back(store: str) -> None:
    agent = caller(add("Read"), "Half.", done(1), "Done.")
    with plan(store, session="s1") as p:
        p.attach(agent)
        stream: Any = agent.run("Fix it.", stream=True)
        for step in stream:
            if getattr(step, "error", None):
                break
        assert agent.run("Go on.", reset=False) == "Done."


def test_an_interrupted_run_ends(store: str) -> None:
    def interrupt() -> Turn:
        agent.interrupt()  # type: ignore[no-untyped-call]
        return shell()

    agent = caller(add("Read"), interrupt, "Who?")
    with plan(store, session="s1") as p:
        p.attach(agent)
        with pytest.raises(AgentError, match="interrupted"):
            agent.run("Fix it.")
        assert agent.run("Go on.", reset=False) == "Who?"


def test_a_tool_that_runs_another_agent(store: str) -> None:
    class Delegate(Shell):  # type: ignore[no-untyped-call]
        name = "delegate"

        def forward(self, command: str) -> Any:
            return run(caller(add("Look"), "Looked?"), store, command, session="inner")[0]

    agent = caller(add("Read"), [("delegate", {"command": "Look."})], done(1), "Done.", tools=[Delegate()])
    assert run(agent, store) == ["Done."]
    assert (items(store), items(store, "inner")) == (["Read"], ["Look"])


def test_a_store_that_is_gone_stops_no_run_and_warns_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plan.db").mkdir()
    agent = caller(add("Read"), shell(), done(1), "Done.")
    with caplog.at_level(logging.WARNING, "punchlist"):
        assert run(agent, f"sqlite:{tmp_path}/plan.db") == ["Done."]
    assert len([one for one in caplog.records if one.name == "punchlist"]) == 1
    assert "Not saved" in script(agent).requests[1][-1]
    expect_stable(script(agent))


def test_without_smolagents_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['smolagents'] = None; import punchlist.adapters.smolagents"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: smolagents is needed here: pip install 'punchlist[smolagents]'")


# --- the kit ---------------------------------------------------------------------------------------------------------


class Bridge(Model):
    """The model of the conformance kit."""

    def __init__(self, asked: Any) -> None:
        super().__init__(model_id="kit")
        self.asked = asked

    def generate(self, messages: Any, *_: Any, tools_to_call_from: Any = None, **named: Any) -> ChatMessage:
        said = [{"role": one.role, "content": one.content} for one in messages]
        tools = [get_tool_json_schema(one) for one in tools_to_call_from or [] if one.name != "final_answer"]
        turn = self.asked.request(said, tools)
        calls = [_call(call.name, call.args) for call in turn.calls]
        if not calls:
            calls = [_call("final_answer", {"answer": turn.text})]
        return ChatMessage(role=MessageRole.ASSISTANT, content=turn.text, tool_calls=calls)


def make_agent(case: conformance.Case) -> Callable[[str], str]:
    class CaseShell(Shell):  # type: ignore[no-untyped-call]
        def forward(self, command: str) -> Any:
            return case.tool(command)

    p = plan(case.store, session=case.session)
    agent = ToolCallingAgent(model=Bridge(case.model), tools=[CaseShell()], verbosity_level=LogLevel.OFF, max_steps=60)
    p.attach(agent)

    def run(prompt: str) -> str:
        return str(agent.run(prompt, reset=False))

    def compact() -> None:
        agent.memory.steps = [TaskStep(task="Some of the work is done.")]

    run.compact = compact  # type: ignore[attr-defined]
    run.close = p.close  # type: ignore[attr-defined]
    return run


def test_the_conformance_kit_passes() -> None:
    report = conformance.check(make_agent)
    assert report.passed, str(report)

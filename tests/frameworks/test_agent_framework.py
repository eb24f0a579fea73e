"""The adapter for Microsoft's Agent Framework, with a chat client that plays a script, and a real store."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    AgentMiddleware,
    AgentResponse,
    AgentSession,
    BaseChatClient,
    ChatContext,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    CompactionProvider,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    SlidingWindowStrategy,
    SummarizationStrategy,
    TodoItem,
    TodoProvider,
    WorkflowBuilder,
    create_harness_agent,
    tool,
)

import punchlist
from punchlist import ops
from punchlist.adapters.agent_framework import Punchlist, TodoStore
from punchlist.testing import conformance

Turn = str | list[tuple[str, Any]] | Callable[[], Any] | BaseException


class ScriptedClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """A chat client of the framework's that plays a script, and keeps what it was asked, serialized."""

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        super().__init__()
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []

    def _inner_get_response(self, *, messages: Sequence[Message], stream: bool, options: Any, **_: Any) -> Any:
        self.requests.append(
            {
                "system": options.get("instructions"),
                "tools": [one.to_json_schema_spec() for one in options.get("tools") or ()],
                "messages": [_sent(one) for one in messages],
            }
        )
        number = len(self.requests)

        async def contents() -> list[Content]:
            turn = self.turns.pop(0)
            if isinstance(turn, BaseException):
                raise turn
            while callable(turn):
                turn = turn()
                if asyncio.iscoroutine(turn):
                    turn = await turn
            if isinstance(turn, str):
                return [Content.from_text(turn)]
            calls = enumerate(turn)
            return [Content.from_function_call(f"call-{n}", name, arguments=args) for n, (name, args) in calls]

        conversation = f"conversation-{number}" if self.STORES_BY_DEFAULT else None
        if not stream:

            async def answer() -> ChatResponse[Any]:
                return ChatResponse(
                    messages=[Message("assistant", await contents())], conversation_id=conversation, response_id="r"
                )

            return answer()

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            for one in await contents():
                yield ChatResponseUpdate(contents=[one], role="assistant", conversation_id=conversation)

        return self._build_response_stream(updates())

    def texts(self, number: int) -> list[str]:
        """What the messages of a request say."""
        return [text for one in self.requests[number]["messages"] for text in one["texts"]]


class KeepingClient(ScriptedClient):
    """One whose service has the conversation, and gets only what is new."""

    STORES_BY_DEFAULT = True


def _sent(one: Message) -> dict[str, Any]:
    """What a provider would send of a message."""
    return {
        "role": str(one.role),
        "texts": [str(part.text if part.type == "text" else part.result) for part in one.contents if not part.name],
        "calls": [[part.call_id, part.name, part.arguments] for part in one.contents if part.name],
        "results": [part.call_id for part in one.contents if part.type == "function_result"],
    }


@tool
def shell(command: str) -> dict[str, Any]:
    """Run a command."""
    return {"exit_code": int("fail" in command), "output": f"ran {command}"}


@tool
def look(path: str) -> str:
    """Look at a file."""
    return f"the text of {path}"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


def plan(**verbs: Any) -> list[tuple[str, Any]]:
    return [("plan", verbs)]


def add(*texts: str) -> list[tuple[str, Any]]:
    return plan(add=list(texts))


def agent_with(store: str, turns: Iterable[Turn], **options: Any) -> tuple[Agent[Any], ScriptedClient]:
    client = ScriptedClient(turns)
    options.setdefault("middleware", [Punchlist(store)])
    options.setdefault("tools", [shell, look])
    return Agent(client, "You write code.", **options), client


def run(agent: Agent[Any], prompt: str, session: AgentSession | None = None) -> Any:
    async def work() -> Any:
        return await agent.run(prompt, session=session)

    return asyncio.run(work())


def edit(store: str, session: str, change: Callable[[punchlist.Plan], punchlist.Plan]) -> None:
    """What a user does in another terminal."""
    with punchlist.open(store, session=session) as desk:
        desk.change(change)


def items(store: str, session: str, agent: str = "main") -> list[tuple[str, str]]:
    with punchlist.open(store, session=session, agent=agent) as desk:
        return [(item.text, item.status) for item in desk.plan.items]


def is_prefix(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether one request begins with another, byte by byte."""
    head = [json.dumps(one) for one in before["messages"]]
    same = json.dumps([before["system"], before["tools"]]) == json.dumps([after["system"], after["tools"]])
    return same and [json.dumps(one) for one in after["messages"]][: len(head)] == head


# --- what holds in every adapter -------------------------------------------------------------------------------------


def test_the_tool_and_its_text_are_in_the_first_request(store: str) -> None:
    agent, client = agent_with(store, ["Hello."])
    run(agent, "Hello")
    (request,) = client.requests
    assert [one["function"]["name"] for one in request["tools"]] == ["shell", "look", "plan"]
    with punchlist.open(store) as desk:
        assert request["system"] == f"You write code.\n{desk.system_prompt()}"
        assert request["tools"][2] == desk.tools("openai")[0]
    assert client.texts(0) == ["Hello"]


def test_text_that_the_user_has_put_into_the_instructions_is_not_added_again(store: str) -> None:
    with punchlist.open(store) as desk:
        system = desk.system_prompt()
    client = ScriptedClient(["Hello."])
    run(Agent(client, f"You write code. {system}", middleware=[Punchlist(store)]), "Hello")
    assert client.requests[0]["system"] == f"You write code. {system}"


def test_instructions_and_tools_of_a_run_are_kept(store: str) -> None:
    agent, client = agent_with(store, ["Hello."], tools=[look])

    async def work() -> None:
        await agent.run("Hello", options={"instructions": "Be brief.", "tools": [shell]})

    asyncio.run(work())
    assert [one["function"]["name"] for one in client.requests[0]["tools"]] == ["look", "shell", "plan"]
    assert client.requests[0]["system"].startswith("You write code.\nBe brief.\nFor work of")


def test_the_plan_survives_a_restart_of_the_process(store: str, tmp_path: Path) -> None:
    program = f"""
import asyncio
from agent_framework import AgentSession
from tests.frameworks.test_agent_framework import add, agent_with
agent, _ = agent_with({store!r}, [add("Read the parser", "Fix it"), "Shall I go on?"])
session = AgentSession(session_id="s1")
asyncio.run(agent.run("Fix the parser.", session=session))
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parent.parent.parent)
    agent, client = agent_with(store, [plan(done=[1]), "Shall I go on?"])
    run(agent, "Go on.", AgentSession(session_id="s1"))
    told = "\n".join(client.texts(0))
    assert "Read the parser" in told
    assert "Fix it" in told
    assert items(store, "s1") == [("Read the parser", "completed"), ("Fix it", "in_progress")]


def test_a_session_that_was_saved_and_restored_goes_on_with_its_plan_and_the_same_conversation(store: str) -> None:
    agent, client = agent_with(store, [add("Read", "Write"), "Shall I go on?"])
    session = agent.create_session(session_id="s1")
    run(agent, "Fix it.", session)
    saved = json.loads(json.dumps(session.to_dict()))
    again, later = agent_with(store, ["Well?"])
    run(again, "And now?", AgentSession.from_dict(saved))
    assert is_prefix(client.requests[-1], later.requests[0])
    assert later.texts(0)[-2:] == ["Shall I go on?", "And now?"], "the plan is there, and not told again"


def test_an_edit_of_the_users_in_the_middle_of_a_run_is_told_once_and_stays(store: str) -> None:
    def after_edit() -> Turn:
        edit(store, "s1", lambda plan: ops.add(ops.rename(plan, "2", "Write it in C"), "Ask Ann"))
        return [("look", {"path": "a.py"})]

    turns: list[Turn] = [add("Read", "Write"), after_edit, [("look", {"path": "b.py"})], plan(done=[1]), "Is it right?"]
    agent, client = agent_with(store, turns)
    session = agent.create_session(session_id="s1")
    run(agent, "Fix it.", session)
    told = [text for text in client.texts(-1) if "Write it in C" in text and "Ask Ann" in text]
    assert len(told) == 1
    assert client.requests[2]["messages"][-1]["role"] == "user"
    assert client.texts(2)[-1] == told[0], "with the very next request"
    assert [text for text, _ in items(store, "s1")] == ["Read", "Write it in C", "Ask Ann"]
    client.turns = ["Well."]
    run(agent, "And?", session)
    assert "\n".join(client.texts(-1)).count("Ask Ann") == 1
    assert is_prefix(client.requests[-2], client.requests[-1]), "it stays where it was said, in later runs too"


def test_an_edit_between_two_runs_is_told_with_the_prompt(store: str) -> None:
    agent, client = agent_with(store, [add("Read", "Write"), "Shall I go on?", "Good?", "Well?"])
    session = agent.create_session(session_id="s1")
    run(agent, "Fix it.", session)
    edit(store, "s1", lambda plan: ops.drop(plan, "2", why="not needed"))
    run(agent, "Go on.", session)
    assert "dropped" in client.texts(-1)[-1]
    run(agent, "Go on.", session)
    assert is_prefix(client.requests[-2], client.requests[-1])
    assert len([text for text in client.texts(-1) if "dropped" in text]) == 1


def test_an_early_stop_is_nudged_and_bounded(store: str) -> None:
    agent, client = agent_with(store, [add("Read", "Write"), "I have read it.", "I stop here."])
    session = agent.create_session(session_id="s1")
    response = run(agent, "Fix it.", session)
    assert len(client.requests) == 4 - 1
    assert client.texts(-1)[-1].startswith("The plan is not finished: now 1")
    assert [str(one.role) for one in response.messages] == ["assistant", "tool", "assistant", "assistant"]
    assert response.text == "I have read it.I stop here."


@pytest.mark.parametrize("said", ["Which parser do you mean?", "Should I write it, too?"])
def test_a_question_is_not_nudged(store: str, said: str) -> None:
    agent, client = agent_with(store, [add("Read", "Write"), said])
    run(agent, "Fix it.", agent.create_session())
    assert len(client.requests) == 2


def test_a_pause_and_a_user_who_says_wait_are_not_nudged(store: str) -> None:
    agent, client = agent_with(store, [add("Read"), plan(pause="the deploy key has expired"), "I have to stop."])
    run(agent, "Fix it.", agent.create_session())
    assert len(client.requests) == 3
    agent, client = agent_with(store, [add("Read"), "I have a plan."])
    run(agent, "Make a plan, and wait for me.", agent.create_session())
    assert len(client.requests) == 2


def test_a_conversation_that_the_framework_compacts_is_told_the_plan_once(store: str) -> None:
    looks: list[Turn] = [[("look", {"path": f"{n}.py"})] for n in range(8)]
    turns: list[Turn] = [add("Read the parser", "Fix it"), *looks, "Is it right?"]
    agent, client = agent_with(store, turns, compaction_strategy=SlidingWindowStrategy(keep_last_groups=4))
    run(agent, "Fix the parser.", agent.create_session())
    shown = ["Fix it" in json.dumps(request["messages"]) for request in client.requests]
    lost = shown.index(False, 1)
    assert shown[lost + 1], "it is back with the next request"
    for number in range(lost + 1, len(client.requests)):
        told = [text for text in client.texts(number) if "Fix it" in text]
        assert len(told) <= 1


def test_what_the_model_was_told_is_summarized_with_the_result_behind_which_it_is(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    def after_edit() -> Turn:
        edit(store, "s1", lambda plan: ops.add(plan, "Ask Ann"))
        return [("look", {"path": "a.py"})]

    summarizer = ScriptedClient([f"Summary {n}." for n in range(20)])
    strategy = SummarizationStrategy(client=summarizer, target_count=6, threshold=4)
    looks: list[Turn] = [[("look", {"path": f"{n}.py"})] for n in range(12)]
    turns: list[Turn] = [add("Read the parser", "Fix it"), after_edit, *looks, "Is it right?"]
    agent, client = agent_with(store, turns, compaction_strategy=strategy)
    with caplog.at_level(logging.WARNING, "agent_framework"):
        run(agent, "Fix the parser.", agent.create_session(session_id="s1"))
    told = [[text for text in client.texts(n) if "was edited" in text] for n in range(len(client.requests))]
    assert len(told[2]) == 1
    assert told[-1] == []
    assert summarizer.requests
    assert [one.getMessage() for one in caplog.records if "Rejected" in one.getMessage()] == []


def test_a_history_that_was_compacted_between_runs_is_told_the_plan(store: str) -> None:
    history = InMemoryHistoryProvider(skip_excluded=True)
    compaction = CompactionProvider(after_strategy=SlidingWindowStrategy(keep_last_groups=1))
    turns: list[Turn] = [add("Read the parser", "Fix it"), "Shall I?", "And now?", "Well?"]
    agent, client = agent_with(store, turns, context_providers=[history, compaction])
    session = agent.create_session()
    run(agent, "Fix the parser.", session)
    run(agent, "Go on.", session)
    run(agent, "Go on.", session)
    assert [one["calls"] for one in client.requests[-1]["messages"] if one["calls"]] == []
    assert [text for text in client.texts(-1) if "Read the parser" in text and "Fix it" in text]


def test_a_middleware_that_trims_the_conversation_brings_the_plan_back(store: str) -> None:
    class Trim(ChatMiddleware):
        async def process(self, context: ChatContext, call_next: Callable[[], Any]) -> None:
            context.messages = list(context.messages)[-2:]
            await call_next()

    looks: list[Turn] = [[("look", {"path": f"{n}.py"})] for n in range(2)]
    agent, client = agent_with(
        store, [add("Read the parser", "Fix it"), *looks, "Right?"], middleware=[Trim(), Punchlist(store)]
    )
    run(agent, "Fix the parser.", agent.create_session())
    assert "Fix it" in client.texts(2)[-1]


def test_calls_of_other_tools_are_kept_with_the_active_item(store: str) -> None:
    turns: list[Turn] = [add("Read", "Write"), [("look", {"path": "a.py"}), ("shell", {"command": "fail"})], "Right?"]
    agent, _ = agent_with(store, turns)
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    with punchlist.open(store, session="s1") as desk:
        (first, second) = desk.load(calls=True).items
    calls = {call["name"]: call for call in first.calls}
    assert second.calls == ()
    assert calls["look"]["outcome"] == "ok"
    assert "the text of a.py" in calls["look"]["text"]
    assert calls["shell"]["exit"] == 1
    assert calls["shell"]["outcome"] == "failed"


def test_a_command_that_is_a_check_is_evidence(store: str) -> None:
    turns: list[Turn] = [
        plan(add=[{"text": "Test it", "check": "make test"}]),
        [("shell", {"command": "make test"})],
        plan(done=[1]),
        "Done.",
    ]
    agent, _ = agent_with(store, turns)
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    with punchlist.open(store, session="s1") as desk:
        (item,) = desk.load(calls=True).items
    assert item.status == "completed"
    assert [one["exit"] for one in item.evidence] == [0]


@tool(kind="shell")
def hosted(command: str) -> list[Content]:
    """Run a command, as the framework's own shell tools answer."""
    return [Content.from_shell_command_output(stdout=f"ran {command}", exit_code=3)]


def test_the_exit_code_of_the_frameworks_own_shell_output_is_known(store: str) -> None:
    agent, _ = agent_with(store, [add("Read"), [("hosted", {"command": "make"})], "Right?"], tools=[hosted])
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    with punchlist.open(store, session="s1") as desk:
        (call,) = desk.load(calls=True).items[0].calls
    assert call["exit"] == 3
    assert "ran make" in call["text"]


def test_several_runs_at_once_keep_their_plans_apart(store: str) -> None:
    middleware = [Punchlist(store)]

    async def one(name: str) -> None:
        turns: list[Turn] = [add(f"Read {name}"), [("look", {"path": name})], plan(done=[1]), "Done."]
        agent, _ = agent_with(store, turns, middleware=middleware)
        await agent.run("Fix it.", session=AgentSession(session_id=name))

    async def main() -> None:
        await asyncio.gather(*[one(f"s{number}") for number in range(8)])

    asyncio.run(main())
    assert [items(store, f"s{n}") for n in range(8)] == [[(f"Read s{n}", "completed")] for n in range(8)]


def test_threads_with_loops_of_their_own_share_the_middleware(store: str) -> None:
    middleware = [Punchlist(store)]
    failed: list[BaseException] = []

    def one(name: str) -> None:
        try:
            agent, _ = agent_with(store, [add(f"Read {name}"), "Right?"], middleware=middleware)
            run(agent, "Fix it.", AgentSession(session_id=name))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [Thread(target=one, args=(f"s{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [items(store, f"s{n}") for n in range(6)] == [[(f"Read s{n}", "in_progress")] for n in range(6)]


def test_another_event_loop_uses_the_same_objects(store: str) -> None:
    agent, client = agent_with(store, [add("Read"), "Right?", plan(done=[1]), "Done."])
    session = agent.create_session(session_id="s1")
    run(agent, "Fix it.", session)
    run(agent, "Go on.", session)
    assert items(store, "s1") == [("Read", "completed")]
    assert all(is_prefix(*pair) for pair in zip(client.requests, client.requests[1:], strict=False))


def test_each_request_begins_with_the_one_before(store: str) -> None:
    def after_edit() -> Turn:
        edit(store, "s1", lambda plan: ops.add(plan, "Ask Ann"))
        return [("look", {"path": "a.py"}), ("shell", {"command": "ls"})]

    looks: list[Turn] = [[("look", {"path": f"{n}.py"})] for n in range(12)]
    first: list[Turn] = [add("Read", "Write"), after_edit, *looks, "I have read it.", plan(done=[1]), "Right?"]
    agent, client = agent_with(store, [*first, [("look", {"path": "z.py"})], plan(done=[2]), "And now?"])
    session = agent.create_session(session_id="s1")
    run(agent, "Fix it.", session)
    run(agent, "Go on.", session)
    assert len(client.requests) > 18
    assert [is_prefix(*pair) for pair in zip(client.requests, client.requests[1:], strict=False)].count(False) == 0


def test_calls_in_one_turn_are_all_carried_out(store: str) -> None:
    calls = [("plan", {"add": [f"Step {n}"]}) for n in range(6)]
    agent, client = agent_with(store, [calls, "Right?"])
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert [text for text, _ in items(store, "s1")] == [f"Step {n}" for n in range(6)], "in their order"
    assert len(client.texts(1)) == 7


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        ("not JSON", "object"),
        ('["add"]', "object"),
        ('{"add": 3}', "add"),
        ('{"addd": ["Read"]}', "addd"),
        ({"done": "seven"}, "seven"),
        ('{"done": [null]}', "done"),
        ('{"raw": "x", "add": []}', "raw"),
    ],
)
def test_malformed_arguments_are_answered_and_the_run_goes_on(store: str, args: Any, answer: str) -> None:
    agent, client = agent_with(store, [[("plan", args)], add("Read"), "Right?"])
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert answer in client.texts(1)[-1]
    assert items(store, "s1") == [("Read", "in_progress")]


def test_no_arguments_are_answered(store: str) -> None:
    agent, client = agent_with(store, [[("plan", "")], [("plan", None)], "Right?"])
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert len(client.requests) == 3


def test_an_exception_in_a_tool_is_a_failed_call(store: str) -> None:
    @tool
    def broken(path: str) -> str:
        """Break."""
        raise OSError(f"no {path}")

    agent, client = agent_with(store, [add("Read"), [("broken", {"path": "x"})], "Right?"], tools=[broken])
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert client.texts(2)[-1] == "Error: Function failed."
    with punchlist.open(store, session="s1") as desk:
        (call,) = desk.load(calls=True).items[0].calls
    assert (call["outcome"], "no x" in call["text"]) == ("failed", True)


def test_a_model_that_fails_in_the_middle_loses_nothing(store: str) -> None:
    agent, client = agent_with(store, [add("Read"), ConnectionError("gone")])
    session = agent.create_session(session_id="s1")
    with pytest.raises(ConnectionError):
        run(agent, "Fix it.", session)
    client.turns = ["And now?"]
    run(agent, "Go on.", session)
    assert "Read" in "\n".join(client.texts(-1)), "the conversation has lost it, and it is told"


def test_a_store_that_is_gone_stops_no_run_and_warns_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plan.db").mkdir()
    turns: list[Turn] = [add("Read"), [("look", {"path": "a.py"})], "I stop."]
    agent, client = agent_with(f"sqlite:{tmp_path}/plan.db", turns)
    with caplog.at_level(logging.WARNING, "punchlist"):
        response = run(agent, "Fix it.", agent.create_session())
    assert response.text == "I stop."
    assert "Not saved" in client.texts(1)[-1]
    assert len([one for one in caplog.records if one.name == "punchlist"]) == 1


# --- streams, and runs that are cut off ------------------------------------------------------------------------------


def test_a_stream_is_nudged_and_has_one_response(store: str) -> None:
    agent, client = agent_with(store, [add("Read"), "I have read it.", plan(done=[1]), "Done."])

    async def work() -> tuple[list[str], Any]:
        stream = agent.run("Fix it.", stream=True, session=agent.create_session(session_id="s1"))
        said = [update.text async for update in stream if update.text]
        return said, await stream.get_final_response()

    said, response = asyncio.run(work())
    assert said == ["I have read it.", "Done."]
    assert response.text == "I have read it.Done."
    assert items(store, "s1") == [("Read", "completed")]
    assert all(is_prefix(*pair) for pair in zip(client.requests, client.requests[1:], strict=False))


def test_a_stream_that_is_cut_off_leaves_a_plan_that_can_be_continued(store: str) -> None:
    agent, client = agent_with(store, [add("Read"), [("look", {"path": "a.py"})], "Right?"])

    async def work() -> None:
        stream = agent.run("Fix it.", stream=True, session=agent.create_session(session_id="s1"))
        async for update in stream:
            if any(content.type == "function_result" for content in update.contents):
                break

    asyncio.run(work())
    assert items(store, "s1") == [("Read", "in_progress")]
    client.turns = [plan(done=[1]), "Done."]
    run(agent, "Go on.", agent.create_session(session_id="s1"))
    assert items(store, "s1") == [("Read", "completed")]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("error", [asyncio.CancelledError, ConnectionError])
def test_what_was_told_in_a_request_without_an_answer_is_told_again_and_once(
    store: str, stream: bool, error: type[BaseException]
) -> None:
    agent, client = agent_with(store, [add("Read"), "Shall I?"])
    session = agent.create_session(session_id="s1")

    async def go() -> None:
        if stream:
            async for _update in agent.run("Go on.", stream=True, session=session):
                pass
        else:
            await agent.run("Go on.", session=session)

    asyncio.run(go())
    edit(store, "s1", lambda plan: ops.note(plan, "1", "start with the lexer"))
    look_at: Turn = [("look", {"path": "a.py"})]
    client.turns = [error("gone"), look_at, error("gone"), look_at, "Really?", "Sure?"]
    for _ in range(2):
        with pytest.raises(error):
            asyncio.run(go())
    asyncio.run(go())
    asyncio.run(go())
    told = ["\n".join(client.texts(number)).count("start with the lexer") for number in range(8)]
    assert told == [0, 0, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_that_is_cancelled_ends_and_the_store_is_free(store: str, stream: bool) -> None:
    async def work() -> None:
        begun = asyncio.Event()

        @tool
        async def wait(path: str) -> str:
            """Wait."""
            begun.set()
            await asyncio.Event().wait()
            return ""

        agent, _ = agent_with(store, [add("Read"), [("wait", {"path": "x"})], "Right?"], tools=[wait])
        session = agent.create_session(session_id="s1")

        async def go() -> None:
            if stream:
                async for _update in agent.run("Fix it.", stream=True, session=session):
                    pass
            else:
                await agent.run("Fix it.", session=session)

        task = asyncio.create_task(go())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        edit(store, "s1", lambda plan: ops.add(plan, "Write"))

    asyncio.run(work())
    assert items(store, "s1") == [("Read", "in_progress"), ("Write", "pending")]


# --- without a session, with a service that keeps the conversation, in the harness -----------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_without_a_session_a_run_is_nudged_and_the_response_is_what_the_agent_said(store: str, stream: bool) -> None:
    def after_edit() -> Turn:
        edit(store, "s1", lambda plan: ops.add(plan, "Ask Ann"))
        return [("look", {"path": "a.py"})]

    turns: list[Turn] = [add("Read"), after_edit, "I have read it.", plan(done=[1, 2]), "Done.", "Hello."]
    agent, client = agent_with(store, turns, middleware=[Punchlist(store, session="s1")])

    async def work() -> AgentResponse[Any]:
        if stream:
            return await agent.run("Fix it.", stream=True).get_final_response()
        return await agent.run("Fix it.")

    response = asyncio.run(work())
    assert response.text == "I have read it.Done."
    assert {str(one.role) for one in response.messages} == {"assistant", "tool"}
    assert all(is_prefix(*pair) for pair in zip(client.requests, client.requests[1:], strict=False))
    assert len([text for text in client.texts(-1) if "Ask Ann" in text]) == 1


def test_instructions_in_the_form_of_a_provider_keep_it(store: str) -> None:
    client = ScriptedClient(["Hello.", "Hello."])
    blocks: Any = [{"type": "text", "text": "You write code.", "cache": True}]
    agent = Agent(client, middleware=[Punchlist(store)])

    async def work() -> None:
        await agent.run("Hello", options={"instructions": blocks})
        await Agent(client, blocks, middleware=[Punchlist(store)]).run("Hello")

    asyncio.run(work())
    for request in client.requests:
        assert request["system"][0] == blocks[0]
        assert request["system"][1].startswith("For work of")


def test_without_a_session_each_run_has_a_plan_of_its_own(store: str) -> None:
    agent, client = agent_with(store, [add("Read"), "Right?", "Hello."])
    run(agent, "Fix it.")
    run(agent, "And now?")
    assert client.texts(-1) == ["And now?"]


def test_a_session_that_is_given_to_the_middleware_is_the_one_of_every_run(store: str) -> None:
    middleware = [Punchlist(store, session="mine", agent="coder")]
    agent, client = agent_with(store, [add("Read"), "Right?", "Hello?"], middleware=middleware)
    run(agent, "Fix it.")
    run(agent, "And now?")
    assert items(store, "mine", "coder") == [("Read", "in_progress")]
    assert "Read" in client.texts(-1)[-1]


def test_a_service_that_keeps_the_conversation_gets_only_what_is_new(store: str) -> None:
    def after_edit() -> Turn:
        edit(store, "s1", lambda plan: ops.add(plan, "Ask Ann"))
        return [("look", {"path": "a.py"})]

    turns: list[Turn] = [add("Read", "Write"), after_edit, "I have read it.", plan(done=[1]), "Right?", "And now?"]
    client = KeepingClient(turns)
    agent = Agent(client, tools=[look], middleware=[Punchlist(store)])
    session = agent.create_session(session_id="s1")
    run(agent, "Fix it.", session)
    run(agent, "Go on.", session)
    sent = [request["messages"] for request in client.requests]
    assert [len(one) for one in sent] == [1, 1, 2, 1, 1, 1], "nothing is told that the service has"
    assert "Ask Ann" in client.texts(2)[-1]
    assert client.texts(3)[0].startswith("The plan is not finished")


QUIET: dict[str, Any] = {"disable_web_search": True, "disable_file_memory": True, "disable_mode": True}


def harness(store: str, client: ScriptedClient, **options: Any) -> Agent[Any]:
    return create_harness_agent(client, tools=[look, shell], **QUIET, **options)


def test_a_harness_agent_takes_the_plan_in_place_of_its_todos(store: str) -> None:
    def after_edit() -> Turn:
        edit(store, "s1", lambda plan: ops.add(plan, "Ask Ann"))
        return [("look", {"path": "a.py"})]

    turns: list[Turn] = [add("Read", "Write"), after_edit, [("look", {"path": "b.py"})], "I have read it."]
    client = ScriptedClient([*turns, plan(done=[1]), "Right?", [("look", {"path": "c.py"})], "And now?"])
    agent = harness(store, client, disable_todo=True, middleware=[Punchlist(store)])
    session = agent.create_session(session_id="s1")
    run(agent, "Fix it.", session)
    run(agent, "Go on.", session)
    assert all(is_prefix(*pair) for pair in zip(client.requests, client.requests[1:], strict=False))
    said = client.texts(-1)
    assert len([text for text in said if "Ask Ann" in text and "added" in text]) == 1
    assert len([text for text in said if text.startswith("The plan is not finished")]) == 1
    assert len([text for text in said if '"Write"' in text]) <= 1


def test_a_harness_agent_that_compacts_is_told_the_plan(store: str) -> None:
    looks: list[Turn] = [[("look", {"path": f"{n}.py"})] for n in range(6)]
    client = ScriptedClient([add("Read the parser", "Fix it"), *looks, "Right?"])
    strategy = SlidingWindowStrategy(keep_last_groups=3)
    options: dict[str, Any] = {"disable_todo": True, "before_compaction_strategy": strategy}
    agent = harness(store, client, middleware=[Punchlist(store)], **options)
    run(agent, "Fix the parser.", agent.create_session())
    shown = ["Fix it" in json.dumps(request["messages"]) for request in client.requests]
    lost = shown.index(False, 1)
    assert shown[lost + 1]


def test_a_loop_of_the_users_around_it_runs_again(store: str) -> None:
    def should_continue(*, iteration: int, **_: Any) -> bool:
        return iteration < 3

    middleware: list[AgentMiddleware] = [AgentLoopMiddleware(should_continue), Punchlist(store)]
    agent, client = agent_with(store, [add("Read"), "Right?", "Is it?", "Well?"], middleware=middleware)
    run(agent, "Fix it.", agent.create_session())
    assert len(client.requests) == 4
    assert {len(request["tools"]) for request in client.requests} == {3}
    assert len({request["system"] for request in client.requests}) == 1


def test_a_call_that_awaits_an_approval_is_not_nudged(store: str) -> None:
    @tool(approval_mode="always_require")
    def deploy(where: str) -> str:
        """Deploy."""
        return f"deployed to {where}"

    agent, client = agent_with(store, [add("Deploy"), [("deploy", {"where": "prod"})]], tools=[deploy])
    session = agent.create_session(session_id="s1")
    response = run(agent, "Deploy it.", session)
    (request,) = response.user_input_requests
    client.turns = [plan(done=[1]), "Done."]

    edit(store, "s1", lambda plan: ops.note(plan, "1", "be quick"))

    async def approve() -> None:
        await agent.run(Message("user", [request.to_function_approval_response(True)]), session=session)

    asyncio.run(approve())
    assert "deployed to prod" in client.texts(-1)
    assert len([text for text in client.texts(-1) if "be quick" in text]) == 1
    assert items(store, "s1") == [("Deploy", "completed")]


@pytest.mark.parametrize("has_session", [True, False])
def test_nobody_is_nudged_after_the_user_refused_a_call(store: str, has_session: bool) -> None:
    @tool(approval_mode="always_require")
    def deploy(where: str) -> str:
        """Deploy."""
        return f"deployed to {where}"

    turns: list[Turn] = [add("Deploy", "Write"), [("deploy", {"where": "prod"})]]
    agent, client = agent_with(store, turns, tools=[deploy], middleware=[Punchlist(store, session="s1")])
    session = agent.create_session(session_id="s1") if has_session else None
    response = run(agent, "Deploy it.", session)
    (request,) = response.user_input_requests
    client.turns = ["Then I leave it."]
    answer = Message("user", [request.to_function_approval_response(False)])
    before = [] if has_session else [Message("user", ["Deploy it."]), *response.messages]

    async def refuse() -> None:
        await agent.run([*before, answer], session=session)

    asyncio.run(refuse())
    assert client.turns == []
    assert items(store, "s1") == [("Deploy", "in_progress"), ("Write", "pending")]
    client.turns = [plan(done=[1]), "Half of it.", "Right?"]
    run(agent, "Go on.", agent.create_session(session_id="s2"))
    assert client.turns == [], "the user has spoken since: there are nudges again"


# --- sub-agents ------------------------------------------------------------------------------------------------------


def test_a_sub_agent_has_a_plan_of_its_own_in_the_same_session(store: str) -> None:
    punch = Punchlist(store)
    inner = ScriptedClient([add("Search"), "I have found it.", add("Search again"), "Found."])
    worker = Agent(inner, name="researcher", description="Finds things.", middleware=[punch])
    turns: list[Turn] = [
        add("Read", "Write"),
        [("researcher", {"task": "Find it."})],
        [("researcher", {"task": "Find it again."})],
        "Right?",
    ]
    agent, client = agent_with(store, turns, tools=[worker.as_tool()], middleware=[punch])
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert len(inner.requests) == 4, "a sub-agent is not nudged"
    assert items(store, "s1") == [("Read", "in_progress"), ("Write", "pending")]
    plans = _plans(store)
    assert sorted(texts for _, texts in plans) == [["Read", "Write"], ["Search"], ["Search again"]]
    assert client.texts(3)[-1] == "Found."


def test_a_sub_agent_in_its_parents_session_goes_on_with_its_plan(store: str) -> None:
    punch = Punchlist(store)
    inner = ScriptedClient([add("Search"), "I have begun.", plan(done=[1]), "Found."])
    worker = Agent(inner, name="researcher", middleware=[punch])
    call = [("researcher", {"task": "Find it."})]
    helper = worker.as_tool(propagate_session=True)
    agent, _ = agent_with(store, [add("Read"), call, call, "Right?"], tools=[helper], middleware=[punch])
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert items(store, "s1", "researcher") == [("Search", "completed")]
    assert items(store, "s1") == [("Read", "in_progress")]


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_that_runs_the_same_agent_again_has_a_plan_of_its_own(store: str, stream: bool) -> None:
    agents: list[Agent[Any]] = []

    @tool
    async def again(task: str) -> str:
        """Run the agent again."""
        return str((await agents[0].run(task, session=AgentSession(session_id="s1"))).text)

    turns: list[Turn] = [add("Read"), [("again", {"task": "Look."})], add("Look"), "Seen.", plan(done=[1]), "Done."]
    agent, _ = agent_with(store, turns, tools=[again], name="coder")
    agents.append(agent)

    async def work() -> None:
        session = agent.create_session(session_id="s1")
        if stream:
            await agent.run("Fix it.", session=session, stream=True).get_final_response()
        else:
            await agent.run("Fix it.", session=session)

    asyncio.run(work())
    assert items(store, "s1") == [("Read", "completed")]
    assert items(store, "s1", "coder") == [("Look", "in_progress")]


def test_an_agent_that_runs_itself_twice_has_three_plans(store: str) -> None:
    agents: list[Agent[Any]] = []

    @tool
    def again(task: str) -> str:
        """Run the agent again, in a thread and a loop of its own."""
        return str(run(agents[0], task, AgentSession(session_id="s1")).text)

    inner: list[Turn] = [add("Two"), [("again", {"task": "Look."})], add("Three"), "Seen.", "Seen, too."]
    agent, _ = agent_with(store, [add("One"), [("again", {"task": "Look."})], *inner, "Right?"], tools=[again])
    agents.append(agent)
    run(agent, "Fix it.", AgentSession(session_id="s1"))
    assert sorted(texts for _, texts in _plans(store)) == [["One"], ["Three"], ["Two"]]


@pytest.mark.parametrize("name", ["main", "coder"])
def test_a_run_in_a_task_that_outlives_the_tool_that_started_it_is_no_sub_agent(store: str, name: str) -> None:
    punch = Punchlist(store, agent=name)

    async def work() -> None:
        is_returned = asyncio.Event()
        later: list[asyncio.Task[Any]] = []

        async def serve() -> None:
            await is_returned.wait()
            second = Agent(ScriptedClient([add("Of Bob"), "Right?"]), name="bot", middleware=[punch])
            await second.run("I am Bob.", session=AgentSession(session_id="bob"))

        @tool
        async def begin() -> str:
            """Begin."""
            later.append(asyncio.create_task(serve()))
            return "begun"

        client = ScriptedClient([add("Of Alice"), [("begin", {})], "Right?"])
        first = Agent(client, name="bot", tools=[begin], middleware=[punch])
        await first.run("I am Alice.", session=AgentSession(session_id="alice"))
        is_returned.set()
        await later[0]

    asyncio.run(work())
    assert items(store, "alice", name) == [("Of Alice", "in_progress")]
    assert items(store, "bob", name) == [("Of Bob", "in_progress")]


def test_runs_leave_nothing_behind_in_the_telemetry(store: str) -> None:
    client = ScriptedClient([])
    agent = Agent(client, middleware=[Punchlist(store, session="s1")])

    def meters() -> int:
        gc.collect()
        return sum(1 for one in gc.get_objects() if type(one).__name__ == "_ProxyMeter")

    counts = []
    for _ in range(3):
        client.turns += [add("Read"), "Right?"]
        run(agent, "Fix it.")
        counts.append(meters())
    assert counts[0] > 0, "the framework has some of its own"
    assert counts == [counts[0]] * 3
    assert len(items(store, "s1")) == 3, "and each run had its tool"


def test_the_agents_of_a_workflow_have_plans_of_their_own(store: str) -> None:
    punch = Punchlist(store)
    first = Agent(ScriptedClient([add("Draft"), plan(done=[1]), "A draft."]), name="writer", middleware=[punch])
    second = Agent(ScriptedClient([add("Review"), plan(done=[1]), "Good."]), name="reviewer", middleware=[punch])
    workflow = WorkflowBuilder(start_executor=first).add_edge(first, second).build()

    async def work() -> None:
        await workflow.run("Write it.")

    asyncio.run(work())
    assert sorted(texts for _, texts in _plans(store)) == [["Draft"], ["Review"]]


def _plans(store: str) -> list[tuple[str, list[str]]]:
    """Every plan in a store."""
    command = [sys.executable, "-m", "punchlist", "plans", "--json", "--store", store]
    shown = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout
    found = []
    for one in json.loads(shown):
        with punchlist.open(store, plan=one["id"]) as desk:
            found.append((one["id"], [item.text for item in desk.plan.items]))
    return found


# --- the framework's own todos ---------------------------------------------------------------------------------------


def todo_agent(store: TodoStore, turns: Iterable[Turn]) -> tuple[Agent[Any], ScriptedClient]:
    client = ScriptedClient(turns)
    return Agent(client, context_providers=[TodoProvider(store=store)]), client


def todos_add(*titles: str) -> list[tuple[str, Any]]:
    return [("todos_add", {"todos": [{"title": title} for title in titles]})]


def todos_complete(*ids: int) -> list[tuple[str, Any]]:
    return [("todos_complete", {"items": [{"id": id, "reason": "it is done"} for id in ids]})]


async def listed(store: TodoStore, session: AgentSession) -> list[tuple[int, str, str | None, bool]]:
    loaded = await store.load_items(session, source_id="todo")
    return [(one.id, one.title, one.description, one.is_complete) for one in loaded]


def test_todos_of_the_framework_are_a_plan(store: str) -> None:
    turns: list[Turn] = [
        [("todos_add", {"todos": [{"title": "Read", "description": "all of it"}, {"title": "Write"}]})],
        todos_complete(1),
        [("todos_remove", {"ids": [2]})],
        "Done.",
    ]
    agent, client = todo_agent(TodoStore(store), turns)
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert items(store, "s1") == [("Read", "completed"), ("Write", "abandoned")]
    with punchlist.open(store, session="s1") as desk:
        assert desk.plan.items[0].notes == ("all of it",)
        assert desk.plan.items[0].closed is not None
        assert desk.plan.items[0].closed.by == "main"
        assert desk.undo().plan.items[1].status == "in_progress", "what the agent removed can be brought back"
    assert client.texts(-1)[-1] == '{"removed": 1}'


def test_todos_survive_a_restart_and_go_on_counting(store: str) -> None:
    first, _ = todo_agent(TodoStore(store), [todos_add("Read", "Write"), "Shall I?"])
    run(first, "Fix it.", AgentSession(session_id="s1"))
    again, client = todo_agent(TodoStore(store), [todos_add("Test"), "Done."])
    run(again, "Go on.", AgentSession(session_id="s1"))
    assert "- 1 [open] Read\n- 2 [open] Write" in "\n".join(client.texts(0))
    assert json.loads(client.texts(1)[-1])[0]["id"] == 3


def test_what_the_user_did_between_loading_and_saving_is_kept(store: str) -> None:
    todos, session = TodoStore(store), AgentSession(session_id="s1")

    async def work() -> None:
        await todos.save_state(session, [TodoItem(n, f"Step {n}") for n in range(1, 7)], next_id=7, source_id="todo")
        loaded, next_id = await todos.load_state(session, source_id="todo")
        assert next_id == 7
        edit(store, "s1", lambda plan: ops.rename(plan, "1", "Step one"))
        edit(store, "s1", lambda plan: ops.complete(plan, "2"))
        edit(store, "s1", lambda plan: ops.remove(plan, "3"))
        edit(store, "s1", lambda plan: ops.note(plan, "4", "mind the gap"))
        edit(store, "s1", lambda plan: ops.block(plan, "5", why="no answer"))
        edit(store, "s1", lambda plan: ops.move(plan, "6", before="1"))
        loaded[0].is_complete = True
        loaded[4].is_complete = True  # the user has just blocked it
        kept = [one for one in loaded if one.id != 4]  # and noted on this one
        await todos.save_state(session, kept, next_id=7, source_id="todo")
        assert await listed(todos, session) == [
            (6, "Step 6", None, False),
            (1, "Step one", None, True),
            (2, "Step 2", None, True),
            (4, "Step 4", "mind the gap", False),
            (5, "Step 5", "blocked: no answer", False),
        ]

    asyncio.run(work())
    with punchlist.open(store, session="s1") as desk:
        closed = {item.id: item.closed.by for item in desk.plan.items if item.closed}
    assert closed == {"1": "main", "2": "user"}


def test_an_item_that_the_user_adds_at_the_same_moment_keeps_both_apart(store: str) -> None:
    todos, session = TodoStore(store), AgentSession(session_id="s1")

    async def work() -> None:
        loaded, next_id = await todos.load_state(session, source_id="todo")
        edit(store, "s1", lambda plan: ops.add(plan, "Ask Ann"))
        new = [TodoItem(next_id, "Read"), TodoItem(next_id + 1, "Write")]
        await todos.save_state(session, [*loaded, *new], next_id=next_id + 2, source_id="todo")
        assert await listed(todos, session) == [
            (3, "Ask Ann", None, False),
            (1, "Read", None, False),
            (2, "Write", None, False),
        ]
        loaded, next_id = await todos.load_state(session, source_id="todo")
        assert next_id == 4
        loaded[1].is_complete = True
        await todos.save_state(session, loaded, next_id=next_id, source_id="todo")

    asyncio.run(work())
    assert items(store, "s1") == [("Ask Ann", "in_progress"), ("Read", "completed"), ("Write", "pending")]
    restored = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))
    assert [one[0] for one in asyncio.run(listed(TodoStore(store), restored))] == [3, 1, 2], "the numbers are kept"


def test_two_writers_of_one_list_lose_nothing(store: str) -> None:
    todos, session = TodoStore(store), AgentSession(session_id="s1")
    others, same = TodoStore(store), AgentSession(session_id="s1")

    async def writer(mine: TodoStore, own: AgentSession, name: str) -> None:
        for number in range(5):
            loaded, next_id = await mine.load_state(own, source_id="todo")
            await mine.save_state(own, [*loaded, TodoItem(next_id, f"{name} {number}")], next_id=0, source_id="todo")
            loaded, next_id = await mine.load_state(own, source_id="todo")
            for one in loaded:
                one.is_complete = one.is_complete or one.title == f"{name} {number}"
            await mine.save_state(own, loaded, next_id=next_id, source_id="todo")

    async def work() -> None:
        await asyncio.gather(writer(todos, session, "a"), writer(others, same, "b"), writer(todos, session, "c"))

    asyncio.run(work())
    found = items(store, "s1")
    assert sorted(found) == sorted((f"{name} {n}", "completed") for name in "abc" for n in range(5))


def test_a_list_that_was_never_loaded_takes_nothing_away(store: str) -> None:
    session = AgentSession(session_id="s1")
    with punchlist.open(store, session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})

    async def work() -> None:
        await TodoStore(store).save_state(session, [TodoItem(2, "Write", None, True)], next_id=3, source_id="todo")

    asyncio.run(work())
    assert items(store, "s1") == [("Read", "in_progress"), ("Write", "completed")]


def test_words_order_and_descriptions_that_a_program_changes_are_saved(store: str) -> None:
    todos, session = TodoStore(store), AgentSession(session_id="s1")

    async def work() -> None:
        await todos.save_state(session, [TodoItem(n, f"Step {n}") for n in (1, 2, 3)], next_id=4, source_id="todo")
        one, two, three = await todos.load_items(session, source_id="todo")
        two.title, three.description, one.is_complete = "Second step", "with care", True
        await todos.save_state(session, [three, one, two], next_id=4, source_id="todo")
        wanted = [(3, "Step 3", "with care", False), (1, "Step 1", None, True), (2, "Second step", None, False)]
        assert await listed(todos, session) == wanted
        one.is_complete = False
        await todos.save_state(session, [three, one, two], next_id=4, source_id="todo")
        assert not (await listed(todos, session))[1][3]

    asyncio.run(work())


def test_a_list_that_is_saved_again_without_being_loaded_adds_nothing_twice_and_undoes_nothing(store: str) -> None:
    todos, session = TodoStore(store), AgentSession(session_id="s1")

    async def save(mine: list[TodoItem]) -> None:
        await todos.save_state(session, mine, next_id=9, source_id="todo")

    async def work() -> None:
        mine, _ = await todos.load_state(session, source_id="todo")
        mine += [TodoItem(1, "Read"), TodoItem(2, "Write", "with care"), TodoItem(3, "Test")]
        await save(mine)
        edit(store, "s1", lambda plan: ops.rename(plan, "1", "Read it all"))
        edit(store, "s1", lambda plan: ops.complete(plan, "2"))
        edit(store, "s1", lambda plan: ops.remove(plan, "3"))
        edit(store, "s1", lambda plan: ops.add(plan, "Ask Ann"))
        for _ in range(2):
            await save(mine)
        mine.append(TodoItem(5, "Ship"))
        await save(mine)
        mine[0].is_complete = True
        await save(mine)

    asyncio.run(work())
    assert items(store, "s1") == [
        ("Read it all", "completed"),
        ("Write", "completed"),
        ("Ask Ann", "in_progress"),
        ("Ship", "pending"),
    ]
    with punchlist.open(store, session="s1") as desk:
        assert desk.plan.items[1].notes == ("with care",)


def test_a_list_that_is_saved_as_it_was_changes_nothing(store: str) -> None:
    with punchlist.open(store, session="s1") as desk:
        desk.change(lambda plan: ops.add(plan, "Read"))
    todos, session = TodoStore(store), AgentSession(session_id="s1")

    async def work() -> None:
        loaded, next_id = await todos.load_state(session, source_id="todo")
        await todos.save_state(session, loaded, next_id=next_id, source_id="todo")

    asyncio.run(work())
    with punchlist.open(store, session="s1") as desk:
        assert (desk.plan.revision, desk.plan.items[0].status) == (1, "pending")


def test_numbers_of_another_plan_hide_nothing(store: str) -> None:
    with punchlist.open(store, session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Write", "Test"]})
    session = AgentSession(session_id="s1")
    session.state["todo"] = {"numbers": {"1": 3, "2": 3}}
    loaded, next_id = asyncio.run(TodoStore(store).load_state(session, source_id="todo"))
    assert [one.title for one in loaded] == ["Read", "Write", "Test"]
    assert len({one.id for one in loaded}) == 3
    assert next_id > max(one.id for one in loaded)


def test_two_lists_of_a_session_are_two_plans(store: str) -> None:
    todos, session = TodoStore(store), AgentSession(session_id="s1")

    async def work() -> None:
        await todos.save_state(session, [TodoItem(1, "Read")], next_id=2, source_id="todo")
        await todos.save_state(session, [TodoItem(1, "Buy milk")], next_id=2, source_id="errands")

    asyncio.run(work())
    assert items(store, "s1") == [("Read", "in_progress")]
    assert items(store, "s1", "errands") == [("Buy milk", "in_progress")]


def test_a_store_of_todos_that_is_gone_is_told_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "plan.db").mkdir()
    agent, client = todo_agent(TodoStore(f"sqlite:{tmp_path}/plan.db"), [todos_add("Read"), "I stop."])
    with caplog.at_level(logging.WARNING, "punchlist"):
        assert run(agent, "Fix it.", agent.create_session()).text == "I stop."
    assert client.texts(-1)[-1] == "Error: Function failed."
    assert len([one for one in caplog.records if one.name == "punchlist"]) == 1


def test_calls_that_add_todos_at_once_give_each_its_number(store: str) -> None:
    agent, client = todo_agent(
        TodoStore(store), [[*todos_add("Read"), *todos_add("Write"), *todos_add("Test")], "Done."]
    )
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert sorted(json.loads(text)[0]["id"] for text in client.texts(-1)[-3:]) == [1, 2, 3]
    assert len(items(store, "s1")) == 3


def test_a_harness_agent_works_from_the_store_and_its_loop_sees_what_is_open(store: str) -> None:
    from agent_framework import todos_remaining

    todos = TodoStore(store)
    client = ScriptedClient([todos_add("Read"), "I stop.", todos_complete(1), "Done."])
    provider = TodoProvider(store=todos)
    agent = harness(store, client, todo_provider=provider, loop_should_continue=todos_remaining())
    run(agent, "Fix it.", agent.create_session(session_id="s1"))
    assert client.turns == []
    assert items(store, "s1") == [("Read", "completed")]
    todos.close()


# --- the kit ---------------------------------------------------------------------------------------------------------


class BridgedClient(ScriptedClient):
    """The model of a case of the conformance kit."""

    def __init__(self, model: conformance.CaseModel) -> None:
        super().__init__()
        self.case_model = model  # an agent takes `model` for the name of one

    def _inner_get_response(self, *, messages: Sequence[Message], stream: bool, options: Any, **_: Any) -> Any:
        sent = [{"role": "system", "texts": [options.get("instructions")]}, *[_sent(one) for one in messages]]
        tools = [one.to_json_schema_spec() for one in options.get("tools") or ()]

        def contents() -> list[Content]:
            text, calls = self.case_model.request(sent, tools)
            made = [Content.from_function_call(one.id, one.name, arguments=one.args) for one in calls]
            return [*([Content.from_text(text)] if text else []), *made]

        async def answer() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", contents())])

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            for one in contents():
                yield ChatResponseUpdate(contents=[one], role="assistant")

        return self._build_response_stream(updates()) if stream else answer()


class KitAgent:
    """An agent as the kit drives it: its conversation is in a file, as that of a program that is restarted."""

    def __init__(self, case: conformance.Case) -> None:
        self.path = Path(case.folder, "session.json")
        self.session = AgentSession(session_id=case.session)
        if self.path.exists():
            self.session = AgentSession.from_dict(json.loads(self.path.read_text("utf-8")))

        @tool(name="shell")
        def command(command: str) -> Any:
            """Run a command."""
            return case.tool(command)

        self.punchlist = Punchlist(case.store)
        self.agent = self.make(BridgedClient(case.model), [command], self.punchlist)

    def make(self, client: BridgedClient, tools: list[Any], middleware: Punchlist) -> Agent[Any]:
        return Agent(client, "You.", tools=tools, middleware=[middleware])

    async def response(self, prompt: str) -> AgentResponse[Any]:
        return await self.agent.run(prompt, session=self.session)

    async def __call__(self, prompt: str) -> str:
        try:
            response = await self.response(prompt)
        finally:
            self.path.write_text(json.dumps(self.session.to_dict()), "utf-8")
        return response.messages[-1].text

    def compact(self) -> None:
        self.session.state["in_memory"]["messages"] = [Message("user", ["What was said before was cut."])]

    def close(self) -> None:
        self.punchlist.close()


class StreamingAgent(KitAgent):
    async def response(self, prompt: str) -> AgentResponse[Any]:
        return await self.agent.run(prompt, session=self.session, stream=True).get_final_response()


class HarnessAgent(KitAgent):
    def make(self, client: BridgedClient, tools: list[Any], middleware: Punchlist) -> Agent[Any]:
        return create_harness_agent(client, tools=tools, middleware=[middleware], disable_todo=True, **QUIET)


@pytest.mark.parametrize("make_agent", [KitAgent, StreamingAgent, HarnessAgent])
def test_the_conformance_kit_passes(make_agent: Any) -> None:
    report = conformance.check(make_agent)
    assert report.passed, str(report)
    assert {one.outcome for one in report.results} == {"passed"}, str(report)


def test_the_framework_that_is_missing_says_what_to_install() -> None:
    program = "import sys; sys.modules['agent_framework'] = None; import punchlist.adapters.agent_framework"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert "pip install 'punchlist[agent-framework]'" in done.stderr.splitlines()[-1]

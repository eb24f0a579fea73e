"""Real providers, over HTTP, against servers on loopback that speak their wire formats."""

from __future__ import annotations

import asyncio
import builtins
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from threading import Event

import pytest

from punchlist.agent.events import Interrupt, Interrupted
from punchlist.agent.messages import Assistant, Attachment, Call, Result, Usage, User
from punchlist.agent.models import ConversationTooLong, ModelAnswer, ModelError, Offer, open_model
from punchlist.agent.providers import Provider, can_be_strict
from punchlist.agent.providers import _let_go as let_go
from punchlist.core.errors import Refused
from punchlist.dialects import load
from tests.agent.servers import Says, Server, serving

KINDS = ("anthropic", "openai")
READ = Offer("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
NOTHING: Callable[[str], None] = lambda piece: None  # noqa: E731


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ask(server: Server, on_text: Callable[[str], None] = NOTHING, *messages: object) -> ModelAnswer:
    with closing(Provider(server.kind, "m", server.url, pause=0.001)) as model:
        said = messages or (User("go"),)
        return model.request("be brief", said, [READ], on_text)  # type: ignore[arg-type]


def test_text_comes_in_pieces_and_the_turn_holds_text_calls_and_usage(kind: str) -> None:
    pieces: list[str] = []
    with serving(kind, Says(["Let me ", "look."], [("read", '{"path": "a.py"}')])) as server:
        turn = ask(server, pieces.append)
    assert "".join(pieces) == turn.text == "Let me look."
    assert [piece for piece in pieces if piece] == ["Let me ", "look."]
    assert [(call.tool, call.args) for call in turn.calls] == [("read", {"path": "a.py"})]
    assert turn.usage == Usage(12, 34)


def test_the_whole_conversation_reaches_the_provider(kind: str) -> None:
    said = [
        User("fix it"),
        Assistant("Looking.", (Call("c1", "read", {"path": "a.py"}),)),
        Result("c1", "read", "no such file", True),
        Attachment("news", "the user added 2"),
    ]
    with serving(kind, Says(["ok"])) as server:
        ask(server, NOTHING, *said)
    (asked,) = server.asked
    text = str(asked)
    assert asked["stream"] is True
    for words in ("be brief", "fix it", "Looking.", "c1", "a.py", "no such file", "the user added 2", "Read a file."):
        assert words in text
    if kind == "anthropic":
        assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "user"]
        first, second = asked["messages"][2]["content"]
        assert (first["type"], first["is_error"], second["type"]) == ("tool_result", True, "text")
    else:
        roles = [message["role"] for message in asked["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "user"]


def test_the_key_of_this_provider_is_sent_and_not_the_other_one_s(kind: str) -> None:
    with serving(kind, Says(["ok"])) as server:
        ask(server)
    sent = " ".join(server.headers[0].values()).split()
    assert ("sk-ant-test" in sent, "sk-test" in sent) == (kind == "anthropic", kind == "openai")


def test_arguments_that_are_no_json_arrive_as_they_were_sent(kind: str) -> None:
    with serving(kind, Says([], [("read", '{"path": "a')])) as server:
        turn = ask(server)
        assert turn.calls[0].args == '{"path": "a'
        ask(server, NOTHING, User("go"), Assistant("", turn.calls), Result(turn.calls[0].id, "read", "no", True))
    assert len(server.asked) == 2


def test_a_rate_limit_is_waited_out_as_long_as_the_provider_asks(kind: str) -> None:
    slow = Says(status=429, headers=[("Retry-After", "0.01")], error="slow down")
    with serving(kind, slow, slow, Says(["ok"])) as server:
        assert ask(server).text == "ok"
    assert len(server.asked) == 3


def test_whoever_waits_hears_for_whom_and_how_long(kind: str) -> None:
    slow = Says(status=429, headers=[("Retry-After", "1")], error="slow down")
    heard: list[str] = []
    with serving(kind, slow, Says(["ok"])) as server, closing(Provider(kind, "m", server.url)) as model:
        model.request("", [User("go")], [READ], NOTHING, heard.append)
    assert heard == [f"{kind} is busy; again in 1 s (1 of 5)", ""]


def test_a_rate_limit_that_does_not_end_is_reported(kind: str) -> None:
    with serving(kind, Says(status=429, headers=[("Retry-After", "0")], error="slow down")) as server:
        with pytest.raises(ModelError, match="asked us to slow down, 5 times"):
            ask(server)
        assert len(server.asked) == 5


@pytest.mark.parametrize("status", [500, 503, 529])
def test_a_server_in_trouble_is_tried_again(kind: str, status: int) -> None:
    with serving(kind, Says(status=status, error="oops"), Says(["ok"])) as server:
        assert ask(server).text == "ok"


def test_a_connection_cut_before_a_word_was_shown_is_tried_again(kind: str) -> None:
    with serving(kind, Says(["lost"], cut_after=1), Says(["whole"])) as server:
        assert ask(server).text == "whole"
    assert len(server.asked) == 2


def test_a_connection_cut_in_the_middle_of_an_answer_is_reported_and_what_came_was_shown(kind: str) -> None:
    pieces: list[str] = []
    with serving(kind, Says(["half of ", "an answer"], cut_after=4 if kind == "anthropic" else 3)) as server:
        with pytest.raises(ModelError, match="broke off in the middle"):
            ask(server, pieces.append)
        assert len(server.asked) == 1
    assert "".join(pieces) == "half of an answer"


def test_a_key_that_is_refused_is_named_at_once(kind: str) -> None:
    with serving(kind, Says(status=401, error="bad key")) as server:
        with pytest.raises(ModelError, match=f"refused the key; check {kind.upper()}_API_KEY"):
            ask(server)
        assert len(server.asked) == 1


def test_a_model_that_is_not_there_is_said_so(kind: str) -> None:
    with serving(kind, Says(status=404, error="model: m")) as server, pytest.raises(ModelError, match="does not know"):
        ask(server)


def test_a_conversation_that_is_too_long_is_told_from_other_faults() -> None:
    words = "prompt is too long: 250000 tokens > 200000 maximum"
    with serving("anthropic", Says(status=400, error=words)) as server, pytest.raises(ConversationTooLong):
        ask(server)


def test_a_server_that_is_not_there_is_reported_with_its_address(kind: str) -> None:
    with serving(kind, Says(["ok"])) as server:
        url = server.url
    words = rf"{kind} at http://127\.0\.0\.1:\d+.* could not be reached, 5 times"
    with closing(Provider(kind, "m", url, pause=0.001)) as model, pytest.raises(ModelError, match=words):
        model.request("", [User("go")], [READ], NOTHING)


def test_the_user_can_stop_while_the_model_is_silent(kind: str) -> None:
    hold = Event()
    stop = Interrupt()

    def on_text(piece: str) -> None:
        if piece:
            stop.ask()
        stop.check()

    try:
        with serving(kind, Says(["first", "never"], hold=hold)) as server, pytest.raises(Interrupted):
            ask(server, on_text)
    finally:
        hold.set()


def test_an_answer_that_was_broken_off_is_closed_before_its_loop_ends() -> None:
    ended: list[str] = []

    async def answer(name: str) -> AsyncIterator[str]:
        try:
            yield "first"
            yield "never"
        finally:
            await asyncio.sleep(0)  # closing takes the loop a turn, as a connection does
            ended.append(name)

    async def leave() -> None:
        held, dropped = answer("held"), answer("dropped")
        assert [await anext(held), await anext(dropped)] == ["first", "first"]
        del dropped
        await let_go(object())  # type: ignore[arg-type]
        assert sorted(ended) == ["dropped", "held"]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(leave())


def test_requests_of_several_agents_run_at_the_same_time(kind: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with (
        serving(kind, Says(["ok"])) as server,
        ThreadPoolExecutor(4) as pool,
        closing(Provider(kind, "m", server.url)) as model,
    ):
        found = list(pool.map(lambda _: model.request("", [User("go")], [READ], NOTHING).text, range(8)))
    assert found == ["ok"] * 8


def test_a_local_server_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with serving("openai", Says(["ok"])) as server:
        for name in ("openai:llama", "ollama:llama"):
            with closing(open_model(name, server.url)) as model:
                assert model.request("", [User("go")], [READ], NOTHING).text == "ok"
    assert [asked["model"] for asked in server.asked] == ["llama", "llama"]


def test_a_missing_key_names_its_variable(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{kind.upper()}_API_KEY")
    with pytest.raises(Refused, match=f"needs a key: put it into the environment as {kind.upper()}_API_KEY"):
        open_model(f"{kind}:m")


def test_a_missing_extra_says_what_to_install(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object, **more: object) -> object:
        if name.startswith("pydantic_ai"):
            raise ModuleNotFoundError("No module named 'pydantic_ai'", name="pydantic_ai")
        return real(name, *rest, **more)  # type: ignore[arg-type]

    for name in [name for name in sys.modules if name.startswith("pydantic_ai")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)  # an environment without the extra, in one that has it
    with pytest.raises(
        Refused, match=r"needs pydantic_ai; install it: .* install 'pydantic-ai-slim\[anthropic,openai\]"
    ):
        open_model(f"{kind}:m")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "no model is named"),
        ("claude", "no model 'claude'; say --model"),
        ("anthropic:", "no model 'anthropic:'"),
        ("nobody:m", "no model 'nobody:m'"),
        ("script:/nowhere/s.json", "/nowhere/s.json: No such file"),
    ],
)
def test_a_name_that_is_no_model_is_refused_in_words(name: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        open_model(name)


# --- what a tool asks of a provider ----------------------------------------------------------------------------------


def offered(server: Server, name: str, dialect: str) -> dict[str, object]:
    """The definition of a dialect's first tool, as the provider was sent it."""
    found = load(dialect).tools[0]
    offer = Offer(found.name, found.description, found.schema, found.strict, found.examples)
    with closing(Provider(server.kind, name, server.url, pause=0.001)) as model:
        model.request("be brief", [User("go")], [offer, READ], NOTHING)
    tool, read = server.asked[0]["tools"]
    assert "strict" not in read.get("function", read)
    assert "input_examples" not in read
    return dict(tool.get("function", tool))


def test_a_strict_tool_is_strict_at_openai() -> None:
    with serving("openai", Says(["ok"])) as server:
        tool = offered(server, "gpt-5", "claude-code")
    assert tool["strict"] is True


def test_a_strict_tool_whose_keys_are_not_all_required_is_sent_as_it_is() -> None:
    with serving("openai", Says(["ok"])) as server:
        tool = offered(server, "gpt-5", "oh-my-pi")
    assert "strict" not in tool
    assert tool["parameters"] == load("oh-my-pi").tools[0].schema


def test_the_examples_of_a_tool_go_to_anthropic_with_it() -> None:
    with serving("anthropic", Says(["ok"])) as server:
        tool = offered(server, "m", "claude-code")
    assert tool["input_examples"] == [dict(one) for one in load("claude-code").tools[0].examples]


def test_a_schema_with_a_key_left_out_or_free_keys_is_not_made_strict() -> None:
    text = {"type": "string"}
    whole = {"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": False}
    assert can_be_strict(whole)
    assert can_be_strict({**whole, "properties": {"a": {"type": "array", "items": whole}}})
    assert not can_be_strict({**whole, "required": []})
    assert not can_be_strict({**whole, "properties": {"a": {"type": "array", "items": {**whole, "required": []}}}})
    assert not can_be_strict({**whole, "properties": {"a": {**whole, "additionalProperties": text}}})

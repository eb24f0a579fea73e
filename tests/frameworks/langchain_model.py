"""LangChain's own fake model, with tools, and with a memory of what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

Turn = str | AIMessage | Exception | Callable[[], str | AIMessage]


class Request:
    """One request, as the model got it."""

    def __init__(self, messages: Sequence[BaseMessage], tools: list[dict[str, Any]]) -> None:
        self.system = "".join(str(one.text) for one in messages if one.type == "system")
        self.messages = [one for one in messages if one.type != "system"]
        self.tools = tools
        self.wire = [json.dumps(one) for one in convert_to_openai_messages(self.messages)]

    @property
    def names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.tools]

    @property
    def texts(self) -> list[str]:
        return [str(one.text) for one in self.messages]


class _Script(Iterator[str | AIMessage]):
    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)

    def __next__(self) -> str | AIMessage:
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str | AIMessage):
            return turn
        return turn()


class Model(GenericFakeChatModel):
    """Plays turns: words, messages, errors, or functions that return one of these."""

    requests: list[Request] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **options)

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.requests.append(Request(messages, options.get("tools") or []))
        return super()._generate(messages, *args, **options)

    def _stream(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        made = self._generate(messages, *args, **options).generations[0].message
        assert isinstance(made, AIMessage)
        for word in str(made.text).split(" "):
            if word == "CUT":
                raise ConnectionError("the connection was lost")
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        for number, call in enumerate(made.tool_calls):
            piece = {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": number}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[{**piece}]))  # type: ignore[typeddict-item]


def model(*turns: Turn) -> Model:
    return Model(messages=_Script(turns))


def calls(*made: tuple[str, dict[str, Any]], said: str = "", **about: Any) -> AIMessage:
    """A message of the model with calls."""
    calls.number += 1  # type: ignore[attr-defined]
    number = calls.number  # type: ignore[attr-defined]
    found = [{"name": name, "args": args, "id": f"call_{number}_{at}"} for at, (name, args) in enumerate(made)]
    return AIMessage(said, tool_calls=found, **about)


calls.number = 0  # type: ignore[attr-defined]


def add(*texts: str) -> AIMessage:
    return calls(("plan", {"add": [{"text": text} for text in texts]}))


def done(*ids: int) -> AIMessage:
    return calls(("plan", {"done": list(ids)}))


class Bridge(BaseChatModel):
    """A model of the conformance kit, for LangChain."""

    asked: Any

    @property
    def _llm_type(self) -> str:
        return "bridge"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **options)

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        sent = convert_to_openai_messages(messages)
        said, made = self.asked.request(sent, options.get("tools") or [])
        used = [{"name": one.name, "args": one.args, "id": one.id} for one in made]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said, tool_calls=used))])

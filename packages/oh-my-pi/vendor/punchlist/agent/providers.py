"""Real models, through pydantic-ai's direct requests: https://ai.pydantic.dev/direct/

The only file of the agent that needs something installed. Requests run on an event loop in a thread of their own, and
their text comes back through a queue, so that whoever asked can stop at any moment.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from ..core.errors import Refused
from ..core.text import cut, inline
from .messages import Assistant, Call, Message, Result, Usage
from .models import ConversationTooLong, ModelAnswer, ModelError, Offer, ignore

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as TheirModel

_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_OLLAMA = "http://127.0.0.1:11434/v1"
_BEAT = 0.1  # seconds between looks at whether the user wants to stop
_TRIES = 5
_PAUSE = 1.0  # seconds before the second try; each further one waits twice as long
_LONGEST = 60.0
_GRACE = 5.0  # seconds to close
_SILENCE = 300.0  # seconds without a word before a connection is given up
_STRICT = ("anthropic", "openai")  # whose models can be held to a tool's schema
_EXAMPLES = "input_examples"  # Anthropic's name for a tool's examples


class Provider:
    """A model somewhere else."""

    def __init__(self, kind: str, name: str, base_url: str = "", *, pause: float = _PAUSE) -> None:
        self._kind = kind
        self._pause = pause
        self._model = _their_model(kind, name, base_url)
        self._where = f" at {base_url}" if base_url else ""
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def worker(self, agent: str) -> Provider:
        return self

    def request(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Offer],
        on_text: Callable[[str], None],
        on_wait: Callable[[str], None] = ignore,
    ) -> ModelAnswer:
        from pydantic_ai.exceptions import AgentRunError

        shown: list[str] = []

        def noting(piece: str) -> None:
            if piece:
                shown.append(piece)
            on_text(piece)

        for number in range(1, _TRIES + 1):
            try:
                return self._ask(system, messages, tools, noting)
            except AgentRunError as error:
                if shown or number == _TRIES or not _is_passing(error):
                    raise self._said(error, bool(shown), number) from None
                seconds = _until_next(error, number, self._pause)
                on_wait(f"{self._kind} {_trouble(error)}; again in {max(round(seconds), 1)} s ({number} of {_TRIES})")
                _wait(seconds, on_text)
                on_wait("")
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Release connections and of the thread. Nothing can be asked after that."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        try:
            with suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(_let_go(self._model), loop).result(_GRACE)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(_GRACE)
            loop.close()

    def _ask(
        self, system: str, messages: Sequence[Message], tools: Sequence[Offer], on_text: Callable[[str], None]
    ) -> ModelAnswer:
        pieces: SimpleQueue[str] = SimpleQueue()
        asked = asyncio.run_coroutine_threadsafe(
            _stream(self._model, _history(system, messages), tools, self._kind, pieces), self._running()
        )
        try:
            while not asked.done() or not pieces.empty():
                on_text(_next(pieces, asked))
            return _turn(asked.result())
        finally:
            asked.cancel()

    def _running(self) -> asyncio.AbstractEventLoop:
        """The event loop all requests of this model run on; it ends with the process."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=self._loop.run_forever, name="punchlist-model", daemon=True)
                self._thread.start()
            return self._loop

    def _said(self, error: Exception, cut_off: bool, tries: int) -> ModelError:
        """The error in our words, with what to do about it."""
        from pydantic_ai import exceptions as they

        name = self._kind + self._where
        told = cut(inline(str(error)), 300)
        if isinstance(error, they.ModelContextWindowExceededError):
            return ConversationTooLong(f"{name}: the conversation is longer than the model can read.")
        if isinstance(error, they.ModelAuthenticationError):
            return ModelError(f"{name} refused the key; check {_KEYS.get(self._kind, 'its key')}: {told}")
        if isinstance(error, they.ModelNotFoundError):
            return ModelError(f"{name} does not know this model: {told}")
        if isinstance(error, they.ModelRateLimitError):
            return ModelError(f"{name} asked us to slow down, {tries} times; try again later: {told}")
        if cut_off:
            return ModelError(f"{name}: the answer broke off in the middle: {told}")
        if isinstance(error, they.ModelConnectionError):
            return ModelError(f"{name} could not be reached, {tries} times: {told}")
        return ModelError(f"{name}: {told}")


def _their_model(kind: str, name: str, base_url: str) -> TheirModel:
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ModuleNotFoundError as error:
        from ..local.origin import extra_command

        raise Refused(f"a model of {kind} needs {error.name}; install it: {extra_command('agent')}") from None
    variable = _KEYS.get(kind, "")
    if variable and not os.environ.get(variable) and not (kind == "openai" and base_url):
        raise Refused(f"a model of {kind} needs a key: put it into the environment as {variable}.")
    try:
        if kind == "anthropic":
            return _anthropic(name, base_url)
        if kind in ("openai", "ollama"):
            return _openai(kind, name, base_url)
        if base_url:
            raise Refused(f"a base URL goes with anthropic:, openai: or ollama:, not with {kind}:.")
        return infer_model(f"{kind}:{name}")
    except UserError as error:
        raise Refused(f"no model {cut(inline(f'{kind}:{name}'), 60)!r}: {cut(inline(str(error)), 300)}") from None
    except ImportError as error:
        raise Refused(f"a model of {kind}: {cut(inline(str(error)), 300)}") from None


def _anthropic(name: str, base_url: str) -> TheirModel:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    class WithExamples(AnthropicModel):
        """Sends a tool's examples with its definition, which pydantic-ai has no field for."""

        def _map_tool_definition(self, f: Any, *args: Any, **options: Any) -> Any:
            tool: Any = super()._map_tool_definition(f, *args, **options)
            examples = (f.metadata or {}).get(_EXAMPLES)
            if examples:
                return {**tool, _EXAMPLES: examples}
            return tool

    key = os.environ[_KEYS["anthropic"]]
    return WithExamples(name, provider=AnthropicProvider(api_key=key, base_url=base_url or None))


def _openai(kind: str, name: str, base_url: str) -> TheirModel:
    """Chat completions, which local servers speak, too."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    key = os.environ.get(_KEYS["openai"], "none needed")
    if kind == "ollama":
        return OpenAIChatModel(name, provider=OllamaProvider(base_url=base_url or _OLLAMA, api_key="none needed"))
    return OpenAIChatModel(name, provider=OpenAIProvider(api_key=key, base_url=base_url or None))


def can_be_strict(schema: Any) -> bool:
    """Whether a provider's strict mode leaves a schema's meaning alone: there every key of an object is required, and
    no other is allowed."""
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties", {})
    if schema.get("type") == "object" and set(schema.get("required", ())) != set(properties):
        return False
    if isinstance(schema.get("additionalProperties"), Mapping) or schema.get("additionalProperties") is True:
        return False
    return all(map(can_be_strict, [*properties.values(), schema.get("items")]))


# --- one request -----------------------------------------------------------------------------------------------------


async def _stream(
    model: TheirModel, messages: list[ModelMessage], tools: Sequence[Offer], kind: str, pieces: SimpleQueue[str]
) -> ModelResponse:
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    offered = [
        ToolDefinition(
            name=tool.name,
            description=tool.about,
            parameters_json_schema=dict(tool.schema),
            strict=tool.strict and kind in _STRICT and can_be_strict(tool.schema),
            metadata={_EXAMPLES: [dict(example) for example in tool.examples]},
        )
        for tool in tools
    ]
    async with model_request_stream(
        model,
        messages,
        model_settings=_settings(kind),
        model_request_parameters=ModelRequestParameters(function_tools=offered),
    ) as stream:
        async for event in stream:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                pieces.put(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                pieces.put(event.delta.content_delta)
        return stream.get()


async def _let_go(model: TheirModel) -> None:
    """End what still runs, then its connections, then the generators it left half read; none may outlive the loop."""
    running = _others()
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    client: Any = getattr(model, "client", None)
    if client is not None:
        await client.close()
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.sleep(0)  # what was dropped meanwhile gets its closing task here
    while closing := _others():
        await asyncio.gather(*closing, return_exceptions=True)


def _others() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks() - {asyncio.current_task()}


def _settings(kind: str) -> Any:
    """Tries are ours to count. What stays the same from turn to turn is paid for once."""
    own: dict[str, Any] = {"max_retries": 0, "timeout": _SILENCE}
    if kind == "anthropic":
        own["anthropic_cache_instructions"] = own["anthropic_cache_tool_definitions"] = True
        own["anthropic_cache_messages"] = True
    return own


def _next(pieces: SimpleQueue[str], asked: Future[Any]) -> str:
    try:
        return pieces.get(timeout=0 if asked.done() else _BEAT)
    except Empty:
        return ""


def _wait(seconds: float, on_text: Callable[[str], None]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        on_text("")
        time.sleep(min(left, _BEAT))


def _is_passing(error: Exception) -> bool:
    """Whether the same request may well be answered in a moment."""
    from pydantic_ai import exceptions as they

    passing = (
        they.ModelRateLimitError,
        they.ModelUnavailableError,
        they.ModelServerError,
        they.ModelConnectionError,
    )
    return isinstance(error, passing)


def _trouble(error: Exception) -> str:
    from pydantic_ai import exceptions as they

    if isinstance(error, they.ModelConnectionError):
        return "cannot be reached"
    return "is busy"


def _until_next(error: Exception, number: int, pause: float) -> float:
    """What the provider asked for, else twice as long each time; uneven, so that many do not come back at once."""
    asked = getattr(error, "retry_after", None)
    if asked is not None:
        return float(min(max(asked, 0), _LONGEST))
    longer: float = min(pause * 2 ** (number - 1), _LONGEST)
    return longer * random.uniform(0.5, 1.0)


# --- their messages and ours -----------------------------------------------------------------------------------------


def _history(system: str, messages: Sequence[Message]) -> list[ModelMessage]:
    """The conversation in their form: answers, and what was between two of them as one request."""
    from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart

    made: list[Any] = []
    parts: list[Any] = []
    for message in messages:
        if isinstance(message, Assistant):
            made += [ModelRequest(parts=_results_first(parts), instructions=system)] if parts else []
            made += _response(message)
            parts = []
        elif isinstance(message, Result):
            outcome: Any = "failed" if message.is_error else "success"
            parts.append(ToolReturnPart(message.tool, message.text or "(nothing)", message.id, outcome=outcome))
        else:
            parts.append(UserPromptPart(message.text))
    made.append(ModelRequest(parts=_results_first(parts), instructions=system))
    return made


def _results_first(parts: list[Any]) -> list[Any]:
    return sorted(parts, key=lambda part: part.part_kind != "tool-return")


def _response(message: Assistant) -> list[Any]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart

    if message.kept:
        return list(ModelMessagesTypeAdapter.validate_python([message.kept]))
    said: list[Any] = [TextPart(message.text)] if message.text else []
    said += [ToolCallPart(call.tool, _their_args(call.args), call.id) for call in message.calls]
    if said:
        return [ModelResponse(parts=said)]
    return []


def _turn(response: ModelResponse) -> ModelAnswer:
    from pydantic_ai.messages import ModelMessagesTypeAdapter, TextPart, ThinkingPart, ToolCallPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(
        Call(part.tool_call_id, part.tool_name, _our_args(part.args))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    signed = any(isinstance(part, ThinkingPart) and part.signature for part in response.parts)
    if signed:
        kept = ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
    else:
        kept = {}
    return ModelAnswer(text, calls, Usage(response.usage.input_tokens, response.usage.output_tokens), kept)


def _our_args(args: Any) -> Any:
    """The arguments as JSON; what cannot be read stays a text, and the tool says what is wrong with it."""
    if not isinstance(args, str):
        return args or {}
    try:
        if args.strip():
            return json.loads(args)
        return {}
    except (ValueError, RecursionError):
        return args


def _their_args(args: Any) -> dict[str, Any]:
    """Arguments to send back. Interfaces want an object, whatever the model sent."""
    if isinstance(args, dict):
        return args
    return {"unreadable": cut(str(args), 1000)}

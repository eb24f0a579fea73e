"""The interfaces that agents speak with their models: what a request holds, and how an answer is written.

A new one is a `Wire` and a line in `WIRES`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Body = dict[str, Any]
Event = tuple[str, Any]  # of a stream: its name, if it has one, and its data


class Offer(NamedTuple):
    """A tool as a request offers it."""

    name: str
    space: str  # the namespace it is in, if it is in one
    spec: Body


class Piece(NamedTuple):
    """Something that was said in a conversation, or a tool's answer."""

    role: str  # system, user, assistant, tool
    text: str
    tool: str = ""  # which one answers


class Said(NamedTuple):
    """An answer: a text, calls by the names of the offers, and how many tokens the request had."""

    text: str
    calls: list[tuple[Offer, Any]]
    tokens: int


class Wire(NamedTuple):
    """One interface."""

    ending: str  # of its paths
    offers: Callable[[Body], list[Offer]]
    pieces: Callable[[Body], list[Piece]]
    whole: Callable[[Said, Body], Body]
    stream: Callable[[Body], Iterator[Event]]  # from the whole answer


_TEXTS = ("text", "content", "output", "error", "encrypted_content")  # keys that text stands under


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:20]}"


def _texts(content: Any) -> str:
    """The text in a content, whatever its form."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _texts(next((content[key] for key in _TEXTS if content.get(key)), ""))
    return "\n".join(filter(None, map(_texts, content))) if isinstance(content, list) else ""


# --- Anthropic's messages --------------------------------------------------------------------------------------------


def _anthropic_offers(body: Body) -> list[Offer]:
    return [Offer(spec["name"], "", spec) for spec in body.get("tools") or () if not spec.get("defer_loading")]


def _anthropic_pieces(body: Body) -> list[Piece]:
    found = [Piece("system", _texts(body.get("system")))]
    called: dict[str, str] = {}
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if block["type"] == "tool_use":
                called[block["id"]] = block["name"]
                found.append(Piece("assistant", json.dumps(block["input"], ensure_ascii=False)))
            elif block["type"] == "tool_result":
                found.append(Piece("tool", _texts(block), called.get(block["tool_use_id"], "")))
            else:
                found.append(Piece(message["role"], _texts(block)))
    return found


def _anthropic_whole(said: Said, body: Body) -> Body:
    content: list[Body] = [{"type": "text", "text": said.text}] if said.text else []
    for offer, args in said.calls:
        content.append({"type": "tool_use", "id": _id("toolu"), "name": offer.name, "input": args})
    return {
        "id": _id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": content,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": said.tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 20,
        },
    }


def _anthropic_stream(whole: Body) -> Iterator[Event]:
    def event(kind: str, **more: Any) -> Event:
        return kind, {"type": kind, **more}

    yield event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield event("content_block_start", index=index, content_block=empty)
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=end, usage=whole["usage"])
    yield event("message_stop")


# --- OpenAI's responses ----------------------------------------------------------------------------------------------

_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_CALLS = ("function_call", "custom_tool_call")


def _responses_offers(body: Body) -> list[Offer]:
    specs = list(body.get("tools") or ())
    for item in body["input"]:  # Codex may hand tools over in the conversation
        specs += item.get("tools") or () if item.get("type") == "additional_tools" else ()
    found = []
    for spec in specs:
        inner = spec.get("tools") if spec.get("type") == "namespace" else None
        space = spec["name"] if inner is not None else ""
        found += [Offer(one.get("name") or one["type"], space, one) for one in (inner or [spec])]
    return found


def _responses_pieces(body: Body) -> list[Piece]:
    found = [Piece("system", body.get("instructions") or "")]
    called: dict[str, str] = {}
    for item in body["input"]:
        if item.get("type") in _OUTPUTS:
            found.append(Piece("tool", _texts(item["output"]), called.get(item["call_id"], "")))
        elif item.get("type") in _CALLS:
            called[item["call_id"]] = f"{item.get('namespace', '')}__{item['name']}"
            found.append(Piece("assistant", item.get("arguments") or item.get("input") or ""))
        elif "content" in item:  # a message, or what one agent tells another
            role = {"developer": "system"}.get(item.get("role", ""), item.get("role", "user"))
            found.append(Piece(role, _texts(item["content"])))
    return found


def _responses_whole(said: Said, body: Body) -> Body:
    output: list[Body] = []
    if said.text:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        message = {"type": "message", "role": "assistant", "content": content}
        output.append({**message, "id": _id("msg"), "status": "completed"})
    for offer, args in said.calls:
        is_custom = offer.spec.get("type") == "custom"
        given = {"type": _CALLS[1], "input": args} if is_custom else {"type": _CALLS[0], "arguments": json.dumps(args)}
        space = {"namespace": offer.space} if offer.space else {}
        call = {"id": _id("fc"), "call_id": _id("call"), "name": offer.name, "status": "completed"}
        output.append({**call, **given, **space})
    usage = {
        "input_tokens": said.tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": said.tokens + 20,
    }
    about = {"id": _id("resp"), "object": "response", "created_at": 0, "model": body.get("model")}
    return {**about, "status": "completed", "output": output, "usage": usage, "error": None, "incomplete_details": None}


def _responses_stream(whole: Body) -> Iterator[Event]:
    def event(kind: str, **more: Any) -> Event:
        return kind, {"type": kind, **more}

    yield event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(whole["output"]):
        yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


# --- OpenAI's chat completions ---------------------------------------------------------------------------------------


def _chat_offers(body: Body) -> list[Offer]:
    return [Offer(spec["function"]["name"], "", spec["function"]) for spec in body.get("tools") or ()]


def _chat_pieces(body: Body) -> list[Piece]:
    found = []
    called: dict[str, str] = {}
    for message in body["messages"]:
        answers = called.get(message.get("tool_call_id", ""), "")
        found.append(Piece(message["role"], _texts(message.get("content")), answers))
        for call in message.get("tool_calls") or ():
            called[call["id"]] = call["function"]["name"]
            found.append(Piece("assistant", call["function"]["arguments"]))
    return found


def _chat_whole(said: Said, body: Body) -> Body:
    message: Body = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = [
            {"id": _id("call"), "type": "function", "function": {"name": offer.name, "arguments": json.dumps(args)}}
            for offer, args in said.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if said.calls else "stop"}
    usage = {"prompt_tokens": said.tokens, "completion_tokens": 20, "total_tokens": said.tokens + 20}
    about = {"id": _id("chatcmpl"), "object": "chat.completion", "created": 0, "model": body.get("model")}
    return {**about, "choices": [choice], "usage": usage}


def _chat_stream(whole: Body) -> Iterator[Event]:
    choice = whole["choices"][0]
    about = {**whole, "object": "chat.completion.chunk", "usage": None}

    def chunk(delta: Body, reason: str | None = None) -> Event:
        return "", {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": choice["message"]["content"] or ""})
    for index, call in enumerate(choice["message"].get("tool_calls") or ()):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, choice["finish_reason"])
    yield "", {**about, "choices": [], "usage": whole["usage"]}
    yield "", "[DONE]"


# --- Gemini ----------------------------------------------------------------------------------------------------------


def _gemini_offers(body: Body) -> list[Offer]:
    groups = [group.get("functionDeclarations") or () for group in body.get("tools") or ()]
    return [Offer(spec["name"], "", spec) for group in groups for spec in group]


def _gemini_pieces(body: Body) -> list[Piece]:
    system = body.get("systemInstruction") or {}
    found = [Piece("system", _texts(system.get("parts") or []))]
    answered: list[str] = []  # a resumed conversation brings every answer twice
    for content in body["contents"]:
        role = "assistant" if content.get("role") == "model" else "user"
        for part in content["parts"]:
            if "functionResponse" in part:
                answer = part["functionResponse"]
                said = Piece("tool", _texts(answer.get("response")), answer["name"])
                found += [] if answer.get("id") in answered else [said]
                answered += filter(None, [answer.get("id")])
            elif "functionCall" in part:
                found.append(Piece("assistant", json.dumps(part["functionCall"].get("args"), ensure_ascii=False)))
            else:
                found.append(Piece(role, part.get("text") or ""))
    return found


def _gemini_whole(said: Said, body: Body) -> Body:
    parts: list[Body] = [{"text": said.text}] if said.text else []
    parts += [{"functionCall": {"name": offer.name, "args": args}} for offer, args in said.calls]
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": said.tokens,
            "candidatesTokenCount": 20,
            "totalTokenCount": said.tokens + 20,
        },
        "modelVersion": "scripted",
        "responseId": _id("resp"),
    }


WIRES = (
    Wire("/messages", _anthropic_offers, _anthropic_pieces, _anthropic_whole, _anthropic_stream),
    Wire("/responses", _responses_offers, _responses_pieces, _responses_whole, _responses_stream),
    Wire("/chat/completions", _chat_offers, _chat_pieces, _chat_whole, _chat_stream),
    Wire("enerateContent", _gemini_offers, _gemini_pieces, _gemini_whole, lambda whole: iter([("", whole)])),
)
COUNTERS = {"/count_tokens": "input_tokens", ":countTokens": "totalTokens"}


def wire_of(path: str) -> Wire | None:
    return next((wire for wire in WIRES if path.endswith(wire.ending)), None)

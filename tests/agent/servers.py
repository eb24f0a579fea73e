"""Servers on loopback that speak the wire formats of real providers, and say what a test wants them to say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
Wire = list[tuple[str, Any]]  # events of a stream: name, data


class Says(NamedTuple):
    """One answer of a server."""

    pieces: Sequence[str] = ()
    calls: Sequence[tuple[str, str]] = ()  # tool, arguments as they are sent
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    error: str = ""
    cut_after: int = -1  # events, then the connection breaks
    hold: Event | None = None  # the stream waits for it after its first piece


class Server:
    """What is answered, and what was asked."""

    def __init__(self, kind: str, answers: Sequence[Says]) -> None:
        self.kind = kind
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def next(self) -> Says:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(kind: str, *answers: Says) -> Iterator[Server]:
    """A server of a kind: anthropic or openai."""
    server = Server(kind, answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            server.asked.append(json.loads(self.rfile.read(length)))
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            _answer(self, server)

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}" + ("/v1" if kind == "openai" else "")
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def _answer(handler: BaseHTTPRequestHandler, server: Server) -> None:
    says = server.next()
    if says.status != 200:
        kind = _ERRORS.get(says.status, "api_error")
        body = json.dumps({"type": "error", "error": {"type": kind, "message": says.error, "code": None}}).encode()
        _head(handler, says, "application/json", length=len(body))
        handler.wfile.write(body)
        return
    _head(handler, says, "text/event-stream")
    made = {"anthropic": anthropic, "openai": openai}[server.kind](says)
    for number, (name, data) in enumerate(made):
        if number == says.cut_after:
            handler.close_connection = True
            handler.connection.close()
            return
        _chunk(handler, _event(server.kind, name, data))
        if says.hold and '"text' in json.dumps(data) and number > 1:
            says.hold.wait(30)
    _chunk(handler, b"")


def _head(handler: BaseHTTPRequestHandler, says: Says, kind: str, length: int = -1) -> None:
    handler.send_response(says.status)
    handler.send_header("Content-Type", kind)
    if length >= 0:
        handler.send_header("Content-Length", str(length))
    else:
        handler.send_header("Transfer-Encoding", "chunked")
    for name, value in says.headers:
        handler.send_header(name, value)
    handler.end_headers()


def _event(kind: str, name: str, data: Any) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\ndata: {text}\n\n" if kind == "anthropic" else f"data: {text}\n\n").encode()


def _chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    try:
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()
    except OSError:
        handler.close_connection = True


def anthropic(says: Says) -> Wire:
    """https://docs.anthropic.com/en/docs/build-with-claude/streaming"""
    start: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 12, "output_tokens": 1},
    }  # fmt: skip
    made: Wire = [("message_start", {"type": "message_start", "message": start})]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if says.pieces:
        deltas = [{"type": "text_delta", "text": piece} for piece in says.pieces]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for number, (tool, args) in enumerate(says.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": {}}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": part} for part in _halves(args)]))
    for index, (block, deltas) in enumerate(blocks):
        made.append(("content_block_start", {"type": "content_block_start", "index": index, "content_block": block}))
        for delta in deltas:
            made.append(("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}))
        made.append(("content_block_stop", {"type": "content_block_stop", "index": index}))
    reason = "tool_use" if says.calls else "end_turn"
    end = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}}
    made.append(("message_delta", {**end, "usage": {"output_tokens": 34}}))
    made.append(("message_stop", {"type": "message_stop"}))
    return made


def openai(says: Says) -> Wire:
    """https://platform.openai.com/docs/api-reference/chat-streaming"""
    made: Wire = [("", _completion({"role": "assistant", "content": ""}))]
    made += [("", _completion({"content": piece})) for piece in says.pieces]
    for number, (tool, args) in enumerate(says.calls):
        first, second = _halves(args)
        call = {"index": number, "id": f"call_{number}", "type": "function"}
        made.append(("", _completion({"tool_calls": [{**call, "function": {"name": tool, "arguments": first}}]})))
        made.append(("", _completion({"tool_calls": [{"index": number, "function": {"arguments": second}}]})))
    made.append(("", _completion({}, "tool_calls" if says.calls else "stop")))
    usage = {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46}
    made.append(("", {**_completion({}), "choices": [], "usage": usage}))
    made.append(("", "[DONE]"))
    return made


def _completion(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]

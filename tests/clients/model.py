"""A scripted model on loopback, for whichever interface it is asked in. It is the agent's proxy as well, and refuses
and writes down whatever would have left the machine."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.clients.script import OWN, PLAN, Call, Step
from tests.clients.wires import COUNTERS, Body, Offer, Piece, Said, Wire, wire_of

SERVER = "punchlist"
SUMMARY = "Summary: the work goes on."
_SNAPSHOT = ("<state_snapshot>", "</state_snapshot>")  # what some agents want around it
_SHELLS = {  # what agents call their shell, and what they call its command
    "Bash": "command",
    "bash": "command",
    "shell": "command",
    "shell_command": "command",
    "exec_command": "cmd",
    "run_shell_command": "command",
    "developer__shell": "command",
}


class Request(NamedTuple):
    """A request of an agent."""

    offers: list[Offer]
    pieces: list[Piece]
    body: Body

    @property
    def heard(self) -> str:
        """All that the model reads of the conversation, beside what it has said itself."""
        return "\n".join(piece.text for piece in self.pieces if piece.role != "assistant")

    @property
    def new(self) -> list[Piece]:
        """What it reads for the first time: everything behind its own last words."""
        last = max((index for index, piece in enumerate(self.pieces) if piece.role == "assistant"), default=-1)
        return self.pieces[last + 1 :]

    @property
    def latest(self) -> str:
        return "\n".join(piece.text for piece in self.new)

    @property
    def answers(self) -> list[str]:
        """What our own tools have answered so far."""
        return [piece.text for piece in self.pieces if SERVER in piece.tool]

    @property
    def opening(self) -> str:
        """What was said to it before it first spoke."""
        roles = [piece.role for piece in self.pieces]
        end = roles.index("assistant") if "assistant" in roles else len(roles)
        return "\n".join(piece.text for piece in self.pieces[:end] if piece.role != "system")

    @property
    def names(self) -> list[str]:
        """The tools it has, with their namespaces."""
        return [f"{offer.space}{'__' if offer.space else ''}{offer.name}" for offer in self.offers]


class Model:
    """Plays one script at a time. Requests that begin with the words of another line get that line's steps: the
    prompt of a sub-agent, or of a second agent."""

    def __init__(self, aside: str = "") -> None:
        self.requests: list[Request] = []  # those of the script
        self.asides: list[Request] = []  # for a summary or a title
        self.strays: list[str] = []  # what would have left the machine
        self.faults: list[str] = []
        self._aside = aside  # words of a request that is none of the script's
        self._lines: dict[str, list[Step]] = {}
        self._lock = threading.Lock()
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def play(self, lines: dict[str, Sequence[Step]]) -> None:
        """Begin a script: steps by the words that a conversation begins with; `""` is the line of all others."""
        self.requests, self.asides = [], []
        self._lines = {words: list(steps) for words, steps in lines.items()}

    @property
    def left(self) -> int:
        """Steps that nobody asked for."""
        return sum(map(len, self._lines.values()))

    @property
    def unplayed(self) -> int:
        """Steps of the main line that nobody asked for."""
        return len(self._lines.get("", []))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, wire: Wire, body: Body) -> Said:
        """What to say to a request."""
        request = Request(wire.offers(body), wire.pieces(body), body)
        step = self._next(request)
        if step.first:
            step.first()
        return Said(step.text, [_named(call, request) for call in step.calls], step.tokens)

    def _next(self, request: Request) -> Step:
        with self._lock:
            if not request.offers or (self._aside and self._aside in request.latest):
                self.asides.append(request)
                return Step(_summary(request))
            self.requests.append(request)
            words = next((words for words in self._lines if words and words in request.opening), "")
            steps = self._lines.get(words)
            if not steps:
                raise LookupError(f"a request too many, in {words!r}: {request.latest[-300:]!r}")
            return steps.pop(0)


def _summary(request: Request) -> str:
    if _SNAPSHOT[0] in request.latest:
        return SUMMARY.join(_SNAPSHOT)
    return SUMMARY


# --- names -----------------------------------------------------------------------------------------------------------


def _named(call: Call, request: Request) -> tuple[Offer, Any]:
    """A call by the name that this request has for its tool."""
    if call.kind == PLAN:
        found = our_tool(request.offers, call.name)
        args: Any = call.args
    elif call.kind == OWN:
        found = next((offer for offer in request.offers if offer.name == call.name), None)
        args = call.args
    else:
        found = next((offer for offer in request.offers if offer.name in _SHELLS), None)
        args = _command(found, call.args["command"]) if found else None
    code = next(
        (offer for offer in request.offers if offer.spec.get("type") == "custom" and offer.name == "exec"), None
    )
    if found is None and code is not None:
        return code, _as_code(call)
    if found is None:
        raise LookupError(f"no tool for {call}; there are {', '.join(request.names)}")
    return found, args


def our_tool(offers: list[Offer], name: str = "plan") -> Offer | None:
    """The tool of ours, under whatever name the agent gives it."""
    wanted = [_letters(before + SERVER + name) for before in ("", f"plugin{SERVER}")]
    return next((one for one in offers if _letters(one.space + one.name).removeprefix("mcp") in wanted), None)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _command(offer: Offer, command: str) -> Body:
    return {_SHELLS[offer.name]: command, **({} if offer.name == "exec_command" else {"description": "run it"})}


def _as_code(call: Call) -> str:
    """A call as Codex's newest models make it: a line of JavaScript."""
    shell = ("exec_command", {"cmd": call.args.get("command")})
    name, args = {PLAN: (f"mcp__{SERVER}__{call.name}", call.args), OWN: (call.name, call.args)}.get(call.kind, shell)
    return f"text(await tools.{name}({json.dumps(args)}));"


# --- the server ------------------------------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: Model) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Agents hang up when they have heard enough."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_CONNECT(self) -> None:
        self._refuse()

    def do_GET(self) -> None:
        if self.path.startswith("http"):
            self._refuse()
        else:
            self._send(200, {"object": "list", "data": [], "models": []})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        if self.path.startswith("http"):
            self._refuse()
            return
        raw, path = self._read(), self.path.partition("?")[0]
        counter = next((key for ending, key in COUNTERS.items() if path.endswith(ending)), "")
        wire = wire_of(path)
        if counter or wire is None:
            self._send(200 if counter else 404, {counter or "error": len(raw) // 4})
            return
        self._answer(wire, json.loads(raw))

    def _answer(self, wire: Wire, body: Body) -> None:
        try:
            whole = wire.whole(self.server.model.answer(wire, body), body)
        except Exception as error:
            self.server.model.faults.append(f"{type(error).__name__}: {error}")
            self._send(400, {"error": {"type": "invalid_request_error", "message": str(error)}})
            return
        if body.get("stream") or "stream" in self.path:
            self._stream(wire.stream(whole))
        else:
            self._send(200, whole)

    def _refuse(self) -> None:
        self.server.model.strays.append(f"{self.command} {self.path}")
        self.close_connection = True
        self._send(403, {"error": "nothing leaves this machine"})

    def _read(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, code: int, body: Body) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[tuple[str, Any]]) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            words = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {words}\n\n".encode())

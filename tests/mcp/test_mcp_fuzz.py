"""Whatever is sent to the MCP server, each request is answered once, and the server lives."""

from __future__ import annotations

import json
import os
import random
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from punchlist.local.settings import load
from punchlist.mcp import protocol
from punchlist.mcp.callers import Callers, Given
from punchlist.mcp.server import Server
from punchlist.mcp.transport import LineReader, LongLine
from tests.core.plans import often
from tests.mcp.raw import ENVELOPE, ON_LINUX, Raw, kilobytes

METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "subscriptions/listen",
    "notifications/initialized",
    "notifications/cancelled",
    "resources/list",
    "logging/setLevel",
    "",
]
KEYS = [*ENVELOPE, "_meta", "name", "arguments", "add", "done", "show", "plan", "cursor", "requestId", "notifications"]
KEYS += ["claudecode/toolUseId", "x-codex-turn-metadata", "agent-session-id", "agent-working-dir", "protocolVersion"]
KEYS += ["clientInfo", "toolsListChanged", "session_id", "thread_id", "2026-07-28", "callId"]

ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    ATOMS | st.sampled_from(KEYS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner),
    max_leaves=12,
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("plan") | VALUES,
        "arguments": VALUES,
        "_meta": st.just(dict(ENVELOPE)) | VALUES,
        "notifications": st.just({"toolsListChanged": True}) | VALUES,
        "requestId": VALUES,
        "protocolVersion": VALUES,
        "clientInfo": VALUES,
        "cursor": VALUES,
    },
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers(0, 9) | st.text(max_size=2) | VALUES,
        "method": st.sampled_from(METHODS) | VALUES,
        "params": PARAMS | VALUES,
        "result": VALUES,
        "error": VALUES,
    },
)
fuzzed = settings(often(150), suppress_health_check=[HealthCheck.function_scoped_fixture])


@cache
def server(home: str) -> Server:
    """One server for many messages, as a client would have it."""
    return Server(load({"store": "memory:"}, environ={"HOME": home}), Callers(Given(), {}))


def wants_an_answer(message: Any) -> bool:
    if not isinstance(message, dict):
        return True
    answers_something = message.get("method") is None and ("result" in message or "error" in message)
    return not answers_something and ("id" in message or "method" not in message)


def check_reply(reply: Any, message: Any) -> None:
    """That a reply is one to this message, and could be sent."""
    json.loads(protocol.to_line(reply))
    assert reply["jsonrpc"] == "2.0"
    if reply.get("method") == "notifications/subscriptions/acknowledged":
        assert reply["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == message["id"]
        return
    assert ("result" in reply) != ("error" in reply)
    assert reply["id"] == (protocol.id_of(message))
    if "error" in reply:
        assert isinstance(reply["error"]["code"], int)
        assert "an error of punchlist itself" not in reply["error"]["message"]


@fuzzed
@given(MESSAGES | VALUES.filter(lambda value: not isinstance(value, list)))
def test_every_message_is_answered_once_or_not_at_all(tmp_path_factory: Any, message: Any) -> None:
    said = server(str(tmp_path_factory.getbasetemp())).answer(json.dumps(message).encode())
    replies = [one for one in said if not isinstance(one, list) and one.get("method", "").count("list_changed") == 0]
    assert len(replies) == wants_an_answer(message)
    for reply in replies:
        check_reply(reply, message)


@fuzzed
@given(st.lists(MESSAGES | ATOMS, min_size=1, max_size=5))
def test_a_batch_of_anything_is_answered_by_as_many_as_want_it(tmp_path_factory: Any, batch: list[Any]) -> None:
    said = server(str(tmp_path_factory.getbasetemp())).answer(json.dumps(batch).encode())
    replies = [reply for one in said if isinstance(one, list) for reply in one]
    wanting = [message for message in batch if wants_an_answer(message)]
    assert len(replies) == len(wanting)
    for reply, message in zip(replies, wanting, strict=True):
        check_reply(reply, message)


@fuzzed
@given(st.binary(max_size=200))
def test_any_bytes_are_a_line(tmp_path_factory: Any, line: bytes) -> None:
    for reply in server(str(tmp_path_factory.getbasetemp())).answer(line):
        assert protocol.to_line(reply).count(b"\n") == 1


# --- lines -----------------------------------------------------------------------------------------------------------


@fuzzed
@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 30), min_size=1, max_size=60))
def test_lines_are_the_same_however_they_arrive(lines: list[bytes], sizes: list[int]) -> None:
    data = b"\n".join(lines)
    reading, writing = os.pipe()
    source = LineReader(reading, longest=20)
    found: list[bytes | int] = []

    def take(wait: float | None) -> bool:
        arrived = source.more(wait)
        found.extend(line.size if isinstance(line, LongLine) else line for line in arrived or ())
        return arrived is not None

    for size in [*sizes, len(data)]:
        os.write(writing, data[:size])
        data = data[size:]
        take(0)
    os.close(writing)
    while take(None):
        pass
    os.close(reading)
    wanted = [line for whole in lines for line in whole.split(b"\n")]
    assert found == [line if len(line) <= 20 else len(line) for line in wanted if line.strip() or len(line) > 20]


@often(100)
@given(st.integers(0, 10**9), st.binary(max_size=2000).filter(lambda data: b"\n" not in data), st.booleans())
def test_the_edges_of_a_line_that_is_too_long_are_kept(id: int, filling: bytes, first: bool) -> None:
    text = json.dumps("x" * 3000)
    start = f'{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"a":{text}}}}}'
    end = f'{{"method":"m","params":{{"a":{text}}},"jsonrpc":"2.0","id":{id}}}'
    line = (start if first else end).encode()
    assert protocol.id_within(LongLine(len(line), 10, line[:1024], line[-1024:])) == id
    protocol.id_within(LongLine(2000, 10, filling[:1024], filling[-1024:]))


# --- a process -------------------------------------------------------------------------------------------------------


def _mutated(chance: random.Random, line: bytes) -> bytes:
    """A line with some of its bytes changed, cut, doubled or gone."""
    data = bytearray(line)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(data) or 1)
        kind = chance.randrange(4)
        if kind == 0:
            data[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            del data[at : at + chance.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = data[at : at + chance.randrange(1, 20)]
        else:
            data[at:at] = chance.choice([b"{", b"}", b"[", b'"', b"\\u0000", b"\x00", b"null", b"1e999", b"\xff", b","])
    return bytes(data).replace(b"\n", b" ")


def test_thousands_of_broken_messages_leave_the_server_alive_and_small(client: Raw) -> None:
    chance = random.Random(20260728)
    seeds = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": ENVELOPE}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "plan", "arguments": {"done": [1]}}},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "plan", "arguments": {"add": ["x"]}}},
        {
            "jsonrpc": "2.0",
            "id": 5,
            "method": "subscriptions/listen",
            "params": {"notifications": {}, "_meta": ENVELOPE},
        },
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}},
    ]
    client.greet()
    for _ in range(4000):
        client.write(_mutated(chance, json.dumps(chance.choice(seeds)).encode()) + b"\n")
        mark = client.request("ping")
        while client.read().get("id") != mark:  # everything said before is a message, too
            pass
    assert client.process.poll() is None
    if ON_LINUX:
        assert kilobytes(client) < 60 * 1024
    assert client.close() == 0

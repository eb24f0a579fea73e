"""Our own command run as agents run it: a hook, and the server asked for its tools."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from ..core.text import cut, inline

_PATIENCE = 10.0  # seconds
_RUNS = 3
# An event that opens the store and leaves nothing there: a session without a plan has used a tool.
_USED = b'{"hook_event_name": "PostToolUse", "session_id": "punchlist-doctor", "tool_name": "Read", "tool_input": {}}'
_NOTHING = b'{"hook_event_name": "Nothing", "session_id": "doctor"}'  # an event that nobody answers
_ASKED = 2  # the number of the question that is timed
_QUESTIONS = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "punchlist-doctor", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": _ASKED, "method": "tools/list", "params": {}},
)


class ServerReply(NamedTuple):
    """What the server said when it was asked for its tools."""

    tools: tuple[str, ...] = ()
    took: float = 0.0  # milliseconds from its start
    problem: str = ""


def hook_time(script: str, url: str) -> tuple[float, str]:
    """How many milliseconds a hook takes that looks for a plan, the best of a few; and what went wrong. A store that
    is not there yet is not made for that."""
    scheme, _, path = url.partition(":")
    is_there = scheme not in ("sqlite", "json") or os.path.exists(os.path.expanduser(path))
    with TemporaryDirectory(prefix="punchlist-doctor-") as state:  # what a hook notes of itself is not the user's
        return _best(script, url, state, _USED if is_there else _NOTHING)


def _best(script: str, url: str, state: str, event: bytes) -> tuple[float, str]:
    times = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [script, "hook", "claude-code"],
                input=event,
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
                env={**os.environ, "PUNCHLIST_STORE": url, "XDG_STATE_HOME": state},
            )
        except OSError as error:
            return 0.0, inline(f"{script}: {error.strerror}")
        except subprocess.TimeoutExpired as error:
            return 0.0, inline(str(error))
        times.append((time.perf_counter() - start) * 1000)
        if done.returncode or done.stderr:
            return 0.0, f"exit code {done.returncode} {_last(done.stderr)}".rstrip()
    return min(times), ""


def server(script: str) -> ServerReply:
    """Start the server and ask it for its tools."""
    start = time.perf_counter()
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen([script, "mcp"], stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        return ServerReply(problem=inline(f"{script}: {error.strerror}"))
    clock = threading.Timer(_PATIENCE, process.kill)
    clock.start()
    try:
        with process:
            answer = _ask(process.stdin, process.stdout, start)
            _close(process.stdin)
            words = _last(process.stderr.read()) if process.stderr else ""
    finally:
        clock.cancel()
    return answer or ServerReply(problem=words or f"it ended with exit code {process.returncode}")


def _ask(given: IO[bytes] | None, told: IO[bytes] | None, start: float) -> ServerReply | None:
    """Its answer, if it gives one."""
    if given is None or told is None:
        return None
    try:
        given.write(b"".join(json.dumps(question).encode() + b"\n" for question in _QUESTIONS))
        given.flush()
    except OSError:
        return None
    for line in told:
        message = _message(line)
        if message.get("id") == _ASKED:
            return _read_reply(message, (time.perf_counter() - start) * 1000)
    return None


def _message(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if isinstance(said, dict):
        return said
    return {}


def _read_reply(message: dict[str, Any], took: float) -> ServerReply:
    result = message.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(tools, list):
        return ServerReply(problem=cut(inline(json.dumps(message.get("error"))), 200))
    return ServerReply(tuple(inline(str(tool.get("name"))) for tool in tools if isinstance(tool, dict)), took)


def _close(given: IO[bytes] | None) -> None:
    try:
        if given:
            given.close()
    except OSError:
        pass


def _last(words: bytes) -> str:
    lines = words.decode("utf-8", "replace").strip().splitlines()
    if lines:
        return cut(inline(lines[-1]), 200)
    return ""

"""A client that hides nothing: lines to a server process, and lines from it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.commands import SCRIPT

ON_LINUX = sys.platform == "linux"
PATIENCE = 30.0  # seconds until a test gives up waiting
VERSION = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
Message = dict[str, Any]


class Raw:
    """A server process, and what it says. Every line it prints must be a message."""

    def __init__(self, *words: str, command: Sequence[str] = (), env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*(command or (SCRIPT, "mcp")), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        self._buffer = b""
        self._ids = 0

    # --- sending -----------------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, **params: Any) -> int:
        """Send a request; its id."""
        self._ids += 1
        self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, **({"params": params} if params else {})})
        return self._ids

    # --- receiving ---------------------------------------------------------------------------------------------------

    def read(self) -> Any:
        """The next message."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self._buffer:
            chunk = self._chunk(end)
            assert chunk, f"the server is gone: {self.left()}"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def is_silent(self) -> bool:
        """Whether nothing waits to be read: the answer to a ping comes first."""
        id = self.request("ping")
        return bool(self.read()["id"] == id)

    def ask(self, method: str, **params: Any) -> Message:
        """The whole answer to a request."""
        id = self.request(method, **params)
        answer: Message = self.read()
        assert answer["id"] == id
        return answer

    def result(self, method: str, **params: Any) -> Message:
        answer = self.ask(method, **params)
        assert "error" not in answer, answer
        found: Message = answer["result"]
        return found

    def error(self, method: str, **params: Any) -> Message:
        found: Message = self.ask(method, **params)["error"]
        return found

    # --- what clients do ---------------------------------------------------------------------------------------------

    def greet(self, client: str = "raw", version: str = "2025-11-25") -> Message:
        about = {"name": client, "version": "1"}
        found = self.result("initialize", protocolVersion=version, capabilities={}, clientInfo=about)
        self.notify("notifications/initialized")
        return found

    def call(self, tool: str, _meta: Mapping[str, Any] | None = None, **args: Any) -> tuple[str, bool]:
        """What the model reads, and whether it is an error."""
        more = {"_meta": dict(_meta)} if _meta else {}
        result = self.result("tools/call", name=tool, arguments=args, **more)
        (content,) = result["content"]
        assert content.keys() == {"type", "text"}
        assert content["type"] == "text"
        return content["text"], result["isError"]

    def say(self, tool: str, _meta: Mapping[str, Any] | None = None, **args: Any) -> str:
        text, is_error = self.call(tool, _meta, **args)
        assert not is_error, text
        return text

    # --- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> int:
        """Hang up; the exit code. Whatever was said last can still be read with `left`."""
        assert self.process.stdin
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        return self.process.wait(PATIENCE)

    def left(self) -> tuple[str, str]:
        """What was left unread, and what was complained of."""
        assert self.process.stdout
        assert self.process.stderr
        self.process.wait(PATIENCE)
        return (self._buffer + self.process.stdout.read()).decode(), self.process.stderr.read().decode()

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream:
                    stream.close()
            except BrokenPipeError:
                pass

    def _chunk(self, end: float) -> bytes:
        assert self.process.stdout
        handle = self.process.stdout.fileno()
        ready = select.select([handle], [], [], max(end - time.monotonic(), 0))[0]
        assert ready, "the server says nothing"
        return os.read(handle, 65_536)


def kilobytes(client: Raw, name: str = "VmHWM") -> int:
    """What the server's memory came to at most (Linux)."""
    lines = Path(f"/proc/{client.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))

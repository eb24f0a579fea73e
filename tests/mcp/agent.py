"""An agent without a model: it starts servers and hooks, as its own children, and does what it is told.

Reads one JSON object a line: {"do": "start", "name", "client", "env", "shell"}, {"do": "call", "name", "meta", "args"},
{"do": "hook", "key": "tool" or "process", "id", "session", "agent", "host", "shell"}, and {"do": "inner", "order"},
which is for an agent that this one runs in a shell. Answers each with one line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

HOOK = """
import sys
from punchlist.local import session_links as ties
kind, id, session, agent, host = sys.argv[1:]
key = ties.tool_use_key(id) if kind == "tool" else ties.agent_key()
assert ties.link(key, ties.AgentRef(session, agent, host))
"""
SERVERS: dict[str, subprocess.Popen[str]] = {}
INNER: list[subprocess.Popen[str]] = []


def _in_shell(command: list[str], wanted: bool) -> list[str]:
    return ["sh", "-c", '"$@"; exit $?', "sh", *command] if wanted else command


def _ask(server: subprocess.Popen[str], method: str, **params: Any) -> Any:
    assert server.stdin
    assert server.stdout
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())["result"]


def start(order: dict[str, Any]) -> str:
    command = [sys.executable, "-m", "punchlist", "mcp", *order.get("words", [])]
    SERVERS[order["name"]] = server = subprocess.Popen(
        _in_shell(command, order.get("shell", False)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **order.get("env", {})},
    )
    about = {"name": order.get("client", "agent"), "version": "1"}
    found = _ask(server, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
    return str(found["protocolVersion"])


def call(order: dict[str, Any]) -> str:
    server, meta = SERVERS[order["name"]], order.get("meta", {})
    found = _ask(server, "tools/call", name="plan", arguments=order["args"], _meta=meta)
    return str(found["content"][0]["text"])


def hook(order: dict[str, Any]) -> str:
    words = [order["key"], order.get("id", ""), order["session"], order.get("agent", "main"), order.get("host", "")]
    command = _in_shell([sys.executable, "-c", HOOK, *words], order.get("shell", False))
    return str(subprocess.run(command, check=True).returncode)


def inner(order: dict[str, Any]) -> Any:
    if not INNER:
        command = _in_shell([sys.executable, __file__], True)
        INNER.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"))
    assert INNER[0].stdin
    assert INNER[0].stdout
    INNER[0].stdin.write(json.dumps(order["order"]) + "\n")
    INNER[0].stdin.flush()
    return json.loads(INNER[0].stdout.readline())


DOING = {"start": start, "call": call, "hook": hook, "inner": inner}

if __name__ == "__main__":
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(DOING[order["do"]](order)), flush=True)

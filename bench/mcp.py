"""
The MCP server beside one that only echoes, and beside public servers that keep tasks: how long until it lists its
tools, how long a call takes that changes a plan of 20 items and is on disk when it is answered, how much memory it
needs. By a raw client, which writes and reads lines, and by the official one. All take turns. Of starts the best
counts; of calls the median, over several connections: the best would tell which server happened to share a core with
its client.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters

from .frame import Row
from .installed import SCRIPT
from .speech import texts

ITEMS = 20
STARTS, CALLS, CONNECTIONS = 30, 200, 5
OTHERS = {  # what npm calls them, and the command
    "@modelcontextprotocol/server-memory": "mcp-server-memory",
    "@kazuph/mcp-taskmanager": "mcp-taskmanager",
}
Call = tuple[str, dict[str, Any]]


class Subject(NamedTuple):
    """A server, and what to ask of it: once something with 20 items, then two changes in turn."""

    name: str
    command: tuple[str, ...]
    create: Call
    changes: tuple[Call, Call]


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        environment = environment_in(Path(folder))
        return [*_ours(environment), *_others(environment)]


def _ours(environment: Mapping[str, str]) -> list[Row]:
    both = (_echo(), punchlist())
    starts = turns(both, environment, STARTS)
    rounds = [_calls(both, environment) for _ in range(CONNECTIONS)]
    calls, memory = sorted(rounds, key=lambda one: one[0]["punchlist"] / one[0]["echo"])[CONNECTIONS // 2]
    official_starts, official_calls = asyncio.run(_official(both, environment))
    return [
        _ratio("raw client: spawn to tools/list", 3, starts),
        _ratio("raw client: a change, committed", 6, calls),
        _ratio("official client: spawn to tools/list", 3, official_starts),
        _ratio("official client: a change, committed", 3, official_calls),
        *_hooks(environment),
        Row("memory", 25, memory["punchlist"], "MB", f"at most; echo: {memory['echo']:.1f} MB"),
    ]


def _hooks(environment: Mapping[str, str]) -> list[Row]:
    """Hooks that the running server answers, as Claude Code sends them, on a plan with an item in work."""
    folder = Path(environment["XDG_STATE_HOME"], "punchlist")
    folder.mkdir(exist_ok=True)
    (folder / "hook-secret").write_text("bench", encoding="ascii")
    common = {"host": "claude-code", "secret": "bench", "session_id": "s", "cwd": str(folder)}
    used = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": '{"command": "make"}', "tool_response": "ok"}
    events = {
        "Stop": {"last_assistant_message": "Next."},
        "PostToolUse": used,
        "UserPromptSubmit": {"prompt": "Go on."},
    }
    subject = punchlist()
    environment = {**environment, "CLAUDE_CODE_SESSION_ID": "s"}
    wire = _Wire(subject, environment)
    wire.call(("plan", {"add": ["Read", "Write"], "start": [1]}))
    found = []
    for name, fields in events.items():
        event = ("hook", {**common, "hook_event_name": name, **fields})
        times = []
        for _ in range(CALLS):
            begun = perf_counter()
            wire.call(event)
            times.append(perf_counter() - begun)
        note = f"the best; median: {median(times) * 1000:.1f} ms"
        found.append(Row(f"hook by the server, {name}", 2, min(times) * 1000, "ms", note))
    wire.close()
    return found


def _others(environment: Mapping[str, str]) -> list[Row]:
    """Public servers, for comparison. One that cannot be installed is left out, and named."""
    found: list[Row] = []
    for package, command in OTHERS.items():
        path = _installed(package, command)
        if path is None:
            print(f"mcp: {package} is left out: npm could not install it")
            continue
        subject = _known(package, path)
        starts = turns((subject,), environment, 5)
        calls, memory = _calls((subject,), environment, 100)
        found.append(Row(f"{package}: spawn to tools/list", None, starts[package] * 1000, "ms", "raw client"))
        found.append(Row(f"{package}: a change", None, calls[package] * 1000, "ms", "raw client"))
        found.append(Row(f"{package}: memory", None, memory[package], "MB"))
    return found


def _ratio(name: str, goal: float, times: Mapping[str, float]) -> Row:
    ours, echo = times["punchlist"], times["echo"]
    return Row(name, goal, ours / echo, "x", f"{ours * 1000:.2f} ms; echo: {echo * 1000:.2f} ms")


# --- the servers -----------------------------------------------------------------------------------------------------


def _echo() -> Subject:
    path = str(Path(__file__).with_name("echo_server.py"))
    call = ("echo", {"start": [10]})
    return Subject("echo", (sys.executable, path), call, (call, call))


def punchlist() -> Subject:
    create = ("plan", {"add": [text.todo for text in texts(ITEMS)]})
    return Subject("punchlist", (SCRIPT, "mcp"), create, (("plan", {"start": [10]}), ("plan", {"start": [11]})))


def _known(package: str, path: str) -> Subject:
    names = [text.todo for text in texts(ITEMS)]
    if package == "@kazuph/mcp-taskmanager":
        tasks = [{"title": name, "description": name} for name in names]
        create = ("request_planning", {"originalRequest": "work", "tasks": tasks})
        titles = [{"requestId": "req-1", "taskId": "task-10", "title": title} for title in ("one", "other")]
        return Subject(package, (path,), create, (("update_task", titles[0]), ("update_task", titles[1])))
    entities = [{"name": name, "entityType": "task", "observations": []} for name in names]
    add = {"observations": [{"entityName": names[9], "contents": ["in progress"]}]}
    delete = {"deletions": [{"entityName": names[9], "observations": ["in progress"]}]}
    changes = (("add_observations", add), ("delete_observations", delete))
    return Subject(package, (path,), ("create_entities", {"entities": entities}), changes)


def _installed(package: str, command: str) -> str | None:
    """The command of a package from npm, installed once beside the other things that are built."""
    if shutil.which("npm") is None:
        return None
    folder = Path("build", "mcp-servers", command).resolve()
    path = folder / "node_modules" / ".bin" / command
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--silent", package]
        subprocess.run(words, cwd=folder, capture_output=True, check=False)
    return str(path) if path.exists() else None


def environment_in(folder: Path) -> dict[str, str]:
    """A home of their own for all of them."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("PUNCHLIST_", "CLAUDE_"))}
    own = dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), str(folder))
    files = {"MEMORY_FILE_PATH": f"{folder}/memory.jsonl", "TASK_MANAGER_FILE_PATH": f"{folder}/tasks.json"}
    return {**keep, **own, **files}


# --- the raw client --------------------------------------------------------------------------------------------------


class _Wire:
    """A server process, asked line by line."""

    def __init__(self, subject: Subject, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            subject.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=environment["HOME"],
        )
        about = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def call(self, call: Call) -> None:
        answer = self.ask("tools/call", {"name": call[0], "arguments": call[1]})
        if answer.get("result", {}).get("isError", "error" in answer):
            raise RuntimeError(f"{call[0]} failed: {str(answer)[:300]}")

    def megabytes(self) -> float:
        """The most memory it had at once (Linux)."""
        path = Path(f"/proc/{self.process.pid}/status")
        lines = path.read_text().splitlines() if path.exists() else []
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)

    def close(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


def _start(subject: Subject, environment: Mapping[str, str]) -> float:
    begun = perf_counter()
    wire = _Wire(subject, environment)
    wire.ask("tools/list", {})
    took = perf_counter() - begun
    wire.close()
    return took


def turns(subjects: tuple[Subject, ...], environment: Mapping[str, str], rounds: int) -> dict[str, float]:
    """The best start of each."""
    found = [{one.name: _start(one, environment) for one in subjects} for _ in range(rounds + 1)]
    return {one.name: min(turn[one.name] for turn in found[1:]) for one in subjects}  # the first turn warms up


def _calls(
    subjects: tuple[Subject, ...], environment: Mapping[str, str], rounds: int = CALLS
) -> tuple[dict[str, float], dict[str, float]]:
    """The usual call of each, and the most memory."""
    wires = {one.name: _Wire(one, environment) for one in subjects}
    for one in subjects:
        wires[one.name].call(one.create)
    turns = {one.name: cycle(one.changes) for one in subjects}
    times: dict[str, list[float]] = {one.name: [] for one in subjects}
    for _ in range(rounds):
        for name, wire in wires.items():
            call = next(turns[name])
            begun = perf_counter()
            wire.call(call)
            times[name].append(perf_counter() - begun)
    memory = {name: wire.megabytes() for name, wire in wires.items()}
    for wire in wires.values():
        wire.close()
    return {name: median(found) for name, found in times.items()}, memory


# --- the official client ---------------------------------------------------------------------------------------------


async def _official(
    subjects: tuple[Subject, ...], environment: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, float]]:
    starts: dict[str, list[float]] = {one.name: [] for one in subjects}
    for _ in range(STARTS // 3):
        for one in subjects:
            begun = perf_counter()
            async with _client(one, environment) as client:
                await client.list_tools()
                starts[one.name].append(perf_counter() - begun)
    calls: dict[str, list[float]] = {one.name: [] for one in subjects}
    async with AsyncExitStack() as stack:
        clients = {one.name: await stack.enter_async_context(_client(one, environment)) for one in subjects}
        for one in subjects:
            await clients[one.name].call_tool(*one.create)
        for number in range(CALLS):
            for one in subjects:
                begun = perf_counter()
                await clients[one.name].call_tool(*one.changes[number % 2])
                calls[one.name].append(perf_counter() - begun)
    best = {name: min(found) for name, found in starts.items()}
    return best, {name: median(found) for name, found in calls.items()}


def _client(subject: Subject, environment: Mapping[str, str]) -> Client:
    command, *args = subject.command
    parameters = StdioServerParameters(command=command, args=args, env=dict(environment), cwd=environment["HOME"])
    return Client(parameters, mode="legacy")

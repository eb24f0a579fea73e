"""What a model reads and writes to keep a plan, in tokens of o200k_base."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import punchlist
from punchlist.prompts import say

from .frame import Row
from .installed import SCRIPT
from .speech import EVERY, NATIVE, Call, Dialect, texts


def rows() -> list[Row]:
    count = counter()
    found = [
        Row("native: definition", 275, count(compact(_tools("native"))), "tokens", "the tool list, compact JSON"),
        Row("native: definition, full", 700, count(compact(_tools("native", "full"))), "tokens", "for small models"),
    ]
    for size in (5, 10, 20, 50, 100):
        highest = max(_steps(NATIVE, size, count)[1:])
        found.append(Row(f"native: one step of {size}", 30, highest, "tokens", "at most; arguments + answer"))
    found += _checked_rows(count)
    found.append(Row("mcp: instructions", 60, count(say("mcp")), "tokens", "beside the definition, in every request"))
    return found + [_whole_plan(dialect, count) for dialect in EVERY]


def _checked_rows(count: Callable[[str], int]) -> list[Row]:
    """A plan of 20 items, 5 of them with checks that are seen to pass before the item is done."""
    plan = texts(20)
    checks = {index: f"pytest -q tests/test_part_{index}.py" for index in range(0, 20, 4)}
    add = [{"text": text.todo} for text in plan]
    for index, check in checks.items():
        add[index]["check"] = check
    desk = punchlist.open("memory:", session="s")
    steps = [count(compact({"add": add})) + count(_answer(desk, "plan", {"add": add}))]
    checked = []
    for index in range(20):
        if index in checks:
            desk.tool_used("Bash", {"command": checks[index]}, "1 passed", exit=0)
        args = {"done": [index + 1]}
        steps.append(count(compact(args)) + count(_answer(desk, "plan", args)))
        if index in checks:
            checked.append(steps[-1])
    return [
        Row("native: one step with a check", 30, max(checked), "tokens", "at most; its check was seen to pass"),
        Row("native: 20 steps, 5 checks", 1000, sum(steps), "tokens", "arguments + answers"),
    ]


def _whole_plan(dialect: Dialect, count: Callable[[str], int]) -> Row:
    goal = 1000 if dialect is NATIVE else None
    definition = count(compact(_tools(dialect.name)))
    steps = _steps(dialect, 20, count)
    note = f"{max(steps[1:]):,} for the most expensive step, {definition:,} for the definition"
    return Row(f"{dialect.name}: 20 steps in all", goal, sum(steps), "tokens", note)


def _steps(dialect: Dialect, size: int, count: Callable[[str], int]) -> list[int]:
    """The tokens of creating a plan, and then of each step until all of it is done."""
    plan = texts(size)
    desk = punchlist.open("memory:", session="s", dialect=dialect.name)

    def spent(calls: Iterable[Call]) -> int:
        return sum(count(compact(args)) + count(_answer(desk, tool, args)) for tool, args in calls)

    return [spent(dialect.create(plan)), *(spent(dialect.advance(plan, done)) for done in range(1, size + 1))]


def _answer(desk: punchlist.Desk, tool: str, args: dict[str, Any]) -> str:
    reply = desk.call(tool, args)
    if reply.is_error:
        raise RuntimeError(f"{tool} refused {compact(args)[:200]}: {reply.text}")
    return reply.text


def _tools(dialect: str, voice: str = "brief") -> Any:
    command = [SCRIPT, "tools", "--dialect", dialect, "--format", "anthropic"]
    environ = {**os.environ, "PUNCHLIST_VOICE": voice}
    return json.loads(subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=environ).stdout)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def counter() -> Callable[[str], int]:
    """Counts without a network: the wheel of litellm, which is never imported, carries the vocabulary."""
    wheel = importlib.util.find_spec("litellm")
    if wheel is None or not wheel.submodule_search_locations:
        raise SystemExit("there is no vocabulary to count tokens with; `make bench` installs it")
    folder = Path(wheel.submodule_search_locations[0], "litellm_core_utils", "tokenizers")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))

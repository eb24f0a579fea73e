"""
One call in a running process, on a plan of 20 items in memory.

The yardstick is what no tool can do without: reading the arguments and writing the plan, both as JSON. The call itself
is given parsed arguments and answers a `Reply`: it reads and writes no JSON, so the yardstick is not a part of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any

import punchlist

from .frame import Row, best
from .speech import NATIVE, WHOLE_LIST, Call, Dialect, texts

ITEMS = 20


def rows() -> list[Row]:
    plan = texts(ITEMS)
    turns: list[Call] = [("plan", {"start": [2]}), ("plan", {"start": [1]})]
    found = [_row("native", 4, turns, NATIVE)]
    for dialect in WHOLE_LIST:
        turns = [next(dialect.advance(plan, done)) for done in (8, 7)]  # one item done and open again
        found.append(_row(dialect.name, 10, turns, dialect))
    return found


def _row(name: str, goal: float, turns: list[Call], dialect: Dialect) -> Row:
    desk = punchlist.open("memory:", session="s", dialect=name)
    for tool, args in dialect.create(texts(ITEMS)):
        desk.call(tool, args)
    call, yardstick = alternating(desk, turns), _yardstick(desk, turns)
    found = best({"call": call, "yardstick": yardstick}, rounds=60, times=20)
    note = f"{found['call'] * 1e6:.0f} µs against {found['yardstick'] * 1e6:.0f} µs of JSON"
    return Row(f"{name}: one call", goal, found["call"] / found["yardstick"], "x", note)


def alternating(desk: punchlist.Desk, turns: list[Call]) -> Callable[[], object]:
    """A call that changes something each time, because the turns undo one another."""
    for tool, args in turns * 2:
        before = desk.plan
        reply = desk.call(tool, args)
        if reply.is_error or desk.plan == before:
            raise RuntimeError(f"{tool} changed nothing: {reply.text}")
    turn = cycle(turns)
    return lambda: desk.call(*next(turn))


def _yardstick(desk: punchlist.Desk, turns: list[Call]) -> Callable[[], object]:
    arguments = [json.dumps(args) for _, args in turns]
    plan: dict[str, Any] = punchlist.codec.to_json(desk.plan)
    turn = cycle(arguments)
    return lambda: (json.loads(next(turn)), json.dumps(plan))

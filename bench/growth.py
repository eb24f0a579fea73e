"""
What becomes more expensive as plans pile up: `plans`, `show` and `log` on a store with 1,000 plans, and on one with
100,000, of ten items and twenty changes each. And what observed tool calls cost: after 20,000 of them, not 10.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import punchlist
from punchlist.core.redact import recorded
from punchlist.desk.observations import observe
from punchlist.local.files import time_text

from .frame import Row, best

FEW, MANY = 1_000, 100_000
FEW_CALLS, MANY_CALLS = 10, 20_000


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        few, many = (_store(Path(folder) / f"{count}.db", count) for count in (FEW, MANY))
        runs = {f"{name} {size}": run for size, path in (("few", few), ("many", many)) for name, run in _runs(path)}
        found = best(runs, rounds=10)
    goals = {"show": 1.5, "log": 1.5, "plans": None}
    return [*observed_calls(), *_against(found, f"{MANY:,} plans", f"{FEW:,}", goals)]


def observed_calls() -> list[Row]:
    """What is kept of a tool call, and what a plan costs that has many of them."""
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        few, many = (_observed(Path(folder) / f"{count}.db", count) for count in (FEW_CALLS, MANY_CALLS))
        grown = (Path(folder) / f"{MANY_CALLS}.db").stat().st_size - (Path(folder) / f"{FEW_CALLS}.db").stat().st_size
        runs: dict[str, Callable[[], object]] = {}
        for size, desk in (("few", few), ("many", many)):
            runs[f"undo {size}"] = partial(_there_and_back, desk)
            runs[f"log {size}"] = desk.history
            runs[f"plan call {size}"] = partial(desk.call, "plan", {"add": ["one more"]})
        found = best(runs, rounds=10)
        few.close()
        many.close()
    kept = Row("observed call", 1_000, grown / (MANY_CALLS - FEW_CALLS), "bytes", "kept of each, with 300 edits in it")
    goals = {"undo": 2, "log": 2, "plan call": 1.5}
    return [kept, *_against(found, f"{MANY_CALLS:,} observed calls", f"{FEW_CALLS}", goals)]


def _there_and_back(desk: punchlist.Desk) -> None:
    desk.undo()
    desk.redo()


def _observed(path: Path, count: int) -> punchlist.Desk:
    """A plan of 100 items with so many observed calls."""
    desk = punchlist.open(f"sqlite:{path}", session="s")
    desk.call("plan", {"add": [f"item {number}" for number in range(100)]})
    desk.call("plan", {"start": [1]})
    edits = [{"old_string": "x" * 200, "new_string": "y" * 200}] * 300
    call = recorded("toolu_1", "Edit", {"path": "a.py", "edits": edits}, "ok", "z" * 300, redact=True, at=time_text())
    for item in range(1, 101):
        if share := count // 100 or int(item <= count):
            observe(desk, str(item), [call] * share)
    return desk


def _against(found: dict[str, float], name: str, few: str, goals: Mapping[str, float | None]) -> list[Row]:
    return [
        Row(
            f"{what}: {name}",
            goal,
            found[f"{what} many"] / found[f"{what} few"],
            "x",
            f"{found[f'{what} many'] * 1000:.2f} ms; with {few}: {found[f'{what} few'] * 1000:.2f} ms",
        )
        for what, goal in goals.items()
    ]


def _runs(path: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    url = f"sqlite:{path}"

    def show() -> object:
        with punchlist.open(url, session="s500") as desk:
            return desk.plan

    def log() -> object:
        with punchlist.open(url, session="s500") as desk:
            return desk.history()

    def plans() -> object:
        with punchlist.open(url, session="s500") as desk:
            return desk._seat.store.plans(50)

    yield from {"show": show, "log": log, "plans": plans}.items()


def _store(path: Path, count: int) -> Path:
    """A store with so many plans: one made by hand, the others copied from its rows."""
    with punchlist.open(f"sqlite:{path}", session="first") as desk:
        desk.call("plan", {"add": [f"item {number}" for number in range(10)]})
        for number in range(19):
            desk.call("plan", {"start": [number % 2 + 2]})
        first = desk.plan.id
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) SELECT i FROM n"
    db.execute(f"CREATE TEMP TABLE n AS {numbers}", (count,))
    for table, columns, key in (
        ("plans", "revision, head, place, agent, touched, author, parent", "id"),
        ("items", "id, rank, data", "plan"),
        ("history", "revision, at, by, reader, dialect, kind, changes", "plan"),
    ):
        db.execute(f"INSERT INTO {table} SELECT 'p' || i, {columns} FROM n, {table} WHERE {key} = ?", (first,))
    db.execute("INSERT INTO bindings SELECT 's' || i, 'main', 'p' || i, '', '' FROM n")
    db.execute("COMMIT")
    db.close()
    return path

"""
What becomes dearer as plans pile up: `plans`, `show` and `log` on a store with 1,000 plans, and on one with 100,000, of
ten items and twenty changes each.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import punchlist

from .frame import Row, best

FEW, MANY = 1_000, 100_000


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        few, many = (_store(Path(folder) / f"{count}.db", count) for count in (FEW, MANY))
        runs = {f"{name} {size}": run for size, path in (("few", few), ("many", many)) for name, run in _runs(path)}
        found = best(runs, rounds=10)
    goals = {"show": 1.5, "log": 1.5, "plans": None}
    return [
        Row(
            f"{name}: {MANY:,} plans",
            goal,
            found[f"{name} many"] / found[f"{name} few"],
            "x",
            f"{found[f'{name} many'] * 1000:.2f} ms; with {FEW:,} plans: {found[f'{name} few'] * 1000:.2f} ms",
        )
        for name, goal in goals.items()
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
            return desk.store.plans(50)

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

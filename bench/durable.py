"""
One status change that is on disk when the call returns, in a running process.

The yardstick is one bare transaction on the same file, in the same run: an item updated, a line of history written, the
revision raised. Whatever the disk costs, both pay.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from itertools import count, cycle
from pathlib import Path

import punchlist

from .calls import alternating
from .frame import Row, best
from .speech import texts

ITEMS, MANY = 20, 2000


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return _measured(Path(folder))


def _measured(folder: Path) -> list[Row]:
    few, many = folder / "few.db", folder / "many.db"
    runs = {"few": _change(few, ITEMS), "bare": _transaction(few), "many": _change(many, MANY)}
    found = best(runs, rounds=40, times=10)
    ms = {name: f"{time * 1000:.3f} ms" for name, time in found.items()}
    few_notes, many_notes = f"{ms['few']}; bare: {ms['bare']}", f"{ms['many']}; at {ITEMS}: {ms['few']}"
    return [
        Row(f"change at {ITEMS} items", 5, found["few"] / found["bare"], "x", few_notes),
        Row(f"change at {MANY:,} items", 2.5, found["many"] / found["few"], "x", many_notes),
    ]


def _change(path: Path, items: int) -> Callable[[], object]:
    desk = punchlist.open(f"sqlite:{path}", session="s")
    todo = [text.todo for text in texts(items)]
    for first in range(0, items, 100):
        desk.call("plan", {"add": todo[first : first + 100]})
    return alternating(desk, [("plan", {"start": [id]}) for id in (items // 2, items // 2 + 1)])


def _transaction(path: Path) -> Callable[[], object]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.executescript("""
        CREATE TABLE bare_item (id INTEGER PRIMARY KEY, text TEXT, status TEXT);
        CREATE TABLE bare_history (revision INTEGER PRIMARY KEY, what TEXT);
        CREATE TABLE bare_plan (id INTEGER PRIMARY KEY, revision INTEGER);
        INSERT INTO bare_plan VALUES (1, 0);
    """)
    db.executemany("INSERT INTO bare_item VALUES (?, ?, 'pending')", enumerate(text.todo for text in texts(ITEMS)))
    turn, revisions = cycle(["in_progress", "pending"]), count(1)

    def transact() -> None:
        status, revision = next(turn), next(revisions)
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE bare_item SET status = ? WHERE id = 10", (status,))
        db.execute("INSERT INTO bare_history VALUES (?, ?)", (revision, f'{{"item": 10, "status": "{status}"}}'))
        db.execute("UPDATE bare_plan SET revision = ? WHERE id = 1", (revision,))
        db.execute("COMMIT")

    return transact

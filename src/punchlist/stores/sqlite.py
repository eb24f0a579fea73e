"""Plans in one SQLite file: the embedded default. One row an item, so that a small change is a small write."""

from __future__ import annotations

import json
import os
import sqlite3
from time import time
from typing import Any, NoReturn

from ..core.changes import Change
from ..core.codec import (
    change_from_json,
    change_to_json,
    item_from_json,
    item_to_json,
    paused_from_json,
    paused_to_json,
)
from ..core.errors import StaleRevision, StoreError
from ..core.model import MAIN, Item, Plan, Reader
from . import Home, Record

VERSION = 1
_REMEMBERED = 5_000  # items kept as text
_GLANCE = """
SELECT revision, author, seen, places.plan FROM plans
LEFT JOIN readers ON readers.plan = id AND key = ? LEFT JOIN places ON places.place = plans.place WHERE id = ?
"""
_UPDATE = "UPDATE plans SET revision = ?, touched = ?, author = ? WHERE id = ? AND revision = ?"
_UPDATE_ALL = _UPDATE.replace("SET", "SET head = ?,")
_SCHEMA = """
CREATE TABLE plans (
    id TEXT PRIMARY KEY, revision INTEGER NOT NULL, head TEXT NOT NULL, place TEXT NOT NULL, agent TEXT NOT NULL,
    touched REAL NOT NULL,
    author TEXT NOT NULL -- the reader who saved last: it has seen that revision, and needs no row of its own for that
) WITHOUT ROWID;
CREATE TABLE places (place TEXT PRIMARY KEY, plan TEXT NOT NULL) WITHOUT ROWID; -- a main agent's latest plan there
CREATE TABLE items (
    plan TEXT NOT NULL, id TEXT NOT NULL, rank INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (plan, id)
) WITHOUT ROWID;
CREATE TABLE history (
    plan TEXT NOT NULL, revision INTEGER NOT NULL, at TEXT NOT NULL, by TEXT NOT NULL, reader TEXT NOT NULL,
    dialect TEXT NOT NULL, kind TEXT NOT NULL, changes TEXT NOT NULL, PRIMARY KEY (plan, revision)
) WITHOUT ROWID;
CREATE TABLE readers (
    plan TEXT NOT NULL, key TEXT NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (plan, key)
) WITHOUT ROWID;
CREATE TABLE bindings (
    session TEXT NOT NULL, agent TEXT NOT NULL, plan TEXT NOT NULL, PRIMARY KEY (session, agent)
) WITHOUT ROWID;
"""


class SqliteStore:
    """A store in one file, shared by any number of processes of one machine."""

    durable = True

    def __init__(self, path: str, synchronous: str = "normal") -> None:
        self.path = path
        self._glanced: tuple[str, int, str, str | None] = (
            "",
            0,
            "",
            None,
        )  # plan, revision, author, latest of its place
        self._written: dict[int, tuple[Item, str]] = {}  # items as text, as they were last written
        try:
            _make_private(path)
            self._db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        except (sqlite3.Error, OSError) as error:
            _fail(path, error)
        try:
            self._db.execute(f"PRAGMA synchronous={'FULL' if synchronous == 'full' else 'NORMAL'}")
            self._prepare()
        except (sqlite3.Error, OSError) as error:
            self._db.close()
            _fail(path, error)
        except StoreError:
            self._db.close()
            raise

    def glance(self, plan: str, reader: str) -> tuple[int, Reader]:
        row = self._one(_GLANCE, (_text(reader), _text(plan)))
        if row is None:
            return 0, Reader()
        revision, author, seen, latest = row
        self._glanced = (plan, revision, author, latest)
        return revision, Reader(revision if author == _text(reader) else seen or 0)

    def load(self, plan: str) -> Plan | None:
        with self._reading():
            head = self._one("SELECT revision, head FROM plans WHERE id = ?", (_text(plan),))
            if head is None:
                return None
            rows = self._db.execute("SELECT data FROM items WHERE plan = ? ORDER BY rank", (_text(plan),)).fetchall()
        try:
            return _plan(plan, head, rows)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"{self.path}: plan {plan} cannot be read ({error}); restore the file from a backup."
            ) from None

    def save(self, before: Plan | None, after: Plan, record: Record, reader: Reader | None, home: Home | None) -> None:
        with self._writing():
            if before is None or home is not None:
                self._create(after, home or Home())
            self._write_head(before, after, record.reader if reader is not None else "")
            self._write_items(after, record)
            self._db.execute(
                "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    after.id,
                    record.revision,
                    record.at,
                    _text(record.by),
                    _text(record.reader),
                    record.dialect,
                    record.kind,
                    f"[{','.join(map(self._change_text, record.changes))}]",
                ),
            )

    def remember(self, plan: str, key: str, reader: Reader) -> None:
        with self._writing():
            self._write_reader(plan, _text(key), reader.seen)

    def history(self, plan: str, after: int = 0) -> list[Record]:
        with self._reading():
            rows = self._db.execute(
                "SELECT revision, at, by, reader, dialect, kind, changes FROM history "
                "WHERE plan = ? AND revision > ? ORDER BY revision",
                (_text(plan), after),
            ).fetchall()
        try:
            return [_record(row) for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{self.path}: the history of plan {plan} cannot be read ({error}).") from None

    def bound(self, session: str, agent: str) -> str:
        row = self._one("SELECT plan FROM bindings WHERE session = ? AND agent = ?", (_text(session), _text(agent)))
        return row[0] if row else ""

    def latest(self, place: str) -> str:
        row = self._one("SELECT plan FROM places WHERE place = ?", (_text(place),))
        return row[0] if row else ""

    def close(self) -> None:
        self._db.close()

    # --- inside ----------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreError(
                f"{self.path} was written by a newer punchlist; upgrade this one: pip install -U punchlist"
            )
        if version < VERSION:
            self._db.execute("PRAGMA journal_mode=WAL")
            with self._writing():
                (version,) = self._db.execute("PRAGMA user_version").fetchone()
                if version < VERSION:
                    for statement in _SCHEMA.split(";"):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA user_version={VERSION}")

    def _create(self, plan: Plan, home: Home) -> None:
        try:
            self._db.execute(
                "INSERT INTO plans VALUES (?, 0, '', ?, ?, ?, '')",
                (plan.id, _text(home.place), _text(home.agent), time()),
            )
            if home.session:
                self._db.execute(
                    "INSERT INTO bindings VALUES (?, ?, ?)", (_text(home.session), _text(home.agent), plan.id)
                )
        except sqlite3.IntegrityError:
            raise StaleRevision(f"session {home.session!r} has a plan already") from None

    def _write_head(self, before: Plan | None, after: Plan, author: str) -> None:
        old = before.revision if before else 0
        last_author = "" if self._glanced[:2] == (after.id, old) else self._author(after.id)
        values: tuple[Any, ...] = (after.revision, time(), _text(author), after.id, old)
        if before is None or _head(before) != _head(after):
            changed = self._db.execute(_UPDATE_ALL, (json.dumps(_head(after)), *values))
        else:
            changed = self._db.execute(_UPDATE, values)
        if changed.rowcount != 1:
            raise StaleRevision(f"plan {after.id} has moved on")
        plan, revision, last, latest = self._glanced
        self._glanced = ("", 0, "", None)  # it is true only until something is written
        if (plan, revision) != (after.id, old):  # it was not looked at before
            last, latest = last_author, None
        if last and last != _text(author):
            self._write_reader(after.id, last, old)
        if latest != after.id:
            self._db.execute(
                "INSERT INTO places SELECT place, id FROM plans WHERE id = ? AND agent = ? "
                "ON CONFLICT DO UPDATE SET plan = excluded.plan",
                (after.id, MAIN),
            )

    def _author(self, plan: str) -> str:
        row = self._db.execute("SELECT author FROM plans WHERE id = ?", (plan,)).fetchone()
        return row[0] if row else ""

    def _write_items(self, after: Plan, record: Record) -> None:
        by_kind: dict[str, list[Change]] = {}
        for change in record.changes:
            by_kind.setdefault(change.kind, []).append(change)
        if "removed" in by_kind:
            gone = [(after.id, change.id) for change in by_kind["removed"]]
            self._db.executemany("DELETE FROM items WHERE plan = ? AND id = ?", gone)
        if "changed" in by_kind:
            rows = [(self._text_of(change.after), after.id, change.id) for change in by_kind["changed"]]
            self._db.executemany("UPDATE items SET data = ? WHERE plan = ? AND id = ?", rows)
        if by_kind.keys() & {"added", "moved"}:
            self._place_items(after, by_kind.get("added", []), "moved" in by_kind)

    def _place_items(self, after: Plan, added: list[Change], moved: bool) -> None:
        if added:
            (last,) = self._db.execute(
                "SELECT coalesce(max(rank), 0) FROM items WHERE plan = ?", (after.id,)
            ).fetchone()
            rows = [(after.id, change.id, last + n, self._text_of(change.after)) for n, change in enumerate(added, 1)]
            self._db.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", rows)
        at_end = [item.id for item in after.items[len(after.items) - len(added) :]] == [change.id for change in added]
        if moved or not at_end:
            ranks = [(rank, after.id, item.id) for rank, item in enumerate(after.items, 1)]
            self._db.executemany("UPDATE items SET rank = ? WHERE plan = ? AND id = ?", ranks)

    def _write_reader(self, plan: str, key: str, seen: int) -> None:
        self._db.execute(
            "INSERT INTO readers VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen", (plan, key, seen)
        )

    def _change_text(self, change: Change) -> str:
        if change.kind not in ("added", "removed", "changed"):
            return json.dumps(change_to_json(change))
        before, after = (self._text_of(item) if item else "null" for item in (change.before, change.after))
        return f'["{change.kind}","{change.id}",{before},{after},{change.at}]'

    def _text_of(self, item: Item) -> str:
        """An item as JSON. The same item is asked for several times: for its row, and for history on both sides."""
        known = self._written.get(id(item))
        if known is not None and known[0] is item:
            return known[1]
        text = json.dumps(item_to_json(item))
        if len(self._written) > _REMEMBERED:
            self._written.clear()
        self._written[id(item)] = (item, text)
        return text

    def _one(self, sql: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = self._db.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            _fail(self.path, error)
        return row

    def _reading(self) -> _Transaction:
        """One moment of the store: what is read inside belongs together."""
        return _Transaction(self._db, self.path, "BEGIN")

    def _writing(self) -> _Transaction:
        """All or nothing."""
        return _Transaction(self._db, self.path, "BEGIN IMMEDIATE")


class _Transaction:
    """Commits at the end of a `with`, takes everything back if that was left by an error."""

    def __init__(self, db: sqlite3.Connection, path: str, begin: str) -> None:
        self._db = db
        self._path = path
        self._begin = begin

    def __enter__(self) -> None:
        try:
            self._db.execute(self._begin)
        except sqlite3.Error as error:
            _fail(self._path, error)

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        try:
            if error is None:
                self._db.execute("COMMIT")
        except sqlite3.Error as failure:
            error = failure
        if error is not None:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error | OSError):
                _fail(self._path, error)


def open(rest: str, **options: str) -> SqliteStore:
    if not rest:
        raise StoreError("sqlite: needs a path, as in sqlite:plan.db")
    return SqliteStore(os.path.abspath(os.path.expanduser(rest)), **options)


def _make_private(path: str) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    if not os.path.exists(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _fail(path: str, error: Exception) -> NoReturn:
    words = str(error)
    name = getattr(error, "sqlite_errorname", "") or ""
    if isinstance(error, PermissionError) or name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN")):
        raise StoreError(
            f"{path} cannot be opened for writing ({words}); check its permissions.", "permission"
        ) from None
    if name.startswith("SQLITE_FULL") or getattr(error, "errno", 0) == 28:
        raise StoreError(f"{path} cannot grow: the disk is full; make room and try again.", "full") from None
    if name.startswith("SQLITE_BUSY"):
        raise StoreError(f"{path} is locked by another process; try again, or find who holds it.") from None
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        raise StoreError(f"{path} is damaged ({words}); move it aside and restore a backup, or start anew.") from None
    raise StoreError(f"{path}: {words}") from None


def _head(plan: Plan) -> tuple[Any, ...]:
    """What a plan is beside its items."""
    return (plan.title, plan.mode, paused_to_json(plan.paused), plan.phases, plan.last_id, plan.removed)


def _plan(id: str, head: tuple[Any, ...], rows: list[tuple[str]]) -> Plan:
    title, mode, paused, phases, last_id, removed = json.loads(head[1])
    items = tuple([item_from_json(json.loads(data)) for (data,) in rows])
    return Plan(id, title, head[0], mode, paused_from_json(paused), tuple(phases), items, last_id, tuple(removed))


def _record(row: tuple[Any, ...]) -> Record:
    revision, at, by, reader, dialect, kind, changes = row
    made = tuple(map(change_from_json, json.loads(changes)))
    return Record(revision, at, _untext(by), _untext(reader), dialect, kind, made)


def _text(name: str) -> str:
    """A name as it is kept: SQLite takes no lone surrogate, and ends a text at a NUL."""
    return name if name.isprintable() and not name.startswith('"') else json.dumps(name)


def _untext(name: str) -> str:
    return str(json.loads(name)) if name.startswith('"') else name

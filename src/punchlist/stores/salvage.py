"""What can still be read of a damaged SQLite file, into a new one. The damaged one is set aside, and never overwritten.

A plan is saved whole or not at all: as it stands there, or else as its history makes it. Of the history the newest part
is kept, up to the first record that cannot be read."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from time import gmtime, strftime

from ..core.changes import apply
from ..core.codec import change_from_json, item_to_json
from ..core.errors import StoreError
from ..core.model import MAIN, Plan
from ..core.rules import faults
from ..core.typed import Any, NamedTuple
from . import now
from .rows import Rows, head_text
from .sqlite import VERSION, check_ours, fail, statements

_PATIENCE = 3.0  # seconds to wait for whoever is at work with the file
_OWNERS = {"plans": "id", "items": "plan", "history": "plan"}  # tables, and where the plan of a row stands
_OURS = {*_OWNERS, "readers", "bindings", "places", "paces"}
_PLACES = "INSERT OR IGNORE INTO places SELECT place, id FROM plans WHERE agent = ? ORDER BY touched DESC"
_NONSENSE = (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError)
_Row = tuple[Any, ...]
_Ids = tuple[str, ...]


class Salvage(NamedTuple):
    """How it went."""

    path: str = ""
    fault: str = ""  # what is wrong with the file; nothing, if it is sound
    saved: _Ids = ()  # plans
    remade: _Ids = ()  # those of them that were made anew from their history
    cut: _Ids = ()  # those that lost the older part of their history
    lost: _Ids = ()  # plans that were there, too
    aside: str = ""  # where the damaged file is now


def repair(path: str, *, dry_run: bool = False) -> Salvage:
    """Save what can be read. A file that is sound is left as it is."""
    path = os.path.realpath(path)
    if not os.path.isfile(path):
        raise StoreError(f"there is no file {path}.")
    new, aside = _free(f"{path}.repaired"), _free(f"{path}.damaged")
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as old:
            _hold(old, path)
            fault, version = _examined(old, path)
            found = _saved(old, new, version)._replace(path=path, fault=fault)
            if any((found.remade, found.cut, found.lost)) and not fault:
                found = found._replace(fault="what it holds makes no sense")
            if not found.fault or dry_run:
                os.unlink(new)
                return found
            _set_aside(path, aside)
        _put_in_place(new, path)
    except (sqlite3.Error, OSError) as error:
        fail(path, error)
    return found._replace(aside=aside)


def _hold(old: sqlite3.Connection, path: str) -> None:
    """Let nobody else be at work with the file. One that is too damaged to be held has no writers."""
    old.text_factory = _text
    try:
        old.execute("PRAGMA writable_schema=ON")  # a file that was cut short would else not be read at all
        old.execute("PRAGMA locking_mode=EXCLUSIVE")
        old.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise StoreError(f"{path} is in use; let the agents and screens that use it end, and try again.") from None
        if not error.sqlite_errorname.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise


def _text(data: bytes) -> str | bytes:
    """What is no text is seen as such later, and ends no reading here."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _examined(old: sqlite3.Connection, path: str) -> tuple[str, int]:
    """What is wrong with the file, and its version. One that is not ours is refused, as far as that can be told."""
    fault = _fault(old)
    try:
        (version,) = old.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError:
        return fault, VERSION
    if not fault or not tables & _OURS or version > VERSION:
        check_ours(path, version, tables)
    return fault, version or VERSION


def _fault(old: sqlite3.Connection) -> str:
    try:
        (found,) = old.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if found == "ok" else str(found).strip().splitlines()[-1]


# --- the files -------------------------------------------------------------------------------------------------------


def _free(path: str) -> str:
    """A name with the time in it that no file has."""
    path += strftime("-%Y%m%dT%H%M%S", gmtime())
    number = 1
    while os.path.lexists(found := path if number == 1 else f"{path}-{number}"):
        number += 1
    return found


def _set_aside(path: str, aside: str) -> None:
    """Move the file and its log. What else may be beside it is only an index to the log."""
    os.rename(path, aside)
    for side in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            if side == "-wal" and os.path.getsize(path + side):
                os.rename(path + side, aside + side)
            else:
                os.unlink(path + side)


def _put_in_place(new: str, path: str) -> None:
    try:
        os.link(new, path)
    except FileExistsError:
        raise StoreError(f"a new store was begun as {path} meanwhile; what was saved is in {new}.") from None
    except OSError:  # a file system without links
        os.rename(new, path)
    else:
        os.unlink(new)


# --- the rows --------------------------------------------------------------------------------------------------------


def _saved(old: sqlite3.Connection, path: str, version: int) -> Salvage:
    """Make a new file of what can be read."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as new:
            new.execute("PRAGMA journal_mode=WAL")
            new.execute("BEGIN")
            for statement in statements(0, version):
                new.execute(statement)
            found = _copied(old, new)
            for statement in statements(version, VERSION):
                new.execute(statement)
            new.execute("COMMIT")
    except (sqlite3.Error, OSError, KeyboardInterrupt):
        os.unlink(path)
        raise
    return found


def _copied(old: sqlite3.Connection, new: sqlite3.Connection) -> Salvage:
    """Copy what can be read."""
    known = set().union(*(_ids(old, table, key) for table, key in _OWNERS.items()))
    read, written = Rows(old.execute, old.executemany), Rows(new.execute, new.executemany)
    sound = {id: plan for id in sorted(known) if (plan := _sound(read, id))}
    remade = {id: plan for id in sorted(known - sound.keys()) if (plan := _replayed(read, id))}
    whole = {id: _copy_plan(old, new, plan) for id, plan in (sound | remade).items()}
    saved = {id for id in whole if _sound(written, id)}
    for table, key in _OWNERS.items():
        new.executemany(f"DELETE FROM {table} WHERE {key} = ?", [(id,) for id in whole if id not in saved])
    _copy_rest(old, new, saved)
    anew, cut = saved & remade.keys(), {id for id in saved if not whole[id]}
    return Salvage("", "", _sorted(saved), _sorted(anew), _sorted(cut), _sorted(known - saved))


def _sorted(ids: Iterable[str]) -> _Ids:
    return tuple(sorted(ids))


def _sound(rows: Rows, id: str) -> Plan | None:
    """The plan, if it can be read and makes sense."""
    try:
        plan = rows.load(id)
        is_sound = plan is not None and isinstance(plan.revision, int) and not faults(plan)
    except _NONSENSE:
        return None
    return plan if is_sound else None


def _replayed(rows: Rows, id: str) -> Plan | None:
    """The plan as its history makes it, if that is all there."""
    plan = Plan(id)
    try:
        for record in rows.history(id, 0):
            if record.revision != plan.revision + 1:
                return None
            last = max([plan.last_id, *(int(change.id) for change in record.changes if change.kind == "added")])
            plan = apply(plan, record.changes)._replace(revision=record.revision, last_id=last)
    except _NONSENSE:
        return None
    return plan if plan.revision and not faults(plan) else None


def _copy_plan(old: sqlite3.Connection, new: sqlite3.Connection, plan: Plan) -> bool:
    """Copy a plan; whether its history is whole."""
    items = [(plan.id, item.id, rank, json.dumps(item_to_json(item))) for rank, item in enumerate(plan.items, 1)]
    records = _read(old, "SELECT * FROM history WHERE plan = ? ORDER BY revision DESC", plan.id)
    _copy(new, "plans", [(plan.id, plan.revision, head_text(plan), *_whereabouts(old, new, plan))])
    _copy(new, "items", items)
    kept = _copy(new, "history", _newest(records, plan))
    return [(kept,)] == list(_read(old, "SELECT count(*) FROM history WHERE plan = ?", plan.id))


def _whereabouts(old: sqlite3.Connection, new: sqlite3.Connection, plan: Plan) -> _Row:
    """Where a plan was made, when it was touched last and so on; or what fits every plan."""
    for row in _read(old, "SELECT * FROM plans WHERE id = ?", plan.id):
        return row[3:]
    count = len(new.execute("PRAGMA table_info(plans)").fetchall()) - 3
    return ("", MAIN, now(), "", "")[:count]


def _copy_rest(old: sqlite3.Connection, new: sqlite3.Connection, plans: set[str]) -> None:
    """Copy who works from these plans, where the latest of them are, and what is remembered of those who read them."""
    for table, key, owner in (("readers", "plan, key", 0), ("bindings", "session, agent", 2), ("places", "place", 1)):
        _copy(new, table, [row for row in _from_both_ends(old, table, key) if row[owner] in plans])
    _copy(new, "paces", _from_both_ends(old, "paces", "key"))
    new.execute(_PLACES, (MAIN,))


def _newest(records: Iterable[_Row], plan: Plan) -> Iterator[_Row]:
    """The records of a plan from its revision back to the first that is missing or makes no sense."""
    for revision, record in zip(range(plan.revision, 0, -1), records, strict=False):
        try:
            for change in json.loads(record[-1]):
                change_from_json(change)
        except _NONSENSE:
            return
        if record[:2] != (plan.id, revision):
            return
        yield record


def _ids(old: sqlite3.Connection, table: str, key: str) -> set[str]:
    return {id for (id,) in _from_both_ends(old, table, key, key) if isinstance(id, str)}


def _from_both_ends(old: sqlite3.Connection, table: str, key: str, columns: str = "*") -> list[_Row]:
    """Rows in the order of a key up to one that cannot be read, and from the end back to one of that kind."""
    backwards = ", ".join(f"{part} DESC" for part in key.split(", "))
    asked = [f"SELECT {columns} FROM {table} ORDER BY {order}" for order in (key, backwards)]
    return list(dict.fromkeys(row for statement in asked for row in _read(old, statement)))


def _read(old: sqlite3.Connection, statement: str, *values: str) -> Iterator[_Row]:
    """Rows, up to what cannot be read."""
    try:
        for row in old.execute(statement, values):
            if not any(isinstance(value, bytes) for value in row):
                yield row
    except sqlite3.DatabaseError:
        pass


def _copy(new: sqlite3.Connection, table: str, rows: Iterable[_Row]) -> int:
    """Write the rows; how many they were."""
    count = 0
    for row in rows:
        count += 1
        new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return count

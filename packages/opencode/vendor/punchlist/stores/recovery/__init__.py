"""A damaged SQLite file gives way to a new one with what can be read of it, and is kept under another name.

All reading is done on a copy, so nothing is written before everything is saved; and at no moment is there no file."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from glob import escape, glob
from tempfile import mkdtemp
from time import gmtime, monotonic, sleep, strftime
from typing import BinaryIO

from ...core._typing import NamedTuple
from ...core.errors import StoreError
from ..sqlite import VERSION, check_ours, fail
from ..sqlite_tables import statements
from ..upgrade import move_calls
from .pages import read_rows
from .rows import Found, copy_all, insert_raw, is_sound

_PATIENCE = 3.0  # seconds to wait for whoever is at work with the file
_SHARED = (510, 0x40000002)  # how many bytes everybody at work with a database holds, and from where on
_TABLES = {"plans", "history", "readers", "bindings", "places", "paces", "lists"}  # any of which makes it ours


class Repair(NamedTuple):
    """How it went."""

    path: str
    problem: str  # what is wrong with the file; nothing, if it is sound
    found: Found  # plans
    aside: str = ""  # where the damaged file is now


def repair(path: str, *, dry_run: bool = False) -> Repair:
    """Save what can be read. A file that is sound is left as it is."""
    path = os.path.realpath(path)
    if not os.path.isfile(path):
        raise StoreError(f"there is no file {path}.")
    try:
        with _hold(path) as held, _make_scratch(path) as folder:
            problem, found = _read(path, held, folder)
            aside = ""
            if problem and not dry_run:
                aside = _swap(path, os.path.join(folder, "new"), os.fstat(held.fileno()))
            return Repair(path, problem, found, aside)
    except (sqlite3.Error, OSError) as error:
        fail(path, error)


def _read(path: str, held: BinaryIO, folder: str) -> tuple[str, Found]:
    """What is wrong with a file, and what was saved of it."""
    old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
    log = _copy(path, held, old)
    with closing(sqlite3.connect(old, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema=ON")  # a file that was cut short would else not be read at all
        problem = _problem(db)
        if log and not os.path.getsize(old):
            problem = "it is empty, and its log is not"
        _check(path, db, problem)
        found = _make(db, new)
    if problem and not found.saved:
        found = _read_pages(path, held, folder) or found
    if not problem and (found.remade or found.cut or found.lost):
        problem = "what it holds makes no sense"
    return problem, found


def _read_pages(path: str, held: BinaryIO, folder: str) -> Found | None:
    """What the other pages hold of a file whose first page cannot be read; None if nothing does."""
    held.seek(0)
    log = b""
    with suppress(OSError), open(f"{path}-wal", "rb") as file:
        log = file.read()
    found = read_rows(held.read(), log)
    if not found.keys() & {"plans", "history"}:
        return None
    new, raw = os.path.join(folder, "new"), os.path.join(folder, "raw")
    with closing(sqlite3.connect(raw, isolation_level=None)) as db:
        _begin(db)
        insert_raw(db, found)
        db.execute("COMMIT")
        for left in (new, f"{new}-wal", f"{new}-shm"):
            with suppress(FileNotFoundError):
                os.unlink(left)
        return _make(db, new)


def _copy(path: str, held: BinaryIO, copy: str) -> int:
    """Copy a file and its log; how long the log is. The file is read as it is held: opening it once more would release
    it."""
    with open(copy, "wb") as file:
        shutil.copyfileobj(held, file)
    try:
        shutil.copyfile(f"{path}-wal", f"{copy}-wal")
    except FileNotFoundError:
        return 0
    return os.path.getsize(f"{copy}-wal")


def _problem(db: sqlite3.Connection) -> str:
    try:
        (said,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    if said == "ok":
        return ""
    return str(said).strip().splitlines()[-1]


def _check(path: str, db: sqlite3.Connection, problem: str) -> None:
    """Refuse what is not ours, as far as that can be told."""
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError:
        return
    if not problem or not tables & _TABLES or version > VERSION:
        check_ours(path, version, tables)


def _begin(db: sqlite3.Connection) -> None:
    """Begin a transaction with the tables of a new file."""
    db.execute("BEGIN")
    for statement in statements(0, VERSION):
        db.execute(statement)


def _make(old: sqlite3.Connection, path: str) -> Found:
    """Make a new file of what can be read, and see that it can be."""
    with closing(sqlite3.connect(path, isolation_level=None)) as new:
        _begin(new)
        found = copy_all(old, new)
        move_calls(new.execute)
        new.execute("COMMIT")
        new.execute("PRAGMA journal_mode=WAL")
    with closing(sqlite3.connect(path, isolation_level=None)) as new:
        if _problem(new) or not all(is_sound(new, id) for id in found.saved):
            raise StoreError(f"what was read of {path} could not be saved; nothing was changed.")
    return found


# --- the files -------------------------------------------------------------------------------------------------------


@contextmanager
def _hold(path: str) -> Iterator[BinaryIO]:
    """The file, with nobody else at work with it."""
    with open(path, "r+b") as file:
        end = monotonic() + _PATIENCE
        while not _is_locked(file):
            if monotonic() > end:
                raise StoreError(f"{path} is in use; let the agents and screens that use it end, and try again.")
            sleep(0.05)
        if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            raise StoreError(f"{path} was replaced meanwhile; nothing was changed.")
        yield file


def _is_locked(file: BinaryIO) -> bool:
    """Lock what everybody at work with the database holds a share of; whether that could be done."""
    try:
        import fcntl
    except ImportError:  # there a file that is in use cannot be moved
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, *_SHARED)
    except (BlockingIOError, PermissionError):
        return False
    return True


@contextmanager
def _make_scratch(path: str) -> Iterator[str]:
    """A folder for this while, on the same disk."""
    name = f"{os.path.basename(path)}.repairing-"
    for left in glob(f"{escape(os.path.join(os.path.dirname(path), name))}*"):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)
    folder = mkdtemp(prefix=name, dir=os.path.dirname(path))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _swap(path: str, new: str, old: os.stat_result) -> str:
    """Put a new file in the place of an old one; where that is now. What its log held is in both."""
    os.chmod(new, old.st_mode & 0o777)
    with suppress(PermissionError, AttributeError):
        os.chown(new, old.st_uid, old.st_gid)
    aside = _free(f"{path}.damaged")
    _link(path, aside)
    with suppress(FileNotFoundError):
        if os.path.getsize(f"{path}-wal"):
            _link(f"{path}-wal", f"{aside}-wal")
    for side in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + side)
    os.replace(new, path)
    return aside


def _link(path: str, other: str) -> None:
    """Give a file another name, too; where a disk has no links, a copy."""
    try:
        os.link(path, other)
    except FileExistsError:
        raise
    except OSError:
        shutil.copy2(path, other)


def _free(path: str) -> str:
    """A name with the time in it that no file has."""
    path += strftime("-%Y%m%dT%H%M%S", gmtime())
    number = 1
    while os.path.lexists(found := path if number == 1 else f"{path}-{number}"):
        number += 1
    return found

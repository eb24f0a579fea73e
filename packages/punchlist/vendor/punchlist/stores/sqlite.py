"""Plans in one SQLite file: the embedded default, shared by any number of processes of one machine."""

from __future__ import annotations

import _sqlite3 as sqlite3  # what `sqlite3` adds are dates, of which there are none here; a hook feels their weight
import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence
from time import gmtime, monotonic, sleep, strftime

from ..core._typing import Any, NoReturn, TypeVar
from ..core.diff import Record
from ..core.errors import StoreError
from ..core.model import Plan, Reader, SessionState
from ..local.files import make_folder, utc_text
from . import Commit, PlanKey, PlanSummary, closed_error, permission_error, system_error, too_new
from .sql import Rows

_PATIENCE = "10"  # seconds to wait for another process
_AT_ONCE = 50  # tries without a pause: longer than a write takes, as a rule
_LONGEST_PAUSE = 0.01  # seconds between tries, at most
_SHRINK_PATIENCE = 1.0  # seconds to wait for others before a file that was migrated keeps its size for now
_MANY_FREE = 256  # pages without content from which on a file is worth shrinking
_SELDOM = 16  # one of so many observed calls has those dropped that are too many
_LONG = 1.0  # seconds from which on a wait in vain tells that a file is held
_HELD = 10.0  # seconds after that in which nobody in this process waits long for the same file
_HELD_PATIENCE = 0.1  # seconds to wait then: longer than others' own writes take
_LOOKS = 0.05  # seconds between looks, while waiting for a change

VERSION = 5  # of the file; `sqlite_tables` has what leads there
_NOWHERE = (0, 0)  # of a file that is not there
_T = TypeVar("_T")

_held: dict[str, float] = {}  # by path: until when a file counts as held


class SqliteStore:
    """A store in one file."""

    durable = True

    def __init__(self, path: str, synchronous: str = "normal", patience: str = _PATIENCE, address: str = "") -> None:
        self.path = path
        self.address = address or f"sqlite:{path}"  # what to name in a command
        self._level = "FULL" if synchronous == "full" else "NORMAL"
        self.patience = float(patience)
        self._lock = allocate_lock()
        self._is_closed = False
        self._open()

    def _open(self) -> None:
        self._file = _NOWHERE
        self._full: StoreError | None = None  # why this is a copy of the file, in memory, that can only be read
        try:
            _make_private(self.path)
            file = _inode(self.path)
            self._db = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        except (sqlite3.Error, OSError) as error:
            fail(self.path, error, self.address)
        self._rows = Rows(self._db.execute, self._db.executemany)
        try:
            self._patient(self._db.execute, f"PRAGMA synchronous={self._level}")
            version, tables = self._patient(self._identity)
            if _inode(self.path) == file:
                self._prepare(version, tables)
                self._file = file
        except StoreError as error:
            self._db.close()
            if not self._copy_to_memory(error.kind):
                self._db.close()
                raise
            self._file, self._full = file, error
        if self._file == _NOWHERE:  # it was replaced while we waited for it, and the log that we see is the other's
            self._db.close()
            self._open()

    def _copy_to_memory(self, kind: str) -> bool:
        """Read a file on a disk that is full or read-only; return whether that worked. There is no room for the memory
        that all who use a file share, so nobody else may use it meanwhile, and it is copied and released at once."""
        if kind == "full":
            return self._copy_from(self.path, is_uri=False)
        if kind != "permission" or os.access(os.path.dirname(self.path), os.W_OK):
            return False
        if not os.path.exists(f"{self.path}-wal"):
            from urllib.parse import quote

            return self._copy_from(f"file:{quote(self.path)}?immutable=1", is_uri=True)
        from ..local.access import is_on_read_only_disk

        return is_on_read_only_disk(self.path) and self._copy_with_log()

    def _copy_with_log(self) -> bool:
        """Read a file that nobody can write to, and its log, from where SQLite can put the two together."""
        import shutil
        from tempfile import TemporaryDirectory

        try:
            with TemporaryDirectory(prefix="punchlist-") as folder:
                copy = os.path.join(folder, "copy")
                shutil.copyfile(self.path, copy)
                shutil.copyfile(f"{self.path}-wal", f"{copy}-wal")
                return self._copy_from(copy, is_uri=False)
        except OSError:
            return False

    def _copy_from(self, path: str, *, is_uri: bool) -> bool:
        try:
            self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            source = sqlite3.connect(path, timeout=0, isolation_level=None, uri=is_uri)
        except sqlite3.Error:
            return False
        try:
            source.execute("PRAGMA locking_mode=EXCLUSIVE")
            _patiently(self.patience, lambda: source.backup(self._db))
            self._rows = Rows(self._db.execute, self._db.executemany)
            return self._identity() == (VERSION, set())
        except sqlite3.Error:
            return False
        finally:
            source.close()

    def peek(self, plan: str, reader: str) -> tuple[int, Reader]:
        return self._read(lambda: self._rows.peek(plan, reader))

    def peek_session(self, home: PlanKey, reader: str) -> tuple[str, int, Reader]:
        return self._read(lambda: self._rows.peek_session(home, reader))

    def load(self, plan: str) -> Plan | None:
        return self._read(lambda: self._rows.load(plan))

    def save(self, commit: Commit) -> None:
        self._at_once("BEGIN IMMEDIATE", lambda: self._rows.save(commit))

    def remember(self, plan: str, key: str, reader: Reader, before: Reader | None = None) -> None:
        self._at_once("BEGIN IMMEDIATE", lambda: self._rows.remember(plan, key, reader, before, utc_text()))

    def lists(self, plan: str, reader: str) -> dict[str, str]:
        return self._read(lambda: self._rows.lists(plan, reader))

    def keep_lists(self, plan: str, reader: str, lists: Mapping[str, str]) -> None:
        self._at_once("BEGIN IMMEDIATE", lambda: self._rows.keep_lists(plan, reader, lists, utc_text()))

    def observe(self, plan: str, item: str, calls: Sequence[Mapping[str, Any]]) -> None:
        if len(calls) == 1 and os.urandom(1)[0] % _SELDOM:
            self._write(lambda: self._rows.observe(plan, item, calls, utc_text(), trims=False))
        else:
            self._at_once("BEGIN IMMEDIATE", lambda: self._rows.observe(plan, item, calls, utc_text()))

    def load_calls(self, plan: str, *subjects: str) -> dict[str, list[dict[str, Any]]]:
        return self._read(lambda: self._rows.load_calls(plan, subjects))

    def history(self, plan: str, after: int = 0, by: str = "") -> list[Record]:
        return self._read(lambda: self._rows.history(plan, after, by))

    def last_dialect(self, plan: str) -> str:
        return self._read(lambda: self._rows.last_dialect(plan))

    def find(self, home: PlanKey) -> str:
        return self._read(lambda: self._rows.find(home))

    def bind(self, home: PlanKey, plan: str, *, alone: bool = False) -> None:
        self._at_once("BEGIN IMMEDIATE", lambda: self._rows.bind(home, plan, utc_text(), alone=alone))

    def sessions(self, plan: str) -> list[tuple[str, str]]:
        return self._read(lambda: self._rows.sessions(plan))

    def load_state(self, key: str) -> SessionState:
        return self._read(lambda: self._rows.load_state(key))

    def save_state(self, key: str, before: SessionState, after: SessionState) -> None:
        self._write(lambda: self._rows.save_state(key, before, after, utc_text()))

    def plans(
        self, most: int, session: str = "", agent: str = "", plan: str = "", place: str = ""
    ) -> list[PlanSummary]:
        return self._at_once("BEGIN", lambda: self._rows.plans(most, session, agent, plan, place))

    def trim(self, before: str, plan: str = "", place: str = "", live: str = "") -> dict[str, int]:
        return self._at_once("BEGIN IMMEDIATE", lambda: self._rows.trim(before, plan, place, live))

    def wait(self, plan: str, is_over: Callable[[], bool], seconds: float) -> None:
        end = monotonic() + seconds
        while not is_over() and monotonic() < end:
            sleep(min(_LOOKS, max(end - monotonic(), 0)))

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._db.close()

    # --- for a store that keeps more in this file ------------------------------------------------------------------

    def query(self, statement: str, values: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        """Execute one statement, and return its rows."""
        return self._read(lambda: self._db.execute(statement, values).fetchall())

    def transact(self, work: Callable[[Rows, Callable[..., Any]], _T]) -> _T:
        """Run several statements as one: all of them or none. `work` gets what executes them."""
        return self._at_once("BEGIN IMMEDIATE", lambda: work(self._rows, self._db.execute))

    # --- inside ----------------------------------------------------------------------------------------------------

    def _read(self, look: Callable[[], _T]) -> _T:
        """One statement, one thread at a time."""
        with self._lock:
            self._follow_name()
            return self._patient(look)

    def _write(self, work: Callable[[], _T]) -> _T:
        """One statement that writes: it is all or nothing by itself."""
        with self._lock:
            self._follow_name()
            if self._full:
                raise self._full
            result = self._patient(work)
            _held.pop(self.path, None)
            return result

    def _at_once(self, begin: str, work: Callable[[], _T]) -> _T:
        """Several statements that belong together: all of them or none."""
        with self._lock:
            self._follow_name()
            return self._transact(begin, work)

    def _follow_name(self) -> None:
        """Open the file again if another one has its name by now: what we write to a file that was moved away would be
        lost. Our log is written to the old file first, or SQLite would take it for the log of the new one."""
        if self._is_closed:
            raise closed_error()
        if self._full and not self._is_frozen():
            self._db.close()
            self._open()
        file = _inode(self.path)
        if file == self._file:
            return
        is_done = self._checkpoint()
        if file == _NOWHERE:
            raise StoreError(
                f"{self.path} is gone: it was moved away or deleted while in use; put it back, or start again."
            )
        if not is_done:
            raise StoreError(f"{self.path} was replaced while others are at work with the old one; stop them first.")
        self._db.close()
        self._open()

    def _is_frozen(self) -> bool:
        """Whether a copy in memory is still what the file holds. Otherwise there may be room by now, and others may
        have written."""
        from ..local.access import is_on_read_only_disk

        return is_on_read_only_disk(self.path)

    def _checkpoint(self) -> bool:
        """Write to the file what only its log holds; whether that could be done."""
        try:
            (is_busy, _, _) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error:  # there is no log any more, or it was closed before
            return True
        return not is_busy

    def _patient(self, look: Callable[..., _T], *values: str) -> _T:
        try:
            return self._wait_for(look, *values)
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
            fail(self.path, error, self.address)

    def _wait_for(self, work: Callable[..., _T], *values: str) -> _T:
        """Do it when nobody else holds the file. One that is held for long costs one wait, not one for each call."""
        is_held = monotonic() < _held.get(self.path, 0.0)
        seconds = min(self.patience, _HELD_PATIENCE) if is_held else self.patience
        try:
            return _patiently(seconds, work, *values)
        except sqlite3.OperationalError as error:
            if _is_busy(error) and (is_held or seconds >= _LONG):
                _held[self.path] = monotonic() + _HELD
            raise

    def _transact(self, begin: str, work: Callable[[], _T]) -> _T:
        if self._full and begin != "BEGIN":
            raise self._full
        try:
            self._wait_for(self._db.execute, begin)
            result = work()
            self._wait_for(self._db.execute, "COMMIT")
            if begin != "BEGIN":
                _held.pop(self.path, None)
            return result
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
            fail(self.path, error, self.address)
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        """Take back what was begun and not finished. A store that was closed meanwhile has nothing of that kind."""
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.ProgrammingError:
            pass

    def _prepare(self, version: int, tables: set[str]) -> None:
        check_ours(self.path, version, tables)
        if version < VERSION:
            self._patient(self._db.execute, "PRAGMA journal_mode=WAL")
            if self._bring_up_to_date():
                self._shrink(min(self.patience, _SHRINK_PATIENCE))
        elif self.patience >= float(_PATIENCE) and self._is_mostly_free():  # never in a hook, which has no time
            self._shrink(0)

    def _identity(self) -> tuple[int, set[str]]:
        """The version of the file, and unless that is ours, its tables: both of the same moment."""
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return version, set()
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if self._db.execute("PRAGMA user_version").fetchone() != (version,):  # another process has made them meanwhile
            return self._identity()
        return version, tables

    def _is_mostly_free(self) -> bool:
        (free,) = self._patient(self._db.execute, "PRAGMA freelist_count").fetchone()
        if free < _MANY_FREE:
            return False
        (pages,) = self._patient(self._db.execute, "PRAGMA page_count").fetchone()
        return bool(free * 2 > pages)

    def _shrink(self, patience: float) -> None:
        """Give back the room of what was dropped. Where that cannot be done now, a later open tries again."""
        try:
            _patiently(patience, self._db.execute, "VACUUM")
        except sqlite3.Error:
            return
        self._checkpoint()

    def _bring_up_to_date(self) -> bool:
        """Migrate the file, after a copy of it was made; return whether much of it was dropped."""
        copies: list[str] = []
        try:
            return self._transact("BEGIN IMMEDIATE", lambda: self._migrate(copies))
        except StoreError:  # the file is as it was, and needs no copy
            for copy in copies:
                os.unlink(copy)
            raise

    def _migrate(self, copies: list[str]) -> bool:
        from .sqlite_tables import EARLIEST, OBSERVATIONS, statements

        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if 0 < version < VERSION:
            copies.append(self._back_up(version))
        if version == 1 and not self._db.execute("PRAGMA table_info(places)").fetchone():
            for statement in EARLIEST.split(";"):
                self._db.execute(statement)
        for statement in statements(version, VERSION):
            self._db.execute(statement)
        if not 0 < version < OBSERVATIONS:
            return False
        from .upgrade import move_calls

        return move_calls(self._db.execute)

    def _back_up(self, version: int) -> str:
        """A copy of the file as an older program left it, and where it is. The lock is ours, so nobody writes
        meanwhile. A copy that could not be finished is removed."""
        path = f"{self.path}.version-{version}"
        if os.path.lexists(path):  # never overwritten, never followed
            path += strftime("-%Y%m%dT%H%M%S", gmtime())
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            _copy(self.path, path)
        except (sqlite3.Error, OSError):
            os.unlink(path)
            raise
        return path


def check_ours(path: str, version: int, tables: set[str]) -> None:
    """Refuse a file of somebody else, or of a program to come. No tables mean that there is nothing to be told by."""
    if tables and not (version and {"plans", "items", "history"} <= tables):
        raise StoreError(f"{path} is not a store of punchlist: it holds other tables; name another file.")
    if version > VERSION:
        raise too_new(path)


def _copy(old: str, new: str) -> None:
    source, copy = sqlite3.connect(old), sqlite3.connect(new)
    try:
        source.backup(copy)
    finally:
        copy.close()
        source.close()


def _patiently(seconds: float, work: Callable[..., _T], *values: str) -> _T:
    """Do it when nobody else holds the file. Somebody's write is over soon, so at first it is tried again at once. In a
    crowd the waits are uneven, and longer than many writes: whoever is awake writes one after the other, and has to
    read again what others wrote only now and then. SQLite's own waits grow to a tenth of a second, and whoever sleeps
    longest comes last again and again."""
    end = 0.0
    tries = 0
    while True:
        try:
            return work(*values)
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            end = end or monotonic() + seconds
            if monotonic() > end:
                raise
        tries += 1
        if tries > _AT_ONCE:
            sleep(os.urandom(1)[0] / 255 * _LONGEST_PAUSE)


def _inode(path: str) -> tuple[int, int]:
    """Which file has this name."""
    try:
        found = os.stat(path)
    except PermissionError as error:
        fail(path, error)
    except OSError:
        return _NOWHERE
    return found.st_dev, found.st_ino


def open(rest: str, **options: str) -> SqliteStore:
    return SqliteStore(path_of(rest), **options)


def path_of(rest: str) -> str:
    """The file that is meant by what follows `sqlite:`."""
    if not rest:
        raise StoreError("sqlite: needs a path, as in sqlite:plan.db", "address")
    if rest.startswith("//") and not rest.startswith("///"):
        words = "sqlite: takes a path, not a host; an absolute one is written sqlite:/path/to/plan.db"
        raise StoreError(words, "address")
    return os.path.abspath(os.path.expanduser(rest))


def _make_private(path: str) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        make_folder(folder)
    if not os.path.exists(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _name(error: BaseException) -> str:
    return getattr(error, "sqlite_errorname", "") or ""


def _is_busy(error: BaseException) -> bool:
    return _name(error).startswith("SQLITE_BUSY")


def fail(path: str, error: Exception, address: str = "") -> NoReturn:
    """Raise what to tell of an error. `address`: of the store, if it is not that of the file."""
    address = address or f"sqlite:{path}"
    words, name = str(error), _name(error)
    if os.path.isdir(path):
        raise StoreError(f"{path} is a directory, not a file; move it away, or name another store.") from None
    if os.path.exists(path) and not os.path.isfile(path):
        raise StoreError(f"{path} is not a regular file; name another store.") from None
    if isinstance(error, OSError):
        raise system_error(path, error) from None
    from ..local.access import is_on_full_disk

    is_full = name.startswith("SQLITE_FULL")
    if is_full or (name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")) and is_on_full_disk(os.path.dirname(path))):
        raise StoreError(f"{path} cannot grow: the disk is full; make room and try again.", "full") from None
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN")):
        raise permission_error(path, words) from None
    if _is_busy(error):
        from shlex import quote

        raise StoreError(
            f"{path} has been locked by another process for too long; find who holds it: fuser {quote(path)}"
        ) from None
    if is_damage(error):
        raise StoreError(f"{path} is damaged ({words}); nothing was written. {remedy(address)}") from None
    if name == "SQLITE_ERROR":  # our statements do not fit its tables
        raise StoreError(f"{path} is not a store of punchlist ({words}); name another file.") from None
    if not isinstance(error, sqlite3.Error) or "decode" in words:
        raise StoreError(f"{path} cannot be read: what it holds makes no sense ({words}). {remedy(address)}") from None
    raise StoreError(f"{path}: {words}") from None


def is_damage(error: BaseException) -> bool:
    return _name(error).startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT"))


def remedy(address: str) -> str:
    """What to do about a damaged file."""
    from shlex import quote

    return f"Set it aside, and save what can be read of it: punchlist repair --store {quote(address)}"

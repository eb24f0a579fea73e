"""Plans in PostgreSQL, for teams who run many agents on many machines. Needs the extra `postgres`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import RLock, get_ident
from time import monotonic, sleep
from typing import Any, TypeVar

import psycopg

from ...core.diff import Record
from ...core.errors import StaleRevision, StoreError
from ...core.model import Plan, Reader, SessionState
from ...local.files import utc_text
from .. import Commit, PlanKey, PlanSummary, closed_error, masked
from ..sql import Cursor, Rows
from .connection import Batch, Bounded, connect
from .failures import fail, may_pass
from .listener import CHANNEL, HEARD, Listener
from .tables import bring_up_to_date

_PATIENCE = "20"  # seconds to go on trying while a server that we know is away, restarting or full
_FIRST_PATIENCE = 1.0  # with one that never answered in this process: the address may be wrong, and an agent waits
_BUSY_PATIENCE = 5.0  # with one that is there, as it says itself, and takes nobody
_KNOWN: set[str] = set()  # the addresses that have worked in this process
_ONE_MOMENT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_LOOKS = 0.3  # seconds between looks, while waiting for a change behind a pooler
_UNFINISHED = (psycopg.pq.TransactionStatus.INTRANS, psycopg.pq.TransactionStatus.INERROR)
_T = TypeVar("_T")

_SMALL = f"""
WITH head AS (
    UPDATE plans SET revision = %s, touched = %s, author = %s WHERE id = %s AND revision = %s
    AND (%s OR id = (SELECT plan FROM bindings WHERE session = %s AND agent = %s))
    RETURNING id, place, agent
), changed AS (
    UPDATE items SET data = new.value FROM head, json_each_text(%s::json) AS new
    WHERE items.plan = head.id AND items.id = new.key
), free AS (
    SELECT places.place, head.id FROM places JOIN head ON head.place = places.place
    WHERE head.agent = %s AND places.plan <> head.id FOR UPDATE OF places SKIP LOCKED
), here AS (
    UPDATE places SET plan = free.id FROM free WHERE places.place = free.place
), line AS (
    INSERT INTO history (plan, revision, at, by, reader, dialect, kind, changes, mark)
    SELECT id, %s::int, %s, %s, %s, %s, %s, %s, %s FROM head RETURNING plan
)
SELECT CASE WHEN {HEARD} THEN pg_notify('{CHANNEL}', plan) END FROM line
""".encode()


class PostgresStore:
    """A store on a server. One connection a process, and one more while anybody in it waits for changes: a fleet of
    many processes does not use up the server's connections. One that breaks is made again. What was under way is looked
    up by its mark, and done again if it is not there: once, whatever became of the answer. Nothing takes longer than
    the store's patience."""

    durable = True

    def __init__(self, url: str, patience: str = _PATIENCE) -> None:
        self.url = url
        self.patience = float(patience)
        self._closed = False
        self._inherited: tuple[object, ...] = ()
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # what it would warn about, we raise or repair
        self._rows = Rows(self._execute, self._executemany)
        self._begin()
        if self._at_once(lambda: bring_up_to_date(self._execute, masked(url)), "BEGIN"):
            self._shrink()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = RLock()
        self._db: Bounded | None = None
        self._is_pooled = False
        self._reserved_by = 0  # the thread that called `reserve`, which holds the lock
        self._batch: Batch | None = None  # of the transaction that is being made
        self._listener = Listener(self._connect)

    def peek(self, plan: str, reader: str) -> tuple[int, Reader]:
        return self._at_once(lambda: self._rows.peek(plan, reader))

    def peek_session(self, home: PlanKey, reader: str) -> tuple[str, int, Reader]:
        return self._at_once(lambda: self._rows.peek_session(home, reader))

    def load(self, plan: str) -> Plan | None:
        return self._at_once(lambda: self._rows.load(plan))

    def save(self, commit: Commit) -> None:
        mark = os.urandom(12).hex()
        small = self._rows.small(commit)

        def save_small(values: tuple[Any, ...]) -> None:
            """In one statement: over a network, every answer that is waited for takes time."""
            if self._execute_raw(_SMALL, (*values, mark)).fetchone() is None:
                raise StaleRevision("the plan has moved on")
            self._rows.note_author(commit)

        def save_all() -> None:
            self._rows.save(commit, mark)
            self._notify(commit.after.id)

        def is_saved() -> bool:
            asked = "SELECT FROM history WHERE plan = ? AND revision = ? AND mark = ?"
            return self._execute(asked, (commit.after.id, commit.record.revision, mark)).fetchone() is not None

        if small is not None:
            self._once(lambda: save_small(small), is_saved)
        else:
            self._once(save_all, is_saved, "BEGIN")

    def remember(self, plan: str, key: str, reader: Reader, before: Reader | None = None) -> None:
        def work() -> None:
            if before is not None:  # of two who would tell the same, one waits and then sees that it was told
                self._execute("SELECT FROM plans WHERE id = ? FOR UPDATE", (plan,))
            self._rows.remember(plan, key, reader, before, utc_text())

        # Told twice is better than never: what may have been ours counts as ours.
        self._once(work, lambda: self._rows.peek(plan, key)[1].seen >= reader.seen, "BEGIN")

    def lists(self, plan: str, reader: str) -> dict[str, str]:
        return self._at_once(lambda: self._rows.lists(plan, reader))

    def keep_lists(self, plan: str, reader: str, lists: Mapping[str, str]) -> None:
        self._at_once(lambda: self._rows.keep_lists(plan, reader, lists, utc_text()), "BEGIN")

    def observe(self, plan: str, item: str, calls: Sequence[Mapping[str, Any]]) -> None:
        # If an answer is lost a call may be kept twice, which does no harm.
        self._at_once(lambda: self._rows.observe(plan, item, calls, utc_text()), "BEGIN")

    def load_calls(self, plan: str, *subjects: str) -> dict[str, list[dict[str, Any]]]:
        return self._at_once(lambda: self._rows.load_calls(plan, subjects))

    def history(self, plan: str, after: int = 0, by: str = "") -> list[Record]:
        return self._at_once(lambda: self._rows.history(plan, after, by))

    def last_dialect(self, plan: str) -> str:
        return self._at_once(lambda: self._rows.last_dialect(plan))

    def find(self, home: PlanKey) -> str:
        return self._at_once(lambda: self._rows.find(home))

    def bind(self, home: PlanKey, plan: str, *, alone: bool = False) -> None:
        def work() -> None:
            if alone:  # of two who would have it, one waits and then sees that it is taken
                self._execute("SELECT FROM plans WHERE id = ? FOR UPDATE", (plan,))
            old = self._rows.find(home)
            self._rows.bind(home, plan, utc_text(), alone=alone)
            for changed in {old or plan, plan}:  # whoever follows the session sees another plan
                self._notify(changed)

        self._at_once(work, "BEGIN")

    def sessions(self, plan: str) -> list[tuple[str, str]]:
        return self._at_once(lambda: self._rows.sessions(plan))

    def load_state(self, key: str) -> SessionState:
        return self._at_once(lambda: self._rows.load_state(key))

    def save_state(self, key: str, before: SessionState, after: SessionState) -> None:
        self._once(
            lambda: self._rows.save_state(key, before, after, utc_text()),
            lambda: self._rows.load_state(key) == after,
            "BEGIN",
        )

    def plans(
        self, most: int, session: str = "", agent: str = "", plan: str = "", place: str = ""
    ) -> list[PlanSummary]:
        return self._at_once(lambda: self._rows.plans(most, session, agent, plan, place), _ONE_MOMENT)

    def trim(self, before: str, plan: str = "", place: str = "", live: str = "") -> dict[str, int]:
        return self._at_once(lambda: self._rows.trim(before, plan, place, live), "BEGIN")

    def wait(self, plan: str, is_over: Callable[[], bool], seconds: float) -> None:
        with self._own_lock():
            listener = None if self._is_pooled else self._listener
        if listener is not None:
            listener.wait(plan, is_over, seconds)
            return
        end = monotonic() + seconds  # behind a pooler nobody can listen
        while not is_over() and monotonic() < end:
            sleep(min(_LOOKS, max(end - monotonic(), 0)))

    def close(self) -> None:
        self._closed = True  # first: whoever tries again and again gives up
        with self._own_lock():
            self._listener.close()
            if self._db is not None:
                self._db.close()
            self._db = None

    # --- inside ----------------------------------------------------------------------------------------------------

    def _once(self, work: Callable[[], None], is_done: Callable[[], bool], begin: str = "") -> None:
        """Do something exactly once. If an answer was lost it may be done, or be done just now: so it is looked up
        before it is tried again, and once more if somebody was first, who may be ourselves."""
        tries = 0

        def careful() -> None:
            nonlocal tries
            tries += 1
            if tries > 1 and is_done():
                return
            work()

        try:
            self._at_once(careful, begin, is_write=True)
        except StaleRevision:
            if tries < 2 or not self._at_once(is_done):
                raise

    def _at_once(self, work: Callable[[], _T], begin: str = "", *, is_write: bool = False) -> _T:
        """One thread at a time, in one transaction if it is more than one statement; done again while the server is
        only out of reach for a while."""
        begun = monotonic()
        with self._own_lock():
            if self._reserved_by:
                try:
                    return self._at_last(work, is_write=is_write or begin == "BEGIN")
                except psycopg.Error:
                    pass  # it is tried again in the usual way
            for number in range(1, 1_000):
                try:
                    db = self._connection(begun + self.patience)
                    begin = begin or ("BEGIN" if db.is_pooled else "")
                    if begin:
                        return self._transact(db, begin, work)
                    return work()
                except psycopg.Error as error:
                    if not may_pass(error) or monotonic() > begun + self._time_for(error):
                        self._drop()
                        fail(self.url, error)
                    self._drop()
                    sleep(os.urandom(1)[0] / 2_560 * min(number, 10) / 10)
                except (ValueError, KeyError, TypeError) as error:
                    raise StoreError(
                        f"{masked(self.url)} cannot be read: what it holds makes no sense ({error})."
                    ) from None
        raise StoreError(f"{masked(self.url)} did not answer.")

    def _transact(self, db: Bounded, begin: str, work: Callable[[], _T]) -> _T:
        """All or nothing."""
        self._batch = batch = Batch(db)
        try:
            batch.add(begin)
            for limits in db.limits(self.patience):
                batch.add(*limits)
            result = work()
            batch.add("COMMIT")
            batch.send()
            return result
        finally:
            self._batch = None
            if not db.broken and db.info.transaction_status in _UNFINISHED:
                db.rollback()

    # --- after many lost races -------------------------------------------------------------------------------------

    def reserve(self, plan: str) -> None:
        """Be the next to write a plan: nobody else can, until a save or `release`. Does nothing if that fails."""
        lock = self._own_lock()
        lock.acquire()
        if self._reserved_by:
            lock.release()
            return
        try:
            db = self._connection(monotonic() + self.patience)
            db.execute("BEGIN")
            for statement, values in db.limits(self.patience):
                db.execute(statement.encode(), values, prepare=False)
            db.execute("SELECT FROM plans WHERE id = %s FOR UPDATE", (plan,))
            self._reserved_by = get_ident()
        except (psycopg.Error, StoreError):
            self._drop()
            lock.release()

    def release(self) -> None:
        """Let others write again."""
        if self._reserved_by == get_ident() and self._pid == os.getpid():
            try:
                self._leave("ROLLBACK")
            except psycopg.Error:
                self._drop()

    def _at_last(self, work: Callable[[], _T], *, is_write: bool) -> _T:
        """Something for which the plan is reserved."""
        try:
            result = work()
            if is_write:
                self._leave("COMMIT")
            return result
        except psycopg.Error:
            self._drop()
            raise
        finally:
            if self._reserved_by and (is_write or self._db is None):
                self._leave("ROLLBACK")

    def _leave(self, end: str) -> None:
        """End the transaction for which the plan is reserved, one way or the other."""
        self._reserved_by = 0
        try:
            if self._db is not None:
                self._db.until = monotonic() + self.patience
                self._db.execute(end.encode())
        finally:
            self._lock.release()

    def _connection(self, until: float) -> Bounded:
        """The connection, on which nothing waits longer than until a time."""
        if self._closed:
            raise closed_error()
        if self._db is None or self._db.closed:
            self._db = self._connect(until - monotonic())
        self._is_pooled = self._db.is_pooled
        self._db.until = until
        return self._db

    def _connect(self, left: float = 0.0) -> Bounded:
        seconds = 5 if self.url in _KNOWN else 3
        made = connect(self.url, min(seconds, left or seconds), self.patience, left or self.patience)
        _KNOWN.add(self.url)
        return made

    def _time_for(self, error: psycopg.Error) -> float:
        """For how many seconds an error that may pass is waited for."""
        if self.url in _KNOWN:
            return self.patience
        return min(_BUSY_PATIENCE if "FATAL" in str(error) else _FIRST_PATIENCE, self.patience)

    def _own_lock(self) -> RLock:
        """The lock between threads. A fork has everything of its parent's: it leaves that alone, not even closes it,
        and starts again."""
        if self._pid != os.getpid():
            self._inherited = (self._inherited, self._db, self._listener)
            self._begin()
        return self._lock

    def _drop(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> Cursor:
        assert self._db is not None
        statement = statement.replace("?", "%s")
        if self._batch is not None:
            return self._batch.add(statement, values)
        return self._db.execute(statement.encode(), values)

    def _executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        for row in rows:
            self._execute(statement, row)

    def _execute_raw(self, statement: bytes, values: Sequence[Any]) -> psycopg.Cursor[Any]:
        assert self._db is not None
        if self._batch is not None:
            self._batch.send()
        return self._db.execute(statement, values)

    def _notify(self, plan: str) -> None:
        self._execute(f"SELECT pg_notify(?, ?) WHERE {HEARD}", (CHANNEL, plan))

    def _shrink(self) -> None:
        """Give back the room of what a migration dropped. Where that cannot be done now, the server uses it again."""
        try:
            for table in ("history", "items"):
                self._at_once(partial(self._execute, f"VACUUM FULL punchlist.{table}"))
        except StoreError:
            pass


def open(rest: str, **options: str) -> PostgresStore:
    if not rest.startswith("//"):
        raise StoreError("the address of a PostgreSQL store begins with postgresql://")
    if rest[2:].split("/")[0].count("@") > 1:
        raise StoreError("an @ in a user's name or password is written %40 in the address of a store.")
    return PostgresStore(f"postgresql:{rest}", **options)

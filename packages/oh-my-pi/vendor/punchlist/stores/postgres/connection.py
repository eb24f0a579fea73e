"""One connection to a server, on which nothing waits longer than it is allowed to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

import psycopg

_T = TypeVar("_T")
_ALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_BLINK = 0.1  # seconds between looks at the clock
_IDLE = 2_000  # ms that a client may be silent in a transaction: others wait for what it holds
# What a server does if a client is gone or suspended, or waits for one that is. A pooler hands one connection of the
# server to many clients: there it holds for one transaction, and otherwise for as long as the connection does.
_LIMITS = """
SELECT set_config('search_path', 'punchlist, pg_catalog', %(local)s), set_config('lock_timeout', %(lock)s, %(local)s),
set_config('statement_timeout', %(statement)s, %(local)s),
set_config('idle_in_transaction_session_timeout', %(idle)s, %(local)s)
"""
_UNPOOLED = f"{_LIMITS} WHERE pg_backend_pid() = %(pid)s".encode()


_connect_until: ContextVar[float] = ContextVar("connect_until", default=float("inf"))


class Silent(psycopg.OperationalError):
    """The server has not answered in time."""


class Bounded(psycopg.Connection[Any]):
    """A connection whose every wait ends at a time."""

    until: float = float("inf")  # by the monotonic clock
    is_pooled: bool = False

    def wait(self, gen: Generator[Any, Any, _T], *args: Any, **options: Any) -> _T:
        return super().wait(_in_time(gen, self.until), *args, **options)

    @classmethod
    def _connect_gen(cls, *args: Any, **options: Any) -> Generator[Any, Any, Any]:
        """The steps that make a connection. libpq takes less than two seconds for two; a hook has less."""
        return _in_time(super()._connect_gen(*args, **options), _connect_until.get())

    def limits(self, seconds: float) -> list[tuple[str, dict[str, Any]]]:
        """What is told the server at the beginning of a transaction: what it does about clients that are gone, and by
        which names tables go. Only behind a pooler, where nothing of that outlives a transaction."""
        if self.is_pooled:
            return [(_LIMITS, _limits(seconds, local=True))]
        return []


def _in_time(gen: Generator[Any, Any, _T], until: float) -> Generator[Any, Any, _T]:
    """The same steps; between them, whoever runs them looks at the clock ten times a second."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and monotonic() > until:
                raise Silent("the server is silent")
            wanted = gen.send(ready)
    except StopIteration as done:
        result: _T = done.value
        return result


class Later:
    """The answer to a statement of a batch. Whoever looks at it has the batch sent."""

    def __init__(self, send: Callable[[], None]) -> None:
        self._send: Callable[[], None] | None = send
        self._rowcount = -1
        self._rows: list[Any] = []

    @property
    def rowcount(self) -> int:
        self._have()
        return self._rowcount

    def fetchone(self) -> Any:
        self._have()
        if self._rows:
            return self._rows[0]
        return None

    def fetchall(self) -> list[Any]:
        self._have()
        return self._rows

    def take(self, cursor: psycopg.Cursor[Any]) -> None:
        """Keep the result that a cursor is at."""
        self._send = None
        self._rowcount = cursor.rowcount
        if cursor.pgresult is not None and cursor.pgresult.status == psycopg.pq.ExecStatus.TUPLES_OK:
            self._rows = cursor.fetchall()

    def _have(self) -> None:
        if self._send is not None:
            self._send()


class Batch:
    """Statements of one transaction, sent in one message as soon as an answer is needed: on a network every answer that
    is waited for takes time. In one message, not one after the other: a client that was stopped between two of those
    would hold for ever what it has locked, since the server takes it for busy."""

    def __init__(self, db: Bounded) -> None:
        self._db = db
        self._filled_in = psycopg.ClientCursor(db).mogrify
        self._waiting: list[tuple[str, Later]] = []

    def add(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Later:
        later = Later(self.send)
        self._waiting.append((self._filled_in(statement.encode(), values) if values else statement, later))
        return later

    def send(self) -> None:
        """Send what waits, and take the answers."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        cursor = self._db.execute(";\n".join(statement for statement, _ in waiting).encode(), prepare=False)
        for _, later in waiting:
            later.take(cursor)
            cursor.nextset()


def connect(url: str, seconds: float, patience: float, left: float) -> Bounded:
    """A connection that is made within some seconds, and told within those that are left. The server itself is told to
    give up in less than `patience`."""
    given = psycopg.conninfo.conninfo_to_dict(url)
    own = {**_ALIVE, "tcp_user_timeout": int(1_000 * patience), "application_name": "punchlist"}
    options: dict[str, Any] = {name: value for name, value in own.items() if name not in given}
    options["client_encoding"] = "UTF8"  # whatever the environment or the database says: names may be in any language
    token = _connect_until.set(monotonic() + seconds)
    try:
        made = Bounded.connect(url, autocommit=True, connect_timeout=max(int(seconds), 2), **options)
    except Silent as error:
        raise psycopg.errors.ConnectionTimeout(f"{error}; no connection was made") from None
    finally:
        _connect_until.reset(token)
    try:
        made.prepare_threshold = None
        made.until = monotonic() + left
        values = {**_limits(patience, local=False), "pid": made.info.backend_pid}
        made.is_pooled = made.execute(_UNPOOLED, values).fetchone() is None
        if not made.is_pooled:
            made.prepare_threshold = 2
    except psycopg.Error:
        made.close()
        raise
    return made


def _limits(seconds: float, *, local: bool) -> dict[str, Any]:
    """A lock is given up first, then a statement: whoever waits hears the reason before its own time is over."""
    lock, statement = int(700 * seconds), int(850 * seconds)
    return {"local": local, "lock": str(lock), "statement": str(statement), "idle": str(_IDLE)}

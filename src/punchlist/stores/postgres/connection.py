"""One connection to a server, on which nothing waits longer than it is allowed to."""

from __future__ import annotations

from collections.abc import Generator
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
_ONE_TRANSACTION = _LIMITS.encode()


class Silent(psycopg.OperationalError):
    """The server has not answered in time."""


class Bounded(psycopg.Connection[Any]):
    """A connection whose every wait ends at a time."""

    until: float = float("inf")  # by the monotonic clock
    is_pooled: bool = False

    def wait(self, gen: Generator[Any, Any, _T], *args: Any, **options: Any) -> _T:
        return super().wait(self._in_time(gen), *args, **options)

    def _in_time(self, gen: Generator[Any, Any, _T]) -> Generator[Any, Any, _T]:
        """The same steps; between them, whoever runs them looks at the clock ten times a second."""
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and monotonic() > self.until:
                    raise Silent("the server is silent")
                wanted = gen.send(ready)
        except StopIteration as done:
            result: _T = done.value
            return result

    def limit(self, seconds: float) -> None:
        """Within a transaction: what the server does about clients that are gone, and by which names tables go."""
        if self.is_pooled:
            self.execute(_ONE_TRANSACTION, _limits(seconds, local=True), prepare=False)


def connected(url: str, seconds: float, patience: float, left: float) -> Bounded:
    """A connection that is made within some seconds, and told within those that are left. The server itself is told to
    give up in less than `patience`."""
    given = psycopg.conninfo.conninfo_to_dict(url)
    own = {**_ALIVE, "tcp_user_timeout": int(1_000 * patience), "application_name": "punchlist"}
    options: dict[str, Any] = {name: value for name, value in own.items() if name not in given}
    # libpq takes one second for "for ever", and rounds it up to two
    made = Bounded.connect(url, autocommit=True, connect_timeout=max(int(seconds), 2), **options)
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

"""Those who wait for changes, and the one connection by which they are told about them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector
from socket import socket, socketpair
from threading import Event, Lock, Thread
from time import monotonic

import psycopg

from .connection import Bounded

CHANNEL = "punchlist"
# Whether anybody listens. A notice to nobody is not for nothing: whoever sends one commits alone on the whole server.
HEARD = "EXISTS (SELECT FROM punchlist.listeners WHERE until > now())"
_LINGER = 10.0  # seconds to go on listening when nobody waits: whoever follows a plan is soon back
_FORGOTTEN = "DELETE FROM punchlist.listeners WHERE until < now() OR pid = pg_backend_pid()"
_KNOWN = "INSERT INTO punchlist.listeners VALUES (pg_backend_pid(), now() + interval '1 minute')"
_AGAIN = 20.0  # seconds until it is said again that somebody listens
_LOOKS = 1.0  # seconds until whoever waits looks without a notice
_ANSWERED = 10.0  # seconds in which a server answers, or is not there any more
_WRITING = 0.1  # seconds in which a write is over, as a rule


class Listener:
    """A thread that listens while somebody waits, whoever waits for whatever plan. A connection that breaks is made
    again; then all are woken, since nobody knows what they missed."""

    def __init__(self, connect: Callable[[], Bounded]) -> None:
        self._connect = connect
        self._lock = Lock()
        self._waiting: list[tuple[str, Event]] = []
        self._left = 0.0  # when the last who waited has gone
        self._thread: Thread | None = None
        self._bell: socket | None = None  # closing it wakes the thread
        self._closed = False

    def wait(self, plan: str, is_over: Callable[[], bool], seconds: float) -> None:
        """Until it is over, or the time is. That is asked at first, and whenever the plan may have changed; without a
        plan, whenever any may have."""
        end = monotonic() + seconds
        with self._waking(plan) as woken:
            while not is_over() and monotonic() < end:
                woken.wait(min(max(end - monotonic(), 0), _LOOKS))
                woken.clear()

    @contextmanager
    def _waking(self, plan: str) -> Iterator[Event]:
        """An event that is set when a plan may have changed, from now on."""
        entry = (plan, Event())
        with self._lock:
            self._waiting.append(entry)
            if self._thread is None and not self._closed:
                self._start()
        try:
            yield entry[1]
        finally:
            with self._lock:
                self._waiting.remove(entry)
                self._left = monotonic()

    def close(self) -> None:
        """Wake everybody, and release the connection."""
        with self._lock:
            self._closed = True
            thread, bell = self._thread, self._bell
        self._wake()
        if bell is not None:
            bell.close()
        if thread is not None:
            thread.join(1.0)  # it may be waiting for a server that does not answer; then it ends by itself

    def _start(self) -> None:
        self._bell, ear = socketpair()
        self._thread = Thread(target=self._run, args=(self._bell, ear), name="punchlist-listener", daemon=True)
        self._thread.start()

    def _run(self, bell: socket, ear: socket) -> None:
        with bell, ear:
            while self._is_wanted():
                try:
                    with closing(self._connect()) as db:
                        self._enlist(db)
                        self._hear(db, ear)
                        db.until = monotonic() + _ANSWERED
                        db.execute(_FORGOTTEN)
                except psycopg.Error:  # whoever waits looks for itself meanwhile, and says what is wrong
                    _rest(ear)

    def _enlist(self, db: Bounded) -> None:
        db.until = monotonic() + _ANSWERED
        db.execute(_FORGOTTEN)
        db.execute(_KNOWN)
        db.execute(f"LISTEN {CHANNEL}".encode())
        self._wake()  # a notice that came meanwhile is lost

    def _hear(self, db: Bounded, ear: socket) -> None:
        due = monotonic() + _WRITING  # whoever was writing when we came did not know of us
        with DefaultSelector() as ready:
            ready.register(db.fileno(), EVENT_READ)
            ready.register(ear, EVENT_READ)
            while self._is_wanted():
                ready.select(min(max(due - monotonic(), 0), _LINGER))
                if monotonic() >= due:
                    self._enlist(db)
                    due = monotonic() + _AGAIN
                db.pgconn.consume_input()
                while notice := db.pgconn.notifies():
                    self._wake(notice.extra.decode())

    def _is_wanted(self) -> bool:
        with self._lock:
            if not self._closed and (self._waiting or monotonic() < self._left + _LINGER):
                return True
            self._thread = None  # the next who waits starts another
            return False

    def _wake(self, plan: str = "") -> None:
        """Those who wait for a plan, or for any; without one, all."""
        with self._lock:
            for awaited, woken in self._waiting:
                if not plan or awaited in (plan, ""):
                    woken.set()


def _rest(ear: socket) -> None:
    """A short and uneven while, or until the bell."""
    ear.settimeout(0.1 + os.urandom(1)[0] / 1_000)
    with suppress(TimeoutError):
        ear.recv(1)

"""A server that is silent, slow or behind a pooler, connections that break while a change is under way, and clients
that are suspended: everything is done exactly once, and nothing waits for ever."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

import punchlist
from punchlist import Desk, StoreError, ops
from punchlist.core.model import Reader
from punchlist.local.settings import load
from punchlist.stores import open_store
from punchlist.stores.postgres import PostgresStore
from punchlist.stores.postgres.failures import may_pass
from tests.core.plans import texts
from tests.postgres_server import fresh_database
from tests.stores.following import PATIENCE, Follower

pytestmark = pytest.mark.once  # what a server does; the contract of stores is proved with it on every Python

MARKER = "the one with a mark"
SETTINGS = load(environ={})


class Wire:
    """A proxy before the server that loses answers, holds back what a client sent, or falls silent."""

    def __init__(self, folder: str, target: str) -> None:
        self._target = target
        self.url = ""
        self.desks: list[Desk] = []
        self._all: list[socket.socket] = []
        self._ends: list[socket.socket] = []
        self._held: list[tuple[socket.socket, bytes]] = []
        self.marker = MARKER.encode()  # what is armed for
        self.mode = "open"  # open, armed to lose, armed to hold, losing, silent
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(f"{folder}/.s.PGSQL.5432")
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Let every connection fall."""
        self.mode = "open"
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._ends.clear()

    def deliver(self) -> None:
        """Hand to the server what was held back."""
        for server, data in self._held:
            with suppress(OSError):
                server.sendall(data)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self.cut()
        for desk in self.desks:
            desk.close()
        for end in (self._listening, *self._all):
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._ends += [client, server]
            self._all += [client, server]
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=self._down, args=(server, client), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 20):
                if self.marker in data and self.mode == "armed to lose":
                    self.mode = "losing"
                if self.marker in data and self.mode == "armed to hold":
                    self._hold(client, server, data)
                    return
                if self.mode != "silent":
                    server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _hold(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        """The client's end falls; what it has sent is on its way for some time still."""
        self.mode = "open"
        self._ends.remove(server)
        client.settimeout(0.2)
        with suppress(TimeoutError):
            while more := client.recv(1 << 20):
                data += more
        self._held.append((server, data))
        client.shutdown(socket.SHUT_RDWR)

    def _down(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 20):
                if self.mode not in ("losing", "silent"):
                    client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def direct(postgres: str) -> str:
    return fresh_database(postgres)


@pytest.fixture
def wire(direct: str) -> Iterator[Wire]:
    (folder,) = parse_qs(urlsplit(direct).query)["host"]
    with tempfile.TemporaryDirectory(prefix="pl-") as own:
        proxy = Wire(own, f"{folder}/.s.PGSQL.5432")
        proxy.url = direct.replace(f"host={folder}", f"host={own}")
        yield proxy
        proxy.close()


def through(wire: Wire, patience: str = "20", agent: str = "main") -> Desk:
    desk = Desk(open_store(wire.url, patience=patience), session="s", agent=agent, settings=SETTINGS)
    wire.desks.append(desk)
    return desk


def asked(url: str, statement: str, *values: Any) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as db:
        return db.execute(statement.encode(), values).fetchall()


def eventually(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)  # between two looks at the server


class Aside:
    """Something that is done in a thread."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._found: Queue[tuple[object, BaseException | None]] = Queue()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[], object]) -> None:
        try:
            self._found.put((work(), None))
        except BaseException as error:
            self._found.put((None, error))

    def result(self) -> object:
        """What came of it. It must come to an end."""
        result, error = self._found.get(timeout=4 * PATIENCE)
        if error:
            raise error
        return result


CHANGES: dict[str, Callable[[Desk], object]] = {
    "an item added": lambda desk: desk.change(lambda plan: ops.add(plan, MARKER)),
    "a note, in one statement": lambda desk: desk.call("plan", {"note": {"1": MARKER}}),
    "a title": lambda desk: desk.change(lambda plan: plan._replace(title=MARKER)),
    "a pause": lambda desk: desk.change(lambda plan: ops.pause(plan, MARKER)),
}


def marked(url: str) -> int:
    """How many records speak of it."""
    ((count,),) = asked(url, "SELECT count(*) FROM punchlist.history WHERE changes LIKE %s", f"%{MARKER}%")
    return int(count)


def begun(wire: Wire) -> Desk:
    desk = through(wire)
    desk.call("plan", {"add": ["first"]})
    desk.call("plan", {"note": {"1": "so that the next one is a small change"}})
    return desk


@pytest.mark.parametrize("change", ["an item added", "a note, in one statement"])
def test_a_change_whose_answer_was_lost_is_done_once(change: str, wire: Wire, direct: str) -> None:
    desk = begun(wire)
    wire.mode = "armed to lose"
    changing = Aside(lambda: CHANGES[change](desk))
    eventually(lambda: marked(direct))
    wire.cut()
    changing.result()
    assert marked(direct) == 1
    assert len(desk.history()) == desk.plan.revision == 3


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_is_still_under_way_when_the_connection_breaks_is_done_once(
    change: str, wire: Wire, direct: str
) -> None:
    desk = begun(wire)
    wire.mode = "armed to hold"
    changing = Aside(lambda: CHANGES[change](desk))
    waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'punchlist'"
    eventually(lambda: asked(direct, waits) or marked(direct))
    wire.deliver()
    changing.result()
    assert marked(direct) == 1
    assert len(desk.history()) == desk.plan.revision == 3


def test_a_plan_that_was_begun_when_the_connection_broke_is_begun_once(wire: Wire, direct: str) -> None:
    desk = through(wire)
    wire.mode = "armed to lose"
    changing = Aside(lambda: desk.change(lambda plan: ops.add(plan, MARKER)))
    eventually(lambda: marked(direct))
    wire.cut()
    changing.result()
    assert asked(direct, "SELECT count(*) FROM punchlist.plans") == [(1,)]
    assert texts(desk.plan) == [MARKER]


def test_another_change_between_does_not_make_a_change_be_done_twice(wire: Wire, direct: str) -> None:
    desk = begun(wire)
    wire.mode = "armed to lose"
    changing = Aside(lambda: desk.change(lambda plan: ops.add(plan, MARKER)))
    eventually(lambda: marked(direct))
    with punchlist.open(direct, session="s") as other:
        other.change(lambda plan: ops.add(plan, "another"))
    wire.cut()
    changing.result()
    assert texts(desk.plan) == ["first", MARKER, "another"]


def test_updates_whose_answer_was_lost_are_told(wire: Wire, direct: str) -> None:
    desk = through(wire)
    desk.call("plan", {"add": ["first"]})
    with punchlist.open(direct, session="s") as user:
        user.change(lambda plan: ops.rename(plan, "1", "renamed"))

    def heard() -> bool:
        ((seen,),) = asked(direct, "SELECT max(seen) FROM punchlist.readers")
        return bool(seen == 2)

    wire.marker = b"INSERT INTO readers"
    wire.mode = "armed to lose"
    telling = Aside(lambda: desk.call("plan", {"show": True}).text)
    eventually(heard)
    wire.cut()
    assert "renamed 1" in str(telling.result())


def test_what_somebody_else_told_meanwhile_is_not_told_again(direct: str) -> None:
    with punchlist.open(direct, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "a"))
        desk._seat.store.remember(desk.plan.id, "reader", Reader(1), Reader(0))
        with pytest.raises(punchlist.StaleRevision):
            desk._seat.store.remember(desk.plan.id, "reader", Reader(1), Reader(0))


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["a change", "a look", "opening"])
def test_a_server_that_falls_silent_is_not_waited_for_longer_than_allowed(kind: str, wire: Wire) -> None:
    desk = through(wire, patience="1")
    desk.change(lambda plan: ops.add(plan, "first"))
    wire.mode = "silent"
    if kind == "a change":
        trying = Aside(lambda: desk.change(lambda plan: ops.add(plan, "second")))
    elif kind == "a look":
        trying = Aside(lambda: desk.plan)
    else:
        trying = Aside(lambda: through(wire, patience="1"))
    with pytest.raises(StoreError, match=r"did not answer in time|cannot be used"):
        trying.result()
    wire.cut()
    desk.change(lambda plan: ops.add(plan, "third"))
    assert texts(desk.plan)[-1] == "third"


def test_a_client_that_is_suspended_in_a_transaction_does_not_hold_up_others(direct: str) -> None:
    with punchlist.open(direct, session="s") as desk, punchlist.open(direct, session="s") as other:
        desk.change(lambda plan: ops.add(plan, "first"))
        assert isinstance(desk._seat.store, PostgresStore)
        desk._seat.store.reserve(desk.plan.id)  # and then it sleeps
        Aside(lambda: other.change(lambda plan: ops.add(plan, "second"))).result()
        assert asked(direct, "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'") == [(0,)]
        desk.change(lambda plan: ops.add(plan, "third"))  # it wakes up
        assert texts(other.plan) == ["first", "second", "third"]


def test_a_plan_that_somebody_else_holds_is_named_in_time(direct: str) -> None:
    with Desk(open_store(direct, patience="1"), session="s", settings=SETTINGS) as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
        with psycopg.connect(direct) as db:
            db.execute("SELECT FROM punchlist.plans FOR UPDATE")
            trying = Aside(lambda: desk.change(lambda plan: ops.add(plan, "second")))
            with pytest.raises(StoreError, match="is held by another client for too long"):
                trying.result()
        desk.change(lambda plan: ops.add(plan, "third"))
        assert texts(desk.plan) == ["first", "third"]


@pytest.mark.parametrize(
    "error", [psycopg.errors.DiskFull(), psycopg.errors.QueryCanceled(), psycopg.errors.LockNotAvailable()]
)
def test_what_will_not_pass_is_named_at_once(error: psycopg.Error) -> None:
    assert not may_pass(error)


def test_a_busy_writer_does_not_keep_others_from_writing(direct: str) -> None:
    with punchlist.open(direct, session="s") as busy, punchlist.open(direct, session="s") as other:
        busy.change(lambda plan: ops.add(plan, "first"))
        over = threading.Event()

        def writes() -> None:
            while not over.is_set():
                busy.call("plan", {"edit": {"1": os.urandom(4).hex()}})

        thread = threading.Thread(target=writes)
        thread.start()
        tries = []
        try:
            for number in range(10):
                calls: list[int] = []
                other.change(lambda plan, n=number, calls=calls: calls.append(1) or ops.add(plan, f"item {n}"))  # type: ignore[misc]
                tries.append(len(calls))
        finally:
            over.set()
            thread.join()
        assert max(tries) <= 20
        assert texts(other.plan)[1:] == [f"item {number}" for number in range(10)]


# --- behind a pooler -------------------------------------------------------------------------------------------------


@pytest.fixture
def pooled(direct: str) -> Iterator[str]:
    """The address of a real PgBouncer in transaction mode, with fewer connections than it has clients."""
    program = shutil.which("pgbouncer") or ("/usr/sbin/pgbouncer" if os.path.exists("/usr/sbin/pgbouncer") else "")
    if not program:
        pytest.skip("pgbouncer is not installed")
    parts = urlsplit(direct)
    (folder,) = parse_qs(parts.query)["host"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="pl-pool-") as own:
        os.chmod(own, 0o777)
        name = parts.path.strip("/")
        path = Path(own) / "pgbouncer.ini"
        path.write_text(
            f"[databases]\n{name} = host={folder} dbname={name} user={parts.username or 'postgres'}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
            f"pool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 50\nlogfile = {own}/log\n"
        )
        path.chmod(0o644)
        owner = pwd.getpwuid(os.stat(folder).st_uid).pw_name  # whoever may reach the server's socket
        command = [program, *(["-u", owner] if os.geteuid() == 0 else []), str(path)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            url = f"postgresql://someone@127.0.0.1:{port}/{name}"

            def is_up() -> bool:
                with suppress(psycopg.Error):
                    return bool(asked(url, "SELECT 1"))
                return False

            eventually(is_up)
            yield url
        finally:
            process.terminate()
            process.wait()


def test_behind_a_transaction_pooler_everything_acknowledged_is_there(pooled: str, direct: str) -> None:
    names = [f"client {number}" for number in range(8)]

    def works(name: str) -> object:
        with punchlist.open(pooled, session="s", agent=name) as desk:
            for number in range(6):
                desk.change(lambda plan, n=number: ops.add(plan, f"{name} {n}"), by=name)  # type: ignore[misc]
                desk.call("plan", {"show": True})
        return name

    with punchlist.open(pooled, session="s") as first:
        first.change(lambda plan: ops.add(plan, "first"))
        for name in names:
            first.bind("s", name)
    assert [work.result() for work in [Aside(lambda name=name: works(name)) for name in names]] == names  # type: ignore[misc]
    with punchlist.open(direct, session="s") as desk:
        wanted = {f"{name} {number}" for name in names for number in range(6)}
        assert set(texts(desk.plan)) == {"first", *wanted}
        assert len(desk.plan.items) == 49
        assert [record.revision for record in desk.history()] == list(range(1, desk.plan.revision + 1))


def test_behind_a_pooler_no_state_is_left_on_a_connection_that_others_get(pooled: str) -> None:
    with punchlist.open(pooled, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
        for name in ("search_path", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            assert asked(pooled, f"SELECT setting = reset_val FROM pg_settings WHERE name = '{name}'") == [(True,)]
        assert asked(pooled, "SELECT count(*) FROM pg_prepared_statements") == [(0,)]


def test_behind_a_pooler_a_follower_sees_every_change(pooled: str, direct: str) -> None:
    with punchlist.open(pooled, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "a"))
        follower = Follower(desk, enough="c")
        follower.until("a")
        with punchlist.open(direct, session="s") as other:
            other.change(lambda plan: ops.add(plan, "b"))
            follower.until("a", "b")
            other.change(lambda plan: ops.add(plan, "c"))
        follower.until("a", "b", "c")
        assert follower.next() is None
        assert asked(direct, "SELECT count(*) FROM punchlist.listeners") == [(0,)]

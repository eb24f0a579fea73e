"""What only a store on a server has: connections that are shared, that break, and that a fork inherits."""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from threading import Barrier, Thread

import psycopg
import pytest

import punchlist
from punchlist import Desk, ops
from punchlist.stores import open_store
from punchlist.stores.postgres import PostgresStore, listener
from tests.commands import logged_errors
from tests.core.plans import texts
from tests.postgres_server import fresh_database
from tests.stores.following import PATIENCE, Follower

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]


@pytest.fixture
def url(postgres: str) -> str:
    return fresh_database(postgres)


@pytest.fixture
def desk(url: str) -> Iterator[Desk]:
    with punchlist.open(url, session="s") as opened:
        opened.change(lambda plan: ops.add(plan, "a"))
        yield opened


@pytest.fixture
def only_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by itself: whoever is not woken hangs."""
    monkeypatch.setattr("punchlist.desk.seat._LONGEST", 10.0 * PATIENCE)  # a look by the clock would hide a lost notice
    monkeypatch.setattr(listener, "_LOOKS", 10.0 * PATIENCE)  # the same, in the listener


def add(desk: Desk, text: str) -> None:
    desk.change(lambda plan: ops.add(plan, text))


def connections(url: str) -> list[tuple[int, str]]:
    """The connections of our stores to a database, each with its last statement."""
    with psycopg.connect(url, application_name="a test") as db:
        return db.execute(
            "SELECT pid, query FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'punchlist'"
        ).fetchall()


def listening(url: str) -> list[int]:
    return [
        pid for pid, query in connections(url) if query.startswith("LISTEN") or "listeners" in query.split("WHERE")[0]
    ]


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)  # between two looks at the server


def in_a_fork(work: Callable[[], None]) -> int:
    """The exit code of a fork that does some work."""
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# --- following -----------------------------------------------------------------------------------------------------


def test_every_follower_is_woken_by_the_notice_and_not_by_the_time(desk: Desk, url: str, only_notices: None) -> None:
    with punchlist.open(url, session="s") as following:
        followers = [Follower(following) for _ in range(8)]
        for follower in followers:
            follower.until("a")
        for number in range(10):
            add(desk, str(number))
            wanted = ["a", *map(str, range(number + 1))]
            assert [texts(follower.until(*wanted)) for follower in followers] == [wanted] * 8


def test_a_follower_hears_of_the_first_plan_and_of_another_one_by_notice(url: str, only_notices: None) -> None:
    with punchlist.open(url, session="new") as desk, punchlist.open(url, session="other") as other:
        follower = Follower(desk)
        follower.until()
        add(other, "theirs")
        with punchlist.open(url, session="new") as writing:
            add(writing, "mine")
        follower.until("mine")
        other.bind("new")
        follower.until("theirs")


def test_all_who_follow_share_one_connection_and_let_it_go(
    desk: Desk, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "_LINGER", 0.05)  # ten seconds else
    before = len(connections(url))
    followers = [Follower(desk, enough="b") for _ in range(5)]
    for follower in followers:
        follower.until("a")
    eventually(lambda: len(listening(url)) == 1)
    assert len(connections(url)) == before + 1
    add(desk, "b")
    for follower in followers:
        follower.until("a", "b")
        assert follower.next() is None
    eventually(lambda: listening(url) == [])
    late = Follower(desk)
    late.until("a", "b")
    add(desk, "c")
    late.until("a", "b", "c")


def test_a_listener_whose_connection_is_cut_listens_again(desk: Desk, url: str, only_notices: None) -> None:
    follower = Follower(desk)
    follower.until("a")
    for number in range(3):
        eventually(lambda: len(listening(url)) == 1)
        cut = listening(url)[0]
        with psycopg.connect(url) as db:
            db.execute("SELECT pg_terminate_backend(%s)", (cut,))
        eventually(lambda cut=cut: listening(url) not in ([], [cut]))  # type: ignore[misc]
        with punchlist.open(url, session="s") as other:
            add(other, str(number))
        follower.until("a", *map(str, range(number + 1)))


def enlisted(url: str) -> list[tuple[int, float]]:
    """Who has said to listen, and for how many seconds."""
    with psycopg.connect(url) as db:
        return db.execute("SELECT pid, extract(epoch FROM until - now())::float FROM punchlist.listeners").fetchall()


def test_it_is_said_again_and_again_that_somebody_listens_and_at_the_end_that_nobody_does(
    desk: Desk, url: str, only_notices: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "_AGAIN", 0.05)  # twenty seconds else
    monkeypatch.setattr(listener, "_LINGER", 0.05)  # ten seconds else
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("INSERT INTO punchlist.listeners VALUES (-1, now() - interval '1 second')")  # somebody died
    follower = Follower(desk, enough="9")
    follower.until("a")
    eventually(lambda: [pid for pid, _ in enlisted(url)] == listening(url) != [])
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("UPDATE punchlist.listeners SET until = now() - interval '1 hour'")
    eventually(lambda: [pid for pid, seconds in enlisted(url) if seconds > 0] == listening(url) != [])
    for number in range(10):
        add(desk, str(number))
        follower.until("a", *map(str, range(number + 1)))
    assert follower.next() is None
    eventually(lambda: enlisted(url) == [])


def test_nobody_is_notified_while_nobody_listens(desk: Desk, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"LISTEN {listener.CHANNEL}".encode())
        add(desk, "b")
        desk.call("plan", {"done": [1]})
        assert list(db.notifies(timeout=0.2)) == []
        db.execute("INSERT INTO punchlist.listeners VALUES (pg_backend_pid(), now() + interval '1 minute')")
        add(desk, "c")
        desk.call("plan", {"done": [2]})
        desk.call("plan", {"done": [3]})
        assert [notice.payload for notice in db.notifies(timeout=5, stop_after=3)] == [desk.plan.id] * 3


def test_a_store_that_is_closed_ends_those_who_follow_and_leaves_no_connection(url: str, only_notices: None) -> None:
    with punchlist.open(url, session="s") as desk:
        add(desk, "a")
        followers = [Follower(desk) for _ in range(4)]
        for follower in followers:
            follower.until("a")
        eventually(lambda: len(listening(url)) == 1)
    assert [follower.next() for follower in followers] == [None] * 4
    eventually(lambda: connections(url) == [])


def test_a_closed_store_says_so(url: str) -> None:
    desk = punchlist.open(url, session="s")
    desk.close()
    desk.close()
    with pytest.raises(punchlist.StoreError, match="the desk is closed"):
        add(desk, "too late")


# --- a server that is not there ------------------------------------------------------------------------------------


@pytest.fixture
def refusing() -> Iterator[str]:
    """An address at which nobody listens, and nobody else can."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"postgresql://u:secret@127.0.0.1:{taken.getsockname()[1]}/db"


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that lets everybody in, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


def address(server: socket.socket) -> str:
    return f"postgresql://u:secret@127.0.0.1:{server.getsockname()[1]}/db"


def callers(server: socket.socket) -> int:
    """How many have come since this was last asked."""
    for count in itertools.count():
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
    raise AssertionError("counting never ends")


def refusal(url: str) -> str:
    """What opening a store says. It must not take as long as one is waited for who has answered before."""
    found: Queue[BaseException] = Queue()

    def opens() -> None:
        try:
            open_store(url, patience=str(10 * PATIENCE)).close()
        except BaseException as error:
            found.put(error)

    Thread(target=opens, daemon=True).start()
    error = found.get(timeout=PATIENCE)
    assert isinstance(error, punchlist.StoreError)
    return str(error)


def test_a_server_that_never_answered_is_not_waited_for(refusing: str) -> None:
    said = refusal(refusing)
    assert said.startswith(refusing.replace("secret", "***") + " cannot be used (")
    assert said.endswith("); check the address, and that the server runs.")
    assert "secret" not in said


def test_a_database_that_is_not_there_is_said_to_be_missing(postgres: str) -> None:
    url = postgres.replace("/postgres?", "/nowhere?")
    assert url != postgres
    assert "has no such database (" in refusal(url)


def database_of(url: str) -> str:
    with psycopg.connect(url) as db:
        return db.info.dbname


def order(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        for statement in statements:
            db.execute(statement.encode())


@pytest.mark.parametrize("table", ["plans", "version"])
def test_a_schema_without_the_tables_of_a_store_is_said_to_be_so(table: str, desk: Desk, url: str) -> None:
    order(url, f"DROP TABLE punchlist.{table}")
    with pytest.raises(punchlist.StoreError, match=r" has other tables than a store \(relation .*; restore its schema"):
        punchlist.open(url, session="s").plan  # noqa: B018


def test_a_database_that_is_read_only_can_be_read_and_is_said_to_be_so(desk: Desk, url: str) -> None:
    order(url, f"ALTER DATABASE {database_of(url)} SET default_transaction_read_only = on")
    with punchlist.open(url, session="s") as other:
        assert texts(other.plan) == ["a"]
        with pytest.raises(punchlist.StoreError, match=r" is read-only \(.*; name the server that") as told:
            add(other, "b")
    assert told.value.kind == "permission"


def test_a_role_that_may_not_log_in_and_a_database_that_takes_nobody_are_said_to_be_so(postgres: str, url: str) -> None:
    name = database_of(url)
    order(postgres, "DROP ROLE IF EXISTS punchlist_guest", "CREATE ROLE punchlist_guest")
    guest = psycopg.conninfo.make_conninfo(url, user="punchlist_guest")
    parts = psycopg.conninfo.conninfo_to_dict(guest)
    address = f"postgresql://punchlist_guest@/{name}?host={parts['host']}"
    assert " refuses this user (" in refusal(address)
    order(postgres, "ALTER ROLE punchlist_guest LOGIN", f"ALTER DATABASE {name} CONNECTION LIMIT 0")
    assert " takes no more connections (" in refusal(address)


# --- encodings -------------------------------------------------------------------------------------------------------


def encoded_database(postgres: str, encoding: str) -> str:
    name = f"punchlist_in_{encoding.lower()}"
    made = f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    order(postgres, f"DROP DATABASE IF EXISTS {name}", made)
    return postgres.replace("/postgres?", f"/{name}?")


@pytest.mark.parametrize("encoding", ["UTF8", "SQL_ASCII"])
def test_names_in_any_language_are_kept_whatever_encoding_is_usual_there(
    encoding: str, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    url = encoded_database(postgres, encoding)
    for _ in range(2):
        with punchlist.open(url, session="早い ○ 😀", agent="ß") as desk:
            add(desk, "é ○ 😀")
    with punchlist.open(url, session="早い ○ 😀", agent="ß") as desk:
        assert texts(desk.plan) == ["é ○ 😀", "é ○ 😀"]


def test_a_database_that_cannot_hold_a_name_is_said_to_need_another_encoding(postgres: str) -> None:
    url = encoded_database(postgres, "LATIN1")
    with punchlist.open(url, session="ß") as desk:
        add(desk, "○ 😀")
        assert texts(desk.plan) == ["○ 😀"]
    with pytest.raises(punchlist.StoreError, match="use a database whose encoding is UTF8"):
        punchlist.open(url, session="早い").plan  # noqa: B018


def test_a_server_that_says_nothing_is_asked_once(silent: socket.socket) -> None:
    assert "***@127.0.0.1" in refusal(address(silent))
    assert callers(silent) == 1


@pytest.mark.parametrize("kind", ["refusing", "silent"])
def test_a_hook_whose_server_is_not_there_is_silent_and_says_why_in_its_log(
    kind: str, own_home: Path, refusing: str, silent: socket.socket
) -> None:
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(own_home), "prompt": "go on"}
    url = refusing if kind == "refusing" else address(silent)
    done = subprocess.run(
        [sys.executable, "-m", "punchlist", "hook", "claude-code", "--store", url],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (line,) = logged_errors()
    assert url.replace("secret", "[redacted]") in line
    assert callers(silent) == (1 if kind == "silent" else 0)


# --- threads and forks ---------------------------------------------------------------------------------------------


def test_a_fork_has_connections_of_its_own_and_leaves_its_parent_s_alone(desk: Desk, url: str) -> None:
    def adds(name: str) -> None:
        for number in range(20):
            add(desk, f"{name} {number}")

    child = os.fork()
    if not child:
        try:
            adds("child")
            desk.close()
            os._exit(0)
        finally:
            os._exit(1)
    adds("parent")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    add(desk, "the parent goes on")
    found = texts(desk.plan)
    for name in ("child", "parent"):
        assert [text for text in found if text.startswith(f"{name} ")] == [f"{name} {n}" for n in range(20)]
    assert len(found) == 42


def test_a_fork_of_one_who_follows_can_follow_by_itself(desk: Desk, url: str, only_notices: None) -> None:
    follower = Follower(desk)
    follower.until("a")

    def follows() -> None:
        own = Follower(desk)
        own.until("a")
        with punchlist.open(url, session="s") as other:
            add(other, "b")
        own.until("a", "b")
        desk.close()

    assert in_a_fork(follows) == 0
    follower.until("a", "b")
    add(desk, "c")
    follower.until("a", "b", "c")


def test_a_fork_while_another_thread_is_at_work_does_not_wait_for_that_thread(desk: Desk) -> None:
    assert isinstance(desk._seat.store, PostgresStore)
    held, free = Barrier(2), Barrier(2)

    def holds() -> None:
        assert isinstance(desk._seat.store, PostgresStore)
        with desk._seat.store._own_lock():
            held.wait(PATIENCE)
            free.wait(PATIENCE)

    thread = Thread(target=holds)
    thread.start()
    held.wait(PATIENCE)
    try:
        assert in_a_fork(lambda: add(desk, "b")) == 0
    finally:
        free.wait(PATIENCE)
        thread.join()
    assert texts(desk.plan) == ["a", "b"]

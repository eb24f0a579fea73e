"""`verify` with a plan in PostgreSQL: several machines, and a server that goes away while a check runs."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import punchlist
from tests.commands import SCRIPT
from tests.postgres_server import Server, fresh_database

# Says that it runs, and waits until it is told to end.
WAITS = "touch ../{name}.runs; while [ ! -e ../{name}.end ]; do sleep 0.05; done; exit {exit}"


class Machine:
    """A home and a project of one person, with a plan that others have, too."""

    def __init__(self, folder: Path, store: str, plan: str = "") -> None:
        self.folder, self.store = folder, store
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        (self.project / "app.txt").write_text("hello\n", encoding="utf-8")
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.environ = {**os.environ, "HOME": str(folder), "PUNCHLIST_STORE": store, "PUNCHLIST_PLAN": plan}
        self.environ = {name: value for name, value in self.environ.items() if not name.startswith("XDG_")}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [SCRIPT, *words],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, code: int = 0) -> str:
        return finish(self.start(*words), code)

    @property
    def plan(self) -> str:
        return str(json.loads(self.run("show", "--json"))["id"])

    def wait_for(self, name: str, process: subprocess.Popen[str]) -> None:
        while not (self.folder / name).exists():
            assert process.poll() is None, process.communicate()


def finish(process: subprocess.Popen[str], code: int) -> str:
    out, error = process.communicate(timeout=120)
    assert process.returncode == code, (process.returncode, out, error)
    return out + error


@pytest.fixture
def machine(tmp_path: Path, postgres: str) -> Machine:
    return Machine(tmp_path / "here", fresh_database(postgres))


def test_two_that_verify_at_once_both_keep_their_runs(machine: Machine) -> None:
    machine.run("add", "a", "--check", WAITS.format(name="a", exit=0))
    machine.run("add", "b", "--check", WAITS.format(name="b", exit=0))
    machine.run("done", "1", "2")
    first, second = machine.start("verify", "1"), machine.start("verify", "2")
    machine.wait_for("a.runs", first)
    machine.wait_for("b.runs", second)
    for name in "ab":
        (machine.folder / f"{name}.end").touch()
    assert "1 of 1 verified" in finish(first, 0)
    assert "1 of 1 verified" in finish(second, 0)
    assert "2 verified" in machine.run("show")


def test_what_an_agent_runs_while_somebody_verifies_is_kept_too(machine: Machine) -> None:
    machine.run("add", "a", "--check", WAITS.format(name="a", exit=0))
    machine.run("add", "b", "--check", "grep -q hello app.txt")
    machine.run("done", "1", "2")
    verifying = machine.start("verify", "1")
    machine.wait_for("a.runs", verifying)
    with punchlist.open(machine.store, plan=machine.plan, session="s") as desk:
        desk.tool_used("Bash", {"command": "grep -q hello app.txt"}, "", exit=0, folder=str(machine.project))
    (machine.folder / "a.end").touch()
    finish(verifying, 0)
    assert "2 verified" in machine.run("show")


def test_another_machine_reads_the_evidence_and_approves_for_itself(machine: Machine, tmp_path: Path) -> None:
    machine.run("add", "a", "--check", "grep -q hello app.txt")
    machine.run("done", "1")
    machine.run("verify")
    there = Machine(tmp_path / "there", machine.store, machine.plan)
    assert '"tier": "ran"' in there.run("show", "--json")
    assert "not run: not approved" in there.run("verify", code=1)
    assert "1 of 1 verified" in there.run("verify", "--trust", "1")
    machine.project.rename(machine.folder / "moved")  # as on a machine that does not have this directory
    assert "1 verified" not in there.run("show")
    assert "its directory is not there" in there.run("verify", code=1)


@pytest.fixture
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="punchlist-pg-", ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.close()


@pytest.mark.torture
def test_a_server_that_goes_away_while_a_check_runs_is_named_and_what_was_finished_is_kept(
    tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path / "here", fresh_database(server.url))
    machine.run("add", "quick", "--check", "true")
    machine.run("add", "slow", "--check", WAITS.format(name="a", exit=0))
    machine.run("done", "1", "2")
    verifying = machine.start("verify")
    machine.wait_for("a.runs", verifying)
    server.stop("immediate")
    (machine.folder / "a.end").touch()
    said = finish(verifying, 3)
    assert "check the address, and that the server runs" in said
    server.start()
    assert "1 verified" in machine.run("show")
    assert "2 of 2 verified" in machine.run("verify")


@pytest.mark.torture
def test_a_server_that_is_back_before_a_check_ends_is_not_noticed(tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path / "here", fresh_database(server.url))
    machine.run("add", "slow", "--check", WAITS.format(name="a", exit=0))
    machine.run("done", "1")
    verifying = machine.start("verify")
    machine.wait_for("a.runs", verifying)
    server.stop("immediate")
    server.start()
    (machine.folder / "a.end").touch()
    assert "1 of 1 verified" in finish(verifying, 0)

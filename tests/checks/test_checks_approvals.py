"""What the user approved to be run is kept by content and directory; a file that cannot be used approves nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from punchlist.checks import approvals

CHECK = {"run": "make test"}


@pytest.fixture
def file(own_home: Path) -> Path:
    return own_home / "punchlist" / "approvals.json"


def test_what_is_approved_is_so_for_this_content_and_directory_only(file: Path) -> None:
    approvals.approve(CHECK, "/a")
    known = approvals.load()
    assert known.has(CHECK, "/a")
    assert not known.has(CHECK, "/b")
    assert not known.has({"run": "make test "}, "/a")
    assert not known.has({"run": "make test", "scope": ["src"]}, "/a")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_check_of_a_file_runs_nothing_and_needs_no_approval() -> None:
    assert approvals.load().has({"file": "a"}, "/a")


def test_an_approval_can_be_taken_back() -> None:
    approvals.approve(CHECK, "/a")
    (key,) = approvals.load().known
    approvals.revoke(key)
    assert approvals.load() == approvals.Approvals({})
    approvals.revoke("none")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"approved": []}',
        '{"approved": {"x": 3}}',
        '{"approved": {"x": {"check": {"run": "rm -rf ."}, "dir": "/", "at": ""}}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_approves_nothing_and_is_kept_aside(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    found = approvals.load()
    assert found.known == {}
    assert found.problem == f"{file}: it is damaged, so nothing is approved; approve again what you want to run."
    approvals.approve(CHECK, "/a")
    assert approvals.load().has(CHECK, "/a")
    assert file.with_name("approvals.json.damaged").read_text() == text


def test_one_wrong_entry_spoils_all_of_them(file: Path) -> None:
    approvals.approve(CHECK, "/a")
    data = json.loads(file.read_text())
    (row,) = data["approved"].values()
    row["check"]["run"] = "make evil"
    file.write_text(json.dumps(data))
    assert approvals.load().known == {}


def test_a_file_that_others_can_write_approves_nothing(file: Path) -> None:
    approvals.approve(CHECK, "/a")
    file.chmod(0o666)
    found = approvals.load()
    assert not found.has(CHECK, "/a")
    assert "others can write it" in found.problem


def test_a_pipe_in_place_of_the_file_is_not_waited_for(file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file, 0o600)
    assert "not a regular file" in approvals.load().problem


def test_two_processes_at_once_lose_nothing() -> None:
    program = (
        "import sys; from punchlist.checks import approvals\n"
        "for number in range(20): approvals.approve({'run': f'{sys.argv[1]} {number}'}, '/a')"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, name]) for name in "ab"]
    assert [one.wait() for one in running] == [0, 0]
    assert len(approvals.load().known) == 40

"""A disk without a byte free, and a process that is new: storage full is told as such."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import punchlist
from punchlist import ops
from punchlist.core.errors import StoreError
from punchlist.local import on_off
from tests.commands import SCRIPT


def filled(disk: Path) -> Path:
    """Take what is left of a disk; the file that holds it."""
    path = disk / "filling"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 512)
    return path


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_storage_full_is_told_as_such_by_a_new_process(kind: str, small_disk: Path) -> None:
    url = f"{kind}:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    filling = filled(small_disk)
    tool = [SCRIPT, "--store", url, "--session", "s"]
    added = subprocess.run([*tool, "add", "second " * 2_000], capture_output=True, encoding="utf-8", check=False)
    assert added.returncode == 3
    assert added.stderr.endswith("cannot grow: the disk is full; make room and try again.\n")
    args = json.dumps({"todos": [{"id": "1", "content": "second " * 2_000, "status": "pending"}]})
    call = [*tool, "call", "todo_write", "--dialect", "llxprt"]
    called = subprocess.run(call, input=args, capture_output=True, encoding="utf-8", check=False)
    assert (called.returncode, json.loads(called.stdout)["text"]) == (3, "Storage full, cannot save todos")
    filling.unlink()
    with punchlist.open(url, session="s") as desk:
        assert [item.text for item in desk.plan.items] == ["first"]


def listed(url: str) -> list[str]:
    shown = subprocess.run(
        [SCRIPT, "--store", url, "--session", "s", "show", "--json"], capture_output=True, check=True
    )
    return [item["text"] for item in json.loads(shown.stdout)["items"]]


def resumed(url: str) -> str:
    event = {"hook_event_name": "SessionStart", "session_id": "s", "source": "resume", "cwd": "."}
    hook = [SCRIPT, "--store", url, "hook", "claude-code"]
    return subprocess.run(hook, input=json.dumps(event).encode(), capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_without_a_free_byte_the_plan_can_be_read(kind: str, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{kind}:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    monkeypatch.setenv("XDG_STATE_HOME", str(small_disk))
    filling = filled(small_disk)
    assert listed(url) == ["first"]
    for command in ("log", "plans"):
        run = [SCRIPT, "--store", url, "--session", "s", command]
        assert "first" in subprocess.run(run, capture_output=True, encoding="utf-8", check=True).stdout
    assert "1 first" in resumed(url)
    assert listed(url) == ["first"]
    filling.unlink()
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "second"))
    assert listed(url) == ["first", "second"]


def test_without_a_free_byte_what_a_killed_process_left_in_the_log_is_read(small_disk: Path) -> None:
    url = f"sqlite:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    dying = f"""if True:
        import os, punchlist
        desk = punchlist.open({url!r}, session="s")
        desk.change(lambda plan: punchlist.ops.add(plan, "second"))
        os._exit(0)"""
    subprocess.run([sys.executable, "-c", dying], check=True)
    (small_disk / "plans-shm").unlink()  # as after a restart of the machine, on some systems
    filled(small_disk)
    assert listed(url) == ["first", "second"]


def test_a_store_that_was_opened_on_a_full_disk_is_written_once_there_is_room(small_disk: Path) -> None:
    url = f"sqlite:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    filling = filled(small_disk)
    with punchlist.open(url, session="s") as desk:
        assert [item.text for item in desk.plan.items] == ["first"]
        with pytest.raises(StoreError, match="cannot grow: the disk is full"):
            desk.change(lambda plan: ops.add(plan, "second"))
        filling.unlink()
        desk.change(lambda plan: ops.add(plan, "second"))
        with punchlist.open(url, session="s") as other:
            other.change(lambda plan: ops.add(plan, "third"))
        assert [item.text for item in desk.plan.items] == ["first", "second", "third"]


def test_it_can_be_turned_off_and_on_without_a_byte_free(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(small_disk))
    on_off.set_off(True, session="other")
    filled(small_disk)
    assert on_off.set_off(True, session="s")
    assert on_off.is_off("", "s")
    assert on_off.set_off(False, session="s")
    assert not on_off.is_off("", "s")

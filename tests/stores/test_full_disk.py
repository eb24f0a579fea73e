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

SCRIPT = str(Path(sys.executable).parent / "punchlist")


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

"""A disk without a byte free, and a process that is new: storage full is told as such."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops
from punchlist.core.errors import StoreError
from punchlist.local import on_off
from tests.commands import SCRIPT

pytestmark = pytest.mark.once  # what a disk does


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


def called(url: str) -> dict[str, Any]:
    """What a call says that the store could not save."""
    tool = [SCRIPT, "--store", url, "--session", "s", "call", "plan"]
    args = json.dumps({"add": ["third"]})
    done = subprocess.run(tool, input=args, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 3
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["is_error"]
    return answer


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_a_call_that_cannot_be_saved_answers_with_the_plan_as_it_is_stored(kind: str, small_disk: Path) -> None:
    url = f"{kind}:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
        desk.change(lambda plan: ops.add(plan, "second"))
    filled(small_disk)
    plan = called(url)["plan"]
    assert (plan["revision"], [item["text"] for item in plan["items"]]) == (2, ["first", "second"])


def test_a_call_to_a_store_that_cannot_be_read_answers_without_a_plan(tmp_path: Path) -> None:
    (tmp_path / "plans").write_text("not a database")
    assert called(f"sqlite:{tmp_path}/plans")["plan"] is None


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_doctor_says_that_the_disk_is_full_and_what_to_do(kind: str, small_disk: Path) -> None:
    url = f"{kind}:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    filled(small_disk)
    done = subprocess.run([SCRIPT, "doctor", "--json", "--store", url], capture_output=True, check=False)
    [found] = [check for check in json.loads(done.stdout)["checks"] if check["state"] == "problem"]
    assert found["text"] == f"nothing can be stored in {small_disk / 'plans'}: its disk is full"
    assert found["fix"].startswith("make room, or ")


def make_read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)


def make_writable(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)


def refused(url: str) -> str:
    """What a new process says that cannot write."""
    tool = [SCRIPT, "--store", url, "--session", "s", "add", "second"]
    done = subprocess.run(tool, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (3, "")
    return done.stderr


@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_on_a_read_only_disk_full_or_not_the_plan_can_be_read(kind: str, is_full: bool, small_disk: Path) -> None:
    url = f"{kind}:{small_disk}/plans"
    file = small_disk / "plans" / "punchlist.db" if kind == "json" else small_disk / "plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    if is_full:
        filled(small_disk)
    make_read_only(small_disk)
    assert listed(url) == ["first"]
    for words in (["log"], ["plans"], ["show", "1"], ["line"]):
        run = [SCRIPT, "--store", url, "--session", "s", *words]
        assert "first" in subprocess.run(run, capture_output=True, encoding="utf-8", check=True).stdout
    with punchlist.open(url, session="s") as desk:
        assert [item.text for item in desk.plan.items] == ["first"]
        assert len(desk.history()) == 1
    remedy = "remount it for writing, or name another store."
    assert refused(url) == f"punchlist: {file} cannot be written: its disk is read-only; {remedy}\n"
    done = subprocess.run([SCRIPT, "doctor", "--json", "--store", url], capture_output=True, check=False)
    found = [check["text"] for check in json.loads(done.stdout)["checks"] if check["state"] == "problem"]
    assert found == [f"nothing can be stored in {small_disk / 'plans'}: its disk is read-only"]


@pytest.mark.parametrize("has_shared_memory", [False, True])
def test_on_a_read_only_disk_what_a_killed_process_left_in_the_log_is_read(
    has_shared_memory: bool, small_disk: Path
) -> None:
    url = f"sqlite:{small_disk}/plans"
    dying = f"""if True:
        import os, punchlist
        desk = punchlist.open({url!r}, session="s")
        desk.change(lambda plan: punchlist.ops.add(plan, "first"))
        os._exit(0)"""
    subprocess.run([sys.executable, "-c", dying], check=True)
    if not has_shared_memory:
        (small_disk / "plans-shm").unlink()
    make_read_only(small_disk)
    assert listed(url) == ["first"]
    assert "its disk is read-only" in refused(url)


# --- a list that was edited by hand ----------------------------------------------------------------------------------


def edited_by_hand(disk: Path) -> tuple[str, Path]:
    """A store of lists, and one of them with an item that it was not given by us."""
    url = f"json:{disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    path = disk / "plans" / "s-agent-s.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), {"content": "by hand", "status": "pending"}]))
    return url, path


def shown(url: str) -> tuple[str, str]:
    tool = [SCRIPT, "--store", url, "--session", "s", "show"]
    done = subprocess.run(tool, capture_output=True, encoding="utf-8", check=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_an_edit_of_a_list_that_cannot_be_saved_is_shown_and_told_and_saved_later(how: str, small_disk: Path) -> None:
    url, path = edited_by_hand(small_disk)
    filling = filled(small_disk)
    if how == "read-only":
        make_read_only(small_disk)
    text, said = shown(url)
    assert "2 by hand" in text
    assert said.startswith(f"punchlist: your edit of {path} is shown, but not saved: {small_disk}/plans/punchlist.db ")
    assert said.count("\n") == 1
    assert f"the disk is {how}" in said.replace("its disk", "the disk")
    assert len(punchlist.open(url, session="s").history()) == 1
    assert refused(url).startswith(f"punchlist: {small_disk}/plans/punchlist.db cannot ")
    make_writable(small_disk)
    filling.unlink()
    assert shown(url)[1] == ""
    assert listed(url) == ["first", "by hand"]
    assert len(punchlist.open(url, session="s").history()) == 2


def test_an_edit_of_a_list_that_a_running_process_cannot_save_is_shown_and_is_why_it_cannot_write(
    small_disk: Path,
) -> None:
    url = f"json:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
        edited_by_hand(small_disk)
        filling = filled(small_disk)
        with punchlist.open(url, session="s") as other:
            assert [item.text for item in other.plan.items][-1] == "by hand"
        with pytest.raises(StoreError, match="cannot grow: the disk is full; make room"):
            desk.change(lambda plan: ops.add(plan, "x" * 5_000))
        filling.unlink()
        desk.change(lambda plan: ops.add(plan, "last"))
        assert [item.text for item in desk.plan.items][-2:] == ["by hand", "last"]


def test_a_damaged_list_that_cannot_be_set_aside_is_told_and_the_saved_plan_is_shown(small_disk: Path) -> None:
    url, path = edited_by_hand(small_disk)
    assert listed(url) == ["first", "by hand"]
    path.write_text("half a li")
    make_read_only(small_disk)
    text, said = shown(url)
    assert "2 by hand" in text
    assert said.startswith(f"punchlist: {path} is damaged, and this is the plan as it was saved last: ")
    assert path.read_text() == "half a li"


def test_a_copy_of_a_directory_on_a_read_only_disk_is_shown_without_a_word(small_disk: Path) -> None:
    url, path = edited_by_hand(small_disk)
    assert listed(url) == ["first", "by hand"]
    path.write_bytes(path.read_bytes())  # the same list, written at another time
    make_read_only(small_disk)
    assert shown(url)[1] == ""
    assert listed(url) == ["first", "by hand"]


# --- later -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_store_that_was_opened_on_such_a_disk_is_written_once_that_works(how: str, small_disk: Path) -> None:
    url = f"sqlite:{small_disk}/plans"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "first"))
    filling = filled(small_disk)
    if how == "read-only":
        make_read_only(small_disk)
    with punchlist.open(url, session="s") as desk:
        for _ in range(2):
            assert [item.text for item in desk.load().items] == ["first"]
        with pytest.raises(StoreError, match=f"disk is {how}"):
            desk.change(lambda plan: ops.add(plan, "second"))
        make_writable(small_disk)
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

"""Somebody else writes a list, or we are killed, at any step of our work: no edit is lost, theirs or ours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from punchlist import Desk, Plan, StoreError, ops
from punchlist.core.rules import problems
from punchlist.desk.edits import rewound
from punchlist.local.settings import load
from punchlist.stores import open_store
from tests.statements import trace

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

NAME = "s1-agent-s1.json"
FILE_STEPS = ("open", "os.link", "os.rename", "os.remove")
# How somebody writes a list: in its place, in its place with a pause in the middle, or as a new file that is renamed.
WAYS = ("in place", "slowly", "renamed")
# At which steps something happens: those around the commit and the rename, and in the torture suite at all of them.
ALL = ("",)
STEPS = (("BEGIN", "COMMIT", "os."), pytest.param(ALL, marks=pytest.mark.torture))

every_way = pytest.mark.parametrize("way", WAYS)
at_each_step = pytest.mark.parametrize("steps", STEPS, ids=["some", "all"])


def desk_in(folder: Path) -> Desk:
    """A desk on a store of its own: what it knows, it has read from the files."""
    return Desk(open_store(f"json:{folder}"), session="s1", settings=load({}, environ={}), place="/here")


# --- our process, step by step ---------------------------------------------------------------------------------------


class Stepper:
    """Calls `act` before one step of a process: a statement, or a file that is opened, linked, renamed or removed."""

    def __init__(self, folder: Path, at: int, act: Callable[[], object], told: int) -> None:
        self._folder, self._at, self._act, self._told = str(folder), at, act, told
        self._count = 0
        self._is_busy = False
        trace(lambda statement: self.step(statement.split()[0]))
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event in FILE_STEPS and str(args[0]).startswith(self._folder):
            names = [os.path.basename(arg) for arg in args[:2] if isinstance(arg, str)]
            self.step(" ".join([event, *names[-1:]]))

    def step(self, name: str) -> None:
        if self._is_busy:
            return
        self._is_busy = True
        os.write(self._told, f"{name}\n".encode())
        if self._count >= self._at >= 0:  # whoever writes slowly is called more than once
            self._act()
        self._count += 1
        self._is_busy = False


def steps_of(folder: Path, work: Callable[[Desk], object], at: int, act: Callable[[], object]) -> list[str]:
    """Work in a process of its own; the steps that it took, and `done` if it came to the end."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.set_inheritable(writing, True)
        try:
            stepper = Stepper(folder, at, act, writing)
            work(desk_in(folder))
            stepper.step("done")
            stepper.step("end")
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as told:
        steps = told.read().splitlines()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)
    return steps


# --- somebody else ---------------------------------------------------------------------------------------------------


class Writer:
    """Somebody who reads the list, completes its first item, adds one, and writes the list."""

    def __init__(self, path: Path, way: str, *, is_deadly: bool = False, text: str = "theirs") -> None:
        self._path, self._way, self._is_deadly, self._text = path, way, is_deadly, text
        self._state = "waiting"
        self._file = -1
        self._data = b""

    def act(self) -> None:
        if self._state == "waiting":
            self._begin()
        elif self._state == "writing":
            self._finish()
        if self._is_deadly and self._state == "finished":
            os.kill(os.getpid(), signal.SIGKILL)

    def _begin(self) -> None:
        entries = json.loads(self._path.read_text())
        kept = [{"content": entry["content"], "status": entry["status"]} for entry in entries]
        kept[0]["status"] = "completed"
        self._data = json.dumps([*kept, {"content": self._text, "status": "pending"}]).encode()
        target = self._path.with_suffix(".new") if self._way == "renamed" else self._path
        self._file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._state = "writing"
        if self._way != "slowly":
            self._finish()
        if self._way == "renamed":
            target.rename(self._path)

    def _finish(self) -> None:
        os.write(self._file, self._data)
        os.close(self._file)
        self._state = "finished"


# --- what happens ----------------------------------------------------------------------------------------------------


def save(desk: Desk) -> None:
    desk.change(lambda plan: ops.note(ops.add(plan, "ours"), "2", "our note"))


def look(desk: Desk) -> None:
    desk.load()


class Outcome(NamedTuple):
    """What came of it that something happened at a step of our work."""

    step: str
    is_done: bool  # whether our process came to its end
    plan: Plan

    @property
    def has_theirs(self) -> bool:
        return self.plan.items[0].status == "completed" and self.has("theirs")

    @property
    def has_ours(self) -> bool:
        return self.plan.items[1].notes == ("our note",) and self.has("ours")

    def has(self, text: str) -> bool:
        return text in {item.text for item in self.plan.items}


def outcomes(
    tmp_path: Path,
    steps: tuple[str, ...],
    work: Callable[[Desk], object],
    act: Callable[[Path], Callable[[], object]],
    before: Callable[[Path], object] = lambda path: None,
    after: Callable[[Path], object] = lambda path: None,
) -> list[Outcome]:
    """Work once for each step, with somebody who acts at it, and something that happens before and after."""
    names = steps_of(new_folder(tmp_path, before), work, -1, lambda: None)
    found = []
    for at, name in enumerate(names[:-1]):
        if name.startswith(steps):
            folder = new_folder(tmp_path, before)
            told = steps_of(folder, work, at, act(folder / NAME))
            after(folder / NAME)
            found.append(Outcome(told[at], "done" in told, check(folder)))
    assert len(found) > 5
    return found


def new_folder(tmp_path: Path, before: Callable[[Path], object]) -> Path:
    folder = tmp_path / str(len(os.listdir(tmp_path)))
    with desk_in(folder) as desk:
        desk.change(lambda plan: ops.extend(plan, [{"text": "first"}, {"text": "second"}]))
    before(folder / NAME)
    return folder


def check(folder: Path) -> Plan:
    """The plan of the files, which is well built and what its list shows, and whose history leads to it."""
    with desk_in(folder) as desk:
        plan = desk.plan
        assert problems(plan) == []
        assert rewound(plan, desk.history()).items == ()
    shown = [entry["content"] for entry in json.loads((folder / NAME).read_text())]
    assert shown == [item.text for item in plan.items]
    assert len(shown) == len(set(shown))
    assert list(folder.glob("*.damaged*")) == []
    return plan


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def lost(found: list[Outcome]) -> list[str]:
    """The steps at which their edit was lost."""
    return [outcome.step for outcome in found if not outcome.has_theirs]


# A file that somebody renames to the list right before our rename: nothing that POSIX has can tell.
ONLY_GAP = {"in place": [], "slowly": [], "renamed": [f"os.rename {NAME}"]}


@every_way
@at_each_step
def test_a_list_that_somebody_writes_while_we_save_costs_neither_edit(
    tmp_path: Path, steps: tuple[str, ...], way: str
) -> None:
    found = outcomes(tmp_path, steps, save, lambda path: Writer(path, way).act)
    assert all(outcome.is_done and outcome.has_ours for outcome in found)
    assert lost(found) == ONLY_GAP[way]


@every_way
@pytest.mark.torture
def test_a_list_that_somebody_writes_while_we_take_in_another_costs_neither(tmp_path: Path, way: str) -> None:
    def before(path: Path) -> None:
        save(desk_in(path.parent))
        Writer(path, "in place", text="theirs before").act()

    found = outcomes(tmp_path, ALL, look, lambda path: Writer(path, way).act, before)
    assert all(outcome.has_ours and outcome.has("theirs before") for outcome in found)
    assert lost(found) == ONLY_GAP[way]


@every_way
@pytest.mark.torture
def test_a_list_that_somebody_writes_right_before_we_are_killed_costs_neither_edit(tmp_path: Path, way: str) -> None:
    found = outcomes(tmp_path, ALL, save, lambda path: Writer(path, way, is_deadly=True).act)
    # Whoever opens the list right before our rename is noticed right after it, unless we are killed between the two.
    assert lost(found) == ([f"os.rename {NAME}"] if way == "slowly" else [])
    assert f"os.rename {NAME}" in [outcome.step for outcome in found if outcome.has_ours]


@every_way
@at_each_step
def test_a_list_that_somebody_writes_after_we_were_killed_costs_neither_edit(
    tmp_path: Path, steps: tuple[str, ...], way: str
) -> None:
    def after(path: Path) -> None:
        writer = Writer(path, way)
        writer.act()
        writer.act()

    found = outcomes(tmp_path, steps, save, lambda path: die, after=after)
    assert lost(found) == []
    assert f"os.rename {NAME}" in [outcome.step for outcome in found if outcome.has_ours]


@pytest.mark.parametrize("way", ["in place", "renamed"])
@at_each_step
def test_a_list_that_somebody_writes_while_we_set_a_damaged_one_aside_is_kept(
    tmp_path: Path, steps: tuple[str, ...], way: str
) -> None:
    theirs = json.dumps([{"content": text, "status": "pending"} for text in ("first", "second", "theirs")])

    def look_twice(desk: Desk) -> None:
        try:
            desk.load()
        except StoreError:
            desk.load()

    def write_once(path: Path) -> Callable[[], None]:
        written: list[Path] = []

        def act() -> None:
            if written:
                return
            target = path.with_suffix(".new") if way == "renamed" else path
            target.write_text(theirs)
            target.rename(path)
            written.append(target)

        return act

    def empty(path: Path) -> None:
        path.write_text("")

    names = steps_of(new_folder(tmp_path, empty), look_twice, -1, lambda: None)
    wanted = [at for at, name in enumerate(names[:-1]) if name.startswith(steps)]
    assert len(wanted) > 5
    for at in wanted:
        folder = new_folder(tmp_path, empty)
        steps_of(folder, look_twice, at, write_once(folder / NAME))
        with desk_in(folder) as desk:
            found = {item.text for item in desk.plan.items}
        assert "theirs" in found or theirs in [path.read_text() for path in folder.glob("*.damaged-*")], names[at]


@pytest.mark.torture
def test_a_list_that_somebody_writes_while_two_of_us_save_costs_no_edit(tmp_path: Path) -> None:
    script = """
import sys, punchlist
with punchlist.open(sys.argv[1], session="s1") as desk:
    desk.change(lambda plan: punchlist.ops.add(plan, "of another"))
"""

    def act(path: Path) -> Callable[[], None]:
        writer = Writer(path, "in place")
        others: list[subprocess.Popen[bytes]] = []

        def both() -> None:
            writer.act()
            if not others:  # whoever reads our steps waits for it: it has the same pipe
                command = [sys.executable, "-c", script, f"json:{path.parent}"]
                others.append(subprocess.Popen(command, close_fds=False))

        return both

    found = outcomes(tmp_path, ALL, save, act)
    assert all(outcome.is_done and outcome.has_ours and outcome.has("of another") for outcome in found)
    assert lost(found) == []

"""Folders for their owner's eyes only: each one that is made, on the way as well."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import punchlist
from punchlist.agent.transcript import Transcript
from punchlist.core.errors import Refused
from punchlist.desk import plan_mode
from punchlist.desk.holding import hold_back
from punchlist.hosts import hook_secret
from punchlist.local import event_log, faults, on_off, session_links
from punchlist.local.files import make_folder
from punchlist.tui.preferences import remember


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder that is not there yet, and a user whose files anybody may read."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "new" / "state"))
    before = os.umask(0o022)
    yield tmp_path / "new"
    os.umask(before)


def modes(path: Path) -> set[int]:
    folders = [path, *(one for one in path.rglob("*") if one.is_dir())]
    return {stat.S_IMODE(one.stat().st_mode) for one in folders}


def planned() -> None:
    with punchlist.open("memory:", session="s1") as desk:
        plan_mode.prepared(desk.change(lambda plan: punchlist.ops.add(plan, "one")).plan)


MAKERS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda state: make_folder(str(state / "a" / "b" / "c")),
    "a transcript": lambda state: Transcript(str(state / "a" / "s.jsonl"), {"id": "s"}).close(),
    "sqlite": lambda state: punchlist.open(f"sqlite:{state}/a/plan.db").close(),
    "json": lambda state: punchlist.open(f"json:{state}/a/plans").close(),
    "events": lambda state: event_log.write("nudge"),
    "faults": lambda state: faults.log("here", ValueError("x")),
    "switch": lambda state: on_off.turn(True),
    "ties": lambda state: session_links.link("tool:1", session_links.Who("s1")),
    "memory": lambda state: remember(True),
    "planning": lambda state: planned(),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_folder_that_is_made_is_private(state: Path, name: str) -> None:
    MAKERS[name](state)
    assert modes(state) == {0o700}


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_that_is_made_is_for_everybody_whatever_the_umask_says(state: Path, name: str) -> None:
    os.umask(0)
    MAKERS[name](state)
    assert modes(state) == {0o700}
    assert {stat.S_IMODE(one.stat().st_mode) for one in state.rglob("*") if one.is_file()} <= {0o600}


def test_a_log_that_has_become_a_pipe_keeps_nobody_waiting(state: Path) -> None:
    folder = state / "state" / "punchlist"
    make_folder(str(folder))
    for log in ("hook.log", "events.jsonl"):
        os.mkfifo(folder / log)
    faults.log("here", ValueError("x"))
    event_log.write("nudge", why="x")
    assert list(event_log.read()) == []
    reader = os.open(folder / "hook.log", os.O_RDONLY | os.O_NONBLOCK)
    for _ in range(2000):  # more than a pipe holds
        faults.log("here", ValueError("x" * 100))
    os.close(reader)


def test_a_file_of_ours_that_has_become_a_pipe_keeps_nobody_waiting(state: Path) -> None:
    assert session_links.link("process:1:2", session_links.Who("s", "main", "claude-code"))
    assert on_off.hold("key", "why")
    files = [path for path in state.rglob("*") if path.is_file()]
    for path in [*files, state / "state" / "punchlist" / "hook-secret"]:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    assert len(files) == 2
    assert session_links.look_up("process:1:2") is None
    assert on_off.held_back("key") == "it is held back"
    assert hook_secret.stored() == ""


def test_a_hook_waits_for_no_file_of_ours_that_has_become_a_pipe(state: Path) -> None:
    folder = state / "state" / "punchlist"
    with punchlist.open(session="s", dialect="claude-code") as desk:
        desk.change(lambda plan: punchlist.ops.add(plan, "Read"))
        answered(state, "UserPromptSubmit", prompt="go on")
        hold_back(desk, "why")
    for name in ("dialects.json", "panel.json", "telling.lock", "hook-secret"):
        (folder / name).touch()
    for path in [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("punchlist.db")]:
        path.unlink()
        os.mkfifo(path)
    assert "Read" in answered(state, "SessionStart", source="resume")
    for name in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        answered(state, name, prompt="go on", tool_name="Bash", tool_input={"command": "punchlist show"})


def answered(state: Path, name: str, **more: object) -> str:
    """What a hook answers, which is not waited for without end."""
    event = {"hook_event_name": name, "session_id": "s", "cwd": str(state), **more}
    hook = [sys.executable, "-m", "punchlist", "hook", "claude-code"]
    done = subprocess.run(hook, input=json.dumps(event).encode(), capture_output=True, check=True, timeout=60)
    return done.stdout.decode()


def test_the_log_of_faults_quotes_no_secret(state: Path) -> None:
    faults.log("hook", Refused("prompt must be a string, not {'password': 'hunter22', 'count': 3}"))
    (line,) = (state / "state" / "punchlist" / "hook.log").read_text().splitlines()
    assert "hunter22" not in line
    assert "prompt must be a string" in line


def test_an_event_with_a_number_that_json_does_not_have_is_still_json(state: Path) -> None:
    event_log.write("nudge", took=float("nan"), most=float("inf"), count=2, share=0.5)
    (line,) = (state / "state" / "punchlist" / "events.jsonl").read_text().splitlines()
    found = json.loads(line, parse_constant=lambda name: pytest.fail(name))
    assert (found["took"], found["most"], found["count"], found["share"]) == ("nan", "inf", 2, 0.5)


def test_a_folder_that_is_there_stays_as_it_is(state: Path) -> None:
    state.mkdir(mode=0o755)
    make_folder(str(state))
    make_folder(str(state / "inner"))
    assert [stat.S_IMODE(one.stat().st_mode) for one in (state, state / "inner")] == [0o755, 0o700]


def test_a_file_in_the_way_is_said(state: Path) -> None:
    state.write_text("")
    with pytest.raises(FileExistsError):
        make_folder(str(state))

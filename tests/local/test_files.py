"""Private folders, files that are replaced completely or not at all, logs that several processes append to, times."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import punchlist
from punchlist.agent.transcript import Transcript
from punchlist.core.errors import Refused
from punchlist.desk import plan_mode
from punchlist.desk.holding import hold_back
from punchlist.hosts import hook_secret
from punchlist.local import event_log, on_off, session_links
from punchlist.local.files import append_line, make_folder, replace_file, utc_text, write_file
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
        plan_mode.prepare_file(desk.change(lambda plan: punchlist.ops.add(plan, "one")).plan)


MAKERS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda state: make_folder(str(state / "a" / "b" / "c")),
    "a transcript": lambda state: Transcript(str(state / "a" / "s.jsonl"), {"id": "s"}).close(),
    "sqlite": lambda state: punchlist.open(f"sqlite:{state}/a/plan.db").close(),
    "json": lambda state: punchlist.open(f"json:{state}/a/plans").close(),
    "events": lambda state: event_log.write("nudge"),
    "errors": lambda state: event_log.write_error("here", ValueError("x")),
    "switch": lambda state: on_off.set_off(True),
    "ties": lambda state: session_links.link("tool:1", session_links.AgentRef("s1")),
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
    os.mkfifo(folder / "events.jsonl")
    event_log.write_error("here", ValueError("x"))
    event_log.write("nudge", why="x")
    assert list(event_log.read()) == []
    reader = os.open(folder / "events.jsonl", os.O_RDONLY | os.O_NONBLOCK)
    for _ in range(2000):  # more than a pipe holds
        event_log.write_error("here", ValueError("x" * 100))
    os.close(reader)


def test_a_file_of_ours_that_has_become_a_pipe_keeps_nobody_waiting(state: Path) -> None:
    assert session_links.link("process:1:2", session_links.AgentRef("s", "main", "claude-code"))
    assert on_off.hold("key", "why")
    files = [path for path in state.rglob("*") if path.is_file()]
    for path in [*files, state / "state" / "punchlist" / "hook-secret"]:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    assert len(files) == 2
    assert session_links.look_up("process:1:2") is None
    assert on_off.hold_reason("key") == "it is held back"
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


def test_an_error_in_the_log_quotes_no_secret(state: Path) -> None:
    event_log.write_error("hook", Refused("prompt must be a string, not {'password': 'hunter22', 'count': 3}"))
    (line,) = (state / "state" / "punchlist" / "events.jsonl").read_text().splitlines()
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


# --- all of it or nothing --------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


_ON_A_FULL_DISK = """
import resource, signal, sys
from punchlist.local.files import replace_file, write_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # what is written beyond that fails, as on a full disk
write = {"write_file": write_file, "replace_file": lambda path, data: replace_file(path, data, 0o644)}[sys.argv[1]]
try:
    write(sys.argv[2], b"y" * 5000)
except OSError:
    sys.exit(3)
"""


@pytest.mark.parametrize("name", ["write_file", "replace_file"])
def test_a_write_that_fails_half_way_leaves_the_old_file_and_no_draft(folder: Path, name: str) -> None:
    path = folder / "kept"
    path.write_bytes(b"old")
    words = [sys.executable, "-c", _ON_A_FULL_DISK, name, str(path)]
    assert subprocess.run(words, check=False).returncode == 3
    assert path.read_bytes() == b"old"
    assert os.listdir(folder) == ["kept"]


_UNTIL_IT_IS_KILLED = """
import os, signal, sys
from punchlist.local import files
os.replace = lambda draft, path: os.kill(os.getpid(), signal.SIGKILL)
files.write_file(sys.argv[1], b"new", is_synced=True)
"""


def test_a_writer_that_is_killed_before_the_file_is_in_place_leaves_the_old_one(folder: Path) -> None:
    path = folder / "kept"
    path.write_bytes(b"old")
    assert subprocess.run([sys.executable, "-c", _UNTIL_IT_IS_KILLED, str(path)], check=False).returncode == -9
    assert path.read_bytes() == b"old"
    write_file(str(path), b"newer")  # what it left behind is in nobody's way
    assert path.read_bytes() == b"newer"


@pytest.mark.parametrize("write", [write_file, lambda path, data: replace_file(path, data, 0o644)])
def test_a_folder_in_the_place_of_a_file_stays_and_is_said(folder: Path, write: Callable[[str, bytes], None]) -> None:
    (folder / "inner").mkdir()
    with pytest.raises(IsADirectoryError):
        write(str(folder / "inner"), b"x")
    assert os.listdir(folder) == ["inner"]


def test_a_private_file_takes_the_place_of_a_link_and_what_that_leads_to_is_not_touched(folder: Path) -> None:
    (folder / "theirs").write_bytes(b"theirs")
    (folder / "ours").symlink_to("theirs")
    write_file(str(folder / "ours"), b"ours")
    assert (folder / "theirs").read_bytes() == b"theirs"
    assert not (folder / "ours").is_symlink()


def test_a_private_file_is_private_again_once_it_is_written(folder: Path) -> None:
    path = folder / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_file(str(path), b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666])
def test_a_file_that_is_not_ours_keeps_its_mode(folder: Path, mode: int) -> None:
    path = folder / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_file(str(path), b"new", 0o600)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)
    assert os.listdir(folder) == ["file"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_file_that_is_not_ours_keeps_its_owner(folder: Path) -> None:
    path = folder / "file"
    path.write_bytes(b"old")
    os.chown(path, 1234, 1235)
    replace_file(str(path), b"new", 0o600)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)


def test_a_file_is_left_as_it_is_when_the_check_says_no(folder: Path) -> None:
    def refuse() -> None:
        raise Refused("somebody else wrote it")

    path = folder / "file"
    path.write_bytes(b"old")
    with pytest.raises(Refused):
        replace_file(str(path), b"new", 0o600, check=refuse)
    assert path.read_bytes() == b"old"
    assert os.listdir(folder) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said_and_a_log_there_is_dropped(tmp_path: Path) -> None:
    folder = tmp_path / "punchlist"
    folder.mkdir()
    program = (
        "import sys\nfrom punchlist.local import event_log, files\nevent_log.write_error('here', ValueError('x'))\n"
        "try:\n    files.write_file(sys.argv[1] + '/a', b'x')\nexcept PermissionError:\n    sys.exit(3)\n"
    )
    words = [sys.executable, "-c", program, str(folder)]
    if os.geteuid() == 0:
        words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *words]
    folder.chmod(0o500)
    done = subprocess.run(words, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}, capture_output=True, check=False)
    folder.chmod(0o700)
    assert (done.returncode, done.stderr) == (3, b"")
    assert list(folder.iterdir()) == []


# --- a log -----------------------------------------------------------------------------------------------------------

_APPENDING = """
import sys
from punchlist.local.files import append_line
sys.stdin.readline()
for number in range(1000):
    append_line(sys.argv[1], f"{sys.argv[2]} {number} " + "x" * (number % 50), int(sys.argv[3]))
"""


@pytest.mark.parametrize("full", [10**9, 60_000], ids=["one log", "renamed on the way"])
def test_of_several_processes_that_append_at_once_no_line_is_lost_or_torn(folder: Path, full: int) -> None:
    log = folder / "log"
    words = [sys.executable, "-c", _APPENDING, str(log)]
    pipe = subprocess.PIPE
    racing = [subprocess.Popen([*words, name, str(full)], stdin=pipe, text=True) for name in ("a", "b", "c")]
    for process in racing:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate() and process.returncode for process in racing] == [0, 0, 0]
    older = folder / "log.1"
    assert older.exists() == (full < 10**9)
    text = (older.read_text() if older.exists() else "") + log.read_text()
    lines = [line for line in text.splitlines() if line]  # who sees half of another's line ends it, too
    kept = [(line.split(" ")[0], int(line.split(" ")[1])) for line in lines if line.split(" ")[2].strip("x") == ""]
    assert len(kept) == len(lines) == 3000
    for name in ("a", "b", "c"):
        assert [number for who, number in kept if who == name] == list(range(1000))


def test_a_line_that_somebody_could_not_finish_does_not_spoil_the_next(folder: Path) -> None:
    log = folder / "log"
    log.write_bytes(b"one\ntw")
    append_line(str(log), "three", 1000)
    assert log.read_bytes() == b"one\ntw\nthree\n"


# --- a time ----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 4_102_444_800_000))
def test_a_time_is_written_as_python_reads_it_and_sorts_as_text(milliseconds: int) -> None:
    text = utc_text(milliseconds / 1000)
    assert datetime.fromisoformat(text).timestamp() == pytest.approx(milliseconds / 1000, abs=1e-4)
    assert text < utc_text((milliseconds + 1) / 1000)


def test_the_time_of_now_is_between_those_before_and_after_it() -> None:
    assert utc_text(time.time() - 1) < utc_text() < utc_text(time.time() + 1)


# --- one of each -----------------------------------------------------------------------------------------------------

OWN_WAYS = {
    "os.replace(": {"stores/json_dir/files.py", "stores/recovery/__init__.py"},  # a list with its digest, a database
    "os.O_APPEND": {"agent/transcript.py"},  # open for a whole session, locked, and never renamed
    "%Y-%m-%dT": {"stores/sqlite_tables.py"},  # in SQL
}


@pytest.mark.parametrize("words", OWN_WAYS)
def test_a_file_is_replaced_a_log_appended_to_and_a_time_written_in_one_module(words: str) -> None:
    root = Path(punchlist.__file__).parent
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if words in path.read_text("utf-8")}
    assert found - {"local/files.py"} == OWN_WAYS[words]

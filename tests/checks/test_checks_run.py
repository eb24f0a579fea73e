"""The command of a check is run without a terminal, within a time and a bounded output, and leaves nothing behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from punchlist.checks.run import KEPT, Ran, run

LONG = 60.0  # seconds that no command here takes
PATIENCE = 30.0  # seconds until a test gives up


def until(wanted: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not wanted():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)  # between two looks


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_command_that_ends_with_zero_has_passed(tmp_path: Path) -> None:
    before = time.time()
    ran = run("echo hello; pwd", str(tmp_path), LONG)
    assert (ran.exit, ran.is_passed, ran.why) == (0, True, "")
    assert ran.tail == f"hello\n{tmp_path}\n"
    assert ran.size == len(ran.tail)
    assert before <= ran.start <= ran.end <= time.time()


@pytest.mark.parametrize(
    ("command", "exit", "why"),
    [
        ("exit 3", 3, "exit code 3"),
        ("no-such-program-here", 127, "exit code 127"),
        ("echo 'unfinished", 2, "exit code 2"),
        ("-x", 127, "exit code 127"),
        ("kill -9 $$", None, "killed by SIGKILL"),
        ("kill -TERM $$", None, "killed by SIGTERM"),
    ],
)
def test_how_a_command_failed_is_told(tmp_path: Path, command: str, exit: int | None, why: str) -> None:
    ran = run(command, str(tmp_path), LONG)
    assert (ran.exit, ran.why, ran.is_passed) == (exit, why, False)


def test_a_directory_that_does_not_exist_is_a_reason(tmp_path: Path) -> None:
    ran = run("true", str(tmp_path / "gone"), LONG)
    assert ran.exit is None
    assert ran.why.startswith(f"its directory is not there: {tmp_path / 'gone'}; ")


def test_both_streams_are_kept_in_order(tmp_path: Path) -> None:
    assert run("echo a; echo b >&2; echo c", str(tmp_path), LONG).tail == "a\nb\nc\n"


def test_a_command_that_reads_its_input_finds_none(tmp_path: Path) -> None:
    assert run("cat; read line || echo nothing", str(tmp_path), LONG).tail == "nothing\n"


def test_a_command_that_needs_a_terminal_finds_none(tmp_path: Path) -> None:
    ran = run("tty; exec 3<> /dev/tty", str(tmp_path), LONG)
    assert ran.tail.startswith("not a tty\n")
    assert not ran.is_passed


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    ran = run("echo begun; sleep 1000 & echo $! > child; sleep 1000", str(tmp_path), 0.3)
    assert (ran.exit, ran.is_timed_out) == (None, True)
    assert ran.why.startswith("not finished after")
    assert ran.tail == "begun\n"
    until(lambda: not is_running(int((tmp_path / "child").read_text())))


def test_a_command_that_ignores_being_ended_is_killed(tmp_path: Path) -> None:
    ran = run("trap '' TERM; echo $$ > own; while :; do sleep 1; done", str(tmp_path), 0.3)
    assert ran.is_timed_out
    assert not is_running(int((tmp_path / "own").read_text()))


def test_what_is_left_in_the_background_holds_nobody_up_and_is_ended(tmp_path: Path) -> None:
    ran = run("sleep 1000 & echo $! > child; echo over", str(tmp_path), LONG)
    assert (ran.exit, ran.tail) == (0, "over\n")
    assert ran.seconds < LONG
    until(lambda: not is_running(int((tmp_path / "child").read_text())))


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs /proc")
@pytest.mark.parametrize("first", ["", 'trap "" TERM; '], ids=["it ends when it is told to", "it does not"])
def test_a_daemon_in_a_session_of_its_own_holds_nobody_up_and_is_ended(tmp_path: Path, first: str) -> None:
    daemon = f"setsid sh -c '{first}echo $$ > own; while :; do sleep 1000; done'"
    ran = run(f"{daemon} & until [ -s own ]; do :; done; echo over", str(tmp_path), LONG)
    assert (ran.exit, ran.tail) == (0, "over\n")
    until(lambda: not is_running(int((tmp_path / "own").read_text())))


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs /proc")
def test_what_another_check_runs_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "1000"], env={**os.environ, "PUNCHLIST_INSIDE_CHECK": "another"})
    try:
        run("true", str(tmp_path), LONG)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_command_that_closes_its_output_is_waited_for(tmp_path: Path) -> None:
    ran = run("exec >&- 2>&-; sleep 0.3; exit 4", str(tmp_path), LONG)
    assert ran.exit == 4


@pytest.mark.parametrize("size", [100_000_000, pytest.param(1_000_000_000, marks=pytest.mark.torture)])
def test_of_a_gigabyte_the_end_is_kept_and_no_memory_is_used(tmp_path: Path, size: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = run(f"head -c {size} /dev/zero | tr '\\0' x; echo the end", str(tmp_path), LONG)
    assert (ran.exit, ran.size) == (0, size + 8)
    assert len(ran.tail) == KEPT
    assert ran.tail.endswith("xxxthe end\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB


def test_output_that_is_not_text_is_kept_as_text(tmp_path: Path) -> None:
    assert run(r"printf '\033[2J\377\000ok'", str(tmp_path), LONG).tail == "\x1b[2J\N{REPLACEMENT CHARACTER}\0ok"


def test_a_check_sees_no_variable_of_ours_but_that_it_is_a_check(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "PUNCHLIST_PLAN": "7", "PUNCHLIST_STORE": "memory:", "MINE": "1"}
    names = run("env | cut -d= -f1 | sort", str(tmp_path), LONG, environ=environ).tail.split()
    assert set(names) - {"PWD", "SHLVL", "OLDPWD", "_"} == {"MINE", "PATH", "PUNCHLIST_INSIDE_CHECK"}


def test_the_words_of_a_make_that_runs_us_are_not_for_the_make_of_a_check(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@echo level $(MAKELEVEL) $(MAKEFLAGS)\n")
    environ = {"PATH": os.environ["PATH"], "MAKELEVEL": "1", "MAKEFLAGS": "n --no-print-directory"}
    assert run("make test", str(tmp_path), LONG, environ=environ).tail.split() == ["level", "0"]
    del environ["MAKELEVEL"]  # then they are the user's own
    assert run("make test", str(tmp_path), LONG, environ=environ).tail.split()[:2] == ["echo", "level"]


def test_a_check_in_a_hook_of_git_is_not_led_to_the_repository_of_the_hook(tmp_path: Path) -> None:
    hook = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index", "GIT_PREFIX": "", "GIT_AUTHOR_NAME": "mine"}
    ran = run("git init -q . && env | grep ^GIT_", str(tmp_path), LONG, environ={"PATH": os.environ["PATH"], **hook})
    assert ran.tail.split() == ["GIT_AUTHOR_NAME=mine"]
    assert (tmp_path / ".git").is_dir()


def test_a_check_in_pre_commit_has_the_programs_of_the_user(tmp_path: Path) -> None:
    path = os.environ["PATH"]
    made = str(tmp_path / "py_env-python3.13")
    environ = {"PATH": f"{made}/bin:{path}", "VIRTUAL_ENV": made, "PRE_COMMIT": "1"}
    assert run('echo "$PATH $VIRTUAL_ENV"', str(tmp_path), LONG, environ=environ).tail.strip() == path
    environ["VIRTUAL_ENV"] = "/mine/.venv"
    assert run('echo "$VIRTUAL_ENV"', str(tmp_path), LONG, environ=environ).tail.strip() == "/mine/.venv"


def test_a_run_beside_the_main_thread_is_possible(tmp_path: Path) -> None:
    found: list[Ran] = []
    thread = threading.Thread(target=lambda: found.append(run("exit 5", str(tmp_path), LONG)))
    thread.start()
    thread.join()
    assert found[0].exit == 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_us_ends_the_command(tmp_path: Path, number: signal.Signals) -> None:
    program = (
        "import sys; from punchlist.checks.run import run\n"
        "ran = run('echo $$ > own.part; mv own.part own; sleep 1000', sys.argv[1], 1000)\n"
        "print(ran.stopped_by, ran.why, ran.exit)"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, encoding="utf-8") as process:
        until((tmp_path / "own").exists)
        process.send_signal(number)
        said = process.communicate(timeout=PATIENCE)[0]
    assert said == f"{int(number)} stopped None\n"
    assert not is_running(int((tmp_path / "own").read_text()))


def test_who_waits_is_told_how_long(tmp_path: Path) -> None:
    beats: list[float] = []
    run("sleep 0.3", str(tmp_path), LONG, beat=beats.append)
    assert beats == sorted(beats)
    assert len(beats) > 2

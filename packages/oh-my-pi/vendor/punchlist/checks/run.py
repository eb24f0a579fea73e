"""Run the command of a check: in its directory, without a terminal, within a time and with a bounded output. Nothing
that it started is left when it is over, whatever ends it: its process group is ended and, on Linux, every process that
has its mark in its environment, also a daemon in a session of its own."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ..core._typing import TYPE_CHECKING, NamedTuple
from ..core.text import in_words, inline
from ..local import session_links
from ..local.process_group import end_group, end_marked

if TYPE_CHECKING:
    from typing import IO

KEPT = 4096  # bytes of the end of an output
RUNNER = session_links.AgentRef("check", "check", "punchlist")  # who types what a check runs: not the user
_SHELL = ("/bin/sh", "-c", "--")
_BEAT = 0.05  # seconds between two looks at whether it has ended, or is to be stopped
_CHUNK = 1 << 16
_DRAINED = 0.2  # seconds for what is still to be read after the end
_STOPS = ("SIGINT", "SIGTERM", "SIGHUP")


class Ran(NamedTuple):
    """How the run of a command went."""

    exit: int | None = None  # None if it did not end by itself
    signal: int = 0  # the number of the signal that killed it
    seconds: float = 0.0
    tail: str = ""  # the end of what it printed
    size: int = 0  # bytes that it printed in all
    is_timed_out: bool = False
    stopped_by: int = 0  # the signal by which the user stopped it, and us
    start: float = 0.0  # as `time.time()` says it
    end: float = 0.0
    problem: str = ""  # why it could not be started

    @property
    def is_passed(self) -> bool:
        """Whether it ended by itself, with exit code 0."""
        return self.exit == 0

    @property
    def why(self) -> str:
        """In a few words why it did not pass; empty if it did."""
        if self.problem:
            return self.problem
        if self.stopped_by:
            return "stopped"
        if self.is_timed_out:
            return f"not finished after {in_words(self.seconds)}"
        if self.signal:
            return f"killed by {_signal_name(self.signal)}"
        if self.exit:
            return f"exit code {self.exit}"
        return ""


def run(
    command: str,
    folder: str,
    seconds: float,
    *,
    environ: Mapping[str, str] | None = None,
    beat: Callable[[float], object] | None = None,
) -> Ran:
    """Run a command with `/bin/sh` in a folder, for so many seconds at most.

    `beat` is called about every 50 ms with the seconds since the start. Ctrl+C, SIGTERM and SIGHUP end the command, and
    then `stopped_by` says so; nothing is raised.
    """
    if os.name == "nt":
        return Ran(problem="checks are run by /bin/sh, which Windows does not have")
    if not os.path.isdir(folder):
        return Ran(problem=f"its directory is not there: {inline(folder)}; set the check again where it belongs")
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        return Ran(problem="this program ignores SIGCHLD, so that its exit code cannot be told")
    if environ is None:
        environ = os.environ
    start, begun = time.time(), time.monotonic()
    kept, mark = _Tail(), os.urandom(8).hex()
    with _stop_signals() as stopped, _marked():
        try:
            child = _start(command, folder, environ, mark)
        except (OSError, ValueError) as error:
            return Ran(start=start, end=start, problem=f"cannot be run: {getattr(error, 'strerror', '') or error}")
        try:
            is_over = _follow(child, kept, begun + seconds, lambda: bool(stopped), beat or _ignore)
        finally:
            end_group(child)
            _drain(child, kept)
            end_marked(f"{INSIDE}={mark}")
    code, took = child.returncode, time.monotonic() - begun
    ran = Ran(None, 0, took, kept.text(), kept.size, False, 0, start, time.time())
    if stopped:
        return ran._replace(stopped_by=stopped[0])
    if not is_over:
        return ran._replace(is_timed_out=True)
    if code < 0:
        return ran._replace(signal=-code)
    return ran._replace(exit=code)


def _start(command: str, folder: str, environ: Mapping[str, str], mark: str) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own: it has no terminal to ask at, and nothing to read. `mark`: by which
    everything that it starts is known again."""
    return subprocess.Popen(
        [*_SHELL, command],
        cwd=folder,
        env={**without_own(environ), INSIDE: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def without_own(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment without our variables, and without those of a program that runs us for its own purpose: a check
    does the same whichever plan it is run for and whoever runs it. `CI` is not added: a check is to do what it does
    when you type it."""
    ours = {name for name in environ if name.startswith("PUNCHLIST_") and name != _AUTHOR}
    ours.update(_OF_GIT)
    if "MAKELEVEL" in environ:  # of a make that runs us: its words are not for the make of a check
        ours.update(_OF_MAKE)
    kept = {name: value for name, value in environ.items() if name not in ours}
    if "PRE_COMMIT" in environ:
        return _without_hook_environment(kept)
    return kept


def _without_hook_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment without the one that pre-commit made for our hook: the `python` there has none of the packages of
    the project."""
    made = environ.get("VIRTUAL_ENV", "")
    if not os.path.basename(made).startswith("py_env-"):
        return dict(environ)
    kept = {name: value for name, value in environ.items() if name != "VIRTUAL_ENV"}
    own = (os.path.join(made, "bin"), os.path.join(made, "Scripts"))
    folders = environ.get("PATH", "").split(os.pathsep)
    kept["PATH"] = os.pathsep.join([folder for folder in folders if folder not in own])
    return kept


_OF_MAKE = ("MAKELEVEL", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "GNUMAKEFLAGS")
# A hook of git has these: a test suite with repositories of its own would work on the user's with them.
_OF_GIT = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_EDITOR"),
)
INSIDE = "PUNCHLIST_INSIDE_CHECK"  # set for what a check runs: a check that runs checks would never end
_AUTHOR = "PUNCHLIST_BY"  # nobody becomes the user because an agent's command is run


def _follow(
    child: subprocess.Popen[bytes],
    kept: _Tail,
    end: float,
    is_stopped: Callable[[], bool],
    beat: Callable[[float], object],
) -> bool:
    """Read what a child prints until it ends. Return whether it ended before its time was over or it was stopped.
    What it has left in the background may hold its output open; that is not waited for."""
    begun = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(_output_of(child), selectors.EVENT_READ)
        while child.poll() is None:
            now = time.monotonic()
            if is_stopped() or now > end:
                return False
            beat(now - begun)
            if not selector.get_map():
                time.sleep(_BEAT)  # it has closed its output, and is still at work
            elif selector.select(_BEAT) and not kept.read(child):
                selector.unregister(_output_of(child))
    return True


def _drain(child: subprocess.Popen[bytes], kept: _Tail) -> None:
    """Read what is left of the output, without waiting for more."""
    pipe = _output_of(child)
    end = time.monotonic() + _DRAINED
    os.set_blocking(pipe.fileno(), False)
    try:
        while time.monotonic() < end and kept.read(child):
            pass
    except BlockingIOError:  # somebody still holds it open
        pass
    finally:
        pipe.close()


def _output_of(child: subprocess.Popen[bytes]) -> IO[bytes]:
    assert child.stdout is not None
    return child.stdout


class _Tail:
    """The end of what comes in; the rest is only counted."""

    def __init__(self) -> None:
        self.size = 0
        self._end = bytearray()

    def read(self, child: subprocess.Popen[bytes]) -> bool:
        """Read a piece of a child's output; whether there was one."""
        data = os.read(_output_of(child).fileno(), _CHUNK)
        self.size += len(data)
        self._end += data[-KEPT:]
        del self._end[:-KEPT]
        return bool(data)

    def text(self) -> str:
        return self._end.decode("utf-8", "replace").lstrip("\N{REPLACEMENT CHARACTER}")


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Collect signals that would end this process: a child in a session of its own would outlive it. What the user
    lets us ignore, as `nohup` does, stays ignored."""
    found: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield found
        return
    numbers = [getattr(signal, name) for name in _STOPS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    caught = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in caught:
        signal.signal(number, lambda number, _: found.append(number))
    try:
        yield found
    finally:
        for number in caught:
            signal.signal(number, before[number] or signal.SIG_DFL)


@contextmanager
def _marked() -> Iterator[None]:
    """Let every process below this one be known as a check's: it cannot take the user's place."""
    key = session_links.process_key(os.getpid())
    before = session_links.look_up(key)
    session_links.link(key, RUNNER)
    try:
        yield
    finally:
        session_links.drop(key)
        if before:  # an agent of ours runs in this process
            session_links.link(key, before)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _ignore(seconds: float) -> None:
    pass

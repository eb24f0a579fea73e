"""
Ask git about a repository, without letting the repository run a program and without waiting longer than agreed.

Settings of a repository can name programs: a file system monitor, hooks, filters, a command for SSH. Whoever unpacked
an archive has not agreed to run them, so they are switched off: git reads files here, and nothing else. The variables
of git (`GIT_DIR`, `GIT_INDEX_FILE`), which a hook of git has set for another purpose, are not passed on.

Git is started without the module `subprocess`, which takes longer to load than git to answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from time import monotonic, sleep

from ..core._typing import NamedTuple
from ..core.model import NOTHING
from .errors import NoFiles, TooLong

_KEPT = ("GIT_CONFIG_", "GIT_EXEC_PATH")  # where git itself and the user's settings are
_SET = {
    "GIT_OPTIONAL_LOCKS": "0",  # a look never writes to the repository
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # for a git that does not know the line above
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.trustctime=true",  # a file with a forged time of modification is read
    "core.checkStat=default",
    "core.quotePath=false",
)
_PART = 1 << 16  # bytes that are read or written at once
_SIGPIPE = 13  # Python ignores it, and git must not
_PAUSE = 0.001  # seconds between two looks whether a git that said everything has ended


class GitOutput(NamedTuple):
    """What git said."""

    code: int  # its exit code
    out: bytes
    error: str


def ask(folder: str, end: float, *command: str, settings: Iterable[str] = (), sent: bytes = b"") -> GitOutput:
    """Run a command of git. Raises TooLong when `end` has come, FileNotFoundError if there is no git."""
    return start(folder, *command, settings=settings, sent=sent).finish(end)


def start(
    folder: str,
    *command: str,
    settings: Iterable[str] = (),
    sent: bytes = b"",
    environment: Mapping[str, str] = NOTHING,
) -> Git:
    """Start a command of git. Raises FileNotFoundError if there is no git."""
    options = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
    words = ["git", "-C", folder, *options, *command]
    try:
        return _spawn(words, {**_environment(), **environment}, sent)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoFiles(f"git could not be started: {error.strerror}") from None


def _environment() -> dict[str, str]:
    found = dict(os.environ)
    for name in os.environ:
        if name.startswith("GIT_") and not name.startswith(_KEPT):
            del found[name]
    found.update(_SET)
    return found


class Git:
    """A git that runs. Whoever started it calls `finish`, or `end`."""

    def __init__(self, pid: int, out: int, error: int, into: int, sent: bytes) -> None:
        self._pid: int | None = pid  # None: it has ended
        self._out, self._error, self._in = out, error, into  # our ends of its pipes
        self._open = {out, error, into}
        self._left = memoryview(sent)  # what is still to be written
        self._said: dict[int, list[bytes]] = {out: [], error: []}

    def finish(self, end: float) -> GitOutput:
        """Wait until it has said everything, and return that. Raises TooLong when `end` has come."""
        try:
            self._talk(end)
            code = self._wait(end)
        finally:
            self.end()
        error = b"".join(self._said[self._error]).decode("utf-8", "replace").strip()
        return GitOutput(code, b"".join(self._said[self._out]), error)

    def end(self) -> None:
        """End it if it still runs, with everything it started. What it has not said yet is not read: another program
        could hold its pipes open."""
        for file in list(self._open):
            self._close(file)
        if self._pid is None:
            return
        try:
            os.killpg(self._pid, 9)
        except OSError:
            pass  # it has ended
        try:
            self._wait(monotonic() + 1)
        except NoFiles:
            pass  # the kernel does not let it end, or somebody else has waited for it

    def _talk(self, end: float) -> None:
        """Write what is sent and read what it says, until it closes its pipes."""
        from select import POLLIN, POLLOUT, poll

        waiting = poll()
        for file in self._open:
            waiting.register(file, POLLOUT if file == self._in else POLLIN)
        while self._open:
            left = end - monotonic()
            if left <= 0 or not (ready := waiting.poll(left * 1000)):
                raise TooLong
            for file, _ in ready:
                if file == self._in:
                    is_over = self._write(file)
                else:
                    is_over = self._read(file)
                if is_over:
                    waiting.unregister(file)
                    self._close(file)

    def _write(self, file: int) -> bool:
        """Write a part of what is sent; whether that was all."""
        try:
            if self._left:
                self._left = self._left[os.write(file, self._left[:_PART]) :]
        except BrokenPipeError:
            return True  # it wants no more
        return not self._left

    def _read(self, file: int) -> bool:
        """Read a part of what it says; whether that was all."""
        part = os.read(file, _PART)
        self._said[file].append(part)
        return not part

    def _close(self, file: int) -> None:
        self._open.discard(file)
        os.close(file)

    def _wait(self, end: float) -> int:
        """Its exit code. It has closed its pipes, so that it ends at once."""
        assert self._pid is not None
        while True:
            try:
                ended, status = os.waitpid(self._pid, os.WNOHANG)
            except ChildProcessError:  # SIGCHLD is ignored, or a part of this program waits for every child
                self._pid = None
                raise NoFiles("it cannot be told how git ended: something else in this program waits for it") from None
            if ended:
                self._pid = None
                return os.waitstatus_to_exitcode(status)
            if monotonic() > end:
                raise TooLong
            sleep(_PAUSE)


class GitOnWindows(Git):
    """The same where there is no `posix_spawn`: it starts when its answer is asked for."""

    def __init__(self, words: list[str], environment: dict[str, str], sent: bytes) -> None:
        self._words, self._environment, self._sent = words, environment, sent

    def finish(self, end: float) -> GitOutput:
        """Run it, and return what it said. Raises TooLong when `end` has come."""
        import subprocess

        left = max(end - monotonic(), 0)
        try:
            done = subprocess.run(
                self._words, env=self._environment, input=self._sent, capture_output=True, timeout=left, check=False
            )
        except subprocess.TimeoutExpired:
            raise TooLong from None
        return GitOutput(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip())

    def end(self) -> None:
        """Nothing runs."""


def _spawn(words: list[str], environment: dict[str, str], sent: bytes) -> Git:
    """Start git with pipes, in a process group of its own, so that everything can be ended that it starts."""
    if os.name != "posix":
        return GitOnWindows(words, environment, sent)
    files: list[int] = []
    try:
        out, error, into = _pipe(files), _pipe(files), _pipe(files)
        ends = (into[0], out[1], error[1])
        pid = os.posix_spawnp(
            "git",
            words,
            environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(ends)],
            setpgroup=0,
            setsigdef=[_SIGPIPE],
        )
    except OSError:
        for file in files:
            os.close(file)
        raise
    for file in ends:
        os.close(file)
    os.set_blocking(into[1], False)
    return Git(pid, out[0], error[0], into[1], sent)


def _pipe(files: list[int]) -> tuple[int, int]:
    """A pipe, the ends of which do not have the numbers of standard input, output and errors; both are added to
    `files`."""
    pair = os.pipe()
    if min(pair) < 3:  # this program was started without them
        from fcntl import F_DUPFD_CLOEXEC, fcntl

        low = pair
        pair = fcntl(low[0], F_DUPFD_CLOEXEC, 3), fcntl(low[1], F_DUPFD_CLOEXEC, 3)
        os.close(low[0])
        os.close(low[1])
    files.extend(pair)
    return pair

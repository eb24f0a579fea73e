"""
Ask git about a repository, without letting the repository run a program and without waiting longer than agreed.

Settings of a repository can name programs: a file system monitor, hooks, filters, a command for SSH. Whoever unpacked
an archive has not agreed to run them, so they are switched off: git reads files here, and nothing else. The variables
of git (`GIT_DIR`, `GIT_INDEX_FILE`), which a hook of git has set for another purpose, are not passed on.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Iterable, Sequence
from time import monotonic

from ..core._typing import NamedTuple
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


class GitOutput(NamedTuple):
    """What git said."""

    code: int  # its exit code
    out: bytes
    error: str


def ask(folder: str, end: float, *command: str, settings: Iterable[str] = (), sent: bytes | None = None) -> GitOutput:
    """Run a command of git. Raises TooLong when `end` has come, FileNotFoundError if there is no git."""
    (answer,) = ask_all(folder, end, command, settings=settings, sent=sent)
    return answer


def ask_all(
    folder: str, end: float, *commands: Sequence[str], settings: Iterable[str] = (), sent: bytes | None = None
) -> Generator[GitOutput, None, None]:
    """Run commands of git side by side, and give what they said in the same order. `sent` goes to the last one."""
    options = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
    environment = _environment()
    started: list[subprocess.Popen[bytes]] = []
    try:
        started.extend(_start(["git", *options, *command], folder, environment) for command in commands)
        inputs = [None] * (len(started) - 1) + [sent]
        for process, given in zip(started, inputs, strict=True):
            yield _finish(process, end, given)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoFiles(f"git could not be started: {error.strerror}") from None
    finally:
        for process in started:
            _end(process)


def _environment() -> dict[str, str]:
    found = dict(os.environ)
    for name in os.environ:
        if name.startswith("GIT_") and not name.startswith(_KEPT):
            del found[name]
    found.update(_SET)
    return found


def _start(command: list[str], folder: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )


def _finish(process: subprocess.Popen[bytes], end: float, sent: bytes | None) -> GitOutput:
    left = end - monotonic()
    if left <= 0:
        raise TooLong
    try:
        out, error = process.communicate(sent, timeout=left)
    except subprocess.TimeoutExpired:
        raise TooLong from None
    return GitOutput(process.returncode, out, error.decode("utf-8", "replace").strip())


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what still runs, with everything it started. Its pipes are not read: another program could hold them open."""
    if process.returncode is None:
        _kill(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            _close(pipe)


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, 9)
        else:
            process.kill()
        process.wait(1)
    except (OSError, subprocess.TimeoutExpired):
        pass  # it has ended, or the kernel does not let it


def _close(pipe: object) -> None:
    try:
        pipe.close()  # type: ignore[attr-defined]
    except OSError:
        pass  # the other end is gone, with text on its way

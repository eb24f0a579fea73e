"""Commands as processes: with a time limit, a bounded answer, and an end that takes everything they started along."""

from __future__ import annotations

import os
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, NamedTuple

from ...local.process_group import end_group
from ..events import Interrupt

_BEAT = 0.05  # seconds between looks at whether the user wants to stop
_GRACE = 2.0  # seconds to end in peace
_CHUNK = 65_536


class Ran(NamedTuple):
    """What a command came to."""

    output: str
    code: int
    late: bool = False  # it was ended because its time was over
    stopped: bool = False  # it was ended because the user stopped the turn
    seconds: float = 0.0  # how long it took


class _Kept:
    """The beginning and the end of what comes in; what lies between is only counted."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._size = 0  # of the tail
        self._lost = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        data = data[room:]
        if data:
            self._tail.append(data)
            self._size += len(data)
        while self._tail and self._size - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._size -= gone
            self._lost += gone

    def text(self) -> str:
        head, tail = bytes(self._head), b"".join(self._tail)
        over = max(len(tail) - self._half, 0)
        lost = self._lost + over
        middle = f"\n… {lost} bytes left out …\n".encode() if lost else b""
        return (head + middle + tail[over:]).decode("utf-8", "replace")


def run(
    command: Sequence[str],
    *,
    folder: str,
    stop: Interrupt,
    seconds: float,
    most: int,
    given: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Ran:
    """Run a command to its end, until its time is over, or until the user stops it. Nothing it started is left, and
    what it had printed is kept."""
    began = time.monotonic()
    child = subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    kept = _Kept(most)
    reader = Thread(target=_read, args=(child.stdout, kept), daemon=True)
    reader.start()
    try:
        if given and child.stdin:
            with suppress(BrokenPipeError):
                child.stdin.write(given)
                child.stdin.close()
        cut_short = not _await_end(child, stop, time.monotonic() + seconds)
        stopped = cut_short and stop.asked
        took = time.monotonic() - began
    finally:
        end_group(child)
        reader.join(_GRACE)
    return Ran(kept.text(), child.returncode, cut_short and not stopped, stopped, took)


def _await_end(child: subprocess.Popen[bytes], stop: Interrupt, end: float) -> bool:
    """Wait for a child; whether it ended before its time was over, and before the user stopped it."""
    while not stop.asked and time.monotonic() <= end:
        with suppress(subprocess.TimeoutExpired):
            child.wait(_BEAT)
            return True
    return child.poll() is not None


def _read(pipe: IO[bytes] | None, kept: _Kept) -> None:
    if pipe is None:
        return
    with suppress(ValueError, OSError), pipe:
        while data := os.read(pipe.fileno(), _CHUNK):
            kept.add(data)

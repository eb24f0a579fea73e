"""The end of a process with everything that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress

_BEAT = 0.05  # seconds between two looks
_GRACE = 2.0  # seconds to end in peace


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End the group of a child that was started in a session of its own: first in peace, then not. What has left the
    group for a session of its own is not found; `end_marked` finds it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        if _is_gone(child, time.monotonic() + _GRACE):
            return


def end_marked(mark: str) -> None:
    """End every process that was started with a variable (`NAME=value`): first in peace, then not. Linux tells which
    those are; elsewhere nothing is ended."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + _GRACE
        for pid in _find_marked(mark):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        while _find_marked(mark):
            if time.monotonic() > end:
                break
            time.sleep(_BEAT)
        else:
            return


def _find_marked(mark: str) -> list[int]:
    """The processes with a variable. One that has ended and was not waited for has none."""
    found = []
    for name in os.listdir("/proc") if os.path.exists("/proc/self/environ") else ():
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    found.append(int(name))
    return found


def _is_gone(child: subprocess.Popen[bytes], end: float) -> bool:
    """Whether nothing of a child's group is left before a time."""
    while child.poll() is None or _is_alive(child.pid):
        if time.monotonic() > end:
            return False
        time.sleep(_BEAT)
    return True


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    states = [state for state, of in _processes() if of == group]
    return not states or any(state != b"Z" for state in states)  # what has ended may be counted out late


def _processes() -> Iterator[tuple[bytes, int]]:
    """The state and the group of every process, where the system lists them."""
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            state, _, group = file.read().rpartition(b")")[2].split()[:3]
            yield state, int(group)

"""The file in which an agent keeps its conversation: a line of JSON for each entry. Only its end is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from stat import S_ISREG

from ..core._typing import Any

_MOST = 262_144  # bytes of a log that are looked at, at its end


def tail(path: str, most: int, since: int = 0) -> tuple[bytes, int]:
    """What a log has behind this place, and where it ends. Only the last part of a long one is read. What is not a
    regular file is not read at all: a pipe would be waited for, and a device has no end."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not S_ISREG(found.st_mode):
            return b"", since
        end = found.st_size
        file.seek(max(since if since <= end else 0, end - most))
        return file.read(most), end


def size(path: str) -> int:
    """The size of a log in bytes; 0 if there is none."""
    try:
        return os.stat(os.path.expanduser(path)).st_size
    except OSError:
        return 0


def last_entry(path: str, holding: bytes, *, but: tuple[bytes, ...] = ()) -> dict[str, Any]:
    """The last entry near the end of a log that holds one text and none of the others; empty if there is none, or if
    the log cannot be read."""
    try:
        end, _ = tail(os.path.expanduser(path), _MOST)
    except (OSError, ValueError):
        return {}
    for line in reversed(end.split(b"\n")):
        if holding not in line or any(other in line for other in but):
            continue
        found = _entry(line)
        if found is not None:
            return found
    return {}


def entries(path: str, since: int = 0, *, holding: str = "") -> Iterator[dict[str, Any]]:
    """The last entries of a log, behind this place, that hold this text. What is cut off or not an entry is passed
    over."""
    wanted = holding.encode()
    for line in tail(os.path.expanduser(path), _MOST, since)[0].split(b"\n"):
        if wanted not in line:
            continue
        found = _entry(line)
        if found is not None:
            yield found


def _entry(line: bytes) -> dict[str, Any] | None:
    """The entry in a line; None if it is cut off, or not an entry."""
    from ..core.json_text import loads

    try:
        found = loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict):
        return found
    return None

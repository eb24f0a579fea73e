"""LineReader in and out, by file descriptor. However long a line is, only so much of it is kept."""

from __future__ import annotations

import os
import select

from ..core._typing import NamedTuple

LONGEST = 1024 * 1024  # bytes of a line: several times what a model can say at once
LONGEST_EVENT = 64 * LONGEST  # of a line with a hook event, which has what tools printed
_CHUNK = 65_536
_EDGE = 1_024


class LongLine(NamedTuple):
    """A line of which only the edges were kept."""

    size: int
    longest: int
    head: bytes
    tail: bytes


RawLine = bytes | LongLine


class LineReader:
    """The lines that arrive on a file descriptor."""

    def __init__(self, fd: int, longest: int = LONGEST) -> None:
        self._fd = fd
        self._usual = longest
        self._longest = longest  # of the line that is not at its end yet
        self._kept = bytearray()  # of the line that is not at its end yet; its head only, if it is too long
        self._tail = b""
        self._size = 0
        self._ended = False

    def more(self, wait: float | None) -> list[RawLine] | None:
        """The lines that have come to an end; nothing, if none has in so many seconds; None at the end of all."""
        if self._ended:
            return None
        if wait is not None and not select.select([self._fd], [], [], wait)[0]:
            return []
        chunk = self._read()
        if chunk is None:
            return []
        if not chunk:
            self._ended = True
            if self._size:
                return self._finish_line()
            return None
        return self._split(chunk)

    def _read(self) -> bytes | None:
        try:
            return os.read(self._fd, _CHUNK)
        except BlockingIOError:
            select.select([self._fd], [], [])
            return None
        except OSError:  # a terminal or a pipe that is gone
            return b""

    def _split(self, chunk: bytes) -> list[RawLine]:
        *ends, rest = chunk.split(b"\n")
        found: list[RawLine] = []
        for end in ends:
            self._add(end)
            found += self._finish_line()
        self._add(rest)
        return found

    def _add(self, part: bytes) -> None:
        was_short = self._size <= self._longest
        self._size += len(part)
        if was_short and self._size > self._longest and is_event(bytes(self._kept[:_EDGE])):
            self._longest = LONGEST_EVENT
        if self._size <= self._longest:
            self._kept += part
            return
        if was_short:
            self._tail = bytes(self._kept[-_EDGE:])
            self._kept += part[:_EDGE]
            self._kept = self._kept[:_EDGE]
        self._tail = (self._tail + part)[-_EDGE:]

    def _finish_line(self) -> list[RawLine]:
        """The line that has come to its end, if there is something in it."""
        kept, tail, size, longest = bytes(self._kept), self._tail, self._size, self._longest
        self._kept, self._tail, self._size, self._longest = bytearray(), b"", 0, self._usual
        if size > longest:
            return [LongLine(size, longest, kept, tail)]
        if kept.strip():
            return [kept]
        return []


def is_event(head: bytes) -> bool:
    """Return whether a line that begins like this brings a hook event: Claude Code writes the name of a tool first."""
    import re

    return re.search(rb'"name"\s*:\s*"hook"', head) is not None


def write(fd: int, data: bytes) -> None:
    """All of it, however often that takes. Raises OSError, if nobody is there to read."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            select.select([], [fd], [])

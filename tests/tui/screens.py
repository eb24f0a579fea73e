"""Real programs in a pseudo-terminal: keys typed, the screen read through a terminal emulator, any size."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ptyprocess
import pyte

from tests.commands import SCRIPT

PATIENCE = 30.0  # seconds until a test gives up waiting; none waits for that long unless it fails


class Session:
    """A program on a screen of its own."""

    def __init__(self, words: list[str], columns: int, rows: int, env: dict[str, str]) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.process = ptyprocess.PtyProcess.spawn(words, dimensions=(rows, columns), env=env)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()

    @property
    def pid(self) -> int:
        return int(self.process.pid)

    def style(self, text: str) -> Any:
        """The first cell of the first line that holds this text."""
        row, column = next((row, line.index(text)) for row, line in enumerate(self.lines) if text in line)
        return self.screen.buffer[row][column]

    def type(self, keys: str) -> None:
        self.process.write(keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def kill(self, number: int) -> None:
        os.kill(self.pid, number)

    def until(self, wanted: Callable[[Session], object], what: str = "") -> Session:
        """Read the screen until it is as wanted."""
        end = time.monotonic() + PATIENCE
        while not wanted(self):
            if not self._read(end):
                raise AssertionError(f"{what or 'it'} never came; the screen:\n{self.text}")
        return self

    def sees(self, *texts: str) -> Session:
        return self.until(lambda now: all(text in now.text for text in texts), " and ".join(map(repr, texts)))

    def hears(self, text: str) -> Session:
        """Read until this was written, wherever it is by now."""
        return self.until(lambda now: text.encode() in now.raw, repr(text))

    def sees_no(self, *texts: str) -> Session:
        return self.until(lambda now: not any(text in now.text for text in texts), "an end of " + repr(texts))

    def ends(self) -> int:
        """The exit code; the number of a signal below zero."""
        end = time.monotonic() + PATIENCE
        while self._read(end):
            pass
        while self.process.isalive():
            assert time.monotonic() < end, f"it has not ended; the screen:\n{self.text}"
            time.sleep(0.01)  # between two looks at a process that is about to end
        return -int(self.process.signalstatus) if self.process.signalstatus else int(self.process.exitstatus)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self.process.fd], [], [], max(end - time.monotonic(), 0))
        try:
            found = os.read(self.process.fd, 65536) if ready else b""
        except OSError:  # Linux says that the other side is closed by an error
            found = b""
        self.raw += found
        self._stream.feed(found)
        return bool(found)


@contextmanager
def running(*words: str, columns: int = 80, rows: int = 24, **env: str) -> Iterator[Session]:
    """A program, started; ended at the end, if it has not ended by itself."""
    session = Session([*words], columns, rows, {**os.environ, **env})
    try:
        yield session
    finally:
        if session.process.isalive():
            session.kill(signal.SIGKILL)
            session.process.wait()
        session.process.close()


def watching(*words: str, **more: Any) -> Any:
    return running(SCRIPT, "watch", *words, **more)

"""A program in a pseudo-terminal: keys are typed, and the screen is read through a terminal emulator."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Any

import ptyprocess
import pyte


class Terminal:
    """A program that believes it has a terminal of so many rows and columns."""

    def __init__(self, *words: str, rows: int = 40, columns: int = 100, env: dict[str, str] | None = None) -> None:
        usual = {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "LANG": "C.UTF-8"}
        own = {**os.environ, **usual, **(env or {})}
        for name in ("COLUMNS", "NO_COLOR"):
            own.pop(name, None)
        self._screen = pyte.HistoryScreen(columns, rows, history=5000)
        self._stream = pyte.ByteStream(self._screen)
        self.process: Any = ptyprocess.PtyProcess.spawn(list(words), env=own, dimensions=(rows, columns))

    def type(self, text: str) -> None:
        self.process.write(text.encode())

    def enter(self, text: str) -> None:
        self.type(text + "\r")

    def interrupt(self, until: str = "") -> None:
        """Ctrl+C; at a prompt, again until this is shown: Python's line editor misses one that comes right before it
        begins to wait."""
        self.type("\x03")
        for _ in range(10 if until else 0):
            end = time.monotonic() + 3
            while until not in self.text and time.monotonic() < end:
                self._read(0.2)
            if until in self.text:
                return
            self.type("\x03")

    @property
    def text(self) -> str:
        """Everything that was ever on the screen, as it looks now."""
        above = ["".join(line[column].data for column in range(self._screen.columns)) for line in self._history()]
        return "\n".join(line.rstrip() for line in [*above, *self._screen.display])

    @property
    def rows(self) -> list[str]:
        """What is on the screen now."""
        return list(self._screen.display)

    @property
    def cursor_is_hidden(self) -> bool:
        return bool(self._screen.cursor.hidden)

    @property
    def cursor_row(self) -> int:
        return int(self._screen.cursor.y)

    def wait_for(self, words: str, seconds: float = 30) -> str:
        """Read until the screen shows this."""
        end = time.monotonic() + seconds
        while words not in self.text:
            if time.monotonic() > end or not self._read(0.2):
                assert words in self.text, self.text
        return self.text

    def wait_for_end(self, seconds: float = 30) -> int:
        """Read until the program ends; its exit code."""
        end = time.monotonic() + seconds
        while self._read(0.2) or self.process.isalive():
            assert time.monotonic() < end, f"it has not ended; the screen:\n{self.text}"
        code = self.process.exitstatus
        return int(code) if code is not None else -int(self.process.signalstatus)

    def close(self) -> None:
        """Whatever still runs, ends."""
        if self.process.isalive():
            self.process.kill(signal.SIGKILL)
            self.process.wait()
        self.process.close(force=True)

    def _history(self) -> list[Any]:
        return list(self._screen.history.top)

    def _read(self, seconds: float) -> bool:
        """Take in what there is; whether the program still runs."""
        if not select.select([self.process.fd], [], [], seconds)[0]:
            return bool(self.process.isalive())
        try:
            self._stream.feed(self.process.read(65536))
        except EOFError:
            time.sleep(0.01)  # it is about to end
            return False
        return True

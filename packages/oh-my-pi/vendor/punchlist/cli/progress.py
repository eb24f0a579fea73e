"""What runs at the moment, since when and for how long, on one line of a terminal that is rewritten."""

from __future__ import annotations

import os
import sys

from ..core.text import cut
from ..local.clock import clock_text
from ..local.files import time_text
from . import output


class Progress:
    """One line on standard error, if that is a terminal; nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._count = 0
        self._head = ""
        self._since = ""
        self._shown = ""
        self._is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._write("")

    def begin(self, words: str) -> None:
        """Say that the next check runs."""
        self._count += 1
        self._head = f"{self._count}/{self._total} {output.harmless(words)}"
        self._since = clock_text(time_text())
        self.beat(0)

    def beat(self, seconds: float) -> None:
        """Say how long it has been running."""
        behind = f", since {self._since}, {int(seconds)} s"
        room = max(output.error_width() - len(behind) - 1, 20)
        self._write(cut(self._head, room) + behind)

    def _write(self, text: str) -> None:
        if not self._is_terminal or text == self._shown:
            return
        self._shown = text
        try:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        except OSError:  # the terminal is gone; the checks are not
            self._is_terminal = False

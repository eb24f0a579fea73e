"""
The panel: the first frame of a new process, and what a redraw costs in time and in bytes.

The first frame is that of `punchlist watch` on a pseudo-terminal, a plan of 50 items on a screen of 120 columns and 60
lines: the best of 60, over the best `python -c pass` on the same terminal. A redraw is of the same plan and size, in a
running process, from the view to the last byte written: the best of 300.
"""

from __future__ import annotations

import os
import select
import sys
import tempfile
import termios
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter

import ptyprocess

import punchlist
from punchlist.tui.panel import Panel
from punchlist.tui.styles import PATHS, load
from punchlist.tui.terminal import Terminal
from punchlist.tui.view import View

from .frame import Row
from .installed import SCRIPT
from .speech import texts

ROUNDS, REDRAWS = 60, 300
COLUMNS, LINES, ITEMS = 120, 60, 50
SECONDS = 3.0


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return [_first_frame(Path(folder)), *_redraws(), _rate()]


def a_plan() -> punchlist.Plan:
    """Half of it done, in five phases."""
    entries = [{"text": t.todo, "active": t.doing, "phase": f"Phase {n // 10}"} for n, t in enumerate(texts(ITEMS))]
    plan = punchlist.ops.extend(punchlist.Plan(title="A plan of fifty items"), entries)
    return punchlist.ops.start(punchlist.ops.complete(plan, *map(str, range(1, 25))), "25")


# --- the first frame -------------------------------------------------------------------------------------------------


def _first_frame(folder: Path) -> Row:
    store = f"sqlite:{folder}/plan.db"
    with punchlist.open(store, session="s") as desk:
        desk.change(lambda plan: a_plan())
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "TERM": "xterm"}
    watch = [SCRIPT, "watch", "--store", store, "--session", "s"]
    bare = [sys.executable, "-c", "pass"]
    turns = [(_appears(watch, environment, b"ctrl+t"), _appears(bare, environment)) for _ in range(ROUNDS)]
    frame, nothing = (min(times) * 1000 for times in zip(*turns, strict=True))
    return Row("first frame", 40, frame - nothing, "ms", f"over {nothing:.1f} ms for python -c pass")


def _appears(words: list[str], environment: dict[str, str], last: bytes = b"") -> float:
    """How long it takes from the start of a program until its last words are on the terminal, or until its end."""
    begun = perf_counter()
    process = ptyprocess.PtyProcess.spawn(words, env=environment, dimensions=(LINES, COLUMNS))
    seen = b""
    while not last or last not in seen:
        try:
            seen += os.read(process.fd, 65536)
        except OSError:  # that is how Linux says that it has ended
            break
    took = perf_counter() - begun
    process.terminate(force=True)
    process.close()
    return took


# --- a redraw --------------------------------------------------------------------------------------------------------


class _Screen:
    """A panel on a pseudo-terminal that nobody looks at."""

    def __init__(self, style: str) -> None:
        self.ours, self.theirs = os.openpty()
        termios.tcsetwinsize(self.theirs, (LINES, COLUMNS))
        self._file = open(self.theirs, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        self.panel = Panel(Terminal(self._file, self.theirs), load(style), expanded=True, whole=True)

    def read(self) -> int:
        """How many bytes were written."""
        count = 0
        while select.select([self.ours], [], [], 0)[0]:
            count += len(os.read(self.ours, 65536))
        return count

    def close(self) -> None:
        self._file.close()
        os.close(self.ours)
        os.close(self.theirs)


def _redraws() -> list[Row]:
    found = [_redraw(style) for style in PATHS]
    whole, turn, change = _bytes()
    return [
        *found,
        Row("bytes of a turn of the spinner", None, turn, "bytes", f"the whole panel: {whole:,}"),
        Row("bytes of a finished item", None, change, "bytes", "two items, the bar and a phase are others then"),
    ]


def _redraw(style: str) -> Row:
    plan = a_plan()
    views = [View(plan, seconds=1.0), View(punchlist.ops.start(punchlist.ops.complete(plan, "25"), "26"), seconds=2.0)]
    times = _timed(style, lambda number: views[number % 2])
    note = f"the best of {REDRAWS}; the median: {median(times) * 1000:.2f} ms"
    return Row(f"redraw of {ITEMS} items, {style}", 2, min(times) * 1000, "ms", note)


def _timed(style: str, view: Callable[[int], View]) -> list[float]:
    screen = _Screen(style)
    times = []
    with screen.panel:
        for number in range(REDRAWS):
            screen.panel.draw(view(number))  # too soon after the last one to be drawn at once
            begun = perf_counter()
            screen.panel.flush()
            times.append(perf_counter() - begun)
            screen.read()
    screen.close()
    return times[5:]


def _bytes() -> tuple[int, int, int]:
    """Of the whole panel, of a turn of the spinner, and of a finished item."""
    screen, plan = _Screen("punchlist"), a_plan()
    done = punchlist.ops.start(punchlist.ops.complete(plan, "25"), "26")
    found = []
    with screen.panel:
        screen.read()
        for view in (View(plan), View(plan, seconds=1.0), View(done, seconds=1.0)):
            screen.panel.draw(view)
            screen.panel.flush()
            found.append(screen.read())
    screen.close()
    return found[0], found[1], found[2]


def _rate() -> Row:
    """How often something is written while another view comes every millisecond."""
    screen, plan = _Screen("punchlist"), a_plan()
    writes = number = 0
    with screen.panel:
        end = monotonic() + SECONDS
        while monotonic() < end:
            number += 1
            screen.panel.draw(View(plan, status=f"step {number}"))
            screen.panel.wait(0.001)
            writes += bool(screen.read())
    screen.close()
    return Row("redraws a second", 10, writes / SECONDS, "", f"of {number / SECONDS:,.0f} views a second")

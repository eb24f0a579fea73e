"""
How long it takes until a change that one process makes is on the screen of another, which runs `punchlist watch`.

From the moment the change is acknowledged to the moment its words arrive at the terminal: the slowest of 40 changes,
made at uneven times while the spinner turns.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import ptyprocess

import punchlist

from .crowd import server
from .frame import Row
from .installed import SCRIPT

CHANGES = 40


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        found = [
            _row("sqlite", 250, f"sqlite:{folder}/plan.db", folder),
            _row("json", None, f"json:{folder}/plans", folder),
        ]
        with server() as url:
            return [*found, _row("postgresql", 150, url, folder)]


def _row(name: str, goal: float | None, store: str, folder: str) -> Row:
    times = [took * 1000 for took in _times(store, Path(folder))]
    return Row(
        f"{name}: change on screen", goal, max(times), "ms", f"the slowest of {CHANGES}; median {median(times):.0f} ms"
    )


def _times(store: str, folder: Path) -> list[float]:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "TERM": "xterm"}
    found = []
    with punchlist.open(store, session="s") as desk:
        desk.call("plan", {"add": ["Read the code", "Fix the bug"]})
        words = [SCRIPT, "watch", "--store", store, "--session", "s"]
        process = ptyprocess.PtyProcess.spawn(words, env=environment, dimensions=(40, 120))
        _until(process.fd, b"ctrl+t")
        _until(process.fd, b"0s")  # it follows now
        for number in range(CHANGES):
            _drain(process.fd, random.uniform(0.05, 0.4))
            desk.change(lambda plan, number=number: punchlist.ops.rename(plan, "2", f"change-{number}-"))  # type: ignore[misc]
            begun = perf_counter()
            _until(process.fd, f"change-{number}-".encode())
            found.append(perf_counter() - begun)
        process.terminate(force=True)
        process.close()
    return found


def _until(terminal: int, words: bytes) -> None:
    seen = b""
    while words not in seen:
        seen += os.read(terminal, 65536)


def _drain(terminal: int, seconds: float) -> None:
    """Let time go by, and read what the spinner writes meanwhile."""
    sleep(seconds)
    os.set_blocking(terminal, False)
    try:
        while os.read(terminal, 65536):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(terminal, True)

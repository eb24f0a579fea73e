"""A figure and its goal, a table of them, and timing side by side."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple


class Row(NamedTuple):
    """One figure. Goals are upper limits: less is better everywhere."""

    name: str
    goal: float | None  # None: shown for comparison
    measured: float
    unit: str  # tokens, ms, bytes, lines, x (times the yardstick), or nothing
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.goal is None or self.measured <= self.goal


def table(rows: Sequence[Row]) -> str:
    cells = [("", "goal", "measured", "", "")] + [_cells(row) for row in rows]
    wide = [max(len(line[column]) for line in cells) for column in range(4)]
    return "\n".join(
        f"  {name:<{wide[0]}}  {goal:>{wide[1]}}  {measured:>{wide[2]}}  {verdict:<{wide[3]}}  {note}".rstrip()
        for name, goal, measured, verdict, note in cells
    )


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    is_whole = isinstance(row.measured, int) or row.unit in ("tokens", "bytes")
    unit = {"tokens": "", "": "", "x": "x"}.get(row.unit, f" {row.unit}")
    digits = 0 if is_whole else 1
    if row.goal is not None and row.goal % 1:
        digits = 2
    measured = f"{row.measured:,.{digits}f}{unit}"
    if row.goal is None:
        return row.name, "", measured, "", row.note
    verdict = "ok" if row.ok else "MISS"
    return row.name, f"≤ {row.goal:,g}{unit}", measured, verdict, row.note


def best(runs: Mapping[str, Callable[[], object]], rounds: int, times: int = 1) -> dict[str, float]:
    """
    The best time of each run in seconds. The runs take turns, so that whatever else the machine is doing hits all of
    them; `times` is how often a run is repeated in its turn.
    """
    found = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()  # warm
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, run in runs.items():
                begun = perf_counter()
                for _ in range(times):
                    run()
                found[name] = min(found[name], (perf_counter() - begun) / times)
    finally:
        gc.enable()
    return found

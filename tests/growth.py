"""How the cost of something grows with its size: the processor's time for two sizes, whatever else the machine does."""

from __future__ import annotations

import time
from collections.abc import Callable


def grows_evenly(work: Callable[[int], object], small: int, large: int) -> bool:
    """Whether work on something eight times as large takes about eight times as long, not 64 times."""
    assert large == 8 * small
    return _seconds(work, large) < 40 * _seconds(work, small) + 0.05


def _seconds(work: Callable[[int], object], size: int) -> float:
    """The best of three."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        work(size)
        taken.append(time.process_time() - begun)
    return min(taken)

"""An end for an agent that hangs: after some seconds an error is raised in it, wherever it waits."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


class Hung(BaseException):
    """The agent did not end."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Hung in the block if it takes longer, and again every few seconds.

    This needs a signal: where there is none, and in threads other than the main one, nothing is limited.
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise Hung(f"the agent did not end within {seconds:.0f} seconds.")

    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, end)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:  # somebody else had set the timer
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.001), interval)

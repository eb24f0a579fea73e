"""The panel's words without the panel: a line for each change, for screen readers, files and pipes."""

from __future__ import annotations

import time
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ..core.grade_labels import sentences
from ..core.model import Plan
from ..core.render import Line, plain
from .panel import Toggled, clean, wait_for_keys
from .styles import Style, render
from .styles.workers import about
from .terminal import Terminal
from .view import View

UNCUT = 100_000  # the width of what is read line by line: nothing is cut there


class Lines:
    """Takes what a panel takes, and says what became of it. The cursor is never moved."""

    def __init__(
        self,
        terminal: Terminal,
        style: Style,
        *,
        unicode: bool = True,
        expanded: bool = False,
        on_toggle: Toggled | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.expanded = expanded
        self.style = style
        self._terminal = terminal
        self._unicode = unicode
        self._on_toggle = on_toggle
        self._clock = clock
        self._lock = RLock()
        self._view: View | None = None
        self._unfinished = ""

    def draw(self, view: View) -> None:
        """Say what is new in this view."""
        with self._lock:
            old, self._view = self._view, view
            if old is None or old.plan.id != view.plan.id or (view.plan.items and not old.plan.items):
                self._list()
                old = (old or View())._replace(plan=view.plan, labels=view.labels)
            self.show(self._changes(old, view))

    def write(self, text: str, style: str = "") -> None:
        """Text of an agent; a line is written when it has an end."""
        with self._lock:
            *lines, self._unfinished = (self._unfinished + text).split("\n")
            self._put([clean(line) for line in lines])

    def show(self, lines: Iterable[Line]) -> None:
        """Styled lines."""
        with self._lock:
            self._end()
            self._put([clean(plain([line])[:-1]) for line in lines])

    def tick(self) -> float:
        return 3600.0

    def flush(self) -> None:
        """All that has an end is written already."""

    def wait(self, seconds: float) -> list[str]:
        """Wait for keys, or for `wake`."""
        return wait_for_keys(self._terminal, self._clock, seconds, self.tick, self.toggle)

    def wake(self) -> None:
        self._terminal.wake()

    def toggle(self) -> bool:
        """Say the whole list once more."""
        before, self.expanded = self.expanded, not self.expanded
        if self._on_toggle:
            self._on_toggle(before, self._view.plan if self._view else Plan())
        self._list()
        return True

    @contextmanager
    def aside(self) -> Iterator[None]:
        self.close()
        try:
            yield
        finally:
            self._terminal.enter()

    def close(self, *, keep: bool = True) -> None:
        self._end()
        self._terminal.leave()

    def __enter__(self) -> Lines:
        self._terminal.enter()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _list(self) -> None:
        if self._view and self._view.plan.items:
            view = View(self._view.plan, self._view.labels, expanded=True, busy=False)
            self.show(render(view, self.style, UNCUT, unicode=self._unicode))

    def _changes(self, old: View, new: View) -> Iterator[Line]:
        canvas = self.style.canvas(UNCUT, self._unicode)
        if new.plan is not old.plan:
            yield from self.style.changes(old.plan, new.plan, canvas)
        if new.labels is not old.labels:
            for words in sentences(new.plan, old.labels, new.labels):
                yield canvas.line(words)
        if new.alert != old.alert:
            if new.alert:
                yield canvas.line(f"! {new.alert}", "bad")
            else:
                yield canvas.line(f"over: {old.alert}", "")
        if new.status and new.status != old.status:
            yield canvas.line(new.status + canvas.glyphs.cut, "dim")
        known = {worker.name: worker for worker in old.workers}
        for worker in new.workers:
            if worker != known.get(worker.name):
                yield about(worker, canvas, "")

    def _end(self) -> None:
        """End the line that is open."""
        if self._unfinished:
            self.write("\n")

    def _put(self, lines: list[str]) -> None:
        if lines:
            self._terminal.write(lambda: "".join(f"{line}\n" for line in lines))

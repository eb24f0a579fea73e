"""The panel: a few lines at the lower end of a terminal that stay there while text scrolls by above them."""

from __future__ import annotations

import time
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ..core.cells import wrapped
from ..core.model import Plan
from ..core.render import Line, Span, painted
from ..core.text import inline
from .styles import Style, render
from .terminal import Terminal
from .view import View

_GAP = 0.1  # seconds between two changes that are drawn
_TURN = 0.2  # seconds from anything drawn to the next turn of the spinner: both together are ten in a second, at most
_LONG = 3600.0  # seconds in which nothing happens by itself
_TAIL = 4  # rows that a line takes which is not finished yet
_LEAST = 8  # lines that a panel may take on a screen that has them
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"  # a terminal that knows them shows what is between at once
_LINE = "\r\n"
_SAVE, _RESTORE = "\x1b7", "\x1b8"  # the place of the cursor
_BELOW = "\r\x1b[J"  # everything from a row on; from the first of the screen on, tmux keeps a copy in its history
_ERASE = f"\r{_SAVE}\x1b[K\x1b[B{_BELOW}{_RESTORE}"  # the same in two steps, of which it keeps none

Toggled = Callable[[bool, Plan], object]


class Panel:
    """A view at the lower end of a terminal. Between two writes the cursor is where the panel begins: whatever
    the terminal does with its lines when its size changes, what is below the cursor is ours."""

    def __init__(
        self,
        terminal: Terminal,
        style: Style,
        *,
        unicode: bool = True,
        color: bool = True,
        expanded: bool = False,
        whole: bool = False,  # whether it may fill the screen
        on_toggle: Toggled | None = None,  # told whether it was expanded, and the plan that is shown
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.expanded = expanded
        self.style = style
        self._terminal = terminal
        self._unicode, self._color, self._whole = unicode, color, whole
        self._on_toggle = on_toggle
        self._clock = clock
        self._lock = RLock()
        self._view: View | None = None
        self._drawn_at = 0.0  # when the view was given to us: time goes on from there
        self._frame = 0
        self._shown: list[str] = []  # the rows on the screen
        self._size = terminal.size()
        self._said: list[str] = []  # lines of text that have yet to be written
        self._unfinished = ("", "")  # the line of text that has no end yet, and its style
        self._is_new = False  # whether something has yet to be drawn
        self._changed_at = self._redrawn_at = -_LONG
        self._is_aside = False  # whether the terminal is somebody else's for a while
        self._was_left = False  # whether it was given back: then it has to be taken before a panel is drawn again
        terminal.on_leave = self._below

    # --- what others call --------------------------------------------------------------------------------------------

    def draw(self, view: View) -> None:
        """Show this from now on. It may take a moment: no more than ten times a second anything is drawn."""
        with self._lock:
            self._view, self._drawn_at, self._is_new = view, self._clock(), True
            self.tick()

    def write(self, text: str, style: str = "") -> None:
        """Text of an agent, above the panel, broken between words. It may come in pieces; the last row stays open until
        it is full or has an end."""
        with self._lock:
            *lines, rest = (self._unfinished[0] + text).split("\n")
            style = style or self._unfinished[1]
            full, rest = split_full_rows(rest, self._size[0])
            for line in lines:
                self._said += self._wrap(line, style)
            self._said += [self._paint((Span(row, style),)) for row in full]
            self._unfinished = (rest, style if rest else "")
            self._is_new = True
            self.tick()

    def show(self, lines: Iterable[Line]) -> None:
        """Styled lines, above the panel."""
        with self._lock:
            self._said += self._end_line()
            self._said += [self._paint(tuple(Span(clean(text), style) for text, style in line)) for line in lines]
            self._is_new = True
            self.tick()

    def tick(self) -> float:
        """Draw what is due, and tell in how many seconds the next thing will be. Call it at least then."""
        with self._lock:
            if self._is_aside:
                return _LONG
            now = self._clock()
            self._is_new |= self._terminal.was_changed
            if self._due(now) <= 0:
                self._redraw(now)
            return max(self._due(now), 0)

    def flush(self) -> None:
        """Draw everything now, before something that takes its time."""
        with self._lock:
            self._redraw(self._clock())

    def wait(self, seconds: float) -> list[str]:
        """Keep the panel alive for so long, or until keys are typed or somebody calls `wake`; the keys. Ctrl+T shows
        and hides the list by itself."""
        return wait_for_keys(self._terminal, self._clock, seconds, self.tick, self.toggle)

    def wake(self) -> None:
        """Have `wait` return. May be called by any thread."""
        self._terminal.wake()

    def toggle(self) -> bool:
        """Show the list, or hide it."""
        with self._lock:
            before = self.expanded
            self.expanded, self._is_new = not before, True
            if self._on_toggle:
                self._on_toggle(before, self._view.plan if self._view else Plan())
            self.tick()
        return True

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Give the terminal to somebody else for a while: an editor, a question."""
        self.close(keep=False)
        self._is_aside = True
        try:
            yield
        finally:
            self._is_aside = False
            self._terminal.enter()
            self._is_new = True
            self.flush()

    def close(self, *, keep: bool = True) -> None:
        """Give the terminal back. What was shown last stays there, without spinner and keys, unless it is unwanted."""
        with self._lock:
            if not self._terminal.is_taken:
                if self._was_left:
                    self._said += self._end_line()
                self._redraw(self._clock())
                return
            view = self._view
            self._said += self._end_line()
            now = self._clock()
            if view and keep:
                self._view = self._moment(now, keys=False)._replace(busy=False, typed="")
            else:
                self._view = None
            self._redraw(now, keys=False)
            self._terminal.leave()
            self._view, self._shown = view, []

    def __enter__(self) -> Panel:
        self._terminal.enter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None or issubclass(kind, KeyboardInterrupt):
                self.close()
        finally:
            self._terminal.leave()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _due(self, now: float) -> float:
        """The seconds until something may be drawn."""
        if self._is_new:
            return self._changed_at + _GAP - now
        turns = self._view is not None and self._view.busy
        if turns:
            return self._redrawn_at + _TURN - now
        return _LONG

    def _redraw(self, now: float, *, keys: bool = True) -> None:
        if self._is_aside:
            return
        if self._was_left and not self._terminal.is_taken:
            self._terminal.write(self._last_words)
            return
        self._redrawn_at = now
        if self._is_new:
            self._changed_at = now
        self._terminal.write(lambda: self._changes(now, keys))

    def _changes(self, now: float, keys: bool) -> str:
        """What to write. From here to its writing no signal is heard, so that screen and memory agree."""
        size = self._terminal.size()
        is_elsewhere = self._terminal.was_changed or size != self._size
        self._terminal.was_changed, self._size = False, size
        self._is_new, self._frame = False, int(now / _TURN)
        rows = self._rows(now, keys)
        old, self._shown = self._shown, rows
        said, self._said = self._said, []
        if not said and not is_elsewhere:
            return repaint(old, rows)
        above = "".join(f"{line}{_LINE}" for line in said)
        return f"{_BEGIN}{_ERASE}{above}{repaint([], rows)}{_END}"

    def _last_words(self) -> str:
        """What is said after the end: as it comes, without a panel."""
        said, self._said, self._is_new = self._said, [], False
        return "".join(f"{line}{_LINE}" for line in said)

    def _rows(self, now: float, keys: bool) -> list[str]:
        width, height = self._size
        open_line: list[str] = []
        if self._unfinished[0]:
            open_line = self._wrap(*self._unfinished)[-min(_TAIL, max(height - 1, 1)) :]
        if self._view is None:
            return open_line
        if self._whole:
            most = height
        else:
            most = max(min(height - 1, _LEAST), height // 2)
        room = max(min(most, height - len(open_line)), 1)
        lines = render(self._moment(now, keys), self.style, width, room, unicode=self._unicode)
        return [*open_line, *map(self._paint, lines)]

    def _moment(self, now: float, keys: bool) -> View:
        """The view as it is at this moment."""
        assert self._view is not None
        view = self._view._replace(expanded=self.expanded, frame=self._frame, keys=keys and self._terminal.has_keys)
        if not view.busy:
            return view
        later = now - self._drawn_at
        seconds = None if view.seconds is None else view.seconds + later
        return view._replace(seconds=seconds, times={id: time + later for id, time in view.times.items()})

    def _end_line(self) -> list[str]:
        words, style = self._unfinished
        self._unfinished = ("", "")
        if words:
            return self._wrap(words, style)
        return []

    def _wrap(self, line: str, style: str) -> list[str]:
        return [self._paint((Span(row, style),)) for row in wrapped(clean(line), self._size[0])]

    def _paint(self, line: Line) -> str:
        return painted(line, has_color=self._color)

    def _below(self) -> str:
        """From where the panel begins to the line below it."""
        self._was_left, self._unfinished = True, ("", "")
        rows, self._shown = len(self._shown), []
        if rows:
            return f"{_move_cursor(0, rows - 1)}\r\n"
        return ""


def wait_for_keys(
    terminal: Terminal,
    clock: Callable[[], float],
    seconds: float,
    tick: Callable[[], float],
    toggle: Callable[[], bool],
) -> list[str]:
    """Return the keys that are typed within so long; none when it is over, or when somebody woke it. `tick` draws,
    and says in how many seconds that is due again. Ctrl+T is for `toggle`."""
    end = clock() + seconds
    while True:
        due = tick()
        left = end - clock()
        typed = terminal.wait(min(due, max(left, 0)))
        keys = [key for key in typed if not (key == "ctrl+t" and toggle())]
        if keys or left <= 0 or terminal.was_woken:
            terminal.was_woken = False
            return keys


def repaint(old: Sequence[str], new: Sequence[str]) -> str:
    """What turns the old rows into the new ones, with the cursor at the beginning of the first before and after. Rows
    that are not there yet are made by writing all of them: whatever scrolls, the way back is as long as the panel."""
    if len(new) > len(old):
        return f"{_BEGIN}{_ERASE}{_NO_WRAP}{_LINE.join(new)}{_move_cursor(len(new) - 1, 0)}\r{_WRAP}{_END}"
    made: list[str] = []
    at = 0
    if len(new) < len(old):
        made = [_move_cursor(0, len(new)), _BELOW if new else _ERASE]
        at = len(new)
    for place, row in enumerate(new):
        if row != old[place]:
            made += [_move_cursor(at, place), "\r\x1b[K", row]
            at = place
    if made:
        return "".join((_SAVE, _NO_WRAP, *made, _RESTORE, _WRAP))
    return ""


def _move_cursor(row: int, to: int) -> str:
    if to == row:
        return ""
    if to < row:
        return f"\x1b[{row - to}A"
    return f"\x1b[{to - row}B"


def split_full_rows(line: str, width: int) -> tuple[list[str], str]:
    """The rows of a line without an end that nothing can be added to, and what is left of it. Text that fits in one
    row is left as it came."""
    text = clean(line)
    *rows, last = wrapped(text, width)
    if not rows:
        return [], line
    return rows, last + " " * (len(text) - len(text.rstrip(" ")))


def clean(line: str) -> str:
    """A line of somebody's text that does nothing to a terminal."""
    return inline(line.rstrip("\r").expandtabs(4))

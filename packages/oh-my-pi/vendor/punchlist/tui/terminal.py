"""A terminal: its size, its keys, what is written to it, and its state, which is given back whatever happens."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from _thread import get_ident
from collections.abc import Callable
from types import FrameType

from ..core._typing import TYPE_CHECKING, Any
from .keys import PASTE, PASTED, read_keys

if TYPE_CHECKING:
    from typing import TextIO

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor
_MARKED, _UNMARKED = "\x1b[?2004h", "\x1b[?2004l"  # whether the terminal says what was pasted
if sys.platform == "darwin":  # a control character that no key makes
    _DISABLED = b"\xff"
else:
    _DISABLED = b"\x00"
_QUIET = (signal.SIGWINCH, signal.SIGCONT)  # nothing ends or halts
_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, *_QUIET)
_ESCAPE = 0.05  # seconds until a lone escape character is the key, and not the beginning of another
_WOKEN = b"\0"
_HOLLOW = 10  # promises of keys in a row without any, after which the keyboard is taken to be gone


class Terminal:
    """What somebody sits at, or a file in its place. Between `enter` and `leave` keys come one by one, and nothing
    that ends or halts the program leaves the terminal in another state than it was in."""

    def __init__(self, output: TextIO, keyboard: int | None = None, *, hides_cursor: bool = True) -> None:
        self.on_leave: Callable[[], str] = str  # what to write before the terminal is given back
        self.was_changed = False  # in size, or by another program: what was drawn may be elsewhere
        self.was_woken = False
        self.is_taken = False
        self._output = output
        self._keyboard = keyboard  # None: nothing can be typed
        if hides_cursor and keyboard is not None:
            marks = (_MARKED, _UNMARKED)
        else:
            marks = ("", "")
        if hides_cursor:
            self._cursor = (_HIDE + marks[0], marks[1] + _SHOW)
        else:
            self._cursor = ("", "")
        self._typed = b""
        self._is_pasted = False  # whether what comes now was pasted: a line end in it is not Enter
        self._empty = 0  # how often there was nothing to read after all
        self._state: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._pipe = (-1, -1)
        self._old_pipe = -1
        self._thread = get_ident()
        self._busy = 0
        self._signals: list[int] = []  # those that came while something was being written

    @property
    def has_keys(self) -> bool:
        return self._keyboard is not None

    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        try:
            found = os.get_terminal_size(self._output.fileno())
        except (OSError, ValueError):
            return 80, 24
        return found.columns or 80, found.lines or 24

    # --- coming and going --------------------------------------------------------------------------------------------

    def enter(self) -> None:
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        self._thread = get_ident()
        try:
            self._old_pipe = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
            heard = [number for number in _CAUGHT if signal.getsignal(number) is not signal.SIG_IGN]
            self._handlers = {number: signal.signal(number, self._caught) for number in heard}
        except ValueError:
            self._handlers = {}  # signals are for the main thread
        self._take()

    def leave(self) -> None:
        """Give the terminal back as it was."""
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._handlers:  # SIGWINCH at least: nobody ignores it
            signal.set_wakeup_fd(self._old_pipe)
        self._handlers = {}
        for end in self._pipe:
            if end >= 0:
                os.close(end)
        self._pipe = (-1, -1)

    def _take(self) -> None:
        if self._keyboard is not None:
            if not self.is_taken:
                self._state = termios.tcgetattr(self._keyboard)
            termios.tcsetattr(self._keyboard, termios.TCSADRAIN, _one_by_one(self._state))
        self.is_taken = True
        self.write(lambda: self._cursor[0])

    def _give_back(self) -> None:
        if not self.is_taken:
            return
        self.is_taken = False
        try:
            self.write(lambda: self.on_leave() + self._cursor[1])
        except OSError:
            pass  # it is gone, or nobody reads it
        finally:
            self._restore()

    def _restore(self) -> None:
        if self._state and self._keyboard is not None:
            try:
                termios.tcsetattr(self._keyboard, termios.TCSADRAIN, self._state)
            except termios.error:
                pass  # it is gone

    # --- writing and reading -----------------------------------------------------------------------------------------

    def write(self, make: Callable[[], str]) -> None:
        """Write what is made, all of it: a signal that comes meanwhile is heard afterwards."""
        self._busy += 1
        try:
            text = make()
            if text:
                self._put(text)
        finally:
            self._busy -= 1
        self._hear()

    def _put(self, text: str) -> None:
        """Write past Python's own buffers: when a signal comes, they forget what the system has not taken yet."""
        self._output.flush()
        rest = text.encode(self._output.encoding or "utf-8", "replace")
        while rest:
            try:
                rest = rest[os.write(self._output.fileno(), rest) :]
            except BlockingIOError:
                select.select([], [self._output.fileno()], [])

    def wait(self, seconds: float) -> list[str]:
        """The keys typed, as soon as there are any; none when the time is over, or when it was woken."""
        self._hear()
        sources = [end for end in (self._pipe[0], self._keyboard) if end is not None and end >= 0]
        ready, _, _ = select.select(sources, [], [], max(seconds, 0))
        if self._pipe[0] in ready:
            self._drain()
        if self._keyboard in ready:
            return self._keys()
        return []

    def wake(self) -> None:
        """Have `wait` return. May be called by any thread."""
        try:
            os.write(self._pipe[1], _WOKEN)
        except OSError:
            pass  # it is awake already, or gone

    def _drain(self) -> None:
        try:
            while found := os.read(self._pipe[0], 1024):
                self.was_woken |= _WOKEN in found
        except BlockingIOError:
            pass

    def _keys(self) -> list[str]:
        found, self._typed = read_keys(self._typed + self._read())
        keys = [key for key in map(self._as_pasted, found) if key]
        if self._typed and self._keyboard is not None and not select.select([self._keyboard], [], [], _ESCAPE)[0]:
            if self._typed == b"\x1b":
                keys.append("esc")
            self._typed = b""
        return keys

    def _as_pasted(self, key: str) -> str:
        """A key as it is meant: in a text that is pasted a line end is a character like any other."""
        if key in (PASTE, PASTED):
            self._is_pasted = key == PASTE
            return ""
        if self._is_pasted and key == "enter":
            return "\n"
        return key

    def _read(self) -> bytes:
        assert self._keyboard is not None
        try:
            found = os.read(self._keyboard, 1024)
        except OSError:
            found = b""
        self._empty = 0 if found else self._empty + 1
        if self._empty > _HOLLOW:
            self._keyboard = None
        return found

    # --- signals -----------------------------------------------------------------------------------------------------

    def _caught(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGWINCH:
            self.was_changed = True
        elif number == signal.SIGCONT and not self.is_taken:
            pass  # whoever was halted takes the terminal again by itself
        elif self._busy:
            self._signals.append(number)
        else:
            self._act(number)

    def _hear(self) -> None:
        while self._signals and not self._busy and get_ident() == self._thread:
            self._act(self._signals.pop(0))

    def _act(self, number: int) -> None:
        """Do what the signal asks for, with the terminal given back where that ends or halts the program."""
        handler = self._handlers.get(number, signal.SIG_DFL)
        if number == signal.SIGINT:
            handler(number, None)
            return
        if number == signal.SIGCONT:  # halted by a signal that nobody hears: the shell has changed the terminal
            self._take()
            self.was_changed = True
            return
        self._give_back()
        signal.signal(number, handler)
        os.kill(os.getpid(), number)
        signal.signal(number, self._caught)  # it was only halted, and goes on now
        self._take()
        self.was_changed = True


def _one_by_one(state: list[Any]) -> list[Any]:
    """Keys come as they are typed, and are not echoed. Ctrl+C still interrupts, but where Ctrl+T asks the system for
    a report, it is a key like any other now."""
    changed, controls = [*state], [*state[6]]
    changed[3] &= ~(termios.ICANON | termios.ECHO)
    changed[3] |= termios.NOFLSH  # Ctrl+C does not throw away what is on its way to the screen
    controls[termios.VMIN], controls[termios.VTIME] = 0, 0  # a read never waits: another may have taken the key
    status = getattr(termios, "VSTATUS", 18 if sys.platform == "darwin" else len(controls))
    if status < len(controls):
        controls[status] = _DISABLED
    changed[6] = controls
    return changed

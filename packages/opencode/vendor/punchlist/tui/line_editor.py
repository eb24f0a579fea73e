"""A line that is being typed at the prompt: its text, where the cursor is, and what each key makes of them. Pure."""

from __future__ import annotations

from collections.abc import Callable

from ..core._typing import NamedTuple


class Typed(NamedTuple):
    """A line and its cursor."""

    text: str = ""
    at: int = 0  # characters before the cursor

    @property
    def before(self) -> str:
        return self.text[: self.at]

    @property
    def after(self) -> str:
        return self.text[self.at :]


def press_key(line: Typed, key: str) -> Typed:
    """The line after one more key. A key that does nothing to a line changes nothing."""
    if key in _MOVES:
        return line._replace(at=_MOVES[key](line))
    if key in _CUTS:
        start, end = _CUTS[key](line)
        return Typed(line.text[:start] + line.text[end:], start)
    is_text = len(key) == 1 and (key.isprintable() or key == "\n")
    if is_text:
        return Typed(line.before + key + line.after, line.at + 1)
    return line


class History:
    """What was typed before: up and down go through it, and the line that was begun is at its end."""

    def __init__(self, said: list[str], begun: Typed) -> None:
        self._lines = [*said, begun.text]
        self._place = len(said)

    def move(self, line: Typed, step: int) -> Typed:
        """The line before or behind this one; what was changed in this one is kept."""
        self._lines[self._place] = line.text
        self._place = min(max(self._place + step, 0), len(self._lines) - 1)
        found = self._lines[self._place]
        return Typed(found, len(found))


def _word_left(line: Typed) -> int:
    head = line.before.rstrip()
    if head:
        return len(head) - len(head.rsplit(None, 1)[-1])
    return 0


def _word_right(line: Typed) -> int:
    rest = line.after
    word = rest.lstrip()
    blank = len(rest) - len(word)
    if word:
        return line.at + blank + len(word.split(None, 1)[0])
    return len(line.text)


def _left(line: Typed) -> int:
    return max(line.at - 1, 0)


def _right(line: Typed) -> int:
    return min(line.at + 1, len(line.text))


_MOVES: dict[str, Callable[[Typed], int]] = {
    "left": _left,
    "ctrl+b": _left,
    "right": _right,
    "ctrl+f": _right,
    "home": lambda line: 0,
    "ctrl+a": lambda line: 0,
    "end": lambda line: len(line.text),
    "ctrl+e": lambda line: len(line.text),
    "alt+b": _word_left,
    "alt+f": _word_right,
}
_CUTS: dict[str, Callable[[Typed], tuple[int, int]]] = {
    "backspace": lambda line: (_left(line), line.at),
    "delete": lambda line: (line.at, _right(line)),
    "ctrl+d": lambda line: (line.at, _right(line)),
    "ctrl+k": lambda line: (line.at, len(line.text)),
    "ctrl+u": lambda line: (0, line.at),
    "ctrl+w": lambda line: (_word_left(line), line.at),
    "alt+backspace": lambda line: (_word_left(line), line.at),
    "alt+d": lambda line: (line.at, _word_right(line)),
}

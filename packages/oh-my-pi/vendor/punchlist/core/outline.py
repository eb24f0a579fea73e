"""What there is to do in a text that was written for people: headings become phases, checkboxes items."""

from __future__ import annotations

from collections.abc import Callable

from ._typing import NamedTuple
from .model import DONE, DROPPED, PENDING
from .text import cut, visible

_LONG = 500  # characters of an item
_MOST = 200  # items from one text
_BULLETS = ("- ", "* ", "+ ")
_BOXES = {**dict.fromkeys(("", *" />!"), PENDING), "x": DONE, "X": DONE, "-": DROPPED, "~": DROPPED}


class OutlineItem(NamedTuple):
    phase: str
    text: str
    status: str = PENDING


def entries(text: str) -> list[OutlineItem]:
    """The checkboxes of a text under their headings. A text without any: its numbered lines; else its top bullets."""
    lines = _lines(text)
    for find in (_box, _number, _bullet):
        found = _found(lines, find)
        if found:
            return _short(found)
    return []


def _short(found: list[OutlineItem]) -> list[OutlineItem]:
    """No more than fit on a list; what is left out is not forgotten."""
    if len(found) <= _MOST:
        return found
    rest = found[_MOST - 1 :]
    return [
        *found[: _MOST - 1],
        OutlineItem(rest[0].phase, f"the other {len(rest)} steps of the plan that was approved"),
    ]


def _found(lines: list[str], find: Callable[[str], tuple[str, str] | None]) -> list[OutlineItem]:
    phase = ""
    found: list[OutlineItem] = []
    for line in lines:
        if line.startswith("#") and line.lstrip("#").startswith(" "):
            phase = _plain(line.lstrip("#"))
        elif (entry := find(line)) is not None and entry[0]:
            found.append(OutlineItem(phase, cut(entry[0], _LONG), entry[1]))
    phases = {entry.phase for entry in found}
    if len(phases) == 1:
        return [entry._replace(phase="") for entry in found]
    return found


def _box(line: str) -> tuple[str, str] | None:
    """`- [ ] text`, `* [x] text` or `1. [ ] text`, however deep."""
    words = line.lstrip()
    width = _bullet_width(words)
    mark, closing, text = words[width + 1 :].partition("]")
    if not width or words[width : width + 1] != "[" or not closing or mark not in _BOXES or text[:1] not in ("", " "):
        return None
    return _plain(text), _BOXES[mark]


def _number(line: str) -> tuple[str, str] | None:
    """`1. text` or `2) text`, not indented."""
    if line[:1].isdigit() and _bullet_width(line):
        return (_plain(line[_bullet_width(line) :]), PENDING)
    return None


def _bullet(line: str) -> tuple[str, str] | None:
    if line[:2] in _BULLETS:
        return (_plain(line[2:]), PENDING)
    return None


def _bullet_width(words: str) -> int:
    """How long the mark at the beginning of a list's entry is, with the space behind it; 0 if there is none."""
    if words[:2] in _BULLETS:
        return 2
    digits = len(words) - len(words.lstrip("0123456789"))
    if digits and words[digits : digits + 2] in (". ", ") "):
        return digits + 2
    return 0


def _plain(text: str) -> str:
    """Without stars of emphasis and the colon behind it. Code stays as it is, and so do underscores, as in names."""
    text = text.strip()
    if text.endswith("#") and text.rstrip("#").endswith(" "):  # what closes a heading
        text = text.rstrip("#")
    parts = text.split("`")  # every other one is code
    if sum(part.count("**") for part in parts[::2]) % 2 == 0:
        parts[::2] = [part.replace("**", "") for part in parts[::2]]
    text = "`".join(parts).strip()
    if text[:1] == text[-1:] == "*" and text.count("*") == 2:
        text = text[1:-1]
    return text.strip().removesuffix(":").strip()


def _lines(text: str) -> list[str]:
    """The lines outside of fenced code."""
    lines: list[str] = []
    fenced = False
    for line in map(visible, text.splitlines()):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    return lines

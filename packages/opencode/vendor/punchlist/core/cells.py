"""Text in the cells of a terminal: how many it takes, the part that fits, and rows of a width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

DENSE = 5  # characters in one cell, at most: a letter and the marks on it, or half of an emoji made of many
_JOINER, _EMOJI_FORM = "\u200d", "\ufe0f"
_UNSEEN = "\u200b\u200c\u200d\ufe0e\ufe0f"
_SKINS = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_FLAGS = "\U0001f1e6\U0001f1ff"  # the first and the last letter of flags: two of them take two cells
_CLOSING = "、。，．！？：；）」』】〉》〕］｝・ー々"  # what does not begin a row


def columns(text: str) -> int:
    """How many terminal cells a text takes."""
    if text.isascii():
        return len(text)
    return _measure(text)


@lru_cache(maxsize=2_000)  # the same signs and texts are drawn many times
def _measure(text: str) -> int:
    return sum(cells for _, cells in _clusters(text))


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of a text as they are seen, each with its cells: a letter with its marks, an emoji with what
    is joined to it."""
    seen, cells = "", 0
    is_joined = False
    for char in text:
        own = _cells(char)
        if char == _EMOJI_FORM and cells == 1:
            seen, cells = seen + char, 2
        elif seen and (own == 0 or is_joined or (cells == 2 and char in _SKINS)):
            seen += char
        else:
            if seen:
                yield seen, cells
            seen, cells = char, own
        is_joined = char == _JOINER and cells == 2
    if seen:
        yield seen, cells


@lru_cache(maxsize=10_000)
def _cells(char: str) -> int:
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me") or char in _UNSEEN or "\u1160" <= char <= "\u11ff":
        return 0
    if east_asian_width(char) in "WF" and not _FLAGS[0] <= char <= _FLAGS[1]:
        return 2
    return 1


def first_cells(text: str, room: int) -> str:
    """The beginning of a text, in at most so many cells."""
    if text.isascii():
        return text[:room]
    length = 0
    for seen, cells in _clusters(text):
        room -= cells
        if room < 0:
            break
        length += len(seen)
    return text[:length]


def wrapped(text: str, width: int) -> list[str]:
    """The text in rows of at most `width` cells, broken between words; a word that is wider than a row is broken."""
    width = max(width, 1)
    rows: list[str] = []
    row, gap = "", ""
    used = 0
    for word in text.rstrip(" ").split(" "):
        for part in _parts(word):
            cells = columns(gap + part)
            if used + cells <= width and len(row) + len(part) < width * DENSE:
                row += gap + part
                used += cells
            else:
                *pieces, last = _broken(part, width)
                rows += [row, *pieces] if row.strip() else pieces
                row = last
                used = columns(row)
            gap = ""
        gap = " "
    return [*rows, row]


def _parts(word: str) -> Iterator[str]:
    """Yield what may not be parted: a word; of Chinese and Japanese, each character with the punctuation behind it."""
    part = ""
    was_wide = False
    if word.isascii():
        yield word
        return
    for seen, cells in _clusters(word):
        is_wide = cells == 2
        if part and (is_wide or was_wide) and seen not in _CLOSING:
            yield part
            part = ""
        part += seen
        was_wide = is_wide
    yield part


def _broken(word: str, width: int) -> list[str]:
    pieces: list[str] = []
    while not is_within(word, width):
        piece = first_cells(word[: width * DENSE], width) or word[0]
        pieces.append(piece)
        word = word[len(piece) :]
    return [*pieces, word]


def is_within(text: str, width: int) -> bool:
    """Whether a text takes at most so many cells; one that is far too long is not measured."""
    return len(text) <= width * DENSE and columns(text) <= width

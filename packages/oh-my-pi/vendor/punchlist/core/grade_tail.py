"""A grade behind an item's text in Markdown, in parentheses. It is taken off when the text is read back: grades are
derived, never stored. A text that ends like that by itself is followed by `(reported)`, so that it is neither taken for
a grade nor lost."""

from __future__ import annotations

import re

_WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d"
_GRADE = (
    rf"(?:(?:verified|passed|passed its own check|waived) {_WHEN}"
    rf"|failed {_WHEN}(?:: exit code -?\d+)?(?:, files changed since)?"
    rf"|outdated: (?:\d+ )?files? changed since {_WHEN})"
    r"(?:, flaky)?(?:, tests changed)?"
)
_TAIL = re.compile(rf" \({_GRADE}\)$")
_NONE = " (reported)"
_LIKE_A_TAIL = re.compile(rf" \({_GRADE}\)(?: \(reported\))*$")


def with_tail(text: str, grade: str) -> str:
    """A text with a grade behind it, in words with date and time; empty: it has none."""
    tail = f" ({grade})"
    if grade and _TAIL.fullmatch(tail):
        return text + tail
    if _LIKE_A_TAIL.search(text):
        return text + _NONE
    return text


def without_tail(text: str) -> str:
    """The text that was written with a grade behind it, or without."""
    if text.endswith(_NONE) and _LIKE_A_TAIL.search(text.removesuffix(_NONE)):
        return text.removesuffix(_NONE)
    return _TAIL.sub("", text)

"""A check behind an item's text in Markdown, as a comment: `<!-- check: make test -->`. A text that ends like that by
itself is followed by an empty one, so that it is neither taken for a check nor lost."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ._typing import Any
from .checks import read_check
from .errors import Refused

_START, _END = "<!-- check:", "-->"
_NONE = f" {_START} {_END}"


def with_comment(text: str, check: Mapping[str, Any]) -> str:
    """A text with the check of its item behind it."""
    if check:
        return f"{text} {_START} {_written(check)} {_END}"
    if _START in text and text.rstrip().endswith(_END):
        return text + _NONE
    return text


def split_comment(text: str) -> tuple[str, dict[str, Any]]:
    """The text that was written, and the check; empty if it has none. Raises Refused for what cannot be a check."""
    if not text.endswith(_END):
        return text, {}
    before, start, rest = text.rpartition(_START)
    if not start:
        return text, {}
    words = rest.removesuffix(_END).strip()
    if not words:
        return before.rstrip(), {}
    given: object = words
    if words.startswith(('"', "{")):
        try:
            given = json.loads(words)
        except (ValueError, RecursionError):
            raise Refused(f"the check {words[:40]!r} is not valid JSON.") from None
    return before.rstrip(), read_check(given)


def _written(check: Mapping[str, Any]) -> str:
    """A command as it is, if it reads back; all else as JSON."""
    run = check.get("run", "")
    if check.keys() == {"run"} and not run.startswith(('"', "{")) and _END not in run and _START not in run:
        return str(run)
    made = dict(check)
    return json.dumps(made, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e")

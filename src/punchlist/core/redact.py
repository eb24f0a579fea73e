"""Tool calls are remembered short and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .text import cut
from .typed import Any

_MOST = 200  # characters of a value
_BLANK = "[redacted]"
_NAME = r"[\w-]*(?:password|passwd|secret|token|api[_-]?key|authorization|credential|private[_-]?key)[\w-]*"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_GIVEN = re.compile(
    rf"((?:--)?{_NAME}[\"']?\s*[=:]\s*[\"']?(?:bearer\s+)?|--{_NAME}\s+|\bbearer\s+)([^\s\"'&;|]+)", re.IGNORECASE
)
_KEY = re.compile(
    r"[\"']?\b(?:sk[-_]|gh[pos]_|github_pat_|glpat-|xox[bp]-|A[KS]IA|AIza|eyJ)[\w.-]{12,}[\"']?",
)


def redacted(value: Any, name: str = "") -> Any:
    """The value with secrets blanked and long texts cut. Its form stays."""
    if isinstance(value, Mapping):
        return {key: redacted(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(entry, name) for entry in value]
    secret = bool(_SECRET_NAME.fullmatch(name))
    if isinstance(value, str):
        return _BLANK if value and secret else cut(blanked(value), _MOST)
    return _BLANK if secret and value is not None and not isinstance(value, bool) else value


def blanked(text: str) -> str:
    """The text without what looks like a key, or is given as something secret: `TOKEN=...`, `--password ...`."""
    return _KEY.sub(_BLANK, _GIVEN.sub(_hidden, text))


def _hidden(found: re.Match[str]) -> str:
    name, value = found.groups()
    return found.group() if value.casefold() == "bearer" or value == _BLANK else f"{name}{_BLANK}"

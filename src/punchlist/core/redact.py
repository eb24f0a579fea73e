"""Tool calls are remembered short and without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .text import cut

_MOST = 200  # characters of a value
_SECRET_NAMES = (
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "authorization",
    "credential",
    "private_key",
)
_SECRET_STARTS = (
    "sk-",
    "sk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
)
_BLANK = "[redacted]"


def redacted(value: Any, name: str = "") -> Any:
    """The value with secrets blanked and long texts cut. Its form stays."""
    if isinstance(value, Mapping):
        return {key: redacted(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(entry, name) for entry in value]
    if not isinstance(value, str):
        return _BLANK if value is not None and _is_secret(name) and not isinstance(value, bool) else value
    return _BLANK if value and _is_secret(name) else cut(_blanked(value), _MOST)


def _is_secret(name: str) -> bool:
    plain = name.casefold().replace("-", "_")
    return any(word in plain for word in _SECRET_NAMES)


def _blanked(text: str) -> str:
    """The text without what looks like a key, or is given as something secret: `TOKEN=...`, `--password ...`."""
    if text.isalnum() and len(text) < 16:
        return text
    words = text.split(" ")
    for index, word in enumerate(words):
        bare = word.lstrip("\"'")
        name, equals, value = word.partition("=")
        if equals and value and _is_secret(name):
            words[index] = f"{name}={_BLANK}"
        elif (len(bare) >= 16 and bare.startswith(_SECRET_STARTS)) or (
            index and (words[index - 1].casefold() == "bearer" or _is_option(words[index - 1])) and word
        ):
            words[index] = _BLANK
    return " ".join(words)


def _is_option(word: str) -> bool:
    return word.startswith("--") and "=" not in word and _is_secret(word)

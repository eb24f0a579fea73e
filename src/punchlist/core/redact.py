"""Tool calls are remembered short and without secrets."""

from __future__ import annotations

from collections.abc import Mapping

from .text import cut
from .typed import Any

_MOST = 200  # characters of a value
_READ = 10 * _MOST  # characters that are looked at for them
_BLANK = "[redacted]"
_NAMES = ("password", "passwd", "secret", "token", "apikey", "authorization", "credential", "privatekey")
# Without any of these a text holds no secret that we would find.
_HINTS = (
    *("password", "passwd", "secret", "token", "key", "authorization", "credential", "bearer", "://", "-u", "user"),
    *("mysql", "mariadb", "sshpass", "u ", "u\t", "u\n", "sk-", "sk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-"),
    *("xox", "akia", "asia", "aiza", "eyj"),
)


def redacted(value: Any, name: str = "") -> Any:
    """The value with secrets blanked and long texts cut. Its form stays."""
    if isinstance(value, Mapping):
        return {key: redacted(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(entry, name) for entry in value]
    secret = _is_secret(name)
    if isinstance(value, str):
        return _BLANK if value and secret else cut(blanked(value[:_READ]), _MOST)
    return _BLANK if secret and value is not None and not isinstance(value, bool) else value


def recorded(id: str, name: str, args: Any, outcome: str, text: str, *, redact: bool) -> dict[str, Any]:
    """A tool call as it is kept with the item it was made for: short, and without secrets."""
    if redact:
        args, text = redacted(args), redacted(text)
    return {"id": id, "name": name, "parameters": args, "outcome": outcome, "text": text[:_MOST]}


def blanked(text: str) -> str:
    """The text without what looks like a key, or is given as something secret: `TOKEN=...`, `--password ...`."""
    plain = text.casefold()
    if not any(hint in plain for hint in _HINTS):
        return text
    from .secrets import blanked

    return blanked(text)


def _is_secret(name: str) -> bool:
    plain = name[:_MOST].casefold().replace("_", "").replace("-", "")
    return any(one in plain for one in _NAMES)

"""What the terminal of the user can show: colors, and signs beyond ASCII."""

from __future__ import annotations

from collections.abc import Mapping


def wants_color(environ: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether to use colors: on a terminal, unless the user wants none; elsewhere only if asked to."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return bool(environ.get("FORCE_COLOR")) or is_terminal


def is_unicode(environ: Mapping[str, str], encoding: str | None) -> bool:
    """Whether signs beyond ASCII can be shown: in an encoding that has them, unless the user's locale is C or POSIX.
    Python writes UTF-8 there all the same; only a user who tells it what to write means that."""
    if "utf" not in (encoding or "").lower():
        return False
    locale = next(filter(None, map(environ.get, ("PYTHONIOENCODING", "LC_ALL", "LC_CTYPE", "LANG"))), "")
    return locale not in ("C", "POSIX")

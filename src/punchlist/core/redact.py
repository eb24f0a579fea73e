"""Tool calls are remembered short and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .text import cut
from .typed import Any

_MOST = 200  # characters of a value
_READ = 10 * _MOST  # characters that are looked at for them
_BLANK = "[redacted]"
_NAME = r"(?:password|passwd|secret|token|api[_-]?key|authorization|credential|private[_-]?key)[\w-]{0,60}"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
# Every repetition has an end: what is long and of one piece, as hexadecimal digits are, takes no longer than prose.
_GIVEN = re.compile(
    rf"({_NAME}[\"']?\s{{0,9}}[=:]\s{{0,9}}[\"']?(?:bearer\s{{1,9}})?|--[\w-]{{0,60}}?{_NAME}\s{{1,9}}|\bbearer\s{{1,9}})"
    r"([^\s\"'&;|]+)",
    re.IGNORECASE,
)
_WORD = r"(\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s\"'&;|]+)"  # as a shell takes it
_IN_PLACES = (  # a password that stands where one is expected, without a name
    re.compile(r"(://[^\s/:@\"']{0,100}:)([^\s/\"']{1,200})(?=@)"),  # https://me:password@host
    re.compile(  # curl -u me:password; but docker run -u 1000:1000, and rsync -u host:/path
        r"((?<![\w-])(?:-u\s{0,9}|--(?:proxy-)?user(?:=|\s{1,9}))[\"']?(?!\d{1,9}:\d)[^\s:\"']{1,100}:)(?!/)([^\s\"'&;|]+)"
    ),
    re.compile(  # mysql -ppassword; but mysql -p DATABASE asks for it
        r"(\b(?:mysql|mariadb)[a-z_-]{0,20}\b[^;&|\n]{0,200}?\s-p|\bsshpass\s{1,9}-p\s{0,9})(?!\s)" + _WORD
    ),
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
    secret = bool(_SECRET_NAME.search(name[:_MOST]))
    if isinstance(value, str):
        return _BLANK if value and secret else cut(blanked(value[:_READ]), _MOST)
    return _BLANK if secret and value is not None and not isinstance(value, bool) else value


def blanked(text: str) -> str:
    """The text without what looks like a key, or is given as something secret: `TOKEN=...`, `--password ...`."""
    for place in _IN_PLACES:
        text = place.sub(_hidden, text)
    return _KEY.sub(_BLANK, _GIVEN.sub(_hidden, text))


def _hidden(found: re.Match[str]) -> str:
    name, value = found.groups()
    return found.group() if value.casefold() == "bearer" or value == _BLANK else f"{name}{_BLANK}"

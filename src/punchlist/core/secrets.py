"""Texts without what looks like a key, or is given as something secret. Loaded when a text may hold one: building the
patterns takes longer than most hooks have."""

from __future__ import annotations

import re

BLANK = "[redacted]"
_NAME = r"(?:password|passwd|secret|token|api[_-]?key|authorization|credential|private[_-]?key)[\w-]{0,60}"
# Every repetition has an end: what is long and of one piece, as hexadecimal digits are, takes no longer than prose.
_URL = re.compile(r"(://[^\s/:@\"']{0,100}:)[^\s/\"']{1,200}(?=@)")  # https://me:password@host
_PLACES = (  # what stands before a secret; the secret itself is a word as a shell takes it
    re.compile(  # curl -u me:password; but docker run -u 1000:1000, and rsync -u host:/path
        r"(?<![\w-])(?:-u\s{0,9}|-[a-z]{1,9}u\s{1,9}|--(?:proxy-)?user(?:=|\s{1,9}))"
        r"(?![\"']?\d{1,9}:\d{1,9}[\"']?(?:[\s;&|)]|$))"
        r"(?:(?P<quote>[\"'])[^:\"'\n]{1,100}|[^\s:\"']{1,100}|\"[^:\"\n]{1,100}\"|'[^:'\n]{1,100}'):(?!/)",
        re.IGNORECASE,
    ),
    re.compile(  # mysql -ppassword; but mysql -p DATABASE asks for it
        r"(?:\b(?:mysql|mariadb)[a-z_-]{0,20}\b[^;&|\n]{0,200}?\s-p|\bsshpass\s{1,9}-p\s{0,9})(?!\s)(?P<quote>)"
    ),
    re.compile(
        rf"(?:{_NAME}\\?[\"']?\s{{0,9}}[=:]{{1,3}}>?\s{{0,9}}|--[\w-]{{0,60}}?{_NAME}\s{{1,9}}|\bbearer\s{{1,9}})"
        r"(?P<quote>\\?\"|'|)(?:bearer\s{1,9})?",
        re.IGNORECASE,
    ),
)
_QUOTED = {  # what may stand behind an opening quote, before the same one
    '"': re.compile(r"(?:[^\"\\]|\\.)*", re.DOTALL),
    '\\"': re.compile(r"(?:[^\"\\]|\\[^\"])*"),
    "'": re.compile(r"[^']*"),
}
_DOUBLE, _SINGLE = r"\"(?:[^\"\\\n]|\\.){0,500}\"", r"'[^'\n]{0,500}'"
_WORD = {  # pieces with and without quotes, by the quote that is open around all of it
    "": re.compile(rf"(?:{_DOUBLE}|{_SINGLE}|\\.|[^\s\"'&;|\\])*"),
    '"': re.compile(rf"(?:{_SINGLE}|[^\s\"'&;|\\]|\\[^\"])*"),
    "'": re.compile(rf"(?:{_DOUBLE}|[^\s\"'&;|])*"),
}
_MARK = re.compile(r"\\.|(?<=\w)'(?=\w)|([\"'])", re.DOTALL)  # a quote, but not the one in "don't"
_GOES_ON = re.compile(
    r"[^\s&;|,:)\]}>]"
)  # what is of the same word behind a closing quote: 'one'"two", not {"a":"b","c":1}
_KEY = re.compile(
    r"[\"']?\b(?:sk[-_]|gh[pos]_|github_pat_|glpat-|xox[bp]-|A[KS]IA|AIza|eyJ)[\w.-]{12,}[\"']?",
)


def blanked(text: str) -> str:
    """The text without what looks like a key, or is given as something secret: `TOKEN=...`, `--password ...`."""
    text = _URL.sub(rf"\g<1>{BLANK}", text)
    for place in _PLACES:
        text = _without(place, text)
    return _KEY.sub(BLANK, text)


# --- inside ----------------------------------------------------------------------------------------------------------


def _without(place: re.Pattern[str], text: str) -> str:
    """The text without the words that stand in such a place."""
    kept: list[str] = []
    done, around = 0, ""
    while found := place.search(text, done):
        start, quote = found.end(), found["quote"] or ""
        around = _around(text[done : found.start("quote") if quote else start], around)
        end = _end(text, start, quote, around)
        is_secret = end > start and text[start:end].casefold() != "bearer"
        kept += [text[done:start], BLANK if is_secret else text[start:end]]
        if quote and text.startswith(quote, end):
            kept.append(quote)
            end = _end_of_word(text, end + len(quote), around)
        done = end
    return "".join([*kept, text[done:]])


def _around(text: str, quote: str) -> str:
    """The quote that is open at the end of a text."""
    for mark in _MARK.findall(text):
        if mark:
            quote = "" if mark == quote else quote or mark
    return quote


def _end(text: str, start: int, quote: str, around: str) -> int:
    """Where a secret ends: at the quote that was opened before it, or with its word."""
    if not quote and text[start : start + 1] in ("'", '"') and text[start] != around:
        end = _matched(_QUOTED[text[start]], text, start + 1)
        return _end_of_word(text, min(end + 1, len(text)), around)
    if not quote:
        return _matched(_WORD[around], text, start)
    end = _matched(_QUOTED[quote], text, start)
    is_closing = quote == around and end == len(text)  # -d "password=" URL: it was opened before
    return _matched(_WORD[""], text, start) if is_closing else end


def _end_of_word(text: str, start: int, around: str) -> int:
    """Where a word ends of which a piece in quotes was read."""
    return _matched(_WORD[around], text, start) if _GOES_ON.match(text, start) else start


def _matched(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start

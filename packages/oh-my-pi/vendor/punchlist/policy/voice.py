"""How much a model is told: the brief texts, or the full guidance. The name of the model decides, unless the user does.

A class is `brief` or `full`; a name that no pattern knows has none, and is told as little as `brief`, with the usual
reminders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..core.errors import Refused
from ..core.text import cut, inline
from .limits import Limits

BRIEF, FULL = "brief", "full"
STALE_TURNS = 30  # without a change of the plan, before a model of the class `brief` is reminded
STALE_EFFECTS = 10  # calls in those turns that changed something: reading alone leaves no plan behind
_SMALL = 40  # billions of parameters up to which a model is small
_MOST, _LONGEST = 100, 200  # entries of the user's table; characters of a name
_SEPARATORS = str.maketrans(dict.fromkeys("-:_/@ ", " "))

# `*` stands for any characters. Of several patterns that fit, the one with the most other characters counts.
TABLE: Mapping[str, str] = {
    # The newest large models. The agents of their own vendors give them no todo tool and no reminders any more: Claude
    # Code from opus-4-8 on, Codex from gpt-5.5 on, Gemini CLI from gemini-3 on.
    "*claude-opus-4-8*": BRIEF,
    "*claude-opus-5*": BRIEF,
    "*claude-sonnet-5*": BRIEF,
    "*claude-fable-5*": BRIEF,
    "*gpt-5.5*": BRIEF,
    "*gpt-5.6*": BRIEF,
    "*gpt-6*": BRIEF,
    "*gemini-3*": BRIEF,
    # The small models of the same vendors, of whatever generation.
    "*claude-*haiku*": FULL,
    "*gpt-*-mini*": FULL,
    "*gpt-*-nano*": FULL,
    "*gemini-*flash*": FULL,
    "*-mini": FULL,
    "*-mini-*": FULL,
    "*-nano": FULL,
    "*-nano-*": FULL,
    # Families of small models whose names do not tell their size.
    "*gemma*": FULL,
    "*ministral*": FULL,
    "*mistral-small*": FULL,
    "*devstral-small*": FULL,
    "*phi-*": FULL,
    "*smollm*": FULL,
    "*tinyllama*": FULL,
}


def class_of(model: str, own: Iterable[tuple[str, str]] = ()) -> str:
    """Return the class of a model; empty for one that is not known. `own`: the user's patterns, which come before ours.

    A name that tells its size, such as `qwen3:8b`, needs no pattern."""
    name = model.strip().casefold()[:_LONGEST]
    if not name:
        return ""
    return _longest(name, own) or _longest(name, TABLE.items()) or (FULL if _is_small(name) else "")


def _longest(name: str, table: Iterable[tuple[str, str]]) -> str:
    found, most = "", -1
    for pattern, voice in table:
        literal = len(pattern.replace("*", ""))
        if literal >= most and matches(pattern, name):  # of two that are as long, the later
            found, most = voice, literal
    return found


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern, in which `*` stands for any characters. Case does not count."""
    first, *others = pattern.casefold().split("*")
    name = name.casefold()
    if not others:
        return name == first
    *middle, last = others
    if not name.startswith(first):
        return False
    at = len(first)
    for part in middle:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return name.endswith(last) and len(name) - len(last) >= at


def _is_small(name: str) -> bool:
    """Whether a name tells a small size: `8b` in `qwen3:8b`. Of several, the first is the size of all of it."""
    for word in name.translate(_SEPARATORS).split():
        number, unit = word[:-1].replace(".", "", 1), word[-1]
        if unit == "b" and number.isascii() and number.isdecimal() and len(number) < 5:
            return float(word[:-1]) <= _SMALL
    return False


def read_table(text: str) -> tuple[tuple[str, str], ...]:
    """Return the patterns of a text such as `my-local-*=full, big-*=brief`, in their order. Raises Refused."""
    found = []
    for entry in text.split(","):
        pattern, equals, voice = (part.strip() for part in entry.rpartition("="))
        if not entry.strip():
            continue
        if not equals or not pattern or voice not in (BRIEF, FULL):
            raise Refused(f"{cut(inline(entry.strip()), 60)!r} must be a name or pattern, '=', and {BRIEF} or {FULL}.")
        if len(pattern) > _LONGEST:
            raise Refused(f"a pattern of {len(pattern)} characters is too long; {_LONGEST} are the most.")
        found.append((pattern, voice))
    if len(found) > _MOST:
        raise Refused(f"{len(found)} patterns are too many; {_MOST} are the most.")
    return tuple(found)


def with_voice(limits: Limits, voice: str) -> Limits:
    """The bounds of reminders for a class: `brief` is reminded only of a plan that the work has left behind."""
    if voice == BRIEF:
        return limits._replace(remind_after=max(limits.remind_after, STALE_TURNS), effects=STALE_EFFECTS)
    return limits

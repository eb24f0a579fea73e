"""Commands in which an agent types a hook of ours, and so an event that it made up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import HOSTS, VALUED


def typed_hook(command: object) -> str:
    """Return the command that types `punchlist hook HOST`, of the arguments of a shell tool; empty if none does.

    A command that gives the hook nothing to read sends no event. It is also a part of the agent's own hooks, which must
    not be taken for it.
    """
    if isinstance(command, list):
        words = [str(word) for word in command]
    else:
        words = [str(command)]
    for text in (*words, " ".join(words)):
        if _feeds(text) and _has_hook(_words(text)):
            return text
    return ""


def _feeds(text: str) -> bool:
    return "<" in text or "|" in text.replace("||", "") or "\n" in text.strip()


def _words(text: str) -> list[str]:
    text = text.replace("\\\n", " ").replace("\t", " ")
    for mark in "\"'`()":
        text = text.replace(mark, "")
    for mark in ";|&<>\n":
        text = text.replace(mark, f" {mark} ")
    return text.split(" ")


def _has_hook(words: Sequence[str]) -> bool:
    for place, word in enumerate(words):
        if word.rpartition("/")[2] != "punchlist":
            continue
        rest = _arguments(words, place + 1)
        if next(rest, "") == "hook" and next(rest, "") in HOSTS:
            return True
    return False


def _arguments(words: Sequence[str], place: int) -> Iterator[str]:
    """Yield the words from here that are not options."""
    rest = (words[index] for index in range(place, len(words)) if words[index])
    for word in rest:
        if not word.startswith("--"):
            yield word
        elif word[2:] in VALUED:
            next(rest, "")

"""Text from models and users is data: it may not act on a terminal, a prompt or a list that it is in."""

from __future__ import annotations

from collections.abc import Iterable

# Joiners and variation selectors that words and emoji are made of; every other invisible character is replaced.
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_REPLACED = "\ufffd"
_UNSEEN = dict.fromkeys((*map(ord, _REPLACED), 0x034F, 0x2800, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
WHOLE = 500  # characters of a text that a model reads uncut: the user's words must reach it as they were typed
_LONGEST_NAME = 40  # characters of a mistyped word that are compared
_TAG, _BRACKET = "\u2039", "\u27e6"  # what replaces a < or [ that a model could take for a tag
# What may follow a < without making a tag of it: a < b, x<5, <=, <<, <-, <(
_HARMLESS = frozenset("0123456789=<>-.,;:()[]{}\"'`")
_TEMPLATES = (  # tokens of chat templates that are written in brackets
    *("INST]", "SYS]", "SYSTEM_PROMPT]", "AVAILABLE_TOOLS]", "TOOL_CALLS]", "TOOL_RESULTS]", "TOOL_CONTENT]", "ARGS]"),
    *("CALL_ID]", "THINK]", "MODEL_SETTINGS]", "IMG]", "GMASK]", "CONTROL_"),
)


def inline(text: str) -> str:
    """Return the text on one line, as data in a prompt: no control character, no direction override, no tag."""
    return _untagged(visible(text))


def block(text: str) -> str:
    """Do the same for a text that may have several lines."""
    return _untagged("\n".join(map(inline, text.splitlines())))


def visible(text: str) -> str:
    """Return the text on one line, without what acts on a terminal. What may look like a tag stays."""
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def cut(text: str, width: int, mark: str = "…") -> str:
    """At most `width` characters, with a mark where something was left out."""
    if len(text) <= width:
        return text
    return text[: max(width - len(mark), 0)].rstrip() + mark


def plainly(text: str) -> str:
    """A text without case, spacing and end punctuation: what makes two texts the same thing to do. If nothing else is
    in it, the punctuation counts: `-` and `!!!` are not the same."""
    seen = text.replace(_TAG, "<").replace(_BRACKET, "[")  # as it was before a model was shown it
    if not (seen.isascii() and seen.isprintable()):
        seen = _as_seen(seen)
    return " ".join(seen.casefold().split()).strip(" .!;:,-*") or " ".join(visible(text).split())


def _as_seen(text: str) -> str:
    """A text in the usual form of its letters, without characters that nobody sees and without what is in their
    place. Models send back `é` as one character, whatever they were shown."""
    from unicodedata import normalize

    text = normalize("NFKC", text).translate(_UNSEEN)
    if text.isprintable():
        return text
    return "".join(char for char in text if char.isprintable() or char.isspace())


def quoted(text: str, width: int = WHOLE) -> str:
    """An item's text as it stands inside a sentence. No text can close the quotes around it."""
    return '"' + cut(inline(text), width).replace("\\", "\\\\").replace('"', '\\"') + '"'


def counted(number: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the name that was probably meant by a mistyped word; empty if none is near."""
    from difflib import get_close_matches

    names = list(known)
    begun = [name for name in names if name.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    found = get_close_matches(word[:_LONGEST_NAME], names)
    found.sort(key=lambda name: sorted(name) != sorted(word))  # swapped letters are the most likely mistake
    if found:
        return found[0]
    return ""


def in_words(seconds: float) -> str:
    """`4 minutes`, `2 hours`: a length of time in the largest unit that fits."""
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return counted(int(seconds // size), noun)
    return counted(max(int(seconds), 0), "second")


def suggest(word: str, known: Iterable[str], otherwise: str) -> str:
    """Return `did you mean 'start'?` for a mistyped word; something else if no name is near."""
    meant = nearest(word, known)
    if meant:
        return f"did you mean {meant!r}?"
    return otherwise


def _visible(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    if char.isspace():
        return " "
    return _REPLACED


def _untagged(text: str) -> str:
    """The text without any < or [ that could begin a tag or a token of a chat template, whatever its name."""
    if "<" in text:
        last = text.rfind(">")
        text = "".join(_TAG if char == "<" and _opens_a_tag(text, at, last) else char for at, char in enumerate(text))
    if "[" in text:
        first, *pieces = text.split("[")
        text = first + "".join((_BRACKET if _is_template(piece) else "[") + piece for piece in pieces)
    return text


def _opens_a_tag(text: str, at: int, last: int) -> bool:
    after = text[at + 1 : at + 2]
    if after not in (" ", "\n"):
        return after != "" and after not in _HARMLESS
    name = text[at + 1 : at + 100].lstrip(" \n")  # a model reads `< / name >` as a tag, too
    return last > at and bool(name) and name[0] not in _HARMLESS and (name[0] == "/" or name[1:3].isalpha())


def _is_template(piece: str) -> bool:
    name = "".join(char for char in piece[:40] if char.isascii())  # nothing unseen hides it
    return name.lstrip("/ \n").upper().startswith(_TEMPLATES)

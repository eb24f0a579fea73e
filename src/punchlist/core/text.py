"""Text from models and users is data: it may not act on a terminal, a prompt or a list it stands in."""

from __future__ import annotations

# Joiners and variation selectors that words and emoji are made of; every other invisible character is replaced.
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_REPLACED = "\ufffd"
# Tags that agents wrap their own words in: inside an item they lose their angle bracket.
_WRAPPERS = (
    "system-reminder",
    "reminder",
    "hook_context",
    "hook_prompt",
    "untrusted_context",
    "turn-context",
    "info-msg",
    "task-notification",
    "user-prompt-submit-hook",
    "local-command",
    "command-",
)


def inline(text: str) -> str:
    """The text on one line: no control character, no direction override, no wrapper tag."""
    if text.isprintable():
        return text if "<" not in text else _defuse(text)
    return _defuse("".join(map(_visible, text)))


def block(text: str) -> str:
    """The same for a text that may have several lines."""
    return _defuse("\n".join(map(inline, text.splitlines())))


def cut(text: str, width: int, mark: str = "…") -> str:
    """At most `width` characters, with a mark where something was left out."""
    return text if len(text) <= width else text[: max(width - len(mark), 0)].rstrip() + mark


def plainly(text: str) -> str:
    """A text without case, spacing and end punctuation: what makes two texts the same thing to do."""
    return " ".join(text.casefold().split()).strip(" .!;:,-*")


def quoted(text: str, width: int = 60) -> str:
    """An item's text as it stands inside a sentence."""
    return '"' + cut(inline(text), width).replace('"', '\\"') + '"'


def counted(number: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _visible(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    return " " if char.isspace() else _REPLACED


def _defuse(text: str) -> str:
    if "<" not in text:
        return text
    pieces = text.split("<")
    return pieces[0] + "".join(("‹" if _names_a_wrapper(piece) else "<") + piece for piece in pieces[1:])


def _names_a_wrapper(piece: str) -> bool:
    name = "".join(char for char in piece[:80] if char not in _JOINERS)
    return name.lstrip("/ \n").casefold().startswith(_WRAPPERS)

"""What was typed: bytes from a terminal as the names of keys."""

from __future__ import annotations

PASTE, PASTED = "paste", "pasted"  # what comes between them was not typed

_NAMED = {0x09: "tab", 0x0A: "enter", 0x0D: "enter", 0x7F: "backspace", 0x08: "backspace", 0x00: "ctrl+@"}
_SEQUENCES = {
    b"[A": "up", b"[B": "down", b"[C": "right", b"[D": "left", b"[H": "home", b"[F": "end", b"[Z": "shift+tab",
    b"[200~": PASTE, b"[201~": PASTED,
    b"[3~": "delete", b"[5~": "page up", b"[6~": "page down", b"OA": "up", b"OB": "down", b"OC": "right", b"OD": "left",
}  # fmt: skip


def read_keys(typed: bytes) -> tuple[list[str], bytes]:
    """The keys, and what is left of one that has not arrived whole: an escape character, it may be. Sequences that
    mean nothing here are left out, so that what a terminal reports by itself is never taken for a key."""
    keys: list[str] = []
    while typed:
        key, size = _first(typed)
        if not size:
            break
        if key:
            keys.append(key)
        typed = typed[size:]
    return keys, typed


def edit_line(line: str, key: str) -> str:
    """A line that is being typed, after one more key. One that does nothing to a line changes nothing."""
    if key == "backspace":
        return line[:-1]
    if key == "ctrl+w":
        return line.rstrip()[: line.rstrip().rfind(" ") + 1]
    if key == "ctrl+u":
        return ""
    if key == "\n":  # of a text that was pasted
        key = " "
    if len(key) == 1 and key.isprintable():
        return line + key
    return line


def _first(typed: bytes) -> tuple[str, int]:
    byte = typed[0]
    if byte == 0x1B:
        if len(typed) > 1:
            return _escape_key(typed)
        return ("", 0)
    if byte in _NAMED:
        return _NAMED[byte], 1
    if byte < 0x20:
        return f"ctrl+{chr(byte + 0x60)}", 1
    size = _length_of(byte)
    if len(typed) < size:
        return "", 0
    return typed[:size].decode("utf-8", "ignore"), size


def _length_of(byte: int) -> int:
    """The bytes of a character in UTF-8 that begins with this one."""
    if byte < 0xC2 or byte > 0xF4:
        return 1
    return 2 + (byte >= 0xE0) + (byte >= 0xF0)


def _escape_key(typed: bytes) -> tuple[str, int]:
    """A key that begins with an escape character: an arrow, a report, or Alt and another key."""
    if typed[1] == 0x1B:
        return "esc", 1
    if typed[1] not in b"[O":
        key, size = _first(typed[1:])
        if not size:
            return "", 0
        if not key:
            return "", size + 1
        return f"alt+{key}", size + 1
    end = 2
    while end < len(typed) and not 0x40 <= typed[end] <= 0x7E:
        end += 1
    if end == len(typed):
        return "", 0
    return _SEQUENCES.get(typed[1 : end + 1], ""), end + 1

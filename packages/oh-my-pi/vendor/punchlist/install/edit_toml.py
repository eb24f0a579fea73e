"""TOML files of others: one table put in or taken out, every other byte left alone.

What was written is read again, and refused if anything but our table has changed.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, NamedTuple

from ..core.errors import Refused
from .parts import as_dict, within

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_QUOTED = re.compile(
    r"""\"{3}(?:[^\\]|\\.)*?\"{3}(?:\"{0,2}(?!\"))|'{3}.*?'{3}(?:'{0,2}(?!'))|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'""", re.S
)
_BOM = "\ufeff"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Statement(NamedTuple):
    """A table's heading, or a key and its value. The text behind `end` is at most a comment and the line's end."""

    start: int
    end: int
    path: tuple[str, ...]  # from the top of the document
    value: int  # where the value begins; 0 for a heading


def read(text: str) -> dict[str, Any]:
    """The whole document. Refused with the line if it is none."""
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"{error}.") from None


def put(text: str, path: tuple[str, ...], table: dict[str, Any]) -> str:
    """The text with this table: appended, or each key of it that differs changed in place."""
    before = read(text)
    there = _look(before, path)
    if there is None:
        new = _append(text, path, table)
    else:
        new = _change(text, path, {key: value for key, value in table.items() if there.get(key) != value})
    _require(new, _with(before, path, {**(there or {}), **table}), snippet(path, table))
    return new


def remove(text: str, path: tuple[str, ...]) -> str:
    """The text without a table and all that is below it."""
    before = read(text)
    if _look(before, path) is None:
        return text
    new = text
    for start, end in reversed(_spans(text, path)):
        new = _without(new, start, end)
    _require(new, _with(before, path, None), f"take {'.'.join(path)} out of it by hand.")
    return new


def snippet(path: tuple[str, ...], table: dict[str, Any]) -> str:
    """The table as it stands in a file."""
    lines = [f"[{'.'.join(map(_name, path))}]", *(f"{_name(key)} = {_show(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


# --- inside ----------------------------------------------------------------------------------------------------------


def _look(document: Any, path: tuple[str, ...]) -> dict[str, Any] | None:
    found = within(document, *path)
    if isinstance(found, dict):
        return found
    return None


def _with(document: dict[str, Any], path: tuple[str, ...], table: dict[str, Any] | None) -> dict[str, Any]:
    """The document with another value at a path; without it, and without what is empty then, for none."""
    first, rest = path[0], path[1:]
    new = table
    if rest:
        new = _with(as_dict(document.get(first)), rest, table)
    others = {key: value for key, value in document.items() if key != first}
    if new:
        others[first] = new
    return others


def _require(text: str, wanted: dict[str, Any], otherwise: str) -> None:
    try:
        is_right = _bare(tomllib.loads(text.removeprefix(_BOM))) == _bare(wanted)
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise Refused(f"it cannot be edited safely; edit it by hand:\n{otherwise}")


def _bare(value: Any) -> Any:
    """Without tables that are empty: whether one is written makes no difference. NaN is equal to itself here."""
    if isinstance(value, dict):
        return {key: _bare(entry) for key, entry in value.items() if entry != {}}
    if isinstance(value, list):
        return [_bare(entry) for entry in value]
    if isinstance(value, float):
        return repr(value)
    return value


def _append(text: str, path: tuple[str, ...], table: dict[str, Any]) -> str:
    line = _line_of(text)
    if text.removeprefix(_BOM).strip():
        if not text.endswith("\n"):
            text += line
        text += line
    return text + snippet(path, table).replace("\n", line)


def _change(text: str, path: tuple[str, ...], values: dict[str, Any]) -> str:
    """Some keys of a table that has a heading of its own with other values."""
    for key, value in values.items():
        statements = _statements(text)
        old = next((one for one in statements if one.value and one.path == (*path, key)), None)
        heading = next((one for one in statements if not one.value and one.path == path), None)
        if old:
            text = text[: old.value] + _show(value) + text[old.end :]
        elif heading:
            text = f"{text[: heading.end]}{_line_of(text)}{_name(key)} = {_show(value)}{text[heading.end :]}"
    return text


def _spans(text: str, path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where the statements of a table and of those below it are, each run of them as one."""
    spans: list[tuple[int, int]] = []
    previous = False
    for one in _statements(text):
        inside = one.path[: len(path)] == path
        if inside and previous:
            spans[-1] = (spans[-1][0], one.end)
        elif inside:
            spans.append((one.start, one.end))
        previous = inside
    return spans


def _without(text: str, start: int, end: int) -> str:
    """The text without these lines, and without the blank line that set them apart."""
    start = max(text.rfind("\n", 0, start) + 1, int(text.startswith(_BOM)))
    head, tail = text[:start], text[end:].partition("\n")[2]
    if not tail.strip(" \t") or tail.lstrip(" \t").startswith(("\n", "\r\n")):
        head = re.sub(r"(\n|\A)[ \t]*\r?\n\Z", r"\1", head)
    return head + tail


def _statements(text: str) -> list[Statement]:
    """Everything a document says, in order. The document is known to be right."""
    found: list[Statement] = []
    table: tuple[str, ...] = ()
    at = int(text.startswith(_BOM))
    while (at := _end(_BLANK, text, at)) < len(text):
        if text[at] == "[":
            end = _value_end(text, at)
            table = _path(text[at:end].strip("[] \t"))
            found.append(Statement(at, end, table, 0))
        else:
            equals = _key_end(text, at)
            begin = _end(re.compile(r"[ \t]*"), text, equals + 1)
            end = _value_end(text, begin)
            found.append(Statement(at, end, (*table, *_path(text[at:equals])), begin))
        at = end
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found:
        return found.end()
    return at


def _key_end(text: str, at: int) -> int:
    while text[at] != "=":
        at = max(_end(_QUOTED, text, at), at + 1)
    return at


def _value_end(text: str, at: int) -> int:
    """The end of a value, or of a heading: the line's end, or a comment, outside of brackets and quotes."""
    depth, end = 0, at
    while at < len(text) and (depth or text[at] not in "#\r\n"):
        if text[at] == "#":
            at = text.find("\n", at)
            continue
        depth += (text[at] in "[{") - (text[at] in "]}")
        is_space = text[at] in " \t"
        at = max(_end(_QUOTED, text, at), at + 1)
        if not is_space:
            end = at
    return end


def _path(key: str) -> tuple[str, ...]:
    """A dotted key as its parts."""
    document: Any = tomllib.loads(f"{key} = 0")
    parts: list[str] = []
    while isinstance(document, dict):
        (name, document), *_ = document.items()
        parts.append(name)
    return tuple(parts)


def _name(key: str) -> str:
    if _BARE.fullmatch(key):
        return key
    return _show(key)


def _line_of(text: str) -> str:
    if "\r\n" in text:
        return "\r\n"
    return "\n"


def _show(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_show, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The rows of a database whose first page is gone, read from its other pages.

The first page says where each table begins. Without it every page is looked at by itself, and a row is known by its
form. Pages that are no longer in use are read too, so rows may be old: whoever uses them must be able to tell."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping

from ...core._typing import Any

_SIZE = 4_096  # bytes of a page, in every file that we make
_LEAF, _INNER = 0x0A, 0x02  # the pages that hold rows of our tables: all of them are kept in the order of their keys
_WAL, _FRAME = 32, 24  # bytes before the log's frames, and before the page in each
_LONGEST = 100_000_000  # bytes of a row
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)  # bytes of an integer, by its type
Row = tuple[Any, ...]


def read_rows(data: bytes, log: bytes = b"") -> dict[str, list[Row]]:
    """The rows of each table, from the pages of a file and of its log."""
    found: dict[str, list[Row]] = {}
    pages = {number: data[(number - 1) * _SIZE : number * _SIZE] for number in range(2, len(data) // _SIZE + 1)}
    pages.update(_logged(log))
    for page in pages.values():
        for row in _rows_of(page, pages):
            if table := _table(row):
                found.setdefault(table, []).append(row)
    return found


def _logged(log: bytes) -> Iterator[tuple[int, bytes]]:
    """The pages in a log, the newest last. What was left in it from an earlier round has other salts."""
    salts = log[16:24]
    for start in range(_WAL, len(log) - _FRAME - _SIZE + 1, _FRAME + _SIZE):
        if log[start + 8 : start + 16] != salts:
            return
        yield struct.unpack_from(">I", log, start)[0], log[start + _FRAME : start + _FRAME + _SIZE]


def _rows_of(page: bytes, pages: Mapping[int, bytes]) -> Iterator[Row]:
    if len(page) < _SIZE or page[0] not in (_LEAF, _INNER):
        return
    is_leaf = page[0] == _LEAF
    (count,) = struct.unpack_from(">H", page, 3)
    head = 8 if is_leaf else 12
    if head + 2 * count > _SIZE:
        return
    for place in struct.unpack_from(f">{count}H", page, head):
        try:
            yield _record(_payload(page, place if is_leaf else place + 4, pages))
        except (IndexError, ValueError, KeyError, struct.error):
            continue  # this one is damaged; the others may not be


def _payload(page: bytes, at: int, pages: Mapping[int, bytes]) -> bytes:
    """What a cell holds, with what did not fit into its page."""
    size, at = _number(page, at)
    if size > _LONGEST:
        raise ValueError("a row cannot be that long")
    most = (_SIZE - 12) * 64 // 255 - 23
    if size <= most:
        return page[at : at + size]
    least = (_SIZE - 12) * 32 // 255 - 23
    here = least + (size - least) % (_SIZE - 4)
    here = here if here <= most else least
    found = page[at : at + here]
    (other,) = struct.unpack_from(">I", page, at + here)
    while len(found) < size:
        found += pages[other][4:]
        (other,) = struct.unpack_from(">I", pages[other], 0)
    return found[:size]


def _record(data: bytes) -> Row:
    end, at = _number(data, 0)
    kinds = []
    while at < end:
        kind, at = _number(data, at)
        kinds.append(kind)
    values = []
    for kind in kinds:
        value, at = _value(data, at, kind)
        values.append(value)
    if at != len(data):
        raise ValueError("a row ends where it should not")
    return tuple(values)


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind < len(_WIDTHS):
        width = _WIDTHS[kind]
        return (int.from_bytes(data[at : at + width], "big", signed=True) if kind else None), at + width
    if kind in (8, 9):
        return kind - 8, at
    if kind < 13 or kind % 2 == 0:
        raise ValueError("nothing of ours has that type")
    size = (kind - 13) // 2
    return data[at : at + size].decode(), at + size


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An integer of one to nine bytes, and where it ends."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9


def _table(row: Row) -> str:
    """The table that a row is of; nothing if it is of none that matters."""
    kinds = "".join("i" if isinstance(value, int) else "t" if isinstance(value, str) else "?" for value in row)
    if kinds == "titttttt":
        if _is_json(row[2], list):
            return "plans"
        if _is_json(row[7], list):
            return "history"
        return ""
    if kinds == "ttit":
        if _is_json(row[3], dict):
            return "items"
        return "readers"
    if kinds == "ttttt":
        return "bindings"
    if kinds == "tt":
        return "places"
    return ""


def _is_json(text: str, kind: type) -> bool:
    try:
        return isinstance(json.loads(text), kind)
    except (ValueError, RecursionError):
        return False

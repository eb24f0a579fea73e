"""YAML files of others: one entry of one block at the top put in or taken out, every other byte left alone.

Only what is plain is edited: blocks of keys, indented with spaces, in one document. Anything else is refused with the
lines to put there by hand. A file that is written as JSON, which is YAML too, is edited as JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ..core.errors import Refused
from . import edit_json
from .parts import within

_NAME = r"\"([^\"\\]*)\"|'([^']*)'|([^\s#&*!|>%@`\"'\[\]{},?:-][^:#\r\n]*?)"
_GIVEN = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\"'\s#].*?"
_KEY = re.compile(
    rf"( *)(?:{_NAME}) *:(?: +({_GIVEN}))?(?: *| +#.*)\Z"
)  # indentation, name in one of three ways, value
_PLAIN = re.compile(r"[A-Za-z/][\w/.-]*")
_FLAT = re.compile(r"\[ *[A-Za-z/-][\w/.=-]*(?: *, *[A-Za-z/-][\w/.=-]*)* *\]")  # a list of plain words on one line
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_MEANING = {*_WORDS, "yes", "no", "on", "off", "y", "n"}  # words that are not plain text


class _Block(NamedTuple):
    """Lines that belong together: `lines[start:end]`, the first of which names them."""

    start: int
    end: int
    indent: int  # of the name
    given: str  # what follows the name on its line


def read(text: str, path: tuple[str, str]) -> Any:
    """The entry at a path, as far as it is plain; none if there is none."""
    if _is_json(text):
        return within(edit_json.read(text), *path)
    lines = _lines(text)
    block = _find(lines, path)
    if block:
        return _value(lines, block)
    return None


def has(text: str, key: str) -> bool:
    """Whether there is a block of this name at the top."""
    if _is_json(text):
        return key in edit_json.read(text)
    lines = _lines(text)
    return _find_block(lines, 0, len(lines), key) is not None


def put(text: str, path: tuple[str, str], entry: dict[str, Any]) -> str:
    """The text with this entry; what else an entry of that name held is kept."""
    if _is_json(text):
        return edit_json.put_all(text, path, entry)
    lines = _check(text, path, entry)
    line = "\n"
    if "\r\n" in text:
        line = "\r\n"
    old = _find(lines, path)
    if old:
        return "".join(_change(lines, old, entry, line))
    top = _find_block(lines, 0, len(lines), path[0])
    if lines and not lines[-1].endswith("\n") and (top is None or top.end == len(lines)):
        if _ends_in_text(lines):  # one more line end would be a part of that text
            raise _unsafe(f"line {len(lines)}: it does not end", path, entry)
        lines[-1] += line
    if top is None:
        return "".join([*lines, f"{path[0]}:{line}", *_format(path[1], entry, 2, line)])
    if top.given:
        lines[top.start] = lines[top.start].replace("{}", "", 1).rstrip() + line
    return "".join([*lines[: top.end], *_format(path[1], entry, _inner(lines, top) or 2, line), *lines[top.end :]])


def remove(text: str, path: tuple[str, str], *, and_block: bool) -> str:
    """The text without this entry, and without the block it was alone in, if that is wanted."""
    if _is_json(text):
        text = edit_json.remove(text, path)
        if and_block and edit_json.read(text).get(path[0]) == {}:
            text = edit_json.remove(text, path[:1])
        return text
    lines = _lines(text)
    found = _find(lines, path)
    if not found:
        return text
    _check(text, path, {})
    lines[found.start : found.end] = []
    top = _find_block(lines, 0, len(lines), path[0])
    if top and top.end == top.start + 1:
        name = lines[top.start]
        if and_block:
            lines[top.start : top.end] = []
        elif "#" not in name:
            lines[top.start] = name.rstrip() + " {}" + name[len(name.rstrip()) :]
    return "".join(lines)


def snippet(path: tuple[str, str], entry: dict[str, Any]) -> str:
    """The entry as it stands in a file."""
    return "".join([f"{path[0]}:\n", *_format(path[1], entry, 2, "\n")])


# --- inside ----------------------------------------------------------------------------------------------------------


def _is_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _check(text: str, path: tuple[str, str], entry: dict[str, Any]) -> list[str]:
    """The lines of a text that is plain enough."""
    lines = _lines(text)
    for number, line in enumerate(lines, 1):
        problem = _problem(line.removeprefix("\ufeff").rstrip("\r\n"), number)
        if problem:
            raise _unsafe(f"line {number}: {problem}", path, entry)
    top = _find_block(lines, 0, len(lines), path[0])
    if top and (top.given not in ("", "{}") or _inner(lines, top) == 0 < top.end - top.start - 1):
        raise _unsafe(f"line {top.start + 1}: {path[0]!r} is not a block of keys", path, entry)
    return lines


def _problem(line: str, number: int) -> str:
    """What makes a line more than plain."""
    if line.lstrip(" ").startswith("\t"):
        return "a tab"
    is_plain = (
        line[:1] in ("", " ", "#") or line.startswith("- ") or _KEY.match(line) or (line == "---" and number == 1)
    )
    if is_plain:
        return ""
    return repr(line[:40])


def _ends_in_text(lines: list[str]) -> bool:
    """Whether the last line may belong to a text of several lines."""
    inside = lines[max((number for number, line in enumerate(lines) if line[:1] not in (" ", "#")), default=0) :]
    return any(re.search(r"[|>][+-]?[0-9]?[+-]?\s*$", line) for line in inside[:-1])


def _unsafe(where: str, path: tuple[str, str], entry: dict[str, Any]) -> Refused:
    todo = f"take {'.'.join(path)} out of it by hand."
    if entry:
        todo = snippet(path, entry)
    return Refused(f"{where}; it cannot be edited safely. Edit it by hand:\n{todo}")


def _find(lines: list[str], path: tuple[str, str]) -> _Block | None:
    top = _find_block(lines, 0, len(lines), path[0])
    if top is None:
        return None
    return _find_block(lines, top.start + 1, top.end, path[1], _inner(lines, top))


def _find_block(lines: list[str], start: int, end: int, key: str, indent: int = 0) -> _Block | None:
    for number in range(start, end):
        found = _KEY.match(lines[number].removeprefix("\ufeff").rstrip("\r\n"))
        if found and len(found[1]) == indent and (found[2] or found[3] or found[4]) == key:
            return _Block(number, _block_end(lines, number, end, indent), indent, found[5] or "")
    return None


def _block_end(lines: list[str], start: int, most: int, indent: int) -> int:
    """Behind the last line that belongs to a name: deeper ones, and a list at its own depth."""
    end = start + 1
    for number in range(start + 1, most):
        words = lines[number].strip()
        depth = len(lines[number]) - len(lines[number].lstrip(" "))
        if not words:
            continue
        belongs = depth > indent or (depth == indent and words.startswith("- "))
        if not belongs and not words.startswith("#"):
            break
        if belongs:
            end = number + 1
    return end


def _inner(lines: list[str], block: _Block) -> int:
    """The depth of what a block holds; 0 if it holds nothing, or a list."""
    for line in lines[block.start + 1 : block.end]:
        words = line.strip()
        if words and not words.startswith("#"):
            if words.startswith("- "):
                return 0
            return len(line) - len(line.lstrip(" "))
    return 0


def _value(lines: list[str], block: _Block) -> Any:
    """What a block of plain keys, plain lists and plain words holds."""
    if block.given:
        return _scalar(block.given)
    inside = [line.strip() for line in lines[block.start + 1 : block.end]]
    if any(words.startswith("- ") for words in inside[:1]):
        return [_scalar(words[2:].strip()) for words in inside if words.startswith("- ")]
    depth = _inner(lines, block)
    keys = [_KEY.match(line.rstrip("\r\n")) for line in lines[block.start + 1 : block.end]]
    names = [found[2] or found[3] or found[4] for found in keys if found and len(found[1]) == depth]
    if not names:
        return None
    inner = {name: _find_block(lines, block.start + 1, block.end, name, depth) for name in names}
    return {name: _value(lines, found) for name, found in inner.items() if found}


def _change(lines: list[str], block: _Block, entry: dict[str, Any], line: str) -> list[str]:
    """The lines with those keys of a block changed that differ."""
    depth = _inner(lines, block) or block.indent + 2
    for name, value in entry.items():
        end = _block_end(lines, block.start, len(lines), block.indent)
        old = _find_block(lines, block.start + 1, end, name, depth)
        if old and _value(lines, old) == value:
            continue
        start = stop = end
        if old:
            start, stop = old.start, old.end
        lines = [*lines[:start], f"{' ' * depth}{name}: {_show(value)}{line}", *lines[stop:]]
    return lines


def _scalar(words: str) -> Any:
    if words[:1] == "'":
        return words[1:-1].replace("''", "'")
    if words in _WORDS:
        return _WORDS[words]
    if _FLAT.fullmatch(words):
        return [_scalar(word.strip()) for word in words[1:-1].split(",")]
    try:
        return json.loads(words)
    except ValueError:
        return words


def _format(key: str, entry: dict[str, Any], indent: int, line: str) -> list[str]:
    inner = " " * (indent * 2 or 2)
    return [f"{' ' * indent}{key}:{line}", *(f"{inner}{name}: {_show(value)}{line}" for name, value in entry.items())]


def _show(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _MEANING:
        return value
    return json.dumps(value, ensure_ascii=False)

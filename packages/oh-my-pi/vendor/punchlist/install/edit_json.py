"""JSON files of others, changed in one place and left alone in every other byte.

Comments and trailing commas are understood, duplicate keys too (the last one counts, as it does for the agents).
New text takes the form of its surroundings: indentation, line ends, one line or many, trailing commas or none.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from ..core.errors import Refused

Path = tuple[str | int, ...]

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])|(?:true|false|null)(?!\w)")
_SPACE = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"[ \t]*\r?\n")
_DEEPEST = 200
_BOM = "\ufeff"


class Node(NamedTuple):
    """A value in the text; `text[start:end]` is how it is written."""

    start: int
    end: int
    kind: str  # object, array, or nothing for a value that holds no others
    children: tuple[Child, ...] = ()


class Child(NamedTuple):
    """A value in an object or an array, from its key on."""

    start: int
    key: str  # nothing in an array
    node: Node
    comma: int  # where the comma behind it is; -1 if there is none


# --- reading ---------------------------------------------------------------------------------------------------------


def read(text: str) -> Any:
    """The whole document as a value; an empty one is an empty object."""
    if is_blank(text):
        return {}
    return value(text, parse(text))


def read_at(text: str, path: tuple[str, ...]) -> Any:
    """The value at a path; none if there is none. Of a large document, the rest is not turned into values."""
    if is_blank(text):
        return None
    node = find(parse(text), path)
    if node is None:
        return None
    return value(text, node)


def value(text: str, node: Node) -> Any:
    if node.kind == "object":
        return {child.key: value(text, child.node) for child in node.children}
    if node.kind == "array":
        return [value(text, child.node) for child in node.children]
    return json.loads(text[node.start : node.end])


def _mark(text: str) -> str:
    """The byte-order mark that a text begins with, if it does."""
    return text[: text.startswith(_BOM)]


def is_blank(text: str) -> bool:
    return not text.removeprefix(_BOM).strip(" \t\r\n")


@lru_cache(maxsize=16)  # one edit looks at the same text several times
def parse(text: str) -> Node:
    """The places of everything in a document. Refused with line and column if it is none."""
    node = _node(text, _skip(text, len(_mark(text))), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise _wrong(text, end, "nothing more")
    if node.kind != "object":
        raise _wrong(text, node.start, "an object, which begins with {")
    return node


def find(root: Node, path: Path) -> Node | None:
    """The value at a path, if there is one."""
    node = root
    for step in path:
        child = _child(node, step)
        if child is None:
            return None
        node = child.node
    return node


def _child(node: Node, step: str | int) -> Child | None:
    if isinstance(step, int):
        if node.kind != "array":
            return None
        return next(iter(node.children[step:]), None)
    return next((child for child in reversed(node.children) if child.key == step and node.kind == "object"), None)


def _skip(text: str, at: int) -> int:
    return _past(_GAP, text, at)


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found:
        return found.end()
    return at


def _node(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _wrong(text, at, f"at most {_DEEPEST} levels")
    opening = text[at : at + 1]
    if opening == "{":
        return _box(text, at, depth, "object", "}")
    if opening == "[":
        return _box(text, at, depth, "array", "]")
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if not found:
        raise _wrong(text, at, "a value")
    return Node(at, found.end(), "")


def _box(text: str, start: int, depth: int, kind: str, closing: str) -> Node:
    children: list[Child] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        if children and children[-1].comma < 0:
            raise _wrong(text, at, f"a comma or {closing}")
        first, key = at, ""
        if kind == "object":
            key, at = _key(text, at)
        node = _node(text, at, depth + 1)
        at = _skip(text, node.end)
        comma = -1
        if text[at : at + 1] == ",":
            comma = at
            at = _skip(text, at + 1)
        children.append(Child(first, key, node, comma))
    return Node(start, at + 1, kind, tuple(children))


def _key(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if not found:
        raise _wrong(text, at, "a key in double quotes, or }")
    colon = _skip(text, found.end())
    if text[colon : colon + 1] != ":":
        raise _wrong(text, colon, "a colon")
    return json.loads(found.group()), _skip(text, colon + 1)


def _wrong(text: str, at: int, wanted: str) -> Refused:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    seen = "the end of the file"
    if at < len(text):
        seen = repr(text[at])
    return Refused(f"line {line}, column {column}: expected {wanted}, not {seen}.")


# --- changing --------------------------------------------------------------------------------------------------------


def put(text: str, path: tuple[str, ...], new: Any) -> str:
    """The text with a value at a path of keys; what is missing on the way is made."""
    if is_blank(text):
        return _mark(text) + _format(_nest(path, new), "  ", "\n", "") + "\n"
    root = node = parse(text)
    for depth, step in enumerate(path):
        child = _child(node, step)
        if child is None:
            _require(text, node, path[:depth], "object")
            return _insert(text, root, node, step, _nest(path[depth + 1 :], new))
        node = child.node
    if _may_be_many(text, root, node):
        raw = _format(new, _unit(text), _line_of(text), _indent(text, node.start))
    else:
        raw = json.dumps(new, ensure_ascii=False)
    return text[: node.start] + raw + text[node.end :]


def put_all(text: str, path: tuple[str, ...], new: dict[str, Any]) -> str:
    """The text with these keys in the object at a path; what else it holds is left alone."""
    if is_blank(text):
        return put(text, path, new)
    node = find(parse(text), path)
    if node is None:
        return put(text, path, new)
    _require(text, node, path, "object")
    old = value(text, node)
    for key, entry in new.items():
        if key not in old or old[key] != entry:
            text = put(text, (*path, key), entry)
    return text


def append(text: str, path: tuple[str, ...], new: Any) -> str:
    """The text with one more element at the end of the array at a path."""
    if is_blank(text):
        return put(text, path, [new])
    root = parse(text)
    box = find(root, path)
    if box is None:
        return put(text, path, [new])
    _require(text, box, path, "array")
    return _insert(text, root, box, None, new)


def remove(text: str, path: Path) -> str:
    """The text without the value at a path; an object or array that is empty then is written as `{}` or `[]`."""
    root = parse(text)
    box = find(root, path[:-1])
    if box is None:
        return text
    child = _child(box, path[-1])
    if child is None:
        return text
    cuts = _cuts(text, box, box.children.index(child))
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    if len(box.children) > 1:
        return text
    end = box.end - sum(end - start for start, end in cuts)
    if text[box.start + 1 : end - 1].strip(" \t\r\n"):
        return text
    return text[: box.start + 1] + text[end - 1 :]


def replace(text: str, path: Path, raw: str) -> str:
    """The text with the value at a path written exactly so."""
    node = find(parse(text), path)
    if node is None:
        return text
    return text[: node.start] + raw + text[node.end :]


def _require(text: str, node: Node, path: Path, kind: str) -> None:
    if node.kind != kind:
        name = ".".join(map(str, path)) or "the document"
        line = text.count("\n", 0, node.start) + 1
        raise Refused(f"line {line}: {name!r} must be an {kind}, not {text[node.start : node.end][:40]}.")


def _nest(path: tuple[str, ...], new: Any) -> Any:
    for step in reversed(path):
        new = {step: new}
    return new


def _cuts(text: str, box: Node, number: int) -> list[tuple[int, int]]:
    """What goes with a child: the space before it, itself, and one comma: its own, or else the one before it."""
    child = box.children[number]
    before = box.start
    if number:
        before = box.children[number - 1].comma
    rest = text[child.node.end :]
    comma = []
    if child.comma >= 0:
        rest = text[child.node.end : child.comma] + text[child.comma + 1 :]
        comma = [(child.comma, child.comma + 1)]
        if number == 0 and not _is_many(text, box):  # the next one moves up to the bracket
            comma = [(child.comma, _past(_SPACE, text, child.comma + 1))]
    elif number:
        comma = [(before, before + 1)]
    start = child.start
    while text[start - 1] in " \t\r\n":
        start -= 1
    if _ends_in_line_comment(text[before + 1 : start]) and not _LINE_END.match(rest):
        start = text.index("\n", start) + 1  # or the comment would swallow what comes next
    return [(start, child.node.end), *comma]


def _ends_in_line_comment(gap: str) -> bool:
    found = list(_COMMENT.finditer(gap))
    return bool(found) and found[-1].end() == len(gap) and found[-1].group().startswith("//")


# --- how new text looks ----------------------------------------------------------------------------------------------


def _insert(text: str, root: Node, box: Node, key: str | None, new: Any) -> str:
    """One more child at the end of an object or array, behind the comments that are there."""
    if not box.children:
        return _insert_first(text, root, box, key, new)
    last = box.children[-1]
    at = _behind_comments(text, max(last.node.end, last.comma + 1), box.end - 1)
    indent = _indent(text, box.start) + _unit(text)
    is_many = _is_many(text, box)
    is_tight = not is_many and _is_tight(text, box)
    if is_many:
        indent = _indent(text, last.start)
    piece = _member(text, key, new, indent, is_many=is_many, is_tight=is_tight)
    if is_many or text[at : at + 1] in ("\r", "\n"):  # behind a comment that ends its line, too
        piece = _line_of(text) + indent + piece
    elif not is_tight:
        piece = " " + piece
    if last.comma >= 0:
        return text[:at] + piece + "," + text[at:]
    return text[: last.node.end] + "," + text[last.node.end : at] + piece + text[at:]


def _insert_first(text: str, root: Node, box: Node, key: str | None, new: Any) -> str:
    """The first child of an object or array."""
    at = _behind_comments(text, box.start + 1, box.end - 1)
    indent = _indent(text, box.start) + _unit(text)
    is_many = _may_be_many(text, root, box)
    piece = _member(text, key, new, indent, is_many=is_many, is_tight=False)
    if is_many or text[at : at + 1] in ("\r", "\n"):
        piece = _line_of(text) + indent + piece
    if is_many and "\n" not in text[at : box.end - 1]:
        piece += _line_of(text) + _indent(text, box.start)
    return text[:at] + piece + text[at:]


def _member(text: str, key: str | None, new: Any, indent: str, *, is_many: bool, is_tight: bool) -> str:
    """A value with its key, if it has one: over several lines, on one, or without spaces."""
    colon, raw = ": ", json.dumps(new, ensure_ascii=False)
    if is_many:
        raw = _format(new, _unit(text), _line_of(text), indent)
    elif is_tight:
        colon, raw = ":", json.dumps(new, ensure_ascii=False, separators=(",", ":"))
    if key is None:
        return raw
    return json.dumps(key, ensure_ascii=False) + colon + raw


def _behind_comments(text: str, start: int, end: int) -> int:
    for found in _COMMENT.finditer(text, start, end):
        start = found.end()
    return start


def _is_many(text: str, box: Node) -> bool:
    """Whether the last child begins a line of its own."""
    if not box.children:
        return True
    before = text[box.start + 1 : box.children[-1].start]
    return "\n" in before and not before.rpartition("\n")[2].strip(" \t")


def _may_be_many(text: str, root: Node, box: Node) -> bool:
    """Whether an empty object may spread over lines: not inside one that is on one line."""
    node = root
    while node.start != box.start:
        if not _is_many(text, node):
            return False
        node = next(child.node for child in node.children if child.node.start <= box.start < child.node.end)
    return True


def _is_tight(text: str, box: Node) -> bool:
    """Whether it is written without spaces: `{"a":1,"b":2}`."""
    last = box.children[-1]
    if box.kind == "object":
        return text[last.node.start - 1] == ":"
    return len(box.children) > 1 and text[last.start - 1] == ","


def _format(new: Any, unit: str, line: str, indent: str) -> str:
    return json.dumps(new, ensure_ascii=False, indent=unit).replace("\n", line + indent)


def _indent(text: str, at: int) -> str:
    """The space that the line of a place begins with."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : _past(_SPACE, text, start)]


def _unit(text: str) -> str:
    """One step of indentation, as the document has it."""
    found = re.search(r"\n([ \t]+)[^\s]", text)
    if found:
        return found.group(1)
    return "  "


def _line_of(text: str) -> str:
    """How the document ends its lines."""
    first, newline, _ = text.partition("\n")
    if newline and first.endswith("\r"):
        return "\r\n"
    return "\n"

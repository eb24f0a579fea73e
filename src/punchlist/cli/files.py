"""Reading what the user points at."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn, TextIO

from ..core.errors import Refused
from ..dialects.formats import TEXTS

_LINE = 64_000_000  # bytes of a line in a log


def read(path: str, format: str) -> Any:
    """A file in this format, `-` for standard input, a directory for a list of JSON files."""
    if path != "-" and os.path.isdir(path):
        if format != "claude-tasks":
            raise Refused(f"{path}: a directory can be read as claude-tasks only.")
        names = sorted(name for name in os.listdir(path) if name.endswith(".json"))
        return [_parsed(_text(os.path.join(path, name)), name) for name in names]
    if format == "transcript":
        return log(path)
    text = read_text(path)
    return text if format in TEXTS else _parsed(text, path)


def read_text(path: str) -> str:
    """A file, or `-` for standard input."""
    return _decoded(_stdin(), "standard input") if path == "-" else _text(path)


def log(path: str) -> str | Iterator[str]:
    """A conversation: line by line, so that a long one needs no more memory than a short one; a JSON array whole."""
    try:
        file = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115
        head = file.readline(_LINE)
        while head and not head.strip(b"\xef\xbb\xbf \t\r\n"):
            head = file.readline(_LINE)
        if head.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
            return _decoded(head + file.read(), path)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    return _lines(head, file, path)


def _lines(head: bytes, file: BinaryIO, path: str) -> Iterator[str]:
    """The lines of a file that is closed at its end. One that is endless is cut, and so is no message."""
    try:
        with file:
            while head:
                yield head.decode("utf-8-sig", "replace")
                head = file.readline(_LINE)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None


def stdin_json() -> Any:
    """Standard input as JSON; nothing at all means no arguments."""
    text = _decoded(_stdin(), "the arguments")
    return _parsed(text, "the arguments") if text.strip() else {}


def _stdin() -> bytes:
    """What comes in; nothing, where there is no standard input."""
    stdin: TextIO | None = sys.stdin
    return stdin.buffer.read() if stdin is not None else b""


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return _decoded(file.read(), path)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{name}: not UTF-8 at byte {error.start}.") from None


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise Refused(f"{name}: nested too deeply.") from None
    except ValueError as error:
        raise Refused(f"{name}: not valid JSON: {error}.") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")

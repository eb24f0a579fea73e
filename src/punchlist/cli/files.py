"""Reading what the user points at."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NoReturn, TextIO

from ..core.errors import Refused
from ..dialects.formats import TEXTS


def read(path: str, format: str) -> Any:
    """A file in this format, `-` for standard input, a directory for a list of JSON files."""
    if path != "-" and os.path.isdir(path):
        if format != "claude-tasks":
            raise Refused(f"{path}: a directory can be read as claude-tasks only.")
        names = sorted(name for name in os.listdir(path) if name.endswith(".json"))
        return [_parsed(_text(os.path.join(path, name)), name) for name in names]
    text = _decoded(_stdin(), "standard input") if path == "-" else _text(path)
    return text if format in TEXTS else _parsed(text, path)


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

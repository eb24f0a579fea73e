"""Reading what the user points at."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from ..core._typing import TYPE_CHECKING, Any, NoReturn
from ..core.errors import Refused
from ..dialects.formats import TEXTS

if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

_LINE = 64_000_000  # bytes of a line in a log
_CHUNK = 1_000_000  # bytes of an array that are read at a time
_BLANK = b"\xef\xbb\xbf \t\r\n"


def read(path: str, format: str) -> Any:
    """Read a file in this format: `-` is standard input, a directory a list of JSON files."""
    if path != "-" and os.path.isdir(path):
        if format != "claude-tasks":
            raise Refused(f"{path}: a directory can be read as claude-tasks only.")
        names = [name for name in os.listdir(path) if name.endswith(".json")]
        names.sort(key=lambda name: (len(name), name))  # 2 before 10
        return [_parsed(_text(os.path.join(path, name)), name) for name in names]
    if format == "transcript":
        return log(path)
    text = read_text(path)
    if format in TEXTS:
        return text
    return _parsed(text, path)


def read_text(path: str) -> str:
    """Read a file as text; `-` is standard input."""
    if path == "-":
        return _decoded(_stdin(), "standard input")
    return _text(path)


def log(path: str) -> Iterator[Any]:
    """Read a conversation, entry by entry, so that a long one needs no more memory than a short one: the lines of a
    file, or the entries of a JSON array, which may be the `messages` of an object."""
    try:
        file: Any = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115
        while (seen := file.peek(1)) and not seen.strip(_BLANK):
            file.read(len(seen))
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    opening = _opening(seen.lstrip(_BLANK))
    if opening:
        return _elements(opening, file, path)
    return _lines(file, path)


def _opening(seen: bytes) -> bytes:
    """Return how a list of messages opens; empty if there is no list."""
    opening, rest = seen[:1], seen[1:].lstrip()
    if opening == b"{" and rest.startswith(b'"messages"'):
        rest = rest.removeprefix(b'"messages"').lstrip()
        if rest.startswith(b":") and rest[1:].lstrip().startswith(b"["):
            return b"{["
        return b""
    if opening == b"[":
        return opening
    return b""


def _elements(opening: bytes, file: BinaryIO, path: str) -> Iterator[Any]:
    """Yield the entries of a JSON array."""
    from codecs import getincrementaldecoder

    decode, decoder = getincrementaldecoder("utf-8-sig")().decode, json.JSONDecoder()
    try:
        with file:
            text, at = decode(file.read(_CHUNK)).partition("[")[2], 0
            while True:
                while (found := _element(decoder, text, at)) is not None:
                    value, at = found
                    yield value
                chunk = file.read(max(_CHUNK, len(text) - at))  # twice as much each time, where one is long
                if not chunk or len(text) - at > _LINE:
                    break
                text, at = text[at:] + decode(chunk), 0
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Refused(f"{path}: not UTF-8.") from None
    except RecursionError:
        raise Refused(f"{path}: nested too deeply.") from None
    if not _is_end(text[at:].strip(), opening):
        raise Refused(f"{path}: not valid JSON: an entry or the end of the list cannot be read.")


def _is_end(text: str, opening: bytes) -> bool:
    """Return whether this is the end of a list. After the messages of an object other keys may follow."""
    if opening == b"[" or not text.startswith("]"):
        return text == "]"
    rest = text[1:].lstrip()
    try:
        return rest == "}" or (rest[:1] == "," and isinstance(json.loads("{" + rest[1:]), dict))
    except (ValueError, RecursionError):
        return False


def _element(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int] | None:
    """Return the next entry of an array and where it ends; None if it is incomplete."""
    try:
        value, end = decoder.raw_decode(text, _behind(text, at, " \t\r\n,"))
    except ValueError:
        return None
    end = _behind(text, end, " \t\r\n")
    if text[end : end + 1] in (",", "]"):
        return (value, end)
    return None


def _behind(text: str, at: int, chars: str) -> int:
    """Return the first place that has none of these characters."""
    while at < len(text) and text[at] in chars:
        at += 1
    return at


def _lines(file: BinaryIO, path: str) -> Iterator[str]:
    """Yield the lines of a file; all of it at once, if it is one object over several lines. An endless line is cut, and
    so is not a message."""
    try:
        with file:
            while line := file.readline(_LINE):
                if line.strip(_BLANK) != b"{":
                    whole = line
                else:
                    whole = line + file.read(_LINE)
                yield whole.decode("utf-8-sig", "replace")
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None


def stdin_json() -> Any:
    """Read standard input as JSON; empty means no arguments."""
    text = _decoded(_stdin(), "the arguments")
    if text.strip():
        return _parsed(text, "the arguments")
    return {}


def _stdin() -> bytes:
    """Read standard input; empty if there is none."""
    stdin: TextIO | None = sys.stdin
    if stdin is not None:
        return stdin.buffer.read()
    return b""


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

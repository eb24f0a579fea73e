"""JSON without the `json` package, which loads `re`, and that takes a tenth of the time that a hook has.

`loads` and `dumps` do what those of `json` do by default, by the same parts of CPython. For a text with something wrong
in it, `json` itself is asked.
"""

from __future__ import annotations

from ._typing import Any

_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Scanner:
    """What the scanner of CPython wants to know."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, _CONSTANTS.__getitem__


def _refuse(value: object) -> Any:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _parts() -> tuple[Any, ...]:
    """What reads, what writes in ASCII, what writes any character, and what writes one string in ASCII."""
    try:
        import _json

        ascii, plain, make = _json.encode_basestring_ascii, _json.encode_basestring, _json.make_encoder
        scan = _json.make_scanner(_Scanner)  # type: ignore[arg-type]  # any object with these attributes will do
        each = [make(None, _refuse, one, None, ": ", ", ", False, False, True) for one in (ascii, plain)]
        return scan, *each, ascii
    except (ImportError, AttributeError, TypeError):  # another Python
        from json import JSONDecoder, JSONEncoder
        from json.encoder import encode_basestring_ascii

        scan = getattr(JSONDecoder(), "scan_once")  # noqa: B009
        writers = JSONEncoder(), JSONEncoder(ensure_ascii=False)
        return scan, writers[0].iterencode, writers[1].iterencode, encode_basestring_ascii


_scan, _write, _write_any, quoted = _parts()


def loads(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError."""
    try:
        if isinstance(text, str):
            given = text
        else:
            given = text.decode("utf-8", "surrogatepass")
        given = given.strip(" \t\n\r")
        value, end = _scan(given, 0)
        if end == len(given):
            return value
    except (StopIteration, ValueError, SystemError):  # SystemError: it wants words of `json`, which is not loaded
        pass
    import json

    return json.loads(text)  # it says what is wrong, and reads other encodings


def dumps(value: Any, *, ensure_ascii: bool = True) -> str:
    """Return a value as a JSON text. Raises TypeError for what is not JSON."""
    write = _write if ensure_ascii else _write_any
    return "".join(write(value, 0))

"""JSON as `json` reads and writes it, without what that loads."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from punchlist.core.json_text import dumps, loads, quoted

VALUES: list[Any] = [
    *(1, -0.0, 10**30, 2.5, True, None, "", "é\ud800\n", [], {}, (1, 2), float("inf"), float("nan")),
    {"a": [1, 2.5, None, {"b": "x" * 50}], "3": "\x7f"},
    {1: 2, None: 3, 1.5: 2},
]
WRONG: list[str | bytes] = ["", "  ", "{", "[1,]", "1 2", "\ufeff1", b"\xff", '"\x01"', "nul", "[" * 100_000]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_written_and_read_as_json_does(value: Any) -> None:
    assert dumps(value) == json.dumps(value)
    assert dumps(value, ensure_ascii=False) == json.dumps(value, ensure_ascii=False)
    assert repr(loads(f" {dumps(value)}\n")) == repr(json.loads(json.dumps(value)))


@pytest.mark.parametrize("text", WRONG, ids=lambda text: repr(text)[:20])
def test_what_is_wrong_with_a_text_is_said_as_json_says_it(text: str | bytes) -> None:
    assert outcome(loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-le"])
def test_bytes_are_read_in_every_encoding_that_json_knows(encoding: str) -> None:
    assert loads('{"é": 1}'.encode(encoding)) == {"é": 1}


@pytest.mark.parametrize("value", [object(), [{1}], {(1,): 2}], ids=["object", "set", "key"])
def test_what_is_not_json_is_refused(value: object) -> None:
    assert outcome(dumps, value) == outcome(json.dumps, value)


def test_a_string_is_quoted_as_json_does() -> None:
    assert quoted('"é"') == json.dumps('"é"')


def outcome(work: Callable[[Any], object], value: object) -> str:
    try:
        return repr(work(value))
    except (ValueError, TypeError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("text", ["{bad", '{"a"', '{"a":', "[1", '"a', "{'a': 1}", ""])
def test_what_is_wrong_is_said_where_json_was_not_loaded_before(text: str) -> None:
    """CPython's scanner has no words of its own: without `json` it fails with a SystemError."""
    code = (
        "import sys; from punchlist.core.json_text import loads\nassert 'json' not in sys.modules\nloads(sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True, check=False)
    assert done.stderr.rstrip().splitlines()[-1].startswith("json.decoder.JSONDecodeError: ")

"""What was typed, by the names of keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.tui.keys import edit_line, read_keys
from tests.core.plans import often


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"", []),
        (b"q", ["q"]),
        (b"\x14", ["ctrl+t"]),
        (b"\x03\x04", ["ctrl+c", "ctrl+d"]),
        (b"\r\n\t\x7f", ["enter", "enter", "tab", "backspace"]),
        (b"\x1b[A\x1bOB", ["up", "down"]),
        (b"\x1bq", ["alt+q"]),
        (b"\x1b\x1b[C", ["esc", "right"]),
        ("é日🙂".encode(), ["é", "日", "🙂"]),
        (b"\x1b[200~q\x1b[201~", ["paste", "q", "pasted"]),
        (b"\x1b[209~q", ["q"]),  # a sequence that means nothing here is passed over, what follows is not
        (b"\x1b[12;40R", []),  # a report of the terminal is no key
        (b"\x1b[<0;3;4M", []),
        (b"\xff\x80q", ["q"]),
    ],
)
def test_keys_have_names(typed: bytes, keys: list[str]) -> None:
    assert read_keys(typed) == (keys, b"")


@pytest.mark.parametrize("typed", [b"\x1b", b"\x1b[", b"\x1b[1;5", "é".encode()[:1], "🙂".encode()[:3]])
def test_a_key_that_has_not_arrived_whole_is_waited_for(typed: bytes) -> None:
    assert read_keys(typed) == ([], typed)


def test_a_line_is_typed_and_mended() -> None:
    line = ""
    for key in read_keys("größe!\x7f\x1b[A\t\x02 日本 x\x17語".encode())[0]:
        line = edit_line(line, key)
    assert line == "größe 日本 語"
    assert edit_line(line, "ctrl+u") == ""
    assert edit_line("", "backspace") == edit_line("", "ctrl+w") == ""
    assert edit_line("one two", "ctrl+w") == "one "


@often(200)
@given(st.binary(max_size=30))
def test_whatever_is_typed_is_read_to_the_end_or_waited_for(typed: bytes) -> None:
    _, rest = read_keys(typed)
    assert typed.endswith(rest)
    assert len(rest) == len(typed) or read_keys(typed[: len(typed) - len(rest)])[1] == b""

"""A line that is being typed: every key, wherever the cursor is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.tui.line_editor import _CUTS, _MOVES, History, Typed, press_key


def typed(text: str) -> Typed:
    """A line with its cursor where the bar stands."""
    before, after = text.split("|")
    return Typed(before + after, len(before))


@pytest.mark.parametrize(
    ("line", "key", "after"),
    [
        ("ab|", "c", "abc|"),
        ("a|b", "é", "aé|b"),
        ("a|b", "\n", "a\n|b"),
        ("ab|", "left", "a|b"),
        ("|ab", "left", "|ab"),
        ("a|b", "right", "ab|"),
        ("ab|", "right", "ab|"),
        ("ab|c", "home", "|abc"),
        ("ab|c", "ctrl+a", "|abc"),
        ("a|bc", "end", "abc|"),
        ("a|bc", "ctrl+e", "abc|"),
        ("ab|c", "backspace", "a|c"),
        ("|abc", "backspace", "|abc"),
        ("ab|c", "delete", "ab|"),
        ("ab|c", "ctrl+d", "ab|"),
        ("ab|cd", "ctrl+k", "ab|"),
        ("ab|cd", "ctrl+u", "|cd"),
        ("one two |x", "ctrl+w", "one |x"),
        ("one two|", "alt+b", "one |two"),
        ("|one two", "alt+f", "one| two"),
        ("one| two x", "alt+d", "one| x"),
        ("a|b", "up", "a|b"),
        ("a|b", "esc", "a|b"),
        ("a|b", "ctrl+t", "a|b"),
    ],
)
def test_a_key_does_to_a_line_what_it_does_in_a_shell(line: str, key: str, after: str) -> None:
    assert press_key(typed(line), key) == typed(after)


@given(st.text(), st.lists(st.sampled_from([*_MOVES, *_CUTS, "x", "\n", "tab", ""])))
def test_the_cursor_never_leaves_the_line(text: str, keys: list[str]) -> None:
    line = Typed(text, len(text))
    for key in keys:
        line = press_key(line, key)
        assert 0 <= line.at <= len(line.text)


def test_up_and_down_go_through_what_was_said_and_back_to_the_line_that_was_begun() -> None:
    history = History(["first", "second"], Typed("beg", 3))
    line = history.move(Typed("begun", 5), -1)
    assert line == typed("second|")
    assert history.move(line, -1) == typed("first|")
    assert history.move(typed("first|"), -1) == typed("first|")
    assert history.move(typed("changed|"), 1) == typed("second|")
    assert history.move(typed("second|"), 1) == typed("begun|")
    assert history.move(typed("begun|"), 1) == typed("begun|")
    assert history.move(history.move(typed("begun|"), -1), -1) == typed("changed|")

"""A shell command taken apart."""

from __future__ import annotations

import pytest

from punchlist.core.shell_words import NotUnderstood, parse


def test_each_command_knows_what_comes_behind_it() -> None:
    found = parse("a && b || c | d |& e; f & g\nh").commands
    assert [(one.words[0].text, one.operator) for one in found] == [
        *(("a", "&&"), ("b", "||"), ("c", "|"), ("d", "|&"), ("e", ";"), ("f", "&"), ("g", "\n"), ("h", "")),
    ]


@pytest.mark.parametrize("line", ["a < b", "a <<< b", "a <<E\nb\nE", "a <> b"])
def test_a_command_that_is_given_input_says_so(line: str) -> None:
    assert [one.is_fed for one in parse(f"{line}\nc").commands] == [True, False]


@pytest.mark.parametrize("line", ["a", "a > b", "a 2>&1", "a < /dev/null", "a <&3"])
def test_a_command_without_input_says_so(line: str) -> None:
    assert [one.is_fed for one in parse(line).commands] == [False]


@pytest.mark.parametrize("line", ["a $'\\x2d'", "a ''$'\\x2d'", "a b\"c\"$'\\x2d'", 'a $"b"'])
def test_a_quote_that_begins_with_a_dollar_sign_is_not_understood(line: str) -> None:
    with pytest.raises(NotUnderstood):
        parse(line)


def test_a_dollar_sign_at_the_end_of_a_quoted_text_is_one() -> None:
    assert [word.text for word in parse("a \"5$\" 'x'").commands[0].words] == ["a", "5$", "x"]


def test_parentheses_are_noted() -> None:
    assert parse("(a && b)").is_grouped
    assert not parse("a '(b)'").is_grouped

"""A shell command taken apart."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.core.commands.shell_words import NotUnderstood, parse
from tests.core.plans import often

PARTS = [
    "a",
    "b-c",
    "'d e'",
    '"f g"',
    "\\ ",
    "\\'",
    '\\"',
    "'",
    '"',
    "\\",
    "\\\n",
    " ",
    "  ",
    "\t",
    "$",
    "5$",
    "''",
    "#x",
    " #y",
]
PARTS += [
    '"$"',
    "é",
    "{h}",
    "=",
    "2>&1",
    " 2>&1 ",
    ">x",
    " > x ",
    "--",
    "\\\\",
    "'\"'",
    '"\'"',
    "!",
    "%",
    "@",
    "]",
    "}",
    "^",
    "~",
]


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


@pytest.mark.parametrize("line", ["; a", "&& a", "a && && b", "a | | b", "a & ; b", "a\n; b", "| a", "& a"])
def test_an_operator_without_a_command_before_it_is_not_understood(line: str) -> None:
    with pytest.raises(NotUnderstood):
        parse(line)


@pytest.mark.parametrize(
    "line", ["(a) && b", "(a); b", "a &&\n b", "a;\n\nb", "a &\nb", "(a) | b", "a 2>&1 && b", "> x && b"]
)
def test_an_operator_behind_a_command_or_parentheses_is_understood(line: str) -> None:
    assert parse(line).commands


def test_parentheses_are_noted() -> None:
    assert parse("(a && b)").is_grouped
    assert not parse("a '(b)'").is_grouped


@often(100)
@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_words_are_those_of_a_real_shell(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    line = f"printf '%s\\0' w {text}"
    try:
        commands = parse(line).commands
    except NotUnderstood:
        return
    words = commands[0].words[2:]
    if len(commands) != 1 or commands[0].targets or not all(word.is_plain and not word.is_pattern for word in words):
        return
    if any(word.is_bare and word.text.startswith("~") for word in words):
        return
    folder = tmp_path_factory.getbasetemp()
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, check=False)
    assert done.stdout.decode() == "".join(f"{word.text}\0" for word in words)

"""YAML files of others: one entry put in and taken out; what is not plain is refused with what to write."""

from __future__ import annotations

from typing import Any

import pytest

from punchlist.core.errors import Refused
from punchlist.install import installer_for
from punchlist.install.apply import add_parts, is_nothing, strip_parts
from punchlist.install.edit_yaml import put, read, remove
from punchlist.install.parts import Where

PATH = ("extensions", "punchlist")
ENTRY: dict[str, Any] = {"enabled": True, "type": "stdio", "cmd": "/opt/bin/punchlist", "args": ["mcp"]}
OURS = '  punchlist:\n    enabled: true\n    type: stdio\n    cmd: /opt/bin/punchlist\n    args: ["mcp"]\n'

FILES = [
    "",
    "\n",
    "# only a comment\n",
    "---\nGOOSE_PROVIDER: openai\n",
    "GOOSE_PROVIDER: openai",
    "\ufeffGOOSE_MODEL: x\n",
    "extensions:\n  developer:\n    enabled: true\n    type: builtin\nGOOSE_MODE: auto\n",
    "extensions:\n    developer:\n        enabled: true # yes\n\n    # the end\n\nGOOSE_MODE: auto\n",
    "GOOSE_MODE: auto\nextensions:\n  memory: {enabled: true, type: builtin}\n",
    "extensions:\n  other:\n    description: |\n      punchlist:\n      extensions:\n    args:\n    - a\n",
    'text: >-\n  extensions:\n    x\nlist:\n- one\n- two\n"extensions":\n  a:\n    b: 1',
    '{"extensions": {"developer": {"enabled": true}}, "GOOSE_MODE": "auto"}\n',
    "{}\n",
]


@pytest.mark.parametrize("line", ["\n", "\r\n"], ids=ascii)
@pytest.mark.parametrize("text", FILES, ids=ascii)
def test_an_entry_is_added_and_goes_without_a_trace(text: str, line: str) -> None:
    text = text.replace("\n", line)
    part = next(one for one in installer_for("goose").parts(Where("user", "/h", "/p", "/bin/punchlist", {})))
    new = add_parts(text, [part], "goose", "")
    assert read(new, PATH) == part.value
    assert add_parts(new, [part], "goose", "") == new
    gone = strip_parts(new, [part], "goose", text)
    assert gone == text or (is_nothing(text) and is_nothing(gone))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "extensions:\n" + OURS),
        ("a: 1", "a: 1\nextensions:\n" + OURS),
        ("extensions:\n  b:\n    c: 1\na: 1\n", "extensions:\n  b:\n    c: 1\n" + OURS + "a: 1\n"),
        ("extensions:\n  b:\n    c: 1\n\n# end\n", "extensions:\n  b:\n    c: 1\n" + OURS + "\n# end\n"),
        ("extensions: {}\na: 1\n", "extensions:\n" + OURS + "a: 1\n"),
        ("extensions:\n# none\na: 1\n", "extensions:\n" + OURS + "# none\na: 1\n"),
    ],
    ids=ascii,
)
def test_the_entry_is_put_at_the_end_of_its_block(before: str, after: str) -> None:
    assert put(before, PATH, ENTRY) == after


def test_only_what_differs_is_written_again_and_the_rest_of_our_entry_stays() -> None:
    text = (
        "extensions:\n  punchlist:\n    bundled: null # mine\n    cmd: '/old/punchlist'\n    enabled: true\n"
        "    args:\n    - mcp\n    envs:\n      A: b\n    type: stdio\n  other:\n    a: 1\n"
    )
    assert put(text, PATH, ENTRY) == text.replace("'/old/punchlist'", "/opt/bin/punchlist")


def test_a_list_that_differs_is_replaced_as_a_whole() -> None:
    text = "extensions:\n  punchlist:\n    args:\n    - old\n    - older\n    type: stdio\n"
    new = put(text, PATH, {"args": ["mcp"]})
    assert new == 'extensions:\n  punchlist:\n    args: ["mcp"]\n    type: stdio\n'


def test_a_block_that_was_there_stays_when_it_is_empty_again() -> None:
    text = put("extensions: {}\n", PATH, ENTRY)
    assert remove(text, PATH, and_block=False) == "extensions: {}\n"
    assert remove(text, PATH, and_block=True) == ""


def test_words_that_yaml_would_read_as_something_else_are_quoted() -> None:
    odd = {"a": "true", "b": "on", "c": "~", "d": "x: y", "e": "# no", "f": "-", "g": "1", "h": "/a b", "i": "it's"}
    new = put("", PATH, odd)
    assert read(new, PATH) == odd
    assert 'a: "true"' in new


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("extensions: [a]\n", "line 1: 'extensions' is not a block of keys"),
        ("extensions: {a: {b: 1}}\n", "line 1: 'extensions' is not a block of keys"),
        ("extensions: *anchor\n", "line 1: 'extensions' is not a block of keys"),
        ("extensions:\n- a\n", "line 1: 'extensions' is not a block of keys"),
        ("a: 1\n---\nb: 2\n", "line 2: '---'"),
        ("%YAML 1.2\n---\na: 1\n", "line 1: '%YAML 1.2'"),
        ("a:\n\tb: 1\n", "line 2: a tab"),
        ("just words\n", "line 1: 'just words'"),
        ("? complex\n: key\n", "line 1: '? complex'"),
        ("a: {\n}\n", "line 2: '}'"),
    ],
    ids=ascii,
)
def test_what_is_not_plain_is_refused_with_what_to_write(text: str, words: str) -> None:
    with pytest.raises(Refused) as refusal:
        put(text, PATH, ENTRY)
    assert str(refusal.value) == f"{words}; it cannot be edited safely. Edit it by hand:\nextensions:\n{OURS}"


def test_an_entry_of_somebody_else_with_our_name_is_refused() -> None:
    part = next(one for one in installer_for("goose").parts(Where("user", "/h", "/p", "/bin/punchlist", {})))
    text = "extensions:\n  punchlist:\n    cmd: npx\n    args: [other]\n"
    with pytest.raises(Refused, match="is there already and is not ours"):
        add_parts(text, [part], "goose", "")
    assert strip_parts(text, [part], "goose", None) == text


@pytest.mark.parametrize(
    ("words", "args"),
    [
        ("[mcp]", ["mcp"]),
        ("[ mcp , --session, a.b ]", ["mcp", "--session", "a.b"]),
        ('["mcp"]', ["mcp"]),
        ("[mcp, true]", ["mcp", True]),
        ("[a: b]", "[a: b]"),
    ],
)
def test_a_list_of_plain_words_on_one_line_is_read(words: str, args: Any) -> None:
    assert read(f"extensions:\n  punchlist:\n    args: {words}\n", PATH) == {"args": args}

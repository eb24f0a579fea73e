"""JSON files of others: one thing put in and taken out, every other byte left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from punchlist.core.errors import Refused
from punchlist.install import edit_json
from punchlist.install.edit_json import append, put, put_all, read, remove
from tests.core.plans import often
from tests.install.documents import documents, plain_documents

PATHS = st.lists(st.sampled_from(["mcpServers", "hooks", "a", "new", "punchlist"]), min_size=1, max_size=3).map(tuple)
VALUES = st.sampled_from([1, "x", {}, [], {"command": "/p", "args": ["mcp"]}, [1, {"b": None}]])


def at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


# --- laws ------------------------------------------------------------------------------------------------------------


@often(300)
@given(plain_documents())
def test_what_python_writes_is_read_as_python_reads_it(document: tuple[str, Any]) -> None:
    text, value = document
    assert read(text) == value


@often(300)
@given(documents(), PATHS, VALUES)
def test_what_is_put_is_there_and_nothing_else_has_changed(text: str, path: tuple[str, ...], value: Any) -> None:
    before = read(text)
    try:
        new = put(text, path, value)
    except Refused:
        assume(False)
    after = read(new)
    assert at(after, path) == value
    assert remaining(after, path) == remaining(before, path)
    again = put(new, path, value)
    assert read(again) == after if isinstance(value, dict | list) else again == new


def remaining(value: Any, path: tuple[str, ...]) -> Any:
    """A value without what is at a path, and without objects that lead to nothing else."""
    if not isinstance(value, dict) or path[0] not in value:
        return value
    rest = {key: entry for key, entry in value.items() if key != path[0]}
    inner = remaining(value[path[0]], path[1:]) if len(path) > 1 else {}
    return {**rest, path[0]: inner} if inner != {} else rest


def boxes(text: str, kind: str) -> list[edit_json.Path]:
    """The ways to the objects, or arrays, of a document that hold something."""
    root = edit_json.parse(text)
    ways: list[edit_json.Path] = [()]
    for way in ways:
        node = edit_json.find(root, way)
        inside = node.children if node else ()
        steps = {child.key if node and node.kind == "object" else number for number, child in enumerate(inside)}
        ways += [(*way, step) for step in sorted(steps, key=str)]
    found = [(way, edit_json.find(root, way)) for way in ways]
    return [way for way, node in found if node and node.kind == kind and node.children]


@often(300)
@given(documents(), VALUES, st.data())
def test_a_key_that_is_put_and_removed_leaves_the_same_bytes(text: str, value: Any, data: st.DataObject) -> None:
    ways = [way for way in boxes(text, "object") if all(isinstance(step, str) for step in way)]
    assume(ways)
    path = (*data.draw(st.sampled_from(ways)), "ours")
    new = put(text, path, value)  # type: ignore[arg-type]
    assert remove(new, path) == text


@often(300)
@given(documents(), VALUES, st.data())
def test_an_element_that_is_appended_and_removed_leaves_the_same_bytes(
    text: str, value: Any, data: st.DataObject
) -> None:
    ways = [way for way in boxes(text, "array") if all(isinstance(step, str) for step in way)]
    assume(ways)
    path = data.draw(st.sampled_from(ways))
    node = edit_json.find(edit_json.parse(text), path)
    new = append(text, path, value)  # type: ignore[arg-type]
    assert remove(new, (*path, len(node.children) if node else 0)) == text


@often(300)
@given(documents(), st.data())
def test_whatever_is_removed_the_rest_is_what_it_was(text: str, data: st.DataObject) -> None:
    value = read(text)
    assume(value)
    key = data.draw(st.sampled_from(sorted(value)))
    new = read(remove(text, (key,)))
    others = {name: entry for name, entry in value.items() if name != key}
    assert {name: entry for name, entry in new.items() if name != key} == others


@often(300)
@given(st.text(alphabet='{}[],:"/*\\ \n\ta1.-etrufalsn', max_size=40))
def test_what_is_read_is_json_with_comments_and_what_is_not_is_refused(text: str) -> None:
    try:
        value = edit_json.value(text, edit_json.parse(text))
    except Refused:
        with pytest.raises((ValueError, AssertionError)):
            assert isinstance(json.loads(text), dict)
    else:
        assert json.loads(json.dumps(value)) == value


# --- how it looks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("\ufeff \n", '\ufeff{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ("{\n}\n", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ('{"x":1}', '{"x":1,"a":{"b":1}}'),
        ('{"x": 1}', '{"x": 1, "a": {"b": 1}}'),
        ('{ "x": 1, }', '{ "x": 1, "a": {"b": 1}, }'),
        ('{\n\t"x": 1\n}', '{\n\t"x": 1,\n\t"a": {\n\t\t"b": 1\n\t}\n}'),
        ('{\r\n    "x": 1\r\n}', '{\r\n    "x": 1,\r\n    "a": {\r\n        "b": 1\r\n    }\r\n}'),
        ('{\n  "x": 1, // why\n}', '{\n  "x": 1, // why\n  "a": {\n    "b": 1\n  },\n}'),
        ('{\n  "x": 1 // why\n}', '{\n  "x": 1, // why\n  "a": {\n    "b": 1\n  }\n}'),
        ('{\n  "a": {}\n}', '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"a": {}, "x": 1}', '{"a": {"b": 1}, "x": 1}'),
        ('{\n  "a": {"c": 2}\n}', '{\n  "a": {"c": 2, "b": 1}\n}'),
        ('{"a": 1, "a": {"b": 2}}', '{"a": 1, "a": {"b": 1}}'),
    ],
    ids=ascii,
)
def test_new_text_takes_the_form_of_what_stands_around_it(before: str, after: str) -> None:
    assert put(before, ("a", "b"), 1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": []}', '{"a": ["x"]}'),
        ('{"a": ["y"]}', '{"a": ["y", "x"]}'),
        ('{"a": ["y","z"]}', '{"a": ["y","z","x"]}'),
        ('{\n  "a": [\n    "y"\n  ]\n}', '{\n  "a": [\n    "y",\n    "x"\n  ]\n}'),
        ('{\n  "a": [ // why\n  ]\n}', '{\n  "a": [ // why\n    "x"\n  ]\n}'),
        ("{}", '{\n  "a": [\n    "x"\n  ]\n}'),
    ],
    ids=ascii,
)
def test_an_element_is_put_behind_the_others(before: str, after: str) -> None:
    assert append(before, ("a",), "x") == after


def test_keys_that_are_right_already_are_not_written_again() -> None:
    text = '{ "p": { "args":["mcp"], "env": {"A": "1"},   "command": "/old" } }'
    new = put_all(text, ("p",), {"command": "/new", "args": ["mcp"]})
    assert new == text.replace("/old", "/new")


def test_a_comment_stays_with_the_line_it_stands_on() -> None:
    text = '{\n  // servers\n  "a": 1, // one\n  "b": 2 // two\n  // the end\n}\n'
    new = put(text, ("c",), 3)
    assert new == text.replace("2 //", "2, //").replace("// the end\n", '// the end\n  "c": 3\n')
    assert remove(new, ("c",)) == text


# --- what cannot be edited -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "line 1, column 1: expected an object, which begins with {, not '['."),
        ("{\n  'a': 1\n}", 'line 2, column 3: expected a key in double quotes, or }, not "\'".'),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: expected a comma or }, not '\"'."),
        ('{"a" 1}', "line 1, column 6: expected a colon, not '1'."),
        ('{"a": }', "line 1, column 7: expected a value, not '}'."),
        ('{"a": 01}', "line 1, column 7: expected a value, not '0'."),
        ('{"a": NaN}', "line 1, column 7: expected a value, not 'N'."),
        ('{"a": "\n"}', "line 1, column 7: expected a value, not '\"'."),
        ('{"a": "\\x"}', "line 1, column 7: expected a value, not '\"'."),
        ('{"a": 1', "line 1, column 8: expected a comma or }, not the end of the file."),
        ('{"a": 1} x', "line 1, column 10: expected nothing more, not 'x'."),
        ("{} /* never closed", "line 1, column 4: expected nothing more, not '/'."),
        ("// only a comment", "line 1, column 18: expected a value, not the end of the file."),
        ("{" * 3, "line 1, column 2: expected a key in double quotes, or }, not '{'."),
        ('{"a":' * 300 + "1" + "}" * 300, "line 1, column 1006: expected at most 200 levels, not '{'."),
    ],
    ids=lambda value: ascii(value[:30]),
)
def test_what_is_not_json_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(Refused) as refusal:
        put(text, ("a",), 1)
    assert str(refusal.value) == words


@pytest.mark.parametrize("there", ["[]", "null", "3", '"x"'])
def test_a_value_of_another_kind_in_the_way_is_refused(there: str) -> None:
    with pytest.raises(Refused, match="line 2: 'hooks' must be an object, not"):
        put('{\n  "hooks": ' + there + "\n}", ("hooks", "Stop"), [])


def test_an_object_where_a_list_belongs_is_refused() -> None:
    with pytest.raises(Refused, match="line 1: 'allow' must be an array, not"):
        append('{"allow": {}}', ("allow",), "x")

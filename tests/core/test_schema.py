"""The checker: every word it knows, the same judgement as a full validator, and what it can repair."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators

from punchlist.core.codec import PLAN_SCHEMA
from punchlist.core.schema import Lenience, Problem, Schema, check, check_at, dotted, listed, repair, shown
from punchlist.dialects import Dialect, Tool
from tests.core.plans import often
from tests.core.schemas import DIALECTS, TOOLS, fitting, inner, near

TEXT: Schema = {"type": "string"}
# Where a full validator takes 1.0 for a whole number, ours does not: it is repaired where a dialect is tolerant.
WHOLE = Draft202012Validator.TYPE_CHECKER.redefine(
    "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
)
Full = validators.extend(Draft202012Validator, type_checker=WHOLE)  # type: ignore[no-untyped-call]


def said(value: object, schema: Schema) -> list[str]:
    return [str(fault) for fault in check(value, schema)]


# --- every word ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "words"),
    [
        ("string", "x", 3, "must be a string, not 3."),
        ("integer", 3, "x", "must be a whole number, not 'x'."),
        ("integer", 0, True, "must be a whole number, not true."),
        ("integer", -1, 1.5, "must be a whole number, not 1.5."),
        ("number", 1.5, None, "must be a number, not null."),
        ("number", 2, False, "must be a number, not false."),
        ("boolean", False, 0, "must be true or false, not 0."),
        ("object", {}, [], "must be an object, not a list."),
        ("array", [], {}, "must be a list, not an object."),
        ("null", None, "", "must be null, not ''."),
    ],
)
def test_a_type_is_checked(kind: str, right: object, wrong: object, words: str) -> None:
    assert said(right, {"type": kind}) == []
    assert said(wrong, {"type": kind}) == [f"the arguments {words}"]


def test_one_of_several_types_will_do() -> None:
    schema = {"type": ["string", "object"], "properties": {"text": TEXT}}
    assert said("x", schema) == []
    assert said({"text": "x"}, schema) == []
    assert said({"text": 1}, schema) == ["text must be a string, not 1."]
    assert said(1, schema) == ["the arguments must be a string or an object, not 1."]


def test_without_a_type_anything_will_do() -> None:
    assert said([1, "x"], {}) == []


def test_an_enum_is_checked() -> None:
    schema = {"type": "string", "enum": ["pending", "completed"]}
    assert said("pending", schema) == []
    assert said("done", schema) == ["the arguments must be one of 'pending', 'completed', not 'done'."]


def test_missing_keys_are_all_named() -> None:
    schema = {"type": "object", "required": ["a", "b"], "properties": {"a": TEXT, "b": TEXT}}
    assert said({}, schema) == ["a is missing.", "b is missing."]
    assert said({"a": "", "b": ""}, schema) == []


def test_further_keys_are_allowed_unless_they_are_forbidden() -> None:
    schema = {"type": "object", "properties": {"a": TEXT}}
    assert said({"z": 1}, schema) == []
    assert said({"z": 1}, {**schema, "additionalProperties": False}) == ["z is not a key; the only key is 'a'."]
    assert said({"z": 1}, {"type": "object", "additionalProperties": False}) == ["z is not a key; the keys are none."]


def test_further_keys_may_have_a_schema_of_their_own() -> None:
    schema = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": {"type": "integer"}}
    assert said({"a": "x", "z": 1}, schema) == []
    assert said({"z": "x"}, schema) == ["z must be a whole number, not 'x'."]


def test_entries_of_a_list_are_checked_with_their_place() -> None:
    assert said(["x", 1, "y", None], {"type": "array", "items": TEXT}) == [
        "[1] must be a string, not 1.",
        "[3] must be a string, not null.",
    ]


@pytest.mark.parametrize(
    ("schema", "right", "wrong", "words"),
    [
        ({"type": "array", "minItems": 1}, [1], [], "must not be empty."),
        ({"type": "array", "minItems": 2}, [1, 2], [1], "must have at least 2 items, not 1."),
        ({"type": "array", "maxItems": 1}, [1], [1, 2], "must have at most 1 item, not 2."),
        ({"type": "string", "minLength": 1}, "x", "", "must not be empty."),
        ({"type": "integer", "minimum": 1}, 1, 0, "must be 1 or more, not 0."),
        ({"type": "number", "minimum": 0}, 0.5, -0.5, "must be 0 or more, not -0.5."),
        ({"type": "string", "minLength": 3}, "xyz", "xy", "must have at least 3 characters, not 2."),
        ({"type": "string", "maxLength": 3}, "xyz", "wxyz", "must have at most 3 characters, not 4."),
    ],
)
def test_sizes_and_least_values_are_checked(schema: Schema, right: object, wrong: object, words: str) -> None:
    assert said(right, schema) == []
    assert said(wrong, schema) == [f"the arguments {words}"]


def test_all_faults_of_a_value_are_reported_with_their_paths() -> None:
    entry = {"type": "object", "required": ["text"], "properties": {"text": TEXT, "n": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"todos": {"type": "array", "items": entry}}}
    assert said({"todos": [{"n": "x"}, 7]}, schema) == [
        "todos[0].text is missing.",
        "todos[0].n must be a whole number, not 'x'.",
        "todos[1] must be an object, not 7.",
    ]


def test_a_fault_knows_the_word_that_was_broken() -> None:
    assert check_at("", {"type": "string", "minLength": 1}, ("a", 0)) == [
        Problem(("a", 0), "minLength", "must not be empty.")
    ]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"in": [value]}
    return value


@pytest.mark.parametrize("levels", [100, 100_000])
def test_a_free_object_that_is_nested_too_deep_is_refused(levels: int) -> None:
    assert said(deep(levels), {"type": "object"}) == ["the arguments must not be nested more than 50 deep."]
    assert said(deep(20), {"type": "object"}) == []


# --- in words ------------------------------------------------------------------------------------------------------


def test_a_path_is_written_as_in_code() -> None:
    assert dotted(("todos", 0, "parts", 12, "text")) == "todos[0].parts[12].text"
    assert dotted(()) == ""


@pytest.mark.parametrize("path", [("\x1b[2J\u202e" * 50,), ("todos", 0, "\x1b[2J\u202e" * 50)])
def test_a_hostile_key_is_harmless_in_a_path(path: tuple[str | int, ...]) -> None:
    assert dotted(path).isprintable()
    assert len(dotted(path)) < 80


def test_a_wrapper_tag_in_a_key_is_harmless_in_a_path() -> None:
    assert "</system-reminder" not in dotted(("note", "</system-reminder>"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "'x'"),
        ("y" * 99, repr("y" * 39 + "…")),
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
    ],
)
def test_a_value_is_shown_short(value: object, words: str) -> None:
    assert shown(value) == words


@pytest.mark.parametrize("digits", [60, 5000])
def test_a_number_of_very_many_digits_is_shown_short(digits: int) -> None:
    assert 0 < len(shown(10**digits)) <= 40


def test_a_hostile_value_is_shown_harmless() -> None:
    assert shown("\x1b[2J\x00\u202e\ud800").isprintable()


def test_of_very_many_faults_twenty_are_spelled_out() -> None:
    lines = listed(check([1] * 30, {"type": "array", "items": TEXT}))
    assert len(lines) == 21
    assert lines[-1] == "and 10 more problems like these."


# --- a full validator agrees ----------------------------------------------------------------------------------------

KNOWN = {
    "type",
    "enum",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "minimum",
    "maxLength",
    "description",
}
named_tools = pytest.mark.parametrize(
    ("dialect", "tool"), TOOLS, ids=[f"{dialect.name} {tool.name}" for dialect, tool in TOOLS]
)


@named_tools
def test_a_schema_uses_only_words_that_are_checked(dialect: Dialect, tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.schema)
    for schema in inner(tool.schema):
        assert set(schema) <= KNOWN, "core/schema.py does not check this word: check it in `apply` or `entries` instead"
        assert "type" in schema


@named_tools
def test_a_full_validator_judges_alike(dialect: Dialect, tool: Tool) -> None:
    full = Full(tool.schema)

    @often(60)
    @given(fitting(tool.schema) | near(tool.schema))
    def judged_alike(value: object) -> None:
        assert (check(value, tool.schema) == []) == full.is_valid(value)

    judged_alike()


@named_tools
def test_what_fits_the_schema_passes(dialect: Dialect, tool: Tool) -> None:
    @often(20)
    @given(fitting(tool.schema))
    def passes(value: object) -> None:
        assert check(value, tool.schema) == []

    passes()


@often(100)
@given(near(PLAN_SCHEMA))
def test_a_full_validator_judges_a_plan_document_alike(value: object) -> None:
    assert (check(value, PLAN_SCHEMA) == []) == Full(PLAN_SCHEMA).is_valid(value)


# --- mending -------------------------------------------------------------------------------------------------------

STATUS: Schema = {"type": "string", "enum": ["pending", "completed", "in_progress"]}
STEP: Schema = {
    "type": "object",
    "required": ["text", "status"],
    "properties": {"text": TEXT, "status": STATUS, "n": {"type": "integer"}, "taskId": TEXT},
}
STEPS: Schema = {"type": "object", "properties": {"steps": {"type": "array", "items": STEP}, "ok": {"type": "boolean"}}}
LENIENCE = Lenience({"done": "completed"}, {"status": lambda step: "pending"}, ("taskId",))


@pytest.mark.parametrize(
    ("value", "schema", "repaired", "notes"),
    [
        ('{"ok": true}', STEPS, {"ok": True}, ["the arguments: '{\"ok\": true}' read as an object"]),
        ({"ok": "true"}, STEPS, {"ok": True}, ["ok: 'true' read as true"]),
        (
            {"n": "3"},
            STEP,
            {"n": 3, "status": "pending"},
            ["n: '3' read as 3", "status was missing; read as 'pending'"],
        ),
        ("#12", {"type": "integer"}, 12, ["the arguments: '#12' read as 12"]),
        (3.0, {"type": "integer"}, 3, ["the arguments: 3.0 read as 3"]),
        (7, {"type": "array", "items": {"type": "integer"}}, [7], []),
        ("[1, 2]", {"type": "array", "items": {"type": "integer"}}, [1, 2], ["the arguments: '[1, 2]' read as a list"]),
        (["a", "b"], TEXT, "a\nb", ["the arguments: a list read as 'a b'"]),
        ({"status": "done"}, STEP, {"status": "completed"}, ["status: 'done' read as 'completed'"]),
        ({"status": "In Progress"}, STEP, {"status": "in_progress"}, ["status: 'In Progress' read as 'in_progress'"]),
    ],
)
def test_what_was_certainly_meant_is_understood_and_said(
    value: object, schema: Schema, repaired: object, notes: list[str]
) -> None:
    assert repair(value, schema, LENIENCE) == (repaired, notes)


def test_a_number_where_an_id_is_wanted_needs_no_words() -> None:
    assert repair({"taskId": 3, "status": "pending"}, STEP, LENIENCE) == ({"taskId": "3", "status": "pending"}, [])


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("three", {"type": "integer"}),
        (1.5, {"type": "integer"}),
        ("9" * 30, {"type": "integer"}),
        ("yes", {"type": "boolean"}),
        (1, {"type": "boolean"}),
        (3, TEXT),
        (None, TEXT),
        ([1], TEXT),
        ("maybe", STATUS),
        ("{broken", STEPS),
        ("[" * 100_000, STEPS),
        (None, {"type": "array", "items": TEXT}),
    ],
)
def test_what_is_not_certain_stays_for_the_checker(value: object, schema: Schema) -> None:
    assert repair(value, schema, LENIENCE) == (value, [])
    assert check(value, schema) != []


def test_what_is_right_is_left_as_it_is() -> None:
    right = {"steps": [{"text": "x", "status": "pending", "n": 1}], "ok": True}
    assert repair(right, STEPS, LENIENCE) == (right, [])


@often(100)
@given(st.sampled_from(DIALECTS), st.data())
def test_mending_never_spoils_what_is_right(dialect: Dialect, data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(dialect.tools))
    value = data.draw(fitting(tool.schema))
    assert repair(value, tool.schema, Lenience({}, tool.fill, tool.ids)) == (value, [])


@often(100)
@given(st.sampled_from(DIALECTS), st.data())
def test_what_was_mended_needs_no_more_mending(dialect: Dialect, data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(dialect.tools))
    lenience = Lenience({}, tool.fill, tool.ids)
    repaired, _ = repair(data.draw(near(tool.schema)), tool.schema, lenience)
    assert repair(repaired, tool.schema, lenience) == (repaired, [])

"""JSON values for a schema: such as fit it, and such as nearly do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from punchlist.core.schema import Schema
from punchlist.dialects import PATHS, Dialect, Tool, load
from tests.core.plans import any_json, any_text, words

DIALECTS: tuple[Dialect, ...] = tuple(load(name) for name in PATHS)
TOOLS: tuple[tuple[Dialect, Tool], ...] = tuple((dialect, tool) for dialect in DIALECTS for tool in dialect.tools)

_texts = words | st.sampled_from(("1", "2", "#3", "Build", "pending", "main"))
_ids = st.integers(1, 6) | st.integers(-1, 99)
_free = st.dictionaries(st.sampled_from(("1", "2", "#3", "x")) | any_text, words | any_json, max_size=3)


def fitting(schema: Schema) -> st.SearchStrategy[Any]:
    """Values that the schema takes."""
    kinds = schema.get("type")
    if kinds is None:
        return any_json
    return st.one_of([_fitting(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def near(schema: Schema) -> st.SearchStrategy[Any]:
    """Values that the schema takes, or nearly."""
    kinds = schema.get("type", "null")
    choices = [_near(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return st.one_of([*choices, *choices, *choices, any_json])


def inner(schema: Schema) -> Iterator[Schema]:
    """A schema and every schema inside it."""
    yield schema
    further = schema.get("additionalProperties")
    beneath = [
        *schema.get("properties", {}).values(),
        schema.get("items"),
        further if further not in (True, False) else None,
    ]
    for each in beneath:
        if each is not None:
            yield from inner(each)


def _fitting(kind: str, schema: Schema) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if kind == "string":
        least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
        return _texts.filter(lambda text: least <= len(text) <= most)
    if kind == "array":
        most = min(schema.get("maxItems", 5), 5)
        return st.lists(fitting(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=most)
    if kind == "object":
        return _object(schema, {name: fitting(each) for name, each in schema.get("properties", {}).items()})
    return {"integer": _ids, "boolean": st.booleans()}[kind]


def _object(schema: Schema, values: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    if not values:
        return _free if schema.get("additionalProperties", True) is not False else st.just({})
    required = {name: value for name, value in values.items() if name in schema.get("required", ())}
    return st.fixed_dictionaries(
        required, optional={name: value for name, value in values.items() if name not in required}
    )


def _near(kind: str, schema: Schema) -> st.SearchStrategy[Any]:
    if kind == "string":
        most = schema.get("maxLength", 50)
        edges = st.sampled_from(("", "x", "x" * most, "x" * (most + 1)))
        return edges | st.sampled_from(schema.get("enum", ("pending",))) | words
    if kind == "array":
        entries = st.lists(near(schema.get("items", {})), max_size=4)
        most = schema.get("maxItems", 8)
        return entries | fitting(schema.get("items", {})).map(lambda entry: [entry] * (most + 1))
    if kind == "object":
        values = {name: near(each) for name, each in schema.get("properties", {}).items()}
        further = st.dictionaries(any_text, any_json, max_size=1)
        whole = _object(schema, values)
        partial = st.fixed_dictionaries({}, optional=values)
        return st.builds(lambda one, two: {**two, **one}, whole | partial, st.just({}) | further)
    return st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)

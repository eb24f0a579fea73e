"""What OpenAI, Anthropic and Gemini take as the definition of a tool, each as a validator of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from punchlist.dialects import PATHS, Tool, load
from punchlist.dialects.native import PLAN

# The fields of Gemini's `Schema` message, which is a part of OpenAPI's.
GEMINI = frozenset(
    [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "maxItems",
        "minItems",
        "properties",
        "propertyOrdering",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "pattern",
        "example",
        "default",
        "anyOf",
    ]
)
COMBINED = ("oneOf", "anyOf", "allOf", "not", "enum")
EVERY = [pytest.param(tool, id=f"{name}: {tool.name}") for name in PATHS for tool in load(name).tools]


def schemas(schema: Any, path: str = "parameters") -> Iterator[tuple[str, Any]]:
    """A schema and all that are inside it, each with its path."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from schemas(inner, f"{path}.{name}")
    if "items" in schema:
        yield from schemas(schema["items"], f"{path}[]")


def openai_problems(tool: Tool) -> list[str]:
    """As a function that is not strict."""
    found = [] if re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name) else ["name"]
    if tool.schema.get("type") != "object" or any(word in tool.schema for word in COMBINED):
        found.append("parameters must be an object, not combined from others")
    return found + [
        f"{path} has no items" for path, one in schemas(tool.schema) if _is(one, "array") and "items" not in one
    ]


def anthropic_problems(tool: Tool) -> list[str]:
    found = [] if re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool.name) else ["name"]
    if tool.schema.get("type") != "object" or any(word in tool.schema for word in ("oneOf", "anyOf", "allOf")):
        found.append("input_schema must be an object, not combined from others")
    Draft202012Validator.check_schema(tool.schema)
    return found


def gemini_problems(tool: Tool) -> list[str]:
    found = [] if re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}", tool.name) else ["name"]
    for path, one in schemas(tool.schema):
        found += [f"{path} has {word}" for word in one if word not in GEMINI]
        if not isinstance(one.get("type"), str):
            found.append(f"{path} has no single type")
        if _is(one, "object") and not one.get("properties"):
            found.append(f"{path} is an object without named keys")
        if _is(one, "array") and "items" not in one:
            found.append(f"{path} has no items")
        if not set(one.get("required", ())) <= set(one.get("properties", ())):
            found.append(f"{path} requires what it does not have")
        if "enum" in one and not _is(one, "string"):
            found.append(f"{path} has an enum that is not of strings")
    return found


def _is(schema: Any, kind: str) -> bool:
    kinds = schema.get("type")
    return kind == kinds or (isinstance(kinds, list) and kind in kinds)


def test_plan_is_taken_by_every_provider() -> None:
    assert openai_problems(PLAN) == anthropic_problems(PLAN) == gemini_problems(PLAN) == []


@pytest.mark.parametrize("tool", EVERY)
def test_every_tool_is_taken_by_openai_and_anthropic(tool: Tool) -> None:
    assert openai_problems(tool) == anthropic_problems(tool) == []


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": ["string", "object"], "properties": {"text": {"type": "string"}}}, "no single type"),
        ({"type": "object"}, "without named keys"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}, "additional"),
        ({"anyOf": [{"type": "string"}]}, "no single type"),
        ({"type": "array"}, "no items"),
    ],
)
def test_the_validator_of_gemini_s_form_finds_what_it_refuses(schema: Any, problem: str) -> None:
    tool = PLAN._replace(schema={"type": "object", "properties": {"add": schema}})
    assert [line for line in gemini_problems(tool) if problem in line] != []

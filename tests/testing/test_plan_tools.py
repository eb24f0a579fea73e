"""The plan's tool is found in whatever form tools are offered, and is called in its own dialect."""

from __future__ import annotations

from typing import Any

import pytest

import punchlist
from punchlist.dialects import PATHS
from punchlist.testing.conformance.plan_tools import ListTool, PlanWriter, VerbTool, offered, plan_tool
from punchlist.testing.plain_data import plain

DESK = punchlist.open("memory:")
SCHEMA = DESK.tools("anthropic")[0]["input_schema"]
TODO = {"type": "object", "properties": {"content": {"type": "string"}, "status": {"enum": ["pending", "done"]}}}
SHELL = {"name": "shell", "description": "Run a command."}


class Definition:
    """A tool as an object."""

    def __init__(self, **about: Any) -> None:
        vars(self).update(name="plan", description="Plan.", **about)


class ClassTool:
    """A tool that is described by its class."""

    name = "plan"
    inputs = SCHEMA["properties"]


class SpecTool:
    """A tool that is described by a method."""

    def to_json_schema_spec(self) -> Any:
        return DESK.tools("openai")[0]


@pytest.mark.parametrize("form", ["anthropic", "openai", "mcp"])
def test_the_tool_is_found_in_our_own_forms(form: Any) -> None:
    assert plan_tool([SHELL, *DESK.tools(form)]) == VerbTool("plan", can_pause=True)


@pytest.mark.parametrize(
    "tools",
    [
        [{"type": "function", "name": "plan", "parameters": SCHEMA, "strict": False}],
        [{"function_declarations": [{"name": "plan", "parameters": SCHEMA}]}],
        [Definition(parameters_json_schema=SCHEMA)],
        [Definition(params_json_schema=SCHEMA, on_invoke_tool=len)],
        [Definition(inputs=SCHEMA["properties"])],
        [ClassTool()],
        [SpecTool()],
        {"plan": Definition(inputs=SCHEMA["properties"])},
        {"tools": [{"toolSpec": {"name": "plan", "inputSchema": {"json": SCHEMA}}}]},
    ],
)
def test_the_tool_is_found_in_the_forms_of_others(tools: Any) -> None:
    assert plan_tool(plain(tools)) == VerbTool("plan", can_pause=True)


@pytest.mark.parametrize(
    "todos",
    [
        {"type": "array", "items": TODO},
        {"type": "ARRAY", "items": TODO},
        {"type": "array", "items": {"$ref": "#/$defs/Todo"}},
        {"$ref": "#/$defs/Todos"},
        {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/Todo"}}]},
    ],
)
def test_a_tool_that_is_sent_the_list_is_found_behind_references_and_choices(todos: Any) -> None:
    defs = {"Todo": TODO, "Todos": {"type": "array", "items": {"$ref": "#/$defs/Todo"}}}
    schema = {"type": "object", "properties": {"todos": todos}, "$defs": defs}
    found = plan_tool([SHELL, {"name": "write_todos", "input_schema": schema}])
    assert isinstance(found, ListTool)
    assert (found.name, found.argument, found.words) == ("write_todos", "todos", "content")
    writer = PlanWriter(found, lambda text: 0, {})
    writer.add("Read", "Write")
    assert writer.finish("Read").args == {
        "todos": [{"content": "Read", "status": "done"}, {"content": "Write", "status": "in_progress"}]
    }


@pytest.mark.parametrize(
    "tools", [[], None, "plan", [SHELL], [{"name": "plan"}], [{"name": "note", "parameters": TODO}]]
)
def test_another_tool_is_not_taken_for_the_plan_s(tools: Any) -> None:
    assert plan_tool(tools) is None


def test_a_reference_to_itself_is_not_followed_for_ever() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert plan_tool([{"name": "odd", "parameters": schema}]) is None


def test_the_names_of_tools_are_read_in_their_order() -> None:
    assert [tool.name for tool in offered([SHELL, *DESK.tools("openai")])] == ["shell", "plan"]


@pytest.mark.parametrize("dialect", ["native", "claude-code", "llxprt", "codex", "gemini", "opencode", "gencode"])
def test_a_plan_is_made_and_completed_in_the_dialect_that_was_found(dialect: str) -> None:
    assert dialect in PATHS
    with punchlist.open("memory:", dialect=dialect) as desk:
        tool = plan_tool(desk.tools("anthropic"))
        assert tool is not None
        writer = PlanWriter(tool, lambda text: next(int(item.id) for item in desk.plan.items if item.text == text), {})
        for write, texts in (
            (writer.add, ["Read it"]),
            (writer.add, ["Fix it", "Test it"]),
            (writer.finish, ["Read it", "Fix it"]),
        ):
            call = write(*texts)
            reply = desk.call(call.name, call.args)
            assert not reply.is_error, reply.text
        found = {item.text: item.status for item in desk.plan.items}
        assert found == {"Read it": "completed", "Fix it": "completed", "Test it": "in_progress"}
        before = desk.plan
        for call in writer.malformed():
            assert desk.call(call.name, call.args).is_error, call
        assert desk.plan == before

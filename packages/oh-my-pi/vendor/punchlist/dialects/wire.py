"""Tools as different interfaces want them described."""

from __future__ import annotations

from collections.abc import Callable

from ..core._typing import Any
from . import Tool


def _mcp(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {
            "readOnlyHint": tool.read_only,
            "destructiveHint": False,  # history keeps what was
            "idempotentHint": tool.read_only or tool.idempotent,
            "openWorldHint": False,
        },
        "_meta": {"anthropic/alwaysLoad": not tool.discoverable},
    }


def with_output(tool: Tool) -> dict[str, Any]:
    """The same with the form of what comes beside the text, for clients that ask for it."""
    if tool.output:
        return {**_mcp(tool), "outputSchema": tool.output}
    return _mcp(tool)


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


def _openai(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    }


_OWN = ("prompt", "summary", "fill", "ids", "pauses", "full")  # what only our own code can use


def _full(tool: Tool) -> dict[str, Any]:
    """Every property, for whoever builds an agent."""
    said = {name: value for name, value in tool._asdict().items() if name not in _OWN}
    return {**said, "examples": list(tool.examples), "summary": tool.short, "description": tool.description}


WRITERS: dict[str, Callable[[Tool], dict[str, Any]]] = {
    "mcp": _mcp,
    "anthropic": _anthropic,
    "openai": _openai,
    "full": _full,
}

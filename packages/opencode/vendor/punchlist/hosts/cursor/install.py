"""What Cursor reads: https://cursor.com/docs/hooks and https://cursor.com/docs/mcp. Not run here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...install.parts import NAME, PROJECT, SECONDS, STOP_SECONDS, Part, Where, hook_command

TITLE = "Cursor"
PROGRAM = "cursor"
CANNOT = (
    "is supported by its documentation, and was not run here; what a hook says at a prompt does not reach its model, "
    "and it does not tell a hook what the agent said last."
)
NEXT = "in Cursor, look under Settings, Hooks and Settings, MCP whether both are listed."
_EVENTS = ("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure")
_LOOPS = 5  # messages in a row that a hook may have sent


def home(where: Where) -> str:
    return os.path.join(where.home, ".cursor")


def parts(where: Where) -> tuple[Part, ...]:
    folder = home(where)
    if where.scope == PROJECT:
        folder = os.path.join(where.project, ".cursor")
    server = {"command": where.script, "args": ["mcp"]}
    command = hook_command(where.starter("cursor"), "cursor")
    hooks: dict[str, Any] = {event: {"command": command, "timeout": SECONDS} for event in _EVENTS}
    hooks["stop"] = {"command": command, "timeout": STOP_SECONDS, "loop_limit": _LOOPS}
    return (
        Part("server", "entry", (os.path.join(folder, "mcp.json"),), ("mcpServers", NAME), server),
        Part("hooks", "flat-hooks", (os.path.join(folder, "hooks.json"),), ("hooks",), hooks),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    return []

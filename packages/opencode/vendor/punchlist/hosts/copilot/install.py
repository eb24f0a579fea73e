"""What GitHub Copilot CLI and VS Code read: https://docs.github.com/copilot/reference/hooks-reference. Not run here."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...install.parts import NAME, PROJECT, SECONDS, STOP_SECONDS, Part, Where, hook_command

TITLE = "GitHub Copilot"
PROGRAM = "copilot"
CANNOT = (
    "is supported by its documentation, and was not run here; what a hook says at a prompt does not reach its model, "
    "and it tells a hook neither exit codes nor what the agent said last."
)
NEXT = "in VS Code, register the server as well: https://code.visualstudio.com/docs/copilot/chat/mcp-servers."
# Nothing before a tool: Copilot CLI refuses the tool if a hook there fails.
_EVENTS = {
    "SessionStart": SECONDS,
    "UserPromptSubmit": SECONDS,
    "PostToolUse": SECONDS,
    "PostToolUseFailure": SECONDS,
    "Stop": STOP_SECONDS,
}


def home(where: Where) -> str:
    return where.folder("COPILOT_HOME", ".copilot")


def parts(where: Where) -> tuple[Part, ...]:
    if where.scope == PROJECT:
        server = Part(
            "server",
            "entry",
            (os.path.join(where.project, ".vscode", "mcp.json"),),
            ("servers", NAME),
            {"type": "stdio", "command": where.script, "args": ["mcp"]},
        )
        folder = os.path.join(where.project, ".github")
    else:
        server = Part(
            "server",
            "entry",
            (os.path.join(home(where), "mcp-config.json"),),
            ("mcpServers", NAME),
            {"type": "local", "command": where.script, "args": ["mcp"], "tools": ["*"]},
        )
        folder = home(where)
    return server, Part("hooks", "file", (os.path.join(folder, "hooks", f"{NAME}.json"),), value=_hooks)


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    return []


def _hooks(script: str) -> str:
    command = hook_command(script, "copilot")
    hooks = {event: [{"type": "command", "command": command, "timeout": limit}] for event, limit in _EVENTS.items()}
    return json.dumps({"version": 1, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"

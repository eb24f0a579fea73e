"""What Claude Code reads: https://code.claude.com/docs/en/settings"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .parts import NAME, PROJECT, USER, Part, Where, group, hook_command

TITLE = "Claude Code"
PROGRAM = "claude"
CANNOT = "sends an agent on at most 8 times in a row without a tool call between (CLAUDE_CODE_STOP_HOOK_BLOCK_CAP)."
NEXT = ""
PERMISSION = f"mcp__{NAME}"

_SECONDS = 10
_EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": f"mcp__{NAME}__.*",  # whose call it is; every other tool is left alone
    "PostToolUse": "",
    "PostToolUseFailure": "",
    "Stop": "",
}


def home(where: Where) -> str:
    return where.folder("CLAUDE_CONFIG_DIR", ".claude")


def parts(where: Where) -> tuple[Part, ...]:
    servers, settings = _files(where)
    command = hook_command(where.script, "claude-code")
    hooks = {event: group(command, _SECONDS, matcher) for event, matcher in _EVENTS.items()}
    server = {"type": "stdio", "command": where.script, "args": ["mcp"]}
    return (
        Part("server", "entry", servers, ("mcpServers", NAME), server),
        Part("hooks", "hooks", settings, ("hooks",), hooks),
        Part("permission", "element", settings, ("permissions", "allow"), PERMISSION),
        *([Part("status-line", "line", settings, ("statusLine",))] if where.scope == USER else []),
    )


def worries(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    from . import content
    from .edit_json import read

    settings = _files(where)[1][0]
    said = read(content(settings))
    denied = (said.get("permissions") or {}).get("deny") or []
    found = []
    if said.get("disableAllHooks"):
        found.append((f"hooks are switched off: disableAllHooks in {settings}", "set it to false"))
    if any(str(rule).startswith(PERMISSION) for rule in denied):
        found.append((f"the tool is denied: permissions.deny in {settings}", f"take {PERMISSION} out of it"))
    if "server" in there and "permission" not in there and where.scope == USER:
        found.append(("Claude Code asks before every call of the tool", "punchlist install claude-code"))
    return found


def _files(where: Where) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where servers are registered, and where everything else is set."""
    if where.scope == PROJECT:
        return (os.path.join(where.project, ".mcp.json"),), (os.path.join(where.project, ".claude", "settings.json"),)
    moved = where.environ.get("CLAUDE_CONFIG_DIR")
    servers = os.path.join(home(where) if moved else where.home, ".claude.json")
    return (os.path.join(home(where), ".config.json"), servers), (os.path.join(home(where), "settings.json"),)

"""What Goose reads: its config.yaml, and plugins in `~/.agents` or a project's `.agents`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ... import __version__
from ...install.parts import NAME, PROJECT, Part, StopHook, Where, group, hook_command

TITLE = "Goose"
PROGRAM = "goose"
CANNOT = (
    "passes on a hook's text only if it ends a turn or refuses a tool: no reminders, updates or restored plan by hook; "
    "versions before 1.52 only let hooks watch."
)
NEXT = ""

STOP = StopHook()
_EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PostToolUse": "",
    "PostToolUseFailure": "",
    "Stop": "",
}


def home(where: Where) -> str:
    if where.environ.get("GOOSE_PATH_ROOT"):
        return os.path.join(where.folder("GOOSE_PATH_ROOT", ""), "config")
    return os.path.join(where.folder("XDG_CONFIG_HOME", ".config"), "goose")


def parts(where: Where) -> tuple[Part, ...]:
    """Goose has no settings of a project: a server can be attached for the user only."""
    root = where.home
    if where.scope == PROJECT:
        root = where.project
    plugin = os.path.join(root, ".agents", "plugins", NAME)
    return (
        *([_server(where)] if where.scope != PROJECT else []),
        Part("hooks", "file", (os.path.join(plugin, "plugin.json"),), value=_about),
        Part("hooks", "file", (os.path.join(plugin, "hooks", "hooks.json"),), value=_hooks),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    server = there.get("server") or {}
    if server.get("enabled") is False:
        return [("the server is switched off", "set enabled to true for punchlist in its settings")]
    return []


def _server(where: Where) -> Part:
    entry = {
        "enabled": True,
        "type": "stdio",
        "name": NAME,
        "description": "The plan the agent works from",
        "cmd": where.script,
        "args": ["mcp"],
        "timeout": 30,
    }
    config = (os.path.join(home(where), "config.yaml"),)
    plugin = os.path.join(where.home, ".agents", "plugins", NAME)
    return Part("server", "entry", config, ("extensions", NAME), entry, trace=("plugins", plugin))


def _about(script: str) -> str:
    return _written({"name": NAME, "version": __version__, "description": "The plan the agent works from"})


def _hooks(script: str) -> str:
    command = hook_command(script, "goose")
    return _written(
        {"hooks": {event: [group(command, STOP.limit(event), matcher)] for event, matcher in _EVENTS.items()}}
    )


def _written(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

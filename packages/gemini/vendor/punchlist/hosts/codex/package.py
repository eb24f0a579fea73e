"""The plugin of Codex. A `plugin.json` at its root would keep Codex from running its hooks."""

from __future__ import annotations

from typing import Any

from ...install.package import PROGRAM, SUMMARY, TITLE, Files, commit_hook_of, document, hook_of, manifest
from ...install.parts import NAME, group
from . import install

FOLDER = NAME
INSTALL = """\
Codex: `codex plugin marketplace add ADDRESS`, then `codex plugin add punchlist@punchlist`; trust its hooks: `/hooks`.
ADDRESS is a folder or repository with this one in it."""
# What is in a repository gets fetched first; a folder is read again by `add`.
UPDATE = {".codex": f"codex plugin marketplace upgrade && codex plugin add {NAME}@{NAME}"}
_ROOT = "PLUGIN_ROOT"
_CATEGORY = "Developer Tools"


def files() -> Files:
    """Return what the plugin has for Codex."""
    about = {
        "displayName": TITLE,
        "shortDescription": SUMMARY,
        "developerName": TITLE,
        "category": _CATEGORY,
        "capabilities": ["Interactive", "Write"],
        "defaultPrompt": ["Make a plan for this, and work through it."],
    }
    # A command is looked for in the directory of the server, which is that of the project unless it is named.
    server = {"command": f"./{PROGRAM}", "args": ["mcp", "--plugin"], "cwd": ".", **install.SERVER}
    return {
        ".codex-plugin/plugin.json": document(
            manifest(hooks="./hooks/codex.json", mcpServers="./codex.mcp.json", interface=about)
        ),
        "codex.mcp.json": document({"mcpServers": {NAME: server}}),
        "hooks/codex.json": document({"hooks": _hooks()}),
    }


def _hooks() -> dict[str, Any]:
    command = hook_of(_ROOT, "codex")
    found = {event: [group(command, install.STOP.limit(event), matcher)] for event, matcher in install.EVENTS.items()}
    found["PreToolUse"].append(group(commit_hook_of(_ROOT, "codex"), install.STOP.limit("PreToolUse"), install.SHELL))
    return found


def marketplace(source: str) -> Files:
    """Return the file by which Codex finds the plugin in a folder of a repository."""
    entry = {
        "name": NAME,
        "source": {"source": "local", "path": source},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": _CATEGORY,
    }
    known = {"name": NAME, "interface": {"displayName": TITLE}, "plugins": [entry]}
    return {".agents/plugins/marketplace.json": document(known)}

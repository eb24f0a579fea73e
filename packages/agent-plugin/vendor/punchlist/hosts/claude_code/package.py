"""The plugin of Claude Code: https://code.claude.com/docs/en/plugins-reference"""

from __future__ import annotations

import os
from typing import Any

from ...install.package import PROGRAM, SUMMARY, File, Files, document, folder_file, found, hook_of, manifest
from ...install.parts import NAME
from .. import PLUGIN
from . import hooks

FOLDER = NAME
INSTALL = "Claude Code: `claude plugin marketplace add ADDRESS`, then `claude plugin install punchlist@punchlist`."
UPDATE = {".claude": f"claude plugin update {NAME}@{NAME}"}
_ROOT = "CLAUDE_PLUGIN_ROOT"
_MOD = os.path.join(os.path.dirname(__file__), "mod")  # the panel in its screen


def files() -> Files:
    """Return what the plugin has for Claude Code."""
    server = {"command": f"${{{_ROOT}}}/{PROGRAM}", "args": ["mcp", "--plugin"]}
    return {
        ".claude-plugin/plugin.json": document(
            manifest(icon="./icon.png", types="./types/index.d.ts", mcpServers={NAME: server})
        ),
        "hooks/hooks.json": document({"description": SUMMARY, "hooks": _hooks(), "modules": ["./pane.tsx"]}),
        **{path: File(folder_file(_MOD, path)) for path in found(_MOD)},
    }


def _hooks() -> dict[str, Any]:
    """A process at the start of a session, when the server is not there yet; the server answers all other events."""
    found = hooks.process_hooks(hook_of(_ROOT, "claude-code"))
    found |= hooks.served_hooks(hooks.PLUGIN, {PLUGIN: "yes"})
    listed = hooks.with_commands(found)
    return {event: one if isinstance(one, list) else [one] for event, one in listed.items()}


def marketplace(source: str) -> Files:
    """Return the file by which Claude Code finds the plugin in a folder of a repository."""
    entry = manifest(source=source)
    return {
        ".claude-plugin/marketplace.json": document(
            {"name": NAME, "description": SUMMARY, "owner": entry["author"], "plugins": [entry]}
        )
    }

"""The plugin of Claude Code: https://code.claude.com/docs/en/plugins-reference"""

from __future__ import annotations

import os
from typing import Any

from ...install import look_into
from ...install.package import PROGRAM, SUMMARY, File, Files, document, folder_file, found, hook_of, manifest
from ...install.parts import NAME, Where, as_dict, within
from .. import PLUGIN
from . import hooks
from .install import FIRST, home, version

FOLDER = NAME
INSTALL = "Claude Code: `claude plugin marketplace add ADDRESS`, then `claude plugin install punchlist@punchlist`."
_ID = f"{NAME}@{NAME}"
ADD = (("plugin", "marketplace", "add", "@FOLDER@"), ("plugin", "install", _ID))
REMOVE = (("plugin", "uninstall", _ID), ("plugin", "marketplace", "remove", NAME))
ENABLE = f"claude plugin enable {_ID}"
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
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


def why_not(where: Where) -> str:
    """Return why the program cannot run the plugin; empty if it can, or if its version is not known."""
    if () < version(where) < FIRST:
        return "this version of Claude Code has no hooks that a server answers"
    return ""


def changed_by_agent(where: Where) -> tuple[str, ...]:
    """Return the files of the user that its commands for plugins change."""
    return (os.path.join(home(where), "settings.json"),)


def left_by_agent(where: Where) -> tuple[str, ...]:
    """Return what Claude Code keeps of a plugin that it has removed: its folder, for some days; and for a while, in a
    cache that it can do without, that a server of it did not start, and is not to be started again."""
    failed = os.path.join(home(where), "mcp-needs-auth-cache.json")
    left = [os.path.join(home(where), "plugins", "cache", NAME)]
    if hooks.PLUGIN in look_into(failed):
        left.append(failed)
    return tuple(left)


def source(where: Where) -> str:
    """Return where Claude Code takes plugins of our name from; empty if from nowhere."""
    known = look_into(home(where), "plugins", "known_marketplaces.json").get(NAME)
    known = known or within(look_into(home(where), "settings.json"), "extraKnownMarketplaces", NAME)
    found = as_dict(as_dict(known).get("source"))
    return str(found.get("path") or found.get("url") or found.get("repo") or "")


def installed(where: Where) -> str:
    """Return the version of our plugin that Claude Code has; empty if there is none, or another's with our name."""
    folder = copy(where)
    if os.path.isdir(folder) and not os.path.exists(os.path.join(folder, PROGRAM)):
        return ""
    return str(_entry(where).get("version") or "")


def is_enabled(where: Where) -> bool:
    """Return whether Claude Code uses our plugin."""
    settings = look_into(home(where), "settings.json")
    return bool(installed(where)) and within(settings, "enabledPlugins", _ID) is True


def traces(where: Where) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the files in which Claude Code writes about our plugin, and where in them."""
    [settings] = changed_by_agent(where)
    plugins = os.path.join(home(where), "plugins")
    return (
        (settings, ("enabledPlugins", _ID)),
        (settings, ("extraKnownMarketplaces", NAME)),
        (os.path.join(plugins, "installed_plugins.json"), ("plugins", _ID)),
        (os.path.join(plugins, "known_marketplaces.json"), (NAME,)),
    )


def copy(where: Where) -> str:
    """Return the folder with Claude Code's own copy of the plugin; empty if it names none."""
    return str(_entry(where).get("installPath") or "")


def _entry(where: Where) -> dict[str, Any]:
    entries = within(look_into(home(where), "plugins", "installed_plugins.json"), "plugins", _ID)
    if not isinstance(entries, list) or not entries:
        return {}
    return as_dict(entries[0])

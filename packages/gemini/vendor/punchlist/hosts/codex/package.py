"""The plugin of Codex. A `plugin.json` at its root would keep Codex from running its hooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...install import look_into
from ...install.package import PROGRAM, SUMMARY, TITLE, Files, commit_hook_of, document, hook_of, manifest
from ...install.parts import NAME, Where, group, within
from . import install

FOLDER = NAME
INSTALL = """\
Codex: `codex plugin marketplace add ADDRESS`, then `codex plugin add punchlist@punchlist`; trust its hooks: `/hooks`.
ADDRESS is a folder or repository with this one in it."""
_ID = f"{NAME}@{NAME}"
ADD = (("plugin", "marketplace", "add", "@FOLDER@"), ("plugin", "add", _ID))
REMOVE = (("plugin", "remove", _ID), ("plugin", "marketplace", "remove", NAME))
ENABLE = f'enabled = true under [plugins."{_ID}"] in its config.toml'
QUIET: Mapping[str, str] = {}
# What is in a repository gets fetched first; a folder is read again by `add`.
UPDATE = {".codex": f"codex plugin marketplace upgrade && codex plugin add {NAME}@{NAME}"}
_ROOT = "PLUGIN_ROOT"
_HOOKS = "hooks/codex.json"
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
            manifest(hooks=f"./{_HOOKS}", mcpServers="./codex.mcp.json", interface=about)
        ),
        "codex.mcp.json": document({"mcpServers": {NAME: server}}),
        _HOOKS: document({"hooks": _hooks()}),
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


def why_not(where: Where) -> str:
    """Return why the program cannot run the plugin: it can, as far as its version is known without starting it."""
    return ""


def problems(where: Where) -> list[tuple[str, str]]:
    """Return what keeps the plugin from working, and how to fix it."""
    hooks = _hooks()
    ours = [
        (event, number, place)
        for event, groups in hooks.items()
        for number, one in enumerate(groups)
        for place in range(len(one["hooks"]))
    ]
    return install.hook_problems(hooks, ours, {f"{_ID}:{_HOOKS}"}, look_into(install.home(where), "config.toml"))


def changed_by_agent(where: Where) -> tuple[str, ...]:
    """Return the file of the user that its commands for plugins change."""
    return (os.path.join(install.home(where), "config.toml"),)


def left_by_agent(where: Where) -> tuple[str, ...]:
    """Return the folder of the plugin, which Codex leaves empty."""
    return (os.path.join(install.home(where), "plugins", "cache", NAME),)


def source(where: Where) -> str:
    """Return where Codex takes plugins of our name from; empty if from nowhere."""
    return str(within(look_into(install.home(where), "config.toml"), "marketplaces", NAME, "source") or "")


def installed(where: Where) -> str:
    """Return the version of our plugin that Codex has; empty if there is none, or another's with our name."""
    folder = copy(where)
    if within(look_into(install.home(where), "config.toml"), "plugins", _ID) is None:
        return ""
    if folder and not os.path.exists(os.path.join(folder, PROGRAM)):
        return ""
    return os.path.basename(folder) or "unknown"


def is_enabled(where: Where) -> bool:
    """Return whether Codex uses our plugin."""
    config = look_into(install.home(where), "config.toml")
    return bool(installed(where)) and within(config, "plugins", _ID, "enabled") is True


def traces(where: Where) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the file in which Codex writes about our plugin, and where in it."""
    [config] = changed_by_agent(where)
    return ((config, ("plugins", _ID)), (config, ("marketplaces", NAME)))


def copy(where: Where) -> str:
    """Return the folder with Codex's own copy of the plugin, which it names by the version; empty if there is none."""
    folder = os.path.join(install.home(where), "plugins", "cache", NAME, NAME)
    try:
        versions = sorted(os.listdir(folder))
    except OSError:
        return ""
    return os.path.join(folder, versions[-1]) if versions else ""

"""The plugin of oh-my-pi: extensions that it loads, and the server in `mcp.json`."""

from __future__ import annotations

import os
from typing import Any

from ...core.errors import Refused
from ...install.package import PROGRAM, Files, document, manifest, module_of
from ...install.parts import NAME, Where, as_dict, within
from . import install

FOLDER = "oh-my-pi"
INSTALL = "oh-my-pi: `omp plugin link FOLDER`, with the path of this one."
PACKAGE = "punchlist-oh-my-pi"
_HERE = os.path.dirname(__file__)


def files() -> Files:
    """Return what the plugin has for oh-my-pi."""
    server = {"type": "stdio", "command": f"./{PROGRAM}", "args": ["mcp", "--plugin"]}
    about = manifest(name=PACKAGE, type="module", omp={"extensions": ["./hooks.ts", "./panel.js"]})
    return {
        "package.json": document(about),
        "mcp.json": document({"mcpServers": {NAME: server}}),
        "hooks.ts": module_of(_HERE, "plugin.ts"),
        "panel.js": module_of(_HERE, "panel.js"),
    }


def installed(where: Where) -> str:
    """Return the version of our plugin that oh-my-pi has and has enabled; empty if there is none."""
    moved = os.path.join(where.folder("XDG_DATA_HOME", ".local/share"), "omp")  # by `omp config init-xdg`
    known = [
        _known(os.path.join(folder, "plugins", "omp-plugins.lock.json")) for folder in (install.root(where), moved)
    ]
    return next((str(one.get("version") or "unknown") for one in known if one.get("enabled") is True), "")


def _known(file: str) -> dict[str, Any]:
    """What oh-my-pi keeps of our plugin in its list of plugins."""
    from ...install import content
    from ...install.edit_json import read

    try:
        return as_dict(within(read(content(file)), "plugins", PACKAGE))
    except (Refused, OSError):
        return {}

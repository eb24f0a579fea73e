"""The plugin of oh-my-pi: extensions that it loads, and the server in `mcp.json`."""

from __future__ import annotations

import os

from ...install import look_into
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
    lists = [look_into(folder, "plugins", "omp-plugins.lock.json") for folder in (install.root(where), moved)]
    known = [as_dict(within(one, "plugins", PACKAGE)) for one in lists]
    return next((str(one.get("version") or "unknown") for one in known if one.get("enabled") is True), "")

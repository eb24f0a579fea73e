"""What opencode reads: https://opencode.ai/docs/config"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from ...install.parts import NAME, PROJECT, Part, Where, plugin

TITLE = "opencode"
PROGRAM = "opencode"
CANNOT = "ends a plain `opencode run` before the agent can be nudged; its terminal and `opencode serve` go on."
NEXT = ""


def home(where: Where) -> str:
    return os.path.join(where.folder("XDG_CONFIG_HOME", ".config"), "opencode")


def parts(where: Where) -> tuple[Part, ...]:
    settings = where.project if where.scope == PROJECT else home(where)
    if where.scope == PROJECT:
        folder = os.path.join(where.project, ".opencode")
    else:
        folder = home(where)
    files = tuple(os.path.join(settings, name) for name in ("opencode.jsonc", "opencode.json"))
    server = {"type": "local", "command": [where.script, "mcp"], "enabled": True}
    here = os.path.dirname(__file__)
    file = os.path.join(folder, "plugins", f"{NAME}.js")
    panel = os.path.join(folder, NAME, "panel.js")  # in `plugins` it would be loaded as one
    screen = tuple(os.path.join(folder, name) for name in ("tui.json", "tui.jsonc"))
    return (
        Part("server", "entry", files, ("mcp", NAME), server),
        Part("plugin", "file", (file,), value=partial(plugin, here, "plugin.js")),
        Part("panel", "file", (panel,), value=partial(plugin, here, "panel.js")),
        Part("panel", "element", screen, ("plugin",), f"./{NAME}/panel.js"),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    server = there.get("server") or {}
    if server.get("enabled") is False:
        return [("the server is switched off", "set enabled to true for punchlist in its settings")]
    return []

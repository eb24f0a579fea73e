"""What oh-my-pi reads: its agent folder, or `.omp` in a project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from ...install.parts import NAME, PROJECT, Part, Where, plugin

TITLE = "oh-my-pi"
PROGRAM = "omp"
CANNOT = "shows tools of servers as devices (xd://), unless its config.yml says `xdev: false` under `tools:`."
NEXT = ""


def home(where: Where) -> str:
    folder = os.path.join(root(where), "agent")
    if _profile(where):
        return folder
    return where.folder("PI_CODING_AGENT_DIR", folder)


def root(where: Where) -> str:
    """The folder of all that it keeps for a user, or for one profile."""
    folder = os.path.join(where.home, where.environ.get("PI_CONFIG_DIR") or ".omp")
    if _profile(where):
        return os.path.join(folder, "profiles", _profile(where))
    return folder


def _profile(where: Where) -> str:
    return where.environ.get("OMP_PROFILE", where.environ.get("PI_PROFILE", ""))


def parts(where: Where) -> tuple[Part, ...]:
    if where.scope == PROJECT:
        folder = os.path.join(where.project, ".omp")
    else:
        folder = home(where)
    server = {"type": "stdio", "command": where.script, "args": ["mcp"]}
    here = os.path.dirname(__file__)
    file = os.path.join(folder, "extensions", f"{NAME}.ts")
    panel = os.path.join(folder, "extensions", f"{NAME}-panel.js")
    return (
        Part("server", "entry", (os.path.join(folder, "mcp.json"),), ("mcpServers", NAME), server),
        Part("plugin", "file", (file,), value=partial(plugin, here, "plugin.ts")),
        Part("panel", "file", (panel,), value=partial(plugin, here, "panel.js")),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    return []

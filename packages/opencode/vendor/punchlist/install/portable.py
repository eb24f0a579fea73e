"""Packages that are not one agent's: Agent Plugins 1.0, a skill, the entry in the MCP registry, an MCP bundle."""

from __future__ import annotations

import zipfile
from io import BytesIO

from .. import __version__
from ..dialects import load
from ..local.settings import DEFAULT_DIALECT
from .package import (
    AUTHOR,
    KEYWORDS,
    LICENSE,
    PROGRAM,
    SUMMARY,
    TITLE,
    File,
    Files,
    carried,
    described,
    document,
    manifest,
    template,
)
from .parts import NAME

REGISTRY_NAME = f"io.github.{NAME}/{NAME}"  # the same as in the README, where the registry looks for it
BUNDLE = f"{NAME}.mcpb"
_SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
_INSTALL = "Any agent that reads Agent Plugins 1.0 (agent-plugins.org): install this folder as a plugin."
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of files in a bundle: the same ones make the same bundle


def agent_plugin() -> Files:
    """Return a plugin in the form that several agents share. It has no hooks, and only a server and a skill."""
    server = {"type": "stdio", "command": f"./{PROGRAM}", "args": ["mcp", "--plugin"]}
    servers = {"$schema": f"{_SCHEMAS}/mcp.schema.json", "mcpServers": {NAME: server}}
    return {
        **carried(),
        "README.md": described(_INSTALL),
        "plugin.json": document({"$schema": f"{_SCHEMAS}/plugin.schema.json", **manifest()}),
        "mcp.json": document(servers),
        f"skills/{NAME}/SKILL.md": skill(),
    }


def skill() -> File:
    """Return what an agent reads that has skills."""
    return File(template("SKILL.md.in"))


def registry_entry() -> File:
    """Return the entry of the MCP registry, which names the release on PyPI."""
    package = {
        "registryType": "pypi",
        "identifier": NAME,
        "version": __version__,
        "transport": {"type": "stdio"},
        "runtimeHint": "uvx",
        "packageArguments": [{"type": "positional", "value": "mcp"}],
    }
    return document(
        {
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": REGISTRY_NAME,
            "title": TITLE,
            "description": SUMMARY,
            "version": __version__,
            "packages": [package],
        }
    )


def bundle_manifest() -> File:
    """Return the manifest of an MCP bundle, which programs with a window install by a double click."""
    start = "bin/start.py"
    command = {"command": "uv", "args": ["run", "--directory", "${__dirname}", start, "mcp"]}
    tools = [{"name": tool.name, "description": tool.description} for tool in load(DEFAULT_DIALECT).tools]
    return document(
        {
            "manifest_version": "0.4",
            "name": NAME,
            "display_name": TITLE,
            "version": __version__,
            "description": SUMMARY,
            "author": dict(AUTHOR),
            "license": LICENSE,
            "keywords": list(KEYWORDS),
            "icon": "icon.png",
            "server": {"type": "uv", "entry_point": start, "mcp_config": command},
            "tools": tools,
            "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": ">=3.11"}},
        }
    )


def bundle(license: bytes) -> bytes:
    """Return an MCP bundle: a ZIP archive."""
    files = {
        **carried(),
        "manifest.json": bundle_manifest(),
        "icon.png": File(template("icon.png")),
        "LICENSE": File(license),
    }
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            about = zipfile.ZipInfo(path, _EPOCH)
            about.external_attr = files[path].mode << 16
            archive.writestr(about, files[path].data, zipfile.ZIP_DEFLATED)
    return whole.getvalue()

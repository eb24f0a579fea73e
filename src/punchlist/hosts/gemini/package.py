"""The extension of Gemini CLI: https://geminicli.com/docs/extensions/reference"""

from __future__ import annotations

from typing import Any

from ... import __version__
from ...install import look_into
from ...install.package import PROGRAM, SUMMARY, Files, commit_hook_of, document, hook_of
from ...install.parts import NAME, Where, group
from . import install

FOLDER = "gemini"
INSTALL = "Gemini CLI: `gemini extensions install FOLDER`, with the path of this one."
UPDATE = {".gemini": f"gemini extensions update {NAME}"}
ARCHIVES = tuple(f"{system}.{NAME}.tar.gz" for system in ("darwin", "linux"))  # the names it looks for in a release
_ROOT = "extensionPath"


def files() -> Files:
    """Return what the extension has for Gemini CLI."""
    server = {"command": f"${{{_ROOT}}}/{PROGRAM}", "args": ["mcp", "--plugin"]}
    about = {"name": NAME, "version": __version__, "description": SUMMARY, "mcpServers": {NAME: server}}
    return {"gemini-extension.json": document(about), "hooks/hooks.json": document({"hooks": _hooks()})}


def _hooks() -> dict[str, Any]:
    command = hook_of(_ROOT, "gemini")
    limit = install.STOP.limit
    found = {event: [group(command, limit(event), matcher, name=NAME)] for event, matcher in install.EVENTS.items()}
    commits = commit_hook_of(_ROOT, "gemini")
    found["BeforeTool"].append(group(commits, limit("BeforeTool"), install.SHELL, name=NAME))
    return found


def installed(where: Where) -> str:
    """Return the version of our extension that Gemini CLI has; empty if there is none."""
    about = look_into(install.home(where), "extensions", NAME, "gemini-extension.json")
    return str(about.get("version", ""))

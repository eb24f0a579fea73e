"""The plugin of opencode: https://opencode.ai/docs/plugins"""

from __future__ import annotations

import os

from ...install import look_into
from ...install.package import Files, document, manifest, module_of
from ...install.parts import Where, as_list
from .install import home

FOLDER = "opencode"
INSTALL = "opencode: `opencode plugin FOLDER --global`, with the path of this one."
PACKAGE = "punchlist-opencode"
_HERE = os.path.dirname(__file__)


def files() -> Files:
    """Return what the plugin has for opencode: a module for its server and one for its terminal."""
    modules = {"./server": {"import": "./server.js"}, "./tui": {"import": "./tui.js"}}
    about = manifest(name=PACKAGE, type="module", main="./server.js", exports=modules)
    return {
        "package.json": document(about),
        "server.js": module_of(_HERE, "plugin.js"),
        "tui.js": module_of(_HERE, "panel.js"),
    }


def installed(where: Where) -> str:
    """Return the version of our plugin that opencode has; empty if there is none."""
    specs = [spec for name in ("opencode.jsonc", "opencode.json") for spec in _plugins(os.path.join(home(where), name))]
    return next(filter(None, map(_version, specs)), "")


def _plugins(file: str) -> list[str]:
    """The plugins that a settings file names: packages of npm, and folders."""
    entries = as_list(look_into(file).get("plugin"))
    named = [one[0] if isinstance(one, list) and one else one for one in entries]  # some have options behind the name
    return [one for one in named if isinstance(one, str)]


def _version(spec: str) -> str:
    """The version of a plugin that is ours; empty for any other."""
    name, _, version = spec.partition("@")
    if name == PACKAGE:
        return version or "unknown"
    about = look_into(os.path.join(spec.removeprefix("file://"), "package.json"))
    if about.get("name") != PACKAGE:
        return ""
    return str(about.get("version") or "unknown")

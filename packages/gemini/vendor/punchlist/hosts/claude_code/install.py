"""What Claude Code reads: https://code.claude.com/docs/en/settings"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import Any

from ...install import look_into
from ...install.attached import LINE
from ...install.parts import NAME, PROJECT, USER, Part, Where, handlers, hook_command, is_served, within
from .. import hook_secret
from . import HOST
from . import hooks as own_hooks

TITLE = "Claude Code"
PROGRAM = "claude"
CANNOT = "nudges an agent at most 8 times in a row without a tool call between (CLAUDE_CODE_STOP_HOOK_BLOCK_CAP)."
NEXT = ""
HOOKS_BY_SERVER = True  # it has hooks that call a tool of a server
PERMISSION = f"mcp__{NAME}"
STOP = own_hooks.STOP

FIRST, _TESTED = (2, 1, 118), (2, 1, 325)  # versions of Claude Code with hooks that call a tool of a server
_REFRESH = 5  # seconds until the status line shows an edit of yours; a run of it takes a fiftieth of that
_MADE = "made when this is installed"
MANAGED = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")  # where administrators put settings


def home(where: Where) -> str:
    return where.folder("CLAUDE_CONFIG_DIR", ".claude")


def parts(where: Where) -> tuple[Part, ...]:
    servers, settings = _files(where)
    hooks = _hooks(where)
    server = {"type": "stdio", "command": where.script, "args": ["mcp"]}
    return (
        Part("server", "entry", servers, ("mcpServers", NAME), server),
        Part("hooks", "hooks", settings, ("hooks",), hooks),
        Part("permission", "element", settings, ("permissions", "allow"), PERMISSION),
        *(
            [Part(LINE, "line", settings, ("statusLine",), {"refreshInterval": _REFRESH})]
            if where.scope == USER
            else []
        ),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    from ...install import content
    from ...install.edit_json import read

    settings = _files(where)[1][0]
    text = content(settings)
    said = read(text)
    denied = within(said, "permissions", "deny")
    found = []
    if not _is_strict(text):
        words = f"Claude Code does not read {settings}: it has comments, or a comma too many"
        found.append((words, "take them out"))
    if said.get("disableAllHooks"):
        found.append((f"hooks are switched off: disableAllHooks in {settings}", "set it to false"))
    rules = denied if isinstance(denied, list) else ()
    servers = [prefix.removesuffix("__") for prefix in HOST.prefixes]
    refused = [server for server in servers if any(str(rule).startswith(server) for rule in rules)]
    if refused:
        words = f"the tool is denied: permissions.deny in {settings}"
        found.append((words, f"take {' and '.join(refused)} out of it"))
    if ("server" in there or "hooks" in there) and plugins_only():
        words = "this machine is managed: Claude Code takes servers or hooks from plugins only"
        found.append((words, "punchlist install claude-code --via package"))
    if "server" in there and "permission" not in there and where.scope == USER:
        found.append(("Claude Code asks before every call of the tool", "punchlist install claude-code"))
    if "server" not in there and _any_served(there.get("hooks")):
        found.append(("hooks are answered by the server, which is not there", "punchlist install claude-code"))
    if _any_served(there.get("hooks")) and () < version(where) < FIRST:
        words = "this version of Claude Code has no hooks that a server answers"
        found.append((words, "upgrade it; or: punchlist install claude-code --hooks process"))
    if _lacks_secret(there.get("hooks")):
        words = f"the server does not answer hooks: they do not have the secret that is in {hook_secret.path()}"
        found.append((words, "punchlist install claude-code"))
    return found


def _is_strict(text: str) -> bool:
    """Whether a file is JSON as Claude Code reads it."""
    try:
        json.loads(text.removeprefix("\ufeff").strip() or "{}")
    except ValueError:
        return False
    return True


def plugins_only() -> bool:
    """Return whether whoever manages this machine has hooks or servers come from plugins only."""
    return any(_is_locked(file) for folder in MANAGED for file in _documents(folder))


def _documents(folder: str) -> list[str]:
    more = os.path.join(folder, "managed-settings.d")
    try:
        names = sorted(name for name in os.listdir(more) if name.endswith(".json"))
    except OSError:
        names = []
    return [os.path.join(folder, "managed-settings.json"), *(os.path.join(more, name) for name in names)]


def _is_locked(file: str) -> bool:
    locked = look_into(file).get("strictPluginOnlyCustomization")
    return locked is True or (isinstance(locked, list) and ("hooks" in locked or "mcp" in locked))


def prepare(where: Where) -> None:
    """Make what the parts need, before they are installed."""
    if _is_by_server(where):
        hook_secret.make()


def clean_up(where: Where) -> None:
    """Remove what `prepare` made, once the parts are gone."""
    if where.scope == USER:
        hook_secret.drop()


def _hooks(where: Where) -> dict[str, Any]:
    hooks = own_hooks.process_hooks(hook_command(where.starter("claude-code"), "claude-code"))
    if _is_by_server(where):
        hooks |= own_hooks.served_hooks(NAME, {hook_secret.FIELD: hook_secret.stored() or _MADE})
    if not _knows_switch(where):
        del hooks[own_hooks.SWITCH]
    return own_hooks.with_commands(hooks)


def _knows_switch(where: Where) -> bool:
    """Whether there is a hook for an event that not every version knows: if it is there already, or if this version
    knows it; not in a project, whose files others use as well."""
    if where.scope == PROJECT:
        return False
    there = [event for event, _, _ in handlers(_hooks_in(_files(where)[1][0]), "claude-code")]
    return own_hooks.SWITCH in there or version(where) >= _TESTED


def _is_by_server(where: Where) -> bool:
    """Whether the running server answers hooks: as was asked for, else as it is now, else if the program has such ones.
    Not in a project: its files are shared, and would hold the secret."""
    if where.scope == PROJECT:
        return False
    if where.served is not None:
        return where.served
    hooks = _hooks_in(_files(where)[1][0])
    if any(handlers(hooks, "claude-code")):
        return _any_served(hooks)
    return version(where) >= _TESTED


def version(where: Where) -> tuple[int, ...]:
    """Return the version of Claude Code, from where it is installed; empty if that does not tell. It is not started."""
    program = shutil.which(PROGRAM, path=where.environ.get("PATH"))
    if program is None:
        return ()
    path = os.path.realpath(program)
    folder = os.path.dirname(path)
    named = [path, folder]  # its own installer names the program by its version, Homebrew the folder
    texts = [os.path.basename(one) for one in named]
    texts += [str(look_into(one, "package.json").get("version", "")) for one in (folder, os.path.dirname(folder))]
    return next(filter(None, map(_numbers, texts)), ())


def _numbers(version: str) -> tuple[int, ...]:
    numbers = version.split(".")
    if all(number.isdecimal() for number in numbers):
        return tuple(map(int, numbers))
    return ()


def _hooks_in(settings: str) -> Any:
    return look_into(settings).get("hooks")


def _any_served(hooks: Any) -> bool:
    return bool(_all_served(hooks))


def _all_served(hooks: Any) -> list[Any]:
    ours = [hooks[event][number]["hooks"][place] for event, number, place in handlers(hooks, "claude-code")]
    return [one for one in ours if is_served(one, "claude-code")]


def _lacks_secret(hooks: Any) -> bool:
    """Whether there are hooks that the server would not answer."""
    return any(not hook_secret.matches(one["input"].get(hook_secret.FIELD)) for one in _all_served(hooks))


def _files(where: Where) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where servers are registered, and where everything else is set."""
    if where.scope == PROJECT:
        return (os.path.join(where.project, ".mcp.json"),), (os.path.join(where.project, ".claude", "settings.json"),)
    moved = where.environ.get("CLAUDE_CONFIG_DIR")
    servers = os.path.join(home(where) if moved else where.home, ".claude.json")
    return (os.path.join(home(where), ".config.json"), servers), (os.path.join(home(where), "settings.json"),)

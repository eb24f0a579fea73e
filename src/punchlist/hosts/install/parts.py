"""What is installed, as values: each host declares its parts, and how ours are known again among others'."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

NAME = "punchlist"  # what our server, hooks and plugins are called wherever they are registered
USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)


class Where(NamedTuple):
    """For whom something is installed, and where that person's files are."""

    scope: str
    home: str
    project: str  # the directory an agent is started in
    script: str  # the absolute path of our own command
    environ: Mapping[str, str]
    served: bool | None = None  # whether hooks are answered by the running server; if not said, as they are now

    def folder(self, variable: str, default: str) -> str:
        """A directory that an environment variable may move."""
        return os.path.abspath(os.path.expanduser(self.environ.get(variable) or os.path.join(self.home, default)))


class Part(NamedTuple):
    """One thing that is installed in one file."""

    name: str  # server, hooks, permission, status line, plugin
    kind: str  # entry: a key with our name; hooks; element: of a list; line: a status line; file: all of it is ours
    files: tuple[str, ...]  # where it may be: in the one that has it, else the first that exists, else the last
    path: tuple[str, ...] = ()
    value: Any = None


# --- commands --------------------------------------------------------------------------------------------------------


def hook_command(script: str, host: str) -> str:
    """A hook as a shell command that does nothing, without a fault, once its environment is gone."""
    return _guarded(script, f"hook {host}")


def line_command(script: str, host: str, theirs: str = "") -> str:
    """A status line: ours behind the one that was there, which stands alone once our environment is gone."""
    if not theirs:
        return _guarded(script, f"line --host {host}")
    other = shlex.quote(theirs)
    return f"[ -x {shlex.quote(script)} ] && {shlex.quote(script)} line --host {host} --after {other} || sh -c {other}"


def joined_line(command: str) -> str:
    """The status line that ours was put behind; nothing if there was none."""
    words = shlex.split(command)
    return words[-1] if "--after" in words else ""


def _guarded(script: str, words: str) -> str:
    if os.name == "nt":
        return f'"{script}" {words}'
    return f"[ -x {shlex.quote(script)} ] && {shlex.quote(script)} {words} || :"


# --- known again -----------------------------------------------------------------------------------------------------


def is_server(entry: Any) -> bool:
    """Whether a registered server is ours, from whatever environment."""
    words = command_of(entry)
    return any(os.path.basename(word).startswith(NAME) for word in words) and "mcp" in words


def command_of(entry: Any) -> list[str]:
    """The words of a registered server's command, however its host writes them."""
    if not isinstance(entry, dict):
        return []
    command, args = entry.get("command", entry.get("cmd")), entry.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else [])]
    return [word for word in words if isinstance(word, str)]


def is_hook(handler: Any, host: str) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return is_served(handler, host) or (isinstance(command, str) and _says(command, f"hook {host}"))


def is_served(handler: Any, host: str) -> bool:
    """Whether a hook is one that our running server answers."""
    given = handler.get("input") if isinstance(handler, dict) and handler.get("server") == NAME else None
    return isinstance(given, dict) and given.get("host") == host


def is_line(entry: Any, host: str) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and _says(command, f"line --host {host}")


def _says(command: str, words: str) -> bool:
    return re.search(rf"{NAME}(?:\.exe)?['\"]* {re.escape(words)}(?![\w-])", command) is not None


def script_of(command: str) -> str:
    """The script that a hook's command or a status line runs; nothing if that cannot be read."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words if os.path.basename(word).startswith(NAME)), "")


def handlers(hooks: Any, host: str) -> Iterator[tuple[str, int, int]]:
    """Where our hooks stand among those of a settings file: event, group, number in it."""
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group, entry in enumerate(groups if isinstance(groups, list) else ()):
            inside = entry.get("hooks") if isinstance(entry, dict) else None
            for number, handler in enumerate(inside if isinstance(inside, list) else ()):
                if is_hook(handler, host):
                    yield event, group, number


def group(command: str, timeout: int, matcher: str = "", **more: Any) -> dict[str, Any]:
    """A group of one hook, in the form that most hosts share."""
    handler = {"type": "command", **more, "command": command, "timeout": timeout}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}

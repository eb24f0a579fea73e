"""What is installed, as values: each host declares its parts, and how ours are known again among others'."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

NAME = "punchlist"  # what our server, hooks and plugins are called wherever they are registered
USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
SECONDS = 10  # that an agent gives a hook
STOP_SECONDS = 90  # that it gives the one at the end of a turn, in which checks may be run
_BLANK = '"@PUNCHLIST@"'  # in a plugin, where the path of the script goes
_SHARED = "// @SHARED@\n"  # in a panel, where the text goes that all panels share


class Where(NamedTuple):
    """For whom something is installed, and where that person's files are."""

    scope: str
    home: str
    project: str  # the directory an agent is started in
    script: str  # the absolute path of our own command
    environ: Mapping[str, str]
    served: bool | None = None  # whether hooks are answered by the running server; if not said, as they are now
    launchers: str = ""  # the folder of the files that start hooks; empty: the script starts them

    def starter(self, host: str) -> str:
        """Return the command that an agent starts hooks with: a file that loads less than the script does."""
        if self.launchers:
            return os.path.join(self.launchers, host, NAME)
        return self.script

    def folder(self, variable: str, default: str) -> str:
        """A directory that an environment variable may move."""
        return os.path.abspath(os.path.expanduser(self.environ.get(variable) or os.path.join(self.home, default)))


class StopHook(NamedTuple):
    """The hook at the end of a turn, in the words of an agent."""

    event: str = "Stop"
    unit: int = 1  # of a time limit: so many are a second

    def limit(self, event: str) -> int:
        """How long the agent waits for the hook of an event."""
        if event == self.event:
            return STOP_SECONDS * self.unit
        return SECONDS * self.unit


class Part(NamedTuple):
    """One thing that is installed in one file."""

    name: str  # server, hooks, permission, status line, plugin
    # entry: a key with our name; hooks, in groups; flat-hooks; element: of a list; line: a status line; file: all of it
    # is ours
    kind: str
    files: tuple[str, ...]  # where it may be: in the one that has it, else the first that exists, else the last
    path: tuple[str, ...] = ()
    value: Any = None  # of a file: its text, made from the path of our script; of a status line: what it has beside it
    trace: tuple[str, str] | None = None  # what the agent itself writes into that file about us, and leaves there


def plugin(folder: str, name: str, script: str) -> str:
    """Return the text of a plugin that comes with the package, with the path of our script in it as a string."""
    return plugin_with(folder, name, json.dumps(script, ensure_ascii=False))


def plugin_with(folder: str, name: str, expression: str) -> str:
    """Return the text of a plugin, with what finds our script in it."""
    text = _read(os.path.join(folder, name))
    if _SHARED in text:
        text = text.replace(_SHARED, _read(os.path.join(folder, os.pardir, "panel.js")))
    return text.replace(_BLANK, expression)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


# --- commands --------------------------------------------------------------------------------------------------------


# Words of commands that commit or open a pull request. Whether one does is decided by who reads the event.
COMMITS = ("commit", "pr create", "mr create", "pull-request")
_SILENT = " 2>/dev/null"  # the script may be there and its interpreter or package gone: an agent would show that
_ON_CHANGE = "--on-change"
_RUN = "env"  # it complains where `_SILENT` sends it; fish itself would complain elsewhere


def hook_command(script: str, host: str, silent: str = _SILENT) -> str:
    """Return a hook as a shell command that does nothing and says nothing once its environment is gone."""
    return _guard(script, f"hook {host}", silent)


def commit_command(script: str, host: str) -> str:
    """Return a hook for every command in a shell that starts punchlist only where the event may be about a commit or a
    pull request: anything else costs a small shell."""
    return _filtered(script, host, "|".join(f'*"{words}"*' for words in COMMITS))


def prompt_command(script: str, host: str) -> str:
    """Return a hook for an agent that sends the event of a prompt with every tool result, too: it starts punchlist only
    where the user has submitted something."""
    return _filtered(script, host, r"*\"submitted_prompt\":*")


def _filtered(script: str, host: str, patterns: str) -> str:
    test = f'[ -x "$0" ] && e=$(cat) && case $e in {patterns}) printf %s "$e" | "$0" hook {host};; esac'
    return f"sh -c {shlex.quote(test)} {shlex.quote(script)}{_SILENT} || :"


def line_command(script: str, host: str, theirs: str = "", silent: str = _SILENT, *, paced: bool = True) -> str:
    """Return a status line: ours behind the one that was there, which is alone once our environment is gone. `paced`:
    whether its user has said how often it is run. One that was run only after messages is run no more often than that
    behind the timer that ours needs."""
    if not theirs:
        return _guard(script, f"line --host {host}", silent)
    other, ours = shlex.quote(theirs), shlex.quote(script)
    words = f"line --host {host}" if paced else f"line --host {host} {_ON_CHANGE}"
    return f"[ -x {ours} ] && {_RUN} {ours} {words} --after {other}{silent} || sh -c {other}"


def their_line(command: str) -> str:
    """The status line that ours was put behind; nothing if there was none."""
    words = _words(command)
    if "--after" not in words[:-1]:
        return ""
    return words[words.index("--after") + 1]


def _guard(script: str, words: str, silent: str) -> str:
    if os.name == "nt":
        return f'"{script}" {words}'
    return f"[ -x {shlex.quote(script)} ] && {_RUN} {shlex.quote(script)} {words}{silent} || :"


# --- known again -----------------------------------------------------------------------------------------------------


def is_server(entry: Any) -> bool:
    """Whether a registered server is started just as we would write it, from whatever environment."""
    words = command_of(entry)
    return len(words) == 2 and is_script(words[0]) and words[1] == "mcp"


def is_written(entry: Any, value: Mapping[str, Any]) -> bool:
    """Whether a registered server is what we write and nothing more, from whatever environment."""
    others = value.keys() - {"command", "cmd"}
    is_same = isinstance(entry, dict) and entry.keys() == value.keys()
    return is_same and is_server(entry) and all(entry[key] == value[key] for key in others)


def serves(entry: Any) -> bool:
    """Whether a registered server runs ours, in whatever way."""
    words = command_of(entry)
    return any(os.path.basename(word).startswith(NAME) for word in words) and "mcp" in words


def is_script(path: str) -> bool:
    return os.path.isabs(path) and os.path.basename(path) in (NAME, f"{NAME}.exe")


def command_of(entry: Any) -> list[str]:
    """The words of a registered server's command, however its host writes them."""
    entry = as_dict(entry)
    command = entry.get("command", entry.get("cmd"))
    words = [command, *as_list(command), *as_list(entry.get("args"))]
    return [word for word in words if isinstance(word, str)]


def is_hook(handler: Any, host: str) -> bool:
    """Whether a hook is ours: its whole command as we write it, or an older version did, from whatever environment."""
    command = _command(handler)
    script = script_of(command)
    known = (
        hook_command(script, host),
        hook_command(script, host, silent=""),
        commit_command(script, host),
        prompt_command(script, host),
    )
    return is_served(handler, host) or (is_script(script) and command in known)


def is_served(handler: Any, host: str) -> bool:
    """Whether a hook is one that our running server answers."""
    handler = as_dict(handler)
    return handler.get("server") == NAME and as_dict(handler.get("input")).get("host") == host


def runs_hook(handler: Any, host: str) -> bool:
    """Whether somebody's hook runs ours among other things."""
    return _says(_command(handler), f"hook {host}") and not is_hook(handler, host)


def is_line(entry: Any, host: str) -> bool:
    """Whether a status line is ours, alone or behind another."""
    command = _command(entry)
    script = script_of(command)
    theirs = their_line(command)
    ways = [(silent, paced) for silent in (_SILENT, "") for paced in (True, False)]
    known = [line_command(script, host, theirs, silent, paced=paced) for silent, paced in ways]
    return is_script(script) and command in known


def runs_line(entry: Any, host: str) -> bool:
    """Whether somebody's status line runs ours among other things."""
    return _says(_command(entry), f"line --host {host}") and not is_line(entry, host)


def _command(entry: Any) -> str:
    command = as_dict(entry).get("command")
    if isinstance(command, str):
        return command
    return ""


def _says(command: str, words: str) -> bool:
    return re.search(rf"{NAME}(?:\.exe)?['\"]* {re.escape(words)}(?![\w-])", command) is not None


def script_of(command: str) -> str:
    """The script that a hook's command or a status line runs; nothing if that cannot be read."""
    if os.name == "nt" and command.startswith('"'):
        return command.split('"')[1]
    return next((word for word in _words(command) if os.path.basename(word).startswith(NAME)), "")


def _words(command: str) -> list[str]:
    """The words of a shell command; none if it makes no sense."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def handlers(hooks: Any, host: str) -> Iterator[tuple[str, int, int]]:
    """Where our hooks are among those of a settings file: event, group, number in it."""
    for event, groups in as_dict(hooks).items():
        for group, entry in enumerate(as_list(groups)):
            for number, handler in enumerate(as_list(as_dict(entry).get("hooks"))):
                if is_hook(handler, host):
                    yield event, group, number


def within(found: Any, *path: str) -> Any:
    """What is at a path of keys; none if nothing does, or if something on the way is of another kind."""
    for step in path:
        found = as_dict(found).get(step)
    return found


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    if isinstance(value, dict):
        return value
    return {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    if isinstance(value, list):
        return value
    return []


def group(command: str, timeout: int, matcher: str = "", **more: Any) -> dict[str, Any]:
    """A group of one hook, in the form that most hosts share."""
    handler = {"type": "command", **more, "command": command, "timeout": timeout}
    if matcher:
        return {"matcher": matcher, "hooks": [handler]}
    return {"hooks": [handler]}

"""Whether a tool call changes anything, judged by its name and its command. What is not known counts as a change."""

from __future__ import annotations

from posixpath import isabs, join, normpath

from ..core._typing import Any

# How the names of tools begin that only look, in any spelling: `Read`, `read_file`, `mcp__files__list_folder`.
_LOOKING = (
    *("read", "get", "list", "search", "find", "grep", "glob", "view", "show", "fetch", "look", "query", "describe"),
    *("web", "ls", "open", "think", "ask", "wait", "check", "inspect", "lsp", "toolsearch", "requestuserinput"),
)
_COMMANDS = ("command", "cmd", "script")  # the arguments in which shells take their command
_SHELLS = [folder + name for folder in ("", "/bin/", "/usr/bin/") for name in ("bash", "sh", "zsh", "dash")]
_FOLDERS = ("workdir", "dir_path", "cwd", "directory", "working_directory", "working_dir")  # and where to run it
_VARIABLES = ("env", "environment")  # and variables for it
# Commands that only look, whatever their arguments.
_READERS = """
    ls cat head tail less more wc grep rg egrep fgrep ag pwd echo printf which whereis type file stat du df tree nl date
    whoami hostname uname env printenv id ps diff cmp sort uniq cut tr column jq yq basename dirname realpath readlink
    test true false cd bat fd sha256sum md5sum strings xxd od history man help
""".split()  # noqa: SIM905
_GIT_READERS = ("status", "log", "diff", "show", "blame", "grep", "ls-files", "rev-parse", "describe", "cat-file")
_BREAKS = ("&&", "||", ";", "|", "\n", "&")  # between the commands of a line
_SIDE_DOORS = (">", "$(", "`", "<(", "-exec", "-delete", "--output")  # by which a reader may write after all


def changes_something(tool: str, args: Any) -> bool:
    """Whether a call may have changed something beside the plan."""
    command = command_of(args)
    if command:
        return not _only_looks(command)
    return not _plain_name(tool).startswith(_LOOKING)


def command_of(args: Any) -> str:
    """The shell command that a call runs, if it runs one."""
    if not isinstance(args, dict):
        return ""
    given = next((args[name] for name in _COMMANDS if name in args), "")
    if isinstance(given, list):
        if given[1:2] in (["-c"], ["-lc"]):
            given = given[2:]
        given = " ".join(map(str, given))
    if isinstance(given, str):
        return given.strip()
    return ""


def line_of(args: Any) -> str:
    """The line that a call has a shell run, with the variables that the call sets, as one would type it. A command that
    is a list of words is the line that means just these words."""
    command = command_of(args)
    if not command:
        return ""
    given = next(args[name] for name in _COMMANDS if name in args)
    if isinstance(given, list):
        command = _typed(given)
    variables = next((args[name] for name in _VARIABLES if args.get(name)), None)
    if not isinstance(variables, dict):
        return command
    from shlex import quote

    words = " ".join(f"{name}={quote(str(value))}" for name, value in variables.items())
    return f"export {words} && {command}"


def _typed(given: list[Any]) -> str:
    words = [str(word) for word in given]
    if len(words) == 3 and words[0] in _SHELLS and words[1] in ("-c", "-lc"):
        return words[2].strip()
    from shlex import join as quoted

    return quoted(words)


def folder_of(args: Any, folder: str) -> str:
    """The directory that a call names for its command, which is otherwise run in this one; empty if it is not
    known."""
    given = None
    if isinstance(args, dict):
        given = next((args[name] for name in _FOLDERS if args.get(name)), None)
    if given is None:
        return folder
    if not isinstance(given, str) or given.startswith("~"):
        return ""
    if isabs(given):
        return normpath(given)
    if not folder:
        return ""
    return normpath(join(folder, given))


# --- inside ----------------------------------------------------------------------------------------------------------


def _plain_name(tool: str) -> str:
    """A tool's own name, without the server that offers it, in small letters."""
    name = tool.rpartition("__")[2] or tool
    return "".join(char for char in name.casefold() if char.isalnum())


def _only_looks(command: str) -> bool:
    quiet = command.replace("2>/dev/null", "").replace("2>&1", "").replace(">/dev/null", "")
    if any(door in quiet for door in _SIDE_DOORS):
        return False
    for mark in _BREAKS:
        quiet = quiet.replace(mark, "\0")
    parts = [part.split() for part in quiet.split("\0") if part.strip()]
    return bool(parts) and all(map(_is_reader, parts))


def _is_reader(words: list[str]) -> bool:
    name, first = words[0].rpartition("/")[2], words[1] if len(words) > 1 else ""
    if name == "git":
        return first in _GIT_READERS
    if name == "sed":
        return first == "-n"
    if name == "find":
        return True  # what it could do to files is a side door
    return name in _READERS

"""The list that Claude Code keeps of a session by itself: a folder of tasks, or the one file of older versions. Loaded
when a session starts that has no plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from stat import S_ISREG

from ...core._typing import Any
from ...core.errors import Refused
from ...core.json_text import loads
from ...core.model import DONE
from ..host import OwnList

_TASKS, _TODOS = "tasks", "todos"  # folders in its own
_MOST = 500  # tasks of a list
_LARGEST = 1_000_000  # bytes of a list
_LONGEST = 100  # characters of a name
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def find_list(session: str, environ: Mapping[str, str]) -> OwnList | None:
    """Return the list of a session, if something on it is open. Raises Refused and OSError for one that cannot be read:
    half of a list would not be the list."""
    home = environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    tasks = _read_tasks(os.path.join(home, _TASKS), _task_list(session, environ))
    if _is_open(tasks):
        return OwnList("claude-tasks", tasks)
    todos = _read_todos(os.path.join(home, _TODOS), session)
    if _is_open(todos):
        return OwnList("claude-code", todos, "TodoWrite")
    return None


def _task_list(session: str, environ: Mapping[str, str]) -> str:
    """The name of the folder with a session's tasks; empty if it can have none. A variable names another one, which
    Claude Code writes with `-` for what is not plain."""
    named = environ.get("CLAUDE_CODE_TASK_LIST_ID", "")
    if named:
        return "".join(char if char in _PLAIN else "-" for char in named[:_LONGEST])
    return _plain(session)


def _plain(name: str) -> str:
    """A name that is one part of a path and leads nowhere else; empty for any other."""
    if len(name) <= _LONGEST and _PLAIN.issuperset(name):
        return name
    return ""


def _read_tasks(folder: str, name: str) -> list[Any]:
    path = os.path.join(folder, name)
    if not name or os.path.islink(path) or not os.path.isdir(path):
        return []
    files = [file for file in os.listdir(path) if file.endswith(".json") and not file.startswith(".")]
    if len(files) > _MOST:
        raise Refused(f"Claude Code's list has {len(files)} tasks; {_MOST} are the most that are taken over.")
    files.sort(key=lambda file: (len(file), file))  # 2 before 10
    found, left = [], _LARGEST
    for file in files:
        text = _read(os.path.join(path, file), left)
        left -= len(text)
        found.append(_parsed(text, file))
    return [task for task in found if not _is_hidden(task)]


def _read_todos(folder: str, session: str) -> list[Any]:
    name = _plain(session)
    path = os.path.join(folder, f"{name}-agent-{name}.json")
    if not name or not os.path.lexists(path):
        return []
    found = _parsed(_read(path, _LARGEST), os.path.basename(path))
    if not isinstance(found, list):
        raise Refused(f"{os.path.basename(path)}: not a list.")
    if len(found) > _MOST:
        raise Refused(f"Claude Code's list has {len(found)} items; {_MOST} are the most that are taken over.")
    return [_with_label(todo) for todo in found]


def _with_label(todo: Any) -> Any:
    """An item as newer versions write it: the oldest had no words for what is being done."""
    if isinstance(todo, dict) and not todo.get("activeForm"):
        return {**todo, "activeForm": todo.get("content")}
    return todo


def _read(path: str, most: int) -> bytes:
    """Read a file whole; at most so many bytes. Links, pipes and devices are not read."""
    with open(os.open(path, _FLAGS), "rb") as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(22, "not a regular file", path)
        text = file.read(most + 1)
    if len(text) > most:
        raise Refused(f"Claude Code's list has more than {_LARGEST} bytes; it is not taken over.")
    return text


def _parsed(text: bytes, name: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{name[:_LONGEST]}: not JSON: {error!s:.100}") from None


def _is_hidden(task: Any) -> bool:
    """Whether Claude Code keeps a task for itself: its model does not see it either."""
    metadata = None
    if isinstance(task, dict):
        metadata = task.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("_internal"))


def _is_open(entries: list[Any]) -> bool:
    """Whether something is left to do. What is malformed is left to whoever reads it."""
    return any(not isinstance(one, dict) or one.get("status") != DONE for one in entries)

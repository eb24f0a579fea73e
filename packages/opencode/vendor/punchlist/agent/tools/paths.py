"""Where files may be: inside of the working directory, unless the user allows another place."""

from __future__ import annotations

import os

from ...core.errors import Refused
from ...core.text import cut, inline
from ...desk.nudges import note_refusal
from ...local.files import replace_file, write_file
from ..context import Context
from ..events import Question


def locate(context: Context, path: str, *, to_write: bool = False) -> str:
    """The real path that is meant. Raises Refused if it is outside and the user does not allow it."""
    if "\0" in path or len(path) > 4000:
        raise Refused("path must be the name of a file.")
    real = os.path.realpath(os.path.join(context.folder, os.path.expanduser(path)))
    if is_inside(real, context.folder) or real == context.plan_file or real in context.allowed.paths:
        return real
    verb = "write" if to_write else "read"
    if context.ask(Question("allow", f"may the agent {verb} {inline(real)}?", ("yes", "no"))) != "yes":
        note_refusal(context.desk)
        raise Refused(f"{cut(inline(path), 200)!r} is outside of the working directory, and the user did not allow it.")
    context.allowed.paths.add(real)
    return real


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def shown(context: Context, path: str) -> str:
    """A path as it is said: from the working directory."""
    return inline(os.path.relpath(path, context.folder) if is_inside(path, context.folder) else path)


def write(context: Context, path: str, text: str) -> None:
    """Put a text into a file, completely or not at all. The mode of a file that was there stays, but our
    own files are readable by the user only."""
    data = text.encode("utf-8", "surrogateescape")
    if path == context.plan_file or is_inside(path, os.path.realpath(context.state)):
        write_file(path, data, is_synced=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, data, 0o666)

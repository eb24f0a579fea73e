"""Which program runs a hook. Cursor also runs the hooks that are in Claude Code's settings."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..core._typing import Any
from . import SHARED

_GUEST = "cursor"  # the program that runs hooks of another one
_HOOK = f"hook {_GUEST}"  # in a command of ours among the hooks of that program itself
_FIELD, _VARIABLE = "cursor_version", "CURSOR_VERSION"
_OWN = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")  # what Claude Code sets for its hooks
_LONGEST = 1_000_000  # bytes of a settings file that are looked at


def is_guest(event: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Whether Cursor runs a hook of Claude Code: its events say so. Its variable does, too, but Claude Code may have
    inherited that in a terminal of Cursor's."""
    if event.get(_FIELD):
        return True
    return bool(environ.get(_VARIABLE)) and not any(environ.get(name) for name in _OWN)


def answering(name: str, *, is_guest: bool, is_attached: bool) -> str:
    """Return the host that answers an event for the hooks of this one; empty if nobody does, because the program that
    runs them runs hooks of its own for the same event, and each event is answered once."""
    if name != SHARED or not is_guest:
        return name
    if is_attached:
        return ""
    return _GUEST


def find_answering(name: str, event: Mapping[str, Any]) -> str:
    """Return the host that answers an event for the hooks of this one; empty if nobody does."""
    if name != SHARED or not is_guest(event, os.environ):
        return name
    return answering(name, is_guest=True, is_attached=any(map(_has_hook, _folders(event))))


def _folders(event: Mapping[str, Any]) -> list[str]:
    """Where Cursor looks for hooks: in the user's home, and in the project."""
    roots = event.get("workspace_roots")
    named = [os.environ.get("CURSOR_PROJECT_DIR"), event.get("cwd"), *(roots if isinstance(roots, list) else ())]
    return [os.path.expanduser("~"), *(one for one in named if isinstance(one, str) and os.path.isabs(one))]


def _has_hook(folder: str) -> bool:
    """Whether a folder has our hook for Cursor itself."""
    try:
        with open(os.path.join(folder, ".cursor", "hooks.json"), "rb") as file:
            return _HOOK.encode() in file.read(_LONGEST)
    except (OSError, ValueError):
        return False

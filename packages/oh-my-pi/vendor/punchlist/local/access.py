"""Why a file cannot be written or made, and how to fix that. Loaded when something went wrong, and by the doctor."""

from __future__ import annotations

import os
from shlex import quote

_SHARED = 65_536  # bytes of the file by which processes share memory, and some more


def nearest(folder: str) -> str:
    """The folder, or the first one above it that is there."""
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def why_not_writable(path: str, elsewhere: str) -> tuple[str, str]:
    """What keeps a file or a folder from being written or made, and how to fix that; nothing if it can be."""
    folder = path
    if not os.path.isdir(path):
        folder = nearest(os.path.dirname(path))
    if not os.path.isdir(folder):
        return f"{folder} is not a directory", elsewhere
    if is_on_read_only_disk(folder):
        return "its disk is read-only", f"remount it for writing, or {elsewhere}"
    if not may(folder, os.W_OK | os.X_OK):
        return f"{folder} is not writable", f"{_allow(folder, 'u+rwx', quote(folder))}; or {elsewhere}"
    if os.path.exists(path) and not may(path, os.R_OK | os.W_OK):
        return f"it is not {_missing_right(path)}", f"{_allow(path, 'u+rw', f'{quote(path)}*')}; or {elsewhere}"
    if is_on_full_disk(folder):
        return "its disk is full", f"make room, or {elsewhere}"
    return "", ""


def is_on_read_only_disk(path: str) -> bool:
    """Whether nobody can write there, whatever the permissions say. False where that cannot be told."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (OSError, AttributeError):
        return False


def is_on_full_disk(folder: str) -> bool:
    """Whether a disk has no room. Even to read, a new process needs room for memory that all who use a store share. One
    that is read-only is not full: there room would not help. False where that cannot be told."""
    try:
        found = os.statvfs(folder)
    except (OSError, AttributeError):
        return False
    return found.f_bavail * found.f_frsize < _SHARED and not found.f_flag & os.ST_RDONLY


def may(path: str, rights: int) -> bool:
    """Whether this process has these rights to a file."""
    return os.access(path, rights, effective_ids=os.access in os.supports_effective_ids)


def _missing_right(path: str) -> str:
    mode = f"(mode {os.stat(path).st_mode & 0o777:03o})"
    if may(path, os.R_OK):
        return f"writable {mode}"
    return f"readable {mode}"


def _allow(path: str, rights: str, names: str) -> str:
    """How to get rights to a file or a folder: only its owner may change them. `names`: it, and what belongs to it."""
    if os.name != "nt" and os.geteuid() not in (0, os.stat(path).st_uid):
        return f"ask the owner of {path} for access"
    return f"chmod {rights} {names}"

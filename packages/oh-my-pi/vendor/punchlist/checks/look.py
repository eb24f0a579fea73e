"""Checks that are looked at, not run: a file that exists and is not empty, a file that contains a text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from stat import S_ISREG

from ..core._typing import Any, NamedTuple
from ..core.text import quoted
from ..local.files import open_file

_MOST = 10_000_000  # bytes of a file that are searched
_CHUNK = 1 << 20


class Looked(NamedTuple):
    """Whether what a check says of a file is true, and if not, why."""

    is_passed: bool
    why: str = ""


def look_at(check: Mapping[str, Any], folder: str) -> Looked:
    """Look whether a `file` or `contains` check passes. Nothing outside of its directory is opened, and no pipe or
    device."""
    path, text = check.get("file", ""), ""
    if "contains" in check:
        path, text = check["contains"]
    try:
        return _look_at(path, text, folder)
    except OSError as error:
        return Looked(False, f"{path}: {error.strerror or error}")
    except ValueError:  # a path that no file can have
        return Looked(False, f"{path}: not a path")


def _look_at(path: str, text: str, folder: str) -> Looked:
    top = os.path.realpath(folder)
    full = os.path.realpath(os.path.join(top, path))
    if os.path.commonpath([top, full]) != top:
        return Looked(False, f"{path} leads out of {folder}")
    if not os.path.exists(full):
        return Looked(False, f"{path} does not exist")
    found = os.stat(full)
    if not S_ISREG(found.st_mode):
        return Looked(False, f"{path} is not a regular file")
    if not found.st_size:
        return Looked(False, f"{path} is empty")
    if not text:
        return Looked(True)
    return _search(full, path, text)


def _search(full: str, path: str, text: str) -> Looked:
    wanted = text.encode("utf-8", "surrogateescape")
    size, kept = 0, b""
    handle = open_file(full)
    try:
        while size < _MOST:
            data = os.read(handle, _CHUNK)
            if not data:
                return Looked(False, f"{path} does not contain {quoted(text, 60)}")
            size += len(data)
            if wanted in kept + data:
                return Looked(True)
            kept = (kept + data)[-len(wanted) :]
    finally:
        os.close(handle)
    return Looked(False, f"{path}: {quoted(text, 60)} is not in its first 10 MB")

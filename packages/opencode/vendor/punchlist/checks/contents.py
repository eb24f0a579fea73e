"""What tells the contents of a file: its kind and a hash, in the form that git has for them."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from time import monotonic

from .errors import NoFiles, TooLong
from .scope import is_cache, ours, own_places

LARGE = 64 * 1024 * 1024  # above, a file is told by its size and its time of modification
_FILES, _BYTES = 50_000, 1024 * 1024 * 1024  # the most that is read of a folder without git
_PART = 1 << 20
LINK, PLAIN, PROGRAM, MODULE = "120000", "100644", "100755", "160000"


def kind_of(path: str) -> tuple[str, os.stat_result] | None:
    """The mode that git has for a file, "" for what is never opened (a pipe, a device); None if there is none."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    if stat.S_ISLNK(found.st_mode):
        return LINK, found
    if stat.S_ISDIR(found.st_mode):
        return MODULE, found
    if not stat.S_ISREG(found.st_mode):
        return "", found
    if found.st_mode & 0o100:
        return PROGRAM, found
    return PLAIN, found


def blob(data: bytes, algorithm: str) -> str:
    """The name that git gives to contents."""
    from hashlib import new

    made = new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    made.update(data)
    return made.hexdigest()


def link_blob(path: str, algorithm: str) -> str:
    """The same for a link: where it leads to is its content."""
    try:
        return blob(os.fsencode(os.readlink(path)), algorithm)
    except OSError:
        return unreadable(path)


def hash_file(path: str, end: float, algorithm: str = "sha256") -> str:
    """A hash of what is in a file. Raises TooLong."""
    from hashlib import new

    made = new(algorithm, usedforsecurity=False)
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            while part := file.read(_PART):
                made.update(part)
                if monotonic() > end:
                    raise TooLong
    except OSError:
        return unreadable(path)
    return made.hexdigest()


def unreadable(path: str) -> str:
    """What tells a file that may not be read; "" if it is gone."""
    try:
        return f"unreadable {by_size(os.lstat(path))}"
    except OSError:
        return ""


def by_size(found: os.stat_result) -> str:
    """What tells a file that is too large to be read, or is never read."""
    return f"size {found.st_size} {found.st_mtime_ns}"


def read_folder(top: str, end: float, own: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """
    The files of a folder without git, and the repositories in it. Links are not followed.
    Raises TooLong, and NoFiles if there are too many.
    """
    found: dict[str, str] = {}
    repositories: list[str] = []
    places = own_places(top, own)
    size = 0
    for path, entry in _entries(top, end):
        if is_cache(path) or ours((path,), places):
            continue
        if entry is None:
            repositories.append(path)
            continue
        mode, about = entry
        found[path] = f"{mode} {_content(os.path.join(top, path), mode, about, end)}"
        if about.st_size <= LARGE:
            size += about.st_size
        if len(found) > _FILES or size > _BYTES:
            raise NoFiles(f"without git at most {_FILES:,} files with 1 GB are read, and there are more")
    return found, repositories


def _entries(top: str, end: float) -> Iterator[tuple[str, tuple[str, os.stat_result] | None]]:
    """Every file below a folder by its path from there; a folder that is a repository comes with None."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        for name in _names(os.path.join(top, here)):
            if monotonic() > end:
                raise TooLong
            path = here + name
            kind = kind_of(os.path.join(top, path))
            if kind is None or name == ".git":
                continue
            if kind[0] != MODULE:
                yield path, kind
            elif os.path.lexists(os.path.join(top, path, ".git")):
                yield path, None
            elif not is_cache(path):
                waiting.append(path + "/")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []  # unreadable, or gone meanwhile


def _content(path: str, mode: str, about: os.stat_result, end: float) -> str:
    if mode == LINK:
        return link_blob(path, "sha256")
    if mode == "" or about.st_size > LARGE:
        return by_size(about)
    return hash_file(path, end)


def born(path: str) -> float:
    """When a file was made, as `time.time()` says it; 0.0 if the system does not tell."""
    try:
        found = os.lstat(path)
    except OSError:
        return 0.0
    told = getattr(found, "st_birthtime", None)
    if told is not None:
        return float(told)
    if os.name == "nt":
        return found.st_ctime
    return _born_on_linux(path)


def _born_on_linux(path: str) -> float:
    """Ask statx, which Python does not offer yet."""
    import ctypes

    buffer = ctypes.create_string_buffer(256)
    try:
        failed = ctypes.CDLL(None).statx(-100, os.fsencode(path), 0x100, 0x800, buffer)
    except (OSError, AttributeError):
        return 0.0
    if failed or not int.from_bytes(buffer.raw[:4], sys.byteorder) & 0x800:
        return 0.0
    seconds = int.from_bytes(buffer.raw[80:88], sys.byteorder, signed=True)
    nanoseconds = int.from_bytes(buffer.raw[88:92], sys.byteorder)
    return seconds + nanoseconds / 1e9

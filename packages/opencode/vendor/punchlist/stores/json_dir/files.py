"""Files of a directory that others write to: never followed out of it, and replaced as a whole.

Whatever the system refuses becomes a StoreError that names the file and says what to do."""

from __future__ import annotations

import os
import stat
from itertools import count
from time import gmtime, strftime

from ...core.errors import StoreError
from ...local.files import utc_text
from .. import system_error

GONE = ""  # the stamp of a file that does not exist
_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_DRAFT = ".draft"


class naming:
    """Turns an OSError into a StoreError about one file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError):
            raise system_error(self._path, error) from None


def inside(folder: str, name: str) -> str:
    """Return the path of a file in a directory. A link is followed to a target in the same directory, not out of it."""
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise StoreError(f"{name!r} is not the name of a file in {folder}.")
    path = os.path.join(folder, name)
    if not os.path.islink(path):
        return path
    target = os.path.realpath(path)
    if not target.startswith(os.path.join(folder, "")):
        raise StoreError(f"{path} is a link that leads out of {folder}; put the file itself in its place.")
    return target


def stamp(path: str) -> str:
    """Return size, time and inode of a file: different whenever it was written. GONE if it does not exist."""
    with naming(path):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return GONE
    return _stamp(path, found)


def _stamp(path: str, found: os.stat_result) -> str:
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is not a file; move away what is there.")
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"


def read(path: str) -> tuple[bytes, str]:
    """Return what a file holds, and its stamp from before it was read: whoever writes it meanwhile is noticed later."""
    if stamp(path) == GONE:  # what is not a file has been refused: opening a pipe would wait forever
        return b"", GONE
    with naming(path):
        try:
            file = os.open(path, os.O_RDONLY | _OPEN)
        except FileNotFoundError:
            return b"", GONE
        with os.fdopen(file, "rb") as opened:
            seen = _stamp(path, os.fstat(file))
            return opened.read(), seen


def time_of(stamp: str) -> str:
    """Return when a file with this stamp was written, in ISO 8601."""
    return utc_text(int(stamp.split()[1]) / 1e9)


def newest(folder: str, ending: str) -> list[str]:
    """Return the names in a directory that end like this, without that end; the last written first."""
    with naming(folder), os.scandir(folder) as entries:
        found = [
            (each.stat(follow_symlinks=False).st_mtime_ns, each.name) for each in entries if each.name.endswith(ending)
        ]
    return [name.removesuffix(ending) for _, name in sorted(found, reverse=True)]


def write_draft(path: str, data: bytes) -> tuple[str, str]:
    """Write a file that is to replace another one; return its path, and the stamp that it keeps when it is renamed."""
    draft = f"{_hidden(path)}.{os.urandom(4).hex()}{_DRAFT}"
    with naming(path):
        return draft, _write_new(draft, data)


def publish(draft: str, path: str, seen: str) -> bool:
    """Rename a draft to a file that is still as it was seen; return whether it was.

    Somebody may write the file between the look and the rename. The old file has a second name until after the rename,
    so whoever had it open is noticed, and the file gets its name back. What POSIX leaves open: a file that somebody
    renames to this name between those two steps is lost, and so is one that was opened there if we are killed then."""
    if seen == GONE and _link(draft, path):  # it never replaces a file
        return True
    second = f"{draft.removesuffix(_DRAFT)}.old{_DRAFT}"
    is_linked = seen != GONE and _link(path, second)
    try:
        if stamp(path) != seen:
            return False
        with naming(path):
            os.replace(draft, path)
            if is_linked and stamp(second) != seen:
                os.replace(second, path)
                return False
        return True
    finally:
        if is_linked:
            remove(second)


def _link(path: str, name: str) -> bool:
    """Give a file a second name; return whether that worked: the name may be taken, and not every disk has links."""
    try:
        os.link(path, name)
    except OSError:
        return False
    return True


def remove_drafts(path: str) -> None:
    """Remove drafts of a file that processes left behind when they were killed."""
    start = os.path.basename(_hidden(path)) + "."
    with naming(path):
        names = os.listdir(os.path.dirname(path))
    for name in names:
        if name.startswith(start) and name.endswith(_DRAFT):
            remove(os.path.join(os.path.dirname(path), name))


def _hidden(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}")


def remove(path: str) -> None:
    """Remove a file if it exists and can be removed."""
    try:
        os.unlink(path)
    except OSError:
        pass


def set_aside(path: str, seen: str) -> str:
    """Rename a damaged file to a new name, and return that name: whoever still writes the file writes it there. Return
    nothing if the file was written after it was seen; then it keeps its name.

    Only one process at a time may call this: a rename does not tell whether the new name was free."""
    aside = _free_name(f"{path}.damaged-{strftime('%Y%m%dT%H%M%SZ', gmtime())}")
    with naming(path):
        try:
            os.rename(path, aside)
        except FileNotFoundError:
            return ""
    if stamp(aside) != seen and _link(aside, path):
        remove(aside)
        return ""
    return aside


def _free_name(name: str) -> str:
    free = name
    for number in count(2):
        if not os.path.lexists(free):
            break
        free = f"{name}-{number}"
    return free


def _write_new(path: str, data: bytes) -> str:
    """Write a file that did not exist, all of it or nothing, synced; return its stamp."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
        return _stamp(path, os.fstat(file))
    except OSError:
        remove(path)
        raise
    finally:
        os.close(file)

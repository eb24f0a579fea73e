"""Files of this machine: private folders, the one way to replace a file, the one way to add to a log, the one text of a
time. A hook loads this module: it imports nothing that Python has not loaded at its start."""

from __future__ import annotations

import os
from collections.abc import Callable
from stat import S_IMODE, S_ISREG
from time import gmtime, time

UNBLOCKED = getattr(os, "O_NONBLOCK", 0)  # to open a file that may be a pipe, for which nobody should wait
_PRIVATE = 0o600
_second = (0, "1970-01-01T00:00:00")  # the one that was last written, and its text: calls come many to a second


def make_folder(path: str) -> None:
    """Make a folder if it does not exist. Every one that is made on the way to it is private, too: the mode that
    `os.makedirs` takes is that of the last one only."""
    if not path or os.path.isdir(path):
        return
    make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # somebody else was faster, or it is not a folder
        if not os.path.isdir(path):
            raise


def open_file(path: str) -> int:
    """Open a file to read it, without waiting. Raises OSError, also for what is not a regular file: a pipe would be
    waited for, and a device has no end."""
    handle = os.open(path, os.O_RDONLY | UNBLOCKED)
    if S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(22, "not a regular file", path)


def read_file(path: str, most: int) -> bytes:
    """Read a small file, at most so many bytes of it. Raises OSError like `open_file`."""
    handle = open_file(path)
    try:
        return os.read(handle, most)
    finally:
        os.close(handle)


def open_private(path: str, flags: int = 0) -> int:
    """Open a private file to read and write it, without waiting; it and its folders are made if they do not exist.
    Raises OSError."""
    flags |= os.O_RDWR | os.O_CREAT | UNBLOCKED
    try:
        return os.open(path, flags, _PRIVATE)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        return os.open(path, flags, _PRIVATE)


def lock_file(path: str) -> int:
    """Wait until nobody else has the lock. It is released when the handle that is returned is closed."""
    handle = open_private(path)
    if os.name != "nt":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


# --- all of it or nothing --------------------------------------------------------------------------------------------


def write_file(path: str, data: bytes, *, is_synced: bool = False) -> None:
    """Write a private file: all of it, or nothing. A link there is replaced, not followed. `is_synced`: it is on the
    disk when this returns. Raises OSError."""
    make_folder(os.path.dirname(path))
    _swap_in(path, data, f"{path}.{os.urandom(4).hex()}", _PRIVATE, is_synced=is_synced)


def replace_file(path: str, data: bytes, mode: int, draft: str = "", check: Callable[[], object] = bool) -> None:
    """Write a file that is not ours: all of it, or nothing, and synced. One that exists keeps its mode, and its owner
    if we may set that; a new one gets `mode`. `draft` names the file that is written first. `check` is called before
    it takes the place of the old one, and may raise to leave that as it is. Raises OSError."""
    draft = draft or os.path.join(os.path.dirname(path), f".punchlist-{os.urandom(8).hex()}")
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    _swap_in(path, data, draft, mode, old=old, is_synced=True, check=check)


def _swap_in(
    path: str,
    data: bytes,
    draft: str,
    mode: int,
    *,
    old: os.stat_result | None = None,
    is_synced: bool = False,
    check: Callable[[], object] = bool,
) -> None:
    try:
        _write_and_rename(path, data, draft, mode, old, is_synced, check)
    except OSError as error:  # a write that failed names no file, and a draft is not what anybody looks for
        error.filename = path
        raise


def _write_and_rename(
    path: str,
    data: bytes,
    draft: str,
    mode: int,
    old: os.stat_result | None,
    is_synced: bool,
    check: Callable[[], object],
) -> None:
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        try:
            if old:
                _make_like(handle, draft, old)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            if is_synced:
                os.fsync(handle)
        finally:
            os.close(handle)
        check()
        os.replace(draft, path)
    finally:
        if os.path.lexists(draft):
            os.unlink(draft)
    if is_synced:
        sync_folder(os.path.dirname(path))


def _make_like(handle: int, draft: str, old: os.stat_result) -> None:
    new = os.fstat(handle)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) and hasattr(os, "fchown"):
        try:
            os.fchown(handle, old.st_uid, old.st_gid)
        except PermissionError:  # it becomes ours
            pass
    os.chmod(handle if os.chmod in os.supports_fd else draft, S_IMODE(old.st_mode))


def sync_folder(path: str) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name == "nt":
        return
    handle = os.open(path or os.curdir, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- a log -----------------------------------------------------------------------------------------------------------


def append_line(path: str, line: str, full: int) -> None:
    """Add a line to a private log. Several processes may do so at once. A log of more than `full` bytes is renamed to
    `PATH.1`, in place of the one before. Raises OSError."""
    handle = open_private(path, os.O_APPEND)
    try:
        end = os.fstat(handle).st_size
        is_torn = end > 0 and os.pread(handle, 1, end - 1) != b"\n"  # somebody died while writing
        os.write(handle, b"\n" * is_torn + line.encode() + b"\n")
    finally:
        os.close(handle)
    if end > full:
        _rotate(path, full)


def _rotate(path: str, full: int) -> None:
    """Of several processes that see a log full, one renames it."""
    lock = lock_file(f"{path}.lock")
    try:
        if os.path.getsize(path) > full:
            os.replace(path, f"{path}.1")
    except FileNotFoundError:  # another one has renamed it just now
        pass
    finally:
        os.close(lock)


# --- a time ----------------------------------------------------------------------------------------------------------


def utc_text(seconds: float | None = None) -> str:
    """Return a time, by default this one, as every file and store of ours has it: `2026-01-31T12:00:00.000Z`."""
    global _second
    whole, thousandths = divmod(round((time() if seconds is None else seconds) * 1000), 1000)
    known, text = _second
    if known != whole:
        text = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*gmtime(whole)[:6])
        _second = (whole, text)
    return f"{text}.{thousandths:03}Z"


def time_text(later: float = 0) -> str:
    """Return the time, or one so many seconds later, as `utc_text` does."""
    return utc_text(time() + later)

"""Files that a store can rely on: private, replaced whole or added to whole, locked, and never outside their directory.
Whatever the system refuses becomes a StoreError that names the file and says what to do."""

from __future__ import annotations

import errno
import os
import stat
import sys
from itertools import count
from time import gmtime, monotonic, sleep, strftime

from ...core._typing import NoReturn
from ...core.errors import StaleRevision, StoreError
from ...local import files

Stamp = tuple[int, int, int]  # size, time and inode: another one whenever a file was written
NOWHERE: Stamp = (-1, 0, 0)  # of a file that is not there

PATIENCE = "10"  # seconds to wait for another process
ASIDE = ".damaged-"  # what was damaged is called so, and when
_CROWD = 6  # times that long, while others get through one after the other
_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_CLOSED_TO_US = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT)
_HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    def _seize(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _release(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _seize(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class Lock:
    """One process at a time, for the length of a `with`. Threads have to be kept apart by other means."""

    def __init__(self, path: str, patience: str = PATIENCE) -> None:
        self._path = path
        self._patience = float(patience)
        self._file = -1
        self._depth = 0

    def __enter__(self) -> None:
        if not self._depth:  # opened anew each time: a forked child would share the lock of its parent
            with _Naming(self._path):
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | _OPEN, 0o600)
                try:
                    self._wait()
                    self._depth = 1
                finally:
                    if not self._depth:
                        os.close(self._file)
        else:
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            _release(self._file)
            os.close(self._file)

    def _wait(self) -> None:
        """The rests are short and uneven: whoever sleeps longest would come last again and again. Whoever gets the lock
        leaves a stamp, so that a crowd on a slow disk is not taken for somebody who holds on."""
        begun = moved = monotonic()
        last = 0
        while not self._is_seized():
            now, stamp = monotonic(), os.fstat(self._file).st_mtime_ns
            if stamp != last:
                last, moved = stamp, now
            if now > moved + self._patience or now > begun + self._patience * _CROWD:
                from shlex import quote

                raise StoreError(
                    f"{self._path} has been locked by another process for too long; "
                    f"find who holds it: fuser {quote(self._path)}"
                )
            sleep(os.urandom(1)[0] / 128_000)
        os.utime(self._path)

    def _is_seized(self) -> bool:
        try:
            _seize(self._file)
        except OSError as error:
            if error.errno not in _HELD:
                raise
            return False
        return True


class _Naming:
    """Lets what the system refuses name the file it was about."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError):
            _fail(self._path, error)


def _fail(path: str, error: OSError) -> NoReturn:
    words = error.strerror or str(error)
    if error.errno in _CLOSED_TO_US:
        raise StoreError(
            f"{path} cannot be read or written ({words}); check its permissions and its directory's.", "permission"
        ) from None
    if error.errno in _FULL:
        raise StoreError(f"{path} cannot grow: the disk is full; make room and try again.", "full") from None
    raise StoreError(f"{path} cannot be used ({words}); see what stands there, then try again.") from None


def make_folder(path: str) -> None:
    """A directory that only its owner may look into, if it is not there."""
    with _Naming(path):
        files.make_folder(path)


def inside(folder: str, name: str) -> str:
    """Where a file of a directory is. A link is followed to a target in the same directory, and not out of it."""
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise StoreError(f"{folder} has a pointer that leads out of it; remove {folder}/.punchlist and try again.")
    path = os.path.join(folder, name)
    if not os.path.islink(path):
        return path
    target = os.path.realpath(path)
    if not target.startswith(os.path.join(folder, "")):
        raise StoreError(f"{path} is a link that leads out of {folder}; put the file itself in its place.")
    return target


def newest(folder: str, ending: str) -> list[str]:
    """The names in a directory that end like this, without that end; the last written first."""
    with _Naming(folder), os.scandir(folder) as entries:
        found = [
            (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name)
            for entry in entries
            if entry.name.endswith(ending)
        ]
    return [name.removesuffix(ending) for _, name in sorted(found, reverse=True)]


def forget(path: str, before: str) -> None:
    """Remove a file that was last written before a time."""
    with _Naming(path):
        if written_at(path) < before:
            os.unlink(path)


def written_at(path: str) -> str:
    """When a file was last written, in ISO 8601; empty if it is not there."""
    try:
        moment = os.lstat(path).st_mtime
    except FileNotFoundError:
        return ""
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"


def stamp(path: str) -> Stamp:
    """By what to see that a file was written."""
    with _Naming(path):
        try:
            return _stamp(path, os.lstat(path))
        except FileNotFoundError:
            return NOWHERE


def read(path: str, known: Stamp = NOWHERE, end: int = 0) -> tuple[bytes, int, Stamp]:
    """What a file holds, from where on that is, and its stamp; of a file that has only grown, what is behind `end`."""
    if stamp(path) == NOWHERE:  # and whatever is no file has been refused: opening a pipe would wait for ever
        return b"", 0, NOWHERE
    with _Naming(path):
        try:
            file = os.open(path, os.O_RDONLY | _OPEN)
        except FileNotFoundError:
            return b"", 0, NOWHERE
        with os.fdopen(file, "rb") as opened:
            found = _stamp(path, os.fstat(file))
            start = end if found[2] == known[2] and found[0] >= end else 0
            opened.seek(start)
            return opened.read(), start, found


def append(path: str, end: int, data: bytes, *, sync: bool = True) -> Stamp:
    """Add lines behind `end`: what stands there was never finished, and is cut off. All of it is added, or nothing."""
    with _Naming(path):
        file = os.open(path, os.O_WRONLY | _OPEN)
        try:
            os.ftruncate(file, end)
            os.lseek(file, end, os.SEEK_SET)
            _write(file, data, sync)
            return _stamp(path, os.fstat(file))
        except OSError:
            os.ftruncate(file, end)
            raise
        finally:
            os.close(file)


def cut(path: str, end: int) -> None:
    """Take back what was added behind `end`. If that fails too it stays, but nobody was told that it is there."""
    try:
        if end:
            os.truncate(path, end)
        else:
            os.unlink(path)
    except OSError:
        pass


def replace(path: str, data: bytes, draft: str, known: Stamp | None = None) -> Stamp:
    """Write a file anew: readers find the old one or the new one, whatever happens. Raises StaleRevision if it is
    not the `known` one any more; whoever writes without our lock has a moment of a few microseconds left for it."""
    with _Naming(path):
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _OPEN, 0o600)
        try:
            _write(file, data, True)
            found = _stamp(draft, os.fstat(file))
        except OSError:
            remove(draft)  # what is left of it fills the disk
            raise
        finally:
            os.close(file)
        if known is not None and stamp(path) != known:
            raise StaleRevision(f"{path} was written by somebody else")
        os.replace(draft, path)
    _sync_folder(os.path.dirname(path))
    return found


def remove(path: str) -> None:
    """Away with it, if it is there and lets itself be removed."""
    try:
        os.unlink(path)
    except OSError:
        pass


def linked(folder: str, old: str, new: str, endings: tuple[str, ...]) -> bool:
    """Give files another name too, all of them or none; whether that could be done. Links are left as they are."""
    made: list[str] = []
    try:
        for ending in endings:
            if os.path.islink(os.path.join(folder, old + ending)):
                raise OSError(errno.ELOOP, "a link")
            path = os.path.join(folder, new + ending)
            os.link(os.path.join(folder, old + ending), path)
            made.append(path)
    except OSError:
        for path in made:
            remove(path)
        return False
    return True


def set_aside(path: str, data: bytes) -> str:
    """Keep what a file held under a name that says what it is, and that nothing has yet."""
    name = f"{path}{ASIDE}{strftime('%Y%m%dT%H%M%SZ', gmtime())}"
    for number in count(1):
        free = name if number == 1 else f"{name}-{number}"
        with _Naming(free):
            try:
                file = os.open(free, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)
            except FileExistsError:
                continue
            try:
                _write(file, data, True)
            except OSError:
                remove(free)
                raise
            finally:
                os.close(file)
        return free
    raise AssertionError("counting never ends")


def _stamp(path: str, found: os.stat_result) -> Stamp:
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is no file; move away what stands there.")
    return found.st_size, found.st_mtime_ns, found.st_ino


def _write(file: int, data: bytes, sync: bool) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
    if sync:
        os.fsync(file)


def _sync_folder(path: str) -> None:
    """Let a new name outlive a power cut. Not every file system can, and what is in the file is safe without."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(file)
    except OSError:
        pass
    finally:
        os.close(file)

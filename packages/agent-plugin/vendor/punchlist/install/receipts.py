"""Files of others on the disk: read, replaced at once and only if nobody else wrote, and kept as they were before us.

How a file was before us is kept in the state folder, not beside it: settings hold secrets, and a copy in a project
would be committed with it. With each copy goes a receipt of what we wrote, so that uninstalling gives back the very
same bytes if nobody wrote since.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

from ..core.errors import Refused, StoreError
from ..local.access import nearest
from ..local.files import lock_file, replace_file, sync_folder
from ..local.settings import state_folder

_DRAFT = ".punchlist-new"  # the end of the name of a file that is about to be the new one
_LARGEST = 64 * 1024 * 1024


class Moved(Exception):
    """Somebody else wrote the file since it was read."""


class Receipt(NamedTuple):
    """What we did to a file."""

    file: str
    host: str
    scope: str
    before: bytes | None  # how it was; nothing if there was no file
    after: str  # the digest of what we made of it
    folders: tuple[str, ...] = ()  # that we made for it, the outermost first
    named: str = ""  # how the agent names the file: there may be links on the way to it
    parts: tuple[str, ...] = ()  # that are in it; older versions did not say
    mode: int = 0  # its permissions, where somebody else may change them


def folder() -> str:
    """Where files are kept as they were before us."""
    return os.path.join(state_folder(os.environ), "install")


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


@contextmanager
def explained() -> Iterator[None]:
    """Say which file the system did not let us use, and what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(why(error)) from None


def why(error: OSError) -> str:
    """Why a file could not be used, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{error.filename} cannot be written: the disk is full; make room and try again."
    return f"{error.filename} cannot be read or written: {error.strerror}."


# --- reading ---------------------------------------------------------------------------------------------------------


def target(path: str) -> str:
    """The file behind a symbolic link: that is what is replaced, not the link."""
    real = os.path.realpath(path)
    if os.path.islink(real):
        raise Refused("it is a symbolic link that leads to itself.")
    return real


def load(path: str) -> bytes | None:
    """What a file holds; nothing if there is none."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Refused("it is not a file.")
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):  # also between two looks, if another of us removes it
        return None
    if len(data) > _LARGEST:
        raise Refused(f"it is larger than {_LARGEST // 1024 // 1024} MB.")
    return data


def text(data: bytes | None) -> str:
    """The bytes as text, with their mark at the beginning if they have one."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        line = (data or b"").count(b"\n", 0, error.start) + 1
        raise Refused(f"line {line}: it is not UTF-8.") from None


# --- writing ---------------------------------------------------------------------------------------------------------


def require_writable(path: str) -> None:
    """Refuse what its owner has made read-only, though replacing it might work, and a folder that takes no new file."""
    if os.path.lexists(path) and (not os.stat(path).st_mode & 0o222 or not os.access(path, os.W_OK)):
        raise Refused("it is read-only; make it writable first.")
    if os.path.lexists(path) and os.name != "nt" and os.geteuid() not in (0, os.stat(path).st_uid):
        raise Refused("it belongs to somebody else.")
    here = nearest(os.path.dirname(path))
    if not os.path.isdir(here):
        raise Refused(f"{here} is not a folder.")
    if not os.access(here, os.W_OK | os.X_OK):
        raise Refused(f"the folder {here} is read-only; make it writable first.")


def swap(path: str, old: bytes | None, new: bytes | None, mode: int) -> None:
    """Replace a file at once, or remove it for nothing; raises Moved if it is not what was read."""
    if new is None:
        _require_same(path, old)
        os.unlink(path)
        sync_folder(os.path.dirname(path))
    else:
        drop_draft(path)
        replace_file(path, new, mode, path + _DRAFT, lambda: _require_same(path, old))


def missing_folders(path: str) -> tuple[str, ...]:
    """Return the folders of a file that are not there, the outermost first."""
    missing: list[str] = []
    here = os.path.dirname(path)
    while not os.path.isdir(here):
        missing.insert(0, here)
        here = os.path.dirname(here)
    return tuple(missing)


def make_folders(folders: Iterable[str], mode: int) -> None:
    """Make folders, the outermost first."""
    for one in folders:
        os.makedirs(one, mode, exist_ok=True)


def drop_folders(folders: Iterable[str]) -> None:
    """Remove folders that we made, if they are empty again."""
    for one in sorted(folders, key=len, reverse=True):
        try:
            os.rmdir(one)
        except OSError:
            continue


def has_draft(path: str) -> bool:
    """Whether one of us was killed before it could replace a file."""
    return os.path.lexists(path + _DRAFT)


def drop_draft(path: str) -> None:
    if has_draft(path):
        os.unlink(path + _DRAFT)


def _require_same(path: str, old: bytes | None) -> None:
    if load(path) != old:
        raise Moved(path)


# --- receipts --------------------------------------------------------------------------------------------------------


@contextmanager
def lock() -> Iterator[None]:
    """One of us at a time."""
    handle = lock_file(os.path.join(folder(), "lock"))
    try:
        yield
    finally:
        os.close(handle)


def receipt(path: str, inside: str = "") -> Receipt | None:
    """What we did to a file; nothing if that is not known. `inside`: a folder of receipts that is not the usual one."""
    return _receipt(_name(path, inside) + ".json")


def receipt_of(file: str) -> Receipt | None:
    """What we did to a file that an agent names. Where links lead to it, the agent may have put a file of its own in
    the place of one of them since."""
    found = receipt(target(file))
    return found or next((one for one in receipts() if one.named == file), None)


def restore(one: Receipt) -> None:
    """Put a file back as it was, if nobody else has written it since, and forget it."""
    old = load(one.file)
    if old is not None and digest(old) == one.after:
        swap(one.file, old, one.before, 0o600)
    forget(one.file)


def receipts() -> list[Receipt]:
    """What we did to all files."""
    try:
        names = sorted(os.listdir(folder()))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [_receipt(os.path.join(folder(), name)) for name in names if name.endswith(".json")]
    return [one for one in found if one]


def save(one: Receipt, inside: str = "") -> None:
    """Write a receipt down, and the file as it was."""
    name = _name(one.file, inside)
    _put(name + ".before", one.before)
    lists = {"folders": list(one.folders), "parts": list(one.parts)}
    data = {**one._asdict(), **lists, "before": one.before is not None}
    _put(name + ".json", json.dumps(data, indent=2).encode())


def forget(path: str, inside: str = "") -> None:
    for end in (".json", ".before"):
        _put(_name(path, inside) + end, None)


def _receipt(path: str) -> Receipt | None:
    data = load(path)
    try:
        said = json.loads(data) if data else None
        if said and said["before"]:
            before = load(path.removesuffix(".json") + ".before")
        else:
            before = None
        if not said or (said["before"] and before is None):
            return None
        folders = tuple(map(str, said["folders"]))
        named, parts = str(said.get("named", "")), tuple(map(str, said.get("parts", ())))
        after, mode = said["after"], int(said.get("mode", 0))
        return Receipt(said["file"], said["host"], said["scope"], before, after, folders, named, parts, mode)
    except (ValueError, KeyError, TypeError):
        return None


def _put(path: str, data: bytes | None) -> None:
    old = load(path)
    if old != data:
        swap(path, old, data, 0o600)


def _name(path: str, inside: str = "") -> str:
    """Where the copy of a file is kept: its name is readable, its path makes it one of a kind."""
    return os.path.join(inside or folder(), f"{os.path.basename(path).lstrip('.')}-{digest(os.fsencode(path))[:12]}")

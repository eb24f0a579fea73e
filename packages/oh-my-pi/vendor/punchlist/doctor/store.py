"""The store: does it open, is it ours, intact, private and on a disk of this machine?"""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Iterator

from ..core.errors import StoreError
from ..core.text import inline
from ..local.access import why_not_writable
from ..local.origin import upgrade_command
from ..stores import masked, open_store
from . import NOTE, OK, PROBLEM, STORE, Check
from .installation import ELSEWHERE

_LARGE = 200 * 1024 * 1024
_SERVER = "see that the server runs, and takes this user at this address; or name another store: PUNCHLIST_STORE=..."
_FIXES = {"postgresql": _SERVER, "postgres": _SERVER}  # the other messages say what to do
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "glusterfs", "fuse.sshfs", "davfs", "webdav")


def checks(url: str) -> Iterator[Check]:
    scheme, _, rest = url.partition(":")
    if scheme == "memory":
        yield Check(STORE, NOTE, "plans are kept in memory: gone with each command", "punchlist settings")
    elif scheme == "sqlite" and rest:
        yield from _file(os.path.abspath(os.path.expanduser(rest)))
    else:
        found = _check_open(url)
        yield found
        if scheme == "json" and found.state == OK:
            yield from _folder(os.path.abspath(os.path.expanduser(rest)))


def _check_open(url: str) -> Check:
    try:
        store = open_store(url)
        store.plans(1)
        store.close()
    except StoreError as error:
        return Check(STORE, PROBLEM, inline(str(error)), _FIXES.get(url.partition(":")[0], ""))
    return Check(STORE, OK, f"{inline(masked(url))} opens")


def _file(path: str) -> Iterator[Check]:
    why, fix = why_not_writable(path, f"{ELSEWHERE}, or a file: PUNCHLIST_STORE=sqlite:PATH")
    if not os.path.exists(path):
        found = Check(STORE, OK, f"{path} will be created with the first plan")
        yield Check(STORE, PROBLEM, f"{path} cannot be created: {why}", fix) if why else found
        yield from _place(os.path.dirname(path))
        return
    if os.path.isdir(path):
        fix = "move it away, or name a file: PUNCHLIST_STORE=sqlite:PATH"
        yield Check(STORE, PROBLEM, f"{path} is a directory, not a file", fix)
        return
    if not os.path.isfile(path):
        yield Check(STORE, PROBLEM, f"{path} is not a regular file", "name a file: PUNCHLIST_STORE=sqlite:PATH")
        return
    yield from _contents(path, is_writable=not why)
    if why:
        yield Check(STORE, PROBLEM, f"nothing can be stored in {path}: {why}", fix)
    yield from _private(path)
    yield from _place(path)
    size = os.path.getsize(path)
    if size > _LARGE:
        words = f"{path} has grown to {size // 1024 // 1024} MB"
        yield Check(STORE, NOTE, words, "punchlist trim --older-than 90d, or the setting keep_history")


def _folder(path: str) -> Iterator[Check]:
    why, fix = why_not_writable(path, "name another directory: PUNCHLIST_STORE=json:DIR")
    if why:
        yield Check(STORE, PROBLEM, f"nothing can be stored in {path}: {why}", fix)
    yield from _private(path)


def _contents(path: str, *, is_writable: bool) -> Iterator[Check]:
    """The file is looked at without being changed. Where it cannot be read because of its disk or its rights, that is
    told of its writing."""
    from ..stores.sqlite import VERSION, is_damage, remedy

    mode = "mode=ro"
    if not is_writable and not os.path.exists(f"{path}-wal"):
        mode = "immutable=1"
    try:
        db = sqlite3.connect(f"file:{_quoted(path)}?{mode}", uri=True, timeout=2)
        try:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            db.close()
    except sqlite3.Error as error:
        if is_damage(error):
            yield Check(STORE, PROBLEM, f"{path} is damaged: {error}", remedy(f"sqlite:{path}"))
        elif is_writable:
            yield Check(STORE, PROBLEM, f"{path} cannot be read: {error}")
        return
    if version > VERSION:
        words = f"{path} was written by a newer punchlist (form {version}, not {VERSION})"
        yield Check(STORE, PROBLEM, words, upgrade_command())
    elif state != "ok":
        yield Check(STORE, PROBLEM, f"{path} is damaged: {inline(str(state))}", remedy(f"sqlite:{path}"))
    else:
        if version == VERSION:
            later = ""
        else:
            later = "; it is brought up to date when it is next written"
        yield Check(STORE, OK, f"{path}: form {version}, {_size(os.path.getsize(path))}, intact{later}")


def _private(path: str) -> Iterator[Check]:
    mode = 0
    if os.path.exists(path):
        mode = os.stat(path).st_mode & 0o777
    if mode & 0o077 and os.name != "nt":
        right = "600"
        if os.path.isdir(path):
            right = "700"
        yield Check(
            STORE, PROBLEM, f"{path} can be read by others (mode {mode:o})", f"chmod {right} {shlex.quote(path)}"
        )


def _place(path: str) -> Iterator[Check]:
    kind = filesystem(path)
    if kind.startswith(_REMOTE):
        words = f"{path} is on a network file system ({kind}), where SQLite may lose what two machines write"
        yield Check(STORE, NOTE, words, "name a local file or a server: PUNCHLIST_STORE=postgresql://...")


def filesystem(path: str) -> str:
    """The kind of file system a path is on; nothing if that cannot be told here."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return ""
    real = os.path.realpath(path)
    points = [(one[1].encode().decode("unicode_escape"), one[2]) for one in mounts if len(one) > 2]
    above = [(point, kind) for point, kind in points if real == point or real.startswith(point.rstrip("/") + "/")]
    if above:
        return max(above, key=lambda one: len(one[0]))[1]
    return ""


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def _size(count: int) -> str:
    if count >= 1024 * 1024:
        return f"{count / 1024 / 1024:.1f} MB"
    return f"{max(count // 1024, 1)} kB"

"""A fingerprint of the files of a project: the same contents under the same names give the same one.

With git it is made of the blobs of HEAD and the contents of what differs from it, so that a commit, an amend, a stash
that is taken back or a touched file change nothing, and ignored files do not count. Without git, names and contents are
read, within bounds.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from time import monotonic

_NO_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # the empty tree: of a repository without a commit
_GONE = ""
_LINK, _MODULE = "120000", "160000"


class TooLong(Exception):
    """There was no time to look at all files."""


def files_of(folder: str, seconds: float) -> dict[str, str]:
    """Every file that counts, by its path from the top of the project, with what tells its contents. Raises TooLong."""
    end = monotonic() + seconds
    top = _git(folder, end, "rev-parse", "--show-toplevel")
    if top is None:
        return _walk(folder, end)
    return _read_git(os.fsdecode(top.rstrip(b"\n")), end)


def fingerprint(files: Mapping[str, str], counts: Callable[[str], bool] = bool) -> str:
    """One text for some of the files: those whose path counts."""
    made = sha256()
    for path in sorted(files):
        if counts(path):
            made.update(os.fsencode(path) + b"\0" + files[path].encode() + b"\n")
    return made.hexdigest()[:32]


def _read_git(top: str, end: float) -> dict[str, str]:
    listed = _git(top, end, "ls-tree", "-r", "-z", "--full-tree", "HEAD")
    if listed is None:  # no commit yet
        listed = b""
    files: dict[str, str] = {}
    for entry in listed.split(b"\0"):
        about, _, path = entry.partition(b"\t")
        if path:
            mode, _, blob = about.decode().split(" ")
            files[os.fsdecode(path)] = f"{mode} {blob}"
    changed = _changed(top, end)
    changed |= _flagged(top, end)
    for name in changed.intersection(files):
        del files[name]
    files.update(_contents(top, sorted(changed), end))
    return files


def _changed(top: str, end: float) -> set[str]:
    """The paths that differ from HEAD, and those that git does not know and does not ignore."""
    options = ("-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames")
    said = _git(top, end, "-c", "core.fsmonitor=false", "status", "--porcelain=v1", *options)
    if said is None:
        raise TooLong
    return {os.fsdecode(entry[3:]) for entry in said.split(b"\0") if entry}


def _flagged(top: str, end: float) -> set[str]:
    """The paths that git was told not to look at: they are looked at all the same."""
    said = _git(top, end, "ls-files", "-v", "-z")
    if said is None:
        return set()
    return {os.fsdecode(entry[2:]) for entry in said.split(b"\0") if entry[:1].islower() or entry[:1] == b"S"}


def _contents(top: str, paths: Iterable[str], end: float) -> dict[str, str]:
    found: dict[str, str] = {}
    plain: list[str] = []
    for path in paths:
        full = os.path.join(top, path)
        try:
            mode = os.lstat(full).st_mode
        except OSError:
            continue  # it is gone
        if os.path.islink(full):
            found[path] = f"{_LINK} {_blob(os.fsencode(os.readlink(full)))}"
        elif os.path.isdir(full):
            found[path] = f"{_MODULE} {_head_of(full, end)}"
        else:
            found[path] = "100755" if mode & 0o100 else "100644"
            plain.append(path)
    hashed = _hash_files(top, plain, end)
    for path in plain:
        found[path] = f"{found[path]} {hashed.get(path, 'unreadable')}"
    return found


def _hash_files(top: str, paths: list[str], end: float) -> dict[str, str]:
    """What git would call these contents: line ends and filters are applied, as they are in HEAD."""
    if not paths:
        return {}
    readable = [path for path in paths if "\n" not in path and os.access(os.path.join(top, path), os.R_OK)]
    said = _git(top, end, "hash-object", "--stdin-paths", sent="\n".join(readable).encode("utf-8", "surrogateescape"))
    if said is None:
        raise TooLong
    return dict(zip(readable, said.decode().split(), strict=False))


def _blob(data: bytes) -> str:
    from hashlib import sha1

    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _head_of(folder: str, end: float) -> str:
    said = _git(folder, end, "rev-parse", "HEAD")
    return (said or b"").decode().strip()


def _walk(folder: str, end: float) -> dict[str, str]:
    """The files of a directory without git. Links are not followed."""
    found: dict[str, str] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules", ".venv", "__pycache__"))
        for name in names:
            if monotonic() > end:
                raise TooLong
            full = os.path.join(here, name)
            found[os.path.relpath(full, folder)] = _content_of(full)
    return found


def _content_of(path: str) -> str:
    try:
        if os.path.islink(path):
            return f"link {os.readlink(path)}"
        with open(path, "rb") as file:
            made = sha256()
            while part := file.read(1 << 20):
                made.update(part)
            return made.hexdigest()
    except OSError:
        return "unreadable"


def _git(folder: str, end: float, *words: str, sent: bytes = b"") -> bytes | None:
    """What git says; None if it fails or is not there. Raises TooLong."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=folder,
            input=sent,
            capture_output=True,
            env=environment,
            timeout=max(end - monotonic(), 0.01),
        )
    except subprocess.TimeoutExpired:
        raise TooLong from None
    except OSError:
        return None
    if done.returncode:
        return None
    return done.stdout

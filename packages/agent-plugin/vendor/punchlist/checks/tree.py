"""
A fingerprint of the files of a project: the same contents under the same names give the same one.

With git it is made of what git knows and of the contents of what git has not seen yet: a commit, an amend, a stash that
is taken back, `git add` or a touched file change nothing, and neither do ignored files, caches of well-known tools and
our own files. Without git, names and contents are read, within bounds. Files in submodules and in other repositories
inside count; another worktree of the same repository does not: it is a tree of its own. Two worktrees with the same
contents have the same fingerprint: what was observed is told apart by the directory of its check.

Git is run to read, and runs nothing itself: no hook, monitor or filter. A file under a filter that is not Git LFS
counts by its raw contents from the moment it is touched until git has looked at it (`git status`). Files above 64 MB
that git has not seen count by size and time of modification.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ..core._typing import NamedTuple
from ..core.sha import hex_digest
from . import contents, repository
from .errors import NoFiles as NoFiles
from .errors import TooLong as TooLong
from .git import ask
from .scope import below, in_scope, is_cache, is_source, is_test

_DIRTY = 30  # paths in a row of evidence
_ROW_BYTES = 1900
_SHORT = 10
_TICK = 0.02  # seconds by which the times of files may be behind the clock


class Files(NamedTuple):
    """The files of a project at one moment."""

    top: str  # absolute path
    head: str  # the commit, "" without git or before the first commit
    blobs: Mapping[str, str]  # by path from the top: mode and contents, in a short text
    dirty: frozenset[str]  # paths that are not as in HEAD: changed, gone, untracked
    untracked: frozenset[str]
    modules: Mapping[str, str]  # repositories inside, with their HEAD


def look(folder: str, seconds: float, *, own: Iterable[str] = ()) -> Files:
    """
    Look at the files of the project that a folder belongs to.

    Parameters:
        folder: An absolute path, the directory of a check.
        seconds: How long it may take.
        own: Absolute paths of files and folders of ours, which do not count: the store, the state folder.

    Raises:
        TooLong: The time is over.
        NoFiles: The files cannot be looked at; its text says why. `TooLong` is one of these.
    """
    return start(folder, seconds, own=own)()


def start(folder: str, seconds: float, *, own: Iterable[str] = ()) -> Callable[[], Files]:
    """The same in two steps: begin to look, and return a function that waits for the files. Both raise as `look`."""
    end = time.monotonic() + seconds
    if "\0" in folder or not os.path.isdir(folder):
        raise NoFiles(f"{folder!r} is not a directory")
    own = tuple(own)
    try:
        os.scandir(folder).close()
        os.stat(os.path.join(folder, "."))  # it may be read and entered
        real = os.path.realpath(folder)
        begun = repository.begin(real)
    except OSError as error:
        raise _explained(folder, error) from None

    def finish() -> Files:
        try:
            return _look(real, begun, end, own)
        except OSError as error:
            raise _explained(folder, error) from None
        finally:
            if begun is not None:
                begun.end()

    return finish


def _explained(folder: str, error: OSError) -> NoFiles:
    if isinstance(error, FileNotFoundError):  # the folder, or git, has gone meanwhile
        return NoFiles(f"{folder!r} is gone")
    return NoFiles(f"{folder!r} cannot be read: {error.strerror}")


def _look(folder: str, begun: repository.Begun | None, end: float, own: Sequence[str]) -> Files:
    if begun is None:
        return _look_without_git(folder, end, own)
    found = repository.find(begun, end)
    if found is None:
        return _look_without_git(folder, end, own)
    files = _look_with_git(found, begun, end, own)
    inside = below(found.top, folder) + "/"
    if inside == "/" or any(path.startswith(inside) for path in files.blobs):
        return files
    if repository.is_ignored(found, folder, end):  # for git it is not part of the project
        return _look_without_git(folder, end, own)
    return files


def _look_with_git(found: repository.Repository, begun: repository.Begun, end: float, own: Sequence[str]) -> Files:
    listing = repository.read(found, begun, end, own)
    files = Files(found.top, found.head, listing.blobs, frozenset(listing.dirty), frozenset(listing.untracked), {})
    return _with_inner(files, listing.modules, end, own, True)


def _look_without_git(top: str, end: float, own: Sequence[str]) -> Files:
    blobs, inner = contents.read_folder(top, end, own)
    everything = frozenset(blobs)
    files = Files(top, "", blobs, everything, everything, {})
    return _with_inner(files, dict.fromkeys(inner, ""), end, own, False)


def _with_inner(files: Files, modules: Mapping[str, str], end: float, own: Sequence[str], has_git: bool) -> Files:
    """The files together with those of the repositories inside. `modules` says what HEAD has for them."""
    if not modules:
        return files
    blobs, heads = dict(files.blobs), {}
    dirty, untracked = set(files.dirty), set(files.untracked)
    for path, known in modules.items():
        inner = _look_inside(os.path.join(files.top, path), end, own, has_git)
        if inner is None:
            if known:
                blobs[path] = known  # a submodule that was not fetched
            continue
        heads[path] = f"{contents.MODULE} {inner.head}"
        if heads[path] != known:
            dirty.add(path)
        blobs.update({f"{path}/{name}": text for name, text in inner.blobs.items()})
        dirty.update(f"{path}/{name}" for name in inner.dirty)
        untracked.update(f"{path}/{name}" for name in inner.untracked)
    return Files(files.top, files.head, blobs, frozenset(dirty), frozenset(untracked), heads)


def _look_inside(folder: str, end: float, own: Sequence[str], has_git: bool) -> Files | None:
    """The files of a repository inside a project, with or without git; None if they do not count."""
    is_missing = not os.path.lexists(os.path.join(folder, ".git")) and not _has_entries(folder)
    is_other_tree = has_git and repository.is_linked_worktree(folder)
    is_skipped = os.path.islink(folder) or is_cache(os.path.basename(folder))
    if any((is_missing, is_other_tree, is_skipped)):
        return None
    folder = os.path.realpath(folder)
    begun = repository.begin(folder)
    if begun is None:
        return _look_without_git(folder, end, own)
    try:
        found = repository.find(begun, end)
        if found is not None and found.top == folder:
            return _look_with_git(found, begun, end, own)
    finally:
        begun.end()
    return _look_without_git(folder, end, own)


def _has_entries(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entries)
    except OSError:
        return False


def fingerprint(files: Files, scope: Iterable[str] = (), folder: str = "", without: Collection[str] = ()) -> str:
    """
    One text for the files that count.

    Parameters:
        files: As looked at.
        scope: Globs as in a `.gitignore`, from `folder`; there is no `!`. Empty: every file.
        folder: The absolute path of the check's directory; empty: the top.
        without: Paths that an observed run made; they do not count while they are untracked.

    Returns:
        32 hexadecimal digits, or "" if no file is in scope: then nothing can be said about them.
    """
    counts = _counting(files, scope, folder, without)
    return _digest(files, [path for path in files.blobs if counts(path)])


def fingerprint_tests(files: Files) -> str:
    """The same for tests, and for files that say how the project is built and checked; "" if there are none."""
    return _digest(files, [path for path in files.blobs if is_test(path)])


def _counting(files: Files, scope: Iterable[str], folder: str, without: Collection[str]) -> Callable[[str], bool]:
    inside = in_scope(scope, below(files.top, folder))
    left_out = files.untracked.intersection(without)

    def counts(path: str) -> bool:
        return path not in left_out and inside(path)

    return counts


def _digest(files: Files, paths: list[str]) -> str:
    if not paths:
        return ""
    blobs = files.blobs
    lines = "\n".join([f"{path}\0{blobs[path]}" for path in sorted(paths)])
    return hex_digest(os.fsencode(lines))[:32]


def digest_row(
    files: Files, scope: Iterable[str] = (), folder: str = "", without: Collection[str] = ()
) -> dict[str, object]:
    """
    What a row of evidence keeps, so that `changed_since` can count later: `base`, the commit, and `dirty`, by path a
    short hash of each file that was not as in that commit ("" if it was gone). Empty if that would be too much.
    """
    counts = _counting(files, scope, folder, without)
    paths = sorted(path for path in files.dirty if counts(path))
    if len(paths) > _DIRTY:
        return {}
    dirty = {path: _short(_text(files, path)) for path in paths}
    if len(json.dumps(dirty)) > _ROW_BYTES or not all(path.isprintable() for path in paths):
        return {}
    return {"base": files.head, "dirty": dirty}


def _text(files: Files, path: str) -> str:
    return files.blobs.get(path) or files.modules.get(path, "")


def _short(text: str) -> str:
    if not text:
        return ""
    return hex_digest(text.encode("utf-8", "surrogateescape"))[:_SHORT]


def changed_since(
    files: Files,
    base: str | None,
    dirty: Mapping[str, str] | None,
    scope: Iterable[str] = (),
    folder: str = "",
    without: Collection[str] = (),
    seconds: float = 0.3,
) -> int | None:
    """
    How many files differ from an earlier moment, of which a row kept `base` and `dirty`.
    None if that cannot be told: the row has neither, or git no longer has that commit. Never raises.
    """
    if base is None or dirty is None:
        return None
    before = _committed_changes(files, base, time.monotonic() + seconds)
    if before is None:
        return None
    counts = _counting(files, scope, folder, without)
    return sum(_has_changed(files, path, dirty, before) for path in {*files.dirty, *dirty, *before} if counts(path))


def _has_changed(files: Files, path: str, dirty: Mapping[str, str], before: Mapping[str, str]) -> bool:
    now = _text(files, path)
    if path in dirty:
        return _short(now) != dirty[path]
    if path in before:
        return now != before[path]
    return path in files.dirty  # then it was as in HEAD


def _committed_changes(files: Files, base: str, end: float) -> dict[str, str] | None:
    """What a former commit had, for the paths that are different in HEAD. None if git does not tell."""
    if base == files.head:
        return {}
    if not base:
        return dict.fromkeys(files.blobs, "")  # all there was is in `dirty`
    if not files.head or not base.isalnum():
        return None
    try:
        said = ask(files.top, end, "diff-tree", "-r", "-z", "--no-renames", base, files.head)
    except (NoFiles, OSError):
        return None
    if said.code:
        return None
    fields = os.fsdecode(said.out).split("\0")
    found = {}
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        mode, _, blob, *_ = about[1:].split(" ")
        found[path] = ""
        if mode != "000000":
            found[path] = f"{mode} {blob}"
    return found


class During(NamedTuple):
    """What happened to the files while a command ran."""

    changed: list[str]  # they were there before, or somebody wrote them: nobody knows which contents the command saw
    made: list[str]  # byproducts: untracked files that the command made


def modified_during(
    files: Files,
    start: float,
    *,
    before: Files | None = None,
    known: Collection[str] = (),
    scope: Iterable[str] = (),
    folder: str = "",
    without: Collection[str] = (),
    is_alone: bool = False,
) -> During:
    """
    Tell what happened to the files in scope since a command began. A new source file was written by somebody, and is
    not taken for a byproduct. If the command did make it, the next run finds it there.

    Parameters:
        files: As looked at after the command.
        start: When it began, as `time.time()` says it.
        before: The files as looked at before it. Then contents decide; a time is asked for only of tracked files that
            are not as in HEAD: they could have been put aside and back.
        known: Untracked paths that are known to be older, from an earlier row.
        is_alone: Whether nobody works on the files, as in CI: then the command made whatever is new.
    """
    counts = _counting(files, scope, folder, without)
    if before is not None:
        found = _compared(files, before, counts)
        if not is_alone:
            found = found._replace(changed=sorted({*found.changed, *_rewritten(files, start, counts)}))
    else:
        found = _timed(files, start, known, counts)
    written = [path for path in found.made if not is_alone and is_source(path)]
    made = [path for path in found.made if path not in written]
    return During(sorted([*found.changed, *written]), made)


def _timed(files: Files, start: float, known: Collection[str], counts: Callable[[str], bool]) -> During:
    changed, made = [], []
    now = time.time() + 2  # a time in the future says nothing
    looked_at = set(files.blobs)
    if files.head:  # what is as in HEAD now has not become something else
        looked_at &= files.dirty
    for path in sorted(path for path in looked_at if counts(path)):
        full = os.path.join(files.top, path)
        if not _is_touched(full, start, now):
            continue
        if path in files.untracked and path not in known and contents.born(full) >= start:
            made.append(path)
        else:
            changed.append(path)
    return During(changed, made)


def _rewritten(files: Files, start: float, counts: Callable[[str], bool]) -> list[str]:
    """The tracked files that are not as in HEAD and were written since: they could have been put aside and back."""
    start -= _TICK
    now = time.time() + 2
    modified = files.dirty.intersection(files.blobs) - files.untracked
    return [path for path in modified if counts(path) and _is_touched(os.path.join(files.top, path), start, now)]


def settle(files: Files) -> None:
    """Wait until what was written last is older than a tick, at most that long: then it can be told from what a command
    writes that begins now."""
    last = 0.0
    for path in files.dirty.intersection(files.blobs) - files.untracked:
        try:
            found = os.lstat(os.path.join(files.top, path))
        except OSError:
            continue
        last = max(last, found.st_mtime, found.st_ctime)
    left = last + _TICK - time.time()
    if 0 < left <= _TICK:
        time.sleep(left + 0.001)


def _compared(files: Files, before: Files, counts: Callable[[str], bool]) -> During:
    differences = set(files.blobs.items()) ^ set(before.blobs.items())
    paths = {path for path, _ in differences}
    different = sorted(filter(counts, paths))
    new = files.untracked.difference(before.blobs)
    made = [path for path in different if path in new]
    changed = [path for path in different if path not in new]
    return During(changed, made)


def _is_touched(path: str, start: float, now: float) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return True  # it was there a moment ago
    return start <= found.st_mtime <= now or start <= found.st_ctime <= now

"""The files of a git repository: what git knows of them, and the contents of those that git has not seen yet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from stat import S_ISREG

from ..core._typing import NamedTuple
from ..core.model import NOTHING
from . import contents
from .errors import NoFiles
from .git import Git, GitOutput, ask, start
from .scope import CACHES, ours, own_places

_LFS = b"version https://git-lfs.github.com/spec/v1\n"
_ABSENT = "000000"
# An environment in which git reads no settings but those of the repository.
_ALONE = {"HOME": os.devnull, "XDG_CONFIG_HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_SMALL = 100_000  # bytes
_SPECIAL = (b"filter", b"include", b"worktree", b"extensions")  # in the settings of a repository


class Repository(NamedTuple):
    """Where a repository is, and what git has said of it."""

    top: str
    head: str  # a commit, "" before the first one
    algorithm: str  # sha1 or sha256
    rules: Rules | None  # None: they were not needed yet
    changes: list[str] | None  # what is not as in HEAD, in lines of git; None: it was not asked yet


class Rules(NamedTuple):
    """What the settings of a repository say about its files."""

    settings: tuple[str, ...]  # of git, on top of those of the repository: its filters are switched off
    has_filters: bool
    has_modes: bool  # whether the file system tells programs from other files
    has_links: bool


class Listing(NamedTuple):
    """The files of one repository, without those of repositories in it."""

    blobs: dict[str, str]
    dirty: set[str]
    untracked: set[str]
    modules: dict[str, str]  # the repositories in it, with what HEAD has for them, "" if nothing


class Begun(NamedTuple):
    """A look at a repository that has begun: git reads while something else is done here."""

    folder: str
    top: str  # where it seems to be
    listing: Git
    status: Git | None = None  # if it can be asked at once
    place: Git | None = None  # otherwise
    config: Git | None = None

    def end(self) -> None:
        """End what still runs."""
        for git in (self.listing, self.status, self.place, self.config):
            if git is not None:
                git.end()


def begin(folder: str) -> Begun | None:
    """Begin to look at the repository that a folder belongs to; None if there is no git. Raises NoFiles."""
    top = _likely_top(folder)
    try:
        if not _has_bare(folder, top) and _has_no_filters(top):
            return Begun(folder, top, _start_listing(top), _start_status(top, (), _ALONE))
        return Begun(folder, top, _start_listing(top), None, *_start_finding(folder))
    except FileNotFoundError:
        return None


def _has_bare(folder: str, top: str) -> bool:
    """Whether there may be a repository without files on the way up, such as a `.git` folder itself."""
    while folder != top:
        if os.path.lexists(os.path.join(folder, "HEAD")):
            return True
        folder = os.path.dirname(folder)
    return os.path.lexists(os.path.join(top, "HEAD"))


def _has_no_filters(top: str) -> bool:
    """Whether this is a common repository, all settings of which are in one file, and that names no program to read
    files with. Then git can be asked for changes at once, if it does not read the settings of the user and the
    machine: these can name filters too, and say nothing else that matters for that."""
    folder = os.path.join(top, ".git")
    parts = [os.path.join(folder, name) for name in ("objects", "refs")]
    is_common = all(map(os.path.isdir, parts)) and not os.path.lexists(os.path.join(folder, "commondir"))
    if not is_common or any(name.startswith("GIT_CONFIG") for name in os.environ):
        return False
    head = _read_small(os.path.join(folder, "HEAD"))
    if not head.startswith(b"ref: refs/") and not re.fullmatch(rb"[0-9a-f]{40}\n?", head):
        return False  # git takes no such folder for a repository
    text = _read_small(os.path.join(folder, "config")).lower()
    return bool(text) and not any(word in text for word in _SPECIAL)


def _read_small(path: str) -> bytes:
    """What is in a small file; b"" if it is none, is not there or cannot be read."""
    try:
        found = os.lstat(path)
        if not S_ISREG(found.st_mode) or found.st_size > _SMALL:
            return b""
        with open(path, "rb") as file:
            return file.read(_SMALL)
    except OSError:
        return b""


def _start_finding(folder: str) -> tuple[Git, Git]:
    place = ("rev-parse", "--show-object-format", "--show-toplevel", "HEAD")
    return start(folder, *place), _start_config(folder)


def _start_config(folder: str) -> Git:
    return start(folder, "config", "-z", "--get-regexp", r"^(filter\..*|core\.(filemode|symlinks))$")


def _start_status(top: str, settings: Iterable[str], environment: Mapping[str, str] = NOTHING) -> Git:
    command = ("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=no", "--ignore-submodules=all")
    return start(top, *command, "--no-ahead-behind", "--no-renames", settings=settings, environment=environment)


def _likely_top(folder: str) -> str:
    """The nearest folder with a `.git` in it, or the folder itself. Only git knows for sure."""
    here = folder
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return folder
        here = above
    return here


def _start_listing(top: str) -> Git:
    caches = [f"--exclude={name}" for name in CACHES]
    command = ("ls-files", "-z", "--cached", "--others", "--stage", "-v", "--exclude-standard", *caches)
    return start(top, *command, settings=_case_settings(top))


def _case_settings(top: str) -> tuple[str, ...]:
    """Whatever was set: whether this file system tells a from A."""
    if os.path.lexists(os.path.join(top, ".GIT")):
        return ()
    return ("core.ignoreCase=false",)


def find(begun: Begun, end: float) -> Repository | None:
    """The repository that a folder belongs to; None if there is none. Raises NoFiles, TooLong."""
    if begun.status is not None:
        said = begun.status.finish(end)
        if said.code == 0:
            return _read_head(begun.top, _status_entries(said))
    if begun.place is None or begun.config is None:
        place, config = _start_finding(begun.folder)
    else:
        place, config = begun.place, begun.config
    try:
        return _locate(begun.folder, place.finish(end), config, end)
    finally:
        config.end()


def _read_head(top: str, entries: list[str]) -> Repository:
    head = ""
    for entry in entries:
        name, _, value = entry.partition("# branch.oid ")
        if not name and value.isalnum():  # not "(initial)"
            head = value
    return Repository(top, head, "sha1", None, entries)


def _locate(folder: str, found: GitOutput, config: Git, end: float) -> Repository | None:
    algorithm, _, rest = os.fsdecode(found.out).rstrip("\n").partition("\n")
    top, _, head = rest.rpartition("\n")
    if not top:
        _explain(found)
        return None
    top = os.path.realpath(top)
    if folder != top and not folder.startswith(os.path.join(top, "")):
        return None  # a setting of the repository says that its files are somewhere else
    if head == "HEAD":
        head = ""
    if algorithm != "sha256":
        algorithm = "sha1"
    return Repository(top, head, algorithm, _read_rules(top, config.finish(end)), None)


def _explain(found: GitOutput) -> None:
    """Say why a repository cannot be read, if there is one."""
    said = found.error
    if "not a git repository" in said or "invalid gitfile" in said:
        return
    if "dubious ownership" in said or "unsafe repository" in said:
        raise NoFiles(
            "git does not trust this folder, since it belongs to another user: see safe.directory in git's manual"
        )
    if "must be run in a work tree" in said:
        raise NoFiles("this is a git repository without files (bare)")
    raise NoFiles(f"git cannot read this repository: {_first_line(said)}")


def _first_line(said: str) -> str:
    _, found, reason = said.partition("fatal: ")
    if not found:
        _, found, reason = said.partition("error: ")
    if not found:
        return "it gives no reason"
    line = reason.partition("\n")[0][:200]
    return "".join(filter(str.isprintable, line))


def _pairs(config: GitOutput) -> list[tuple[str, str]]:
    entries = os.fsdecode(config.out).split("\0")
    return [(name, value) for name, _, value in (entry.partition("\n") for entry in entries) if name]


def _read_rules(top: str, config: GitOutput) -> Rules:
    """What the settings say. Filters are switched off: they are programs."""
    off: dict[str, None] = {}
    values = {"core.filemode": "true", "core.symlinks": "true"}
    for name, value in _pairs(config):
        if not name.startswith("filter."):
            values[name] = value.lower()
            continue
        driver = name.rpartition(".")[0]
        if "=" in driver:
            raise NoFiles("the repository has a filter whose name cannot be passed to git")
        off.update(dict.fromkeys((f"{driver}.clean=", f"{driver}.process=", f"{driver}.required=false")))
    return Rules(
        (*off, *_case_settings(top)),
        bool(off),
        values["core.filemode"] not in _NO,
        values["core.symlinks"] not in _NO,
    )


_NO = ("false", "no", "off", "0")


def read(repository: Repository, begun: Begun, end: float, own: Sequence[str]) -> Listing:
    """The files of a repository as they are now. Raises NoFiles, TooLong."""
    rules = repository.rules
    if repository.changes is not None:
        index = _listed(_entries(_finish_listing(repository, begun, end)))
        return _completed(repository, end, own, index, _changed(repository.changes))
    assert rules is not None
    status = _start_status(repository.top, rules.settings)
    try:
        index = _listed(_entries(_finish_listing(repository, begun, end)))  # git is still busy with the other answer
        return _completed(repository, end, own, index, _changed(_status_entries(status.finish(end))))
    finally:
        status.end()


def _finish_listing(repository: Repository, begun: Begun, end: float) -> GitOutput:
    if begun.top == repository.top:
        return begun.listing.finish(end)
    return _start_listing(repository.top).finish(end)


def _entries(answer: GitOutput) -> list[str]:
    if answer.code:
        raise NoFiles(f"git cannot read this repository: {_first_line(answer.error)}")
    return os.fsdecode(answer.out).split("\0")


def _status_entries(answer: GitOutput) -> list[str]:
    """The lines of `git status`. Of a tracked file that it cannot look at, it says nothing in them, as of one that has
    not changed."""
    for line in answer.error.splitlines():
        path, _, reason = line.rpartition(": ")
        if reason in _NOT_LOOKED_AT and not line.startswith(("warning: ", "hint: ")):
            raise NoFiles(f"{path!r} cannot be looked at: {reason}")
    return _entries(answer)


_NOT_LOOKED_AT = ("Permission denied", "Input/output error", "Stale file handle", "Too many levels of symbolic links")


class _Index(NamedTuple):
    """What git has listed."""

    blobs: dict[str, str]  # of all tracked files, as they were added
    unsure: set[str]  # tracked, and git was told not to look, or has several
    sparse: set[str]  # of these, the ones that need not be there
    untracked: set[str]
    modules: dict[str, str]


def _listed(entries: list[str]) -> _Index:
    """Read lines such as `H 100644 BLOB 0<tab>PATH`, all of the same width before the path, and `? PATH`."""
    plain = [entry for entry in entries if entry.startswith(("H 100", "H 120"))]
    width = 0
    if plain:
        width = plain[0].index("\t")
    index = _Index({entry[width + 1 :]: entry[2 : width - 2] for entry in plain}, set(), set(), set(), {})
    for entry in entries:
        if not entry.startswith(("H 100", "H 120")):
            _add_odd(index, entry)
    return index


def _add_odd(index: _Index, entry: str) -> None:
    about, _, path = entry.partition("\t")
    if entry.startswith("? "):
        _add_untracked(index, entry[2:])
    elif about[2:8] == contents.MODULE:
        index.modules[path] = about[2:-2]
    elif about:
        index.blobs[path] = about[2:-2]
        index.unsure.add(path)
        if entry[0] in "Ss":
            index.sparse.add(path)


def _add_untracked(index: _Index, path: str) -> None:
    if path.endswith("/"):
        index.modules[path[:-1]] = ""
    else:
        index.untracked.add(path)


def _changed(entries: Iterable[str]) -> dict[str, tuple[str, bool]]:
    """The tracked paths that are not as in HEAD: what HEAD has ("" for nothing), and whether the file is there."""
    found = {}
    for entry in entries:
        fields = entry.split(" ", 8)
        if fields[0] == "1":
            mode, here, before, path = fields[3], fields[5], fields[6], fields[8]
        elif fields[0] == "u":
            fields = entry.split(" ", 10)
            mode, here, before, path = fields[4], fields[6], fields[8], fields[10]
        else:
            continue
        head = ""
        if mode != _ABSENT:
            head = f"{mode} {before}"
        found[path] = (head, here != _ABSENT)
    return found


def _completed(
    repository: Repository, end: float, own: Sequence[str], index: _Index, changed: Mapping[str, tuple[str, bool]]
) -> Listing:
    """The listing with the contents of the files that git has not seen, or was told not to look at."""
    untracked = _without_tagged(index.untracked)
    doubtful = index.unsure.union(changed, untracked)
    places = own_places(repository.top, own)
    skipped = ours(index.blobs, places) | ours(doubtful, places)
    doubtful -= skipped
    present = [path for path in doubtful if path in untracked or path not in changed or changed[path][1]]
    blobs = dict(index.blobs)
    heads = {path: blobs.get(path, "") for path in doubtful}
    heads.update({path: changed[path][0] for path in doubtful if path in changed})
    for path in doubtful | skipped:
        blobs.pop(path, None)
    blobs.update(_texts(repository, sorted(present), index.blobs, end))
    dirty = {path for path in doubtful - index.sparse.difference(blobs) if blobs.get(path, "") != heads[path]}
    return Listing(blobs, dirty, untracked.intersection(blobs), index.modules)


def _without_tagged(paths: set[str]) -> set[str]:
    """Leave out folders that say themselves that they are caches, as the `target` of Cargo does."""
    tag = "/CACHEDIR.TAG"
    tags = [path for path in paths if path.endswith(tag)]
    folders = tuple(path.removesuffix(tag) + "/" for path in tags)
    return {path for path in paths if not path.startswith(folders)}


def _texts(repository: Repository, paths: list[str], known: Mapping[str, str], end: float) -> dict[str, str]:
    """What tells the contents of files, as git would say it when they are added."""
    if not paths:
        return {}
    rules = repository.rules or _read_rules(repository.top, _start_config(repository.top).finish(end))
    found: dict[str, str] = {}
    plain: dict[str, str] = {}
    for path in paths:
        full = os.path.join(repository.top, path)
        kind = contents.kind_of(full)
        if kind is None or kind[0] == contents.MODULE:
            continue  # it is gone, or a folder has taken its place
        mode, about = kind
        if mode == contents.LINK:
            found[path] = f"{mode} {contents.link_blob(full, repository.algorithm)}"
        elif mode == "" or about.st_size > contents.LARGE:
            found[path] = f"{mode} {contents.by_size(about)}"
        else:
            plain[path] = _mode(rules, mode, known.get(path, ""))
    for path, text in _hashes(repository, rules, list(plain), end).items():
        found[path] = f"{plain[path]} {text}"
    return found


def _mode(rules: Rules, mode: str, known: str) -> str:
    """The mode of a plain file. Where the file system cannot tell, git knows better."""
    is_link = known.startswith(contents.LINK)
    trusted = rules.has_modes
    if is_link:
        trusted = rules.has_links
    if trusted:
        return mode
    return known[:6] or contents.PLAIN


def _hashes(repository: Repository, rules: Rules, paths: list[str], end: float) -> dict[str, str]:
    """The names that git would give to the contents: line ends are changed as in HEAD. Filters are not run."""
    found = _large_pointers(repository, rules, paths, end)
    waiting = [path for path in paths if path not in found]
    while waiting:
        sent = b"\n".join(_quoted(path) for path in waiting)
        command = ("hash-object", "--stdin-paths")
        said = ask(repository.top, end, *command, settings=rules.settings, sent=sent + b"\n")
        hashes = said.out.decode().split()
        found.update(zip(waiting, hashes, strict=False))
        waiting = waiting[len(hashes) :]
        if waiting:  # git stops at a file that it cannot read
            stopped = waiting.pop(0)
            found[stopped] = contents.unreadable(os.path.join(repository.top, stopped))
    return {path: text for path, text in found.items() if text}


def _quoted(path: str) -> bytes:
    """A path as git reads it from a line."""
    plain = os.fsencode(path)
    if not plain.startswith(b'"') and b"\n" not in plain and b"\r" not in plain:
        return plain
    return b'"' + b"".join([b"\\%03o" % byte for byte in plain]) + b'"'


def _large_pointers(repository: Repository, rules: Rules, paths: list[str], end: float) -> dict[str, str]:
    """For files that Git LFS keeps: the names of the small texts that stand for them, made without running it."""
    if not paths or not rules.has_filters:
        return {}
    sent = b"\0".join(os.fsencode(path) for path in paths) + b"\0"
    command = ("check-attr", "--stdin", "-z", "filter")
    said = ask(repository.top, end, *command, settings=rules.settings, sent=sent)
    fields = os.fsdecode(said.out).split("\0")
    kept = [path for path, value in zip(fields[::3], fields[2::3], strict=False) if value == "lfs"]
    found = {}
    for path in kept:
        pointer = _pointer(os.path.join(repository.top, path), end)
        if pointer:
            found[path] = contents.blob(pointer, repository.algorithm)
    return found


def _pointer(path: str, end: float) -> bytes:
    """The text that stands for a large file; b"" if the file is such a text itself, or empty."""
    try:
        with open(path, "rb") as file:
            start = file.read(len(_LFS))
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return b""
    if start in (b"", _LFS):
        return b""
    return _LFS + f"oid sha256:{contents.hash_file(path, end)}\nsize {size}\n".encode()


def is_linked_worktree(folder: str) -> bool:
    """Whether a folder is another worktree of some repository: a tree of its own, not part of the one around it."""
    try:
        with open(os.path.join(folder, ".git"), encoding="utf-8", errors="surrogateescape") as file:
            place = file.read(5000).removeprefix("gitdir:").strip()
    except OSError:
        return False
    return os.path.exists(os.path.join(folder, place, "commondir"))


def is_ignored(repository: Repository, folder: str, end: float) -> bool:
    """Whether git ignores a folder."""
    command = ("check-ignore", "-q", "--", folder)
    said = ask(repository.top, end, *command, settings=_case_settings(repository.top))
    return said.code == 0

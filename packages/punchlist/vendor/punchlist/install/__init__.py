"""Attach punchlist to an agent, and detach it: its settings are edited, and not a byte that is not ours.

Imported by the commands only: hooks have no use for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from .. import hosts
from ..core.errors import Refused, StoreError
from . import receipts
from .apply import add_parts, find_blocked_lines, find_theirs, holds, is_nothing, is_sure, strip_parts
from .attached import BESIDE
from .parts import PROJECT, SCOPES, USER, Part, Where, as_dict
from .script import launcher, launchers

__all__ = [
    "PROJECT",
    "SCOPES",
    "USER",
    "Edit",
    "Installer",
    "Part",
    "Where",
    "attach",
    "detach",
    "installer_for",
    "is_attached",
]

_TRIES = 100  # times that somebody else may write while we do


class Installer(Protocol):
    """What `hosts/NAME/install.py` declares."""

    TITLE: str  # what people call it
    PROGRAM: str  # the command that starts it
    CANNOT: str  # what it does not let us do, in one sentence
    NEXT: str  # what is left to do by hand, or nothing

    def parts(self, where: Where) -> tuple[Part, ...]:
        """All that is installed."""

    def home(self, where: Where) -> str:
        """The folder with the user's settings of this host."""

    def problems(self, where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What keeps an attached host from working, and how to fix it. `there` is what is in its files now."""


class Edit(NamedTuple):
    """What is done to a file."""

    file: str
    parts: tuple[str, ...]  # the names of those that are in it, or were
    old: bytes | None
    new: bytes | None  # nothing: the file is removed
    before: bytes | None = None  # how it was when we came
    stays: bool = False  # whether something of ours is in it from now on
    kept: tuple[str, ...] = ()  # the places in it that are somebody else's where ours would be

    @property
    def is_change(self) -> bool:
        return self.old != self.new


def installer_for(name: str) -> Installer:
    """Return the installer of a host. Raises Refused."""
    installer: Installer = hosts.load(name, ".install")
    return installer


def here(scope: str, script: str) -> Where:
    """The user who asks, in the directory they are in."""
    try:
        where = Where(scope, os.path.expanduser("~"), os.getcwd(), script, os.environ)
        if scope == USER:
            return where._replace(launchers=launchers())
        return where
    except FileNotFoundError:
        raise Refused("the directory you are in is gone; change to one that exists.") from None


def parts_of(name: str, where: Where) -> tuple[Part, ...]:
    """Return all that is installed for a host: what it declares, and the file that starts its hooks."""
    parts = installer_for(name).parts(where)
    hooks = [part.name for part in parts if part.name in ("hooks", "plugin")]
    if not where.launchers or not hooks:
        return parts
    return (*parts, Part(hooks[0], "file", (where.starter(name),), value=launcher))


@receipts.explained()
def attach(name: str, where: Where, without: Sequence[str] = (), *, dry: bool = False) -> list[Edit]:
    """Put all parts where they belong, except those that are not wanted, which are taken out."""
    parts = parts_of(name, where)
    _require_known(without, parts)
    if is_own(name, where):
        raise Refused(
            f"{where.project} is not a project: your own settings are there; "
            "leave --scope project out to attach for you, or change to the directory of a project."
        )
    if not dry and (prepare := getattr(installer_for(name), "prepare", None)):
        prepare(where)
        parts = parts_of(name, where)
    files = [locate(part, name) for part in parts]
    files.sort(key=lambda file: file != where.starter(name))  # what hooks run is there before they are
    edits = _do_all(files, _work(name, where, without), name, where.scope, dry=dry)
    return _worth_telling(edits, name, where)


def preview(name: str, where: Where, without: Sequence[str]) -> list[Edit]:
    """What attaching would come to, whether or not it can be done."""
    work = _work(name, where, without)
    return [work(file) for file in dict.fromkeys(locate(part, name) for part in parts_of(name, where))]


def is_attached(name: str, where: Where) -> bool:
    """Return whether an agent is attached by its settings files."""
    parts = [part for part in installer_for(name).parts(where) if part.name not in BESIDE]
    try:
        return any(read_part(part, locate(part, name), name)[1] for part in parts)
    except (Refused, OSError):  # whoever edits them will say what is wrong
        return False


def is_own(name: str, where: Where) -> bool:
    """Whether the settings of this directory are the user's own, as in their home, and not those of a project."""
    at_home = os.path.realpath(where.project) == os.path.realpath(where.home)
    return where.scope == PROJECT and (at_home or bool(_shared_files(name, where)))


@receipts.explained()
def detach(name: str, where: Where, *, dry: bool = False) -> list[Edit]:
    """Take all parts out again."""
    shared = _shared_files(name, where)
    parts = [part for part in parts_of(name, where) if not shared.intersection(part.files)]
    sure = _are_sure(parts, name)

    def work(file: str) -> Edit:
        return _detach(file, [part for part in parts if file in part.files], name, sure=sure)

    edits = _do_all([file for part in parts for file in part.files], work, name, where.scope, dry=dry)
    if not dry and (clean_up := getattr(installer_for(name), "clean_up", None)):
        clean_up(where)
    return [edit for edit in _worth_telling(edits, name, where) if edit.is_change or edit.kept]


def locate(part: Part, name: str) -> str:
    """The file a part is in, or will be."""
    if len(part.files) == 1:
        return part.files[0]
    there = [file for file in part.files if os.path.exists(file)]
    mine = [file for file in there if read_part(part, file, name)[1]]
    return [*mine, *there, part.files[-1]][0]


def read_part(part: Part, file: str, name: str) -> tuple[str, bool]:
    """The text of a file, and whether it holds a part."""
    with about(file):
        text = content(file)
        return text, holds(text, part, name)


def content(file: str) -> str:
    """The text of a file; nothing if there is none."""
    return receipts.text(receipts.load(receipts.target(file)))


def look_into(*path: str) -> dict[str, Any]:
    """What a JSON or TOML file of an agent holds; nothing if it is not there or cannot be read."""
    from . import edit_json, edit_toml

    read = edit_toml.read if path[-1].endswith(".toml") else edit_json.read
    try:
        return as_dict(read(content(os.path.join(*path))))
    except (Refused, OSError):
        return {}


# --- inside ----------------------------------------------------------------------------------------------------------


def _worth_telling(edits: list[Edit], name: str, where: Where) -> list[Edit]:
    """What was done, without the file in our own folder that starts hooks, unless nothing else was."""
    others = [edit for edit in edits if edit.file != where.starter(name)]
    if any(edit.is_change for edit in edits) and not any(edit.is_change for edit in others):
        return edits
    return others


def _require_known(without: Sequence[str], parts: Iterable[Part]) -> None:
    names = _names(parts)
    for name in without:
        if name not in names:
            raise Refused(f"no part {name!r}; the parts are {', '.join(map(repr, names))}.")


def _work(name: str, where: Where, without: Sequence[str]) -> Callable[[str], Edit]:
    """What becomes of a file, once all parts are in it that are wanted."""
    parts = parts_of(name, where)
    sure = _are_sure(parts, name)

    def work(file: str) -> Edit:
        mine = [part for part in parts if locate(part, name) == file]
        unwanted = [part for part in mine if part.name in without]
        script = where.script
        if all(part.kind == "file" and part.name != "panel" for part in mine):  # the file is ours, and runs hooks
            script = where.starter(name)
        return _attach(_detach(file, mine, name, sure=sure), mine, unwanted, name, script)

    return work


def _shared_files(name: str, where: Where) -> set[str]:
    """The files of a project that are the user's own as well, as in their home."""
    if where.scope != PROJECT:
        return set()
    parts = installer_for(name).parts
    own = {os.path.realpath(file) for part in parts(where._replace(scope=USER)) for file in part.files}
    mine = {file for part in parts(where) for file in part.files}
    return {file for file in mine if os.path.realpath(file) in own}


def _are_sure(parts: Sequence[Part], name: str) -> bool:
    """Whether we were here, though all that we wrote down about it is lost."""
    each = [(part, file) for part in parts for file in part.files]
    seen = [_is_sure(part, file, name) for part, file in each]
    return any(seen) and not any(receipts.receipt_of(file) for _, file in each)


def _is_sure(part: Part, file: str, name: str) -> bool:
    with about(file):
        return is_sure(content(file), part, name)


def _attach(bare: Edit, parts: list[Part], unwanted: list[Part], name: str, script: str) -> Edit:
    """What becomes of a file, of which it is known what it would be without us."""
    file, old, before = bare.file, bare.old, receipts.text(bare.new)
    wanted = [part for part in parts if part not in unwanted]
    receipt = receipts.receipt_of(file)
    edited = receipt is not None and old == bare.new and not is_nothing(receipts.text(old))
    first = before
    if receipt:
        first = receipts.text(receipt.before)
    text = strip_parts(receipts.text(old), unwanted, name, first)
    new = add_parts(text, [part for part in wanted if part.kind != "file" or not edited], name, script, before)
    places = tuple(dict.fromkeys([*find_theirs(new, parts, name, before), *find_blocked_lines(new, wanted, name)]))
    data: bytes | None = new.encode()
    if not wanted and bare.new is None and is_nothing(new):
        data = None
    return Edit(file, _names(wanted), old, data, bare.new, bool(wanted), places)


def _detach(file: str, parts: list[Part], name: str, *, sure: bool) -> Edit:
    """The file as it was, if nobody else wrote it; else without what is ours."""
    old = receipts.load(receipts.target(file))
    receipt = receipts.receipt_of(file)
    if old is None:
        return Edit(file, _names(parts), None, None)
    if receipt and receipts.digest(old) == receipt.after:
        then = receipts.text(receipt.before)
        taken, places = _names_in(receipts.text(old), parts, name, then), find_theirs(then, parts, name, then)
        return Edit(file, taken, old, receipt.before, kept=tuple(places))
    before: str | None = None
    ours = all(part.kind == "file" for part in parts)
    if receipt:
        before = receipts.text(receipt.before)
        ours = receipt.before is None
    elif not sure:
        before = receipts.text(old)
    text = strip_parts(receipts.text(old), parts, name, before)
    new: bytes | None = text.encode()
    if ours and is_nothing(text) and new != old:
        new = None
    taken = _names_in(receipts.text(old), parts, name, before)
    return Edit(file, taken, old, new, kept=tuple(find_theirs(text, parts, name, before)))


def _names_in(text: str, parts: Sequence[Part], name: str, before: str | None) -> tuple[str, ...]:
    """The names of the parts that are taken out of a text."""
    return _names(part for part in parts if strip_parts(text, [part], name, before) != text)


def _names(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.name for part in parts))


def _do_all(names: list[str], work: Callable[[str], Edit], host: str, scope: str, *, dry: bool) -> list[Edit]:
    """Work out what is to be done to every file, and only then do it."""
    each = list(dict.fromkeys(names))
    edits = [_plan(file, work) for file in each]
    if dry or not any(edit.is_change or _is_torn(edit) for edit in edits):
        return edits
    with about(receipts.folder()):
        receipts.require_writable(os.path.join(receipts.folder(), "lock"))
    with receipts.lock():
        done = _write_all(each, work, host, scope)
        receipts.drop_folders(folder for _, folders in done for folder in folders)
    return [edit for edit, _ in done]


def _plan(file: str, work: Callable[[str], Edit]) -> Edit:
    with about(file):
        edit = work(file)
        if edit.is_change:
            receipts.require_writable(receipts.target(file))
        return edit


def _write_all(
    files: list[str], work: Callable[[str], Edit], host: str, scope: str
) -> list[tuple[Edit, tuple[str, ...]]]:
    """Do what is to be done to all files. If it cannot be done to one, all are put back."""
    begun: dict[str, _Begun] = {}
    try:
        return [_write_or_retry(file, work, host, scope, begun) for file in files]
    except Refused as refusal:
        left = _put_all_back(begun, host)
        if not left:
            raise
        raise Refused(f"{refusal} {left}") from None
    except OSError as error:
        left = _put_all_back(begun, host)
        raise StoreError(f"{receipts.why(error)} {left or 'Nothing was changed.'}") from None


class _Begun(NamedTuple):
    """A file that is being written, as it was before."""

    path: str
    mode: int
    receipt: receipts.Receipt | None
    folders: tuple[str, ...]  # that were not there
    edit: Edit


def _put_all_back(begun: Mapping[str, _Begun], host: str) -> str:
    """Put files back, the last one first, and return what to say of those that this fails for. What was written before
    one of those stays: settings must not name a file that is gone."""
    left = list(begun.values())
    try:
        while left:
            _put_back(left[-1])
            left.pop()
    except (OSError, Refused, receipts.Moved):
        changed = ", ".join(one.path for one in left if one.edit.is_change)
        return f"Already written, and could not be put back: {changed}. To restore: punchlist uninstall {host}"
    return ""


def _put_back(one: _Begun) -> None:
    if receipts.load(one.path) != one.edit.old:
        receipts.swap(one.path, one.edit.new, one.edit.old, one.mode)
    if one.receipt:
        receipts.save(one.receipt)
    else:
        receipts.forget(one.path)
    receipts.drop_folders(one.folders)


def _write_or_retry(
    file: str, work: Callable[[str], Edit], host: str, scope: str, begun: dict[str, _Begun]
) -> tuple[Edit, tuple[str, ...]]:
    """Do what is to be done to a file, and the folders it leaves behind. Whoever else writes it meanwhile is not
    overwritten."""
    with about(file):
        path = receipts.target(file)
        mode = os.stat(path).st_mode & 0o7777 if os.path.exists(path) else 0o600
        receipt, folders = receipts.receipt(path), receipts.missing_folders(path)
        for _ in range(_TRIES):
            edit = work(file)
            begun[file] = _Begun(path, mode, receipt, folders, edit)
            try:
                return edit, _write(edit, host, scope)
            except receipts.Moved:
                del begun[file]
        raise Refused("somebody else keeps writing it; try again when they are done.")


def _is_torn(edit: Edit) -> bool:
    """Whether one of us was killed here: what it left behind is cleared away. Or whether somebody took the right to run
    a command."""
    path = receipts.target(edit.file)
    if _is_command(edit) and not os.access(path, os.X_OK):
        return True
    return receipts.has_draft(path) or (not edit.stays and receipts.receipt_of(edit.file) is not None)


def _is_command(edit: Edit) -> bool:
    return edit.new is not None and edit.new.startswith(b"#!")


def _write(edit: Edit, host: str, scope: str) -> tuple[str, ...]:
    """The receipt first: killed in between, we have kept a copy of a file that is as it was, and know which folders
    are ours."""
    path = receipts.target(edit.file)
    receipts.drop_draft(path)
    receipt = receipts.receipt_of(edit.file)
    folders = receipt.folders if receipt else ()
    if receipt and receipt.file != path:
        receipts.restore(receipt)
    if edit.is_change and edit.new is not None:
        missing = receipts.missing_folders(path)
        folders += missing
        if edit.stays:
            after = receipts.digest(edit.new)
            receipts.save(receipts.Receipt(path, host, scope, edit.before, after, folders, edit.file, edit.parts))
        receipts.make_folders(missing, 0o700 if scope == USER else 0o755)
    if edit.is_change:
        mode = 0o600 if scope == USER else 0o644
        receipts.swap(path, edit.old, edit.new, mode)
    if _is_command(edit):
        os.chmod(path, os.stat(path).st_mode | 0o100)
    if edit.stays:
        return ()
    receipts.forget(path)
    return folders


@contextmanager
def about(file: str) -> Iterator[None]:
    """Say which file it is about."""
    try:
        yield
    except Refused as error:
        raise Refused(f"{file}: {error}") from None

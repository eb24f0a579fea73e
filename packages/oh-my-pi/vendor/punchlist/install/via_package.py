"""Attach by the command that an agent has for plugins, from a folder that leads to this installation. Imported by the
commands only."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol

from .. import hosts
from ..core.errors import Refused
from ..core.text import cut, inline
from ..local.files import lock_file
from ..local.settings import state_folder
from . import Edit, about, edit_json, edit_toml, installer_for, is_attached, receipts
from . import attach as attach_settings
from .attached import LINE
from .package import PROGRAM, File, Files, filled, is_written, write
from .packages import AgentPackage, package_of
from .parts import NAME, USER, Where, within

PACKAGE, SETTINGS = "package", "settings"
_SECONDS = 60
_FOLDER = "@FOLDER@"  # in a command: where the folder of the package goes


class Route(AgentPackage, Protocol):
    """A package that `punchlist install` can have the agent install."""

    ADD: tuple[tuple[str, ...], ...]  # arguments of the agent's program, one command each
    REMOVE: tuple[tuple[str, ...], ...]
    QUIET: Mapping[str, str]  # environment in which these commands send nothing off the machine
    ENABLE: str  # how the user enables a package that is disabled

    def marketplace(self, source: str) -> Files:
        """The file by which the agent finds the package in a folder."""

    def why_not(self, where: Where) -> str:
        """Why the program cannot run the package; empty if it can."""

    def source(self, where: Where) -> str:
        """Where the agent takes packages of our name from; empty if from nowhere."""

    def installed(self, where: Where) -> str:
        """The version of the package that it has, be it enabled or not; empty if it has none, or another's."""

    def is_enabled(self, where: Where) -> bool:
        """Whether the agent uses the package that it has."""

    def copy(self, where: Where) -> str:
        """The folder with the agent's own copy of it; empty if there is none."""

    def changed_by_agent(self, where: Where) -> tuple[str, ...]:
        """The files of the user that these commands change."""

    def traces(self, where: Where) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The files in which the agent writes about our package, and where in them."""

    def left_by_agent(self, where: Where) -> tuple[str, ...]:
        """The folders and files of ours that the agent leaves behind once the package is removed."""


class Done(NamedTuple):
    """What was done, or would be."""

    folder: str
    commands: tuple[tuple[str, ...], ...]


def shown(command: Sequence[str]) -> str:
    """Return a command as a person would type it."""
    return shlex.join([os.path.basename(command[0]), *command[1:]])


def route_of(name: str) -> Route | None:
    """Return how an agent installs a package of ours; nothing if it does not, or not from here."""
    found = package_of(name)
    if found is None or not hasattr(found, "ADD"):
        return None
    route: Route = hosts.load(name, ".package")
    return route


def why_not(name: str, where: Where) -> str:
    """Return why an agent cannot be attached by a package; empty if it can."""
    route = route_of(name)
    if route is None or os.name == "nt":
        return f"{name} takes no package from here"
    if where.scope != USER:
        return "a package is for the user, not for one project"
    if _program(name, where) is None:
        return f"{_installer_program(name)} is not on the PATH"
    source = route.source(where)
    if source and not _is_ours(source, name) and not route.installed(where):
        return f"it takes something else that is called punchlist from {inline(source)}"
    return route.why_not(where)


def installed(name: str, where: Where) -> str:
    """Return the version of our package that an agent has; empty if it has none."""
    find = getattr(package_of(name), "installed", None)
    if find is None or where.scope != USER:
        return ""
    return str(find(where))


def is_theirs(name: str, where: Where) -> bool:
    """Return whether the agent has a package of ours that did not come from `punchlist install`."""
    if not installed(name, where):
        return False
    route = route_of(name)
    return route is None or not _is_ours(route.source(where), name)


def is_disabled(name: str, where: Where) -> bool:
    """Return whether the agent has our package, and does not use it."""
    route = route_of(name)
    return route is not None and bool(installed(name, where)) and not route.is_enabled(where)


def attach_line(name: str, where: Where, *, is_wanted: bool = True, dry: bool = False) -> list[Edit]:
    """Put the plan into the agent's status line, where it has one that a package cannot set: that is what shows it
    where the panel of the package is off."""
    names = {part.name for part in installer_for(name).parts(where)}
    if LINE not in names or is_attached(name, where):
        return []
    if is_wanted:
        names.remove(LINE)
    return attach_settings(name, where, sorted(names), dry=dry)


def problems(name: str, where: Where) -> list[tuple[str, str]]:
    """Return what keeps the package that an agent has from working, and how to fix it."""
    find = getattr(package_of(name), "problems", None)
    found: list[tuple[str, str]] = [] if find is None else list(find(where))
    route = route_of(name)
    if route is None:
        return found
    source, again = route.source(where), f"punchlist install {name}"
    if not _is_ours(source, name):
        if os.path.isabs(source) and not os.path.exists(source):
            words = f"the folder that the package was installed from is gone: {inline(source)}"
            found.append((words, "add it again from where it is now, with the commands of the agent"))
        return found
    places = (os.path.join(source, NAME), route.copy(where))
    if not all(os.path.exists(os.path.join(place, PROGRAM)) for place in places):
        found.append(("files of the package are gone", again))
    gone = _lost_script(source)
    if gone:
        found.append((f"the package starts {inline(gone)}, which is gone", again))
    return found


def _lost_script(source: str) -> str:
    """The script that a package of ours starts, if that is gone."""
    try:
        with open(os.path.join(source, NAME, PROGRAM), encoding="utf-8") as file:
            words = shlex.split(file.read(), comments=True)
    except (OSError, ValueError):
        return ""
    script = next((words[place + 1] for place in range(len(words) - 1) if words[place] == "-x"), "")
    if os.access(script, os.X_OK):
        return ""
    return script


@receipts.explained()
def attach(name: str, where: Where, *, dry: bool = False) -> Done:
    """Have the agent install our package, unless it has it. Raises Refused; nothing of ours is left then."""
    route = _required(name, where)
    done = _done(name, where, route.ADD)
    inside = _inside(route, name, where.script)
    places = (os.path.join(done.folder, NAME), route.copy(where))
    if route.is_enabled(where) and all(is_written(inside, place) for place in places):
        return done._replace(commands=())
    if dry:
        return done
    for file in route.changed_by_agent(where):
        with about(file):
            receipts.require_writable(receipts.target(file))
    with _lock():
        is_installed = bool(route.installed(where))
        begun = [_begin(file, name, where, route) for file in route.changed_by_agent(where)]
        write(_files(route, inside), done.folder)
        try:
            if is_installed:
                _drop_copy(name, where, route)
            for command in done.commands:
                _run(command, where, route.QUIET)
            _require_installed(route, done, where)
        except Refused:
            if not is_installed:
                _undo(name, where, route)
            raise
        for one in begun:
            _note(one)
    return done


@receipts.explained()
def detach(name: str, where: Where, *, dry: bool = False) -> Done | None:
    """Have the agent remove our package; nothing if it has none, or one that did not come from here. Files that it
    changed are restored byte for byte, if nobody else has changed them since. Raises Refused."""
    route = route_of(name)
    if route is None or where.scope != USER:
        return None
    is_ours = _is_ours(route.source(where), name)
    if not is_ours and not os.path.exists(_folder(name)):
        return None
    done = _done(name, where, route.REMOVE if is_ours else ())
    if dry:
        return done
    with _lock():
        _undo(name, where, route)
    return done


def is_last(name: str, where: Where) -> bool:
    """Return whether nobody, not even we, has written the files of the user since the agent installed our package."""
    route = route_of(name)
    if route is None or where.scope != USER:
        return False
    return any(_is_as_left(one) for one in _receipts(route, where))


# --- inside ----------------------------------------------------------------------------------------------------------


def _is_ours(source: str, name: str) -> bool:
    """Whether an agent takes packages from a folder of `punchlist install`, be it that of another state directory."""
    return source.rstrip(os.sep).endswith(os.path.join("", NAME, "packages", name))


def _root() -> str:
    """Where packages are that lead to this installation, and receipts for what agents did with them."""
    return os.path.join(state_folder(os.environ), "packages")


def _folder(name: str) -> str:
    return os.path.join(_root(), name)


@contextmanager
def _lock() -> Iterator[None]:
    """One of us at a time: the agent's commands read and write files without a lock."""
    handle = lock_file(os.path.join(_root(), "lock"))
    try:
        yield
    finally:
        os.close(handle)


def _inside(route: Route, name: str, script: str) -> Files:
    """The package, with a program that leads to this installation."""
    program = filled("linked.sh.in", script=shlex.quote(script), host=name)
    return {**route.files(), PROGRAM: File(program, 0o755)}


def _files(route: Route, inside: Files) -> Files:
    """The package in a folder that the agent takes packages from."""
    return {**{f"{NAME}/{path}": file for path, file in inside.items()}, **route.marketplace(f"./{NAME}")}


def _required(name: str, where: Where) -> Route:
    why = why_not(name, where)
    route = route_of(name)
    if why or route is None:
        raise Refused(f"{why}; to edit its settings instead: --via settings.")
    return route


def _done(name: str, where: Where, words: Sequence[tuple[str, ...]]) -> Done:
    program = _program(name, where) or _installer_program(name)
    folder = _folder(name)
    return Done(folder, tuple((program, *(folder if word == _FOLDER else word for word in one)) for one in words))


def _run(command: Sequence[str], where: Where, quiet: Mapping[str, str]) -> None:
    """Run a command of the agent. Raises Refused, with what it said."""
    words = shown(command)
    try:
        done = subprocess.run(
            command,
            cwd=where.home,
            env={**where.environ, **quiet},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"`{words}` took longer than {_SECONDS} seconds.") from None
    except OSError as error:
        raise Refused(f"`{words}` could not be started: {error.strerror}.") from None
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        said = cut(inline(lines[-1]), 300) if lines else "it said nothing"
        raise Refused(f"`{words}` failed: {said.rstrip('.')}.")


def _drop_copy(name: str, where: Where, route: Route) -> None:
    """Have the agent remove the copy that it has: it would keep that if the version is the same."""
    _try_all(_done(name, where, route.REMOVE[:1]).commands, where, route)
    _remove(route.left_by_agent(where))


def _require_installed(route: Route, done: Done, where: Where) -> None:
    """Refuse what the agent has taken without a word, and does not have: an old one may not know the command."""
    if not route.installed(where):
        raise Refused(f"`{shown(done.commands[-1])}` said nothing, and the package is not there.")


def _try_all(commands: Sequence[tuple[str, ...]], where: Where, route: Route) -> None:
    for command in commands:
        with suppress(Refused):
            _run(command, where, route.QUIET)


def _undo(name: str, where: Where, route: Route) -> None:
    """Take back all that was done or begun: by the commands of the agent as far as they work, then by our own hands."""
    if _is_ours(route.source(where), name):
        _try_all(_done(name, where, route.REMOVE).commands, where, route)
        for file, _ in route.traces(where):
            with about(file):
                now = receipts.load(receipts.target(file))
                _swap(file, now, _bare(file, now, where, route))
        _remove(route.left_by_agent(where))
    _clear(name, where, route)


def _bare(file: str, data: bytes | None, where: Where, route: Route) -> bytes | None:
    """What a file holds without what the agent has written about our package."""
    if data is None:
        return None
    text = receipts.text(data)
    editor: Any = edit_toml if file.endswith(".toml") else edit_json
    for path in [path for one, path in route.traces(where) if one == file]:
        if within(editor.read(text), *path) is not None:
            text = editor.remove(text, path)
    return text.encode()


def _swap(file: str, old: bytes | None, new: bytes | None) -> None:
    if old != new:
        receipts.swap(receipts.target(file), old, new, 0o600)


def _clear(name: str, where: Where, route: Route) -> None:
    """Give back the bytes of files that nobody else has changed, and forget that we were here."""
    for one in _receipts(route, where):
        now = receipts.load(one.file)
        if _mean_the_same(one.file, now, one.before):
            _swap(one.file, now, one.before)
            if one.before is not None and one.mode:
                os.chmod(one.file, one.mode)
        receipts.forget(one.file, _root())
    _remove((_folder(name),))


def _remove(paths: Sequence[str]) -> None:
    for path in paths:
        if os.path.isfile(path):
            with suppress(OSError):
                os.unlink(path)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _mean_the_same(file: str, now: bytes | None, before: bytes | None) -> bool:
    """Whether a file holds what it held, comments and all. Of TOML, agents change nothing but blanks around it; JSON
    they write again, without comments, and with empty tables that were not there."""
    mine, theirs = receipts.text(now), receipts.text(before)
    if file.endswith(".toml"):
        return mine.split() == theirs.split()
    try:
        said, known = json.loads(mine.strip() or "{}"), edit_json.read(theirs)
        return bool({key: value for key, value in said.items() if value or key in known} == known)
    except (Refused, ValueError, AttributeError):
        return mine == theirs


def _receipts(route: Route, where: Where) -> list[receipts.Receipt]:
    """What the agent's commands did to files of the user, as far as it is known."""
    found = [receipts.receipt(receipts.target(file), _root()) for file in route.changed_by_agent(where)]
    return [one for one in found if one]


def _begin(file: str, name: str, where: Where, route: Route) -> receipts.Receipt:
    """Write down how a file is before the agent's commands change it. Of several times, the first counts."""
    path = receipts.target(file)
    known, now = receipts.receipt(path, _root()), receipts.load(path)
    if known is not None and route.installed(where):
        return known._replace(after="" if _is_as_left(known) else known.after)
    bare = _bare(file, now, where, route) if _is_ours(route.source(where), name) else now
    if known is not None and _mean_the_same(file, bare, known.before):  # one of us was killed
        return known._replace(after="")
    mode = os.stat(path).st_mode & 0o7777 if now is not None else 0
    one = receipts.Receipt(path, name, USER, bare, "", named=file, mode=mode)
    receipts.save(one, _root())
    return one


def _note(one: receipts.Receipt) -> None:
    """Write down what the agent's commands have made of a file, unless somebody else had written it before them."""
    after = receipts.load(one.file)
    if after is not None and not one.after:
        receipts.save(one._replace(after=receipts.digest(after)), _root())


def _is_as_left(one: receipts.Receipt) -> bool:
    data = receipts.load(one.file)
    return data is not None and receipts.digest(data) == one.after


def _program(name: str, where: Where) -> str | None:
    return shutil.which(_installer_program(name), path=where.environ.get("PATH"))


def _installer_program(name: str) -> str:
    program: str = hosts.load(name, ".install").PROGRAM
    return program

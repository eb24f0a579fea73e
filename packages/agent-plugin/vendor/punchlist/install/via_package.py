"""Attach by the command that an agent has for plugins, from a folder that leads to this installation. Imported by the
commands only."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from .. import hosts
from ..core.errors import Refused
from ..core.text import cut, inline
from ..local.files import lock_file
from ..local.settings import state_folder
from . import Edit, edit_json, edit_toml, installer_for, is_attached, receipts
from . import attach as attach_settings
from .attached import LINE
from .package import PROGRAM, File, Files, filled, is_written, write
from .packages import AgentPackage, package_of
from .parts import NAME, USER, Where

PACKAGE, SETTINGS = "package", "settings"
_SECONDS = 120
_FOLDER = "@FOLDER@"  # in a command: where the folder of the package goes


class Route(AgentPackage, Protocol):
    """A package that `punchlist install` can have the agent install."""

    ADD: tuple[tuple[str, ...], ...]  # arguments of the agent's program, one command each
    REMOVE: tuple[tuple[str, ...], ...]
    QUIET: Mapping[str, str]  # environment in which these commands send nothing off the machine

    def marketplace(self, source: str) -> Files:
        """The file by which the agent finds the package in a folder."""

    def why_not(self, where: Where) -> str:
        """Why the program cannot run the package; empty if it can."""

    def changed_by_agent(self, where: Where) -> tuple[str, ...]:
        """The files of the user that these commands change."""

    def left_by_agent(self, where: Where) -> tuple[str, ...]:
        """The folders and files of ours that the agent leaves behind once the package is removed."""

    def installed(self, where: Where) -> str:
        """The version of the package that is installed; empty if none is."""

    def copy(self, where: Where) -> str:
        """The folder with the agent's own copy of it; empty if there is none."""


class Done(NamedTuple):
    """What was done, or would be."""

    folder: str
    commands: tuple[tuple[str, ...], ...]


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
    return route.why_not(where)


def installed(name: str, where: Where) -> str:
    """Return the version of our package that an agent has; empty if it has none."""
    find = getattr(package_of(name), "installed", None)
    if find is None or where.scope != USER:
        return ""
    return str(find(where))


def is_theirs(name: str, where: Where) -> bool:
    """Return whether the agent has a package of ours that did not come from `punchlist install`."""
    return bool(installed(name, where)) and not os.path.exists(_folder(name))


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
    return [] if find is None else list(find(where))


def has_lost_copy(name: str, where: Where) -> bool:
    """Return whether an agent has no copy any more of a package that it has installed from here."""
    route = route_of(name)
    if route is None or where.scope != USER or not os.path.exists(_folder(name)):
        return False
    return bool(route.installed(where)) and not os.path.exists(os.path.join(route.copy(where), PROGRAM))


def lost_script(name: str) -> str:
    """Return the script of another environment that our package starts, if that is gone."""
    try:
        with open(os.path.join(_folder(name), NAME, PROGRAM), encoding="utf-8") as file:
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
    if dry:
        return done
    inside = _inside(route, name, where.script)
    with _lock():
        is_installed = bool(route.installed(where))
        places = (os.path.join(done.folder, NAME), route.copy(where))
        if is_installed and all(is_written(inside, place) for place in places):
            return done._replace(commands=())
        begun = [_begin(file, name, is_installed=is_installed) for file in route.changed_by_agent(where)]
        write(_files(route, inside), done.folder)
        try:
            if is_installed:
                _drop_copy(name, where, route)
            for command in done.commands:
                _run(command, where, route.QUIET)
            _require_installed(route, done, where)
        except Refused:
            if not is_installed:
                _take_back(name, where, route)
            raise
        for one in begun:
            _note(one)
    return done


@receipts.explained()
def detach(name: str, where: Where, *, dry: bool = False) -> Done | None:
    """Have the agent remove our package; nothing if it has none. Files that it changed are restored byte for byte, if
    nobody else has changed them since. Raises Refused."""
    route = route_of(name)
    if route is None or where.scope != USER:
        return None
    is_begun = os.path.exists(_folder(name))
    if not is_begun and not route.installed(where):
        return None
    done = _done(name, where, route.REMOVE)
    if dry:
        return done
    with _lock():
        untouched = [one for one in _receipts(route, where) if _is_as_left(one)]
        if route.installed(where):
            for command in done.commands:
                _run(command, where, route.QUIET)
        else:  # an installation that came to no end
            _try_all(done.commands, where, route)
        _clear(name, where, route, untouched)
    return done


def is_last(name: str, where: Where) -> bool:
    """Return whether nobody, not even we, has written the files of the user since the agent installed our package."""
    route = route_of(name)
    if route is None or where.scope != USER:
        return False
    return any(_is_as_left(one) for one in _receipts(route, where))


# --- inside ----------------------------------------------------------------------------------------------------------


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
    shown = shlex.join([os.path.basename(command[0]), *command[1:]])
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
        raise Refused(f"`{shown}` took longer than {_SECONDS} seconds.") from None
    except OSError as error:
        raise Refused(f"`{shown}` could not be started: {error.strerror}.") from None
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        said = cut(inline(lines[-1]), 300) if lines else "it said nothing"
        raise Refused(f"`{shown}` failed: {said.rstrip('.')}.")


def _drop_copy(name: str, where: Where, route: Route) -> None:
    """Have the agent remove the copy that it has: it would keep that if the version is the same."""
    _try_all(_done(name, where, route.REMOVE[:1]).commands, where, route)
    _remove(route.left_by_agent(where))


def _require_installed(route: Route, done: Done, where: Where) -> None:
    """Refuse what the agent has taken without a word, and does not have: an old one may not know the command."""
    if not route.installed(where):
        shown = shlex.join([os.path.basename(done.commands[-1][0]), *done.commands[-1][1:]])
        raise Refused(f"`{shown}` said nothing, and the package is not there.")


def _try_all(commands: Sequence[tuple[str, ...]], where: Where, route: Route) -> None:
    for command in commands:
        with suppress(Refused):
            _run(command, where, route.QUIET)


def _take_back(name: str, where: Where, route: Route) -> None:
    """Take back what was begun, as far as that works."""
    _try_all(_done(name, where, route.REMOVE).commands, where, route)
    _clear(name, where, route, [])


def _clear(name: str, where: Where, route: Route, untouched: Sequence[receipts.Receipt]) -> None:
    """Remove what the agent leaves behind, and give back the files that nobody else has written."""
    for one in _receipts(route, where):
        now = receipts.load(one.file)
        if now != one.before and (one in untouched or _mean_the_same(one.file, now, one.before)):
            receipts.swap(one.file, now, one.before, 0o600)
        receipts.forget(one.file, _root())
    _remove((_folder(name), *route.left_by_agent(where)))


def _remove(paths: Sequence[str]) -> None:
    for path in paths:
        if os.path.isfile(path):
            with suppress(OSError):
                os.unlink(path)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _mean_the_same(file: str, now: bytes | None, before: bytes | None) -> bool:
    """Whether a file holds what it held, but for empty tables that were not there, and how it is written."""
    read = edit_toml.read if file.endswith(".toml") else edit_json.read
    try:
        mine, theirs = read(receipts.text(now)), read(receipts.text(before))
    except Refused:
        return False
    return {key: value for key, value in mine.items() if value or key in theirs} == theirs


def _receipts(route: Route, where: Where) -> list[receipts.Receipt]:
    """What the agent's commands did to files of the user, as far as it is known."""
    found = [receipts.receipt(receipts.target(file), _root()) for file in route.changed_by_agent(where)]
    return [one for one in found if one]


def _begin(file: str, name: str, *, is_installed: bool) -> receipts.Receipt:
    """Write down how a file is before the agent's commands change it. Of two times, the first counts."""
    path = receipts.target(file)
    known = receipts.receipt(path, _root())
    if known is not None and is_installed:
        return known._replace(after="" if _is_as_left(known) else known.after)
    one = receipts.Receipt(path, name, USER, receipts.load(path), "", named=file)
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

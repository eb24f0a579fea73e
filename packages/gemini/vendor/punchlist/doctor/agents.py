"""The agents of this machine: which are attached, whether their hooks lead here, and what they do not let us do."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from .. import __version__
from ..core.errors import Refused
from ..core.text import inline
from ..hosts import HOSTS
from ..install import (
    PROJECT,
    SCOPES,
    USER,
    Installer,
    Part,
    Where,
    flat_hooks,
    here,
    installer_for,
    is_attached,
    is_own,
    locate,
    parts_of,
    preview,
    read_part,
    via_package,
)
from ..install.apply import groups_of, is_answered, value_at
from ..install.attached import BESIDE
from ..install.parts import command_of, handlers, script_of, within
from ..install.script import is_ours, launcher, script_behind, why_not_run
from ..local.access import nearest
from ..local.settings import attached_dialects
from . import NOTE, OK, PROBLEM, Check

_ABOUT = {USER: "for you", PROJECT: "in this directory"}


def checks(script: str) -> Iterator[Check]:
    absent = []
    for name in HOSTS:
        host = installer_for(name)
        found = [*_check_package(name, host, here(USER, script))]
        found += dict.fromkeys(_check_scopes(name, host, script))  # a file that both scopes read is told once
        if found:
            yield from found
        elif shutil.which(host.PROGRAM) or os.path.isdir(host.home(here(USER, script))):
            yield Check(name, NOTE, f"{host.TITLE} is on this machine, but not attached", f"punchlist install {name}")
        else:
            absent.append(name)
            continue
        yield Check(name, NOTE, f"{host.TITLE} {host.CANNOT}")
    if absent:
        yield Check("others", NOTE, f"not found on this machine: {', '.join(absent)}")


def _check_package(name: str, host: Installer, where: Where) -> Iterator[Check]:
    """Whether an agent has our package, which it installed with its own command."""
    version = via_package.installed(name, where)
    if not version:
        return
    yield Check(name, OK, f"{host.TITLE} has our package, version {inline(version)}")
    if version != __version__:
        words = f"the package is of version {inline(version)}, and this is {__version__}"
        fix = f"punchlist install {name}"
        if via_package.is_theirs(name, where):
            fix = f"update it in {host.TITLE}"
        yield Check(name, NOTE, words, fix)
    route = via_package.route_of(name)
    if route is not None and via_package.is_disabled(name, where):
        yield Check(name, NOTE, "the package is disabled: it does nothing", route.ENABLE)
        return
    if not is_attached(name, where):
        yield from (Check(name, PROBLEM, words, fix) for words, fix in via_package.problems(name, where))
    else:
        words = "both the package and the settings are attached; the package keeps silent"
        fix = f"punchlist uninstall {name} --via settings, or: --via package"
        if route is None:
            fix = f"punchlist uninstall {name}, or remove the package in {host.TITLE}"
        yield Check(name, NOTE, words, fix)


def _check_scopes(name: str, host: Installer, script: str) -> Iterator[Check]:
    for scope in SCOPES:
        where = here(scope, script)
        again = f"punchlist install {name}" + (" --scope project" if scope == PROJECT else "")
        try:
            if is_own(name, where):
                continue
            yield from _check_scope(name, host, where, again)
        except Refused as error:
            yield Check(name, PROBLEM, str(error), "fix the file: until then the agent cannot read it, either")
        except OSError as error:
            yield _unreadable(name, error)


def _check_scope(name: str, host: Installer, where: Where, again: str) -> Iterator[Check]:
    found = [(part, *read_part(part, locate(part, name), name)) for part in parts_of(name, where)]
    there = [(part, text) for part, text, is_there in found if is_there]
    if not there:
        return
    is_beside = BESIDE.issuperset(part.name for part, _ in there) and bool(via_package.installed(name, where))
    if is_beside:
        yield Check(name, OK, f"beside the package: {_names(there)}")
    else:
        yield Check(name, OK, f"{host.TITLE} is attached {_ABOUT[where.scope]}: {_names(there)}")
    dialect = attached_dialects().get(name)
    if dialect:
        yield Check(
            name, NOTE, f"its model is given the tools of {dialect}", f"punchlist install {name} --dialect native"
        )
    names = {part.name for part, _ in there}
    absent = [(part, text) for part, text, is_there in found if not is_there]
    lost = [(part, text) for part, text in absent if part.kind == "file" and part.name in names]
    left = _names([one for one in absent if one not in lost])
    if left and not is_beside:
        yield Check(name, NOTE, f"left out {_ABOUT[where.scope]}: {left}", again)
    edits = preview(name, where, left.split(", ") if left else [])
    for place in (place for edit in edits for place in edit.kept):
        yield Check(name, NOTE, f"{place} {_ABOUT[where.scope]} is your own; install and uninstall leave it as it is")
    files = [locate(part, name) for part, _ in lost]
    paths = {path for part, text in there for path in _scripts(text, part, name)}.difference(files)
    broken = {path: why for path in sorted(paths) if (why := why_not_run(path))}
    wrong = [*map(_name_loss, files), *broken.values()]
    fix = "name another where it is set: it is your own"
    if where.starter(name) in broken or any(edit.is_change for edit in edits):
        fix = again
    yield from (Check(name, PROBLEM, f"{words}; its hooks do nothing", fix) for words in wrong)
    scripts = {script_behind(path, where.script) for path in paths.difference(broken)}
    yield from _check_scripts(name, scripts, where.script, fix)
    gone = [
        event
        for part, text in there
        if part.kind in ("hooks", "flat-hooks")
        for event in _missing_events(text, part, name)
    ]
    if gone:
        yield Check(name, PROBLEM, f"hooks are missing {_ABOUT[where.scope]}: {', '.join(gone)}", again)
    elif not wrong and scripts <= {where.script} and any(edit.is_change for edit in edits):
        yield Check(name, NOTE, f"it is not as this version installs it {_ABOUT[where.scope]}", again)
    values = {part.name: value_at(text, part) for part, text in there if part.kind != "file"}
    yield from (Check(name, PROBLEM, words, fix) for words, fix in host.problems(where, values))


def _unreadable(name: str, error: OSError) -> Check:
    """A file of an agent that cannot be read, and how to fix that."""
    path = str(error.filename)
    folder = nearest(os.path.dirname(path))
    if not isinstance(error, PermissionError):
        fix = ""
    elif os.access(folder, os.X_OK):
        fix = f"chmod u+r {shlex.quote(path)}"
    else:
        fix = f"chmod u+rx {shlex.quote(folder)}"
    return Check(name, PROBLEM, f"{path} cannot be read: {error.strerror}", fix)


def _name_loss(file: str) -> str:
    if os.path.exists(file):
        return f"{file} is not as it was installed"
    return f"{file} is gone"


def _names(parts: list[tuple[Part, str]]) -> str:
    return ", ".join(dict.fromkeys(part.name for part, _ in parts))


def _check_scripts(name: str, scripts: set[str], script: str, again: str) -> Iterator[Check]:
    """Whether what is installed leads to a script that is there, and to this one."""
    for path in sorted(scripts - {script}):
        shown = inline(path)
        if not os.path.exists(path):
            yield Check(name, PROBLEM, f"it runs {shown}, which is gone; its hooks do nothing", again)
        elif not is_ours(path):
            yield Check(name, PROBLEM, f"it runs {shown}, which is not a script of punchlist", again)
        else:
            yield Check(
                name, NOTE, f"it runs the punchlist of another environment, {shown}", f"to use this one: {again}"
            )


def _missing_events(text: str, part: Part, name: str) -> list[str]:
    """The events that a hook of ours should answer, and none does."""
    there = value_at(text, part)
    if part.kind == "flat-hooks":
        return flat_hooks.find_missing(there, part.value, name)
    ours = [event for event, _, _ in handlers(there, name)]
    gone = []
    for event, wanted in part.value.items():
        if ours.count(event) < len(groups_of(wanted)) and not is_answered(within(there, event), wanted, name):
            gone.append(event)
    return gone


def _scripts(text: str, part: Part, name: str) -> Iterator[str]:
    """The paths of punchlist that a part names."""
    if part.value is launcher:
        yield part.files[0]
    if part.kind == "file":
        return
    value: Any = value_at(text, part)
    if part.kind == "entry":
        yield from (word for word in command_of(value)[:1] if os.path.isabs(word))
    elif part.kind == "hooks":
        ours = [value[event][group]["hooks"][number] for event, group, number in handlers(value, name)]
        yield from (script_of(one["command"]) for one in ours if "command" in one)
    elif part.kind == "flat-hooks":
        yield from map(script_of, flat_hooks.commands(value, name))
    elif part.kind == "line" and isinstance(value, Mapping):
        yield script_of(str(value.get("command", "")))

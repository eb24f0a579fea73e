"""All packages: which folder of `packages/` holds what. Written by `make packages`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol

from .. import hosts
from ..local.origin import UPDATES
from . import portable
from .package import File, Files, archive, carried, described, document, found, template, write

FOLDERS = ("packages", ".claude-plugin", ".agents")  # of the repository, all of which is generated
PLUGIN = "punchlist"  # the folder that several agents share


class AgentPackage(Protocol):
    """What `hosts/NAME/package.py` declares."""

    FOLDER: str  # of `packages/`; agents may share one
    INSTALL: str  # the commands that install it

    def files(self) -> Files:
        """The files that are for this agent alone."""


def all_files(license: bytes) -> Files:
    """Return every file that `make packages` writes, by its path in the repository."""
    packages = list(_packages())
    files: Files = {}
    for folder in dict.fromkeys(one.FOLDER for one in packages):
        mine = [one for one in packages if folder == one.FOLDER]
        files |= {f"packages/{folder}/{path}": file for path, file in _folder(mine, license).items()}
    files |= {f"packages/{path}": file for path, file in _portable(license).items()}
    for one in packages:
        marketplace = getattr(one, "marketplace", None)
        if marketplace:
            files |= marketplace(f"./packages/{one.FOLDER}")
            files |= {f"packages/{path}": file for path, file in marketplace(f"./{one.FOLDER}").items()}
    return files


def write_all(root: str) -> None:
    """Write the packages into a checkout; and into `build`, which is not committed, what a release has beside them."""
    files = all_files(_license(root))
    os.makedirs(os.path.join(root, "build"), exist_ok=True)
    for name, data in attachments(_license(root)).items():
        with open(os.path.join(root, "build", name), "wb") as file:
            file.write(data)
    for folder in FOLDERS:
        inside = {path.removeprefix(f"{folder}/"): one for path, one in files.items() if path.startswith(f"{folder}/")}
        write(inside, os.path.join(root, folder))


def attachments(license: bytes) -> dict[str, bytes]:
    """Return what is attached to a release, by its file name: the MCP bundle, and the package of an agent that takes an
    archive from there."""
    made = {portable.BUNDLE: portable.bundle(license)}
    for one in _packages():
        names = getattr(one, "ARCHIVES", ())
        if names:
            made |= dict.fromkeys(names, archive(_folder([one], license)))
    return made


def stale(root: str) -> list[str]:
    """Return the paths that are not as `make packages` would write them."""
    files = all_files(_license(root))
    there = {f"{folder}/{path}" for folder in FOLDERS for path in found(os.path.join(root, folder))}
    wrong = there.symmetric_difference(files)
    for path in there.intersection(files):
        place = os.path.join(root, path)
        with open(place, "rb") as handle:
            is_same = handle.read() == files[path].data
        if not is_same or os.stat(place).st_mode & 0o777 != files[path].mode:
            wrong.add(path)
    return sorted(wrong)


def package_of(name: str) -> AgentPackage | None:
    """Return the package of an agent; nothing if there is none."""
    folder = os.path.dirname(str(hosts.load(name).__file__))
    if not os.path.exists(os.path.join(folder, "package.py")):
        return None
    package: AgentPackage = hosts.load(name, ".package")
    return package


def _packages() -> Iterator[AgentPackage]:
    for name in hosts.HOSTS:
        package = package_of(name)
        if package is not None:
            yield package


def _folder(packages: list[AgentPackage], license: bytes) -> Files:
    install = "\n".join(one.INSTALL for one in packages)
    files = {**carried(), "README.md": described(install), "LICENSE": File(license), "icon.png": _icon()}
    updates: dict[str, str] = {}
    for one in packages:
        files |= one.files()
        updates |= getattr(one, "UPDATE", {})  # by the name of the folder in which the agent keeps its files
    if updates:
        files[UPDATES] = document(updates)
    return files


def _portable(license: bytes) -> Files:
    """The packages that are not one agent's. That of several agents has a folder of its own: in that of Codex its
    manifest would keep hooks from being run."""
    plugin = {**portable.agent_plugin(), "LICENSE": File(license), "icon.png": _icon()}
    return {
        **{f"agent-plugin/{path}": file for path, file in plugin.items()},
        "skills/punchlist/SKILL.md": portable.skill(),
        "server.json": portable.registry_entry(),
        "mcpb/manifest.json": portable.bundle_manifest(),
    }


def _icon() -> File:
    return File(template("icon.png"))


def _license(root: str) -> bytes:
    with open(os.path.join(root, "LICENSE"), "rb") as file:
        return file.read()

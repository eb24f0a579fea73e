"""Packages for the install commands that agents have: folders of files, made from what is in this package.

`make packages` writes them, with punchlist itself inside, so that they need no pip. `HOSTS` with a package declare its
files in `hosts/NAME/package.py`; what they share is here.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple

from .. import __version__
from ..local.files import write_file
from .parts import COMMITS, NAME, plugin_with

TITLE = "Punchlist"
SUMMARY = "The plan a coding agent works from: kept, shown and checked, for about 30 tokens a step."
AUTHOR = {"name": "the Punchlist authors"}
LICENSE = "MIT"
KEYWORDS = ("plan", "todo", "tasks", "checklist")
PROGRAM = f"bin/{NAME}"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
_BESIDE = f'fileURLToPath(new URL("./{PROGRAM}", import.meta.url))'  # in a module: the path of the program
_HEAD = '// Part of the package of Punchlist for this agent.\nimport { fileURLToPath } from "node:url"\n'
_PACKAGED = ("const IN_PACKAGE = false", "const IN_PACKAGE = true")
_LEFT_OUT = ("__pycache__",)
_FOR_PROGRAMS = ("adapters", "testing")  # rooms that no agent's package has use for
_THEIRS = ("tsconfig.json", ".claude-plugin/types/")  # what Claude Code writes into a folder that it installs from


class File(NamedTuple):
    """One file of a package."""

    data: bytes
    mode: int = 0o644


Files = dict[str, File]  # by path, with slashes


def document(value: Any) -> File:
    """Return a JSON document as a file."""
    return File((json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def manifest(**more: Any) -> dict[str, Any]:
    """Return what every manifest says of us, and what one says beside it."""
    return {
        "name": NAME,
        "version": __version__,
        "description": SUMMARY,
        "author": dict(AUTHOR),
        "license": LICENSE,
        "keywords": list(KEYWORDS),
        **more,
    }


def hook_of(variable: str, host: str) -> str:
    """Return a hook as a shell command. `variable` has the folder of the package, which may be gone by then."""
    script = f'"${{{variable}}}/{PROGRAM}"'
    return f"[ -x {script} ] && {script} hook {host} --plugin 2>/dev/null || :"


def commit_hook_of(variable: str, host: str) -> str:
    """Return a hook for every command in a shell that starts punchlist only where the event may be about a commit or a
    pull request: anything else costs a small shell."""
    patterns = "|".join(f'*"{words}"*' for words in COMMITS)
    return f'e=$(cat); case $e in {patterns}) printf %s "$e" | {{ {hook_of(variable, host)}; }};; esac'


def module_of(folder: str, name: str) -> File:
    """Return a plugin of ours as a module of a package: it starts the program beside it, and its hooks are silent where
    the agent is attached by its settings."""
    _, _, text = plugin_with(folder, name, _BESIDE).partition("\n")  # the first line says who wrote it otherwise
    return File((_HEAD + text.replace(*_PACKAGED)).encode())


def template(name: str) -> bytes:
    """Return a file that packages share."""
    return folder_file(_TEMPLATES, name)


def folder_file(folder: str, path: str) -> bytes:
    """Return what a file in a folder holds."""
    with open(os.path.join(folder, path), "rb") as file:
        return file.read()


def carried() -> Files:
    """Return punchlist itself as a package carries it: the program, which finds a Python, and all modules."""
    return {
        PROGRAM: File(template("punchlist.sh"), 0o755),
        "bin/start.py": File(template("start.py.in")),
        "pyproject.toml": File(filled("pyproject.toml.in", version=__version__, summary=SUMMARY)),
        **{f"vendor/{NAME}/{path}": file for path, file in _modules()},
    }


def filled(name: str, **values: str) -> bytes:
    """Return a template with values in the place of `@NAME@`."""
    text = template(name).decode()
    for key, value in values.items():
        text = text.replace(f"@{key.upper()}@", value)
    return text.encode()


def _modules() -> Iterator[tuple[str, File]]:
    for folder, folders, names in os.walk(_PACKAGE):
        folders[:] = sorted(name for name in folders if name not in (*_LEFT_OUT, *_FOR_PROGRAMS))
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, _PACKAGE).replace(os.sep, "/"), File(file.read())


def described(lines: str) -> File:
    """Return the README of a package."""
    return File(filled("README.md.in", version=__version__, summary=SUMMARY, install=lines))


def write(files: Mapping[str, File], root: str) -> None:
    """Write a package to a folder, in which an agent may be reading: a file is replaced at once, and only if it is
    another one. What is in the folder and not in the package is removed."""
    for path in sorted(set(found(root)) - set(files)):
        os.remove(os.path.join(root, path))
    for path, file in files.items():
        place = os.path.join(root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if not _is_there(place, file):
            write_file(place, file.data)
            os.chmod(place, file.mode)
    _drop_empty(root)


def is_written(files: Mapping[str, File], root: str) -> bool:
    """Return whether a package is in a folder, as it would be written."""
    return all(_is_there(os.path.join(root, path), file) for path, file in files.items())


def _is_there(place: str, file: File) -> bool:
    try:
        with open(place, "rb") as handle:
            return handle.read() == file.data and os.stat(place).st_mode & 0o7777 == file.mode
    except OSError:
        return False


def archive(files: Mapping[str, File]) -> bytes:
    """Return a package as a `.tar.gz` with its manifest at the root; the same files make the same archive."""
    import gzip
    import tarfile

    whole = BytesIO()
    with tarfile.open(mode="w", fileobj=whole) as tar:
        for path in sorted(files):
            about = tarfile.TarInfo(path)
            about.size, about.mode = len(files[path].data), files[path].mode
            tar.addfile(about, BytesIO(files[path].data))
    return gzip.compress(whole.getvalue(), mtime=0)


def found(root: str) -> Iterator[str]:
    """Yield the paths of the files in a folder."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if not any(theirs in path for theirs in _THEIRS):
                yield path


def _drop_empty(root: str) -> None:
    for folder, _, _ in os.walk(root, topdown=False):
        if os.path.basename(folder) in _LEFT_OUT:
            shutil.rmtree(folder)
        elif not os.listdir(folder):
            os.rmdir(folder)

"""Which command is installed: the script of the environment that we run in, by its absolute path."""

from __future__ import annotations

import os
import sys
import sysconfig

from ..core.errors import Refused
from .parts import NAME

_HEAD = 4096  # bytes that show whose script it is


def script() -> str:
    """The path of our own script: not of a shim or a launcher before it, which costs time at every hook."""
    name = f"{NAME}.exe" if os.name == "nt" else NAME
    folders = [os.path.dirname(sys.executable), sysconfig.get_path("scripts"), _of_user()]
    for path in (os.path.abspath(sys.argv[0]), *(os.path.join(folder, name) for folder in folders if folder)):
        if is_ours(path):
            return _usable(path)
    from ..local.origin import reinstall_command

    raise Refused(f"there is no script {name} beside {sys.executable}; install it there: {reinstall_command()}")


def is_ours(path: str) -> bool:
    """Whether this is the script that an installation of punchlist made."""
    if os.path.basename(path).removesuffix(".exe") != NAME or not os.access(path, os.X_OK) or not os.path.isfile(path):
        return False
    if os.name == "nt":
        return True
    try:
        with open(path, "rb") as file:
            return b"punchlist.cli" in file.read(_HEAD)
    except OSError:
        return False


def is_passing(path: str) -> bool:
    """Whether it lies in a cache that is emptied without asking, as after `uvx` and `pipx run`."""
    parts = path.split(os.sep)
    return "archive-v0" in parts or "builds-v0" in parts or ("pipx" in parts and ".cache" in parts)


def _usable(path: str) -> str:
    """Refuse a path that agents would read as something else."""
    try:
        path.encode("utf-8")
        wrong = next((char for char in path if not char.isprintable() or char in "$`{}"), "")
    except UnicodeEncodeError:
        wrong = "what is not UTF-8"
    if wrong:
        raise Refused(f"the path {path!r} holds {wrong!r}, which agents do not take as it is; install to another path.")
    return path


def _of_user() -> str:
    scheme = f"{os.name}_user"
    return sysconfig.get_path("scripts", scheme) if scheme in sysconfig.get_scheme_names() else ""

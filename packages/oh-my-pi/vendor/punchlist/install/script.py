"""Which command is installed: the script of the environment that we run in, by its absolute path; and the file that
starts hooks, which an agent waits for again and again."""

from __future__ import annotations

import os
import sys
import sysconfig

from ..core.errors import Refused
from ..local.settings import state_folder
from .parts import NAME

_HEAD = 4096  # bytes that show whose script it is
_LONGEST = 100  # characters of the path of an interpreter that every system finds in the first line of a file
# `-I` and `-S` keep Python from looking for what a hook has no use for. If the package moved within its environment,
# as with another version of Python, it is found in the usual way.
_LAUNCHER = """\
#!{python} -IS
# Starts hooks of punchlist. `punchlist install` writes this file, and `punchlist uninstall` removes it.
import sys

sys.path.append({folder!r})
try:
    from punchlist.cli import start
except ImportError:
    import site

    site.main()
    from punchlist.cli import start
start()
"""


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


def launchers() -> str:
    """Return the folder of the files that start hooks; empty where such files do not work."""
    folder = os.path.join(state_folder(os.environ), "hooks")
    python = sys.executable or " "
    if os.name == "nt" or len(python) > _LONGEST or any(char.isspace() for char in python) or _unusable(folder):
        return ""
    return folder


def launcher(script: str = "") -> str:
    """Return the text of the file that starts hooks in the environment that we run in, whatever its script is."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return _LAUNCHER.format(python=sys.executable, folder=os.path.dirname(package))


def is_launcher(text: str) -> bool:
    """Whether this is a file that starts hooks, in whatever environment."""
    lines = text.splitlines()
    own = launcher().splitlines()
    others = [number for number in range(len(own)) if not own[number].startswith(("#!", "sys.path"))]
    return len(lines) == len(own) and all(lines[number] == own[number] for number in others)


def script_behind(path: str, script: str) -> str:
    """Return the script of the environment that a file starts hooks in; of a script, itself. `script`: ours."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_HEAD)
    except OSError:
        return path
    if not is_launcher(text):
        return path
    if text == launcher():
        return script
    return os.path.join(os.path.dirname(text[2:].split(" ")[0]), NAME)


def why_not_run(path: str) -> str:
    """Return what keeps a script that is there from being run: it may not be, or its interpreter is gone."""
    try:
        with open(path, "rb") as file:
            line = file.readline(_HEAD)
    except OSError:
        return ""
    python = line.removeprefix(b"#!").decode("utf-8", "replace").strip().split(" ")[0]
    if line.startswith(b"#!") and not os.path.exists(python):
        return f"{python}, which {path} needs, is gone"
    if not os.access(path, os.X_OK):
        return f"{path} is not executable"
    return ""


def is_temporary(path: str) -> bool:
    """Whether it lies in a cache that is emptied without asking, as after `uvx` and `pipx run`."""
    parts = path.split(os.sep)
    return "archive-v0" in parts or "builds-v0" in parts or ("pipx" in parts and ".cache" in parts)


def _usable(path: str) -> str:
    """Refuse a path that agents would read as something else."""
    wrong = _unusable(path)
    if wrong:
        raise Refused(f"the path {path!r} holds {wrong!r}, which agents do not take as it is; install to another path.")
    return path


def _unusable(path: str) -> str:
    """What agents would read as something else in a path; nothing if they would not."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "what is not UTF-8"
    return next((char for char in path if not char.isprintable() or char in "$`{}"), "")


def _of_user() -> str:
    scheme = f"{os.name}_user"
    if scheme in sysconfig.get_scheme_names():
        return sysconfig.get_path("scripts", scheme)
    return ""

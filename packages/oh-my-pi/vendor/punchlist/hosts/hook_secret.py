"""The secret between the hooks that `install` writes and the server that answers them.

Any program can start our MCP server and send it a hook event. An event counts only with the secret, which is in a file
that nobody but its owner can read, and in the agent's own settings.
"""

from __future__ import annotations

import os

from ..local.files import read_file, write_file
from ..local.settings import state_folder

FIELD = "secret"  # of an event
_LARGEST = 200  # bytes of the file


def path() -> str:
    return os.path.join(state_folder(os.environ), "hook-secret")


def stored() -> str:
    """Return the secret of this user; empty if there is none."""
    try:
        return read_file(path(), _LARGEST).decode("ascii", "replace").strip()
    except OSError:
        return ""


def matches(given: object) -> bool:
    """Return whether somebody knows the secret. Where there is none, nobody does."""
    known = stored()
    if not known or not isinstance(given, str):
        return False
    from hmac import compare_digest

    return compare_digest(known.encode(), given.encode("utf-8", "replace"))


def make() -> None:
    """Make a secret for this user, unless there is one."""
    if stored():
        os.chmod(path(), 0o600)
        return
    write_file(path(), os.urandom(24).hex().encode() + b"\n")


def drop() -> None:
    """Forget the secret: no hook needs it any more."""
    try:
        os.unlink(path())
    except OSError:
        pass

"""Whether a panel in the agent's own screen shows the plan of a session: the status line leaves it out then."""

from __future__ import annotations

import os
from hashlib import sha256

from ..local.files import UNBLOCKED, open_private
from ..local.settings import state_folder


def hold(session: str) -> None:
    """Mark a session for as long as this process lives, however it ends. Where that cannot be written down, the plan is
    shown twice, and nothing else is wrong."""
    if os.name == "nt" or not session:
        return
    import fcntl

    try:
        fcntl.flock(open_private(_path(session)), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return


def is_held(session: str) -> bool:
    """Return whether a process that draws a panel has marked the session. A mark that was left behind is removed."""
    if os.name == "nt":
        return False
    import fcntl

    path = _path(session)
    try:
        handle = os.open(path, os.O_RDONLY | UNBLOCKED)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _path(session: str) -> str:
    return os.path.join(state_folder(os.environ), "panels", sha256(session.encode(errors="replace")).hexdigest()[:32])

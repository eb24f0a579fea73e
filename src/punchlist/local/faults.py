"""Errors that an agent must not notice, a line each in a file beside the store. `doctor` shows the last ones."""

from __future__ import annotations

import os
import time

from ..core.errors import Refused
from .settings import state_folder

_FULL = 1_000_000  # bytes; then what there is becomes the older log, and what was older goes


def path() -> str:
    """Where the log is."""
    return os.path.join(state_folder(os.environ), "hook.log")


def log(where: str, error: Exception) -> None:
    """Add a line; if even that fails, nothing."""
    from .files import UNBLOCKED, make_folder

    kind = "" if isinstance(error, Refused) else f"{type(error).__name__}: "
    try:
        words = _without_secrets(" ".join(f"{kind}{error!s:.500}".split()))
        make_folder(os.path.dirname(path()))
        handle = os.open(path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | UNBLOCKED, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {where}: {words}\n")
            is_full = os.fstat(file.fileno()).st_size > _FULL
        if is_full:
            from .event_log import put_aside

            put_aside(path(), _FULL)
    except OSError:
        pass


def _without_secrets(words: str) -> str:
    """A message may quote what was sent."""
    from ..core.redact import blanked

    return blanked(words)

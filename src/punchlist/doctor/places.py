"""Whether a file can be written, or made where there is none yet, without touching anything."""

from __future__ import annotations

import os
import shlex

from ..install.receipts import nearest

ELSEWHERE = "name a folder that you can write: XDG_STATE_HOME"


def hindrance(path: str, elsewhere: str = ELSEWHERE) -> tuple[str, str]:
    """What keeps a file from being written or made, and how to fix that; nothing if it can be."""
    folder = nearest(os.path.dirname(path))
    if not os.path.isdir(folder):
        return f"{folder} is not a directory", elsewhere
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} is not writable", f"chmod u+rwx {shlex.quote(folder)}; or {elsewhere}"
    if os.path.exists(path) and not os.access(path, os.R_OK | os.W_OK):
        return "it is not writable", f"chmod u+rw {shlex.quote(path)}*; or {elsewhere}"
    return "", ""

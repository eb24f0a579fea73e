"""Whether an agent is attached by its settings files as well, while a package of ours asks. Then the package is silent:
two of us would say everything twice, and give the model two tools."""

from __future__ import annotations

import os

from ..local.settings import state_folder

LINE = "status-line"
BESIDE = {LINE, "permission"}  # parts that may be in settings beside a package, and attach nothing


def by_settings(host: str, project: str) -> bool:
    """Return whether `punchlist install` has attached an agent, for the user or in this directory."""
    folder = os.path.join(state_folder(os.environ), "install")
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return False
    return any(_attaches(os.path.join(folder, name), host, project) for name in names)


def _attaches(path: str, host: str, project: str) -> bool:
    """Whether a receipt is for a file of this agent that is still there, and has a tool or hooks of ours. What was
    written for somebody else's directory does not count."""
    from ..core.json_text import loads
    from ..local.files import read_file

    try:
        said = loads(read_file(path, 1_000_000))
        file, scope, parts = str(said["file"]), said["scope"], said.get("parts", ())
        if said["host"] != host or not os.path.exists(file) or (parts and BESIDE.issuperset(parts)):
            return False
    except (OSError, ValueError, LookupError, TypeError):
        return False
    inside = os.path.join(os.path.realpath(project), "")
    return scope == "user" or os.path.realpath(file).startswith(inside)

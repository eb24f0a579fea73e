"""The formats of import and export: a table from a name to the file that reads and writes it."""

from __future__ import annotations

from types import ModuleType

from ..core.errors import Refused, check_type
from ..core.text import cut, inline

PATHS = {
    "json": "punchlist.core.codec",
    "markdown": "punchlist.core.markdown",
    "claude-code": "punchlist.dialects.claude_code",
    "claude-tasks": "punchlist.dialects.claude_tasks",
    "oh-my-pi": "punchlist.dialects.oh_my_pi_format",
    "llxprt": "punchlist.dialects.llxprt",
    "transcript": "punchlist.dialects.transcript",
}
WRITTEN = tuple(name for name in PATHS if name != "transcript")
TEXTS = ("markdown", "transcript")  # read as text, not as JSON


def load(name: str, *, to_write: bool = False) -> ModuleType:
    """The module that reads, and mostly also writes, this format."""
    check_type("format", name, str, "the name of a format")
    known = WRITTEN if to_write else tuple(PATHS)
    if name not in known:
        raise Refused(f"no format {inline(cut(name, 40))!r}; the formats are {', '.join(known)}.")
    module: ModuleType = __import__(PATHS[name], fromlist=["read"])
    return module

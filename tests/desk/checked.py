"""A project in git, and a desk in it: for tests of checks."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from punchlist import Desk, MemoryStore
from punchlist.dialects import Dialect
from punchlist.local.settings import Settings

# The last four save time: nothing is written for the machine's death, and nothing is tidied up.
SETTINGS = (
    *("user.name=a", "user.email=a@example.com", "commit.gpgsign=false"),
    *("core.fsync=none", "gc.auto=0", "maintenance.auto=false", "init.templateDir="),
)


def git(folder: Path, *args: str) -> None:
    options = [word for setting in SETTINGS for word in ("-c", setting)]
    subprocess.run(["git", *options, *args], cwd=folder, check=True, capture_output=True)


def make_project(folder: Path) -> Path:
    """A repository with one commit."""
    (folder / "app.py").write_text("1\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "a")
    return folder


def open_desk(folder: Path, *, dialect: str | Dialect = "native", store: Any = None, **settings: Any) -> Desk:
    """A desk whose agent works in a folder."""
    desk = Desk(store or MemoryStore(), session="s", dialect=dialect, settings=Settings(look_ms=60_000, **settings))
    desk._seat.known_folder = str(folder)
    return desk


def ran(desk: Desk, command: str, exit: int = 0) -> None:
    """A hook saw a command and its exit code."""
    desk.tool_used("Bash", {"command": command}, "output", failed=exit != 0, exit=exit)

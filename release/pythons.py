"""The Pythons of this machine that the package is for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Python(NamedTuple):
    """An interpreter that runs."""

    version: str
    """Such as `3.12`."""
    path: str
    """Where it is."""


def find_pythons(versions: list[str]) -> tuple[list[Python], list[str]]:
    """Return an interpreter for each version, the one that runs this first, and the versions that are not here."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = [Python(version, path) for version in versions if (path := _find(version))]
    absent = [version for version in versions if version not in {one.version for one in found}]
    return sorted(found, key=lambda python: python.version != own), absent


def _find(version: str) -> str:
    """Return an interpreter that runs, not a shim that only looks like one; nothing if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [
        getattr(sys, "_base_executable", sys.executable),
        shutil.which(f"python{version}") or "",
        *(str(path) for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python"))),
    ]
    return next((path for path in candidates if path and _is_version(path, version)), "")


def _is_version(path: str, version: str) -> bool:
    code = "import ensurepip, sqlite3, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == version

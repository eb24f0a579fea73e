"""What has to be known of a project before a run of more than a check counts: that what the check names exists, and
where pytest looks for tests if it is given no path."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..local.files import read_file

_MOST = 1_000_000  # bytes of a file that are read
_INI_FILES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_UNKNOWN = ("\0",)  # a path that covers nothing


def find_missing(needs: Sequence[tuple[str, str]]) -> str:
    """Say what is missing of files that must exist, each with a text that must be in it; empty if nothing is."""
    for path, text in needs:
        name = os.path.basename(path)
        if not os.path.exists(path):
            return f"{name} does not exist"
        if text and text not in _read(path):
            return f"{text} is not in {name}"
    return ""


def _read(path: str) -> str:
    try:
        return read_file(path, _MOST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def find_roots(folder: str) -> tuple[str, ...]:
    """The paths that pytest takes in a directory if it is given none: its setting `testpaths`. None: empty."""
    for name, section in _INI_FILES[:2]:
        if os.path.exists(os.path.join(folder, name)):
            return _read_ini(os.path.join(folder, name), section)
    text = _read(os.path.join(folder, "pyproject.toml"))
    if "tool.pytest" in text:
        return _read_toml(text)
    for name, section in _INI_FILES[2:]:
        if f"[{section}]" in _read(os.path.join(folder, name)):
            return _read_ini(os.path.join(folder, name), section)
    return ()


def _read_toml(text: str) -> tuple[str, ...]:
    if "testpaths" not in text:
        return ()
    import tomllib

    try:
        options = tomllib.loads(text)["tool"]["pytest"]
        options = options.get("ini_options", options)
        found = options.get("testpaths", [])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _UNKNOWN
    if isinstance(found, str):
        found = found.split()
    return _plain(found)


def _read_ini(path: str, section: str) -> tuple[str, ...]:
    text = _read(path)
    if "testpaths" not in text:
        return ()
    from configparser import ConfigParser, Error

    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
        found = parser.get(section, "testpaths", fallback="")
    except (Error, ValueError):
        return _UNKNOWN
    return _plain(found.split())


def _plain(found: object) -> tuple[str, ...]:
    """Paths, if all of them are. What a pattern stands for is not known."""
    if not isinstance(found, list) or not all(isinstance(path, str) for path in found):
        return _UNKNOWN
    if any(char in path for path in found for char in "*?["):
        return _UNKNOWN
    return tuple(os.path.normpath(path) for path in found)

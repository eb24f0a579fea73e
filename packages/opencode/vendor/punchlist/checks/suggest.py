"""Which command checks a project: what its Makefile, pyproject.toml, package.json, Cargo.toml or go.mod say."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..core._typing import Any, NamedTuple
from ..local.files import read_file

_MOST = 1_000_000  # bytes of a file that are read
_TARGETS = ("check", "test", "tests")  # of a Makefile, the best first
_NO_TEST = "no test specified"  # what npm writes into a new package.json
_RUNNERS = (("pnpm-lock.yaml", "pnpm test"), ("yarn.lock", "yarn test"), ("bun.lockb", "bun test"))


class Suggestion(NamedTuple):
    """A command, and what in the project speaks for it."""

    command: str
    why: str


def suggest(folder: str) -> list[Suggestion]:
    """Commands that probably check a project, the best first. Files that cannot be read say nothing."""
    found: list[Suggestion] = []
    for name, read in _READERS:
        try:
            text = read_file(os.path.join(folder, name), _MOST).decode("utf-8", "replace")
            one = read(folder, name, text)
        except (OSError, ValueError, RecursionError):  # a parser that gives up
            continue
        if one and one.command not in [known.command for known in found]:
            found.append(one)
    return found


def _read_makefile(folder: str, name: str, text: str) -> Suggestion | None:
    targets = {line.partition(":")[0].strip() for line in text.splitlines() if ":" in line and not line[:1].isspace()}
    target = next((one for one in _TARGETS if one in targets), "")
    if not target:
        return None
    return Suggestion(f"make {target}", f"{name} has the target {target}")


def _read_pyproject(folder: str, name: str, text: str) -> Suggestion | None:
    import tomllib

    tools = _table(tomllib.loads(text), "tool")
    if "pytest" in tools:
        return Suggestion("python -m pytest", f"{name} configures pytest")
    for tests in ("tests", "test"):
        if os.path.isdir(os.path.join(folder, tests)):
            return Suggestion("python -m pytest", f"{name}, and a folder {tests}")
    return None


def _read_package(folder: str, name: str, text: str) -> Suggestion | None:
    import json

    script = _table(json.loads(text), "scripts").get("test")
    if not isinstance(script, str) or not script or _NO_TEST in script:
        return None
    for lock, command in _RUNNERS:
        if os.path.exists(os.path.join(folder, lock)):
            return Suggestion(command, f"{name} has a test script, and there is {lock}")
    return Suggestion("npm test", f"{name} has a test script")


def _read_cargo(folder: str, name: str, text: str) -> Suggestion | None:
    return Suggestion("cargo test", f"there is a {name}")


def _read_go(folder: str, name: str, text: str) -> Suggestion | None:
    return Suggestion("go test ./...", f"there is a {name}")


def _table(data: Any, name: str) -> dict[str, Any]:
    found = data.get(name) if isinstance(data, dict) else None
    if isinstance(found, dict):
        return found
    return {}


_READERS: tuple[tuple[str, Callable[[str, str, str], Suggestion | None]], ...] = (
    ("GNUmakefile", _read_makefile),
    ("makefile", _read_makefile),
    ("Makefile", _read_makefile),
    ("pyproject.toml", _read_pyproject),
    ("package.json", _read_package),
    ("Cargo.toml", _read_cargo),
    ("go.mod", _read_go),
)

"""The search behind grep, as a program: what to look for comes in as JSON, lines go out."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

_SKIPPED = {".git", "node_modules", "__pycache__", ".venv"}
_FOUND = 300  # lines
_WIDE = 300  # characters of one
_BIG = 20_000_000  # bytes of a file that is looked into


def main() -> int:
    asked = json.load(sys.stdin)
    try:
        pattern = re.compile(asked["pattern"])
    except re.error as error:
        sys.stdout.write(f"pattern is not a regular expression: {error}.\n")
        return 1
    for number, line in enumerate(_matches(pattern, asked)):
        if number >= _FOUND:
            sys.stdout.write(f"(and more; only the first {_FOUND} are shown)\n")
            break
        sys.stdout.write(line.encode("utf-8", "replace").decode("utf-8") + "\n")
    return 0


def _matches(pattern: re.Pattern[str], asked: dict[str, Any]) -> Iterator[str]:
    for path in _files(asked["path"], asked["files"]):
        name = os.path.relpath(path, asked["folder"])
        for number, line in enumerate(_lines(path), 1):
            if pattern.search(line):
                yield f"{name}:{number}:{line.strip()[:_WIDE]}"


def _files(path: str, wanted: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - _SKIPPED)
        for name in sorted(names):
            whole = os.path.join(folder, name)
            if fnmatch(name, wanted) and os.path.isfile(whole) and not os.path.islink(whole):
                yield whole


def _lines(path: str) -> list[str]:
    try:
        if os.path.getsize(path) > _BIG:
            return []
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return []
    if b"\0" in data[:8192]:
        return []
    return data.decode("utf-8", "replace").splitlines()


if __name__ == "__main__":
    sys.exit(main())

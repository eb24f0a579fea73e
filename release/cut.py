"""Cut a release: the changes so far get a version and a date, and the package gets that version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

CHANGELOG = "CHANGELOG.md"
PACKAGE = "src/punchlist/__init__.py"

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")
_LINE = re.compile(r'^__version__ = "(.+)"$', re.M)
_OPEN = "## [Unreleased]\n"


class CutError(Exception):
    """A release cannot be cut so."""


class Repository(NamedTuple):
    """What git says."""

    tags: tuple[str, ...]
    """The tags there are."""
    changed: tuple[str, ...]
    """The files with changes that are not committed."""


def changelog_cut(text: str, version: str, date: str) -> str:
    """Return a changelog in which what is unreleased belongs to a version, and nothing is unreleased."""
    head, mark, rest = text.partition(_OPEN)
    if not mark:
        raise CutError(f"{CHANGELOG} has no line {_OPEN.strip()!r}.")
    if f"\n## [{version}]" in text:
        raise CutError(f"{CHANGELOG} has {version} already; choose a newer version.")
    changes = rest.partition("\n## [")[0]
    if not re.search(r"^- ", changes, re.M):
        raise CutError(f"{CHANGELOG} names no change under {_OPEN.strip()!r}; there is nothing to release.")
    return f"{head}{_OPEN}\n## [{version}] - {date}\n{rest}"


def version_set(text: str, version: str) -> str:
    """Return the source of the package with another version."""
    found = _LINE.findall(text)
    if len(found) != 1:
        raise CutError(f"{PACKAGE} must have one line __version__ = ..., and has {len(found)}.")
    if _order(version) < _order(found[0]):
        raise CutError(f"{version} is older than {found[0]}, which {PACKAGE} has; choose a newer version.")
    return _LINE.sub(f'__version__ = "{version}"', text)


def _order(version: str) -> tuple[int, int, int, str, int]:
    """Return what versions are ordered by; a stage (`1.0.0rc1`) comes before the final one."""
    found = _VERSION.fullmatch(version)
    if not found:
        raise CutError(f"{version!r} is not a version; write it like 0.2.0, or 0.2.0rc1 for a release to try.")
    major, minor, patch, stage, number = found.groups()
    return int(major), int(minor), int(patch), stage or "z", int(number or 0)


def check_repository(repository: Repository, version: str) -> None:
    """Refuse a version that was released, and a tree with changes that nobody has committed."""
    if f"v{version}" in repository.tags:
        raise CutError(f"the tag v{version} exists; a version is released once. Choose a newer one.")
    if repository.changed:
        named = ", ".join(repository.changed[:5])
        raise CutError(f"there are changes that are not committed: {named}. Commit or stash them first.")


def read_repository(root: Path) -> Repository:
    """Ask git."""
    return Repository(
        tuple(_git(root, "tag", "--list")), tuple(line[3:] for line in _git(root, "status", "--porcelain"))
    )


def _git(root: Path, *words: str) -> list[str]:
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CutError(f"git {words[0]} failed: {getattr(error, 'stderr', '') or error}") from None
    return done.stdout.splitlines()


def cut(root: Path, version: str, date: str) -> None:
    """Write the changelog and the version, or refuse and write neither."""
    _order(version)
    check_repository(read_repository(root), version)
    changelog, package = root / CHANGELOG, root / PACKAGE
    new_package = version_set(package.read_text(encoding="utf-8"), version)
    new_changelog = changelog_cut(changelog.read_text(encoding="utf-8"), version, date)
    package.write_text(new_package, encoding="utf-8")
    changelog.write_text(new_changelog, encoding="utf-8")

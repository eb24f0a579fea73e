"""`make release-check`: every check, with a line that says how it went."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from . import installed
from .build import BuildError, build, is_dirty
from .checks import CHECKS, Release, notes
from .pythons import Python, find_pythons

MOST = 10  # problems of one check that are printed


class Outcome(NamedTuple):
    """How a check went."""

    name: str
    problems: list[str]


class Job(NamedTuple):
    """A check that takes seconds, in processes of its own."""

    name: str
    run: Callable[[], list[str]]


def check(root: Path) -> int:
    """Build the archives of the last commit, check them, and leave them in dist/ if nothing is wrong."""
    folder = root / "build" / "release"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for old in (*root.glob("dist/punchlist-*.whl"), *root.glob("dist/punchlist-*.tar.gz")):
        old.unlink()  # what is in dist/ has passed
    try:
        release = build(root, folder)
        dirty = is_dirty(root)
    except BuildError as error:
        print(f"problem  build: {error}")
        return 1
    pythons, absent = find_pythons(_versions(release))
    failed = [outcome for outcome in _read(release) if _print(outcome)]
    if failed:
        print("skipped  everything that installs the archives: they must be right first")
    else:
        failed = [outcome for outcome in _installed(release, folder, pythons) if _print(outcome)]
    for note in _notes(release, absent, dirty):
        print(f"note     {note}")
    if failed:
        print(f"failed: {', '.join(outcome.name for outcome in failed)}. The archives are not in dist/.")
        return 1
    _keep(folder / "dist", root / "dist")
    return 0


def _versions(release: Release) -> list[str]:
    """Return the versions of Python that the package says it is for."""
    prefix = "Programming Language :: Python :: "
    named = [one.removeprefix(prefix) for one in release.project()["classifiers"] if one.startswith(f"{prefix}3.")]
    return sorted(named, key=lambda version: int(version.partition(".")[2]))


def _read(release: Release) -> Iterator[Outcome]:
    for name, function in CHECKS.items():
        yield Outcome(name, function(release))


def _installed(release: Release, folder: Path, pythons: list[Python]) -> Iterator[Outcome]:
    if not pythons:
        yield Outcome("install", ["none of the Pythons that the package is for is on this machine; install one."])
        return
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = [(job.name, pool.submit(job.run)) for job in _jobs(release, folder, pythons)]
        for name, future in jobs:
            yield Outcome(name, future.result())


def _jobs(release: Release, folder: Path, pythons: list[Python]) -> Iterator[Job]:
    """Return what is installed where. The first Python also gets what is the same on each."""
    wheel, sdist = folder / "dist" / release.wheel.name, folder / "dist" / release.sdist.name
    version, readme = release.version, (release.tracked.read("README.md") or b"").decode()
    first, uv = pythons[0], _uv()

    def place(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name

    yield Job("types of the wheel", lambda: installed.types_with_pip(first, wheel, place("types"), version))
    yield Job(
        f"source archive on Python {first.version}",
        lambda: installed.source_with_pip(first, sdist, place("sdist"), version, readme),
    )
    for python in pythons:
        yield Job(
            f"wheel on Python {python.version}",
            lambda python=python: installed.with_pip(python, wheel, place(python.version), version, readme),  # type: ignore[misc]
        )
    if uv:
        yield Job("uv tool install", lambda: installed.with_uv(uv, first, wheel, place("uv"), version, readme))


def _uv() -> str:
    """Return where uv is: in the environment that runs this."""
    path = Path(sys.executable).parent / "uv"
    return str(path) if path.exists() else ""


def _print(outcome: Outcome) -> bool:
    """Print how a check went; return whether it failed."""
    if not outcome.problems:
        print(f"ok       {outcome.name}", flush=True)
        return False
    for problem in outcome.problems[:MOST]:
        print(f"problem  {outcome.name}: {problem}", flush=True)
    if len(outcome.problems) > MOST:
        print(f"problem  {outcome.name}: and {len(outcome.problems) - MOST} more", flush=True)
    return True


def _notes(release: Release, absent: list[str], dirty: bool) -> Iterator[str]:
    yield from notes(release)
    if absent:
        yield f"not tried, because they are not on this machine: Python {', '.join(absent)}"
    if not _uv():
        yield "skipped: uv tool install (uv is not in this environment)"
    if dirty:
        yield "there are changes that are not committed: they are not in the archives"


def _keep(built: Path, dist: Path) -> None:
    """Put the archives into dist/."""
    dist.mkdir(exist_ok=True)
    for path in sorted(built.iterdir()):
        shutil.copyfile(path, dist / path.name)
        data = path.read_bytes()
        print(f"dist/{path.name}  {len(data):,} bytes  sha256 {hashlib.sha256(data).hexdigest()}")

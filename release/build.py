"""Build the archives from a commit, so that nothing that is not committed gets in."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

from .archives import read_tar, read_wheel
from .checks import PEOPLE, Release


class BuildError(Exception):
    """The archives cannot be built."""


def build(root: Path, folder: Path) -> Release:
    """Build the archives of the last commit in an empty folder, and read them.

    `folder` then has `source` (the commit), `dist` (what is released), `again` (the wheel from the source archive) and
    `twice` (both archives, built again in another place).
    """
    tar = _git(root, "archive", "--format=tar", "HEAD")
    epoch = _git(root, "log", "-1", "--format=%ct").decode().strip()
    source, dist, again = folder / "source", folder / "dist", folder / "again"
    _unpack(tar, source)
    _hatchling(source, dist, epoch)
    _unpack(tar, folder / "twice" / "elsewhere" / "source")
    _hatchling(folder / "twice" / "elsewhere" / "source", folder / "twice", epoch)
    sdist = _only(dist, "*.tar.gz")
    _unpack(sdist.read_bytes(), again / "source")
    _hatchling(_only(again / "source", "*"), again, epoch, "-t", "wheel")
    wheel, rebuilt = _only(dist, "*.whl"), _only(again, "*.whl")
    return Release(
        _version(source),
        read_tar("HEAD", tar),
        read_wheel(wheel.name, wheel.read_bytes()),
        read_tar(sdist.name, sdist.read_bytes()),
        read_wheel(rebuilt.name, rebuilt.read_bytes()),
        tuple(path.name for path in (wheel, sdist) if path.read_bytes() != (folder / "twice" / path.name).read_bytes()),
        machine(root, folder),
    )


def is_dirty(root: Path) -> bool:
    """Return whether there are changes that are not committed."""
    return _git(root, "status", "--porcelain") != b""


def _git(root: Path, *words: str) -> bytes:
    try:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise BuildError("git is not here; a release is built from a commit.") from None
    except subprocess.CalledProcessError as error:
        raise BuildError(f"git {words[0]} failed: {error.stderr.decode().strip()}") from None


def _unpack(data: bytes, folder: Path) -> None:
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        archive.extractall(folder, filter="data")


def _hatchling(source: Path, target: Path, epoch: str, *words: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target.resolve()), *words]
    env = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"the archives cannot be built: {done.stderr.strip() or done.stdout.strip()}")


def _only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def _version(source: Path) -> str:
    text = (source / "src/punchlist/__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.M)
    return str(version)


# --- this machine ----------------------------------------------------------------------------------------------------


def machine(root: Path, folder: Path) -> tuple[tuple[str, str], ...]:
    """Return what this machine has that must not be in an archive, each with what it is.

    Of the addresses in pip's settings, only the hosts are looked at.
    """
    name = platform.node()
    values = [
        ("the path of the repository", str(root.resolve())),
        ("the path that it was built in", str(folder.resolve())),
        ("the path of your home", str(Path.home()) + os.sep),
        ("the path of this environment", sysconfig.get_path("data")),
        ("the name of this machine", name if re.search(r"[\d.-]", name) else ""),  # "desk" would be found everywhere
        *(("the place of your package registry", place) for place in _registries()),
    ]
    return tuple((what, text) for what, text in values if len(text) > 5 and text not in _COMMON)


_COMMON = ("localhost", "pypi.org", "files.pythonhosted.org", *(f"/home/{name}/" for name in PEOPLE))


def _registries() -> list[str]:
    """Return the hosts and folders that pip gets packages from."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    hosts = {urlsplit(address).hostname or "" for address in re.findall(r"https?://[^\s'\"]+", said)}
    return sorted(hosts | set(re.findall(r"file://(/[^\s'\"]+)", said)))

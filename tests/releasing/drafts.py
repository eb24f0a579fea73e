"""A small release, written into real archives, with whatever is wrong about it."""

from __future__ import annotations

import base64
import hashlib
import io
import stat
import tarfile
import zipfile
from dataclasses import dataclass, field

from release.archives import Member, read_tar, read_wheel
from release.checks import Release

VERSION = "1.2.3"
TOP, INFO = f"punchlist-{VERSION}", f"punchlist-{VERSION}.dist-info"
MAN = f"punchlist-{VERSION}.data/data/share/man/man1/punchlist.1"

PYPROJECT = b"""[project]
name = "punchlist"
description = "A plan."
requires-python = ">=3.11"
license = "MIT"
keywords = ["agent", "plan"]
classifiers = ["Programming Language :: Python :: 3.11", "Typing :: Typed"]

[project.optional-dependencies]
postgres = ["psycopg>=3.2"]
"""
METADATA = b"""Metadata-Version: 2.4
Name: punchlist
Version: 1.2.3
Summary: A plan.
License-Expression: MIT
License-File: LICENSE
Keywords: agent,plan
Classifier: Programming Language :: Python :: 3.11
Classifier: Typing :: Typed
Requires-Python: >=3.11
Provides-Extra: postgres
Requires-Dist: psycopg>=3.2; extra == 'postgres'
Description-Content-Type: text/markdown

# Punchlist

Text with a [link](https://example.org/page), and a [place](#below).

## Below
"""
LOCK = b"""one==1.0 \\
    --hash=sha256:00 \\
    --hash=sha256:01
    # via -r requirements-dev.in
"""
TRACKED = {
    "pyproject.toml": PYPROJECT,
    "LICENSE": b"MIT\n",
    "README.md": b"# Punchlist\n",
    "requirements-dev.txt": LOCK,
    "docs/punchlist.1": b".TH punchlist\n",
    "src/punchlist/__init__.py": b'__version__ = "1.2.3"\n',
    "src/punchlist/py.typed": b"",
    "src/punchlist/prompts/plan.md": b"Plan.\n",
}
WHEEL = b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def _file(path: str, data: bytes) -> Member:
    return Member(path, 0o644, data)


def _package() -> list[Member]:
    package = [_file(path.removeprefix("src/"), data) for path, data in TRACKED.items() if path.startswith("src/")]
    made = {
        "METADATA": METADATA,
        "WHEEL": WHEEL,
        "entry_points.txt": b"[console_scripts]\npunchlist = punchlist.cli:main\n",
        "licenses/LICENSE": b"MIT\n",
    }
    return [*package, _file(MAN, b".TH punchlist\n"), *(_file(f"{INFO}/{name}", data) for name, data in made.items())]


def _tracked() -> list[Member]:
    return [*(_file(path, data) for path, data in TRACKED.items()), Member("run", 0o755, b"#!/bin/sh\n")]


@dataclass
class Draft:
    """What is put into the archives. RECORD is written for what is in the wheel, if it is not among it."""

    wheel: list[Member] = field(default_factory=_package)
    tracked: list[Member] = field(default_factory=_tracked)
    sdist: list[Member] = field(default_factory=list)
    rebuilt: list[Member] = field(default_factory=_package)
    wheel_name: str = f"{TOP}-py3-none-any.whl"
    sdist_name: str = f"{TOP}.tar.gz"
    changing: tuple[str, ...] = ()
    machine: tuple[tuple[str, str], ...] = (("the path of your home", "/mnt/disk/someone/"),)

    def __post_init__(self) -> None:
        files = [one._replace(path=f"{TOP}/{one.path}") for one in self.tracked]
        self.sdist = [*files, _file(f"{TOP}/PKG-INFO", METADATA)]

    def in_all(self, path: str, data: bytes) -> None:
        """Change a file of the repository, or add one, and with it the archives."""
        for members, name in ((self.tracked, path), (self.sdist, f"{TOP}/{path}")):
            put(members, name, data)
        if path.startswith("src/"):
            put(self.wheel, path.removeprefix("src/"), data)
            put(self.rebuilt, path.removeprefix("src/"), data)

    def metadata(self, old: bytes, new: bytes) -> None:
        """Change the metadata in both archives."""
        assert old in METADATA
        put(self.wheel, f"{INFO}/METADATA", METADATA.replace(old, new))
        put(self.sdist, f"{TOP}/PKG-INFO", METADATA.replace(old, new))

    def release(self) -> Release:
        """Write the archives, and read them."""
        wheel, rebuilt = zip_of(self.wheel), zip_of(self.rebuilt)
        return Release(
            VERSION,
            read_tar("HEAD", tar_of(self.tracked)),
            read_wheel(self.wheel_name, wheel),
            read_tar(self.sdist_name, tar_of(self.sdist)),
            read_wheel(self.wheel_name, rebuilt),
            self.changing,
            self.machine,
        )


def put(members: list[Member], path: str, data: bytes) -> None:
    """Give a file other contents; add it if there is none."""
    for at, one in enumerate(members):
        if one.path == path:
            members[at] = one._replace(data=data)
            return
    members.append(_file(path, data))


def drop(members: list[Member], path: str) -> None:
    """Remove a file."""
    before = len(members)
    members[:] = [one for one in members if one.path != path]
    assert len(members) == before - 1


def set_mode(members: list[Member], path: str, mode: int) -> None:
    """Give a file other permissions."""
    members[:] = [one._replace(mode=mode) if one.path == path else one for one in members]


def zip_of(members: list[Member]) -> bytes:
    """Write a wheel."""
    own = f"{INFO}/RECORD"
    if not any(one.path == own for one in members):
        members = [*members, _file(own, record_of(members))]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for one in members:
            info = zipfile.ZipInfo(one.path)
            kind = stat.S_IFLNK if one.kind == "link" else stat.S_IFREG
            info.external_attr = (kind | one.mode) << 16
            archive.writestr(info, one.data)
    return file.getvalue()


def record_of(members: list[Member]) -> bytes:
    """Write RECORD."""
    lines = []
    for one in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(one.data).digest()).rstrip(b"=").decode()
        lines.append(f"{one.path},sha256={digest},{len(one.data)}\n")
    return "".join([*lines, f"{INFO}/RECORD,,\n"]).encode()


def tar_of(members: list[Member]) -> bytes:
    """Write a source archive."""
    kinds = {"link": tarfile.SYMTYPE, "device": tarfile.FIFOTYPE, "folder": tarfile.DIRTYPE}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for one in members:
            info = tarfile.TarInfo(one.path)
            info.mode, info.type = one.mode, kinds.get(one.kind, tarfile.REGTYPE)
            if one.kind == "file":
                info.size = len(one.data)
            elif one.kind == "link":
                info.linkname = one.data.decode()
            archive.addfile(info, io.BytesIO(one.data))
    return file.getvalue()

"""A wheel and a source archive, read into values. Nothing is unpacked, so nothing in them can do harm."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from typing import NamedTuple


class Member(NamedTuple):
    """One entry of an archive."""

    path: str
    """As it is written in the archive."""
    mode: int
    """Its permissions, such as 0o644."""
    data: bytes
    """What it holds; of a link, where it leads."""
    kind: str = "file"
    """`file`, `folder`, `link`, or `device` for anything else."""


class Archive(NamedTuple):
    """One file of a release."""

    name: str
    """The name of the file."""
    members: tuple[Member, ...]
    """In their order, those that are there twice, too."""
    size: int
    """In bytes."""

    def read(self, path: str) -> bytes | None:
        """Return what a file holds, or None if there is none of this name."""
        return next((one.data for one in self.members if one.path == path and one.kind == "file"), None)

    def files(self) -> dict[str, bytes]:
        """Return what each file holds, by its path."""
        return {one.path: one.data for one in self.members if one.kind == "file"}


def read_wheel(name: str, data: bytes) -> Archive:
    """Read a wheel."""
    members = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            members.append(Member(info.filename, stat.S_IMODE(mode), archive.read(info), _zip_kind(info, mode)))
    return Archive(name, tuple(members), len(data))


def _zip_kind(info: zipfile.ZipInfo, mode: int) -> str:
    if info.is_dir():
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) in (0, stat.S_IFREG):
        return "file"
    return "device"


def read_tar(name: str, data: bytes) -> Archive:
    """Read a source archive, or what `git archive` wrote."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = tuple(
            Member(info.name, stat.S_IMODE(info.mode), _tar_data(archive, info), _tar_kind(info)) for info in archive
        )
    return Archive(name, members, len(data))


def _tar_data(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    if info.isreg():
        file = archive.extractfile(info)
        return file.read() if file else b""
    return info.linkname.encode()


def _tar_kind(info: tarfile.TarInfo) -> str:
    if info.isdir():
        return "folder"
    if info.issym() or info.islnk():
        return "link"
    if info.isreg():
        return "file"
    return "device"

"""Folders for their owner's eyes only, and small files in them."""

from __future__ import annotations

import os
from stat import S_ISREG

UNBLOCKED = getattr(os, "O_NONBLOCK", 0)  # to open a file that may be a pipe, for which nobody should wait


def make_folder(path: str) -> None:
    """A folder that is there, and made if it was not. Every one that is made on the way to it is private, too: the mode
    that `os.makedirs` takes is that of the last one only."""
    if not path or os.path.isdir(path):
        return
    make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # somebody else was faster, or it is not a folder
        if not os.path.isdir(path):
            raise


def open_file(path: str) -> int:
    """Open a file to read it, without waiting. Raises OSError, also for what is not a regular file: a pipe would be
    waited for, and a device has no end."""
    handle = os.open(path, os.O_RDONLY | UNBLOCKED)
    if S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(22, "not a regular file", path)


def read_file(path: str, most: int) -> bytes:
    """Read a small file, at most so many bytes of it. Raises OSError like `open_file`."""
    handle = open_file(path)
    try:
        return os.read(handle, most)
    finally:
        os.close(handle)

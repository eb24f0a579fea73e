"""Folders for their owner's eyes only."""

from __future__ import annotations

import os

UNBLOCKED = getattr(os, "O_NONBLOCK", 0)  # to open a file that may be a pipe, for which nobody should wait


def make_folder(path: str) -> None:
    """A folder that is there, and made if it was not. Every one that is made on the way to it is private, too: the mode
    that `os.makedirs` takes is that of the last one only."""
    if not path or os.path.isdir(path):
        return
    make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # somebody else was faster, or it is no folder
        if not os.path.isdir(path):
            raise

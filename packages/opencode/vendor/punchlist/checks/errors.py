"""Why the files of a project could not be looked at."""

from __future__ import annotations


class NoFiles(Exception):
    """The files cannot be looked at. Its text says why, for the user."""


class TooLong(NoFiles):
    """There was no time to look at all files."""

    def __init__(self) -> None:
        super().__init__("there was no time to look at all files")

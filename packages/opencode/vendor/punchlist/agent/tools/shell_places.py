"""Where a shell command runs, and whether the paths that it names are inside of the agent's folder."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from ...core.commands.shell_words import Word


class Asks(Exception):
    """The command has to be asked about; the message says why."""


class Place(NamedTuple):
    """Where a command runs: the folder, and every directory that it may be in by now; none if that is not known."""

    folder: str
    dirs: frozenset[str] | None
    depth: int = 0
    writes: bool = False  # whether the command has written something, which it may run


def is_inside(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def must_be_inside(word: Word, place: Place, what: str, *, itself: bool = False) -> None:
    """Raise Asks unless a path is inside, wherever the command may be by now. `itself`: a link, not where it leads."""
    if place.dirs is None:
        raise Asks("it is not known in which directory it changes something")
    if not word.is_plain:
        raise Asks(f"{what} a place that depends on a variable: {word.text}")
    text = word.text
    if word.is_bare:
        text = os.path.expanduser(word.text)
    if text.startswith("~"):
        raise Asks(f"{what} {word.text}, outside of the folder")
    if word.is_pattern and re.search(r"(^|/)\.[^/]*[*?[]", text):
        raise Asks(f"{what} {word.text}, which may be the folder above")
    for folder in place.dirs:
        path = os.path.join(folder, text)
        if not all(_is_within(one, place.folder, itself) for one in _meant(path, word.is_pattern)):
            raise Asks(f"{what} {word.text}, outside of the folder")


def _is_within(path: str, folder: str, itself: bool) -> bool:
    """Whether a path is inside of a folder, following links; for a link itself, whether the link is."""
    parent, last = os.path.split(path)
    if itself and last not in (".", "..", ""):
        return is_inside(os.path.join(os.path.realpath(parent), last), folder)
    real = os.path.realpath(path)
    return is_inside(real, folder) or (real == folder and not itself)


def _meant(path: str, is_pattern: bool) -> list[str]:
    """The paths that a pattern stands for now, and one that is as certain as any: below its directory."""
    if not is_pattern:
        return [path]
    certain = re.split(r"[*?[]", path)[0]
    return [os.path.join(os.path.dirname(certain), "x"), *glob.glob(path)]


def must_stay(place: Place) -> None:
    """Raise Asks unless the command is surely still inside of the folder."""
    if place.dirs is None or any(
        folder != place.folder and not is_inside(folder, place.folder) for folder in place.dirs
    ):
        raise Asks("it runs in a directory outside of the folder")


def change_directory(args: Sequence[Word], place: Place) -> Place:
    wanted = [word for word in args if not word.text.startswith("-") or word.text == "-"]
    if place.dirs is None or len(wanted) > 1:
        return place._replace(dirs=None)
    word = Word(os.path.expanduser("~"))
    if wanted:
        word = wanted[0]
    if not word.is_plain or word.is_pattern or word.text == "-":
        return place._replace(dirs=None)
    text = word.text
    if word.is_bare:
        text = os.path.expanduser(text)
    moved = {os.path.realpath(os.path.join(folder, text)) for folder in place.dirs}
    return place._replace(dirs=place.dirs | moved)

"""Which model an agent works with: what its hooks have said last, for the server that starts before they say anything.

A server is asked for its tools once, at its start, when nobody has named the model yet. It takes the one that the same
agent had last in the same place. What is noted is worth something on this machine only; whatever fails, nothing is
known."""

from __future__ import annotations

import os

from ..core.text import inline
from .files import read_file, write_file
from .settings import state_folder

_LONGEST = 200  # characters of a name


def note_model(host: str, place: str, model: str) -> None:
    """Note the model that an agent has in a place, if that is not what is known."""
    name = inline(model)[:_LONGEST]
    if not host or not name or last_model(host, place) == name:
        return
    try:
        write_file(_path(host, place), name.encode("utf-8", "replace"))
    except OSError:
        pass


def last_model(host: str, place: str) -> str:
    """Return the model that an agent had last in a place; empty if that is not known."""
    try:
        return read_file(_path(host, place), 4 * _LONGEST).decode("utf-8", "replace")[:_LONGEST]
    except OSError:
        return ""


def _path(host: str, place: str) -> str:
    from ..core.sha import hex_digest

    name = hex_digest(f"{host}\0{place}".encode("utf-8", "surrogatepass"))[:32]
    return os.path.join(state_folder(os.environ), "models", name)

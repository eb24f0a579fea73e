"""Check everything. Each check says what it found and, if something is wrong, how to fix it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..core.errors import Refused
from ..local.settings import Settings

OK, NOTE, PROBLEM = "ok", "note", "problem"
OWN, STORE = "punchlist", "store"


class Check(NamedTuple):
    """One thing that was looked at."""

    about: str  # punchlist, store, or a host
    state: str
    text: str
    fix: str = ""  # what to do about it


def examine(settings: Settings) -> Iterator[Check]:
    """Every check, one after the other."""
    from ..install.script import script
    from . import agents, installation, store

    try:
        path = script()
    except Refused as error:
        path = ""
        yield Check(OWN, PROBLEM, str(error))
    yield from installation.checks(settings, path)
    yield from store.checks(settings.store)
    if path:
        yield from agents.checks(path)

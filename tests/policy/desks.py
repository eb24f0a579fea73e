"""Desks with a plan on them, in any dialect."""

from __future__ import annotations

from typing import Any

from punchlist import Desk, MemoryStore
from punchlist.local.settings import load
from punchlist.stores import Store, open_store

ITEMS = (("Read", "completed"), ("Write", "in_progress"), ("Test", "pending"))


def desk(dialect: str = "native", store: Store | str | None = None, session: str = "s1", **settings: Any) -> Desk:
    """A desk in a place of its own, with the settings a test names."""
    opened = open_store(store) if isinstance(store, str) else store or MemoryStore()
    own = load(settings, environ={})
    return Desk(opened, session=session, dialect=dialect, settings=own, place="/here")


def entries(*items: tuple[str, str]) -> list[dict[str, str]]:
    return [{"content": text, "status": status, "activeForm": f"{text}, now"} for text, status in items]


def planned(
    dialect: str = "native", *items: tuple[str, str], store: Store | str | None = None, **settings: Any
) -> Desk:
    """A desk whose model has written a plan and knows it."""
    made = desk(dialect, store, **settings)
    made.import_plan(entries(*(items or ITEMS)), "claude-code")
    made.take_updates()
    return made

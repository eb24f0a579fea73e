"""Where plans live. A store knows values and revisions, not dialects. A new one is a file and a line in `PATHS`."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..core.changes import Change
from ..core.errors import StoreError
from ..core.model import Plan, Reader
from ..core.text import cut, inline

PATHS = {
    "memory": "punchlist.stores.memory",
    "sqlite": "punchlist.stores.sqlite",
}


class Record(NamedTuple):
    """One line of history: what was changed, by whom, when."""

    revision: int
    at: str
    by: str  # "user", or the agent
    reader: str = ""  # the reader who did it; it need not be told
    dialect: str = ""
    kind: str = "edit"  # import and restore are no news
    changes: tuple[Change, ...] = ()


class Home(NamedTuple):
    """Where a new plan belongs."""

    place: str = ""  # the git root or directory it was made in
    session: str = ""
    agent: str = ""


class Store(Protocol):
    """What the desk needs. Every method is atomic; a method that fails raises StoreError and has changed nothing."""

    durable: bool

    def glance(self, plan: str, reader: str) -> tuple[int, Reader]:
        """The revision of a plan, 0 if there is none, and what is remembered of a reader."""

    def load(self, plan: str) -> Plan | None:
        """The plan with this id."""

    def save(self, before: Plan | None, after: Plan, record: Record, reader: Reader | None, home: Home | None) -> None:
        """Replace `before` by `after`, and write the record and what its reader has heard. Raises StaleRevision
        if the stored revision is not that of `before`. With a home, the plan is new, and bound to its session."""

    def remember(self, plan: str, key: str, reader: Reader) -> None:
        """Keep what a reader has heard."""

    def history(self, plan: str, after: int = 0) -> list[Record]:
        """The records behind a revision, oldest first."""

    def bound(self, session: str, agent: str) -> str:
        """The id of the plan a session's agent works from, or nothing."""

    def latest(self, place: str) -> str:
        """The id of the plan of a main agent that was touched last in a place, or nothing."""

    def close(self) -> None: ...


def masked(url: str) -> str:
    """A store's URL without its password."""
    head, at, tail = url.rpartition("@")
    scheme, slashes, login = head.partition("://")
    if at and slashes and ":" in login:
        url = f"{scheme}://{login.split(':')[0]}:***@{tail}"
    before, named, after = url.partition("password=")
    hidden = "&".join(["***", *after.split("&")[1:]]) if named else ""
    return before + named + hidden


def open_store(url: str, **options: str) -> Store:
    """The store of this URL: `memory:`, `sqlite:PATH`."""
    scheme, colon, rest = url.partition(":")
    path = PATHS.get(scheme)
    if not colon or path is None:
        known = ", ".join(f"{name}:" for name in PATHS)
        raise StoreError(f"no store {cut(inline(masked(url)), 60)!r}; a store begins with one of {known}")
    store: Store = __import__(path, fromlist=["open"]).open(rest, **options)
    return store

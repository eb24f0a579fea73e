"""Where plans live. A store knows values and revisions, not dialects. A new one is a file and a line in `PATHS`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..core._typing import Any, NamedTuple, Protocol
from ..core.diff import Record
from ..core.errors import StoreError
from ..core.model import ACTIVE, NOTHING, Item, Plan, Reader, SessionState
from ..core.text import cut, inline

PATHS = {
    "memory": "punchlist.stores.memory",
    "json": "punchlist.stores.json_dir",
    "sqlite": "punchlist.stores.sqlite",
    "postgresql": "punchlist.stores.postgres",
    "postgres": "punchlist.stores.postgres",
}
MOST_CALLS = 200  # tool calls kept with an item
LONGEST_NAME = 300  # characters of a name that is kept as it is


class PlanKey(NamedTuple):
    """Where a plan belongs."""

    place: str = ""  # the git root or directory it was made in
    session: str = ""
    agent: str = ""
    host: str = ""  # the agent program the session runs in
    parent: str = ""  # the plan it was copied from


class Commit(NamedTuple):
    """One revision of a plan to save."""

    before: Plan | None  # None: the plan is new; it is bound to the session of its key
    after: Plan
    record: Record
    reader: Reader | None = None  # what the record's reader had been told until now; None: it is not told with this
    key: PlanKey | None = None  # whose plan it is, and the plan it was copied from; None: whoever works from it
    lists: Mapping[str, str] = NOTHING  # what the record's reader sent last, by tool, as in `keep_lists`


class PlanSummary(NamedTuple):
    """A plan among others."""

    id: str
    title: str
    revision: int
    place: str
    agent: str
    sessions: tuple[str, ...]  # those that worked from it, oldest first
    parent: str
    touched: str  # when it was last changed, in ISO 8601
    completed: int
    total: int
    host: str = ""  # the agent program of the session that was bound last
    active: str = ""  # what is being worked on; else the first item that is open

    @property
    def session(self) -> str:
        """The session that was bound last; empty if none was."""
        if self.sessions:
            return self.sessions[-1]
        return ""

    @property
    def is_open(self) -> bool:
        return self.completed < self.total


class Store(Protocol):
    """What the desk needs. Every method is atomic; a method that fails raises StoreError and has changed nothing."""

    durable: bool
    patience: float  # seconds to wait for others who hold the store

    def peek(self, plan: str, reader: str) -> tuple[int, Reader]:
        """The revision of a plan, 0 if there is none, and what is remembered of a reader."""

    def peek_session(self, home: PlanKey, reader: str) -> tuple[str, int, Reader]:
        """The id of the plan a session's agent works from, nothing if there is none, and a peek at it."""

    def load(self, plan: str) -> Plan | None:
        """The plan with this id."""

    def save(self, commit: Commit) -> None:
        """Write one revision. Raises StaleRevision, and writes nothing, if the stored revision is not that of
        `commit.before`, if the reader has been told of more than `commit.reader` meanwhile, or if the session's agent
        works from another plan by now."""

    def remember(self, plan: str, key: str, reader: Reader, before: Reader | None = None) -> None:
        """Keep what a reader was told. Raises StaleRevision if that was not what is named as `before`: then somebody
        else has told it meanwhile."""

    def lists(self, plan: str, reader: str) -> dict[str, str]:
        """The list that a reader sent last with each of its tools, as text that means nothing to a store."""

    def keep_lists(self, plan: str, reader: str, lists: Mapping[str, str]) -> None:
        """Keep what a reader sent last, by tool. Tools that are not named keep theirs."""

    def history(self, plan: str, after: int = 0, by: str = "") -> list[Record]:
        """The records behind a revision, oldest first; with `by`, only those of one author."""

    def last_dialect(self, plan: str) -> str:
        """The dialect of the last call of a tool that changed a plan; empty if none did."""

    def observe(self, plan: str, item: str, calls: Sequence[Mapping[str, Any]]) -> None:
        """Keep tool calls that were made for an item, beside the plan: no revision, no record, nobody is woken. Each
        takes less than 1,000 bytes; an item keeps its newest 200. What was observed of a check is kept in the same way,
        under the subjects of `core/checks.py` instead of an item."""

    def load_calls(self, plan: str, *subjects: str) -> dict[str, list[dict[str, Any]]]:
        """What was observed of the items and checks of a plan, or of those that are named, oldest first, by subject."""

    def find(self, home: PlanKey) -> str:
        """The id of the plan a session's agent works from; without a session, of the plan of a main agent that was
        touched last in a place; nothing if there is none."""

    def bind(self, home: PlanKey, plan: str, *, alone: bool = False) -> None:
        """Let a session's agent work from a plan from now on. `alone`: only if nobody does yet; else StaleRevision."""

    def sessions(self, plan: str) -> list[tuple[str, str]]:
        """The sessions and agents that work from a plan; the one bound last is the last."""

    def load_state(self, key: str) -> SessionState:
        """How a reader's work goes."""

    def save_state(self, key: str, before: SessionState, after: SessionState) -> None:
        """Keep how a reader's work goes. Raises StaleRevision if it is not as it was before."""

    def plans(
        self, most: int, session: str = "", agent: str = "", plan: str = "", place: str = ""
    ) -> list[PlanSummary]:
        """The plans there are, the last touched first: all, or those of a session, of an agent, of a place, or one."""

    def trim(self, before: str, plan: str = "", place: str = "", live: str = "") -> dict[str, int]:
        """Forget the history, observed tool calls, and what is remembered of readers, from before a time: of all plans,
        of one, or of those that were made in a place. Returns how many records each plan has lost.
        `live`: readers with something kept since that time are still at work. What they have not been told stays,
        and their lists, with what happened since those were sent."""

    def wait(self, plan: str, is_over: Callable[[], bool], seconds: float) -> None:
        """Return when it is over, or when the time is. Whether it is over, is asked whenever this plan may have
        changed, or another one may have become the plan of a session; without a plan, when any may have changed."""

    def close(self) -> None:
        """Release files and connections, and have those who wait asked once more."""


def check_id(plan: str) -> None:
    """Refuse an id for a plan that not every store can keep. Ids are made by the desk; sessions may have any name."""
    if len(plan) > LONGEST_NAME or not plan.isprintable() or plan.startswith('"'):
        shown = cut(ascii(plan), 60)
        raise StoreError(f"{shown} cannot be the id of a plan: use printable characters, at most {LONGEST_NAME}.")


def is_wanted(summary: PlanSummary, session: str, agent: str, plan: str, place: str) -> bool:
    """Whether a plan is one of a session, of an agent, of a place, or the one that is named. What is empty is not
    asked for."""
    if place and place != summary.place:
        return False
    if session and session not in summary.sessions:
        return False
    if agent and agent != summary.agent:
        return False
    return plan in ("", summary.id)


def current(items: Iterable[Item]) -> str:
    """Return what is being worked on, else what is open first, among the items of a plan."""
    found = [item for item in items if not item.is_closed]
    active = [item.label for item in found if item.status == ACTIVE]
    return next(iter([*active, *(item.text for item in found)]), "")


def with_time(at: str, call: dict[str, Any]) -> dict[str, Any]:
    """A tool call with the time at which it was made, if that is known."""
    if at:
        return {"at": at, **call}
    return call


def oldest(before: str, live: str) -> str:
    """Return from before which time a reader is forgotten, if one that was active since `live` is still at work."""
    if live:
        return min(before, live)
    return before


def masked(text: str, url: str = "") -> str:
    """Return a text without the passwords of the store URLs in it. If it tells what is wrong with a URL, it may quote
    pieces of that URL's password; those are left out, too."""
    import re

    login = r"(\b(?:[\w+]+:/+|postgres(?:ql)?:)[^:/@\s\"']*):([^\n]*)@"
    query = r"([?&](?:ssl)?password=)([^&\"'\n]*)"
    option = r"(\b(?:ssl)?password\s*=\s*)('(?:[^'\\\n]|\\.)*'?|\"[^\"\n]*\"?|(?:\\.|[^&\s\"'\\])*)"
    secrets = [found[2] for each in (login, query, option) for found in re.finditer(each, url, re.IGNORECASE)]
    text = re.sub(login, r"\1:***@", text, flags=re.IGNORECASE)
    for each in (query, option):
        text = re.sub(each, r"\1***", text, flags=re.IGNORECASE)
    return re.sub(r'"([^"]+)"', lambda piece: '"***"' if any(piece[1] in one for one in secrets) else piece[0], text)


def closed_error() -> StoreError:
    """The error for a store that is used after it was closed."""
    return StoreError("the desk is closed; open another one.")


def too_new(name: str) -> StoreError:
    """The error for a store that a newer version wrote, with the command that upgrades this one."""
    from ..local.origin import upgrade_command

    return StoreError(f"{name} was written by a newer punchlist; upgrade this one: {upgrade_command()}")


def permission_error(path: str, words: str) -> StoreError:
    """The error for a file that the system does not let us use: why, and what to do. `words`: what the system said."""
    from os import R_OK

    from ..local.access import may, why_not_writable

    why, fix = why_not_writable(path, "name another store")
    if not why:
        words = f"cannot be read or written ({words}); check its permissions and its directory's"
    elif may(path, R_OK):
        words = f"cannot be written: {why}; {fix}"
    else:
        words = f"cannot be opened: {why}; {fix}"
    return StoreError(f"{path} {words}.", "permission")


def system_error(path: str, error: OSError) -> StoreError:
    """The error for what the system refused to do with a file."""
    import errno

    from ..local.access import nearest

    words = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return permission_error(path, words)
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        words = f"{nearest(path)} is not a directory"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(f"{path} cannot grow: the disk is full; make room and try again.", "full")
    return StoreError(f"{path} cannot be used ({words}); look at what is there, then try again.")


def _load(path: str) -> Any:
    """Load the module of a store. A process that starts hooks looks for packages only where ours is."""
    try:
        return __import__(path, fromlist=["open"])
    except ModuleNotFoundError:
        if not sys.flags.no_site or "site" in sys.modules:
            raise
    import site

    site.main()
    return __import__(path, fromlist=["open"])


def check_address(url: str) -> None:
    """Refuse an address that no store has."""
    if "\0" in url:
        raise StoreError("the address of a store cannot hold a NUL character.", "address")
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in PATHS:
        known = ", ".join(f"{name}:" for name in PATHS)
        raise StoreError(f"no store {cut(inline(masked(url)), 60)!r}; a store begins with one of {known}", "address")


def open_store(url: str, **options: str) -> Store:
    """The store of this URL: `memory:`, `json:DIR`, `sqlite:PATH`, `postgresql://...`."""
    check_address(url)
    scheme, _, rest = url.partition(":")
    path = PATHS[scheme]
    try:
        module = _load(path)
    except ModuleNotFoundError as error:
        from ..local.origin import extra_command

        command = extra_command(path.rpartition(".")[2])
        raise StoreError(f"a {scheme}: store needs {error.name}; install it: {command}") from None
    store: Store = module.open(rest, **options)
    return store

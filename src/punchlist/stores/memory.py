"""Plans in memory, for tests, examples and short-lived agents. Safe between threads, gone with the process."""

from __future__ import annotations

from threading import RLock

from ..core.errors import StaleRevision
from ..core.model import MAIN, Plan, Reader
from . import Home, Record

_NEW = Reader()


class MemoryStore:
    """A store without a file."""

    durable = False

    def __init__(self) -> None:
        self._lock = RLock()
        self._plans: dict[str, Plan] = {}
        self._history: dict[str, list[Record]] = {}
        self._readers: dict[tuple[str, str], Reader] = {}
        self._homes: dict[str, Home] = {}
        self._bound: dict[tuple[str, str], str] = {}
        self._touched: list[str] = []

    def glance(self, plan: str, reader: str) -> tuple[int, Reader]:
        with self._lock:
            known = self._plans.get(plan)
            return (known.revision if known else 0), self._readers.get((plan, reader), _NEW)

    def load(self, plan: str) -> Plan | None:
        return self._plans.get(plan)

    def save(self, before: Plan | None, after: Plan, record: Record, reader: Reader | None, home: Home | None) -> None:
        with self._lock:
            stored = self._plans.get(after.id)
            if (stored.revision if stored else 0) != (before.revision if before else 0):
                raise StaleRevision(f"plan {after.id} has moved on")
            if home is not None:
                self._settle(after.id, home)
            self._plans[after.id] = after
            self._history.setdefault(after.id, []).append(record)
            if reader is not None:
                self._readers[after.id, record.reader] = reader
            self._touch(after.id)

    def remember(self, plan: str, key: str, reader: Reader) -> None:
        with self._lock:
            self._readers[plan, key] = reader

    def history(self, plan: str, after: int = 0) -> list[Record]:
        with self._lock:
            return [record for record in self._history.get(plan, ()) if record.revision > after]

    def bound(self, session: str, agent: str) -> str:
        return self._bound.get((session, agent), "")

    def latest(self, place: str) -> str:
        with self._lock:
            for plan in reversed(self._touched):
                home = self._homes.get(plan, Home())
                if home.place == place and home.agent == MAIN:
                    return plan
            return ""

    def close(self) -> None:
        """There is nothing to close."""

    def _settle(self, plan: str, home: Home) -> None:
        if home.session:
            if (home.session, home.agent) in self._bound:
                raise StaleRevision(f"session {home.session!r} has a plan already")
            self._bound[home.session, home.agent] = plan
        self._homes[plan] = home

    def _touch(self, plan: str) -> None:
        if not self._touched or self._touched[-1] != plan:
            if plan in self._touched:
                self._touched.remove(plan)
            self._touched.append(plan)


def open(rest: str, **options: str) -> MemoryStore:
    return MemoryStore()

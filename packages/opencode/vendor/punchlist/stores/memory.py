"""Plans in memory, for tests, examples and short-lived agents. Safe between threads, gone with the process."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import dropwhile
from operator import attrgetter
from threading import Condition

from ..core._typing import Any
from ..core.checks import SUBJECT
from ..core.diff import Record
from ..core.errors import StaleRevision
from ..core.model import MAIN, NOTHING, Plan, Reader, SessionState
from ..local.files import utc_text
from . import MOST_CALLS, Commit, PlanKey, PlanSummary, check_id, current, is_wanted, oldest, with_time

_NEW = Reader()
_FRESH = SessionState()


class MemoryStore:
    """A store without a file, for tests and examples. Two desks may share one."""

    durable = False
    patience = 0.0

    def __init__(self) -> None:
        self._changed = Condition()
        self._plans: dict[str, Plan] = {}  # the last touched is the last
        self._history: dict[str, list[Record]] = {}
        self._touched: dict[str, str] = {}
        self._readers: dict[tuple[str, str], Reader] = {}
        self._readers_at: dict[tuple[str, str], str] = {}  # when each was last kept
        self._lists: dict[tuple[str, str], dict[str, str]] = {}  # by plan and reader, then by tool
        self._lists_at: dict[tuple[str, str], str] = {}
        self._calls: dict[str, dict[str, list[tuple[str, dict[str, Any]]]]] = {}  # by plan and item, with times
        self._states_at: dict[str, str] = {}
        self._homes: dict[str, PlanKey] = {}
        self._bound: dict[tuple[str, str], str] = {}
        self._hosts: dict[tuple[str, str], str] = {}  # the agent programs of those who are bound
        self._states: dict[str, SessionState] = {}

    def peek(self, plan: str, reader: str) -> tuple[int, Reader]:
        with self._changed:
            known = self._plans.get(plan)
            return (known.revision if known else 0), self._readers.get((plan, reader), _NEW)

    def peek_session(self, home: PlanKey, reader: str) -> tuple[str, int, Reader]:
        with self._changed:
            plan = self.find(home)
            return (plan, *self.peek(plan, reader))

    def load(self, plan: str) -> Plan | None:
        return self._plans.get(plan)

    def save(self, commit: Commit) -> None:
        before, after, record, reader, home, lists = commit
        if before is None:
            check_id(after.id)
        with self._changed:
            stored = self._plans.get(after.id)
            if (stored.revision if stored else 0) != (before.revision if before else 0):
                raise StaleRevision(f"plan {after.id} has moved on")
            if reader is not None and before is not None and reader.seen < before.revision:
                self._refuse_told(after.id, record.reader, reader)
            if home is not None and stored is not None:
                self._stay(after.id, home)
            elif home is not None:
                self._settle(after.id, home)
            self._plans.pop(after.id, None)
            self._plans[after.id] = after
            self._history.setdefault(after.id, []).append(record)
            self._touched[after.id] = record.at
            if reader is not None:
                self._readers[after.id, record.reader] = Reader(after.revision)
                self._readers_at[after.id, record.reader] = record.at
            self._keep_lists(after.id, record.reader, lists, record.at)
            self._changed.notify_all()

    def remember(self, plan: str, key: str, reader: Reader, before: Reader | None = None) -> None:
        with self._changed:
            if before is not None:
                self._refuse_told(plan, key, before)
            if reader.seen >= self._readers.get((plan, key), _NEW).seen:
                self._readers[plan, key] = reader
                self._readers_at[plan, key] = utc_text()

    def lists(self, plan: str, reader: str) -> dict[str, str]:
        with self._changed:
            return dict(self._lists.get((plan, reader), NOTHING))

    def keep_lists(self, plan: str, reader: str, lists: Mapping[str, str]) -> None:
        with self._changed:
            self._keep_lists(plan, reader, lists, utc_text())

    def observe(self, plan: str, item: str, calls: Sequence[Mapping[str, Any]]) -> None:
        from ..core.redact import bounded_call

        kept = [bounded_call(call) for call in calls]
        made = [(str(call.pop("at", utc_text())), call) for call in kept]
        with self._changed:
            own = self._calls.setdefault(plan, {})
            own[item] = [*own.get(item, []), *made][-MOST_CALLS:]

    def load_calls(self, plan: str, *subjects: str) -> dict[str, list[dict[str, Any]]]:
        with self._changed:
            kept = self._calls.get(plan, {})
            wanted = [id for id in subjects or kept if id in kept]
            return {id: [with_time(*one) for one in kept[id]] for id in wanted}

    def history(self, plan: str, after: int = 0, by: str = "") -> list[Record]:
        with self._changed:
            records = self._history.get(plan, [])
            found = records[bisect_right(records, after, key=attrgetter("revision")) :]
        if by:
            return [record for record in found if record.by == by]
        return found

    def last_dialect(self, plan: str) -> str:
        with self._changed:
            records = self._history.get(plan, [])
            return next((record.dialect for record in reversed(records) if record.dialect), "")

    def find(self, home: PlanKey) -> str:
        with self._changed:
            if home.session:
                return self._bound.get((home.session, home.agent), "")
            for plan in reversed(self._plans):
                where = self._homes.get(plan, PlanKey())
                if where.place == home.place and where.agent == MAIN:
                    return plan
            return ""

    def bind(self, home: PlanKey, plan: str, *, alone: bool = False) -> None:
        check_id(plan)
        with self._changed:
            if alone and self.sessions(plan):
                raise StaleRevision(f"somebody works from plan {plan} already")
            self._hosts[home.session, home.agent] = home.host
            self._bound.pop((home.session, home.agent), None)
            self._bound[home.session, home.agent] = plan
            self._changed.notify_all()

    def sessions(self, plan: str) -> list[tuple[str, str]]:
        with self._changed:
            return [who for who, bound in self._bound.items() if bound == plan]

    def load_state(self, key: str) -> SessionState:
        return self._states.get(key, _FRESH)

    def save_state(self, key: str, before: SessionState, after: SessionState) -> None:
        with self._changed:
            if self.load_state(key) != before:
                raise StaleRevision("the state has changed")
            self._states[key] = after
            self._states_at[key] = utc_text()

    def plans(
        self, most: int, session: str = "", agent: str = "", plan: str = "", place: str = ""
    ) -> list[PlanSummary]:
        with self._changed:
            listed = map(self._summary, reversed(self._plans.values()))
            return [listing for listing in listed if is_wanted(listing, session, agent, plan, place)][:most]

    def trim(self, before: str, plan: str = "", place: str = "", live: str = "") -> dict[str, int]:
        with self._changed:
            chosen = {id for id in self._plans if self._is_in(id, plan, place)}
            old = oldest(before, live)
            _drop_old(self._readers, self._readers_at, old, chosen)
            _drop_old(self._lists, self._lists_at, old, chosen)
            for id in chosen & self._calls.keys():
                self._drop_calls(id, before)
            if not plan and not place:
                self._drop_states(old)
            gone = {id: self._forget(id, before, live) for id in chosen}
            return {id: count for id, count in gone.items() if count}

    def _drop_calls(self, id: str, before: str) -> None:
        kept: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for item, calls in self._calls[id].items():
            newer = [one for one in calls if one[0] >= before]
            if item.startswith(SUBJECT):  # the newest says what is known of a check
                newer = newer or calls[-1:]
            if newer:
                kept[item] = newer
        self._calls[id] = kept

    def _drop_states(self, old: str) -> None:
        for key in [key for key, at in self._states_at.items() if at < old]:
            del self._states[key], self._states_at[key]

    def _forget(self, plan: str, before: str, live: str) -> int:
        """Forget the history of one plan, up to the first record that is to stay; how much of it that was."""
        seen, since = self._plans[plan].revision, before
        if live:
            told = [self._readers[who].seen for who, at in self._readers_at.items() if who[0] == plan and at >= live]
            sent = [at for who, at in self._lists_at.items() if who[0] == plan and at >= live]
            seen, since = min([seen, *told]), min([since, *sent])
        records = self._history.get(plan, [])
        kept = list(dropwhile(lambda record: record.at < since and record.revision <= seen, records))
        self._history[plan] = kept
        return len(records) - len(kept)

    def wait(self, plan: str, is_over: Callable[[], bool], seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(is_over, seconds)

    def close(self) -> None:
        """There is nothing to close, but somebody may be waiting."""
        with self._changed:
            self._changed.notify_all()

    def _keep_lists(self, plan: str, reader: str, lists: Mapping[str, str], at: str) -> None:
        if lists:
            self._lists.setdefault((plan, reader), {}).update(lists)
            self._lists_at[plan, reader] = at

    def _is_in(self, id: str, plan: str, place: str) -> bool:
        if plan:
            return id == plan
        return not place or self._homes.get(id, PlanKey()).place == place

    def _refuse_told(self, plan: str, key: str, reader: Reader) -> None:
        if self._readers.get((plan, key), _NEW) != reader:
            raise StaleRevision("the reader was told about it")

    def _stay(self, plan: str, home: PlanKey) -> None:
        if home.session and self.find(home) != plan:
            raise StaleRevision(f"session {home.session!r} works from another plan")
        if home.parent:
            self._homes[plan] = self._homes.get(plan, PlanKey())._replace(parent=home.parent)

    def _settle(self, plan: str, home: PlanKey) -> None:
        if not home.session and home.agent == MAIN and home.place and self.find(home):
            raise StaleRevision("there is a plan here already")
        if home.session:
            if (home.session, home.agent) in self._bound:
                raise StaleRevision(f"session {home.session!r} has a plan already")
            self._bound[home.session, home.agent] = plan
            self._hosts[home.session, home.agent] = home.host
        self._homes[plan] = home

    def _summary(self, plan: Plan) -> PlanSummary:
        home = self._homes.get(plan.id, PlanKey())
        bound = self.sessions(plan.id)
        sessions = tuple(dict.fromkeys(session for session, agent in bound))
        touched = self._touched[plan.id]
        progress = plan.progress
        return PlanSummary(
            plan.id,
            plan.title,
            plan.revision,
            home.place,
            home.agent,
            sessions,
            home.parent,
            touched,
            progress.completed,
            progress.total,
            self._hosts.get(bound[-1], "") if bound else "",
            current(plan.items),
        )


def _drop_old(
    values: dict[tuple[str, str], Any], times: dict[tuple[str, str], str], old: str, plans: Collection[str]
) -> None:
    """Drop what is kept of readers of these plans and was last kept before a time."""
    for who in [who for who, at in times.items() if at < old and who[0] in plans]:
        del values[who], times[who]


def open(rest: str, **options: str) -> MemoryStore:
    return MemoryStore()

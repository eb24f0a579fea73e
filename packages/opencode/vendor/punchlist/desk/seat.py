"""Where a session's agent sits: which plan it works from, under which name, and the plan as it was last seen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from ..core._typing import TYPE_CHECKING, Any
from ..core.errors import Refused, StoreError
from ..core.model import Pause, Plan, Reader
from ..core.text import cut, inline
from ..local import settings
from ..local.settings import DEFAULT_DIALECT
from ..stores import PlanKey, Store

if TYPE_CHECKING:
    from ..core.last_sent import Kept
    from ..dialects import Dialect
    from ..policy.dialect_guide import Guide
    from .commit import Snapshot
    from .lost_plan import Talk

_LONGEST = 1.0  # seconds to wait for a change before asking the store
_AGAIN = 0.5  # seconds until it is noticed that another session works from the plan, if that has changed nothing
_LONG = 300  # characters of a key that is used as it is


class Seat:
    """What the rooms of this package know of a desk: a session's agent, and its plan between two looks at the store."""

    def __init__(
        self, store: Store, session: str, agent: str, plan: str, place: str, host: str, dialect: str | Dialect
    ) -> None:
        self.store = store
        self.session = session
        self.agent = agent
        self.host = host  # the agent program that the session runs in, where that is known
        self.chosen = dialect  # by name until it is used
        self.plan = plan  # the one that was named; empty if none was
        self.reader_key = reader_key(session, agent)
        self.parent = ""  # the plan that this one is made a copy of
        self.cached = Plan()
        self.left: Snapshot | None = None  # the plan as this desk left it; others may have changed it since
        self.known_place = place  # empty: not looked up yet
        self._key = PlanKey(session=session, agent=agent)
        self._latest = ""  # the plan that was found without a session
        self._named: tuple[str, int, float, str, bool] = ("", 0, 0.0, agent, False)
        self.owes_list = False  # whether the reader was told of an edit of the user's, and not shown the list since
        self.sent: tuple[str, Kept] | None = None  # the list that was last kept for this reader: its text, and itself
        self.given: tuple[str, int, dict[str, str]] = ("", 0, {})  # words of the user in a plan, up to a revision
        self.worked_in = ("", 0, DEFAULT_DIALECT)  # the dialect that a plan was worked in at a revision
        self.listeners: list[Callable[[Pause], object]] = []  # who is told of pauses
        self.events: list[dict[str, Any]] = []  # of a store that is not durable
        self.off = (False, 0.0)  # whether punchlist is off here, and until when that is believed
        self.held = ""  # why the agent is held back, where no file says so
        self.editing: dict[int, bool] = {}  # threads that are inside of an edit, and whether it has tried to save
        self.closed = False
        self.find_model: Callable[[], str] = str  # the name of the model, where it is known; asked only if it matters
        self.has_answered = False  # whether a call was answered: the plan is in the conversation, however that is kept
        self.talk: Talk | None = None  # the conversation of the last request
        self.known_folder = ""  # where the agent works, if that is not where this process does

    @property
    def dialect(self) -> Dialect:
        """The tools that the model is given."""
        chosen = self.chosen
        if isinstance(chosen, str):
            from ..dialects import load

            self.chosen = chosen = load(chosen)
        return chosen

    @property
    def dialect_name(self) -> str:
        return self.chosen if isinstance(self.chosen, str) else self.chosen.name

    @property
    def guide(self) -> Guide:
        """How the model is guided."""
        if self.chosen == DEFAULT_DIALECT:
            from ..policy.dialect_guide import OURS

            return OURS
        return self.dialect.guide

    @property
    def place(self) -> str:
        """The git root or directory that plans belong to."""
        self.known_place = self.known_place or settings.place(self.known_folder)
        return self.known_place

    @property
    def folder(self) -> str:
        """The directory that the agent, or its user, works in."""
        try:
            return self.known_folder or os.getcwd()
        except OSError:  # it was deleted
            return ""

    def peek(self) -> tuple[str, int, Reader]:
        """Return the plan's id and revision, and what this reader was told. A session may be bound to another plan at
        any time; without a session, a plan that was found is kept."""
        if self.session and not self.plan:
            return self.store.peek_session(self._key, self.reader_key)
        if not self.plan and not self._latest:
            self._latest = self.store.find(PlanKey(self.place, self.session, self.agent, self.host, self.parent))
        plan = self.plan or self._latest
        if plan:
            return (plan, *self.store.peek(plan, self.reader_key))
        return ("", 0, Reader())

    def look(self) -> tuple[Plan, Reader]:
        """Return the plan as it is now, and what this reader was told. A plan is read only if it has changed."""
        plan_id, revision, reader = self.peek()
        if not plan_id:
            return Plan(), Reader()
        plan = self.cached
        if plan.revision != revision or plan.id != plan_id:
            found = self.store.load(plan_id)
            if found is None:
                name = cut(inline(plan_id), 40)
                raise Refused(f"no plan {name!r}; if you name none, the latest of this directory is found.")
            self.cached = plan = found
        return plan, reader

    def plan_id(self) -> str:
        """Return the id of the plan that was last seen; else ask for it."""
        return self.cached.id or self.peek()[0]

    def forget(self) -> None:
        """Forget which plan was found: the next look finds the one that was touched last."""
        self._latest, self.left = "", None

    def key_of(self, now: Plan) -> PlanKey | None:
        """Return whose plan is saved: with all that is known of a new one; None for a plan that was named."""
        if self.parent or not now.id:
            return PlanKey(self.place, self.session, self.agent, self.host, self.parent)
        if self.session and not self.plan:
            return self._key
        return None

    def keep(self, now: Plan, after: Plan, left: Snapshot | None) -> None:
        """Remember a plan that was saved."""
        self.cached = after
        self.left = left
        self._latest = after.id
        if self._named[:2] == (now.id, now.revision):
            self._named = (after.id, after.revision, *self._named[2:])

    # --- waiting for others --------------------------------------------------------------------------------------

    def follow(self, is_over: Callable[[], bool] = bool) -> Iterator[Plan]:
        """Yield the plan, and again each time anybody changes it, until the desk is closed or `is_over`."""
        seen: tuple[str, int] | None = None
        while (plan := self._other_than(seen, is_over)) is not None:
            yield plan
            seen = (plan.id, plan.revision)

    def wait(self, plan: Plan, seconds: float) -> None:
        """Return when the plan is no longer this one, or when the time is over."""
        self.store.wait(plan.id, lambda: self._has_moved((plan.id, plan.revision)), seconds)

    def _other_than(self, seen: tuple[str, int] | None, is_over: Callable[[], bool]) -> Plan | None:
        """The plan as soon as it is not the one that was seen; None when nobody follows it any more."""

        def is_next() -> bool:
            return is_over() or self._has_moved(seen)

        try:
            while not is_next():
                self.store.wait(seen[0] if seen else "", is_next, _LONGEST)
            if self.closed or is_over():
                return None
            return self.look()[0]
        except StoreError:
            if self.closed or is_over():
                return None
            raise

    def _has_moved(self, seen: tuple[str, int] | None) -> bool:
        return self.closed or self.peek()[:2] != seen

    # --- the name on a plan --------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What this agent is called on its plan: as it was given, unless another session has that name there."""
        return self._take_seat()[3]

    @property
    def is_shared(self) -> bool:
        """Whether another session or agent works from the same plan, or did."""
        return self._take_seat()[4]

    def take_name(self) -> None:
        """Take another name if another session has taken this one's on the plan meanwhile: a session starts."""
        plan = self.look()[0]
        if plan.id and self.session:
            self._named = self._find_name(plan.id, again=True)

    def _take_seat(self) -> tuple[str, int, float, str, bool]:
        plan = self.plan_id()
        if not plan or not self.session:
            return ("", 0, 0.0, self.agent, False)
        is_known = self._named[:2] == (plan, self.cached.revision) and time.monotonic() < self._named[2]
        if not is_known:
            self._named = self._find_name(plan)
        return self._named

    def _find_name(self, plan: str, *, again: bool = False) -> tuple[str, int, float, str, bool]:
        known = (plan, self.cached.revision, time.monotonic() + _AGAIN)
        if self.store.sessions(plan) in ([], [(self.session, self.agent)]):
            return (*known, self.agent, False)
        from .sharing import claim

        return (*known, claim(self, plan, again=again), True)


def reader_key(session: str, agent: str) -> str:
    """Return a key that no other session and agent have."""
    key = f"{len(session)}/{session}/{agent}"
    if len(key) <= _LONG:
        return key
    from hashlib import sha256

    return f"{key[:80]}~{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"

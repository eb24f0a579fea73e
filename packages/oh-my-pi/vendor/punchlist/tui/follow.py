"""A plan as others change it, followed by a thread of its own: a store that does not answer stops nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from ..core._typing import NamedTuple
from ..core.errors import Refused, StoreError
from ..core.model import MAIN, NOTHING, Plan
from ..core.render import NO_LABELS, Labels
from ..desk import Desk, activity
from ..desk.grade_labels import LiveLabels
from ..desk.holding import is_off
from ..desk.session_state import load_state
from ..desk.visible import clears
from ..local.files import time_text
from ..stores import PlanSummary, masked
from .view import Worker

_LONGEST = 1.0  # seconds to wait for a change before looking by ourselves
_SOON = 0.1  # the same while there is no plan yet
_AGAIN = 0.5  # seconds until a store that failed is tried again
_STILL = 60.0  # seconds without a change after which another plan of the same place is looked at
_WORKERS = 8  # sub-agents that are shown
_RECENTLY = 600.0  # seconds since its last change for which a sub-agent is shown


class Seen(NamedTuple):
    """What a follower knows."""

    plan: Plan = Plan()
    labels: Labels = NO_LABELS  # what checks say about its items
    since: Mapping[str, str] = NOTHING  # when each active item was started, in ISO 8601
    trouble: str = ""  # what is wrong with the store
    clears: bool = False  # whether closed items leave the list after a while
    changed: str = ""  # when an agent last changed the plan
    heard: str = ""  # when one was last heard from
    stopped: str = ""  # when it stopped, unless it was heard from since
    failed: bool = False  # whether its last call of the plan's tool failed
    workers: tuple[Worker, ...] = ()  # its sub-agents
    off: bool = False  # whether punchlist is off there
    nudges: bool = True  # whether the agent is nudged there
    whose: str = ""  # who works from the plan, where there is another one beside it
    number: int = 0  # counts what was seen


class Follower:
    """Looks at a plan until it is stopped, and tells when there is something new to see."""

    def __init__(
        self, opened: Callable[[], Desk], tell: Callable[[], object], whose: Callable[[Desk, str], str] | None = None
    ) -> None:
        self.seen = Seen()
        self.beat = time.monotonic()  # when the store last answered
        self.desk = opened()
        self._labels = LiveLabels(self.desk)
        self._identity = identity(self.desk.settings.store)
        self._opened = opened
        self._tell = tell
        self._whose = whose
        self._changed = time.monotonic()
        self._known: dict[str, Plan] = {}  # the plans of sub-agents, as they were last seen
        self._is_new = True  # whether what is seen next is worth telling, changed or not

    def start(self, plan: Plan) -> None:
        """Go on from a plan that was seen already."""
        from threading import Thread

        self.seen = Seen(plan)
        Thread(target=self._run, name="follow", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self._look()
            except StoreError as error:
                self._note(self.seen._replace(trouble=str(error)))
                time.sleep(_AGAIN)
            except Refused as error:  # the plan is gone; there may be another
                self._note(self.seen._replace(trouble=str(error)))
                self.desk._seat.forget()
                time.sleep(_AGAIN)

    def _look(self) -> None:
        """See the plan each time it changes, for as long as the store answers."""
        while True:
            self._require()
            now = self._next()
            self.beat = time.monotonic()
            if (now.id, now.revision) != (self.seen.plan.id, self.seen.plan.revision) or self._is_new:
                self._see(now)
            elif now.id:
                self._note(self._around(self.seen))
            self.desk._seat.wait(now, _LONGEST if now.id else _SOON)

    def _require(self) -> None:
        """Open the store again if another file is in its place. One that is gone is not created: it is waited for."""
        url = self.desk.settings.store
        found = identity(url)
        if found is None:
            raise StoreError(f"{masked(url)} is gone; waiting for it to come back.")
        if found != self._identity:
            self.desk.close()
            self.desk, self._identity = self._opened(), found
            self._labels = LiveLabels(self.desk)

    def _next(self) -> Plan:
        """The plan as it is. One that is finished, or still for long, makes way for another of the same place; that of
        a session that was named, for the one it is bound to now."""
        plan = self.seen.plan
        if self.desk.session or not plan.open_items or time.monotonic() - self._changed > _STILL:
            self.desk._seat.forget()
        return self.desk.plan

    def _see(self, plan: Plan) -> None:
        self._changed = time.monotonic()
        records = activity.recent_records(self.desk, plan)
        since, changed = activity.active_since(records, plan), activity.heard_in_history(records)
        seen = Seen(plan, since=since, clears=clears(self.desk, plan), changed=changed)
        self._note(self._around(seen) if plan.id else seen)

    def _around(self, seen: Seen) -> Seen:
        """The same with what is known of those who work from the plan."""
        plan = seen.plan
        if self._whose is not None:
            seen = seen._replace(whose=self._whose(self.desk, plan.id))
        worker = activity.session_desk(self.desk, plan)
        state = load_state(worker)
        helpers = self._helpers(worker.session, plan.id)
        touched = [listing.touched for listing in helpers]
        heard = max(seen.changed, activity.heard_in_sessions(self.desk, plan.id), *touched)
        return seen._replace(
            labels=self._labels.look(plan),
            heard=heard,
            stopped=activity.stopped_at(plan.id, heard),
            failed=state.failed,
            off=is_off(worker),
            nudges=not state.stopped,
            workers=self._workers(helpers),
        )

    def _helpers(self, session: str, main: str) -> list[PlanSummary]:
        """The plans of the sub-agents of a session that are at work, or were a moment ago."""
        if session:
            found = self.desk._seat.store.plans(_WORKERS + 1, session=session)
        else:
            found = []
        oldest = time_text(-_RECENTLY)
        return [one for one in found if one.id != main and one.agent != MAIN and one.touched > oldest]

    def _workers(self, helpers: list[PlanSummary]) -> tuple[Worker, ...]:
        found = []
        for listing in helpers:
            plan = self._known.get(listing.id)
            if plan is None or plan.revision != listing.revision:
                plan = self.desk._seat.store.load(listing.id)
            if plan is not None:
                self._known[listing.id] = plan
                found.append(Worker(listing.agent, "Running" if plan.open_items else "Completed", plan))
        return tuple(sorted(found, key=lambda worker: worker.name))

    def _note(self, seen: Seen) -> None:
        self._is_new = bool(seen.trouble)
        if seen._replace(number=self.seen.number) != self.seen:
            self.seen = seen._replace(number=self.seen.number + 1)
            self._tell()


def identity(url: str) -> tuple[int, int] | None:
    """Which file or folder a store is, so that it is noticed when it is another one; None if it is gone."""
    scheme, _, path = url.partition(":")
    if scheme not in ("sqlite", "json"):
        return (0, 0)
    try:
        found = os.stat(os.path.abspath(os.path.expanduser(path)))
    except OSError:
        return None
    return found.st_dev, found.st_ino

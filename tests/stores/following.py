"""Whoever follows a plan: a thread that keeps what it was shown."""

from __future__ import annotations

from queue import Queue
from threading import Thread

from punchlist import Desk, Plan
from tests.core.plans import texts

PATIENCE = 60  # seconds until a test that hangs is a test that fails


class Follower:
    """Follows a desk's plan until the desk is closed, or until it has seen enough."""

    def __init__(self, desk: Desk, enough: str = "") -> None:
        self._desk = desk
        self._enough = enough
        self._shown: Queue[Plan | BaseException | None] = Queue()
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        try:
            for plan in self._desk.follow():
                self._shown.put(plan)
                if self._enough in texts(plan):
                    break
            self._shown.put(None)
        except BaseException as error:
            self._shown.put(error)

    def next(self) -> Plan | None:
        """What is shown next; None at the end."""
        shown = self._shown.get(timeout=PATIENCE)
        if isinstance(shown, BaseException):
            raise shown
        return shown

    def until(self, *wanted: str) -> Plan:
        """The first plan that is shown with these items. A follower may miss what was there for a moment only."""
        while True:
            plan = self.next()
            assert plan is not None, "the end came too early"
            if texts(plan) == list(wanted):
                return plan

"""The plans behind one connection: one store for as long as it lasts, and a desk for each session and agent."""

from __future__ import annotations

from collections.abc import Mapping

from ..core._typing import Any
from ..core.errors import StoreError
from ..core.model import MAIN, NOTHING
from ..desk import Desk, store_for
from ..dialects import Dialect
from ..local.session_links import AgentRef, state_of
from ..local.settings import Settings
from ..stores import PlanKey, Store
from .callers import Callers, is_at_home

_MOST = 64  # desks that are kept open


class Desks:
    """Opens the store when the first plan is asked for; if that fails, it tries again with the next."""

    def __init__(
        self,
        settings: Settings,
        callers: Callers,
        dialect: Dialect,
        plan: str = "",
    ) -> None:
        self._settings = settings
        self._callers = callers
        self._dialect = dialect
        self._plan = plan
        self._store: Store | None = None
        self._open: dict[tuple[str, str], Desk] = {}
        self._latest: Desk | None = None
        self._is_at_home = is_at_home()

    def of(self, meta: Mapping[str, Any], client: str) -> Desk:
        """The desk of whoever makes a call with this `_meta`. Raises StoreError."""
        who = self._callers.who(meta, client)
        desk = self._desk_of(who, self._place(who, meta, client))
        self._latest = desk
        return desk

    def of_user(self, meta: Mapping[str, Any], client: str) -> Desk:
        """The desk of the main agent of a session, for what its user asks for: prompts, resources, the buttons of a
        card. A request that names no session means that of whoever called last. Raises StoreError."""
        who = self._callers.who(meta, client)
        if who.session == self._callers.nameless and self._latest is not None:
            who = who._replace(session=self._latest.session)
        own = who._replace(agent=self._callers.agent or MAIN)
        return self._desk_of(own, self._place(who, meta, client))

    def _place(self, who: AgentRef, meta: Mapping[str, Any], client: str) -> str:
        """The directory of a call; empty for that of the server."""
        place = self._callers.place_of(meta, client)
        if not place and self._is_at_home:
            return who.folder
        return place

    def _desk_of(self, who: AgentRef, place: str) -> Desk:
        key = (who.session, who.agent)
        desk = self._open.get(key)
        if desk is None:
            desk = self._open[key] = self._open_desk(who, place)
            if len(self._open) > _MOST:
                self._open.pop(next(iter(self._open)))
        desk._seat.known_folder = place or who.folder
        return desk

    def latest(self, client: str) -> Desk:
        """The desk of whoever called last; before the first call, of whoever would."""
        return self._latest or self.of(NOTHING, client)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _open_desk(self, who: AgentRef, place: str) -> Desk:
        desk = self._desk(who, place)
        if who.agent == MAIN and who.session != self._callers.nameless and not self._plan:
            self._hand_over(desk)
        if who.agent == MAIN:
            try:
                self._settle(desk)
            except StoreError:  # the call itself will say so
                pass
        return desk

    def _settle(self, desk: Desk) -> None:
        """Give a session the plan that it is to work from. Where hooks tell of the session, they do that."""
        if self._plan:
            self._bind(desk)
        elif self._callers.hosts and (desk.session == self._callers.nameless or not state_of(desk.session)):
            self._callers.hosts.give_first_plan(desk)

    def _bind(self, desk: Desk) -> None:
        """Let others see that a session works from the plan that the server was started with."""
        home = PlanKey(desk._seat.place, desk.session, desk.agent, desk._seat.host)
        if desk._seat.store.find(home) != self._plan and desk._seat.store.load(self._plan) is not None:
            desk._seat.store.bind(home, self._plan)

    def _desk(self, who: AgentRef, place: str) -> Desk:
        if self._store is None:
            self._store = store_for(self._settings)
        return Desk(
            self._store,
            session=who.session,
            agent=who.agent,
            plan=self._plan_of(who),
            dialect=self._dialect,
            settings=self._settings,
            place=place,
            host=who.host,
        )

    def _plan_of(self, who: AgentRef) -> str:
        """The plan that the server was started with is the main agent's: a sub-agent keeps its own."""
        if who.agent in (MAIN, self._callers.agent):
            return self._plan
        return ""

    def _hand_over(self, desk: Desk) -> None:
        """An agent that had no name until now keeps the plan that it made without one."""
        nameless = self._open.get((self._callers.nameless, MAIN))
        if nameless is None or not nameless.plan.id or desk.plan.id:
            return
        from ..desk.transfer import hand_over

        hand_over(nameless, desk.session)
        del self._open[self._callers.nameless, MAIN]

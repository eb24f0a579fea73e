"""Whose call it is. Agents say it in different places, or not at all; the surest word counts.

1. what the server was started with: options, or `PUNCHLIST_SESSION`, `PUNCHLIST_AGENT`, `PUNCHLIST_PLAN`
2. a tie that a hook left for this very tool use
3. the session in the call itself: Codex, Goose
4. the latest tie that a hook left for the process of the agent
5. the session in the environment: Claude Code; it is that of the server's start, and old after `/clear`
6. the process of the agent, as a session of its own: two agents in one directory keep two plans
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.model import MAIN
from ..local.session_links import AgentRef, agent_key, ancestor_keys, home, look_up, tool_use_key

if TYPE_CHECKING:
    from typing import Protocol

    from ..desk import Desk

    class Hosts(Protocol):
        """What the package `hosts` knows about agents. The command line hands it over: faces do not import each
        other."""

        @property
        def HOSTS(self) -> Iterable[str]: ...

        def of_client(self, client: str) -> str: ...

        def hides_resources(self, client: str) -> bool: ...

        def is_server_typed(self) -> bool: ...

        def load(self, name: str) -> Any: ...

        def answer_served(self, fields: Any, client: str) -> str | None: ...

        def close_stores(self, *, unused: bool = False) -> None: ...

        def give_first_plan(self, desk: Desk) -> None: ...

        def is_attached(self, name: str, project: str) -> bool: ...


_LONGEST = 500  # characters of an id that is taken for one


class Given(NamedTuple):
    """What the server was started with."""

    plan: str = ""
    session: str = ""
    agent: str = ""


class Callers:
    """Who is behind the calls of one connection."""

    def __init__(self, given: Given, environ: Mapping[str, str], hosts: Hosts | None = None) -> None:
        self.hosts = hosts
        self._given = given
        self._environ = environ
        self._ties = home()
        self._processes: tuple[str, ...] | None = None
        self._nameless = ""
        self._is_typed: bool | None = None  # whether an agent runs us in its shell, once somebody asked

    @property
    def session(self) -> str:
        """The session that the server was started for, if one was named."""
        return self._given.session

    @property
    def agent(self) -> str:
        """The agent that the server was started for, if one was named."""
        return self._given.agent

    @property
    def nameless(self) -> str:
        """The session of an agent that names none."""
        if not self._nameless:
            self._nameless = agent_key() or f"server:{os.getpid()}:{os.urandom(4).hex()}"
        return self._nameless

    def who(self, meta: Mapping[str, Any], client: str) -> AgentRef:
        """Return who makes a call with this `_meta`, by a client of this name."""
        given, host = self._given, self.host_of(client)
        if given.session and given.agent:
            return AgentRef(given.session, given.agent, host)
        found = next(self._search(meta, host), None) or AgentRef(self.nameless, host=host)
        return found._replace(session=given.session or found.session, agent=given.agent or found.agent)

    def host_of(self, client: str) -> str:
        """Return the host whose program connects under this name; empty for one that we do not know."""
        if self.hosts:
            return self.hosts.of_client(client)
        return ""

    def hides_resources(self, client: str) -> bool:
        """Return whether an agent would send its model more with every request if we offered resources."""
        return self.hosts is not None and self.hosts.hides_resources(client)

    @property
    def speaks_for_user(self) -> bool:
        """Whether what a user does in a client can reach us here: not where an agent runs us in its shell."""
        if self._is_typed is None:
            self._is_typed = self.hosts is not None and self.hosts.is_server_typed()
        return not self._is_typed

    def place_of(self, meta: Mapping[str, Any], client: str) -> str:
        """Return the directory that a call names; empty if it names none."""
        for host in self._facts(self.host_of(client)):
            place = host.find_place(meta) if host.find_place else ""
            if isinstance(place, str) and os.path.isabs(place) and "\0" not in place:
                return place
        return ""

    def facts_of(self, client: str) -> Any:
        """Return what is known about the host of a client, a `Host`; nothing for one that we do not know."""
        host = self.host_of(client)
        if host:
            return next(iter(self._facts(host)), None)
        return None

    def _facts(self, name: str) -> list[Any]:
        """What is known about a host; about all of them, if it is not known which one it is."""
        if not self.hosts:
            return []
        return [self.hosts.load(one).HOST for one in ([name] if name else self.hosts.HOSTS)]

    def _search(self, meta: Mapping[str, Any], name: str) -> Iterator[AgentRef]:
        """Everything that is known, the surest first."""
        facts = self._facts(name)
        for host in facts:
            id = _id(meta.get(host.use_key))
            who = look_up(tool_use_key(id), self._ties) if id else None
            if who:
                yield who
        for host in facts:
            if host.caller is None:
                continue
            session, agent = map(_id, host.caller(meta))
            if session:
                yield AgentRef(session, agent or MAIN, host.name)
        yield from self._above(name)
        for host in facts:
            session = _id(self._environ.get(host.server_session))
            if session:
                yield AgentRef(session, MAIN, host.name)

    def _above(self, name: str) -> Iterator[AgentRef]:
        """The agents in the processes above; an agent may have been started by another."""
        if self._processes is None:
            self._processes = ancestor_keys()
        for key in self._processes:
            who = look_up(key, self._ties)
            if who and (not name or who.host in ("", name)):
                yield who


def is_at_home() -> bool:
    """Return whether the server was started in the folder of a package that it is in, and not in a project."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        return os.path.samefile(os.path.dirname(package), os.getcwd())
    except OSError:
        return False


def _id(value: Any) -> str:
    if isinstance(value, str) and len(value) <= _LONGEST:
        return value
    return ""

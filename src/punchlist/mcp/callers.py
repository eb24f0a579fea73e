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
from collections.abc import Iterator, Mapping

from ..core._typing import Any, NamedTuple
from ..core.model import MAIN
from ..local.session_links import Who, home, look_up, of_agent, of_ancestors, of_tool_use

_LONGEST = 500  # characters of an id that is taken for one
_TOOL_USES = ("claudecode/toolUseId", "callId")  # Claude Code, Codex
_CODEX = "x-codex-turn-metadata"
_GOOSE, _GOOSE_PLACE = "agent-session-id", "agent-working-dir"
_CLAUDE = "CLAUDE_CODE_SESSION_ID"
# How the programs begin the name that they give as a client.
_CLIENTS = {
    "claude": "claude-code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "omp": "oh-my-pi",
    "goose": "goose",
}


class Given(NamedTuple):
    """What the server was started with."""

    plan: str = ""
    session: str = ""
    agent: str = ""


class Callers:
    """Who is behind the calls of one connection."""

    def __init__(self, given: Given, environ: Mapping[str, str]) -> None:
        self._given = given
        self._environ = environ
        self._ties = home()
        self._processes: tuple[str, ...] | None = None
        self._nameless = ""

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
            self._nameless = of_agent() or f"server:{os.getpid()}:{os.urandom(4).hex()}"
        return self._nameless

    def who(self, meta: Mapping[str, Any], client: str) -> Who:
        """Who makes a call with this `_meta`, by a client of this name."""
        given = self._given
        if given.session and given.agent:
            return Who(given.session, given.agent, host_of(client))
        found = next(self._found(meta, host_of(client)), None) or Who(self.nameless, host=host_of(client))
        return Who(given.session or found.session, given.agent or found.agent, found.host)

    def _found(self, meta: Mapping[str, Any], host: str) -> Iterator[Who]:
        """Everything that is known, the surest first."""
        for name in _TOOL_USES:
            id = _id(meta.get(name))
            who = look_up(of_tool_use(id), self._ties) if id else None
            if who:
                yield who
        yield from _said(meta)
        if self._processes is None:
            self._processes = of_ancestors()
        for key in self._processes:
            who = look_up(key, self._ties)
            if who and (not host or not who.host or who.host == host):  # an agent may have been started by another
                yield who
        if host in ("", "claude-code") and (session := _id(self._environ.get(_CLAUDE))):
            yield Who(session, MAIN, "claude-code")


def place_of(meta: Mapping[str, Any]) -> str:
    """The directory that a call speaks of, if it names one."""
    place = meta.get(_GOOSE_PLACE)
    return place if isinstance(place, str) and os.path.isabs(place) and "\0" not in place else ""


def host_of(client: str) -> str:
    """The host whose client has this name; empty for one that we do not know."""
    return next((host for name, host in _CLIENTS.items() if client.startswith(name)), "")


def _said(meta: Mapping[str, Any]) -> Iterator[Who]:
    """What the call itself says."""
    turn = meta.get(_CODEX)
    if isinstance(turn, dict) and (session := _id(turn.get("session_id"))):
        thread = _id(turn.get("thread_id"))
        yield Who(session, thread if thread and thread != session else MAIN, "codex")
    if session := _id(meta.get(_GOOSE)):
        yield Who(session, MAIN, "goose")


def _id(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= _LONGEST else ""

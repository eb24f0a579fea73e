"""Who types a command: a person, or an agent in its shell.

An agent's shell is known by the variables that agents set there, by the process that a hook has tied to a session, or
by a hook that saw the command. Variables can be unset; a process cannot. What a panel of ours in the agent's screen
starts is the user's: it has the key of that panel, or it is in the program's own session of the kernel, where what a
model runs is not, whatever variables it sets. This keeps an agent from taking the user's place by mistake or out of
zeal. It is not a wall: whoever runs programs as you can do what you can.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ..core._typing import NamedTuple
from ..core.errors import Refused
from ..core.model import MAIN, USER
from ..core.text import cut, inline
from ..desk import Desk
from ..hosts import HOSTS
from ..hosts import load as load_host
from ..local import session_links

OURS = "punchlist"  # the program of an agent of ours


class Caller(NamedTuple):
    """Who types, and the session they are in."""

    by: str = USER  # the user, or the name of an agent
    session: str = ""  # empty if it is not known
    host: str = ""  # the agent program
    is_sure: bool = True  # whether it is known which of several agents it is

    @property
    def is_agent(self) -> bool:
        return self.by != USER


def caller() -> Caller:
    """Return who types."""
    return _caller(tuple(os.environ.items()))


def require_own(desk: Desk, plan: str = "") -> None:
    """Refuse that an agent changes a plan that it does not work from. `plan` is the one that was named, if any."""
    who = caller()
    if not who.is_agent or not who.session:
        return
    if not who.is_sure:
        raise Refused("several agents of this session use a shell just now, and it is not known which one you are.")
    if (desk.session, desk.agent) == (who.session, who.by) and not plan:
        return
    own = desk.for_session(who.session, who.by).plan.id
    if not own or own != desk.plan.id:
        raise Refused("this is not the plan of the agent in this shell: only the user changes another's, or binds it.")


def require_user(what: str) -> None:
    """Refuse what is not for an agent to decide."""
    who = caller()
    if who.is_agent:
        program = f" of {cut(inline(who.host), 40)}" if who.host else ""
        raise Refused(
            f"{what} is for the user, and this is the shell of an agent{program}; use a terminal of your own."
        )


@lru_cache(1)
def _caller(variables: tuple[tuple[str, str], ...]) -> Caller:
    environ = dict(variables)
    if environ.get("PUNCHLIST_PANEL") and (panel := _panel_host()):
        return Caller(host=panel)
    if os.path.isdir(session_links.home()):
        processes = session_links.ancestors_below_init()
    else:
        processes = []
    by = environ.get("PUNCHLIST_BY", "").strip()
    if by not in ("", USER) and not _is_in_another_agent(processes):  # nobody becomes the user by saying so
        return Caller(by, environ.get("PUNCHLIST_SESSION", ""), OURS)
    agents = list(_agents(processes))
    signs = list(_signs(environ))
    if not signs and len(agents) == 1 and _is_for_its_user(*agents[0], processes):
        return Caller(USER, agents[0][1].session, agents[0][1].host)
    above = next(iter(agents), None)
    marks = {who for process in processes for who in session_links.find_in_shell(process)}
    if marks:
        return _marked(marks)
    if above is not None:
        process, who = above
        if session_links.is_idle(session_links.key_of(process)):  # then the user types, in the agent's own prompt
            return Caller(USER, who.session, who.host)
        return _known(who, signs, environ)
    if signs:
        who = next((one for one in signs if one.session), signs[0])
        return Caller(who.agent, who.session, who.host)
    return Caller()


def _panel_host() -> str:
    """Return the agent in whose screen the user gave this command; empty if a panel of ours did not start it."""
    from ..hosts import panel_key

    return panel_key.find_host()


def _is_for_its_user(
    process: session_links.Process, who: session_links.AgentRef, processes: list[session_links.Process]
) -> bool:
    """Return whether an agent's program started this process for its user, as the mod in its screen does: it keeps
    what its model runs apart."""
    if who.host not in HOSTS or not load_host(who.host).HOST.shell_apart:
        return False
    return session_links.is_started_by(process, processes)


def _is_in_another_agent(processes: list[session_links.Process]) -> bool:
    """Return whether the nearest agent above this process is another program, and at work."""
    process, who = next(_agents(processes), (None, None))
    return (
        process is not None
        and who is not None
        and who.host != OURS
        and not session_links.is_idle(session_links.key_of(process))
    )


def _marked(marks: set[session_links.AgentRef]) -> Caller:
    """Return the agent whose command a hook has seen."""
    who = next(iter(marks))
    if len(marks) == 1:
        return Caller(who.agent, who.session, who.host)
    sessions = {one.session for one in marks}
    return Caller(MAIN, who.session if len(sessions) == 1 else "", who.host, is_sure=False)


def _known(who: session_links.AgentRef, signs: list[session_links.AgentRef], environ: Mapping[str, str]) -> Caller:
    """Return the agent: its session is known by the process, its name by the environment of the same session."""
    told = [one.agent for one in signs if one.session == who.session]
    if who.host == OURS and environ.get("PUNCHLIST_SESSION") == who.session:
        told = [environ.get("PUNCHLIST_AGENT") or MAIN]
    agent = who.agent
    if told and agent == MAIN:
        agent = told[0]
    return Caller(agent, who.session, who.host)


def _agents(processes: list[session_links.Process]) -> Iterator[tuple[session_links.Process, session_links.AgentRef]]:
    """Yield the agents above this process, the nearest first."""
    for process in processes:
        who = session_links.look_up(session_links.key_of(process))
        if who and (who.host == OURS or _is_program(process, who.host)):
            yield process, who


def _is_program(process: session_links.Process, host: str) -> bool:
    """Whether a process is called like the program of an agent: another one may have run a hook."""
    return host in HOSTS and process.name.startswith(load_host(host).HOST.processes)


def _signs(environ: Mapping[str, str]) -> Iterator[session_links.AgentRef]:
    """Yield the agents whose variables are set."""
    for name in reversed(HOSTS):  # Claude Code is the last: oh-my-pi sets its sign, too
        if environ.get(HOSTS[name].sign):
            host = load_host(name).HOST
            session, agent = environ.get(host.shell_session, ""), environ.get(host.shell_agent, "")
            if agent in ("", session):
                agent = MAIN
            yield session_links.AgentRef(session, agent, name)

"""Whether an event comes from the hooks of an agent, or was typed in the shell of one.

An agent gives its hooks another environment than its shell, or starts them without a shell. What counts is the
environment that the agent itself gave to the first process between it and us: what is set or unset later changes
nothing. That can be read on Linux; elsewhere our own environment is all there is. This keeps an agent from making up an
event by mistake or out of zeal. It is not a wall: whoever runs programs as you can do what you can. In doubt, it is an
event of a hook.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ..core._typing import NamedTuple
from ..local import session_links
from ..local.session_links import Process
from . import HOSTS, load
from .host import Host

_INTERPRETERS = ("node", "bun")  # programs that an agent may be run by
_RUNNERS = ("uv", "uvx")
_SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "pwsh")


class _Chain(NamedTuple):
    """The processes from an agent down to us."""

    agent: Process
    first: Process | None  # the one that the agent started; none if that is this process


def is_typed(host: Host) -> bool:
    """Return whether this process was started in the shell of an agent, not by the hooks of one."""
    if session_links.has_environments():
        chain = _chain(host)
        if chain is None:
            found = _is_in_any_shell(host)
        else:
            found = _is_in_shell(host, chain)
    else:
        found = bool(host.hooks_only) and _is_in_any_shell(host)
    return found or session_links.is_typed()


def is_server_typed() -> bool:
    """Return whether this server was started in the shell of an agent, not by the agent itself: what it is asked for
    there does not come from the user. An agent gives its servers and its shell the same variables, so it is a shell
    between the two that counts, or one that became this process."""
    hosts = [load(name).HOST for name in HOSTS]
    above = session_links.ancestors_below_init()
    for place, process in enumerate(above):
        if _is_linked(process) or any(_is_called(process, host) for host in hosts):
            has_shell = any(one.name in _SHELLS for one in above[:place])
            return has_shell or (place == 0 and session_links.is_in_place_of_shell())
    return False


def _chain(host: Host) -> _Chain | None:
    """The nearest agent above us: a process that a hook has linked to a session, or that is called like this agent."""
    above = session_links.ancestors_below_init()
    place = next((at for at, one in enumerate(above) if _is_linked(one) or _is_called(one, host)), -1)
    if place < 0:
        return None
    if not _is_linked(above[place]):
        place = _above_sandbox(above, place, host)
    if place == 0:
        return _Chain(above[0], None)
    return _Chain(above[place], above[place - 1])


def _above_sandbox(above: Sequence[Process], place: int, host: Host) -> int:
    """The place of the agent, where a sandbox in which it runs commands is called like it."""
    for at in range(place + 1, len(above)):
        if not _is_called(above[at], host) or above[at].name == above[at - 1].name:
            return at - 1
    return len(above) - 1


def _is_linked(process: Process) -> bool:
    return session_links.look_up(session_links.key_of(process)) is not None


def _is_called(process: Process, host: Host) -> bool:
    """Whether a process is called like the program of an agent. Of an interpreter, its command line counts."""
    if not process.name.startswith(host.processes):
        return False
    return process.name not in _INTERPRETERS or host.processes[0] in session_links.command_of(process.pid)


def _is_in_any_shell(host: Host) -> bool:
    """Whether our own environment is that of an agent's shell, where the agent is not known."""
    return _has_sign(os.environ) and not (host.hooks_only and os.environ.get(host.hooks_only))


def _is_in_shell(host: Host, chain: _Chain) -> bool:
    if _is_of_another(host, chain.agent):
        return True
    if host.starts_hooks and chain.first is not None and not _is_runner(chain.first):
        return True
    if host.starts_hooks and _is_called(chain.agent, host) and session_links.is_in_place_of_shell():
        return True
    given: Mapping[str, str] = os.environ
    if chain.first is not None:
        given = session_links.environment_of(chain.first.pid) or given
    if host.hooks_only:
        return (_has_sign(os.environ) or _has_sign(given)) and not given.get(host.hooks_only)
    if not host.shell_only or not given.get(host.shell_only):
        return False
    own = session_links.environment_of(chain.agent.pid)
    return bool(own) and own.get(host.shell_only) != given[host.shell_only]


def _is_runner(process: Process) -> bool:
    """Whether a process is uv, started by the program of a package for want of a Python. A shell that became uv names
    it in its environment; the program starts it by `env`."""
    if process.name not in _RUNNERS:
        return False
    command = session_links.environment_of(process.pid).get("_", "")
    return os.path.basename(command) not in _RUNNERS


def _is_of_another(host: Host, agent: Process) -> bool:
    """Whether the agent above us is another program than the event says."""
    who = session_links.look_up(session_links.key_of(agent))
    if who is None or who.host == host.name:
        return False
    return who.host not in HOSTS or _is_called(agent, load(who.host).HOST)


def _has_sign(environ: Mapping[str, str]) -> bool:
    """Whether a variable is set that agents set in their shells."""
    return any(environ.get(sign) for sign in ("PUNCHLIST_BY", *(signs.sign for signs in HOSTS.values())))

"""The MCP server on standard input and output, in the standard library: agents wait for it when they start."""

from __future__ import annotations

import os
import sys

from ..core._typing import TYPE_CHECKING, NoReturn
from ..core.errors import PunchlistError, StoreError
from ..core.text import visible
from ..desk import delivery
from ..local.settings import load
from ..stores import check_address
from .callers import Callers, Given, is_at_home
from .protocol import to_line, without_cancelled
from .server import Server
from .transport import LONGEST_EVENT, LineReader, RawLine, write

if TYPE_CHECKING:
    from .callers import Hosts

_AHEAD = 100  # lines that wait before no more are read; those that wait can still be cancelled


def run(flags: dict[str, str], hosts: Hosts | None = None, *, is_plugin: bool = False) -> int:
    """Serve the client that started us, until it is gone. `hosts` is the package of that name. `is_plugin`: a package
    of ours has started the server."""
    if is_at_home():
        _go_to_project()
    try:
        settings = load({name: flags.get(name) or None for name in ("store", "dialect")})
        check_address(settings.store)
        given = Given(*(flags.get(name) or _named(name) for name in Given._fields))
        server = Server(settings, Callers(given, os.environ, hosts), plan=given.plan, is_plugin=is_plugin)
    except PunchlistError as error:
        sys.stderr.write(f"punchlist: {visible(str(error))}\n")
        if isinstance(error, StoreError):
            return error.exit_code
        return 2
    for problem in settings.problems:
        sys.stderr.write(f"punchlist: {visible(problem)}\n")
    if os.isatty(0):
        sys.stderr.write("punchlist: this is an MCP server; an agent starts it and speaks to it. Ctrl-D ends it.\n")
    return serve(server)


def _go_to_project() -> None:
    """Work in the directory of the agent that started us. Some start a server of a package in the folder of that. Where
    the system does not say it, calls do."""
    try:
        os.chdir(os.readlink(f"/proc/{os.getppid()}/cwd"))
    except OSError:
        pass


def _named(what: str) -> str:
    """What the environment names; nothing in the shell of an agent of ours, which has those of that agent there."""
    if os.environ.get("PUNCHLIST_BY"):
        return ""
    return os.environ.get(f"PUNCHLIST_{what.upper()}", "")


def serve(server: Server) -> int:
    """Answer every line of standard input. Nothing but answers reaches standard output."""
    _set_signals()
    delivery.hold()
    try:
        out = _own_output()
        _answer_all(server, LineReader(0), out)
        said = server.end()
    except SystemExit:  # somebody asked us to end
        said = server.end()
    except OSError:  # nobody reads our answers any more
        server.end()
        delivery.drop()
        return 0
    try:
        for message in said:
            write(out, to_line(message))
    except OSError:
        pass
    delivery.drop()
    return 0


def _answer_all(server: Server, lines: LineReader, out: int) -> None:
    queue: list[RawLine] = []
    while True:
        arrived: list[RawLine] | None = []
        if not queue:
            arrived = lines.more(server.patience)
        elif len(queue) < _AHEAD and sum(map(len, queue)) < LONGEST_EVENT:
            arrived = lines.more(0)
        if arrived is None and not queue:
            return
        for line in arrived or ():
            _receive(line, queue)
        if queue:
            for message in server.answer(queue.pop(0)):
                write(out, to_line(message))
        delivery.confirm()
        for notice in server.look():
            write(out, to_line(notice))


def _receive(line: RawLine, queue: list[RawLine]) -> None:
    """Put a line in the queue; one that cancels a request takes that request out of it."""
    if queue and isinstance(line, bytes) and b"notifications/cancelled" in line:
        queue[:] = without_cancelled(queue, line)
    queue.append(line)


def _own_output() -> int:
    """Standard output for ourselves. Whatever else might print, prints to standard error."""
    out = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return out


def _set_signals() -> None:
    """End quietly when asked to. A Ctrl-C in the agent's terminal is for the agent: it ends us by closing our input."""
    import signal

    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave if os.isatty(0) else signal.SIG_IGN)


def _leave(*_: object) -> NoReturn:
    raise SystemExit(0)

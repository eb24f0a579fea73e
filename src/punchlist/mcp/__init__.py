"""The MCP server on standard input and output, in the standard library: agents wait for it when they start."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ..core._typing import TYPE_CHECKING, Any, NoReturn
from ..core.errors import PunchlistError, StoreError
from ..core.text import visible
from ..desk import delivery
from ..local.settings import load
from .callers import Callers, Given
from .protocol import written
from .server import Server
from .transport import Line, Lines, write

if TYPE_CHECKING:
    from ..desk import Desk

_AHEAD = 100  # lines that wait before no more are read; those that wait can still be cancelled


def run(
    flags: dict[str, str],
    hook: Callable[[Any, str], str | None] | None = None,
    adopt: Callable[[Desk], None] | None = None,
) -> int:
    """Serve the client that started us, until it is gone. `hook` answers the events of an agent; `adopt` gives the
    session of a client without hooks the plan that was prepared for it."""
    try:
        settings = load({name: flags.get(name) or None for name in ("store", "dialect")})
        given = Given(*(flags.get(name) or _named(name) for name in Given._fields))
        server = Server(settings, Callers(given, os.environ), plan=given.plan, hook=hook, adopt=adopt)
    except PunchlistError as error:
        sys.stderr.write(f"punchlist: {visible(str(error))}\n")
        return 3 if isinstance(error, StoreError) else 2
    for fault in settings.faults:
        sys.stderr.write(f"punchlist: {visible(fault)}\n")
    if os.isatty(0):
        sys.stderr.write("punchlist: this is an MCP server; an agent starts it and speaks to it. Ctrl-D ends it.\n")
    return serve(server)


def _named(what: str) -> str:
    """What the environment names; nothing in the shell of an agent of ours, which has those of that agent there."""
    return "" if os.environ.get("PUNCHLIST_BY") else os.environ.get(f"PUNCHLIST_{what.upper()}", "")


def serve(server: Server) -> int:
    """Answer every line of standard input. Nothing but answers reaches standard output."""
    _heed_signals()
    delivery.hold()
    try:
        out = _own_output()
        _answer_all(server, Lines(0), out)
        said = server.end()
    except SystemExit:  # somebody asked us to end
        said = server.end()
    except OSError:  # nobody reads our answers any more
        delivery.dropped()
        return 0
    try:
        for message in said:
            write(out, written(message))
    except OSError:
        pass
    delivery.dropped()
    return 0


def _answer_all(server: Server, lines: Lines, out: int) -> None:
    queue: list[Line] = []
    while True:
        arrived = lines.more(0 if queue else server.patience) if len(queue) < _AHEAD else []
        if arrived is None and not queue:
            return
        for line in arrived or ():
            _receive(line, queue)
        for message in server.answer(queue.pop(0)) if queue else ():
            write(out, written(message))
        delivery.written()
        for notice in server.look():
            write(out, written(notice))


def _receive(line: Line, queue: list[Line]) -> None:
    """Put a line in the queue; one that cancels a request takes that request out of it."""
    if queue and isinstance(line, bytes) and b"notifications/cancelled" in line:
        from .cancel import without

        queue[:] = without(queue, line)
    queue.append(line)


def _own_output() -> int:
    """Standard output for ourselves. Whatever else might print, prints to standard error."""
    out = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return out


def _heed_signals() -> None:
    """Told to end, end quietly. A Ctrl-C in the agent's terminal is for the agent: it ends us by closing our input."""
    import signal

    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave if os.isatty(0) else signal.SIG_IGN)


def _leave(*_: object) -> NoReturn:
    raise SystemExit(0)

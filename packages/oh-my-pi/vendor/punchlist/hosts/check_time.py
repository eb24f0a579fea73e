"""How long checks may run in the hook at the end of a turn. Imported only where some are run."""

from __future__ import annotations

from select import select

from ..desk.nudges import QUICK
from .host import HookEvent, Host

_MARGIN = 2.0  # seconds of the agent's limit that are left for everything but the checks


def find_seconds(event: HookEvent, host: Host) -> float:
    """Return how many seconds checks may take: as everywhere, or as many as the agent gives the hook."""
    from ..install.hook_limit import stop_seconds

    limit = event.limit
    if limit is None:
        limit = stop_seconds(host.name, event.cwd)
    if limit is None:
        limit = host.limit
    return min(max(limit - _MARGIN, 0.0), QUICK)


def is_client_silent() -> bool:
    """Whether the client of a server that answers hooks has said nothing since, and is there. It has something to say
    if the user interrupts the hook, or writes."""
    return not select([0], [], [], 0)[0]

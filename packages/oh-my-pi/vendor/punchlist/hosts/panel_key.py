"""The key of a panel: how an edit that you make in an agent's own screen is told from a command in its shell.

A panel of ours makes up a key when its program starts, keeps it in memory, and registers the digest of it as a hook.
The first digest of a process counts for as long as that process runs, and a hook that is typed in a shell registers
nothing. The panel then hands the key to each command on standard input. A shell of the agent has neither the key nor a
way to find it in a file or a variable. Whoever can read the memory of your programs can do what you can.
"""

from __future__ import annotations

import os

from ..core.sha import hex_digest
from ..local import session_links

MOMENT = "panel"  # of an event that registers a key
_DIGITS = 64  # of a digest
_LONGEST = 200  # bytes of a key


def register(digest: str, host: str) -> None:
    """Note the digest of a panel's key for the agent that started this process. Raises PermissionError if another key
    is registered there."""
    agent = session_links.agent_key()
    if len(digest) != _DIGITS or not agent:
        return
    known = session_links.look_up(_tie(agent))
    if known and known.agent != digest:
        raise PermissionError("another panel has registered its key in this program")
    session_links.link(_tie(agent), session_links.AgentRef(MOMENT, digest, host))


def find_host() -> str:
    """Return the agent program whose panel has started this process; empty if none has. The key is read from standard
    input: ask only if PUNCHLIST_PANEL says that it is there."""
    known = session_links.look_up(_tie(session_links.agent_key()))
    if known is None or not _matches(_read_key(), known.agent):
        return ""
    return known.host


def _read_key() -> bytes:
    try:
        return os.read(0, _LONGEST).strip()
    except OSError:
        return b""


def _matches(key: bytes, digest: str) -> bool:
    from hmac import compare_digest

    return bool(key) and compare_digest(hex_digest(key), digest)


def _tie(agent: str) -> str:
    return f"{MOMENT}:{agent}"

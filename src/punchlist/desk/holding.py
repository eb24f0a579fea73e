"""An agent that is held back: it asked for a pause that could not be saved, and stops until the user speaks again.

This is kept in a file beside the store, because the store may be what failed.
"""

from __future__ import annotations

from ..core._typing import TYPE_CHECKING
from ..local import on_off

if TYPE_CHECKING:
    from . import Desk


def hold_back(desk: Desk, reason: str) -> None:
    """Let the agent stop until the user speaks again."""
    is_kept = desk.store.durable and on_off.hold(_key(desk), reason)
    desk._held = "" if is_kept else reason  # what a file keeps, another process can end
    desk.note("pause-failed", message=reason)


def hold_back_session(session: str, agent: str, reason: str) -> None:
    """Let the agent of a session stop until the user speaks again, where its store cannot even be opened."""
    from ..local.event_log import write
    from .seat import reader_key

    on_off.hold(reader_key(session, agent), reason)
    write("pause-failed", session=session, agent=agent, plan="", message=reason)


def held_back(desk: Desk) -> str:
    """Return why the agent is not to be nudged although nothing is paused; empty if nothing holds it back."""
    return desk._held or (on_off.hold_reason(_key(desk)) if desk.store.durable else "")


def release(desk: Desk) -> bool:
    """Let an agent that was held back go on: the user has spoken. Return whether one was."""
    was_held, desk._held = bool(desk._held), ""
    return (desk.store.durable and on_off.release(_key(desk))) or was_held


def _key(desk: Desk) -> str:
    return desk.reader_key if desk.session else f"{desk.reader_key}{desk.place}"

"""Several sessions on one plan: each acts under a name of its own. Loaded where a second session works from a plan.

The first session is `main`. Another one is called like its program, `codex`, then `codex-2`. A name is free again when
the program that had it has ended, so sessions that follow one another are all `main`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

from ..core._typing import TYPE_CHECKING, NamedTuple
from ..core.model import MAIN, USER, SessionState
from ..core.text import cut, inline
from ..local import session_links
from ..stores import Store
from .commit import advance
from .seat import reader_key

if TYPE_CHECKING:
    from .seat import Seat

_SILENT = 3_600.0  # seconds without a change, after which a session whose process is not known counts as gone
_LONGEST = 40  # characters of a program's name


class _Other(NamedTuple):
    """A session's agent on a plan."""

    session: str
    agent: str
    key: str  # as a reader
    name: str  # on the plan; empty if it has handed the plan over


def claim(seat: Seat, plan: str, *, again: bool = False) -> str:
    """Return the name that an agent has on a plan, and give it one if it has none. `again`: its session starts; then a
    name that another session has taken meanwhile is that one's."""

    def step(state: SessionState) -> tuple[SessionState, str]:
        kept = str(state.names.get(seat.reader_key, ""))
        if kept and not again:
            return state, kept
        others = list(_others(seat, plan, state))
        if not others:
            return state, kept or seat.agent
        taken = {one.name for one in others if not _is_gone(seat, plan, one)}
        name = _free(seat, kept or seat.agent, taken)
        return state._replace(names={**state.names, seat.reader_key: name}), name

    return advance(seat.store, _key(plan), step)[1]


def hand_on(store: Store, plan: str, old: str, new: str) -> None:
    """Give the name of one reader to another, which goes on in its place."""

    def step(state: SessionState) -> tuple[SessionState, None]:
        return state._replace(names={**state.names, new: state.names.get(old) or MAIN, old: ""}), None

    advance(store, _key(plan), step)


def is_at_work(seat: Seat, plan: str, name: str) -> bool:
    """Return whether the agent of this name may be working from a plan just now. One whose turn is over is not."""
    state = seat.store.load_state(_key(plan))
    found = [one for one in _others(seat, plan, state, later=True) if one.name == name]
    if not found:  # an agent that nobody bound: nothing is known of it
        return True
    return any(_works(seat, plan, one) for one in found)


def seated(seat: Seat, plan: str, names: frozenset[str]) -> frozenset[str]:
    """Return those of the names that agents of other sessions have on a plan."""
    state = seat.store.load_state(_key(plan))
    others = [one for one in _others(seat, plan, state, later=True) if one.session != seat.session]
    return names & {one.name for one in others}


# --- inside ----------------------------------------------------------------------------------------------------------


def _key(plan: str) -> str:
    """Where the names on a plan are kept: beside the states of sessions, whose keys begin with a number."""
    return f"names/{plan}"


def _others(seat: Seat, plan: str, state: SessionState, *, later: bool = False) -> Iterator[_Other]:
    """Yield the other agents on a plan. One that has no name yet has the one it was given, unless it came later: then
    it looks for another. `later`: those count, too."""
    is_before = True
    for session, agent in seat.store.sessions(plan):
        key = reader_key(session, agent)
        if key == seat.reader_key:
            is_before = later
        elif key in state.names:
            yield _Other(session, agent, key, str(state.names[key]))
        elif is_before:
            yield _Other(session, agent, key, agent)


def _free(seat: Seat, wanted: str, taken: set[str]) -> str:
    """Return the name that was wanted, or one like it that nobody has."""
    if wanted not in taken:
        return wanted
    base = seat.agent
    if seat.agent == MAIN:
        base = cut(inline(seat.host), _LONGEST) or "agent"
    names = [base, *(f"{base}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken and name not in (USER, MAIN))


def _is_gone(seat: Seat, plan: str, one: _Other) -> bool:
    """Return whether a session is over, as far as is known."""
    state = session_links.state_of(one.session)
    if state:
        return state == session_links.GONE
    return _is_silent(seat, plan, one)


def _works(seat: Seat, plan: str, one: _Other) -> bool:
    state = session_links.state_of(one.session)
    if state:
        return state == session_links.BUSY
    return not _is_silent(seat, plan, one)


def _is_silent(seat: Seat, plan: str, one: _Other) -> bool:
    """Return whether a session has changed nothing for a long time. One that never did may be about to begin."""
    records = seat.store.history(plan)
    own = [record.at for record in records if record.reader == one.key]
    if not own:
        return bool(records) and records[0].revision > 1  # what it did was trimmed
    try:
        return time.time() - datetime.fromisoformat(own[-1]).timestamp() > _SILENT
    except ValueError:
        return False

"""Several sessions on one plan: each acts under a name of its own. Loaded where a second session works from a plan.

The first session is `main`. Another one is called like its program, `codex`, then `codex-2`. A name is free again when
the program that had it has ended, so sessions that follow one another are all `main`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

from ..core._typing import TYPE_CHECKING, NamedTuple
from ..core.errors import StaleRevision
from ..core.model import MAIN, USER, SessionState
from ..core.text import cut, inline
from ..local import session_links

if TYPE_CHECKING:
    from . import Desk

_TRIES = 100  # races lost in a row before a name is taken as it is
_SILENT = 3_600.0  # seconds without a change, after which a session whose process is not known counts as gone
_LONGEST = 40  # characters of a program's name


class _Seat(NamedTuple):
    """A session's agent on a plan."""

    session: str
    agent: str
    key: str  # as a reader
    name: str  # on the plan; empty if it has handed the plan over


def claim(desk: Desk, plan: str, *, again: bool = False) -> str:
    """Return the name that a desk's agent has on a plan, and give it one if it has none. `again`: its session starts;
    then a name that another session has taken meanwhile is that one's."""
    name = desk.agent
    for _ in range(_TRIES):
        pace = desk.store.load_state(_key(plan))
        kept = pace.names.get(desk.reader_key, "")
        if kept and not again:
            return str(kept)
        others = list(_others(desk, plan, pace))
        if not others:
            return str(kept or desk.agent)
        taken = {one.name for one in others if not _is_gone(desk, plan, one)}
        name = _free(desk, str(kept or desk.agent), taken)
        if name == kept:
            return name
        try:
            desk.store.save_state(_key(plan), pace, pace._replace(names={**pace.names, desk.reader_key: name}))
            return name
        except StaleRevision:
            continue
    return name


def hand_on(desk: Desk, plan: str, old: str, new: str) -> None:
    """Give the name of one reader to another, which goes on in its place."""
    for _ in range(_TRIES):
        pace = desk.store.load_state(_key(plan))
        names = {**pace.names, new: pace.names.get(old) or MAIN, old: ""}
        try:
            return desk.store.save_state(_key(plan), pace, pace._replace(names=names))
        except StaleRevision:
            continue


def is_at_work(desk: Desk, plan: str, name: str) -> bool:
    """Return whether the agent of this name may be working from a plan just now. One whose turn is over is not."""
    pace = desk.store.load_state(_key(plan))
    found = [one for one in _others(desk, plan, pace, later=True) if one.name == name]
    if not found:  # an agent that nobody bound: nothing is known of it
        return True
    return any(_works(desk, plan, one) for one in found)


def seated(desk: Desk, plan: str, names: frozenset[str]) -> frozenset[str]:
    """Return those of the names that agents of other sessions have on a plan."""
    pace = desk.store.load_state(_key(plan))
    others = [one for one in _others(desk, plan, pace, later=True) if one.session != desk.session]
    return names & {one.name for one in others}


# --- inside ----------------------------------------------------------------------------------------------------------


def _key(plan: str) -> str:
    """Where the names on a plan are kept: beside the paces of readers, whose keys begin with a number."""
    return f"names/{plan}"


def _others(desk: Desk, plan: str, pace: SessionState, *, later: bool = False) -> Iterator[_Seat]:
    """Yield the other agents on a plan. One that has no name yet has the one it was given, unless it came later: then
    it looks for another. `later`: those count, too."""
    is_before = True
    for session, agent in desk.store.sessions(plan):
        key = desk.of(session, agent).reader_key
        if key == desk.reader_key:
            is_before = later
        elif key in pace.names:
            yield _Seat(session, agent, key, str(pace.names[key]))
        elif is_before:
            yield _Seat(session, agent, key, agent)


def _free(desk: Desk, wanted: str, taken: set[str]) -> str:
    """Return the name that was wanted, or one like it that nobody has."""
    if wanted not in taken:
        return wanted
    base = cut(inline(desk.host), _LONGEST) or "agent" if desk.agent == MAIN else desk.agent
    names = [base, *(f"{base}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken and name not in (USER, MAIN))


def _is_gone(desk: Desk, plan: str, one: _Seat) -> bool:
    """Return whether a session is over, as far as is known."""
    state = session_links.state_of(one.session)
    if state:
        return state == session_links.GONE
    return _is_silent(desk, plan, one)


def _works(desk: Desk, plan: str, one: _Seat) -> bool:
    state = session_links.state_of(one.session)
    if state:
        return state == session_links.BUSY
    return not _is_silent(desk, plan, one)


def _is_silent(desk: Desk, plan: str, one: _Seat) -> bool:
    """Return whether a session has changed nothing for a long time. One that never did may be about to begin."""
    records = desk.store.history(plan)
    own = [record.at for record in records if record.reader == one.key]
    if not own:
        return bool(records) and records[0].revision > 1  # what it did was trimmed
    try:
        return time.time() - datetime.fromisoformat(own[-1]).timestamp() > _SILENT
    except ValueError:
        return False

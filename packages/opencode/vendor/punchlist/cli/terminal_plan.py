"""Which plan a terminal was last shown, so that an edit lands in that plan and in no other.

Two agents in one directory have two plans, and the one that was touched last changes several times a minute. What a
terminal was shown, or what was chosen there with `use`, is kept in a small file for each terminal and directory.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence

from ..core._typing import NamedTuple
from ..core.errors import Refused
from ..core.model import MAIN
from ..core.render import Line, Span, plain
from ..core.text import cut, inline
from ..desk import Desk
from ..local import session_links
from ..local.files import read_file, time_text, write_file
from ..local.settings import state_folder
from ..stores import PlanSummary
from . import output

_RECENT = 20  # plans of a directory that are looked at
_LIVE = 86_400.0  # seconds without a change after which a plan is not live
_KEPT = 7 * 86_400.0  # seconds until what a terminal was shown is forgotten
_LARGEST = 16_384  # bytes of a file
_SESSION = 20  # characters of a session id: all of one that `run` gives, whose end tells it from others


class LastShown(NamedTuple):
    """What a terminal was last shown of the plans of a directory."""

    plan: str = ""
    chosen: bool = False  # with `use`, and not only seen
    listed: tuple[str, ...] = ()  # the plans of the last list, which can be chosen by their numbers


def live(desk: Desk) -> list[PlanSummary]:
    """Return the live plans of this directory: open and changed within a day, and the one that was touched last."""
    found = desk._seat.store.plans(_RECENT, agent=MAIN, place=desk._seat.place)
    oldest = time_text(-_LIVE)
    lives = [one for one in found if one.touched > oldest and (one.is_open or one is found[0])]
    return lives or found[:1]


def to_show(desk: Desk) -> str:
    """Return the plan that was chosen for this terminal while it is live; empty for the one that was touched last."""
    known = recall(desk)
    if known.chosen and known.plan in [one.id for one in live(desk)]:
        return known.plan
    return ""


def is_live(desk: Desk) -> bool:
    """Return whether the plan that this terminal was last shown is live."""
    return recall(desk).plan in [one.id for one in live(desk)]


def to_change(desk: Desk) -> str:
    """Return the plan that an edit in this terminal is meant for; empty for the only one. Raises Refused if that is not
    certain."""
    lives, known = live(desk), recall(desk)
    ids = [one.id for one in lives]
    if known.plan in ids:
        return known.plan
    is_there = bool(known.plan) and desk._seat.store.load(known.plan) is not None
    if is_there and not lives:
        return known.plan
    if len(lives) < 2 and not is_there:
        return ""
    remember(desk, "", listed=ids)
    raise Refused(_question(lives))


def whose(desk: Desk, plan: str) -> str:
    """Return who works from a plan, where this directory has another live one; else nothing."""
    lives = live(desk)
    found = [one for one in lives if one.id == plan]
    if found and len(lives) > 1:
        return named(found[0])
    return ""


def named(listing: PlanSummary) -> str:
    """Return the program and the session that work from a plan, in words."""
    if not listing.session:
        return "no session yet"
    session = f"session {cut(inline(listing.session), _SESSION)}"
    if listing.host:
        return f"{cut(inline(listing.host), 20)}, {session}"
    return session


def rows(listings: Sequence[PlanSummary], current: str) -> list[str]:
    """Return the plans to choose from, a line each, with an arrow at the one that commands are about now."""
    cells: list[Line] = []
    for number, one in enumerate(listings, 1):
        mark = "→" if one.id == current else " "
        count = f"{one.completed}/{one.total}"
        cells.append(tuple(map(Span, (f"{mark} {number}", inline(one.id), count, named(one), _about(one)))))
    return plain(output.table(cells)).splitlines()


def pick(desk: Desk, words: str) -> str:
    """Return the plan that is meant: by its number in the last list, its id, its session, or a part of its title or of
    what is being worked on. Raises Refused."""
    found = desk._seat.store.plans(_RECENT, agent=MAIN, place=desk._seat.place)
    listed = recall(desk).listed or tuple(one.id for one in live(desk))
    if words.isdecimal() and 0 < int(words) <= len(listed):
        return listed[int(words) - 1]
    exact = [one.id for one in found if words in (one.id, *one.sessions)]
    begun = [one.id for one in found if one.id.startswith(words) or one.session.startswith(words)]
    inside = [one.id for one in found if words.casefold() in f"{one.title}\n{one.active}".casefold()]
    for ids in (exact, begun, inside):
        if len(ids) == 1:
            return ids[0]
        if ids:
            raise Refused(f"{cut(inline(words), 40)!r} fits {len(ids)} plans: {', '.join(ids)}.")
    if desk._seat.store.load(words) is not None:
        return words
    raise Refused(f"no plan {cut(inline(words), 40)!r} here; see punchlist use, or all of them: punchlist plans")


# --- what is remembered ----------------------------------------------------------------------------------------------


def recall(desk: Desk) -> LastShown:
    """Return what this terminal was last shown of this directory."""
    try:
        plan, chosen, listed = json.loads(read_file(_path(desk), _LARGEST))
        return LastShown(str(plan), chosen is True, tuple(map(str, listed)))
    except (OSError, ValueError, TypeError):
        return LastShown()


def remember(desk: Desk, plan: str, *, chosen: bool | None = None, listed: Sequence[str] = ()) -> None:
    """Keep what this terminal was shown. What was chosen stays chosen until another plan is. If it cannot be written,
    nothing was shown: then an edit is refused where there are several plans."""
    known = recall(desk)
    if chosen is None:
        chosen = known.chosen and known.plan == plan
    new = LastShown(plan, chosen, tuple(listed) or known.listed)
    if new == known:
        return
    try:
        _write(_path(desk), json.dumps(new).encode())
    except OSError:
        pass


def _write(path: str, data: bytes) -> None:
    write_file(path, data)
    with os.scandir(os.path.dirname(path)) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime < time.time() - _KEPT:
                os.unlink(entry.path)


def _path(desk: Desk) -> str:
    from binascii import crc32  # hashlib would take longer to load than everything else here

    key = json.dumps([_terminal(), desk._seat.place, desk.settings.store]).encode()
    return os.path.join(state_folder(os.environ), "terminals", f"{crc32(key):08x}{crc32(key[::-1]):08x}")


def _terminal() -> str:
    """Return what tells one terminal from another: its name, and the process that leads its session; in a script, which
    has no terminal, that process alone."""
    leader = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    try:
        name = os.ttyname(0)
    except OSError:
        name = ""
    return f"{name} {leader} {session_links.process_key(leader)}"


def _question(lives: Sequence[PlanSummary]) -> str:
    return "\n".join(
        [
            "several plans are live in this directory, and it is not certain which one you mean:",
            *rows(lives, ""),
            "choose one: punchlist use 1, or name it: --session S, --plan ID.",
        ]
    )


def _about(listing: PlanSummary) -> str:
    return cut(inline(listing.title or listing.active), 40) or "all done"

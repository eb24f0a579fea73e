"""What is done once an answer was written, and not before: an update that did not arrive counts as not told."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..core.errors import StoreError

_waiting: list[Callable[[], object]] = []
_closing: list[Callable[[], object]] = []
_told: dict[tuple[str, str], int] = {}  # by plan and reader: the revision up to which the answer tells
_claims = -1  # the open file in which this process has claimed what it is about to tell
_held = False  # whether this process writes its answers itself, and says when it has


def hold() -> None:
    """Let everything wait for `confirm` or `drop` from now on."""
    global _held
    _held = True


def is_held() -> bool:
    return _held


def when_written(work: Callable[[], object]) -> None:
    """Do this when the answer was written; at once, where nobody says when that is."""
    if _held:
        _waiting.append(work)
    else:
        work()


def tell(plan: str, reader: str, revision: int) -> None:
    """Note that the answer tells a reader of a plan up to a revision: it is told only once in one answer."""
    _told[plan, reader] = max(revision, told(plan, reader))


def told(plan: str, reader: str) -> int:
    """Return up to which revision the answer tells a reader of a plan; 0 if it does not."""
    return _told.get((plan, reader), 0)


def claim(plan: str, reader: str) -> bool:
    """Return whether this process is the one that tells a reader of a plan now: no other process is about to.

    A claim ends when the answer was written or dropped. It is a lock, so the system ends it if the process dies. Where
    nothing can be locked everybody may tell: twice is better than never.
    """
    global _claims
    from zlib import crc32

    place = crc32(f"{plan} {reader}".encode("utf-8", "surrogatepass"))
    try:
        import fcntl

        if _claims < 0:
            _claims = _open_claims()
    except (ImportError, OSError):
        return True
    try:
        fcntl.lockf(_claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except OSError as error:
        from errno import EACCES, EAGAIN

        return error.errno not in (EACCES, EAGAIN)
    return True


def _open_claims() -> int:
    """Open the file whose bytes stand for readers. Nothing is written to it, only locked."""
    from ..local.files import open_private
    from ..local.settings import state_folder

    return open_private(os.path.join(state_folder(os.environ), "telling.lock"))


def at_the_end(work: Callable[[], object]) -> None:
    """Do this behind all that waits, whether the answer was written or not."""
    if _held:
        _closing.append(work)
    else:
        work()


def confirm() -> None:
    """Do what waits: the answer was written and flushed."""
    while _waiting:
        _try(_waiting.pop(0))
    drop()


def drop() -> None:
    """Forget what waits: the answer could not be written."""
    global _claims
    _waiting.clear()
    _told.clear()
    while _closing:
        _try(_closing.pop(0))
    if _claims >= 0:
        os.close(_claims)
        _claims = -1


def _try(work: Callable[[], object]) -> None:
    try:
        work()
    except StoreError as error:  # then it is told again
        from ..local.event_log import write_error

        write_error("delivery", error)

"""What is done once an answer was written, and not before: an update that did not arrive counts as not told."""

from __future__ import annotations

from collections.abc import Callable

from .core.errors import StoreError

_waiting: list[Callable[[], object]] = []
_closing: list[Callable[[], object]] = []
_told: dict[tuple[str, str], int] = {}  # by plan and reader: the revision up to which the answer tells
_held = False  # whether this process writes its answers itself, and says when it has


def hold() -> None:
    """Let everything wait for `written` or `dropped` from now on."""
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


def at_the_end(work: Callable[[], object]) -> None:
    """Do this behind all that waits, whether the answer was written or not."""
    if _held:
        _closing.append(work)
    else:
        work()


def written() -> None:
    """The answer was written and flushed."""
    while _waiting:
        _try(_waiting.pop(0))
    dropped()


def dropped() -> None:
    """The answer could not be written."""
    _waiting.clear()
    _told.clear()
    while _closing:
        _try(_closing.pop(0))


def _try(work: Callable[[], object]) -> None:
    try:
        work()
    except StoreError as error:  # then it is told again
        from .faults import log

        log("delivery", error)

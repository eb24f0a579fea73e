"""What a conversation says about the plan, and whether it has lost it: one that was compacted, cut or begun again does
not show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

from ..core._typing import TYPE_CHECKING, NamedTuple
from ..core.errors import StoreError
from ..core.json_text import dumps
from ..core.text import inline
from ..policy import wording
from ..policy.conversation import RunningTally, Tally, read

if TYPE_CHECKING:
    from . import Desk

_ENOUGH = 40  # characters of an item's text by which it is found
_KEPT = 6  # messages about the plan that are looked at again: the first ones, and as many of the last


class Talk(NamedTuple):
    """The conversation of a request, as it is known again at the next."""

    size: int = 0  # how many messages
    first: int = 0  # digests of the first and the last of them
    last: int = 0
    about: tuple[tuple[int, int], ...] = ()  # messages about the plan, each with its place and digest
    tally: RunningTally | None = None  # what they say; None if nobody has read them


def hear(desk: Desk, messages: Sequence[object]) -> tuple[Tally, bool]:
    """Return what a conversation says about the plan, and whether open items are not in it.

    Of one that has only grown since the last request, only what is new is read: the plan is in there. So it is if the
    desk has answered a call since it was opened.
    """
    seat = desk._seat
    before, seat.talk = seat.talk, None  # nobody else continues what we count
    if before is None:
        continues = seat.has_answered
    else:
        continues = _continues(before, messages)
    known, running = 0, None
    if before and continues:
        known, running = before.size, before.tally
    if running is None:
        known, running = 0, RunningTally([tool.name for tool in desk.dialect.tools])
    running.add(read(messages[known:], seat.guide.marks))
    seat.talk = Talk()
    if messages:
        about = _about_plan(desk, messages, known)
        if before and known:
            about = (*before.about, *about)
        if len(about) > 2 * _KEPT:
            about = (*about[:_KEPT], *about[-_KEPT:])
        seat.talk = Talk(len(messages), _digest(messages[0]), _digest(messages[-1]), about, running)
    is_lost = bool(messages) and not continues and _has_lost_plan(desk, messages)
    return running.tally(), is_lost


def _has_lost_plan(desk: Desk, messages: Sequence[object]) -> bool:
    try:
        plan = desk.load()
    except StoreError:  # whoever reads it next says so
        return False
    listed = set(wording.listed_ids(plan))
    wanted = [item.text.partition("\n")[0][:_ENOUGH] for item in plan.open_items if item.id in listed]
    if not wanted:
        return False
    said = "\n".join(_texts(messages))
    missing = [words for words in wanted if words not in said and inline(words) not in said]
    if not missing:
        return False
    return not all(_is_quoted(words, said) for words in missing)


def _continues(before: Talk, messages: Sequence[object]) -> bool:
    """Whether a conversation has only grown since."""
    size = before.size
    if not size:
        return True
    if len(messages) < size or before.first != _digest(messages[0]) or before.last != _digest(messages[size - 1]):
        return False
    return all(digest == _digest(messages[place]) for place, digest in before.about)


def _about_plan(desk: Desk, messages: Sequence[object], start: int) -> tuple[tuple[int, int], ...]:
    """The messages from a place on that call a tool of the plan, or tell of it: one of them may be cleared later."""
    marks = [f"'{tool.name}'" for tool in desk.dialect.tools]
    marks.append(f"<{desk._seat.guide.wrapper}>")
    found = []
    for place in range(start, len(messages)):
        text = repr(messages[place])
        if any(mark in text for mark in marks):
            found.append((place, _digest(messages[place])))
    return tuple(found)


def _is_quoted(words: str, said: str) -> bool:
    """Whether a text is in JSON that is a string: arguments of calls, for some providers."""
    return dumps(words)[1:-1] in said or dumps(words, ensure_ascii=False)[1:-1] in said


def _digest(message: object) -> int:
    return crc32(repr(message).encode("utf-8", "surrogatepass"))


def _texts(value: object) -> Iterator[str]:
    """Every text in some messages, wherever it is."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)

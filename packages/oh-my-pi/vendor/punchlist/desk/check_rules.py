"""What a change by somebody else than the user may do to checks, and what it leaves to be verified. Imported only where
a plan has checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..core._typing import TYPE_CHECKING, NamedTuple
from ..core.checks import is_trusted, to_do
from ..core.errors import Refused
from ..core.grades import OUTDATED, PASSED, UNKNOWN, VERIFIED, WAIVED, Grade, has_failed
from ..core.merge import interleaved, linked
from ..core.model import DONE, DROPPED, PENDING, Item, Plan
from ..core.ops import grouped
from ..core.text import cut, inline, quoted
from . import evidence

if TYPE_CHECKING:
    from . import Desk

BLOCK = "block"  # the value of `verify` with which nothing is completed without evidence
REMOVED = "removed by the agent"
_LONGEST_WHY = 200  # characters of a reason why a run does not count


class Judged(NamedTuple):
    """A change, as far as it is granted."""

    plan: Plan
    said: tuple[str, ...] = ()  # what is not granted, a sentence each
    unverified: tuple[Item, ...] = ()  # what it completes though its check was not seen to pass


def judge(
    desk: Desk, now: Plan, plan: Plan, *, ids: bool, cleared: Sequence[Item] = (), refuses: bool = True
) -> Judged:
    """Grant what somebody else than the user wants to make of a plan, but for the checks that stay, and find out what
    of it is not verified. `ids`: whether its author knows items by their ids. `cleared`: what it completes and
    takes off the list. Where the user wants evidence first, and there is none, it raises Refused; or such items stay as
    they are, if not `refuses`."""
    old = {item.id: item for item in now.items}
    kept = _kept_checks(desk, now, [(old[item.id], item) for item in plan.items if item.id in old])
    said = [f"the check of {_name(item, ids)} {why}; it stays." for item, why in kept]
    plan = _with_checks(plan, {item.id: item for item, _ in kept})
    plan, stayed = _with_removed(now, plan, {item.id for item in cleared})
    said += stayed
    completed = [item for item in (*plan.items, *cleared) if _is_completed(old.get(item.id), item)]
    unverified = unseen(desk, now, completed)
    if unverified and desk.settings.verify == BLOCK:
        if not refuses:
            return _held_back(desk, plan, unverified, old, said, ids=ids)
        raise Refused("\n".join(refusal(item, ids=ids) + _why_uncounted(desk, now, item) for item in unverified))
    return Judged(plan, tuple(said), tuple(unverified))


def _held_back(
    desk: Desk, plan: Plan, unverified: Sequence[Item], old: Mapping[str, Item], said: Sequence[str], *, ids: bool
) -> Judged:
    """A change without what it would complete."""
    items = list(plan.items)
    lines = []
    for place, item in enumerate(items):
        if item in unverified:
            was = old.get(item.id, item._replace(status=PENDING, closed=None))
            items[place] = item._replace(status=was.status, reason=was.reason, closed=was.closed)
            lines.append(_stays(was, ids) + _why_uncounted(desk, plan, was))
    return Judged(plan._replace(items=tuple(items)), (*said, *lines))


def unseen(desk: Desk, now: Plan, items: Iterable[Item]) -> list[Item]:
    """Those of some completed items whose checks were not seen to pass on the files as they are now."""
    grades = _grades(desk, now, items)
    return [item for item, grade in grades if not _is_shown(grade)]


def never_seen(desk: Desk, now: Plan, items: Iterable[Item]) -> list[Item]:
    """The same without those that passed before files were changed."""
    grades = _grades(desk, now, items)
    return [item for item, grade in grades if not _is_shown(grade) and grade.word != OUTDATED]


def _grades(desk: Desk, now: Plan, items: Iterable[Item]) -> list[tuple[Item, Grade]]:
    checked = [item for item in items if item.check]
    if not checked:
        return []
    grades = evidence.graded(desk, now._replace(items=tuple(checked))).grades
    return [(item, grades[item.id]) for item in checked]


def held(desk: Desk, now: Plan, *, ids: bool) -> Callable[[Item], str]:
    """What tells why an item cannot be completed, where the user wants evidence first; nothing if it can."""
    if desk.settings.verify != BLOCK:
        return lambda item: ""

    def why(item: Item) -> str:
        if not unseen(desk, now, [item._replace(status=DONE)]):
            return ""
        return _stays(item, ids) + _why_uncounted(desk, now, item)

    return why


def _stays(item: Item, ids: bool) -> str:
    return f"{_name(item, ids)} stays {item.status}: {to_do(item.check)} first, then mark it completed."


def refusal(item: Item, *, ids: bool) -> str:
    """Why an item is not completed."""
    return f"{_name(item, ids)} is not verified: {to_do(item.check)} first, then mark it done."


def _why_uncounted(desk: Desk, now: Plan, item: Item) -> str:
    """A sentence on why the last run of an item's check does not count; nothing if it does, or there is none."""
    seen = evidence.load_seen(desk._seat.store, now, [item])[item.id]
    in_turn = (*seen.hidden, *seen.passes, *seen.failures)  # of one moment, what counts is the last
    rows = sorted(in_turn, key=lambda row: str(row.get("at", "")))
    if not rows or not rows[-1].get("why"):
        return ""
    why = cut(inline(str(rows[-1]["why"])), _LONGEST_WHY)
    asked = f"ask the user to run: punchlist verify {item.id}"
    return f" Its last run does not count: {why}. If that cannot be helped, {asked}"


def unverified_line(item: Item, *, ids: bool) -> str:
    """What to say of an item that is completed and not verified."""
    return f"{_name(item, ids)} is not verified: {to_do(item.check)}."


def _is_shown(grade: Grade) -> bool:
    """Whether a check was seen to pass. Where there was no time to look at the files, the last time counts."""
    if grade.word == UNKNOWN:
        return grade.row.get("exit") == 0
    return grade.word in (VERIFIED, PASSED, WAIVED)


def _is_completed(old: Item | None, item: Item) -> bool:
    return item.status == DONE and (old is None or old.status != DONE)


def _kept_checks(desk: Desk, now: Plan, pairs: Iterable[tuple[Item, Item]]) -> list[tuple[Item, str]]:
    """The items whose checks somebody wants to replace, and may not; with why."""
    changed = [(old, new) for old, new in pairs if old.check and new.check != old.check]
    own = [old for old, _ in changed if not is_trusted(old)]
    seen = evidence.load_seen(desk._seat.store, now, own)
    found = []
    for item, new in changed:
        if is_trusted(item):
            found.append((item, "is the user's"))
        elif has_failed(seen[item.id]) or (DONE in (item.status, new.status) and evidence.is_file_wrong(item)):
            found.append((item, "has failed"))
    return found


def _with_checks(plan: Plan, kept: dict[str, Item]) -> Plan:
    if not kept:
        return plan
    items = list(plan.items)
    for place, item in enumerate(items):
        if item.id in kept:
            was = kept[item.id]
            items[place] = item._replace(check=was.check, check_set=was.check_set, waived=was.waived)
    return plan._replace(items=tuple(items))


def _with_removed(now: Plan, plan: Plan, cleared: set[str]) -> tuple[Plan, list[str]]:
    """Items with a check of the user's are not taken off a list: completed ones stay in their place, and it is said;
    open ones stay as abandoned, at the end. So nobody gets rid of a check by adding the same work again."""
    ids = cleared.union([item.id for item in plan.items])
    gone = [item for item in now.items if item.id not in ids and item.status != DROPPED and is_trusted(item)]
    if not gone:
        return plan, []
    done = [item for item in gone if item.status == DONE]
    left = [item for item in gone if item.status != DONE]
    found = {item.id: item for item in (*plan.items, *done)}
    order = interleaved([item.id for item in plan.items], [item.id for item in now.items if item.id in found])
    dropped = [item._replace(status=DROPPED, reason=REMOVED, parent="", needs=()) for item in left]
    items = (*[found[id] for id in order], *dropped)
    said = [f"{quoted(item.text)} has a check of the user's; it stays on the list." for item in done]
    return grouped(linked(plan._replace(items=items))), said


def _name(item: Item, ids: bool) -> str:
    if ids:
        return item.id
    return quoted(item.text)

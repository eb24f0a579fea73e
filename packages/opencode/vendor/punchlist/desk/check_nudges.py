"""What an agent is told of checks when its turn ends. Imported only where a plan has checks."""

from __future__ import annotations

from collections.abc import Sequence

from ..core._typing import TYPE_CHECKING
from ..core.checks import to_do
from ..core.diff import Change
from ..core.model import DONE, Item, Plan
from ..core.text import quoted
from . import evidence
from .nudges import Checks, CheckTime

if TYPE_CHECKING:
    from . import Desk

_SHOWN = 5  # checks that a nudge names


class NotAwaited(Exception):
    """The answer is not wanted any more."""


def find_checks(desk: Desk, plan: Plan, since: int) -> Checks:
    """Return the checks that were not seen to pass, of items that this session completed. `since`: the revision of the
    plan up to which they were asked for already."""
    from .check_rules import never_seen

    done = {item.id: item for item in plan.items if item.status == DONE and item.check and not item.waived}
    records = desk._seat.store.history(plan.id, since)
    own = [change for one in records if one.reader == desk._seat.reader_key for change in one.changes]
    ids = dict.fromkeys([change.id for change in own if _completes(change)])
    return Checks(tuple(never_seen(desk, plan, [done[id] for id in ids if id in done])))


def run_checks(desk: Desk, plan: Plan, checks: Checks, given: CheckTime) -> Checks:
    """Run those of the checks that the user approved, if they took little time together when they last ran. A signal
    that stopped one arrives afterwards. Raises NotAwaited."""
    from .verification import FAILED, PASSED, run_approved

    def beat(seconds: float) -> None:
        if given.is_awaited is not None and not given.is_awaited():
            raise NotAwaited

    results = run_approved(desk, plan, checks.missing, given.seconds, beat)
    for one in results.values():
        if one.stopped_by:
            import signal

            signal.raise_signal(one.stopped_by)
    found: dict[str, list[Item]] = {"": [], PASSED: [], FAILED: []}
    for item in checks.missing:
        result = results.get(item.id)
        if result is None or result.exit is None or result.state not in found:
            found[""].append(item)
        else:
            found[result.state].append(item)
    return Checks(tuple(found[""]), tuple(found[FAILED]), tuple(found[PASSED]))


def in_words(checks: Checks, *, ids: bool) -> str:
    """The checks to run, on one line: `2 (run "make test")`."""
    said = [f"{_name(item, ids)} (its check has failed: {to_do(item.check)})" for item in checks.failed]
    said += [f"{_name(item, ids)} ({to_do(item.check)})" for item in checks.missing]
    left = len(said) - _SHOWN
    if left > 0:
        said = [*said[:_SHOWN], f"and {left} more"]
    return ", ".join(said)


def tell_checks(checks: Checks, *, ids: bool) -> list[str]:
    """What a nudge to continue says of checks, a sentence each."""
    lines = []
    if checks.passed:
        lines.append(f"Verified now: {', '.join(_name(item, ids) for item in checks.passed)}.")
    if checks.missing or checks.failed:
        lines.append(f"Marked done and not verified: {in_words(checks, ids=ids)}.")
    return lines


def tell_looks_done(desk: Desk, plan: Plan, items: Sequence[Item], *, ids: bool) -> list[str]:
    """A sentence for each open item that looks done."""
    found = evidence.graded(desk, plan._replace(items=tuple(items))).looks_done
    return [f"{_name(item, ids)} looks done: its check passes." for item in items if item.id in found][:_SHOWN]


def _completes(change: Change) -> bool:
    if change.kind == "added":
        return bool(change.after.status == DONE)
    return change.kind == "changed" and change.before.status != change.after.status == DONE


def _name(item: Item, ids: bool) -> str:
    if ids:
        return f"{item.id} {quoted(item.text, 60)}"
    return quoted(item.text, 60)

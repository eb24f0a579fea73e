"""What checks say about the items of a plan, for those who show it. Nothing is looked at for a plan without checks."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from ..core._typing import TYPE_CHECKING, Any
from ..core.model import DONE, Item, Plan
from ..core.render import NO_LABELS, Labels

if TYPE_CHECKING:
    from ..core.grades import Seen
    from . import Desk
    from .evidence import Graded

_LONGEST = 40  # characters of the default check
FRESH = 3.0  # seconds after which a live screen looks at the files again, if nothing else has changed


def has_checks(desk: Desk, plan: Plan) -> bool:
    """Whether there is anything to say."""
    if not plan.id:
        return False
    if desk.settings.default_check or any(item.check or item.waived for item in plan.items):
        return True
    return any(":" in item.text and _claims_grade(item) for item in plan.items)


def _claims_grade(item: Item) -> bool:
    """Whether a text poses as a grade, so that it must be told that there is none."""
    from ..core.grade_labels import claims_grade

    return claims_grade(item)


def count_verified(desk: Desk, plan: Plan, seconds: float) -> int | None:
    """Return how many items are verified; None if that cannot be told in so many seconds."""
    if not any(item.status == DONE and item.check for item in plan.items):
        return 0
    from .evidence import graded

    found = graded(desk, plan, seconds)
    if any(not grade.word for grade in found.grades.values()):
        return None
    return found.verified


def load_labels(desk: Desk, plan: Plan) -> Labels:
    """Look at what was observed, and at the files, and say what that means for each item."""
    return start_labels(desk, plan)()


def start_labels(desk: Desk, plan: Plan) -> Callable[[], Labels]:
    """The same in two steps: git looks at the files while something else is done here."""
    if not has_checks(desk, plan):
        return lambda: NO_LABELS
    from .evidence import start_grading

    grade = start_grading(desk, plan)
    return lambda: tell(desk, plan, grade())


def tell(desk: Desk, plan: Plan, found: Graded) -> Labels:
    """Grades in the words that a screen shows."""
    from ..core.grade_labels import labels
    from ..local.clock import clock_text

    return labels(plan, found.grades, found.looks_done, clock_text, default_line(desk, found.default))


def default_line(desk: Desk, seen: Seen) -> str:
    """How the project's default check ended last: `make test passed 14:09`; empty if that was never observed."""
    from ..core.text import cut, inline
    from ..local.clock import clock_text

    rows = [(str(row.get("at", "")), "passed") for row in seen.passes[-1:]]
    rows += [(str(row.get("at", "")), "failed") for row in seen.failures[-1:]]
    if not rows:
        return ""
    at, word = max(rows, key=lambda row: row[0])
    return f"{cut(inline(desk.settings.default_check), _LONGEST)} {word} {clock_text(at)}"


def load_tails(desk: Desk, plan: Plan) -> dict[str, str]:
    """Return the grades of a plan as they are written in Markdown, by item: in words, with date and time."""
    if not has_checks(desk, plan):
        return {}
    from ..core.grades import WAIVED, in_short
    from ..local.clock import full_text
    from .evidence import graded

    tails = {}
    for id, grade in graded(desk, plan).grades.items():
        tails[id] = in_short(grade, full_text)
        if grade.word == WAIVED:
            tails[id] = f"{WAIVED} {full_text(grade.at)}"
    return tails


def with_grades(desk: Desk, plan: Plan, data: dict[str, Any]) -> dict[str, Any]:
    """Return a plan that was made JSON with the grades of its completed items, and which open ones look done. A grade
    that is not known, because there was no time to look at the files, is left out."""
    if not has_checks(desk, plan):
        for entry in data["items"]:
            if entry["status"] == DONE:
                entry["grade"] = "reported"
        return data
    from .evidence import graded

    found = graded(desk, plan)
    for entry in data["items"]:
        grade = found.grades.get(entry["id"])
        if grade is not None and grade.word:
            entry["grade"] = grade.word
        if entry["id"] in found.looks_done:
            entry["looks_done"] = True
    return {**data, "verified": found.verified}


class LiveLabels:
    """What checks say, for a screen that is drawn again and again: the files are looked at when the plan or what was
    observed is new, and every `FRESH` seconds. Call it from a thread that may wait."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._known: object = None  # what the last look was about
        self._due = 0.0
        self._labels = NO_LABELS

    def look(self, plan: Plan, *, again: bool = False) -> Labels:
        """Return what the checks of a plan say. `again`: look at the files in any case."""
        if not has_checks(self._desk, plan):
            return NO_LABELS
        from .evidence import graded, load_default, load_seen

        items = [item for item in plan.items if item.check]
        seen = (load_seen(self._desk._seat.store, plan, items), load_default(self._desk, plan))
        if again or (plan, seen) != self._known or monotonic() >= self._due:
            self._labels = tell(self._desk, plan, graded(self._desk, plan))
            self._known = (plan, seen)
            self._due = monotonic() + FRESH
        return self._labels

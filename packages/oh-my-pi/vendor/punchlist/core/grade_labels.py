"""What the checks of a plan say about its items, as a screen shows it: words, and how they are styled."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .grades import FAILED, OUTDATED, REPORTED, VERIFIED, Grade, Row, in_short, open_in_short
from .model import DONE, DROPPED, Item, Plan
from .render import Labels, Span
from .text import quoted

_NO_WORDS = Span("")
_CHECK = "check: "
_CLAIMS = ("verified", "passed", "waived:", "failed", "outdated:")  # how grades begin on a screen


def labels(
    plan: Plan,
    grades: Mapping[str, Grade],
    looks_done: Mapping[str, Row],
    clock: Callable[[str], str],
    default: str = "",
) -> Labels:
    """Return what a screen shows of the grades of a plan. `clock` tells a time."""
    is_open = bool(plan.open_items)
    beside: dict[str, Span] = {}
    for item in plan.items:
        grade = grades.get(item.id)
        if grade is not None:
            span = Span(in_short(grade, clock), _style(grade, is_open))
        elif item.status == DROPPED:
            continue
        else:
            row = looks_done.get(item.id)
            span = Span(open_in_short(item, row, clock), "dim" if row is None else "")
        if not span.text and grade is not None and claims_grade(item):
            span = Span(REPORTED, "dim")
        if span.text:
            beside[item.id] = span
    verified = frozenset(id for id, grade in grades.items() if grade.word == VERIFIED)
    return Labels(beside, verified, default)


def claims_grade(item: Item) -> bool:
    """Whether the text of a completed item reads like one with a grade beside it."""
    if item.status != DONE or ":" not in item.text:
        return False
    words = item.text.casefold()
    return any(claim in words for claim in _CLAIMS)


def _style(grade: Grade, is_open: bool) -> str:
    """How a grade is written: what failed is red; that files have changed is dim while there is work to do."""
    if grade.word == FAILED:
        return "bad"
    if grade.word == OUTDATED and not is_open:
        return ""
    return "dim"


def sentences(plan: Plan, before: Labels, now: Labels) -> list[str]:
    """What to tell those who read line by line: each item that has another grade, or looks done. That it was verified
    once more, or that more files have changed, is not told."""
    said = []
    for item in plan.items:
        label = now.beside.get(item.id, _NO_WORDS).text
        old = before.beside.get(item.id, _NO_WORDS).text
        if label and not label.startswith(_CHECK) and label.split()[0] != old.partition(" ")[0]:
            said.append(f"{item.id} {quoted(item.text)}: {label}")
    if now.default.partition(" passed ")[0] != before.default.partition(" passed ")[0]:
        said.append(now.default)
    return [words for words in said if words]

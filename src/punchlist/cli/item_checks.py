"""What `punchlist show ID` says about the check of an item: its grade and why, who set it, and what was observed."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks.output import Output, read_output
from ..core._typing import Any, NamedTuple
from ..core.checks import IMPORT, digest, folder_of, in_words, is_trusted
from ..core.grades import OUTDATED, PASSED, REPORTED, UNKNOWN, VERIFIED, Grade, Row, Seen, in_short, open_in_short
from ..core.model import DONE, USER, Item, Plan
from ..core.text import cut, inline
from ..desk import Desk
from ..local.clock import clock_text
from . import output
from .desk import command_for
from .parser import Args

_MOST_ROWS = 10
_OUTPUT_LINES = 10
_LONGEST = 120  # characters of a command


class ItemGrade(NamedTuple):
    """What is known of an item's check."""

    words: list[str]  # its grade, and why it is not a better one
    rows: list[str]  # what was observed, oldest first
    data: dict[str, Any]  # the same for JSON
    is_verified: bool = False


def grade_item(desk: Desk, plan: Plan, item: Item, args: Args) -> ItemGrade:
    """Look at what was observed of the check of one item, and at its files."""
    if not item.check and not item.waived:
        if item.status == DONE:
            return ItemGrade([REPORTED], [], {"grade": REPORTED})
        return ItemGrade([], [], {})
    from ..desk.evidence import graded

    found = graded(desk, plan._replace(items=(item,)))
    seen = found.seen.get(item.id, Seen())
    grade = found.grades.get(item.id)
    rows = [*_observed(seen), *_hidden(seen)]
    if grade is None:
        row = found.looks_done.get(item.id)
        if row is None:
            return ItemGrade([], rows, {})
        return ItemGrade([open_in_short(item, row, clock_text)], rows, {"looks_done": True})
    data = {}
    if grade.word:
        data["grade"] = grade.word
    words = [in_short(grade, clock_text) or REPORTED, *_reasons(item, grade, args)]
    return ItemGrade(words, rows, data, grade.word == VERIFIED)


def _reasons(item: Item, grade: Grade, args: Args) -> Iterator[str]:
    """Why a grade is what it is, and what would make it better."""
    if grade.word == REPORTED and item.check and not grade.row:
        yield f"its check was not seen to run: {in_words(item.check)}"
    if grade.word == PASSED:
        yield f"set by the agent; to trust it: {command_for(args, 'check', item.id, '--approve')}"
    if grade.word == OUTDATED or (grade.word == REPORTED and grade.row):
        yield f"to run it again: {command_for(args, 'verify', item.id)}"
    if grade.word == UNKNOWN:
        yield "the files could not be looked at in time, so it is not known whether they have changed since"
    if grade.is_flaky:
        yield "flaky: it passed and it failed on these files"
    if grade.tests_changed:
        yield "tests, or files that say how they are run, have changed since the check was set"


def last_output(desk: Desk, plan: Plan, item: Item) -> Output | None:
    """What the check of an item printed when we last ran it."""
    if "run" not in item.check:
        return None
    return read_output(desk._seat.store, plan.id, digest(item.check, folder_of(item)))


def describe_output(kept: Output | None) -> list[str]:
    """The end of an output, with how the run went that it is from."""
    if kept is None:
        return []
    head = f"{clock_text(kept.at)}, {kept.why or 'passed'}, {kept.seconds:.1f} s"
    return [head, *(f"| {line}" for line in kept.lines[-_OUTPUT_LINES:])]


def describe_check(item: Item, args: Args) -> list[str]:
    """A check in words, who set it and where, and whether the user trusts it."""
    said = []
    if item.check:
        said.append(in_words(item.check))
        if item.check.get("scope"):
            said.append(f"for {', '.join(map(inline, item.check['scope']))}")
        said.append(_origin(item, args))
    if item.waived:
        why = inline(str(item.waived.get("why", "")))
        said.append(f"waived {clock_text(str(item.waived.get('at', '')))}: {why}")
    return said


def _origin(item: Item, args: Args) -> str:
    by = str(item.check_set.get("by", ""))
    who = {USER: "you", IMPORT: "an import"}.get(by, inline(by) or "an agent")
    words = f"set by {who} {clock_text(str(item.check_set.get('at', '')))}"
    folder = folder_of(item)
    if folder:
        words += f" in {output.short(folder)}"
    if by == USER:
        return words
    if is_trusted(item):
        return f"{words}, approved by you"
    return f"{words}, not approved: {command_for(args, 'check', item.id, '--approve')}"


def _observed(seen: Seen) -> Iterator[str]:
    """What was observed, oldest first."""
    rows = sorted([*seen.passes, *seen.failures], key=lambda row: str(row.get("at", "")))
    for row in rows[-_MOST_ROWS:]:
        yield _one(row, f"exit code {row.get('exit')}")


def _hidden(seen: Seen) -> Iterator[str]:
    """The last run that does not count, and why, if nothing that counts is newer."""
    if not seen.hidden:
        return
    last = seen.hidden[-1]
    counting = [str(row.get("at", "")) for row in (*seen.passes, *seen.failures)]
    if str(last.get("at", "")) >= max(counting, default=""):
        yield _one(last, f"does not count: {inline(str(last.get('why', '')))}")


def _one(row: Row, outcome: str) -> str:
    who = [inline(str(row[name])) for name in ("agent", "session") if row.get(name)]
    words = f"{clock_text(str(row.get('at', '')))} {inline(str(row.get('tier', '')))}"
    words += f" {cut(inline(str(row.get('command', ''))), _LONGEST)}: {outcome}"
    if who:
        words += f" ({', '.join(who)})"
    return words

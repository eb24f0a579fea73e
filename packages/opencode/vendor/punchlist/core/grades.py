"""The grade of an item: what was observed of its check, on the files as they are now. It is derived, never stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ._typing import Any, NamedTuple
from .checks import in_words, is_trusted
from .model import DONE, NOTHING, Item
from .text import inline

VERIFIED, PASSED, REPORTED, OUTDATED, FAILED, WAIVED = GRADES = (
    "verified",
    "passed",
    "reported",
    "outdated",
    "failed",
    "waived",
)
UNKNOWN = ""  # what was seen is known, the files as they are now are not
Row = Mapping[str, Any]  # one observation of a check


class Seen(NamedTuple):
    """What was observed of one check, oldest first."""

    passes: Sequence[Row] = ()
    failures: Sequence[Row] = ()
    hidden: Sequence[Row] = ()  # it ran, and that does not count; each says why
    bases: Sequence[Row] = ()  # the files when it was set, and when items were started


class Grade(NamedTuple):
    """How far a completed item is shown to be done."""

    word: str = REPORTED
    at: str = ""  # when that was observed, in ISO 8601
    row: Row = NOTHING  # what was observed; empty if nothing was
    is_flaky: bool = False  # both a pass and a failure were observed on these files
    changed: int | None = None  # of an outdated one: how many files have changed since; None if that is not known
    tests_changed: bool = False  # whether tests or their configuration have changed since the check was set
    why: str = ""  # of a waived one: why; of a reported one: why what was seen does not count


def grade(item: Item, seen: Seen, tree: str) -> Grade | None:
    """The grade of a completed item; None for others. `tree`: the fingerprint of the files that matter to its check, as
    they are now; empty if it is not known."""
    if item.status != DONE:
        return None
    if item.waived:
        return Grade(WAIVED, str(item.waived.get("at", "")), why=str(item.waived.get("why", "")))
    if not item.check:
        return Grade()
    newest = _newest(seen)
    if newest is None:
        return Grade(why=_why_hidden(seen))
    here = _newest(seen, tree)
    if not tree or (here is None and not newest.get("tree")):
        return Grade(UNKNOWN, str(newest["at"]), newest)
    if here is None:
        return _graded_elsewhere(seen)
    is_flaky = any(map(_is_on(tree), seen.passes)) and any(map(_is_on(tree), seen.failures))
    word = FAILED
    if here in seen.passes:
        word = PASSED
        if is_trusted(item):
            word = VERIFIED
    return Grade(word, str(here["at"]), here, is_flaky)


def passing(item: Item, seen: Seen, tree: str) -> Row | None:
    """The newest observation of an item's check on these files, if it passed; else None."""
    here = _newest(seen, tree)
    if here is None or here not in seen.passes:
        return None
    return here


def has_failed(seen: Seen) -> bool:
    """Whether the newest observation of a check is a failure."""
    newest = _newest(seen)
    return newest is not None and newest in seen.failures


def looks_done(item: Item, seen: Seen, tree: str) -> Row | None:
    """The observation that makes an open item look done: its check passes on files that differ from those when it was
    started. None if there is none."""
    if item.is_closed or not item.check or not tree:
        return None
    started = [row for row in seen.bases if row.get("item") == item.id and row.get("what") == "started"]
    if not started or started[-1].get("tree") in ("", tree):
        return None
    return passing(item, seen, tree)


def was_fixed(item: Item, seen: Seen) -> bool:
    """Whether the check of an item was seen to fail, and then to pass, since it was started."""
    started = [str(row["at"]) for row in seen.bases if row.get("item") == item.id and row.get("what") == "started"]
    if not started or has_failed(seen):
        return False
    failed = [str(row["at"]) for row in seen.failures if str(row["at"]) >= started[-1]]
    return bool(failed) and any(str(row["at"]) > failed[-1] for row in seen.passes)


def in_short(grade: Grade, clock: Callable[[str], str]) -> str:
    """A grade in a few words, beside its item; nothing for one that is only reported. `clock` tells a time."""
    word = _WORDS[grade.word](grade, clock)
    if grade.is_flaky:
        word += ", flaky"
    if grade.tests_changed:
        word += ", tests changed"
    return word


def open_in_short(item: Item, row: Row | None, clock: Callable[[str], str]) -> str:
    """What there is to say of the check of an open item. `row`: what makes it look done."""
    if item.waived:
        return f"waived: {inline(str(item.waived.get('why', '')))}"
    if row is not None:
        return f"its check passes since {clock(str(row['at']))}: done?"
    if item.check:
        return f"check: {in_words(item.check)}"
    return ""


def _newest(seen: Seen, tree: str = "") -> Row | None:
    """The newest pass or failure, of all or of those on these files. Of two at the same time the failure counts."""
    rows = [row for row in (*seen.passes, *seen.failures) if not tree or row.get("tree") == tree]
    newest = None
    for row in rows:
        if newest is None or str(row["at"]) >= str(newest["at"]):
            newest = row
    return newest


def _is_on(tree: str) -> Callable[[Row], bool]:
    return lambda row: row.get("tree") == tree


def _graded_elsewhere(seen: Seen) -> Grade:
    """The grade of an item whose check was observed on other files only."""
    passed = [row for row in seen.passes if row.get("tree")]
    if not passed and seen.failures:
        return Grade(at=str(seen.failures[-1]["at"]), row=seen.failures[-1])
    if not passed:
        return Grade(why=_why_hidden(seen))
    return Grade(OUTDATED, str(passed[-1]["at"]), passed[-1])


def _why_hidden(seen: Seen) -> str:
    if seen.hidden:
        return str(seen.hidden[-1].get("why", ""))
    return ""


def _tell_outdated(grade: Grade, clock: Callable[[str], str]) -> str:
    since = clock(grade.at)
    if grade.changed is None:
        return f"outdated: files changed since {since}"
    if grade.changed == 1:
        return f"outdated: 1 file changed since {since}"
    return f"outdated: {grade.changed} files changed since {since}"


def _tell_failed(grade: Grade, clock: Callable[[str], str]) -> str:
    exit = grade.row.get("exit")
    if exit is None:
        return f"failed {clock(grade.at)}"
    return f"failed {clock(grade.at)}: exit code {exit}"


def _tell_reported(grade: Grade, clock: Callable[[str], str]) -> str:
    if grade.row:
        return f"{_tell_failed(grade, clock)}, files changed since"
    return ""


def _tell_unknown(grade: Grade, clock: Callable[[str], str]) -> str:
    if grade.row.get("exit") == 0:
        return f"passed {clock(grade.at)}"
    return _tell_failed(grade, clock)


_WORDS: Mapping[str, Callable[[Grade, Callable[[str], str]], str]] = {
    VERIFIED: lambda grade, clock: f"verified {clock(grade.at)}",
    PASSED: lambda grade, clock: f"passed its own check {clock(grade.at)}",
    REPORTED: _tell_reported,
    OUTDATED: _tell_outdated,
    FAILED: _tell_failed,
    WAIVED: lambda grade, clock: f"waived: {inline(grade.why)}",
    UNKNOWN: _tell_unknown,
}

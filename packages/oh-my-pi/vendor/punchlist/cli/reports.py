"""The result of `punchlist verify` as text, JSON, JUnit XML and GitHub annotations. Texts of items, commands and what
they print are data: they end no element, begin no annotation and act on no terminal."""

from __future__ import annotations

from collections.abc import Callable

from ..core._typing import Any, NamedTuple
from ..core.grades import WAIVED
from ..core.model import Item
from ..core.text import cut, quoted, visible
from ..desk.verification import Result, exact_words
from . import output

_TAIL = 10  # lines of an output that are shown with a check that failed
_WIDEST = 200  # characters of such a line


class Line(NamedTuple):
    """What is to say of one item."""

    item: Item
    grade: str  # empty for an open item
    is_ok: bool
    words: str
    result: Result | None = None  # None if its check was not to be run


class Report(NamedTuple):
    """What `verify` found."""

    plan: str
    lines: tuple[Line, ...]
    verified: int
    default: str = ""  # about the default check: it counts for no item
    stopped_by: int = 0
    has_default_failed: bool = False
    dropped: tuple[str, ...] = ()  # items with a check of the user's that an agent dropped
    is_strict: bool = False  # whether those count as not verified

    @property
    def is_ok(self) -> bool:
        if self.stopped_by or (self.is_strict and self.dropped):
            return False
        return all(line.is_ok for line in self.lines)


def say_text(report: Report) -> None:
    """Print one line for each item, with the end of the output where a check failed."""
    for line in report.lines:
        output.say(f"{_named(line)}: {visible(line.words)}")
        for text in _tail(line):
            output.say(f"    | {text}")
    if report.default:
        output.say(visible(report.default))
    output.say(_summary(report))


def _summary(report: Report) -> str:
    words = "no completed item has a check"
    if report.lines:
        words = f"{report.verified} of {len(report.lines)} verified"
    waived = sum(line.grade == WAIVED for line in report.lines)
    if waived:
        words += f", {waived} waived"
    left = [line.item.id for line in report.lines if not line.is_ok]
    if left:
        words += f"; not verified: {', '.join(left)}"
    if report.dropped:
        words += f"; dropped by an agent, with a check of yours: {', '.join(report.dropped)}"
    return words + "."


def say_json(report: Report) -> None:
    """Print an object with a row for each item."""
    output.say_json(
        {
            "plan": report.plan,
            "ok": report.is_ok,
            "verified": report.verified,
            "items": [_row(line) for line in report.lines],
            "dropped": list(report.dropped),
            "default": report.default,
            "stopped": bool(report.stopped_by),
        }
    )


def _row(line: Line) -> dict[str, Any]:
    item, result = line.item, line.result
    row: dict[str, Any] = {"id": item.id, "text": item.text, "status": item.status, "ok": line.is_ok}
    row |= {"check": dict(item.check), "grade": line.grade, "why": line.words}
    if result is not None:
        row |= {"state": result.state, "exit": result.exit, "seconds": round(result.seconds, 3)}
        if result.output is not None:
            row["output"] = result.output.text
    return row


def say_junit(report: Report) -> None:
    """Print JUnit XML: a test case for each item; what is not verified is a failure, what is waived is skipped."""
    failures = sum(not line.is_ok for line in report.lines)
    skipped = sum(line.grade == WAIVED for line in report.lines)
    seconds = sum(line.result.seconds for line in report.lines if line.result)
    counts = f'tests="{len(report.lines)}" failures="{failures}" errors="0" time="{seconds:.3f}"'
    output.say('<?xml version="1.0" encoding="UTF-8"?>')
    output.say(f'<testsuites name="punchlist" {counts}>')
    output.say(f'  <testsuite name="punchlist verify" {counts} skipped="{skipped}">')
    for line in report.lines:
        output.say(_case(line))
    output.say("  </testsuite>")
    output.say("</testsuites>")


def _case(line: Line) -> str:
    seconds = line.result.seconds if line.result else 0.0
    name = _xml(f"{line.item.id} {line.item.text}")
    parts = []
    if not line.is_ok:
        parts.append(f'      <failure message="{_xml(line.words)}">{_xml(_check(line))}</failure>')
    elif line.grade == WAIVED:
        parts.append(f'      <skipped message="{_xml(line.words)}"/>')
    if line.result and line.result.output:
        parts.append(f"      <system-out>{_xml(line.result.output.text)}</system-out>")
    head = f'    <testcase classname="punchlist" name="{name}" time="{seconds:.3f}"'
    if not parts:
        return f"{head}/>"
    return "\n".join([f"{head}>", *parts, "    </testcase>"])


def _xml(text: str) -> str:
    """A text inside of an element or an attribute. What XML cannot hold, such as most control characters, is replaced;
    everything beyond ASCII is a number, so that it is right in every encoding."""
    found = []
    for char in text:
        if char in "&<>\"'\n\r\t":
            found.append(f"&#{ord(char)};")
        elif char.isascii() and char.isprintable():
            found.append(char)
        elif ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 or ord(char) & 0xFFFE == 0xFFFE:
            found.append("&#65533;")
        else:
            found.append(f"&#{ord(char)};")
    return "".join(found)


def say_github(report: Report) -> None:
    """Print a GitHub annotation for each item that is not verified, and a line for each of the others."""
    for line in report.lines:
        if line.is_ok:
            output.say(f"ok: {_named(line)}: {visible(line.words)}")
            continue
        parts = [f"{_named(line)}: {line.words}", _check(line), *_tail(line)]
        text = "\n".join([part for part in parts if part])
        title = f"punchlist: item {line.item.id} is not verified"
        output.say(f"::error title={_property(title)}::{_data(text)}")
    if report.default:
        words = visible(report.default)
        if report.has_default_failed:
            words = f"::warning title=punchlist::{_data(report.default)}"
        output.say(words)
    output.say(_summary(report))


def _data(text: str) -> str:
    lines = [visible(line) for line in text.split("\n")]
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _named(line: Line) -> str:
    """The item in quotes that its text cannot close: no text looks like a grade."""
    return f"{line.item.id} {quoted(line.item.text, 80)}"


def _check(line: Line) -> str:
    if line.item.check:
        return f"check: {exact_words(line.item.check)}"
    return ""


def _tail(line: Line) -> list[str]:
    """The last lines that a check printed, if it did not pass."""
    if line.is_ok or line.result is None or line.result.output is None:
        return []
    lines = [text for text in line.result.output.lines if text.strip()]
    return [cut(text, _WIDEST) for text in lines[-_TAIL:]]


FORMATS: dict[str, Callable[[Report], None]] = {
    "text": say_text,
    "json": say_json,
    "junit": say_junit,
    "github": say_github,
}

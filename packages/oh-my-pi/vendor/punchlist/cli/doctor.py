"""`punchlist doctor`: every check on the screen, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby

from .. import __version__
from ..core.render import Line, Span, hanging
from ..core.text import block, counted
from ..doctor import NOTE, OK, PROBLEM, Check, examine
from ..local.settings import load
from . import output
from .parser import Args

_STYLES = {OK: "good", NOTE: "now", PROBLEM: "bad"}


def doctor(args: Args) -> int:
    """Check everything, and say how to fix what is wrong."""
    settings = load({"store": args.store})
    checks = list(examine(settings))
    problems = sum(check.state == PROBLEM for check in checks)
    if args.json:
        said = [{**check._asdict(), "fix": check.fix or None} for check in checks]
        output.say_json(
            {"version": __version__, "python": sys.version.split()[0], "problems": problems, "checks": said}
        )
    else:
        output.show(_lines(checks))
        output.say(f"\n{counted(problems, 'problem')}." if problems else "\nno problems found.")
    return int(problems > 0)


def _lines(checks: Iterable[Check]) -> Iterator[Line]:
    for about, group in groupby(checks, key=lambda check: check.about):
        yield (Span(about, "bold"),)
        for check in group:
            yield from _check(check)


def _check(check: Check) -> Iterator[Line]:
    glyphs = output.glyphs()
    mark = {OK: glyphs.completed, NOTE: "-", PROBLEM: "!"}[check.state]
    first, *more = block(check.text).splitlines()
    head = Span("  "), Span(mark, _STYLES[check.state]), Span(" ")
    yield from hanging(head, glyphs.said(first), output.width())
    for line in more:
        yield from hanging((Span("      "),), glyphs.said(line), output.width(), "dim")
    if check.fix:
        yield from hanging((Span("      fix: "),), glyphs.said(block(check.fix)), output.width())

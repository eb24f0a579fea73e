"""Plans for the eye: one pure function from a plan to styled lines, and the plan in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .model import ACTIVE, BLOCKED, CLOSED, DONE, DROPPED, PENDING, Item, Plan
from .text import counted, inline


class Span(NamedTuple):
    """A piece of a line. Styles: bold, dim, strike, good, now, bad; a face turns them into what it can show."""

    text: str
    style: str = ""


Line = tuple[Span, ...]


class Glyphs(NamedTuple):
    pending: str
    active: str
    blocked: str
    completed: str
    abandoned: str
    paused: str
    full: str
    empty: str
    cut: str
    note: str

    def said(self, text: str) -> str:
        """A text on one line, in characters that the screen has."""
        plain = inline(text)
        return plain if self.cut == "…" or plain.isascii() else plain.encode("ascii", "backslashreplace").decode()

    def of(self, status: str) -> str:
        return {
            PENDING: self.pending,
            ACTIVE: self.active,
            BLOCKED: self.blocked,
            DONE: self.completed,
            DROPPED: self.abandoned,
        }[status]


UNICODE = Glyphs("○", "▶", "⊘", "✓", "–", "⏸", "━", "╌", "…", "│")
ASCII = Glyphs("o", ">", "!", "x", "-", "||", "#", ".", "...", "|")

_STYLES = {PENDING: "", ACTIVE: "bold", BLOCKED: "bad", DONE: "dim", DROPPED: "dim strike"}
_MARK_STYLES = {PENDING: "dim", ACTIVE: "now", BLOCKED: "bad", DONE: "good", DROPPED: "dim"}
_EMPTY = "No plan here yet. An agent makes one, or you do: punchlist add 'Run the tests'"


def lines(plan: Plan, width: int = 80, glyphs: Glyphs = UNICODE) -> list[Line]:
    """The whole plan, as `show` prints it."""
    if not plan.items and not plan.phases:
        return [(Span(fit(_EMPTY, width, glyphs), "dim"),), *_state(plan, width, glyphs)]
    made = [_head(plan, width, glyphs), *_state(plan, width, glyphs)]
    digits = max((len(item.id) for item in plan.items), default=1)
    parents = {item.id: item.parent for item in plan.items}
    for phase, items in _by_phase(plan):
        if phase:
            made += [(), (Span(fit(glyphs.said(phase), width, glyphs), "bold"),)]
        for item in items:
            made += _rows(item, _depth(item, parents), plan, width, digits, glyphs)
    return made


def line(plan: Plan, glyphs: Glyphs = UNICODE, width: int = 60) -> str:
    """The plan in one line, for status lines: `▶ Running the tests 3/7`. Nothing for an empty plan."""
    if not plan.items:
        return ""
    progress = plan.progress
    tail = f" {progress.completed}/{progress.total}"
    active = plan.active
    if plan.paused:
        head, words = glyphs.paused, plan.paused.reason
    elif active:
        head, words = glyphs.active, active.label
    else:
        waiting = [item for item in plan.items if item.status not in CLOSED]
        head, words = (glyphs.of(waiting[0].status), waiting[0].text) if waiting else (glyphs.completed, "")
    return f"{head} {fit(glyphs.said(words), width - len(tail) - len(head) - 1, glyphs)}".rstrip() + tail


def plain(made: Iterable[Line]) -> str:
    """The lines without their styles."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in made)


def columns(text: str) -> int:
    """How many terminal cells a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    wide = sum(2 if east_asian_width(char) in "WF" else 0 if combining(char) else 1 for char in text)
    return wide - sum(char in "\u200c\u200d\ufe0e\ufe0f" for char in text)


def fit(text: str, width: int, glyphs: Glyphs = UNICODE) -> str:
    """The text in at most `width` cells."""
    if columns(text) <= width:
        return text
    room = max(width - len(glyphs.cut), 0)
    text = text[:room]
    while text and columns(text) > room:
        text = text[:-1]
    return (text.rstrip() + glyphs.cut)[: max(width, 0)]


def _head(plan: Plan, width: int, glyphs: Glyphs) -> Line:
    progress = plan.progress
    count = f"{progress.completed}/{progress.total}"
    bar = _bar(progress.percent, glyphs) if width >= 40 else ""
    room = width - len(count) - len(bar) - 3
    title = fit(glyphs.said(plan.title) or "Plan", room, glyphs)
    return (Span(title, "bold"), Span("  "), Span(bar, "good"), Span(" " if bar else ""), Span(count, "dim"))


def _state(plan: Plan, width: int, glyphs: Glyphs) -> Iterator[Line]:
    if plan.paused:
        yield (Span(fit(f"{glyphs.paused} paused: {glyphs.said(plan.paused.reason)}", width, glyphs), "bad"),)
    if plan.mode != "act":
        yield (Span(fit(f"{plan.mode} mode", width, glyphs), "now"),)


def _bar(percent: int, glyphs: Glyphs, cells: int = 10) -> str:
    full = percent * cells // 100
    return glyphs.full * full + glyphs.empty * (cells - full)


def _rows(item: Item, depth: int, plan: Plan, width: int, digits: int, glyphs: Glyphs) -> Iterator[Line]:
    indent = "  " * min(depth + (1 if plan.phases else 0), max(width // 8, 1))
    lead = f"{item.id.rjust(digits)} "
    room = width - len(indent) - 2 - len(lead)
    aside = _aside(item, plan, glyphs)
    words = glyphs.said(item.label if item.status == ACTIVE else item.text)
    spare = room - columns(words) - 2
    if aside and (spare < 8 or width < 40):
        aside = fit(aside, max(min(room // 2, room - 12), 0), glyphs) if room >= 24 else ""
        words = fit(words, room - columns(aside) - 2 if aside else room, glyphs)
    spans = [Span(indent), Span(glyphs.of(item.status) + " ", _MARK_STYLES[item.status]), Span(lead, "dim")]
    spans.append(Span(fit(words, room, glyphs), _STYLES[item.status]))
    if aside:
        spans += [Span("  "), Span(fit(aside, room - columns(spans[-1].text) - 2, glyphs), "dim")]
    yield tuple(spans)
    if item.status in (ACTIVE, BLOCKED):
        for note in item.notes:
            for part in note.splitlines():
                yield (
                    Span(f"{indent}  {' ' * len(lead)}"),
                    Span(fit(f"{glyphs.note} {glyphs.said(part)}", room, glyphs), "dim"),
                )


def _aside(item: Item, plan: Plan, glyphs: Glyphs) -> str:
    """What stands behind an item's text."""
    said = []
    if item.reason:
        said.append(glyphs.said(item.reason))
    waiting = [o.id for o in plan.items if o.id in item.needs and o.status not in CLOSED] if item.needs else []
    if waiting and item.status == PENDING:
        said.append(f"needs {', '.join(waiting)}")
    if item.owner:
        said.append(f"@{glyphs.said(item.owner)}")
    if item.notes and item.status not in (ACTIVE, BLOCKED):
        said.append(counted(len(item.notes), "note"))
    return f"({'; '.join(said)})" if said else ""


def _by_phase(plan: Plan) -> Iterator[tuple[str, list[Item]]]:
    groups: dict[str, list[Item]] = {name: [] for name in ("", *plan.phases)}
    for item in plan.items:
        groups.setdefault(item.phase, []).append(item)
    for name, items in groups.items():
        if items or name:
            yield name, items


def _depth(item: Item, parents: dict[str, str]) -> int:
    depth, id = 0, item.parent
    while id and depth < 8:
        depth, id = depth + 1, parents.get(id, "")
    return depth

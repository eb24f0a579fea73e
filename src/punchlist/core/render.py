"""Plans for the eye: one pure function from a plan to styled lines, and the plan in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ._typing import NamedTuple
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

    def said(self, text: str, room: int | None = None) -> str:
        """A text on one line, in characters that the screen has; no more of it than could be shown in so many cells."""
        plain = inline(text if room is None else text[: max(room, 0) * _DENSE + 1])
        if self.cut == "…" or plain.isascii():
            return plain
        return plain.replace("\u2039", "{").encode("ascii", "backslashreplace").decode()

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

TEXT_STYLES = {PENDING: "", ACTIVE: "bold", BLOCKED: "bad", DONE: "dim", DROPPED: "dim strike"}
MARK_STYLES = {PENDING: "dim", ACTIVE: "now", BLOCKED: "bad", DONE: "good", DROPPED: "dim"}
_CODES = {"bold": "1", "dim": "2", "strike": "9", "good": "32", "now": "36", "bad": "33"}  # of ANSI terminals
_COLORS = ("good", "now", "bad")
_DENSE = 4  # characters in one cell, at most: a letter and the marks on it
_NONE = "No plan here yet. An agent makes one, or you do: punchlist add 'Run the tests'"
OFF = "off here: no agent is told of this plan (punchlist on)"
EMPTIED = "Nothing is open: all done, or taken off the list."


def lines(plan: Plan, width: int = 80, glyphs: Glyphs = UNICODE) -> list[Line]:
    """The whole plan, as `show` prints it."""
    if not plan.items and not plan.phases:
        words = EMPTIED if plan.last_id else _NONE
        return [(Span(fit(words, width, glyphs), "dim"),), *_state(plan, width, glyphs)]
    made = [_head(plan, width, glyphs), *_state(plan, width, glyphs)]
    digits = max((len(item.id) for item in plan.items), default=1)
    parents = {item.id: item.parent for item in plan.items}
    for phase, items in by_phase(plan):
        if phase:
            made += [(), (Span(fit(glyphs.said(phase), width, glyphs), "bold"),)]
        for item in items:
            at = Place(width, digits, depth(item, parents) + (1 if plan.phases else 0))
            made.append(item_line(item, plan, at, glyphs))
            made += note_lines(item, at, glyphs)
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


def painted(line: Line, *, has_color: bool = True) -> str:
    """A line as an ANSI terminal shows it in its styles; without color, what is bold, dim or struck out stays so."""
    return "".join(_coded(text, style, has_color) for text, style in line).rstrip()


def _coded(text: str, style: str, has_color: bool) -> str:
    codes = ";".join(_CODES[word] for word in style.split() if has_color or word not in _COLORS)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def columns(text: str) -> int:
    """How many terminal cells a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    wide = sum(2 if east_asian_width(char) in "WF" else 0 if combining(char) else 1 for char in text)
    return wide - sum(char in "\u200c\u200d\ufe0e\ufe0f" for char in text)


def fit(text: str, width: int, glyphs: Glyphs = UNICODE) -> str:
    """The text in at most `width` cells."""
    if _is_within(text, width):
        return text
    room = max(width - len(glyphs.cut), 0)
    text = text[: room * _DENSE]
    while text and (excess := columns(text) - room) > 0:
        text = text[: -max(excess // 2, 1)]  # no character is wider than two cells
    return (text.rstrip().removesuffix(glyphs.cut) + glyphs.cut)[: max(width, 0)]


def wrapped(text: str, width: int) -> list[str]:
    """The text in rows of at most `width` cells, broken between words; a word that is wider than a row is broken."""
    first, *words = text.rstrip(" ").split(" ")
    *rows, row = _broken(first, width)
    for word in words:
        longer = f"{row} {word}"
        if _is_within(longer, width):
            row = longer
        else:
            *pieces, last = _broken(word, width)
            rows += [row, *pieces] if row.strip() else pieces
            row = last
    return [*rows, row]


def _broken(word: str, width: int) -> list[str]:
    pieces: list[str] = []
    at = 0
    while len(word) - at > width * _DENSE or columns(word[at:]) > width:
        piece = word[at : at + max(width, 1)]
        while columns(piece) > width and len(piece) > 1:
            piece = piece[:-1]
        pieces.append(piece)
        at += len(piece)
    return [*pieces, word[at:]]


def _is_within(text: str, width: int) -> bool:
    return len(text) <= width * _DENSE and columns(text) <= width


def _head(plan: Plan, width: int, glyphs: Glyphs) -> Line:
    progress = plan.progress
    count = f"{progress.completed}/{progress.total}"
    made = bar(progress.percent, glyphs) if width >= 40 else ""
    room = width - len(count) - len(made) - 3
    title = fit(glyphs.said(plan.title) or "Plan", room, glyphs)
    return (Span(title, "bold"), Span("  "), Span(made, "good"), Span(" " if made else ""), Span(count, "dim"))


def _state(plan: Plan, width: int, glyphs: Glyphs) -> Iterator[Line]:
    if plan.paused:
        yield (Span(fit(f"{glyphs.paused} paused: {glyphs.said(plan.paused.reason)}", width, glyphs), "bad"),)
    if plan.mode != "act":
        yield (Span(fit(f"{plan.mode} mode", width, glyphs), "now"),)


def bar(percent: int, glyphs: Glyphs, cells: int = 10) -> str:
    """How far something is."""
    full = percent * cells // 100
    return glyphs.full * full + glyphs.empty * (cells - full)


# --- one item --------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """The place of an item's line."""

    width: int
    digits: int = 1  # of the longest id
    depth: int = 0  # how far it is indented

    @property
    def indent(self) -> str:
        return "  " * min(self.depth, max(self.width // 8, 1))

    @property
    def room(self) -> int:
        """The cells for an item's words."""
        return self.width - len(self.indent) - 3 - self.digits


def item_line(item: Item, plan: Plan, at: Place, glyphs: Glyphs, mark: str = "", end: str = "") -> Line:
    """An item with its id and what is said of it. `mark`: another sign than that of its status; `end`: behind it."""
    words = glyphs.said(item.label if item.status == ACTIVE else item.text, at.width)
    if end and columns(words) + len(end) <= at.room:
        words += end
    behind = aside(item, plan, glyphs, at.width)
    if behind and (at.room - columns(words) < 10 or at.width < 40):
        behind = fit(behind, max(min(at.room // 2, at.room - 12), 0), glyphs) if at.room >= 24 else ""
        words = fit(words, at.room - columns(behind) - 2 if behind else at.room, glyphs)
    words = fit(words, at.room, glyphs)
    spans = [
        Span(at.indent),
        Span((mark or glyphs.of(item.status)) + " ", MARK_STYLES[item.status]),
        Span(f"{item.id.rjust(at.digits)} ", "dim"),
        Span(words, TEXT_STYLES[item.status]),
    ]
    if behind:
        spans += [Span("  "), Span(fit(behind, at.room - columns(words) - 2, glyphs), "dim")]
    return tuple(spans)


def note_lines(item: Item, at: Place, glyphs: Glyphs) -> Iterator[Line]:
    """The notes of an item that somebody works on, or that cannot go on."""
    for note in item.notes if item.status in (ACTIVE, BLOCKED) else ():
        for part in note.splitlines():
            words = fit(f"{glyphs.note} {glyphs.said(part, at.width)}", at.room, glyphs)
            yield (Span(f"{at.indent}{' ' * (3 + at.digits)}"), Span(words, "dim"))


def aside(item: Item, plan: Plan, glyphs: Glyphs, room: int | None = None) -> str:
    """What follows an item's text."""
    said = []
    if item.reason:
        said.append(glyphs.said(item.reason, room))
    waiting = [o.id for o in plan.items if o.id in item.needs and o.status not in CLOSED] if item.needs else []
    if waiting and item.status == PENDING:
        said.append(f"needs {', '.join(waiting)}")
    if item.owner:
        said.append(f"@{glyphs.said(item.owner, room)}")
    if item.notes and item.status not in (ACTIVE, BLOCKED):
        said.append(counted(len(item.notes), "note"))
    return f"({'; '.join(said)})" if said else ""


def by_phase(plan: Plan) -> Iterator[tuple[str, list[Item]]]:
    """The items of each phase, those without one first."""
    groups: dict[str, list[Item]] = {name: [] for name in ("", *plan.phases)}
    for item in plan.items:
        groups.setdefault(item.phase, []).append(item)
    for name, items in groups.items():
        if items or name:
            yield name, items


def depth(item: Item, parents: dict[str, str]) -> int:
    """How many wholes an item is a part of."""
    found, id = 0, item.parent
    while id and found < 8:
        found, id = found + 1, parents.get(id, "")
    return found

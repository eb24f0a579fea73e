"""Plans for the eye: one pure function from a plan to styled lines, and the plan in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ._typing import NamedTuple
from .cells import DENSE, columns, first_cells, is_within, wrapped
from .model import ACTIVE, BLOCKED, CLOSED, DONE, DROPPED, NOTHING, PENDING, Item, Plan
from .ops import following
from .text import counted, inline


class Span(NamedTuple):
    """A piece of a line. Styles: bold, dim, strike, good, now, bad; a face turns them into what it can show."""

    text: str
    style: str = ""


Line = tuple[Span, ...]


class Labels(NamedTuple):
    """What the checks of a plan say about its items, as it is shown; `core.grade_labels` makes it."""

    beside: Mapping[str, Span] = NOTHING  # by the id of an item: the words beside it
    verified: frozenset[str] = frozenset()  # the ids of the items that are verified
    default: str = ""  # of the project's default check: `make test passed 14:09`

    @property
    def summary(self) -> list[str]:
        """What is behind the count of a plan: how many items are verified, and how the default check ended."""
        said = []
        if self.verified:
            said.append(f"{len(self.verified)} verified")
        if self.default:
            said.append(self.default)
        return said


NO_LABELS = Labels()


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
    verified: str

    def said(self, text: str, room: int | None = None) -> str:
        """A text on one line, in characters that the screen has; no more of it than could be shown in so many cells."""
        if room is not None:
            text = text[: max(room, 0) * DENSE + 1]
        plain = inline(text)
        if self.cut == "…" or plain.isascii():
            return plain
        return plain.replace("\u2039", "{").encode("ascii", "backslashreplace").decode()

    def words(self, text: str, room: int | None = None) -> str:
        """The same without gaps between its words: what comes after a gap was not said by the author of an item."""
        if room is not None:
            text = text[: 2 * max(room, 0) * DENSE + 1]
        return self.said(_without_gaps(text), room)

    def sign(self, item: Item, labels: Labels) -> str:
        """The sign of an item: another one if it is verified."""
        if item.status == DONE and item.id in labels.verified:
            return self.verified
        return self.of(item.status)

    def of(self, status: str) -> str:
        return {
            PENDING: self.pending,
            ACTIVE: self.active,
            BLOCKED: self.blocked,
            DONE: self.completed,
            DROPPED: self.abandoned,
        }[status]


UNICODE = Glyphs("○", "▶", "⊘", "✓", "–", "⏸", "━", "╌", "…", "│", "✔")
ASCII = Glyphs("o", ">", "!", "x", "-", "||", "#", ".", "...", "|", "x")

TEXT_STYLES = {PENDING: "", ACTIVE: "bold", BLOCKED: "", DONE: "dim", DROPPED: "dim strike"}
MARK_STYLES = {PENDING: "dim", ACTIVE: "now", BLOCKED: "bad", DONE: "good", DROPPED: "dim"}
# Of ANSI terminals. Words are in the terminal's own color, and errors in red, which can be read on any background;
# "good" and "now" are for signs.
_CODES = {"bold": "1", "dim": "2", "strike": "9", "good": "32", "now": "36", "bad": "31"}
_COLORS = ("good", "now", "bad")
_BLANKS = str.maketrans(dict.fromkeys("\u2800\u3164\u115f\u1160\uffa0", " "))  # letters that nobody sees
_LEAST_WORDS = 12  # cells that an item's words keep beside a label, if they need them
_MOST_GAP = 40  # cells up to which labels are below each other
_NO_WORDS = Span("")
_NONE = "No plan here yet. An agent makes one, or you do: punchlist add 'Run the tests'"
OFF = "off here: no agent is told of this plan (punchlist on)"
NO_NUDGES = "no nudges in this session (punchlist stop)"
EMPTIED = "Nothing is open: all done, or taken off the list."


def lines(
    plan: Plan,
    width: int = 80,
    glyphs: Glyphs = UNICODE,
    *,
    labels: Labels = NO_LABELS,
    off: bool = False,
    nudges: bool = True,
    quiet: str = "",
) -> list[Line]:
    """Return the complete plan as styled lines, as `show` prints it; long texts are wrapped.

    `width`: of the screen, in cells. `glyphs`: the characters that it has. `labels`: what checks say about the items.
    `off`, `nudges`, `quiet`: see `notices`.
    """
    said = notices(plan, glyphs, off=off, nudges=nudges, quiet=quiet)
    below = [row for *head, (text, style) in said for row in hanging(tuple(head), text, width, style)]
    if not plan.items and not plan.phases:
        words = _NONE
        if plan.last_id:
            words = EMPTIED
        return [*hanging((), words, width, "dim"), *below]
    made = [*_head(plan, width, glyphs, labels), *below]
    places = item_places(plan, width, glyphs, labels)
    for phase, items in by_phase(plan):
        if phase:
            made += [(), *hanging((), glyphs.words(phase), width, "bold")]
        for item in items:
            made += _item_rows(item, plan, places[item.id], glyphs, labels)
    return made


def line(
    plan: Plan,
    glyphs: Glyphs = UNICODE,
    width: int = 60,
    *,
    verified: int = 0,
    off: bool = False,
    nudges: bool = True,
) -> str:
    """Return the plan in one line, for a status line: `▶ Running the tests 3/7 ✔1`. Empty for an empty plan.

    `width`: the most cells that it may take. `verified`: how many items are. `off`, `nudges`: whether punchlist is off
    there, and the agent is nudged.
    """
    if not plan.items:
        return ""
    progress = plan.progress
    said = [f"{plan.mode} mode"] * (plan.mode != "act") + ["off"] * off + ["no nudges"] * (not nudges)
    tail = f" {progress.completed}/{progress.total}"
    if verified and glyphs.verified.isascii():
        said.insert(0, f"{verified} verified")
    elif verified:
        tail += f" {glyphs.verified}{verified}"
    if said:
        tail += f" ({', '.join(said)})"
    shown = _first_shown(plan)
    if plan.paused:
        head, words = glyphs.paused, f"paused: {plan.paused.reason}"
    elif shown:
        head, words = glyphs.of(shown.status), item_words(shown)
    else:
        head, words = glyphs.completed, ""
    words = fit(glyphs.words(words), width - len(tail) - len(head) - 1, glyphs)
    return fit(f"{head} {words}".rstrip() + tail, width, glyphs)


def next_line(plan: Plan, glyphs: Glyphs = UNICODE, width: int = 60) -> str:
    """What comes after the item of `line`, in one line: `○ next: Fix the loop`. Nothing if there is no such item."""
    shown = _first_shown(plan)
    items = [item._replace(status=ACTIVE) if item is shown else item for item in plan.items]
    item = following(plan._replace(items=tuple(items)))
    if item:
        return fit(f"{glyphs.pending} next: {glyphs.said(item.text, width)}", width, glyphs)
    return ""


def last_line(plan: Plan, glyphs: Glyphs = UNICODE, width: int = 60) -> str:
    """What was completed last, in one line: `✓ done: Read the code`. Nothing if nothing was."""
    done = [item for item in plan.items if item.status == DONE]
    if not done:
        return ""
    last = max(reversed(done), key=lambda item: item.closed.at if item.closed else "")
    return fit(f"{glyphs.completed} done: {glyphs.said(last.text, width)}", width, glyphs)


def _first_shown(plan: Plan) -> Item | None:
    """The item that stands for the plan in one line: the active one, else the first that is open."""
    return plan.active or next((item for item in plan.items if item.status not in CLOSED), None)


def plain(made: Iterable[Line]) -> str:
    """Return styled lines as plain text, each with a line break."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in made)


def painted(line: Line, *, has_color: bool = True) -> str:
    """A line as an ANSI terminal shows it in its styles; without color, what is bold, dim or struck out stays so."""
    return "".join(_coded(text, style, has_color) for text, style in line).rstrip()


def _coded(text: str, style: str, has_color: bool) -> str:
    codes = ";".join(_CODES[word] for word in style.split() if has_color or word not in _COLORS)
    if codes and text:
        return f"\x1b[{codes}m{text}\x1b[0m"
    return text


def fit(text: str, width: int, glyphs: Glyphs = UNICODE) -> str:
    """The text in at most `width` cells."""
    if is_within(text, width):
        return text
    room = width - len(glyphs.cut)
    if room < 0:
        return glyphs.cut[: max(width, 0)]
    shown = first_cells(text[: room * DENSE], room)
    return shown.rstrip().removesuffix(glyphs.cut) + glyphs.cut


def hanging(head: Line, text: str, width: int, style: str = "") -> Iterator[Line]:
    """A text behind a head, wrapped: its other rows are below its first."""
    margin = sum(columns(span.text) for span in head)
    first, *more = wrapped(text, width - margin)
    yield (*head, Span(first, style))
    for row in more:
        yield Span(" " * margin), Span(row, style)


def _head(plan: Plan, width: int, glyphs: Glyphs, labels: Labels) -> Iterator[Line]:
    progress = plan.progress
    made = ""
    if width >= 40:
        made = f"{bar(progress.percent, glyphs)} "
    words = glyphs.words(plan.title) or "Plan"
    least = min(columns(words), _LEAST_WORDS)
    count = count_text(f"{progress.completed}/{progress.total}", labels, glyphs, width - len(made) - 2 - least)
    *above, title = wrapped(words, width - columns(count) - len(made) - 2)
    for row in above:
        yield (Span(row, "bold"),)
    yield Span(title, "bold"), Span("  "), Span(made, "good"), Span(count, "dim")


def count_text(count: str, labels: Labels, glyphs: Glyphs, room: int) -> str:
    """A count with what the checks say, as far as there is room: `3/5 · 1 verified · make test passed 14:09`."""
    dot = " · "
    if glyphs.cut != "…":
        dot = ", "
    for words in labels.summary:
        longer = count + dot + glyphs.words(words)
        if columns(longer) > room:
            return fit(longer, max(room, columns(count)), glyphs)
        count = longer
    return count


def notices(plan: Plan, glyphs: Glyphs, *, off: bool = False, nudges: bool = True, quiet: str = "") -> Iterator[Line]:
    """What the user should know of a plan beside its items. `off`: whether Punchlist is off there; `nudges`: whether
    the agent is nudged to continue; `quiet`: since when nothing was heard from it, in words."""
    if plan.paused:
        yield Span(f"{glyphs.paused} ", "bad"), Span("paused: ", "bold"), Span(glyphs.said(plan.paused.reason), "bold")
    if plan.mode != "act":
        yield (Span(f"{plan.mode} mode", "bold"),)
    if off:
        yield (Span(OFF, "dim"),)
    if not nudges:
        yield (Span(NO_NUDGES, "dim"),)
    if quiet:
        yield (Span(quiet, "dim"),)


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
    column: int = 0  # where a label begins, if the item's words end before

    @property
    def indent(self) -> str:
        return "  " * min(self.depth, max(self.width // 8, 1))

    @property
    def room(self) -> int:
        """The cells for an item's words."""
        return self.width - len(self.indent) - 3 - self.digits


def item_places(plan: Plan, width: int, glyphs: Glyphs, labels: Labels) -> dict[str, Place]:
    """Where the line of each item is. Labels are below each other, unless an item's words are long."""
    digits = max((len(item.id) for item in plan.items), default=1)
    parents = {item.id: item.parent for item in plan.items}
    inside = 1 if plan.phases else 0
    places = {item.id: Place(width, digits, depth(item, parents) + inside) for item in plan.items}
    if not labels.beside:
        return places
    ends = [0]
    for item in plan.items:
        at = places[item.id]
        words = glyphs.words(item_words(item), _MOST_GAP)
        if item.id in labels.beside and columns(words) <= _MOST_GAP:
            ends.append(at.width - at.room + columns(words))
    column = min(max(ends) + 2, width // 2)
    return {id: at._replace(column=column) for id, at in places.items()}


def _item_rows(item: Item, plan: Plan, at: Place, glyphs: Glyphs, labels: Labels) -> Iterator[Line]:
    """An item in full, with what is said of it and its notes."""
    label = labels.beside.get(item.id, _NO_WORDS)
    head = _item_head(item, at, glyphs, glyphs.sign(item, labels), label)
    rows = list(hanging(head, glyphs.words(item_words(item)), at.width, TEXT_STYLES[item.status]))
    margin = Span(" " * (at.width - at.room))
    behind = aside(item, plan, glyphs)
    if behind and columns(rows[-1][-1].text) + columns(behind) + 2 <= at.room:
        rows[-1] = (*rows[-1], Span("  "), Span(behind, "dim"))
    elif behind:
        rows += hanging((margin,), behind, at.width, "dim")
    if label.text:
        rows = with_label(rows, label, at, glyphs)
    yield from rows
    for part in note_parts(item):
        for row in wrapped(glyphs.said(part), at.room - 2):
            yield margin, Span(f"{glyphs.note} {row}", "dim")


def with_label(rows: Sequence[Line], label: Span, at: Place, glyphs: Glyphs, most: int = 1_000) -> list[Line]:
    """The rows of an item with a label behind them, or below them. It comes after a gap that no text can have."""
    *above, last = rows
    words = glyphs.words(label.text)
    used = sum(columns(span.text) for span in last)
    gap = " " * max(at.column - used, 2)
    if used + len(gap) + columns(words) > at.width:
        gap = "  "
    if used + len(gap) + columns(words) <= at.width:
        return [*above, (*last, Span(gap), Span(words, label.style))]
    margin = Span(" " * (at.width - at.room + 2))
    below = list(hanging((margin,), words, at.width, label.style))
    if len(rows) + len(below) <= most:
        return [*rows, *below]
    if len(rows) < most:
        return [*rows, (margin, Span(fit(words, at.room - 2, glyphs), label.style))]
    return [*above, (*last, Span(gap), Span(fit(words, at.width - used - 2, glyphs), label.style))]


def _item_head(item: Item, at: Place, glyphs: Glyphs, mark: str = "", label: Span = _NO_WORDS) -> Line:
    """What is before an item's words. The sign is red if its check failed."""
    style = MARK_STYLES[item.status]
    if label.style == "bad":
        style = "bad"
    sign = Span((mark or glyphs.of(item.status)) + " ", style)
    return Span(at.indent), sign, Span(f"{item.id.rjust(at.digits)} ", "dim")


def item_words(item: Item) -> str:
    """What an item says now: the words for its being worked on, while it is."""
    if item.status == ACTIVE:
        return item.label
    return item.text


def item_line(
    item: Item, plan: Plan, at: Place, glyphs: Glyphs, mark: str = "", end: str = "", label: Span = _NO_WORDS
) -> Line:
    """An item with its id and what is said of it. `mark`: another sign than that of its status; `end`: behind its
    words; `label`: what its check says. Of that, the beginning stays on any screen."""
    if label.text:
        return _graded_line(item, plan, at, glyphs, mark, end, label)
    words = glyphs.words(item_words(item), at.width)
    if end and columns(words) + len(end) <= at.room:
        words += end
    behind = aside(item, plan, glyphs, at.width)
    if behind and (at.room - columns(words) < 10 or at.width < 40):
        if at.room >= 24:
            behind = fit(behind, max(min(at.room // 2, at.room - 12), 0), glyphs)
        else:
            behind = ""
        words = fit(words, at.room - columns(behind) - 2 if behind else at.room, glyphs)
    words = fit(words, at.room, glyphs)
    spans = [*_item_head(item, at, glyphs, mark), Span(words, TEXT_STYLES[item.status])]
    if behind:
        spans += [Span("  "), Span(fit(behind, at.room - columns(words) - 2, glyphs), "dim")]
    return tuple(spans)


def _graded_line(item: Item, plan: Plan, at: Place, glyphs: Glyphs, mark: str, end: str, label: Span) -> Line:
    words = glyphs.words(label.text, at.width)
    depth = len(at.indent) // 2
    whole = item_line(item, plan, at._replace(width=2 * at.width + 40, depth=depth), glyphs, mark, end)
    used = sum(columns(span.text) for span in whole)
    room = at.room - min(columns(glyphs.words(item_words(item), at.width)), _LEAST_WORDS) - 2
    words = fit(words, max(at.width - used - 2, room), glyphs)
    if not words:
        return item_line(item, plan, at, glyphs, mark, end)
    left = at.width - columns(words) - 2
    if used > left:
        whole = item_line(item, plan, at._replace(width=left, depth=depth), glyphs, mark, end)
        used = sum(columns(span.text) for span in whole)
    gap = " " * max(min(at.column, left + 2) - used, 2)
    head = _item_head(item, at, glyphs, mark, label)
    whole = (whole[0], head[1], *whole[2:])
    return (*whole, Span(gap), Span(words, label.style))


def note_parts(item: Item) -> Iterator[str]:
    """The lines of the notes that are shown below an item."""
    if item.status in (ACTIVE, BLOCKED):
        for note in item.notes:
            yield from note.splitlines()


def aside(item: Item, plan: Plan, glyphs: Glyphs, room: int | None = None) -> str:
    """What follows an item's text."""
    said = []
    if item.reason:
        said.append(glyphs.words(item.reason, room))
    waiting = []
    if item.needs:
        waiting = [o.id for o in plan.items if o.id in item.needs and o.status not in CLOSED]
    if waiting and item.status == PENDING:
        said.append(f"needs {', '.join(waiting)}")
    if item.owner:
        said.append(f"@{glyphs.words(item.owner, room)}")
    if item.notes and item.status not in (ACTIVE, BLOCKED):
        said.append(counted(len(item.notes), "note"))
    if said:
        return f"({'; '.join(said)})"
    return ""


def _without_gaps(text: str) -> str:
    """A text with one space wherever a screen would show several, or none at its ends."""
    if text.isascii() and text.isprintable() and "  " not in text and text == text.strip():
        return text
    return " ".join(text.translate(_BLANKS).split())


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

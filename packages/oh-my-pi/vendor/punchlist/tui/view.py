"""What a panel shows, as a value; and which of its rows stay when there is no room for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..core import ops
from ..core._typing import Any, NamedTuple
from ..core.cells import columns, first_cells, wrapped
from ..core.model import ACTIVE, CLOSED, DONE, DROPPED, NOTHING, PENDING, Item, Plan
from ..core.render import NO_LABELS, Glyphs, Labels, Line, Span, count_text, fit

Rank = tuple[int, int]

# Why a row is there. Where there is no room for all, those with the lowest rank stay.
NOW, ALERT, HEAD, NEXT, NEAR, MORE, OLD, SPARE = range(8)
_MOST_LINES = 8  # of one text on a live screen
_LONGEST = 1_000  # the same where the screen has no end
_NARROW = 16  # cells in which nothing is wrapped
_NEXT_ONES = 3  # items behind the active one that come before anything else


class Worker(NamedTuple):
    """A sub-agent, or a session in the background."""

    name: str
    status: str = ""
    plan: Plan = Plan()
    background: bool = False  # shown by its count alone


class View(NamedTuple):
    """All that a panel shows."""

    plan: Plan = Plan()
    labels: Labels = NO_LABELS  # what checks say about the items
    expanded: bool = False
    busy: bool = True  # whether somebody is at work: then the spinner turns
    frame: int = 0  # of the spinner
    seconds: float | None = None  # spent on the active item; on the first, if there are several
    times: Mapping[str, float] = NOTHING  # the seconds spent on each active item, by id
    by_minute: bool = False  # whether times are told in minutes, so that they seldom change
    tokens: int = 0
    status: str = ""  # what is being done just now, if it is not just the active item
    tip: str = ""
    alert: str = ""  # what the user should know
    quiet: str = ""  # since when nothing was heard from the agent, in words
    off: bool = False  # whether punchlist is off here: then no agent is told about the plan
    nudges: bool = True  # whether the agent is nudged to continue
    workers: tuple[Worker, ...] = ()
    keys: bool = False  # whether there is a keyboard: then it is said what the keys do
    hint: str = ""  # further keys and the like, one a line
    typed: str = ""  # what the user is typing
    cursor: int | None = None  # how much of that is before the cursor, at a prompt


class Canvas(NamedTuple):
    """What a style draws on."""

    width: int
    glyphs: Glyphs
    spinner: Sequence[str]

    @property
    def dot(self) -> str:
        """What is between two things said in a row."""
        return self.either(" · ", ", ")

    def either(self, sign: str, ascii: str) -> str:
        """A sign, or what replaces it on a screen that has only ASCII."""
        if self.glyphs.cut == "…":
            return sign
        return ascii

    def mark(self, item: Item, view: View) -> str:
        """The sign of an item: while somebody works on it, a spinner."""
        if item.status == ACTIVE and view.busy:
            return self.turning(view)
        return self.glyphs.of(item.status)

    def counts(self, view: View, room: int | None = None) -> str:
        """How far the plan is, and how many items are verified, as in `3/5 · 1 verified`."""
        if room is None:
            room = self.width
        return count_text(counts(view.plan), view.labels._replace(default=""), self.glyphs, room)

    def turning(self, view: View) -> str:
        return self.spinner[view.frame % len(self.spinner)]

    def said(self, text: str) -> str:
        """A text on one line, harmless; no more of it than could be shown."""
        return self.glyphs.said(text, self.width)

    def fit(self, text: str, room: int | None = None) -> str:
        """The same, within the room that there is."""
        if room is None:
            room = self.width
        return fit(self.said(text), max(room, 0), self.glyphs)

    def line(self, text: str, style: str = "", indent: str = "") -> Line:
        return (Span(indent), Span(self.fit(text, self.width - len(indent)), style))


Drawing = Callable[[], Line]


class Row(NamedTuple):
    """A line that is drawn if there is room for it."""

    draw: Drawing
    rank: Rank = (NOW, 0)
    items: tuple[Item, ...] = ()  # the items it stands for: hidden ones are counted
    is_count: bool = False
    phase: str = ""  # of a heading, and of what is below it
    is_heading: bool = False
    wrap: Callable[[int], list[Line]] | None = None  # all of its words in at most so many lines; none if one is enough


def row(line: Line, rank: int = NOW, order: int = 0) -> Row:
    return Row(lambda: line, (rank, order))


def wrapping_row(
    draw: Callable[[Canvas], Line], canvas: Canvas, rank: Rank, head: int, below: Line | None = None, **more: Any
) -> Row:
    """A row that is wrapped where there is room. `head`: how many of its spans are before its words; `below`: what is
    in their place in the other lines, if not blanks."""

    def wrap(most: int) -> list[Line]:
        return fold(draw(canvas._replace(width=canvas.width * most)), canvas, head, most, below)

    return Row(lambda: draw(canvas), rank, wrap=wrap, **more)


def fold(line: Line, canvas: Canvas, head: int, most: int, below: Line | None = None) -> list[Line]:
    """A line that is too wide for the screen in at most so many lines, broken between words; none if that is not
    needed, or the screen is too narrow."""
    before, behind = line[:head], line[head:]
    room = canvas.width - length(before)
    if length(line) <= canvas.width or room < _NARROW:
        return []
    text = "".join([span.text for span in behind])
    styles = [span.style for span in behind for _ in span.text]
    if below is None:
        below = (Span(" " * length(before)),)
    made: list[Line] = []
    rows = wrapped(text, room)
    at = 0
    for number, words in enumerate(rows[:most], 1):
        at = text.index(words, at)
        if number == most and number < len(rows):
            words = fit(text[at:], room, canvas.glyphs)
        made.append((*(below if made else before), *_style_spans(words, styles[at:])))
        at += len(words)
    return made


def _style_spans(text: str, styles: Sequence[str]) -> Iterator[Span]:
    """A text with the style of each of its characters."""
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or styles[end] != styles[start]:
            yield Span(text[start:end], styles[start])
            start = end


def draw_rows(rows: Sequence[Row], room: int | None) -> list[list[Line]]:
    """The lines of each row: where there is room left, those that matter most are wrapped instead of cut."""
    left = most = _LONGEST
    if room is not None:
        left, most = room - len(rows), _MOST_LINES
    wide: dict[int, list[Line]] = {}
    for place in sorted(range(len(rows)), key=lambda place: rows[place].rank):
        wrap = rows[place].wrap
        if wrap is not None and left > 0:
            wide[place] = wrap(min(left + 1, most))
            left -= max(len(wide[place]) - 1, 0)
    return [wide.get(place) or [row.draw()] for place, row in enumerate(rows)]


# --- which rows stay -------------------------------------------------------------------------------------------------


def ranks(plan: Plan) -> dict[str, Rank]:
    """How much each item matters: those being worked on, the next ones, the one finished last, then the rest."""
    found: dict[str, Rank] = {}
    waiting: list[Item] = []
    closed: list[tuple[bool, str, int, str]] = []
    for index, item in enumerate(plan.items):
        if item.status == ACTIVE:
            found[item.id] = (NOW, index)
        elif item.status in CLOSED:
            closed.append((item.status == DONE, item.closed.at if item.closed else "", index, item.id))
        else:
            waiting.append(item)
    coming = ops.following(plan)
    first = waiting.index(coming) if coming else 0
    for index, item in enumerate(waiting[first:] + waiting[:first]):
        found[item.id] = (NEXT, 10 * index) if index < _NEXT_ONES else (MORE, index)
    for index, (*_, id) in enumerate(sorted(closed, reverse=True)):
        found[id] = (OLD, index) if index else (NEXT, 10 * _NEXT_ONES)
    return found


def choose_rows(rows: list[Row], room: int | None, more: Callable[[str], Line], cut: str) -> list[Row]:
    """The rows that matter most, in their order, and one that tells how many items are not among them."""
    if room is None or len(rows) <= room:
        return rows
    counted = tuple(item for row in rows if row.is_count for item in row.items)
    rows = [row for row in rows if not row.is_count]
    kept = _lowest(rows, room)
    if (counted or _hidden(rows, kept)) and room >= 3:
        kept = _lowest(rows, room - 1)
    stay = [rows[place] for place in kept]
    hidden = (*counted, *_hidden(rows, kept))
    if hidden and len(stay) < room:
        last = max((number for number, row in enumerate(stay) if row.items), default=len(stay) - 1)
        words = count_hidden(hidden, cut)
        stay.insert(last + 1, Row(lambda: more(words), (NEXT, 0), hidden, is_count=True))
    return stay


def count_hidden(items: Sequence[Item], cut: str) -> str:
    """How many items are not shown: `… 3 done, 1 dropped, 12 more`."""
    done = sum(item.status == DONE for item in items)
    dropped = sum(item.status == DROPPED for item in items)
    more = len(items) - done - dropped
    said = [f"{count} {word}" for count, word in ((done, "done"), (dropped, "dropped"), (more, "more")) if count]
    return f"{cut} {', '.join(said)}"


def _lowest(rows: list[Row], room: int) -> list[int]:
    """The places of the rows that matter most. An item comes with the heading of its phase, so that it is never
    below another one, and a heading only with an item; where there is no room for both, items come without headings."""
    order = sorted(range(len(rows)), key=lambda place: (rows[place].rank, place))
    headings = {row.phase: place for place, row in enumerate(rows) if row.is_heading}
    filled = {row.phase for row in rows if row.items}
    found: set[int] = set()
    for place in order:
        if rows[place].is_heading and rows[place].phase in filled:
            continue
        wanted = {place, headings.get(rows[place].phase, place)} - found
        if len(found) + len(wanted) <= room:
            found |= wanted
    if headings and room and not any(rows[place].items for place in found):
        return sorted(order[: max(room, 0)])
    return sorted(found)


def _hidden(rows: list[Row], kept: list[int]) -> tuple[Item, ...]:
    stay = set(kept)
    return tuple(item for place, row in enumerate(rows) if place not in stay for item in row.items)


def clip(line: Line, width: int) -> Line:
    """A line that is surely not wider than the screen."""
    if length(line) <= width:
        return line
    return tuple(_clip_spans(line, width))


def length(line: Line) -> int:
    """How many cells a line takes."""
    return sum([columns(span.text) for span in line])


def _clip_spans(line: Line, width: int) -> Iterator[Span]:
    for span in line:
        text = first_cells(span.text, width)
        width -= columns(text)
        yield Span(text, span.style)


# --- words -----------------------------------------------------------------------------------------------------------


def cost_text(view: View, canvas: Canvas) -> str:
    """Time and tokens, as in `1m 05s · 3.4k tokens`."""
    said = []
    if view.seconds is not None:
        said.append(_spent(view.seconds, view))
    if view.tokens:
        noun = "token" if view.tokens == 1 else "tokens"
        said.append(f"{amount(view.tokens)} {noun}")
    return canvas.dot.join(filter(None, said))


def own_time(item: Item, view: View) -> str:
    """The time of an active item that is not the first one, as in `  1m 05s`; that of the first is told elsewhere."""
    if item.status != ACTIVE or item.id not in view.times or item == view.plan.active:
        return ""
    spent = _spent(view.times[item.id], view)
    return spent and f"  {spent}"


def _spent(seconds: float, view: View) -> str:
    """How long something has taken. In minutes, nothing is said of the first one."""
    if not view.by_minute:
        return duration(seconds)
    if seconds < 60:
        return ""
    return duration(seconds).removesuffix(f" {int(seconds) % 60:02d}s")


def duration(seconds: float) -> str:
    whole = max(int(seconds), 0)
    minutes, hours = whole // 60 % 60, whole // 3600
    if hours:
        return f"{hours}h {minutes:02d}m"
    if minutes:
        return f"{minutes}m {whole % 60:02d}s"
    return f"{whole}s"


def amount(number: int) -> str:
    if number < 1_000:
        return str(number)
    if number < 999_950:
        return f"{number / 1_000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def counts(plan: Plan) -> str:
    return f"{plan.progress.completed}/{plan.progress.total}"


def progress_of(items: Sequence[Item]) -> str:
    """How far some items are, as in `1/3`."""
    return counts(Plan(items=tuple(items)))


def first_pending(plan: Plan) -> Item | None:
    return next((item for item in plan.items if item.status == PENDING), None)

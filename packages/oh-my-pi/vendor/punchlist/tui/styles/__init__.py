"""How a plan looks on a terminal. One renderer; a new style is a file and a line in `PATHS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ...core._typing import NamedTuple
from ...core.cells import columns
from ...core.diff import diff
from ...core.errors import Refused
from ...core.model import Item, Plan
from ...core.render import ASCII, MARK_STYLES, TEXT_STYLES, UNICODE, Glyphs, Line, Span, item_words, notices
from ...core.sentences import describe
from ..view import ALERT, NEXT, NOW, Canvas, Row, View, choose_rows, clip, counts, draw_rows, length, row, wrapping_row

PATHS = {
    "punchlist": "punchlist.tui.styles.punchlist",
    "claude-code": "punchlist.tui.styles.claude_code",
    "gencode": "punchlist.tui.styles.gencode",
    "oh-my-pi": "punchlist.tui.styles.oh_my_pi",
}
_TYPED_ROWS = 5  # rows of a long line at the prompt
_TURNING, _ASCII_TURNING = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"


def describe_changes(before: Plan, after: Plan, canvas: Canvas) -> list[Line]:
    """One line for each change, the last with how far the plan is now."""
    said = describe(diff(before, after), after)
    if said and counts(before) != counts(after):
        said[-1] += f" ({counts(after)})"
    return [canvas.line(words) for words in said]


def plain_item(item: Item, view: View, canvas: Canvas, indent: str = "  ") -> Line:
    """An item of somebody else: its sign and its words."""
    words = canvas.fit(item_words(item), canvas.width - len(indent) - 2)
    return (
        Span(indent),
        Span(f"{canvas.mark(item, view)} ", MARK_STYLES[item.status]),
        Span(words, TEXT_STYLES[item.status]),
    )


class Style(NamedTuple):
    """What differs between two ways to show the same plan."""

    name: str
    rows: Callable[[View, Canvas], list[Row]]  # all that could be shown, each with its rank
    more: Callable[[str, View, Canvas], Line]  # the line that tells how many items are left out
    changes: Callable[[Plan, Plan, Canvas], list[Line]] = describe_changes  # of a plan, for those who read lines
    calls: Callable[[Plan, Plan, Canvas], list[Line]] | None = None  # what a call of the plan's tool leaves in a
    # transcript, given the plan before and after; None: the call and its answer, as of any tool
    failed: str = ""  # how a transcript begins the line of a call that failed; empty: it shows the call and its answer
    item: Callable[[Item, View, Canvas, str], Line] = plain_item  # an item of a sub-agent's list
    glyphs: Glyphs = UNICODE
    ascii: Glyphs = ASCII
    spinner: Sequence[str] = _TURNING
    ascii_spinner: Sequence[str] = _ASCII_TURNING

    def canvas(self, width: int, unicode: bool = True) -> Canvas:
        if unicode:
            return Canvas(width, self.glyphs, self.spinner)
        return Canvas(width, self.ascii, self.ascii_spinner)


def load(name: str) -> Style:
    """The style of this name."""
    if name not in PATHS:
        raise Refused(f"no style {name!r}; the styles are {', '.join(PATHS)}.")
    style: Style = __import__(PATHS[name], fromlist=["STYLE"]).STYLE
    return style


def render(view: View, style: Style, width: int, height: int | None = None, *, unicode: bool = True) -> list[Line]:
    """A view as lines, none wider and not more of them than there is room for."""
    found = render_rows(view, style, width, height, unicode=unicode)
    return [line for _, lines in found for line in lines]


def render_rows(
    view: View, style: Style, width: int, height: int | None = None, *, unicode: bool = True, wraps: bool = True
) -> list[tuple[Row, list[Line]]]:
    """The same with the row that each of the lines is of. `wraps`: whether a row may take several lines."""
    canvas = style.canvas(width, unicode)
    made = [*style.rows(view, canvas), *typing(view, canvas)]
    rows = choose_rows(made, height, lambda words: style.more(words, view, canvas), canvas.glyphs.cut)
    room = height if wraps else len(rows)
    return [
        (row, [clip(line, width) for line in lines]) for row, lines in zip(rows, draw_rows(rows, room), strict=True)
    ]


# --- what styles share -----------------------------------------------------------------------------------------------


def alerts(view: View, canvas: Canvas) -> Iterator[Row]:
    """What the user should know before anything else."""
    said = [*notices(view.plan, canvas.glyphs, off=view.off, nudges=view.nudges, quiet=view.quiet)]
    if view.alert:
        said.insert(0, (Span("! ", "bad"), Span(view.alert, "bold")))
    for line in said:
        yield wrapping_row(partial(_notice, line), canvas, (ALERT, 0), len(line) - 1)
    if view.status and not view.busy and not view.plan.items:
        yield row(canvas.line(view.status, "dim"), ALERT)


def _notice(line: Line, canvas: Canvas) -> Line:
    *head, (text, style) = line
    return (*head, Span(canvas.fit(text, canvas.width - length(tuple(head))), style))


def typing(view: View, canvas: Canvas) -> Iterator[Row]:
    """What is being typed: at a prompt the rows around the cursor, else its end, which is where one looks."""
    if view.cursor is not None:
        yield from _prompt(view, view.cursor, canvas)
    elif view.typed:
        words = canvas.glyphs.said(view.typed[-canvas.width :])
        while words and columns(words) > canvas.width - 2:
            words = words[1:]
        yield row((Span("> ", "dim"), Span(words)), NOW, len(view.plan.items))


def _prompt(view: View, cursor: int, canvas: Canvas) -> Iterator[Row]:
    caret = canvas.either("▏", "|")
    before, after = (canvas.glyphs.said(text) for text in (view.typed[:cursor], view.typed[cursor:]))
    rows = _broken(f"{before}{caret}{after}", max(canvas.width - 2, 1))
    here = next(number for number, text in enumerate(rows) if caret in text)
    first = max(min(here - _TYPED_ROWS // 2, len(rows) - _TYPED_ROWS), 0)
    for number, text in enumerate(rows[first : first + _TYPED_ROWS], first):
        lead = "> " if number == 0 else "  "
        yield row((Span(lead, "dim"), Span(text)), NOW, abs(number - here) - 1)


def _broken(text: str, width: int) -> list[str]:
    """A text in rows, broken wherever one is full, as a terminal does it with what is typed."""
    rows = [""]
    for char in text:
        if columns(rows[-1] + char) > width:
            rows.append("")
        rows[-1] += char
    return rows


def keys(view: View, canvas: Canvas, what: str, indent: str = "", *, toggles: bool = True) -> Iterator[Row]:
    """What the keys do. `toggles`: whether Ctrl+T would change anything."""
    if not view.keys or not (view.plan.items or view.cursor is None):
        return
    said = view.hint.splitlines()
    if toggles:
        does = "hide" if view.expanded else "show"
        said.insert(0, f"ctrl+t {does} {what}")
    words = canvas.dot.join(said)
    if words:
        yield row(canvas.line(words, "dim", indent), NEXT, 5)

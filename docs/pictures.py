"""
Draw the pictures of docs/: what the real program shows in colour, for light and dark screens.

A plan is made through the command line in a temporary directory. `show.svg` and `grades.svg` are read off what
`punchlist` prints, the others off the screen of `punchlist watch` in a pseudo-terminal, so they show what a user sees;
only the spinner and the clock are stopped, so that a picture changes when the program does. `panel.svg` and
`panel-open.svg` are the rows that the panel in Claude Code is sent and draws above its prompt; a test with the real
program finds them on its screen. `python docs/pictures.py` draws them; `--check` only tells which are not up to date.
"""

from __future__ import annotations

import json
import os
import re
import select
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from time import gmtime, strftime, time
from typing import Any, NamedTuple
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

import ptyprocess
import pyte

HERE = Path(__file__).parent
COLUMNS, ROWS = 66, 24
CELL, LINE, SIZE, MARGIN, BAR = 8.4, 21, 14, 20, 34  # in pixels; BAR is the window's upper edge
SPENT = 72  # seconds that the active item has taken
BEFORE = 8  # seconds for a watcher to start in
STYLED = ("punchlist", "claude-code", "gencode", "oh-my-pi")
SPINNERS = {"claude-code": ("·✢✳✶✻✽", "✻")}  # frames, and the one that is drawn
BRAILLE = ("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "⠹")

TITLE = {"title": "Fix the crash on empty input", "items": []}
PLAN = [
    {"text": "Reproduce the crash", "phase": "Find"},
    {"text": "Read the parser", "phase": "Find"},
    {"text": "Look for the same fault elsewhere", "phase": "Find", "owner": "scout"},
    {"text": "Fix the off-by-one", "phase": "Fix", "needs": [2]},
    {"text": "Run the tests", "phase": "Fix", "needs": [4]},
    {"text": "Port the fix to the old parser", "phase": "Fix"},
    {"text": "Publish the release", "phase": "Ship"},
]
# the command's arguments, and what it reads
STEPS: list[tuple[list[str], object]] = [
    (["import", "--format", "json", "-"], TITLE),
    (["call", "plan"], {"add": PLAN}),
    (["call", "plan"], {"start": [3]}),
    (["call", "plan"], {"done": [1], "note": {"4": "the loop in line 40 stops one short"}}),
    (["call", "plan"], {"done": [2]}),
    (["add", "Write a regression test", "--after", "4"], None),
    (["drop", "6", "--why", "it is going away"], None),
    (["block", "7", "--why", "the signing key has expired"], None),
]

# A plan with checks, each of which looks at one file; of these, one is changed after they have run.
GRADES: list[tuple[list[str], object]] = [
    (["import", "--format", "json", "-"], {"title": "A new parser", "items": []}),
    (["add", "Fix the tokenizer"], None),
    (["add", "Update the README"], None),
    (["add", "Port the parser"], None),
    (["add", "Keep the old options"], None),
    (["add", "Ask the users"], None),
    (["add", "Handle empty input"], None),
    (["add", "Release notes", "--check", "test -s NOTES.md"], None),
    (["check", "1", "grep -q ready tokens.py", "--scope", "tokens.py"], None),
    (["check", "3", "grep -q ready parser.py", "--scope", "parser.py"], None),
    (["check", "4", "grep -q ready options.py", "--scope", "options.py"], None),
    (["check", "6", "grep -q ready empty.py", "--scope", "empty.py"], None),
    (["waive", "5", "--why", "they agreed by phone"], None),
    (["start", "6"], None),
    (["done", "1", "2", "3", "4", "5"], None),
]
# The plan above the prompt of Claude Code.
PANEL = {
    "title": "Fix the crash on empty input",
    "phases": ["Find", "Fix"],
    "items": [
        {"id": "1", "text": "Reproduce the crash", "phase": "Find", "status": "completed"},
        {"id": "2", "text": "Read the parser", "phase": "Find", "status": "completed"},
        {"id": "3", "text": "Fix the off-by-one in the lexer", "phase": "Fix", "status": "in_progress"},
        {"id": "4", "text": "Run the tests", "phase": "Fix", "needs": ["3"]},
        {"id": "5", "text": "Ask Ann about the deadline", "phase": "Fix"},
        {"id": "6", "text": "Publish it", "phase": "Fix", "status": "blocked", "reason": "the key has expired"},
    ],
}
PANEL_SIZE, PANEL_COLUMNS = "75x20", 80  # of the panel on a screen of 80 columns
ADD = "add: \x1b[2man item for the plan\x1b[0m"  # the field below a list that is open
PROMPT = ["\x1b[2m" + "─" * PANEL_COLUMNS, "❯"]  # what is below it
CLOCK = ("14:02", "13:40", "14:08", "14:07")  # the times in the order in which they are shown

# the numbers of ANSI's "select graphic rendition" that the command line uses, as classes of the picture
STYLES = {"1": "bold", "2": "dim", "9": "strike", "32": "good", "31": "bad", "36": "now"}
_COLOURS = {
    "light": {"back": "#ffffff", "edge": "#d0d7de", "text": "#1f2328", "dim": "#656d76", "good": "#1a7f37",
              "now": "#1b7c83", "bad": "#cf222e"},
    "dark": {"back": "#0d1117", "edge": "#30363d", "text": "#e6edf3", "dim": "#8b949e", "good": "#3fb950",
             "now": "#39c5cf", "bad": "#f85149"},
}  # fmt: skip

_ACTIVE = {"light": "#b8572f", "dark": "#d97757"}  # the colour of what is active, in Claude Code


class Piece(NamedTuple):
    """A run of characters in one style, and the cell it begins in."""

    text: str
    style: str
    column: int


def shown(folder: str) -> list[str]:
    """What the program prints for the plan."""
    return ["\x1b[2m$\x1b[0m punchlist", *run(folder, ["show"], "").rstrip("\n").split("\n")]


def graded(folder: str) -> list[str]:
    """What the program prints for a plan with checks, once they have run and files have changed."""
    top = Path(folder)
    for name in ("tokens.py", "parser.py", "options.py", "empty.py"):
        (top / name).write_text("", encoding="utf-8")
    for arguments, given in GRADES:
        run(folder, arguments, "" if given is None else json.dumps(given))
    for name in ("tokens.py", "parser.py", "empty.py"):
        (top / name).write_text("ready", encoding="utf-8")
    run(folder, ["verify", "1", "3", "4", "6"], "", code=1)
    (top / "parser.py").write_text("ready?", encoding="utf-8")
    lines = shown(folder)
    times = iter(CLOCK)
    return [re.sub(r"\b\d\d:\d\d\b", lambda _: next(times), line) for line in lines]


def watched(folder: str, style: str, *, collapsed: bool) -> list[str]:
    """The screen of a watcher, once it tells how long the active item has taken."""
    settle(folder)
    words = [sys.executable, "-m", "punchlist", "watch", "--style", style]
    env = {**environment(folder), "PUNCHLIST_EXPANDED": "no" if collapsed else "yes"}
    process = ptyprocess.PtyProcess.spawn(words, cwd=folder, env=env, dimensions=(ROWS, COLUMNS))
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    wanted, end = f"ctrl+t {'show' if collapsed else 'hide'}", time() + 20
    while not (wanted in "".join(screen.display) and duration() in "".join(screen.display)):
        if time() > end or not select.select([process.fd], [], [], 20)[0]:
            raise SystemExit(f"the screen of {style} never came:\n" + "\n".join(screen.display))
        stream.feed(os.read(process.fd, 65536))
    process.terminate(force=True)
    return [*filter(None, (stopped("".join(coded(screen.buffer[row])).rstrip(), style) for row in range(ROWS)))]


def panelled(folder: str, kind: str) -> list[str]:
    """The panel that Claude Code shows, and a prompt: `short`, or `long` when it is open."""
    named = ["--session", kind]
    run(folder, [*named, "import", "--format", "json", "-"], json.dumps(PANEL))
    words = [sys.executable, "-m", "punchlist", *named, "watch", "--json", "--size", PANEL_SIZE]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, encoding="utf-8", cwd=folder, env=environment(folder))
    assert process.stdout
    told = json.loads(process.stdout.readline())
    process.terminate()
    process.communicate()
    rows = ["".join(styled(*span) for span in row["spans"]) for row in told[kind]]
    return [*rows, *([ADD] if kind == "long" else []), *PROMPT]


def styled(text: str, style: str) -> str:
    """A text with the ANSI codes of its style."""
    codes = ";".join(code for code, name in STYLES.items() if name in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes else text


def settle(folder: str) -> None:
    """Let the active item have been started a while ago."""
    db = sqlite3.connect(Path(folder) / "punchlist" / "punchlist.db")
    with db:
        at = strftime("%Y-%m-%dT%H:%M:%S.000Z", gmtime(time() - SPENT + BEFORE))
        db.execute("UPDATE history SET at = ?", (at,))
    db.close()


def duration() -> str:
    return f"{SPENT // 60}m {SPENT % 60}s"


def coded(cells: Any) -> Iterator[str]:
    """A row of the emulator's cells as text with ANSI codes in it."""
    row = [cells[column] for column in range(COLUMNS)]
    for style, run in groupby(row, key=codes):
        text = "".join(cell.data for cell in run)
        yield f"\x1b[{style}m{text}\x1b[0m" if style else text


def codes(cell: Any) -> str:
    found = {"1": cell.bold, "2": cell.italics, "9": cell.strikethrough}
    colour = {"red": "31", "green": "32", "cyan": "36"}.get(cell.fg, "")
    return ";".join([*(code for code, is_on in found.items() if is_on), *([colour] if colour else [])])


def stopped(line: str, style: str) -> str:
    """A line with the spinner at one of its frames; it stands where the colour of what is active begins."""
    frames, frame = SPINNERS.get(style, BRAILLE)
    return re.sub(rf"(\x1b\[36m)[{frames}](?= )", rf"\g<1>{frame}", line)


def run(folder: str, arguments: list[str], given: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "punchlist", *arguments],
        input=given, capture_output=True, encoding="utf-8", cwd=folder, env=environment(folder) | {"FORCE_COLOR": "1"},
    )  # fmt: skip
    if done.returncode != code:
        raise SystemExit(f"punchlist {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout


def environment(folder: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PUNCHLIST_")}
    own |= dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), folder)
    own |= {"COLUMNS": str(COLUMNS), "TERM": "xterm", "PYTHONUTF8": "1"}
    own.pop("NO_COLOR", None)
    return own


def pieces(line: str) -> list[Piece]:
    """The pieces of a line with ANSI codes in it."""
    found: list[Piece] = []
    style, column = "", 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            codes = [code for code in part[2:-1].split(";") if code not in ("", "0")]
            style = " ".join(STYLES[code] for code in codes)
        for run in re.split(r"(  +)", part) if not part.startswith("\x1b") else ():  # not every viewer keeps blanks
            found.append(Piece(run, style, column))
            column += sum(2 if east_asian_width(char) in "WF" else 1 for char in run)
    return found


def drawn(lines: list[str], title: str) -> str:
    """The picture of a screen."""
    is_panel = lines[-1:] == PROMPT[-1:]
    columns = PANEL_COLUMNS if is_panel else COLUMNS
    width, height = round(2 * MARGIN + columns * CELL), BAR + MARGIN + len(lines) * LINE
    rows = [row(number, line) for number, line in enumerate(lines)]
    words = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)) + "\n"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' role="img" aria-labelledby="title words">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="words">{escape(words)}</desc>',
        f"<style>\n{css(is_panel=is_panel)}\n</style>",
        f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        *(f'<circle class="knob" cx="{MARGIN + 18 * number}" cy="18" r="5"/>' for number in range(3)),
        *filter(None, rows),
        "</svg>",
        "",
    ])  # fmt: skip


def row(number: int, line: str) -> str:
    y = BAR + SIZE + number * LINE
    return "".join(span(piece, y) for piece in pieces(line) if piece.text.strip())


def span(piece: Piece, y: int) -> str:
    """A piece at its place. Its length is given, because no font has all these signs at one width."""
    inside = piece.text.strip()
    start = piece.column + len(piece.text) - len(piece.text.lstrip())
    x, length = MARGIN + start * CELL, len(inside) * CELL
    style = f' class="{piece.style}"' if piece.style else ""
    size = f'textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x:.1f}" y="{y}" {size}{style}>{escape(inside)}</text>'


def css(*, is_panel: bool) -> str:
    fonts = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
    shape = [
        f"text {{ font: {SIZE}px {fonts}; white-space: pre }}",
        ".bold { font-weight: 700 }",
        ".strike { text-decoration: line-through }",
    ]
    dark = "\n".join(f"  {rule}" for rule in coloured("dark", is_panel))
    return "\n".join([*shape, *coloured("light", is_panel), f"@media (prefers-color-scheme: dark) {{\n{dark}\n}}"])


def coloured(scheme: str, is_panel: bool) -> list[str]:
    own = dict(_COLOURS[scheme])
    if is_panel:
        own["now"] = _ACTIVE[scheme]
    return [
        f".back {{ fill: {own['back']}; stroke: {own['edge']} }}",
        f".knob {{ fill: {own['edge']} }}",
        f"text {{ fill: {own['text']} }}",
        *(f".{name} {{ fill: {own[name]} }}" for name in ("dim", "good", "now", "bad")),
    ]


def pictures(folder: str) -> Iterator[tuple[str, Callable[[], list[str]], str]]:
    """The name of each picture, what is in it, and its title."""
    yield "show.svg", lambda: shown(folder), "A plan, as punchlist shows it"
    for style in STYLED:
        for collapsed in (False, True):
            name = f"watch-{style}{'-collapsed' if collapsed else ''}.svg"
            words = f"A plan while it is worked on, in the style {style}, {'collapsed' if collapsed else 'expanded'}"
            yield name, lambda style=style, collapsed=collapsed: watched(folder, style, collapsed=collapsed), words  # type: ignore[misc]


def every(folder: str, other: str) -> Iterator[tuple[str, Callable[[], list[str]], str]]:
    yield from pictures(folder)
    yield "grades.svg", lambda: graded(other), "A plan with checks, and the grades of its items"
    yield "panel.svg", lambda: panelled(other, "short"), "The plan above the prompt of Claude Code"
    yield "panel-open.svg", lambda: panelled(other, "long"), "The plan above the prompt of Claude Code, opened"


def main() -> int:
    pyte.graphics.TEXT[2] = "+italics"  # the emulator knows no dim text, and nothing here is in italics
    old = []
    made = tempfile.TemporaryDirectory
    with made(prefix="punchlist-picture-") as folder, made(prefix="punchlist-picture-") as other:
        for arguments, given in STEPS:
            run(folder, arguments, "" if given is None else json.dumps(given))
        for name, make, title in every(folder, other):
            path, picture = HERE / name, drawn(make(), title)
            if not path.exists() or path.read_text(encoding="utf-8") != picture:
                old.append(name)
                if sys.argv[1:] != ["--check"]:
                    path.write_text(picture, encoding="utf-8")
    if sys.argv[1:] == ["--check"] and old:
        print(f"not what the program shows now: {', '.join(old)}; run: python docs/pictures.py", file=sys.stderr)
        return 1
    print(f"drawn: {', '.join(old) or 'nothing has changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""
Draw docs/show.svg: what `punchlist` prints in colour, for light and dark screens.

The plan is made through the command line in a temporary directory, and the picture is read off what the real program
prints, so it shows what a user sees. `python docs/pictures.py` draws it; `--check` only tells whether it is up to date.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

PICTURE = Path(__file__).with_name("show.svg")
COLUMNS = 66
CELL, LINE, SIZE, MARGIN, BAR = 8.4, 21, 14, 20, 34  # in pixels; BAR is the window's upper edge

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

# the numbers of ANSI's "select graphic rendition" that the command line uses, as classes of the picture
STYLES = {"1": "bold", "2": "dim", "9": "strike", "32": "good", "33": "bad", "36": "now"}
_COLOURS = {
    "light": {"back": "#ffffff", "edge": "#d0d7de", "text": "#1f2328", "dim": "#656d76", "good": "#1a7f37",
              "now": "#1b7c83", "bad": "#9a6700"},
    "dark": {"back": "#0d1117", "edge": "#30363d", "text": "#e6edf3", "dim": "#8b949e", "good": "#3fb950",
             "now": "#39c5cf", "bad": "#d29922"},
}  # fmt: skip


class Piece(NamedTuple):
    """A run of characters in one style, and the cell it begins in."""

    text: str
    style: str
    column: int


def printed() -> str:
    """What the program prints for the plan, with its colours."""
    with tempfile.TemporaryDirectory(prefix="punchlist-picture-") as folder:
        for arguments, given in STEPS:
            run(folder, arguments, "" if given is None else json.dumps(given))
        return run(folder, ["show"], "")


def run(folder: str, arguments: list[str], given: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PUNCHLIST_")}
    own |= dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), folder)
    own |= {"COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "TERM": "xterm", "PYTHONUTF8": "1"}
    own.pop("NO_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-m", "punchlist", *arguments],
        input=given, capture_output=True, encoding="utf-8", cwd=folder, env=own,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"punchlist {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout


def pieces(line: str) -> list[Piece]:
    """The pieces of a line with ANSI codes in it."""
    found: list[Piece] = []
    style, column = "", 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            codes = [code for code in part[2:-1].split(";") if code not in ("", "0")]
            style = " ".join(STYLES[code] for code in codes)
        elif part:
            found.append(Piece(part, style, column))
            column += sum(2 if east_asian_width(char) in "WF" else 1 for char in part)
    return found


def drawn(screen: str) -> str:
    """The picture of a screen."""
    lines = ["\x1b[2m$\x1b[0m punchlist", *screen.rstrip("\n").split("\n")]
    width, height = round(2 * MARGIN + COLUMNS * CELL), BAR + MARGIN + len(lines) * LINE
    rows = [row(number, line) for number, line in enumerate(lines)]
    words = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' role="img" aria-labelledby="title words">',
        '<title id="title">A plan, as punchlist shows it</title>',
        f'<desc id="words">{escape(words)}</desc>',
        f"<style>\n{css()}\n</style>",
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


def css() -> str:
    fonts = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
    shape = [
        f"text {{ font: {SIZE}px {fonts}; white-space: pre }}",
        ".bold { font-weight: 700 }",
        ".strike { text-decoration: line-through }",
    ]
    dark = "\n".join(f"  {rule}" for rule in coloured("dark"))
    return "\n".join([*shape, *coloured("light"), f"@media (prefers-color-scheme: dark) {{\n{dark}\n}}"])


def coloured(scheme: str) -> list[str]:
    own = _COLOURS[scheme]
    return [
        f".back {{ fill: {own['back']}; stroke: {own['edge']} }}",
        f".knob {{ fill: {own['edge']} }}",
        f"text {{ fill: {own['text']} }}",
        *(f".{name} {{ fill: {own[name]} }}" for name in ("dim", "good", "now", "bad")),
    ]


def main() -> int:
    picture = drawn(printed())
    if sys.argv[1:] == ["--check"]:
        if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture:
            return 0
        print(f"{PICTURE.name} is not what the program prints now; run: python docs/pictures.py", file=sys.stderr)
        return 1
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"{PICTURE.name}: {len(picture):,} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())

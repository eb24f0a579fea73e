"""What the command line prints, and how it looks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..core._typing import TYPE_CHECKING, Any
from ..core.cells import columns
from ..core.render import ASCII, UNICODE, Glyphs, Line, Span, hanging, painted, plain
from ..core.text import inline, visible
from ..local.screen import is_unicode, wants_color
from ..local.settings import Settings

if TYPE_CHECKING:
    from typing import TextIO

    from .parser import Args

STDOUT = "standard output"
_NARROWEST = 20  # columns of the last cell of a table
_UNCUT = 100_000  # the width of a file or a pipe: nothing is cut there


def show(lines: Iterable[Line]) -> None:
    """Print styled lines. NO_COLOR takes only the colors away; a dumb terminal, a file and a pipe get no styles."""
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    has_color = wants_color(os.environ, is_terminal)
    if has_color or is_terminal:
        _write("".join(painted(line, has_color=has_color) + "\n" for line in lines))
    else:
        _write(plain(lines))


def say(text: str) -> None:
    if not text:
        return
    if not text.endswith("\n"):
        text += "\n"
    _write(text)


def say_json(data: Any) -> None:
    """Print JSON: readable where the screen can show it, else in ASCII."""
    try:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:  # an older version may have kept a value that has no form in JSON
        from ..core.codec import json_form

        data = json_form(data)
        text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
        harmless = text.replace("\n", "").isprintable()
    except UnicodeEncodeError:
        harmless = False
    _write((text if harmless else json.dumps(data, indent=2)) + "\n")


def answer(args: Args, data: Any, *lines: str) -> int:
    """Say how a command went: as JSON if that was asked for, else in words. The exit code of one that went well."""
    if args.json:
        say_json(data)
    else:
        for line in lines:
            say(harmless(line))
    return 0


def table(rows: Iterable[Line]) -> Iterator[Line]:
    """Yield rows in columns that are as wide as they must be; the last one is wrapped below itself."""
    found = list(rows)
    wide = [max(columns(cell.text) for cell in column) for column in list(zip(*found, strict=True))[:-1]]
    indent = sum(wide) + 2 * len(wide)
    for *cells, last in found:
        head = [
            Span(cell.text + " " * (room - columns(cell.text) + 2), cell.style)
            for cell, room in zip(cells, wide, strict=True)
        ]
        yield from hanging(tuple(head), last.text, max(width(), indent + _NARROWEST), last.style)


def agrees(question: str) -> bool:
    """Whether the user agrees. Without a terminal nobody is asked, and that is a yes."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    sys.stderr.write(f"{harmless(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def complain(text: str) -> None:
    sys.stderr.write(f"punchlist: {harmless(text)}\n")


def harmless(text: str) -> str:
    """Return a message as it may be printed: the name of a file in it may hold anything, and acts on no terminal."""
    return "\n".join(map(visible, text.split("\n")))


def short(path: str) -> str:
    """Return a path as people write it, on one line."""
    home = os.path.expanduser("~")
    if path.startswith(home + os.sep):
        path = "~" + path[len(home) :]
    return inline(path)


def _write(text: str) -> None:
    with _naming_stdout():
        sys.stdout.write(text)


def flush() -> None:
    """Write what is still to be written."""
    with _naming_stdout():
        sys.stdout.flush()


def is_read() -> bool:
    """Return whether standard output has still a reader: a pipe that nobody reads says so before it is written to."""
    import select

    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(sys.stdout.fileno(), select.POLLERR | select.POLLHUP)
    return not poll.poll(0)


@contextmanager
def _naming_stdout() -> Iterator[None]:
    """Have an error of standard output say so: it names no file, like some errors of files."""
    try:
        yield
    except OSError as error:
        error.filename = STDOUT
        raise


def leave() -> None:
    """Write no more: nobody reads it, or there is no room for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def width() -> int:
    """The screen's width; without end for a file or a pipe."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    if not sys.stdout.isatty():
        return _UNCUT
    return _columns_of(sys.stdout)


def error_width() -> int:
    """The width of the screen that standard error is."""
    return _columns_of(sys.stderr)


def _columns_of(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


def has_unicode(settings: Settings | None = None) -> bool:
    return (settings is None or settings.unicode) and is_unicode(os.environ, sys.stdout.encoding)


def glyphs(settings: Settings | None = None) -> Glyphs:
    if has_unicode(settings):
        return UNICODE
    return ASCII


def prepare() -> None:
    """Let a character that the screen cannot show be spelled out, and one that cannot be read be passed over."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we were started
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")

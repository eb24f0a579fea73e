"""Files: read, write, edit, glob, grep."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...core.errors import Refused
from ...core.text import counted
from ..context import Context
from . import COUNT, FLAG, TEXT, WORDS, Answer, Tool, bounded, form
from .paths import is_inside, locate, shown, write
from .process import run

_LINES = 2000  # of a file at once
_WIDE = 2000  # characters of a line
_BIG = 20_000_000  # bytes of a file that is read or changed
_FOUND = 200  # paths
_SKIPPED = {".git", "node_modules", "__pycache__", ".venv"}


def tools() -> list[Tool]:
    return [*_looking(), *_changing()]


def _looking() -> list[Tool]:
    """Those that change nothing, and run together."""
    about = (
        (
            "read",
            "Read a text file; `from` and `lines` choose a part of it. Lines come with their numbers.",
            form({"path": WORDS}, **{"from": COUNT, "lines": COUNT}),
            _read,
        ),
        (
            "glob",
            "Find files by a pattern such as `**/*.py`, from the working directory or from `path`.",
            form({"pattern": WORDS}, path=WORDS),
            _glob,
        ),
        (
            "grep",
            "Find the lines that a regular expression matches, in a file or below a directory; `files` is a pattern "
            "for their names, such as `*.py`.",
            form({"pattern": WORDS}, path=WORDS, files=WORDS),
            _grep,
        ),
    )
    return [Tool(*one, read_only=True, concurrency_safe=True) for one in about]


def _changing() -> list[Tool]:
    path: dict[str, Any] = {"path": WORDS}
    replacing = "Replace `old` by `new` in a file. `old` must be there exactly once, unless `all` is true."
    writing = "Write a file, in place of what it held. To change a part of a file, use edit."
    return [
        Tool("write", writing, form({**path, "text": TEXT}), _write, writes="path"),
        Tool("edit", replacing, form({**path, "old": WORDS, "new": TEXT}, all=FLAG), _edit, writes="path"),
    ]


def _read(context: Context, args: Mapping[str, Any]) -> Answer:
    path = locate(context, args["path"])
    lines = _text(path, args["path"]).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    start = args.get("from", 1)
    part = lines[start - 1 : start - 1 + min(args.get("lines", _LINES), _LINES)]
    if not part:
        return Answer(f"{shown(context, path)} has {counted(len(lines), 'line')}.", start > 1)
    text = "\n".join(f"{number}\t{line[:_WIDE]}" for number, line in enumerate(part, start))
    rest = len(lines) - (start - 1 + len(part))
    return Answer(bounded(text, context.bounds.output) + (f"\n({counted(rest, 'more line')})" if rest else ""))


def _write(context: Context, args: Mapping[str, Any]) -> Answer:
    path = locate(context, args["path"], to_write=True)
    if os.path.isdir(path):
        raise Refused(f"{shown(context, path)} is a directory.")
    known = os.path.exists(path)
    write(context, path, args["text"])
    return Answer(f"{'wrote' if known else 'made'} {shown(context, path)} ({counted(len(args['text']), 'character')})")


def _edit(context: Context, args: Mapping[str, Any]) -> Answer:
    path = locate(context, args["path"], to_write=True)
    text = _text(path, args["path"])
    old, new = args["old"], args["new"]
    found = text.count(old)
    if not found:
        raise Refused(f"old is not in {shown(context, path)}; read the file and send the text as it stands there.")
    if found > 1 and not args.get("all"):
        where = ", ".join(map(str, _line_numbers(text, old)))
        raise Refused(
            f"old is in {shown(context, path)} {found} times, at lines {where}; send more of it, or all: true."
        )
    write(context, path, text.replace(old, new))
    return Answer(f"changed {shown(context, path)} at line {text[: text.index(old)].count(chr(10)) + 1}")


def _glob(context: Context, args: Mapping[str, Any]) -> Answer:
    folder = locate(context, args.get("path", "."))
    pattern = args["pattern"]
    if os.path.isabs(pattern) or ".." in pattern.split("/") or "\0" in pattern:
        raise Refused("pattern must stay below the working directory; name another directory as path.")
    found: list[str] = []
    for name in dict.fromkeys(_expand(folder, pattern.split("/"), context)):
        context.stop.check()
        path = os.path.join(folder, name)
        if not _SKIPPED & set(name.split(os.sep)) and os.path.isfile(path):
            if is_inside(os.path.realpath(path), folder):
                found.append(shown(context, path))
            if len(found) > _FOUND:
                break
    if len(found) > _FOUND:
        more = [f"(and more; only the first {_FOUND} are shown)"]
    else:
        more = []
    return Answer("\n".join([*sorted(found[:_FOUND]), *more]) or "no file matches.")


def _expand(folder: str, parts: list[str], context: Context) -> Iterator[str]:
    """The paths that a pattern names. Unlike that of `glob`, our ** follows no links, which may lead in a circle."""
    if "**" not in parts:
        yield from glob.iglob("/".join(parts), root_dir=folder)
        return
    before = parts[: parts.index("**")]
    after = parts[len(before) + 1 :] or ["*"]
    begins: Iterable[str] = [""]
    if before:
        begins = glob.iglob("/".join(before), root_dir=folder)
    for begin in begins:
        for here, folders, _ in os.walk(os.path.join(folder, begin)):
            context.stop.check()
            folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
            for name in _expand(here, after, context):
                yield os.path.relpath(os.path.join(here, name), folder)


def _grep(context: Context, args: Mapping[str, Any]) -> Answer:
    """The search runs as a process of its own: a regular expression can take for ever, a process can be ended."""
    path = locate(context, args.get("path", "."))
    asked = {"pattern": args["pattern"], "path": path, "files": args.get("files", "*"), "folder": context.folder}
    ran = run(
        [sys.executable, "-P", "-m", "punchlist.agent.tools.search"],  # -P: nothing of the project is imported
        folder=context.folder,
        stop=context.stop,
        seconds=context.bounds.seconds,
        most=context.bounds.output,
        given=json.dumps(asked).encode(),
    )
    if ran.stopped:
        context.stop.check()
    if ran.late:
        return Answer("the search took too long; use a simpler pattern or fewer files.", True)
    return Answer(ran.output.rstrip("\n") or "no line matches.", ran.code != 0)


def _text(path: str, name: str) -> str:
    if os.path.isdir(path):
        raise Refused(f"{name!r} is a directory; glob lists its files.")
    try:
        if os.path.getsize(path) > _BIG or not os.path.isfile(path):
            raise Refused(f"{name!r} is too big, or no file; use the shell for it.")
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Refused(f"{name!r}: {error.strerror}.") from None
    if b"\0" in data[:8192]:
        raise Refused(f"{name!r} is not text: {counted(len(data), 'byte')}.")
    return data.decode("utf-8", "surrogateescape")


def _line_numbers(text: str, part: str) -> list[int]:
    numbers: list[int] = []
    at = text.find(part)
    while at >= 0 and len(numbers) < 10:
        numbers.append(text[:at].count("\n") + 1)
        at = text.find(part, at + len(part))
    return numbers

"""`punchlist slash`: what a user types behind a slash command at the prompt of an agent, as the command that it means.

The text is one argument, and is never read by a shell. What is not the name of a command is data: it becomes words or
texts behind a `--`, so that none of it can be an option.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from ..core._typing import NamedTuple
from ..core.model import ACTIVE
from ..core.text import counted, cut, inline, suggest
from . import output
from .desk import open_desk
from .parser import Args, Misuse
from .run_command import run_command

TODO = "todo"  # what the slash command is called, unless an agent has that name for something else
_IDS = (
    "start",
    "done",
    "reopen",
    "unblock",
    "rm",
    "verify",
    "show",
    "approve",
)  # behind them: ids, ranges, or a part of a text
_WHY = ("drop", "block", "waive")
_ON_ITEM = ("note", "rename", "check")
_TEXT = ("pause", "title")
_ALONE = ("undo", "redo", "resume", "stop", "off", "on", "log")
COMMANDS = ("add", *_IDS, *_WHY, *_ON_ITEM, *_TEXT, *_ALONE, "help")
_ID = re.compile(r"[A-Za-z]?\d[\d.,-]*")


class _Row(NamedTuple):
    """A line of the help: commands that take the same."""

    verbs: tuple[str, ...]
    takes: str
    text: str


_HELP = (
    _Row(("show",), "[ID]", "print the plan, or all that is known of an item"),
    _Row(("add",), "TEXT", "add an item; several, each in quotes"),
    _Row(("start",), "ID", "start an item: 2, or a part of its text"),
    _Row(("done",), "[ID...]", "complete items: 2, 1-3; alone, the active one"),
    _Row(("drop", "block"), "ID WHY", "give an item up, or mark it as blocked"),
    _Row(("reopen", "unblock"), "ID...", "open items again, or unblock them"),
    _Row(("rm",), "ID...", "remove items"),
    _Row(("note", "rename"), "ID TEXT", "add a note to an item, or change its text"),
    _Row(("undo", "redo"), "", "undo a change, whoever made it, or redo it"),
    _Row(("verify",), "[ID...]", "run the checks of completed items"),
    _Row(("check",), "ID [COMMAND]", "show the check of an item, or set it"),
    _Row(("approve",), "ID", "let the check that an agent set be run"),
    _Row(("waive",), "ID WHY", "say that an item needs no check"),
    _Row(("pause",), "WHY", "pause the agent"),
    _Row(("resume", "stop"), "", "end a pause; no more nudges in this session"),
    _Row(("off", "on"), "", "say nothing to the agent; speak again"),
    _Row(("title",), "TEXT", "name the plan"),
    _Row(("log",), "", "list the changes of the plan"),
)


def slash(args: Args) -> int:
    """Do what was typed behind a slash command."""
    name = args.called or TODO
    verb, words = _read(" ".join(args.words), name)
    if verb == "help":
        return _show_help(args, name)
    arguments = _arguments(verb, words, name)
    if verb == "done" and not words:
        arguments = ["--", *_active_item(args)]
    which = [f"--{key}={getattr(args, key)}" for key in ("store", "plan", "session", "agent") if getattr(args, key)]
    if verb == "approve":
        verb, arguments = "check", ["--approve", *arguments]
    return run_command([verb, *which, *["--json"] * args.json, *arguments])


def _active_item(args: Args) -> list[str]:
    """The item that is meant if none is named: the active one, if only one is."""
    with open_desk(args) as desk:
        active = [item.id for item in desk.load().items if item.status == ACTIVE]
    if len(active) == 1:
        return active
    return []


def _show_help(args: Args, name: str) -> int:
    """Print what can be typed; as JSON, a line for each command, as a list of completions has it."""
    if args.json:
        output.say_json({verb: f"{row.takes}  {row.text}".strip() for row in _HELP for verb in row.verbs})
    else:
        output.say("\n".join(_help_lines(name)))
    return 0


def _help_lines(name: str) -> Iterator[str]:
    usages = [f"/{name} {', '.join(row.verbs)} {row.takes}".strip() for row in _HELP]
    wide = max(map(len, usages))
    yield f"/{name}".ljust(wide) + "  open or close the list, or open the menu"
    for usage, row in zip(usages, _HELP, strict=True):
        yield f"{usage.ljust(wide)}  {row.text}"


def _read(text: str, name: str) -> tuple[str, str]:
    """The command, and the rest of the line. Raises Misuse."""
    verb, words = [*text.strip().split(None, 1), "", ""][:2]
    if not verb:
        return "show", ""
    if verb not in COMMANDS:
        shown = repr(cut(inline(verb), 40))
        raise Misuse(f"/{name} has no {shown}; {suggest(verb, COMMANDS, f'see /{name} help')}")
    return verb, words


def _arguments(verb: str, text: str, name: str) -> list[str]:
    """What the command gets. Raises Misuse."""
    words = text.split()
    if verb in _ALONE:
        if words:
            raise Misuse(f"/{name} {verb} takes nothing, but there is {counted(len(words), 'word')} behind it")
        return []
    if verb in _WHY:
        return _with_reason(verb, words, name)
    if verb == "add":
        return ["--", *_texts(text)]
    if verb in _TEXT:
        return ["--", *_texts(text)[:1]]
    if verb in _ON_ITEM:
        id, rest = [*text.split(None, 1), "", ""][:2]
        return ["--", *filter(None, [id, *_texts(rest)[:1]])]
    return ["--", *_items(text)]


def _with_reason(verb: str, words: Sequence[str], name: str) -> list[str]:
    """Ids, and why. The first word is an item in any case; what follows is, as long as it looks like an id."""
    count = next((place for place, word in enumerate(words) if place and not _ID.fullmatch(word)), len(words))
    why = _texts(" ".join(words[count:]))
    if not words or not why:
        raise Misuse(f"/{name} {verb} needs an item and a reason: /{name} {verb} 2 WHY")
    given = [f"--why={why[0]}"]
    if " " in why[0]:  # a text with a space is never taken for an option
        given = ["--why", why[0]]
    return [*given, "--", *words[:count]]


def _texts(text: str) -> list[str]:
    """A text; several, if each of them is in quotes."""
    text = text.strip()
    if text[:1] in ('"', "'"):
        try:
            parts = shlex.split(text)
        except ValueError:  # one quote too many is a part of the text
            parts = []
        if parts and _is_quoted_throughout(text):
            return parts
    if text:
        return [text]
    return []


def _is_quoted_throughout(text: str) -> bool:
    return re.fullmatch(r"""(?:"[^"]*"|'[^']*')(?:\s+(?:"[^"]*"|'[^']*'))*""", text) is not None


def _items(text: str) -> list[str]:
    """Ids and ranges; anything else is one part of an item's text."""
    words = text.split()
    if all(_ID.fullmatch(word) for word in words):
        return words
    return _texts(text)

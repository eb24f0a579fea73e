"""`punchlist slash`: what a user types behind `/todo` at the prompt of an agent, as the command that it means.

The text is one argument, and is never read by a shell. What is not the name of a command is data: it becomes words or
texts behind a `--`, so that none of it can be an option.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ..core.text import counted, cut, inline, suggest
from . import output
from .parser import Args, Misuse
from .run_command import run_command

_IDS = ("start", "done", "reopen", "unblock", "rm", "verify", "show")  # behind them: ids, ranges, or a part of a text
_WHY = ("drop", "block", "waive")  # behind them: ids, and the reason
_ON_ITEM = ("note", "rename")  # behind them: an id, and a text
_TEXT = ("pause", "title")  # behind them: a text
_ALONE = ("undo", "redo", "resume", "stop", "off", "on", "log")
_COMMANDS = ("add", *_IDS, *_WHY, *_ON_ITEM, *_TEXT, *_ALONE, "help")
_ID = re.compile(r"[A-Za-z]?\d[\d.,-]*")
HELP = """\
/todo                     open or close the list above the prompt
/todo show [ID]           print the plan, or one item with all that is known of it
/todo add TEXT            add an item; several, each in quotes
/todo start, done ID...   start or complete items: 2, 1-3, or a part of a text
/todo drop, block ID WHY  give an item up, or mark it as blocked
/todo reopen, unblock, rm ID...
/todo note, rename ID TEXT
/todo undo, redo          go back a step of the plan, whoever made it
/todo verify [ID...]      run the checks of completed items
/todo waive ID WHY        say that an item needs no check
/todo pause WHY, resume   pause the agent; stop: no more nudges; off, on
/todo title TEXT, log     name the plan; list its changes"""


def slash(args: Args) -> int:
    """Do what was typed behind a slash command."""
    verb, words = _read(" ".join(args.words))
    if verb == "help":
        output.say(HELP)
        return 0
    named = [f"--{name}={getattr(args, name)}" for name in ("store", "plan", "session", "agent") if getattr(args, name)]
    return run_command([verb, *named, *["--json"] * args.json, *_arguments(verb, words)])


def _read(text: str) -> tuple[str, str]:
    """The command, and the rest of the line. Raises Misuse."""
    verb, words = [*text.strip().split(None, 1), "", ""][:2]
    if not verb:
        return "show", ""
    if verb not in _COMMANDS:
        shown = repr(cut(inline(verb), 40))
        raise Misuse(f"/todo has no {shown}; {suggest(verb, _COMMANDS, 'see /todo help')}")
    return verb, words


def _arguments(verb: str, text: str) -> list[str]:
    """What the command gets. Raises Misuse."""
    words = text.split()
    if verb in _ALONE:
        if words:
            raise Misuse(f"/todo {verb} takes nothing, but there is {counted(len(words), 'word')} behind it")
        return []
    if verb in _WHY:
        return _with_reason(verb, words)
    if verb == "add":
        return ["--", *_texts(text)]
    if verb in _TEXT:
        return ["--", *_texts(text)[:1]]
    if verb in _ON_ITEM:
        id, rest = [*text.split(None, 1), "", ""][:2]
        return ["--", *filter(None, [id, *_texts(rest)[:1]])]
    return ["--", *_items(text)]


def _with_reason(verb: str, words: Sequence[str]) -> list[str]:
    """Ids, and why. The first word is an item in any case; what follows is, as long as it looks like an id."""
    count = next((place for place, word in enumerate(words) if place and not _ID.fullmatch(word)), len(words))
    why = _texts(" ".join(words[count:]))
    if not words or not why:
        raise Misuse(f"/todo {verb} needs an item and a reason: /todo {verb} 2 WHY")
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

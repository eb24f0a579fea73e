"""`punchlist line`: the plan in one line, and in an agent's status line, behind the one that was there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import monotonic
from zlib import crc32

from ..core import render
from ..core._typing import Any, NamedTuple
from ..core.errors import PunchlistError
from ..core.model import Plan
from ..desk import Desk
from ..desk.activity import session_desk
from ..desk.grade_labels import count_verified
from ..desk.holding import is_off
from ..desk.session_state import load_state
from ..desk.visible import visible
from ..local.files import read_file, write_file
from ..local.settings import state_folder
from . import output, panel_mark, terminal_plan
from .desk import is_named, open_desk
from .parser import Args

_PATIENCE = 10.0  # seconds for the other status line
_BEAT = 0.02  # seconds between looks at whether it has ended
_PART = 3  # of the time for a look at the files: agents ask for this line every second
_LONGEST = 60  # columns of a line
_BETWEEN = " | "
_OFF = "punchlist off"
_KEPT = "status-lines.json"  # in the state folder: what other status lines printed last, by session
_MOST_SESSIONS, _MOST_TEXT, _MOST_BYTES = 20, 2000, 1_000_000


class Shown(NamedTuple):
    """What there is to say of a plan."""

    plan: Plan
    line: str  # all in one
    more: list[str]  # what is next, and what was done last, as far as the settings ask for it
    is_off: bool
    verified: int | None  # how many items are; None if there was no time to look at the files


def line(args: Args) -> int:
    """Print the plan in one line."""
    if args.host:
        return _join(args)
    plan, text, _, _, verified = _read(args)
    data = {"line": text, "completed": plan.progress.completed, "total": plan.progress.total, "verified": verified}
    if args.tmux:
        text = text.replace("#", "##")
    if args.zsh:
        text = text.replace("%", "%%")
    return output.answer(args, data, text)


def _read(args: Args) -> Shown:
    with open_desk(args, find=_shown_plan) as desk:
        plan = visible(desk, desk.plan)
        if plan.items and not is_named(args):
            whose = terminal_plan.whose(desk, plan.id)
        else:
            whose = ""
        worker = session_desk(desk, plan)
        verified = count_verified(desk, plan, desk.settings.look_ms / 1000 / _PART)
        off, is_nudged = is_off(worker), not plan.items or not load_state(worker).stopped
    behind = f" ({whose})" if whose else ""
    width = min(output.width(), _LONGEST)
    glyphs = output.glyphs(desk.settings)
    text = render.line(plan, glyphs, max(width - len(behind), 20), verified=verified or 0, off=off, nudges=is_nudged)
    more = [render.next_line(plan, glyphs, width), render.last_line(plan, glyphs, width)]
    return Shown(plan, text + behind, [*filter(None, more[: desk.settings.status_lines - 1])], off, verified)


def _shown_plan(desk: Desk) -> str:
    """Return the plan that this terminal was last shown, while it is live."""
    if terminal_plan.is_live(desk):
        return terminal_plan.recall(desk).plan
    return ""


def _join(args: Args) -> int:
    """Print the other status line, and ours behind it. Whatever is wrong with ours, theirs is printed."""

    given = sys.stdin.buffer.read() if sys.stdin is not None else b""
    theirs = ""
    if args.after and args.on_change:
        theirs = _run_on_change(args.after, given)
    elif args.after:
        theirs = _run(args.after, given)
    ours: list[str] = []
    try:
        session = os.environ.get("PUNCHLIST_SESSION") or _session(given)
        if session and not panel_mark.is_held(session):
            args.session = session
            args.plan = os.environ.get("PUNCHLIST_PLAN", "")
            ours = _in_agent(_read(args))
    except PunchlistError:
        pass
    output.say("\n".join([_joined(theirs.rstrip("\r\n"), ours[0] if ours else ""), *ours[1:]]))
    return 0


def _in_agent(shown: Shown) -> list[str]:
    """What an agent's status line says. Where the user has turned us off the plan may be out of date, and is not
    shown."""
    if not shown.is_off:
        return [shown.line, *shown.more]
    if shown.plan.open_items:
        return [_OFF]
    return []


def _joined(theirs: str, ours: str) -> str:
    if not theirs or not ours:
        return theirs or ours
    if "\x1b" in theirs:
        theirs += "\x1b[0m"
    return theirs + _BETWEEN + ours


def _session(given: bytes) -> str:
    """The session that the agent says its status line is for."""
    session = _parse(given).get("session_id")
    if isinstance(session, str):
        return session
    return ""


def _parse(given: bytes) -> dict[str, Any]:
    """What the agent says; nothing, if that makes no sense."""
    try:
        said = json.loads(given)
    except (ValueError, RecursionError):
        return {}
    if isinstance(said, dict):
        return said
    return {}


def _run_on_change(command: str, given: bytes) -> str:
    """What another status line prints, or has printed when the conversation was as it is now. A timer runs ours every
    few seconds so that it shows edits; theirs has not asked for that."""
    session, mark = _session(given), _mark(command, given)
    path = os.path.join(state_folder(os.environ), _KEPT)
    try:
        kept = _parse(read_file(path, _MOST_BYTES))
    except OSError:  # nothing was kept yet
        kept = {}
    then = kept.pop(session, None)
    if isinstance(then, list) and then[:1] == [mark] and isinstance(then[-1], str):
        return then[-1]
    said = _run(command, given)
    newest = [*kept.items(), (session, [mark, said])][-_MOST_SESSIONS:]
    if len(said) > _MOST_TEXT:
        return said
    try:
        write_file(path, json.dumps(dict(newest)).encode())
    except OSError:  # then theirs is run again
        pass
    return said


def _mark(command: str, given: bytes) -> str:
    """What tells one state of a conversation from another. How long the session has lasted does not count; its log has
    what the agent does not say, such as a command that the user ran."""
    said = _parse(given)
    if isinstance(said.get("cost"), dict):
        said["cost"].pop("total_duration_ms", None)
    try:
        size = os.stat(str(said.get("transcript_path"))).st_size
    except (OSError, ValueError):
        size = 0
    return f"{crc32(repr((command, said, size)).encode('utf-8', 'replace')):08x}"


def _run(command: str, given: bytes) -> str:
    """What another status line prints. Its markup is its own: it was on the screen before us."""
    try:
        with subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                return _output_of(process, given).decode("utf-8", "replace")
            finally:
                process.kill()
    except OSError:
        return ""


def _output_of(process: subprocess.Popen[bytes], given: bytes) -> bytes:
    """What a command has printed by its end. What it left in the background may keep the pipe open: nobody waits for
    that. A command that does not end in time has said nothing."""
    end, rest = monotonic() + _PATIENCE, given or None
    while monotonic() < end:
        has_ended = process.poll() is not None  # asked before its output is read, so that all of it is there
        try:
            return process.communicate(rest, timeout=_BEAT)[0]
        except subprocess.TimeoutExpired as error:
            if has_ended:
                return error.output or b""
        rest = None
    return b""

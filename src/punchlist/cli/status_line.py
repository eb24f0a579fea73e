"""The plan in an agent's status line, behind the one that was there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from time import monotonic

from ..core.errors import PunchlistError
from . import output

_PATIENCE = 10.0  # seconds for the other status line
_BEAT = 0.02  # seconds between looks at whether it has ended
_BETWEEN = " | "


def join(args: Namespace, line: Callable[[], str]) -> int:
    """Print the other status line, and ours behind it. Whatever is wrong with ours, theirs is printed."""
    given = sys.stdin.buffer.read() if sys.stdin is not None else b""
    theirs = _run(args.after, given) if args.after else ""
    ours = ""
    try:
        if session := os.environ.get("PUNCHLIST_SESSION") or _session(given):
            args.session = session
            args.plan = os.environ.get("PUNCHLIST_PLAN", "")
            ours = line()
    except PunchlistError:
        pass
    output.say(_joined(theirs.rstrip("\r\n"), ours))
    return 0


def _joined(theirs: str, ours: str) -> str:
    if not theirs or not ours:
        return theirs or ours
    return theirs + ("\x1b[0m" if "\x1b" in theirs else "") + _BETWEEN + ours


def _session(given: bytes) -> str:
    """The session that the agent says its status line is for."""
    try:
        said = json.loads(given)
    except (ValueError, RecursionError):
        return ""
    session = said.get("session_id") if isinstance(said, dict) else ""
    return session if isinstance(session, str) else ""


def _run(command: str, given: bytes) -> str:
    """What another status line prints. Its markup is its own: it was on the screen before us."""
    try:
        with subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                return _heard(process, given).decode("utf-8", "replace")
            finally:
                process.kill()
    except OSError:
        return ""


def _heard(process: subprocess.Popen[bytes], given: bytes) -> bytes:
    """What a command has printed by its end. What it left in the background may keep the pipe open: nobody waits for
    that. A command that does not end in time has said nothing."""
    end, rest = monotonic() + _PATIENCE, given or None
    while monotonic() < end:
        has_ended = process.poll() is not None  # seen before it is heard, so that all it said is there to be heard
        try:
            return process.communicate(rest, timeout=_BEAT)[0]
        except subprocess.TimeoutExpired as error:
            if has_ended:
                return error.output or b""
        rest = None
    return b""

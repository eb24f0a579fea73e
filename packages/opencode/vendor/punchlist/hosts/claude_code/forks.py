"""Which session another one was forked from. No event says so; but it says how long ago the last answer was, and the
logs of an agent's sessions are side by side, each with the times of its answers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime

from ...core.json_text import loads
from ..log_file import tail

_LOGS = 50  # the newest that are looked at
_END = 262_144  # bytes of each, at its end
_LINES = 20  # of each that may be an answer
_NEAR = 2.0  # seconds that two times of the same answer may differ: the event has whole ones


def forked_from(log: str, idle: float) -> str:
    """The session whose last answer was this many seconds ago; nothing, if that cannot be told."""
    folder, name = os.path.split(os.path.expanduser(log))
    if not folder or idle < 0:
        return ""
    then = time.time() - idle
    near = [(abs(then - at), session) for session, at in _answered(folder, name) if abs(then - at) <= _NEAR]
    if near:
        return min(near)[1]
    return ""


def _answered(folder: str, but: str) -> Iterator[tuple[str, float]]:
    """The sessions that have logs in a folder, and when each had its last answer."""
    try:
        paths = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".jsonl") and entry.name != but]
    except OSError:
        return
    for path in sorted(paths, key=_touched, reverse=True)[:_LOGS]:
        if at := _last_answer(path):
            yield os.path.basename(path).removesuffix(".jsonl"), at


def _touched(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _last_answer(path: str) -> float:
    """When a log had its last answer; 0, if there is none near its end."""
    try:
        lines = [line for line in tail(path, _END)[0].split(b"\n") if b'"assistant"' in line]
    except OSError:
        return 0.0
    return next(filter(None, map(_time, lines[: -_LINES - 1 : -1])), 0.0)


def _time(line: bytes) -> float:
    """When an answer was given; 0, if the line is none."""
    try:
        entry = loads(line)
        if entry["type"] == "assistant":
            return datetime.fromisoformat(entry["timestamp"]).timestamp()
        return 0.0
    except (ValueError, TypeError, LookupError, RecursionError):
        return 0.0

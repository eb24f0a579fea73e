"""The end of an agent's own log: what was said last, where an event does not tell."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..core._typing import Any, NamedTuple
from ..policy.continuation import TurnEnd
from ..policy.conversation import Tally, read, tally
from ..policy.stop_words import says_wait
from .log_file import entries

_PATIENCE = 0.6  # seconds to wait for an agent's last words in its log
_PAUSE = 0.02
_NOT_TYPED = (
    "<",
    "Stop hook feedback:",
    "Stop hook additional context:",
)  # how what a program says in the user's name begins
_MARKS = ("isMeta", "isSidechain")  # of what is not the user's word


class Log(NamedTuple):
    """How the log of an agent is read: a line of JSON for each entry."""

    message: Callable[[dict[str, Any]], dict[str, Any]]  # an entry as a message
    cut: str  # how what is in the user's name begins, where the user has interrupted it
    asking: tuple[str, ...] = ()  # the tools with which it puts a question to the user
    refusals: tuple[str, ...] = ()  # words in the result of a call that the user has not permitted
    command: str = ""  # how a command begins that the user typed at its prompt, and that it answers


def read_turn_end(path: str, log: Log, stop: TurnEnd, sleep: Callable[[float], object] = time.sleep) -> TurnEnd:
    """What is known of an agent that stops, with what the end of its log says. An agent may write its log a moment
    after it calls its hook: then we wait a little for its last words."""
    try:
        messages, heard = _heard(path, log)
        patience = _PATIENCE
        while stop.said and heard.said.strip() != stop.said.strip() and patience > 0:
            sleep(_PAUSE)
            patience -= _PAUSE
            messages, heard = _heard(path, log)
    except (OSError, ValueError):  # it is not there, or nobody may read it
        return stop
    return stop._replace(
        said=stop.said or heard.said,
        refused=heard.refused,
        interrupted=stop.interrupted or heard.asked.startswith(log.cut),
        awaiting=stop.awaiting or heard.question,
        waits=says_wait(heard.asked),
        unasked=bool(log.command) and _is_after_command(messages, log.command),
    )


def _heard(path: str, log: Log) -> tuple[list[dict[str, Any]], Tally]:
    messages = [log.message(entry) for entry in entries(path)]
    return messages, tally(read(map(_typed, messages), refusals=log.refusals), ("plan",), log.asking)


def _is_after_command(messages: list[dict[str, Any]], command: str) -> bool:
    """Whether the last thing that the user typed is a command, and not a message."""
    for message in reversed(messages):
        if any(message.get(mark) for mark in _MARKS):
            continue
        for part in reversed(_parts(message) or ()):
            words = part
            if isinstance(part, dict):
                words = part.get("text")
            if isinstance(words, str) and words.lstrip().startswith(command):
                return True
            if isinstance(words, str) and _is_typed(words):
                return False
    return False


def _parts(entry: dict[str, Any]) -> list[Any] | None:
    """What is in a message of the user; None for one of somebody else."""
    message = entry.get("message")
    inner: dict[str, Any] = message if isinstance(message, dict) else entry
    if "user" not in (entry.get("type"), inner.get("role")):
        return None
    content = inner.get("content")
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}]


def _typed(entry: dict[str, Any]) -> dict[str, Any]:
    """A message, without what a program says in the user's name."""
    parts = _parts(entry)
    if parts is None:
        return entry
    kept = [part for part in parts if _is_typed(part)]
    return {**{name: entry.get(name) for name in _MARKS}, "type": "user", "content": kept}


def _is_typed(part: object) -> bool:
    words = part
    if isinstance(part, dict):
        words = part.get("text")
    return not isinstance(words, str) or not words.lstrip().startswith(_NOT_TYPED)

"""A model that plays a script: for tests, for the demo, and to try the agent without a key.

What is asked of it is decided by the conversation alone: the turn it plays is the number of its answers so far, so a
session that was cut off goes on where it stopped. docs/scripted-model.md describes the file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.errors import BadShape, Refused
from ..core.model import NOTHING
from ..core.schema import Schema, check, listed
from ..core.text import cut, inline
from .messages import Assistant, Call, Message, Summary, Usage, size, turns
from .models import ModelAnswer, ModelError, Offer, ignore

_BEAT = 0.02  # seconds between looks at whether the user wants to stop
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_TURN: Schema = {
    "type": "object",
    "properties": {
        "text": _TEXT,
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": _TEXT, "args": {}, "id": _TEXT},
                "required": ["tool"],
                "additionalProperties": False,
            },
        },
        "expect": _TEXTS,
        "absent": _TEXTS,
        "errors": _TEXTS,
        "wait": {"type": "number"},
        "usage": {"type": "object", "properties": {"input": _COUNT, "output": _COUNT}, "additionalProperties": False},
    },
    "additionalProperties": False,
}
_SCRIPT: Schema = {
    "type": "object",
    "properties": {
        "turns": {"type": "array", "items": _TURN},
        "summary": _TEXT,
        "again": {"type": "boolean"},
        "pace": {"type": "number"},
        "workers": {"type": "object"},
    },
    "required": ["turns"],
    "additionalProperties": False,
}


class Script(NamedTuple):
    """The turns of a model, and of its sub-agents."""

    turns: tuple[Mapping[str, Any], ...]
    summary: str = ""  # what it answers when asked to compact
    again: bool = False  # after the last turn comes the first
    pace: float = 0.0  # seconds between two words
    workers: Mapping[str, Any] = NOTHING


def read_script(path: str) -> ScriptPlayer:
    """The model of a script in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    except ValueError as error:
        raise Refused(f"{path}: not valid JSON: {error}.") from None
    except RecursionError:
        raise Refused(f"{path}: not valid JSON: nested too deeply.") from None
    return ScriptPlayer(data, path)


class ScriptPlayer:
    """Plays a script: the parsed JSON of its file."""

    def __init__(self, data: object, name: str = "the script") -> None:
        self._name = name
        self._script = _script(data, name)
        self._failed: dict[int, int] = {}  # turn: how many of its errors have happened

    def worker(self, agent: str) -> ScriptPlayer:
        """The model of a sub-agent: the script under its name, or under `*`."""
        found = self._script.workers.get(agent, self._script.workers.get("*"))
        if found is None:
            raise ModelError(f"{self._name} has no script for the sub-agent {cut(inline(agent), 40)!r}.")
        return ScriptPlayer(found, f"{self._name}, {agent}")

    def close(self) -> None:
        """There is nothing to release."""

    def request(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Offer],
        on_text: Callable[[str], None],
        on_wait: Callable[[str], None] = ignore,
    ) -> ModelAnswer:
        if not tools:
            return ModelAnswer(self._script.summary, usage=Usage(size(list(messages)), len(self._script.summary) // 4))
        number = turns(list(messages))
        turn = self._turn(number)
        self._wait(float(turn.get("wait", 0)), on_text)
        self._fail(number, turn.get("errors", ()))
        self._compare(number, turn, messages)
        return self._play(number, turn, messages, on_text)

    def _turn(self, number: int) -> Mapping[str, Any]:
        script = self._script.turns
        if script and self._script.again:
            return script[number % len(script)]
        if number >= len(script):
            raise ModelError(f"{self._name} is at its end: it has {len(script)} turns, and another was asked for.")
        return script[number]

    def _play(
        self, number: int, turn: Mapping[str, Any], messages: Sequence[Message], on_text: Callable[[str], None]
    ) -> ModelAnswer:
        text = turn.get("text", "")
        for word in _words(text):
            on_text(word)
            self._wait(self._script.pace, on_text)
        made = tuple(
            Call(call.get("id") or f"call-{number}-{index}", call["tool"], call.get("args", {}))
            for index, call in enumerate(turn.get("calls", ()))
        )
        said = turn.get("usage", {})
        counted = Usage(size(list(messages)), (len(text) + len(str(made))) // 4)
        return ModelAnswer(text, made, Usage(said.get("input", counted.input), said.get("output", counted.output)))

    def _fail(self, number: int, errors: Sequence[str]) -> None:
        """Each error of a turn happens once; then the turn is played."""
        happened = self._failed.get(number, 0)
        if happened < len(errors):
            self._failed[number] = happened + 1
            raise ModelError(errors[happened])

    def _compare(self, number: int, turn: Mapping[str, Any], messages: Sequence[Message]) -> None:
        seen = _last_seen(messages)
        for words in turn.get("expect", ()):
            if words not in seen:
                raise ModelError(f"{self._name}, turn {number}: expected {words!r}, and saw {cut(seen, 2000)!r}.")
        for words in turn.get("absent", ()):
            if words in seen:
                raise ModelError(f"{self._name}, turn {number}: {words!r} should not be in {cut(seen, 2000)!r}.")

    @staticmethod
    def _wait(seconds: float, on_text: Callable[[str], None]) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            on_text("")
            time.sleep(min(left, _BEAT))
        on_text("")


def _script(data: object, name: str) -> Script:
    problems = check(data, _SCRIPT)
    if problems:
        raise BadShape([f"{name}: {line}" for line in listed(problems)])
    assert isinstance(data, dict)
    for agent, inner in data.get("workers", {}).items():
        _script(inner, f"{name}, {agent}")
    return Script(**{**data, "turns": tuple(data["turns"])})


def _last_seen(messages: Sequence[Message]) -> str:
    """What came since the model's last answer."""
    seen: list[str] = []
    for message in reversed(messages):
        if isinstance(message, Assistant):
            break
        seen.insert(0, message.text)
        if isinstance(message, Summary):
            break
    return "\n".join(seen)


def _words(text: str) -> list[str]:
    if text:
        return [word + " " for word in text.split(" ")[:-1]] + [text.split(" ")[-1]]
    return []

"""A model that plays a script, for tests of anybody's agent loop: no key, no network, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from ..core.errors import BadShape, PunchlistError
from .plain_data import plain


class ScriptEnded(PunchlistError):
    """A scripted model was asked for more turns than its script has."""


class ScriptedCall(NamedTuple):
    """A tool call in the answer of a scripted model."""

    id: str
    name: str
    args: Any


class ScriptedTurn(NamedTuple):
    """One answer of a scripted model: what it says, and the tools it calls."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()


class ScriptedRequest(NamedTuple):
    """What a scripted model was asked: plain data, a copy of what your loop gave it."""

    messages: Any
    tools: Any


Turn = Callable[[Any, Any], Any] | ScriptedTurn | str | Mapping[str, Any] | Sequence[Any]


class ScriptedModel:
    """A model that plays a script.

    `turns`: what it answers, one after the other. A turn is a text; a call, as a tuple of a tool's name and its
    arguments; a list of calls; a dict with `text` and `calls`; or a function of (messages, tools) that returns one of
    these. It may be asked by several threads at once.

        model = ScriptedModel([("plan", {"add": ["Run the tests"]}), "I have a plan."])
        text, calls = model.request(messages, tools)
    """

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._turns = list(turns)
        self._requests: list[ScriptedRequest] = []
        self._lock = Lock()

    @property
    def requests(self) -> tuple[ScriptedRequest, ...]:
        """Everything it was asked so far, the oldest first."""
        return tuple(self._requests)

    def request(self, messages: Any = (), tools: Any = ()) -> ScriptedTurn:
        """Return the next turn of the script.

        `messages`, `tools`: what your loop would send to its provider, in any form. Raises ScriptEnded if the script is
        at its end.
        """
        asked = ScriptedRequest(plain(messages), plain(tools))
        with self._lock:
            number = len(self._requests)
            self._requests.append(asked)
        if number >= len(self._turns):
            raise ScriptEnded(f"the script is at its end: it has {len(self._turns)} turns, and another was asked for.")
        turn = self._turns[number]
        if callable(turn):
            turn = turn(messages, tools)
        return read_turn(turn, number)


def read_turn(turn: object, number: int) -> ScriptedTurn:
    """Return a turn of a script as a value. Raises BadShape if it is not one."""
    if isinstance(turn, ScriptedTurn):
        return turn
    if isinstance(turn, str):
        return ScriptedTurn(turn)
    if isinstance(turn, Mapping):
        unknown = sorted(set(turn) - {"text", "calls"})
        if unknown:
            raise BadShape([f"turn {number}: {unknown[0]!r} is not a key; the keys are 'text' and 'calls'."])
        return ScriptedTurn(str(turn.get("text", "")), _calls(turn.get("calls", ()), number))
    if isinstance(turn, tuple) and len(turn) == 2 and isinstance(turn[0], str):
        if isinstance(turn[1], list):  # a text with calls
            return ScriptedTurn(turn[0], _calls(turn[1], number))
        return ScriptedTurn("", _calls([turn], number))
    if isinstance(turn, list):
        return ScriptedTurn("", _calls(turn, number))
    raise BadShape([f"turn {number} must be a text, a call, a list of calls, or a dict of both, not {turn!r}."])


def _calls(given: object, number: int) -> tuple[ScriptedCall, ...]:
    if not isinstance(given, list | tuple):
        raise BadShape([f"turn {number}: calls must be a list, not {given!r}."])
    return tuple([_call(one, f"call-{number}-{index}") for index, one in enumerate(given)])


def _call(given: object, id: str) -> ScriptedCall:
    if isinstance(given, ScriptedCall):
        return given._replace(id=given.id or id)
    if isinstance(given, Mapping) and isinstance(given.get("name"), str):
        return ScriptedCall(str(given.get("id") or id), given["name"], given.get("args", {}))
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        return ScriptedCall(id, given[0], given[1])
    raise BadShape([f"{id} must be a tool's name and its arguments, not {given!r}."])

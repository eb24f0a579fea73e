"""The tokens of a session: what all requests hold, what of it is new to a prompt cache, and what the model writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

from .script import Step

Request = Sequence[str]  # its pieces in the order in which a provider caches them: tools, system prompt, messages


class Tokens(NamedTuple):
    """What a session costs."""

    read: int  # by all requests, each from its beginning
    new: int  # of that, what is not at the beginning of the request before, so that no prompt cache has it
    written: int  # by the model: the calls

    def over(self, other: Tokens) -> Tokens:
        return Tokens(self.read - other.read, self.new - other.new, self.written - other.written)


def spent(requests: Sequence[Request], steps: Sequence[Step], count: Callable[[str], int]) -> Tokens:
    counted = cache(count)
    read = new = 0
    before: Request = ()
    for request in requests:
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, request, strict=False))))
        read += sum(map(counted, request))
        new += sum(map(counted, request[same:]))
        before = request
    written = sum(
        counted(said("assistant", step.text, [(step.tool, step.args)] if step.tool else [])) for step in steps
    )
    return Tokens(read, new, written)


def defined(name: str, description: str, parameters: Any) -> str:
    """The definition of a tool, as a piece of a request."""
    return _compact({"name": name, "description": description, "parameters": parameters})


def said(role: str, text: str, calls: Sequence[tuple[str, Any]] = ()) -> str:
    """A message, as a piece of a request. Ids of calls are left out: every framework has its own."""
    made: dict[str, Any] = {"role": role, "content": text}
    if calls:
        made["tool_calls"] = [{"name": name, "arguments": args} for name, args in calls]
    return _compact(made)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

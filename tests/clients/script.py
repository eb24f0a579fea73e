"""What a scripted model says: a list of steps, one for each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

PLAN, SHELL, OWN = "plan", "shell", "own"


class Call(NamedTuple):
    """A tool call, before it has the name that the agent gave the tool."""

    kind: str  # plan: the tool of ours; shell: the agent's own; own: any other tool of the agent, by its name
    name: str
    args: dict[str, Any]


class Step(NamedTuple):
    """What the model answers to one request."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: int = 100  # that the request had, as the model says
    first: Callable[[], object] | None = None  # what happens in the world before the answer


def plan(**args: Any) -> Call:
    """A call of our tool, in the native dialect. Items may be given by their texts; some agents check the form."""
    if "add" in args:
        args["add"] = [{"text": item} if isinstance(item, str) else item for item in args["add"]]
    return Call(PLAN, "plan", args)


def tool(name: str, **args: Any) -> Call:
    """A call of a tool of ours in another dialect."""
    return Call(PLAN, name, args)


def shell(command: str) -> Call:
    return Call(SHELL, "", {"command": command})


def own(name: str, **args: Any) -> Call:
    """A call of a tool that the agent has by itself."""
    return Call(OWN, name, args)


def does(*calls: Call, text: str = "", tokens: int = 100, first: Callable[[], object] | None = None) -> Step:
    return Step(text, calls, tokens, first)


def says(text: str, *, tokens: int = 100, first: Callable[[], object] | None = None) -> Step:
    return Step(text, (), tokens, first)

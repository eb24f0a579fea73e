"""What a model can do. A tool is a value: its name, what the model reads of it, its schema, and a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.errors import BadShape, Refused
from ...core.model import NOTHING
from ...core.schema import Schema, check, listed
from ...core.text import cut, inline
from ..context import Context
from ..models import Offer

TEXT: Schema = {"type": "string"}
WORDS: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "integer", "minimum": 1}
FLAG: Schema = {"type": "boolean"}


class Answer(NamedTuple):
    """What came of a call."""

    text: str
    is_error: bool = False
    display: str | None = None  # what the user should see of it, where that is something else; empty for nothing
    details: Mapping[str, Any] = NOTHING  # for programs: what came of a call of the plan's own tools, or of a command
    plan: Mapping[str, Any] = NOTHING  # the plan that it led to


class Tool(NamedTuple):
    """One thing a model can do."""

    name: str
    about: str
    schema: Schema
    run: Callable[[Context, Mapping[str, Any]], Answer]
    read_only: bool = False
    concurrency_safe: bool = False
    is_plan: bool = False  # a tool of the plan's dialect, which checks its arguments itself
    silent: bool = False  # nothing of it is shown, whatever comes of it
    ends_planning: bool = False
    writes: str = ""  # the argument that names the one file it writes
    strict: bool = False  # whether a provider should hold the model to the schema
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    def offer(self) -> Offer:
        return Offer(self.name, self.about, self.schema, self.strict, self.examples)


def form(required: Mapping[str, Schema], **optional: Schema) -> Schema:
    """The schema of an object with these keys and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def find(tools: Sequence[Tool], name: str) -> Tool:
    """The tool of this name. Raises Refused."""
    for tool in tools:
        if tool.name == name:
            return tool
    raise Refused(f"no tool {cut(inline(str(name)), 40)!r}; the tools are {', '.join(tool.name for tool in tools)}.")


def checked(tool: Tool, args: object, most: int) -> Mapping[str, Any]:
    """The arguments of a call, once they have the right form. Raises Refused."""
    length = _length(args)
    if length > most:
        raise Refused(f"{tool.name}: arguments of {length} characters; at most {most} are taken.")
    problems = [] if tool.is_plan else check(args, tool.schema)
    if problems:
        raise BadShape(
            [f"{tool.name}: {line}" for line in listed(problems, lambda problem: problem.of("the arguments"))]
        )
    return args  # type: ignore[return-value]  # an object, as its schema says; a plan tool checks it itself


def bounded(text: str, most: int) -> str:
    """At most so many characters of an answer: its beginning and its end."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _length(args: object) -> int:
    try:
        return len(json.dumps(args, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return 1 << 60

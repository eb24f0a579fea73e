"""What is said in a conversation, as small frozen values, and each of them as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..core.errors import Refused
from ..core.model import NOTHING
from ..core.schema import Schema, check
from ..policy.conversation import Entry, ModelSaid, Told, ToolResult, UserSaid


class Usage(NamedTuple):
    """Tokens that a turn took."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output


class Call(NamedTuple):
    """A tool call, as the model made it. The arguments may be anything."""

    id: str
    tool: str
    args: Any


class User(NamedTuple):
    """What the user said."""

    text: str


class Assistant(NamedTuple):
    """What the model said, and the calls it made."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()
    cut: bool = False  # it was stopped before its end
    kept: Mapping[str, Any] = NOTHING  # the provider's own form, where it wants that back


class Result(NamedTuple):
    """What came of a call."""

    id: str
    tool: str
    text: str
    is_error: bool = False
    details: Mapping[str, Any] = NOTHING  # for programs: what a call of the plan's own tools, or a command, came to
    plan: Mapping[str, Any] = NOTHING  # the plan that it led to


class Attachment(NamedTuple):
    """What the agent tells the model by itself: updates, a reminder, a worker's report."""

    kind: str
    text: str
    items: int = 0  # on the list that it is about


class Summary(NamedTuple):
    """What stands for everything said before it."""

    text: str
    turns: int = 0  # answers of the model that it stands for


Message = User | Assistant | Result | Attachment | Summary
KINDS: dict[str, type[Any]] = {
    "user": User,
    "assistant": Assistant,
    "result": Result,
    "attachment": Attachment,
    "summary": Summary,
}
_NAMES = {made: name for name, made in KINDS.items()}

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_CALL: Schema = {
    "type": "object",
    "properties": {"id": _TEXT, "tool": _TEXT, "args": {}},
    "required": ["id", "tool", "args"],
}
_FIELDS: dict[str, Schema] = {
    "text": _TEXT,
    "id": _TEXT,
    "tool": _TEXT,
    "kind": _TEXT,
    "is_error": {"type": "boolean"},
    "cut": {"type": "boolean"},
    "turns": _COUNT,
    "items": _COUNT,
    "kept": {"type": "object"},
    "details": {"type": "object"},
    "plan": {"type": "object"},
    "calls": {"type": "array", "items": _CALL},
    "usage": {"type": "object", "properties": {"input": _COUNT, "output": _COUNT}},
}


def tamed(args: Any) -> Any:
    """The arguments of a call as something that can be written down and sent, whatever a model has made up."""
    problems = check({"args": args}, {"type": "object"})
    if problems:
        return f"(unreadable: {problems[0]})"
    try:
        text = json.dumps(args, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"(unreadable: {error})"
    if text.isascii() or whole(text) == text:
        return args
    return json.loads(whole(text))


def whole(text: str) -> str:
    """A text without halves of characters, which can be neither written nor sent."""
    return text.encode("utf-8", "replace").decode()


def to_json(message: Message) -> dict[str, Any]:
    """A message as JSON; what is as by default is left out."""
    made = type(message)
    said = {name: value for name, value in zip(made._fields, message, strict=True) if _differs(made, name, value)}
    if isinstance(message, Assistant):
        if message.calls:
            said["calls"] = [call._asdict() for call in message.calls]
        if message.usage != Usage():
            said["usage"] = message.usage._asdict()
    return {"type": _NAMES[made], **said}


def from_json(data: Mapping[str, Any]) -> Message:
    """The message of this JSON. Raises Refused."""
    made = KINDS.get(str(data.get("type")))
    if made is None:
        raise Refused(f"type must be one of {', '.join(map(repr, KINDS))}, not {data.get('type')!r}.")
    said = {name: data[name] for name in made._fields if name in data}
    needed = [name for name in made._fields if name not in made._field_defaults]
    problems = check(said, {"type": "object", "properties": _FIELDS, "required": needed})
    if problems:
        raise Refused(str(problems[0]))
    if made is Assistant:
        said["calls"] = tuple(Call(one["id"], one["tool"], one["args"]) for one in said.get("calls", ()))
        usage = said.get("usage", {})
        said["usage"] = Usage(usage.get("input", 0), usage.get("output", 0))
    message: Message = made(**said)
    return message


def entries(messages: Iterable[Message]) -> Iterator[Entry]:
    """A conversation as `policy` reads it."""
    for message in messages:
        if isinstance(message, Assistant):
            yield ModelSaid(message.text, [(call.tool, call.id) for call in message.calls])
        elif isinstance(message, Result):
            yield ToolResult(message.id, message.tool, message.is_error)
        elif isinstance(message, Attachment):
            yield Told(message.kind)
        elif message.text.strip():
            yield UserSaid(message.text)


def size(messages: tuple[Message, ...] | list[Message]) -> int:
    """About how many tokens a conversation is: four characters each, where no model has counted."""
    return sum(_characters(message) for message in messages) // 4


def dangling(messages: list[Message]) -> list[Call]:
    """The calls of the last answer that nothing came of."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, Result):
            answered.add(message.id)
        if isinstance(message, Assistant):
            return [call for call in message.calls if call.id not in answered]
    return []


def turns(messages: list[Message]) -> int:
    """How often the model has answered, with what a summary stands for."""
    count = 0
    for one in messages:
        if isinstance(one, Assistant):
            count += 1
        elif isinstance(one, Summary):
            count += one.turns
    return count


def _differs(made: Any, name: str, value: Any) -> bool:
    return name not in ("calls", "usage") and (name not in made._field_defaults or value != made._field_defaults[name])


def _characters(message: Message) -> int:
    if isinstance(message, Assistant):
        return len(message.text) + sum(len(call.tool) + len(str(call.args)) for call in message.calls)
    return len(message.text)

"""A plan out of a session's log: Claude Code's JSONL, oh-my-pi's session entries, or a plain list of messages, also as
OpenAI has it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from ..core._typing import Any
from ..core.codec import from_json
from ..core.errors import BadShape, Refused
from ..core.model import Plan
from ..core.schema import check
from . import claude_code, oh_my_pi, oh_my_pi_format

_NO_LIST = (
    f"the transcript holds no list: neither a call of {claude_code.WRITE.name} nor a result of {oh_my_pi.WRITE.name}."
)


def read(data: object) -> Plan:
    """The plan as the log last had it: the last list that was written, or the last state that was kept. What a
    sub-agent wrote is not the main agent's. A log without any is refused, for an empty plan would take the place of one
    that is there."""
    plan = None
    for entry in entries(data):
        if entry.get("isSidechain") is True:
            continue
        found = _from_own_state(entry)
        if found is None:
            found = _from_calls(entry)
        if found is None:
            found = _from_state(entry)
        if found is not None:
            plan = found
    if plan is None:
        raise Refused(_NO_LIST)
    return plan


def entries(data: object) -> Iterator[Mapping[str, Any]]:
    """The entries of a log: a list, an object with `messages`, a text, or lines. What is not an entry is skipped, a
    cut-off last line too; but where nothing at all is one, it is not a log."""
    if isinstance(data, str):
        data = _read(data)
    data = _messages(data)
    if not isinstance(data, Iterable) or isinstance(data, Mapping):
        raise _no_log()
    met = found = False
    for entry in data:
        met = met or entry not in ("", "\r")
        if isinstance(entry, str):
            entry = _parsed(entry)
        parsed = _messages(entry)
        if not isinstance(parsed, list):
            parsed = [parsed]
        for one in parsed:
            if isinstance(one, Mapping):
                found = True
                yield one
    if met and not found:
        raise _no_log()


def _read(text: str) -> object:
    """A text as the one value that it is, else as its lines."""
    text = text.lstrip("\ufeff \t\r\n")
    whole = None
    if text.startswith(("[", "{")):
        whole = _messages(_parsed(text))
    if isinstance(whole, list) or text.startswith("["):
        return whole
    return text.split("\n")


def _messages(found: object) -> object:
    """The messages of an object that holds them, as it is sent to a model; anything else as it is."""
    messages = None
    if isinstance(found, Mapping):
        messages = found.get("messages")
    if isinstance(messages, list):
        return messages
    return found


def _no_log() -> BadShape:
    return BadShape(["a transcript is a list of messages, or a line of JSON for each."])


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _from_calls(entry: Mapping[str, Any]) -> Plan | None:
    """The list that an assistant's message writes: its first such call counts; an invalid one means an empty list."""
    message = _message(entry)
    if "assistant" not in (entry.get("type"), message.get("role")):
        return None
    said = (*_blocks(message.get("content")), *_functions(message.get("tool_calls")), *_own_calls(entry.get("calls")))
    for name, given in said:
        if name == claude_code.WRITE.name:
            if check(given, claude_code.WRITE.schema):
                return Plan()
            return claude_code.read(given["todos"])
    return None


def _message(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an entry wraps, or itself."""
    message = entry.get("message")
    if isinstance(message, Mapping):
        return message
    return entry


def _blocks(content: object) -> Iterator[tuple[object, Any]]:
    """The calls in a message: what is called, and with what."""
    if not isinstance(content, list):
        return
    for block in content:
        if isinstance(block, Mapping) and block.get("type") == "tool_use":
            yield block.get("name"), block.get("input")


def _functions(calls: object) -> Iterator[tuple[object, Any]]:
    """The same as OpenAI spells them: the arguments are a text."""
    for call in calls if isinstance(calls, list) else ():
        function = None
        if isinstance(call, Mapping):
            function = call.get("function")
        if isinstance(function, Mapping):
            given = function.get("arguments")
            if isinstance(given, str):
                given = _parsed(given)
            yield function.get("name"), given


def _own_calls(calls: object) -> Iterator[tuple[object, Any]]:
    """The same as the reference agent writes them down."""
    if not isinstance(calls, list):
        return
    for call in calls:
        if isinstance(call, Mapping):
            yield call.get("tool"), call.get("args")


def _from_own_state(entry: Mapping[str, Any]) -> Plan | None:
    """The plan that a line of the reference agent's log holds: with a result, or with an edit of the user."""
    holder: object = entry
    if entry.get("customType") == "user_todo_edit":
        holder = entry.get("data")
    found = None
    if isinstance(holder, Mapping) and entry.get("type") in ("result", "custom"):
        found = holder.get("plan")
    if not isinstance(found, Mapping) or not found:
        return None
    try:
        return from_json(found)._replace(paused=None, mode="act")
    except Refused:
        return None


def _from_state(entry: Mapping[str, Any]) -> Plan | None:
    """The phases that a tool result or a user's edit carries."""
    message = _message(entry)
    if entry.get("customType") == "user_todo_edit":
        state = entry.get("data")
    elif message.get("role") == "toolResult" and message.get("toolName") == oh_my_pi.WRITE.name:
        state = None if message.get("isError") else message.get("details")
    else:
        return None
    phases = None
    if isinstance(state, Mapping):
        phases = state.get("phases")
    try:
        if phases is not None:
            return oh_my_pi_format.read(phases)
        return None
    except Refused:
        return None

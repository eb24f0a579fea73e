"""What a conversation tells: who spoke last, what was asked, how long ago the plan was written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

REMINDER = "todo_reminder"  # the type of an attachment that reminds
_THINKING = ("thinking", "redacted_thinking", "reasoning")


class Tally(NamedTuple):
    """What a conversation says about the plan in it."""

    turns: int = 0  # of the assistant
    since_write: int = 0  # turns; the one that wrote the plan is the first
    since_reminder: int = 0
    reminders: int = 0  # since the plan was written
    written: bool = False
    failed: bool = False  # whether the last plan call failed
    said: str = ""  # the assistant's last words, if nobody has spoken since
    asked: str = ""  # the user's last words


def tally(entries: Iterable[object], tools: Sequence[str]) -> Tally:
    """Fold a conversation, oldest entry first, in constant memory. What is no message is passed over."""
    heard = Tally()
    ours: set[str] = set()  # calls of the plan that have no result yet
    for entry in entries:
        if isinstance(entry, Mapping):
            heard = _heard(heard, entry, tools, ours)
    return heard


def said_by(entry: Mapping[str, Any]) -> str:
    """Who speaks in an entry: assistant, user, or nobody we know."""
    message = entry.get("message")
    kinds = (entry.get("type"), entry.get("role"), message.get("role") if isinstance(message, Mapping) else None)
    return next((kind for kind in ("assistant", "user") if kind in kinds), "")


def blocks(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a message consists of: texts, calls, results. Strings are texts."""
    message = entry.get("message")
    inner: Mapping[str, Any] = message if isinstance(message, Mapping) else entry
    content = inner.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping):
            yield block
        elif isinstance(block, str):
            yield {"type": "text", "text": block}
    calls = inner.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            yield {"type": "tool_use", "name": function.get("name"), "id": call.get("id")}


# --- inside ----------------------------------------------------------------------------------------------------------


def _heard(heard: Tally, entry: Mapping[str, Any], tools: Sequence[str], ours: set[str]) -> Tally:
    who = said_by(entry)
    if who == "assistant":
        return _assistant(heard, list(blocks(entry)), tools, ours)
    if _is_reminder(entry):
        return heard._replace(since_reminder=0, reminders=heard.reminders + 1)
    failed = _outcome(entry, tools, ours)
    if failed is not None:
        heard = heard._replace(failed=failed)
    if who == "user" and not entry.get("isMeta"):
        text = "\n".join(_texts(blocks(entry)))
        return heard._replace(asked=text, said="") if text else heard  # a question is answered
    return heard


def _assistant(heard: Tally, parts: list[Mapping[str, Any]], tools: Sequence[str], ours: set[str]) -> Tally:
    if parts and all(part.get("type") in _THINKING for part in parts):
        return heard
    text = "\n".join(_texts(parts))
    calls = [part for part in parts if part.get("type") in ("tool_use", "toolCall", "tool_call")]
    heard = heard._replace(
        turns=heard.turns + 1,
        since_write=heard.since_write + 1,
        since_reminder=heard.since_reminder + 1,
        said=text or ("" if calls else heard.said),
    )
    mine = [call for call in calls if is_plan_tool(call.get("name"), tools)]
    if not mine:
        return heard
    ours.clear()
    ours.update(id for call in mine if isinstance(id := call.get("id"), str))
    return heard._replace(since_write=1, reminders=0, written=True)


def is_plan_tool(name: object, tools: Sequence[str]) -> bool:
    """Whether a tool of this name is one of the plan's, as such or as an MCP server's."""
    if not isinstance(name, str):
        return False
    return name in tools or ("punchlist" in name and name.replace("__", "_").endswith(tuple(f"_{t}" for t in tools)))


def _texts(parts: Iterable[Mapping[str, Any]]) -> list[str]:
    found = [part.get("text") for part in parts if part.get("type") in ("text", "output_text", "input_text")]
    return [text for text in found if isinstance(text, str) and text.strip()]


def _is_reminder(entry: Mapping[str, Any]) -> bool:
    attachment = entry.get("attachment")
    return isinstance(attachment, Mapping) and attachment.get("type") == REMINDER


def _outcome(entry: Mapping[str, Any], tools: Sequence[str], ours: set[str]) -> bool | None:
    """Whether a plan call failed, if this is the result of one."""
    message = entry.get("message")
    inner: Mapping[str, Any] = message if isinstance(message, Mapping) else entry
    if inner.get("role") in ("toolResult", "tool") and is_plan_tool(inner.get("toolName", inner.get("name")), tools):
        return bool(inner.get("isError", inner.get("is_error")))
    for part in blocks(entry):
        id = part.get("tool_use_id")
        if part.get("type") == "tool_result" and isinstance(id, str) and id in ours:
            return bool(part.get("is_error"))
    return None

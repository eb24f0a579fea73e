"""Our messages as `policy` reads a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..desk import Desk
from ..policy.conversation import Tally, tally
from .messages import Assistant, Attachment, Message, Result


def heard(messages: Iterable[Message], desk: Desk) -> Tally:
    """What a conversation tells about the plan in it."""
    return tally(map(entry, messages), [tool.name for tool in desk.dialect.tools])


def entry(message: Message) -> dict[str, Any]:
    """A message in the form that transcripts of agents have."""
    if isinstance(message, Assistant):
        said: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
        said += [{"type": "tool_use", "name": call.tool, "id": call.id} for call in message.calls]
        return {"type": "assistant", "message": {"content": said}}
    if isinstance(message, Result):
        result = {"type": "tool_result", "tool_use_id": message.id, "is_error": message.is_error}
        return {"type": "user", "message": {"content": [result]}}
    if isinstance(message, Attachment):
        return {"type": "attachment", "attachment": {"type": message.kind}}
    return {"type": "user", "message": {"content": message.text}}

"""Whether the user took a conversation of Claude Code back to an earlier point: no hook is told of that."""

from __future__ import annotations

from ...core._typing import Any
from ..log_file import entries


def went_back(path: str, since: int = 0) -> bool | None:
    """Whether the last prompt in a log follows an earlier point than the agent's last words before it. None while the
    log does not have the prompt that was sent when it had this many bytes: it is written a moment later."""
    try:
        new = _read(path, since)
        if not any(map(_is_prompt, new)):
            return False if any(entry.get("type") == "assistant" for entry in new) else None
        found = _read(path)
    except (OSError, ValueError):  # it is not there, or nobody may read it
        return False
    prompts = [number for number, entry in enumerate(found) if _is_prompt(entry)]
    parent = None
    if prompts:
        parent = found[prompts[-1]].get("parentUuid")
    if not parent:
        return False
    for entry in reversed(found[: prompts[-1]]):
        if entry.get("uuid") == parent:
            return False
        if entry.get("type") == "assistant":
            return True
    return False


def _read(path: str, since: int = 0) -> list[dict[str, Any]]:
    return [entry for entry in entries(path, since) if not entry.get("isSidechain")]


def _is_prompt(entry: dict[str, Any]) -> bool:
    """Whether an entry holds words of the user, and no result of a tool."""
    if entry.get("type") != "user" or entry.get("isMeta"):
        return False
    message = entry.get("message")
    content = None
    if isinstance(message, dict):
        content = message.get("content")
    if isinstance(content, str):
        return True
    parts = []
    if isinstance(content, list):
        parts = content
    return bool(parts) and all(isinstance(part, dict) and part.get("type") != "tool_result" for part in parts)

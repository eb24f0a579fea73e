"""Codex's hooks: the events and answers of Claude Code, with its own plan tool, `update_plan`."""

from __future__ import annotations

from ..core.typed import Any
from .claude_code import read, written
from .hear import Host, heed

_HOST = Host("codex", {"update_plan": "codex"}, names_uses=True, hides_failure=True)


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    return written(event, heed(read(event), _HOST, flags))

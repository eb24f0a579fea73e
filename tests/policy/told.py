"""What a model is told: with an event of a hook, a text each; in a context of a loop, as messages."""

from __future__ import annotations

from punchlist import Desk
from punchlist.desk import guidance
from punchlist.desk.guidance import Guidance
from punchlist.desk.tool_use import ToolUse
from punchlist.policy.conversation import Tally

TURN = "turn"  # before any request to the model


def attached(desk: Desk, context: str, heard: Tally | None = None) -> list[Guidance]:
    """The messages of a context; `heard` is what the conversation so far says."""
    if context == TURN:
        return guidance.before_request(desk, heard or Tally())
    return guidance.changed(desk) if context == "changed" else guidance.started(desk, context)


def started(desk: Desk, source: str) -> list[str]:
    return guidance.lines(guidance.started(desk, source))


def prompted(desk: Desk, prompt: str, *, is_told: bool = True) -> list[str]:
    return guidance.lines(guidance.prompted(desk, prompt, is_told=is_told))


def tool_used(desk: Desk, use: ToolUse, *, is_told: bool = True) -> list[str]:
    return guidance.lines(guidance.tool_used(desk, use, is_told=is_told))

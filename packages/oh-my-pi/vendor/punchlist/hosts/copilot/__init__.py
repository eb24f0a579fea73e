"""The hooks of GitHub Copilot CLI and of VS Code: https://docs.github.com/copilot/reference/hooks-reference and
https://code.visualstudio.com/docs/agent-customization/hooks. Written by that documentation; not run here.

Both have Claude Code's names for events. What a hook says at a prompt does not reach the model of Copilot CLI.
"""

from __future__ import annotations

from ...core._typing import Any
from .. import hooks_format
from ..host import AFTER, NAME, PROMPT, HookAnswer, HookEvent, Host

_SHELLS = ("Bash", "bash", "powershell", "runInTerminal", "run_in_terminal")
_UNTOLD = "Copilot does not tell its exit code"


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Copilot. Raises Refused."""
    found = hooks_format.read(event)
    if found.moment == PROMPT and hooks_format.is_nudge(found.prompt):
        return found._replace(moment="")
    if found.source == "new":
        found = found._replace(source="startup")
    result = event.get("tool_result")
    if isinstance(result, dict):
        found = found._replace(result=result.get("text_result_for_llm"))
    if found.moment == AFTER and found.tool in _SHELLS:
        return found._replace(exit=None, no_exit=_UNTOLD)
    return found


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Copilot CLI reads it, and VS Code, which looks for the same one level deeper."""
    said: dict[str, Any] = hooks_format.block(answer) or {}
    if answer.context and not said:
        said = {"additionalContext": answer.context}
    if not said:
        return None
    return {**said, "hookSpecificOutput": {"hookEventName": event["hook_event_name"], **said}}


HOST = Host(
    "copilot",
    prefixes=(f"{NAME}-", f"mcp_{NAME}_", f"mcp__{NAME}__"),
    limit=30.0,
    hears_prompts=False,
)

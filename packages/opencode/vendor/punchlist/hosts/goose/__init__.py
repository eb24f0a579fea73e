"""Goose's hooks (Open Plugins). Nothing but the reason of a denied stop reaches its model."""

from __future__ import annotations

from collections.abc import Mapping

from ...core._typing import Any
from .. import hooks_format
from ..host import NAME, HookAnswer, HookEvent, Host, needed, text

_SESSION = "agent-session-id"
_SHELLS = ("shell", "developer__shell")
_UNTOLD = "Goose does not tell its exit code"


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of Goose. Raises Refused."""
    name, tool = needed(event, "event"), text(event, "tool_name")
    why = ""
    if tool in _SHELLS:
        why = _UNTOLD
    return HookEvent(
        moment=hooks_format.MOMENTS.get(name, ""),
        session=needed(event, "session_id"),
        cwd=text(event, "working_dir"),
        source=text(event, "source") or text(event, "matcher_context"),
        prompt=text(event, "message"),
        tool=tool,
        args=event.get("tool_input"),
        use=text(event, "tool_call_id"),
        failed=name == "PostToolUseFailure",
        no_exit=why,
        said=text(event, "last_assistant_message"),
    )


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as Goose reads it: it has no place for context."""
    return hooks_format.block(answer)


def _caller(meta: Mapping[str, Any]) -> tuple[Any, Any]:
    return meta.get(_SESSION), ""


def _place(meta: Mapping[str, Any]) -> Any:
    return meta.get("agent-working-dir")


def _model(event: HookEvent) -> str:
    """The model, if it is chosen by the environment; no event and no log says it."""
    import os

    return os.environ.get("GOOSE_MODEL", "")


HOST = Host(
    "goose",
    prefixes=(f"{NAME}__",),
    model=_model,
    only_nudged=True,
    processes=("goose",),
    shell_session="AGENT_SESSION_ID",
    shell_only="AGENT_SESSION_ID",
    find_place=_place,
    caller=_caller,
)

"""oh-my-pi, by way of the extension that is installed for it (`plugin.ts`)."""

from __future__ import annotations

from ...core._typing import Any
from ..host import NAME, HookEvent, Host
from ..plugin_format import read, write

__all__ = ["HOST", "read", "write"]

_OPERATIONS = ("init", "start", "done", "rm", "drop", "append", "block", "unblock")  # what its `todo` can do
_FIELDS = ("list", "task", "phase", "items")


def _mirror_call(event: HookEvent) -> tuple[str, Any]:
    """A call of its own plan tools. Its newer `todo` has one operation a call, `todo_write` a list of them;
    what else it can do changes nothing."""
    if event.tool != "todo":
        return event.tool, event.args
    op = None
    if isinstance(event.args, dict):
        op = event.args.get("op")
    if op not in _OPERATIONS:
        return event.tool, event.args
    kept = {name: event.args[name] for name in _FIELDS if event.args.get(name) is not None}
    if op == "block":
        kept["text"] = str(event.args.get("reason") or "blocked")
    return "todo_write", {"ops": [{"op": op, **kept}]}


HOST = Host(
    "oh-my-pi",
    prefixes=(f"mcp__{NAME}_", f"mcp__{NAME}_{NAME}_"),
    mirrors={"todo": "oh-my-pi", "todo_write": "oh-my-pi"},
    mirror_call=_mirror_call,
    counts_failed=("todo_write",),
    limit=5.0,
    shell="bash",
    processes=("omp", "bun"),
    shell_only="OMPCODE",
    starts_hooks=True,
    runs_prompts=True,
)

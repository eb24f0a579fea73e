"""An agent's own plan tool, mirrored: what it did there becomes the plan, without a token."""

from __future__ import annotations

from ..core._typing import Any
from ..desk import Desk
from ..dialects import Dialect, load

_OHMYPI = ("init", "start", "done", "rm", "drop", "append", "block", "unblock")  # what oh-my-pi's `todo` can do


def mirrored(desk: Desk, dialect: str, tool: str, args: Any, result: Any) -> list[str]:
    """Carry out a call that the agent's own tool has carried out already; what the model should hear."""
    own: dict[str, Any] = {"session": desk.session, "agent": desk.agent, "settings": desk.settings, "place": desk.place}
    mirror = Desk(desk.store, dialect=_unbound(_mirror(dialect)), host=desk.host, **own)
    if tool == "todo":
        return _todo(mirror, args)
    if tool not in [one.name for one in mirror.dialect.tools]:
        return []
    return list(mirror.call(tool, _numbered(args, result) if tool == "TaskCreate" else args).news)


def _mirror(dialect: str) -> Dialect:
    if dialect == "claude-tasks":
        from ..dialects.claude_tasks import MIRROR as TASKS

        return TASKS
    if dialect == "oh-my-pi":
        from ..dialects.oh_my_pi import MIRROR as OPERATIONS

        return OPERATIONS
    return load(dialect)


def _unbound(dialect: Dialect) -> Dialect:
    """The dialect without what it withholds from sub-agents: one of them has used the tool, whoever may."""
    tools = [tool if tool.for_subagents else tool._replace(for_subagents=True) for tool in dialect.tools]
    return dialect._replace(tools=tuple(tools))


def _numbered(args: Any, result: Any) -> Any:
    """The call that made a task, with the number that its own tool gave it."""
    task = result.get("task") if isinstance(result, dict) else None
    id = str(task.get("id", "")) if isinstance(task, dict) else _number(result)
    return {**args, "id": id} if id and isinstance(args, dict) else args


def _number(result: Any) -> str:
    """The number in `Task #3 created successfully`."""
    words = result.split() if isinstance(result, str) else []
    return words[1].lstrip("#") if len(words) > 1 and words[1].startswith("#") else ""


def _todo(desk: Desk, args: Any) -> list[str]:
    """oh-my-pi's newer `todo`: one operation a call."""
    op = args.get("op") if isinstance(args, dict) else None
    if op not in _OHMYPI:
        return []
    kept = {name: args[name] for name in ("list", "task", "phase", "items") if args.get(name) is not None}
    if op == "block":
        kept["text"] = str(args.get("reason") or "blocked")
    return list(desk.call("todo_write", {"ops": [{"op": op, **kept}]}).news)

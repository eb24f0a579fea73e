"""llxprt's todo_write, todo_read and todo_pause: the whole list with ids and subtasks, and an explicit pause."""

from __future__ import annotations

from collections.abc import Mapping

from ..core._typing import Any
from ..core.errors import StoreError
from ..core.model import ACTIVE, BLOCKED, DONE, PENDING, Item, Plan
from ..core.ops import pause
from ..core.redact import redacted
from ..core.resend import ListForm, Sent, relist
from ..core.rules import pause_problem
from ..core.schema import Problem, Schema, check, listed, shown
from ..core.text import block, inline
from ..policy.dialect_guide import Audience, Guide, Listed, with_notes
from ..policy.limits import Limits
from ..prompts import say
from . import Call, Dialect, Reply, Tool, Turn, checked, example

_SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE}
_MARKS = {DONE: "- [x]", ACTIVE: "- [→] ← current"}
_TEXT: Schema = {"type": "string"}

TODOS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": _TEXT,
            "content": {"type": "string", "minLength": 1},
            "status": {"type": "string", "enum": [PENDING, ACTIVE, DONE]},
            "subtasks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": _TEXT,
                        "content": {"type": "string", "minLength": 1},
                        "toolCalls": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {"id": _TEXT, "name": _TEXT, "parameters": {"type": "object"}},
                                "required": ["id", "name", "parameters"],
                            },
                        },
                    },
                    "required": ["id", "content"],
                },
            },
        },
        "required": ["content", "status"],
    },
}
WRITE = Tool(
    name="todo_write",
    schema={"type": "object", "properties": {"todos": TODOS}, "required": ["todos"]},
    prompt="llxprt",
    summary="llxprt.summary",
    examples=(
        {
            "todos": [
                {"id": "1", "content": "Read the schema", "status": ACTIVE},
                {"id": "2", "content": "Write the migration", "status": PENDING},
            ]
        },
    ),
    title="Todo",
    idempotent=True,
    category="todo",
)
READ = Tool(
    name="todo_read",
    schema={"type": "object", "properties": {}},
    prompt="llxprt.read",
    examples=({},),
    title="Todo",
    category="todo",
    read_only=True,
    concurrency_safe=True,
)
PAUSE = Tool(
    name="todo_pause",
    schema={
        "type": "object",
        "properties": {"reason": {"type": "string", "minLength": 1, "maxLength": 500}},
        "required": ["reason"],
        "additionalProperties": False,
    },
    prompt="llxprt.pause",
    summary="llxprt.pause.summary",
    examples=({"reason": "The database named in settings.toml does not answer on port 5432"},),
    title="Pause",
    category="todo",
    pauses=lambda args: True,
    only_continuing=True,
)


def _judge(call: Call) -> str:
    if call.tool is PAUSE:
        problem = _pause_problem(call)
        if problem:
            return f"Invalid pause reason: {problem}"
        return ""
    problems = check(call.args, call.tool.schema)
    if not problems:
        return ""
    return "\n".join([f"Invalid todo data: {'; '.join(listed(problems, _of_call))}", *example(call.tool)])


def _of_call(problem: Problem) -> str:
    if problem.path:
        return _dotted(problem)
    return f"arguments: {problem.message.rstrip('.')}"


def _dotted(problem: Problem) -> str:
    path = problem.path
    if problem.path[:1] == ("todos",):
        path = problem.path[1:]
    return f"{'.'.join(map(inline, map(str, path))) or 'todos'}: {problem.message.rstrip('.')}"


def _pause_problem(call: Call) -> str:
    """llxprt's order: something must be there, then a reason, then its kind and length; other keys come last."""
    args = call.args
    if args is None:
        return "Input is required"
    given = {}
    if isinstance(args, dict):
        given = args
    try:
        problem = pause_problem(given.get("reason"), strict=call.strict_pause)
    except Exception:  # the check itself broke: that must not look like a refusal of the reason
        return "Unable to validate pause reason. Please try again."
    further = [name for name in given if name != "reason"]
    return problem or (f"{shown(further[0])} is not a key; the only key is 'reason'" if further else "")


def _apply(plan: Plan, call: Call) -> Plan:
    if call.tool is PAUSE:
        paused = pause(plan, call.args["reason"], call.at)
        old = plan.paused
        if old is None or paused.paused is None:
            return paused
        return paused._replace(paused=paused.paused._replace(attempts=old.attempts, last_prompt_at=old.last_prompt_at))
    return plan


def _entries(call: Call) -> list[Sent] | None:
    if call.tool is WRITE:
        return _sent(call.args["todos"], call.redact)
    return None


def _reply(turn: Turn) -> Reply:
    call = turn.call
    if call.tool is PAUSE:
        reason = call.args["reason"]
        message = say("llxprt.paused", reason=block(reason), time=call.clock)
        return Reply(
            message, message, details={"type": "pause", "reason": reason, "message": message, "timestamp": call.at}
        )
    details = {"todos": todos(turn.plan)}
    if call.interactive and call.tool is WRITE:
        return Reply("TODO list updated", "", details=details)
    text = _drawn(turn.plan)
    return Reply(text, text, details=details)


def _failure(call: Call, error: StoreError) -> str:
    if call.tool is PAUSE:
        return f"Failed to pause task: {error}"
    if error.kind == "permission":
        return "Permission denied accessing todo storage"
    if error.kind == "full":
        return "Storage full, cannot save todos"
    return f"Failed to access todo storage: {error}"


def _drawn(plan: Plan) -> str:
    items = _listed(plan)
    lines = [f"{_MARKS.get(_status(item, parts), '- [ ]')} {inline(item.text)}\n" for item, parts in items]
    return f"## Todo List ({len(items)} tasks)\n" + "".join(lines)


def _sent(entries: list[dict[str, Any]], redact: bool) -> list[Sent]:
    return [
        Sent(
            entry["content"],
            entry["status"],
            key=entry.get("id", ""),
            parts=None if "subtasks" not in entry else [_part(part, redact) for part in entry["subtasks"]],
        )
        for entry in entries
    ]


def _part(part: Mapping[str, Any], redact: bool) -> Sent:
    calls = part.get("toolCalls")
    if calls is not None and redact:
        calls = [{**call, "parameters": redacted(call["parameters"])} for call in calls]
    status = part.get("status")  # not in the schema, but the only way to say which subtask is being worked on
    own = ""
    if status in (PENDING, ACTIVE, DONE):
        own = status
    return Sent(part["content"], own, key=part["id"], calls=None if calls is None else tuple(calls))


def todos(plan: Plan) -> list[dict[str, Any]]:
    """The plan as this agent lists it."""
    return [_todo(item, parts) for item, parts in _listed(plan)]


def _listed(plan: Plan) -> list[tuple[Item, list[Item]]]:
    """The items that are todos here, each with its subtasks."""
    parts: dict[str, list[Item]] = {}
    for item in plan.items:
        if item.parent:
            parts.setdefault(item.parent, []).append(item)
    return [(item, parts.get(item.id, [])) for item in plan.items if not item.parent and item.status in _SHOWN]


def _todo(item: Item, parts: list[Item]) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": _id(item), "content": item.text, "status": _status(item, parts)}
    if item.calls:
        entry["toolCalls"] = [dict(call) for call in item.calls]
    if parts:
        entry["subtasks"] = [_subtask(part) for part in parts]
    return entry


def _status(item: Item, parts: list[Item]) -> str:
    """A todo is being worked on when one of its subtasks is."""
    if parts and not item.is_closed and any(part.status == ACTIVE for part in parts):
        return ACTIVE
    return _SHOWN[item.status]


def _subtask(part: Item) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": _id(part), "content": part.text}
    if part.status == ACTIVE:
        entry["status"] = ACTIVE
    if part.calls:
        return {**entry, "toolCalls": [dict(call) for call in part.calls]}
    return entry


def _id(item: Item) -> str:
    return str(item.extra.get("id") or item.id)


def _list(plan: Plan, context: str, to: Audience) -> Listed:
    if not plan.items or context == "start":
        return Listed()
    return Listed(with_notes(plan, context, say("llxprt.list", list=_drawn(plan))))


DIALECT = Dialect(
    name="llxprt",
    tools=(WRITE, READ, PAUSE),
    apply=_apply,
    reply=_reply,
    entries=_entries,
    list_form=ListForm(_SHOWN, nested=True),
    judge=_judge,
    failure=_failure,
    system="llxprt.system",
    shows_calls=True,
    guide=Guide(
        limits=Limits(remind_after=0, budget=-1),  # it reminds of nothing
        listed=_list,
        lists_all=True,
        sends_whole=True,
        answers_with_list=True,
        nudge="llxprt.continue",
        always_nudged=True,
    ),
)


# --- the format `llxprt` of import and export ----------------------------------------------------------------------

OWN_IDS = True  # its tasks have ids that mean something to it


def read(data: object) -> Plan:
    """A list of todos with subtasks."""
    return relist(Plan(), _sent(checked(data, TODOS, _dotted), redact=False), _SHOWN, nested=True)


def write(plan: Plan) -> list[dict[str, Any]]:
    return todos(plan)

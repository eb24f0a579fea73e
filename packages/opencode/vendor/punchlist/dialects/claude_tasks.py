"""Claude Code's task tools: TaskCreate, TaskUpdate, TaskList, TaskGet; one task a call, each with a number."""

from __future__ import annotations

from collections.abc import Callable

from ..core import ops
from ..core._typing import Any
from ..core.conflicts import Asked
from ..core.errors import Refused
from ..core.model import ACTIVE, BLOCKED, DONE, PENDING, Item, Plan
from ..core.schema import Schema
from ..core.structure import check_needs
from ..core.text import block, cut, inline, plainly
from ..policy.dialect_guide import Guide
from . import Call, Dialect, Reply, Tool, Turn, checked

_SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE}
_STATUSES = [PENDING, ACTIVE, DONE]
_TEXT: Schema = {"type": "string"}
_IDS: Schema = {"type": "array", "items": _TEXT}


_ID_KEYS = ("taskId", "addBlocks", "addBlockedBy")
_NUMBERED_BY = "numbered_by"  # in the extra of a task: the second session on a plan, which counts by itself


def _tool(name: str, prompt: str, required: list[str], properties: dict[str, Schema], **rest: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Tool(
        name=name, schema=schema, prompt=f"claude-tasks.{prompt}", title="Tasks", category="task", ids=_ID_KEYS, **rest
    )


CREATE = _tool(
    "TaskCreate",
    "create",
    ["subject", "description"],
    {
        "subject": {"type": "string", "minLength": 1},
        "description": _TEXT,
        "activeForm": _TEXT,
        "metadata": {"type": "object"},
    },
    examples=(
        {"subject": "Fix the parser", "description": "It fails on empty input", "activeForm": "Fixing the parser"},
    ),
    fill={"description": lambda task: ""},
)
CREATED = CREATE._replace(  # by Claude Code itself, with the number it has given
    schema={**CREATE.schema, "properties": {**CREATE.schema["properties"], "id": _TEXT}}
)
UPDATE = _tool(
    "TaskUpdate",
    "update",
    ["taskId"],
    {
        "taskId": _TEXT,
        "subject": {"type": "string", "minLength": 1},
        "description": _TEXT,
        "activeForm": _TEXT,
        "status": {"type": "string", "enum": [*_STATUSES, "deleted"]},
        "addBlocks": _IDS,
        "addBlockedBy": _IDS,
        "owner": _TEXT,
        "metadata": {"type": "object"},
    },
    examples=({"taskId": "1", "status": DONE},),
    idempotent=True,
)
LIST = _tool("TaskList", "list", [], {}, examples=({},), read_only=True, concurrency_safe=True)
GET = _tool(
    "TaskGet", "get", ["taskId"], {"taskId": _TEXT}, examples=({"taskId": "1"},), read_only=True, concurrency_safe=True
)


def _apply(plan: Plan, call: Call) -> Plan:
    if call.tool is CREATE:
        known, after = _taskless(plan, call.args["subject"]), _created(plan, call.args)
        return _with_check(after, known.id if known else str(after.last_id), call.args)
    if call.tool is UPDATE:
        item = _find(plan, call.args["taskId"])
        after = _updated(plan, item, _left(call, item), lambda id: _find(plan, id))
        return _with_check(after, item.id, call.args)
    if call.tool is GET:
        _find(plan, call.args["taskId"])
    return plan


def _with_check(plan: Plan, id: str, args: dict[str, Any]) -> Plan:
    """The plan with the check that the metadata of a task names. Raises Refused for what cannot be one."""
    check = args.get("metadata", {}).get("check")
    if not check or all(item.id != id for item in plan.items):
        return plan
    return ops.set_check(plan, id, check)


def _mirror(plan: Plan, call: Call) -> Plan:
    """What Claude Code's own tools have done already. Only it numbers tasks: one that it does not know has none."""
    if call.tool is CREATED:
        known, after = _taskless(plan, call.args["subject"]), _created(plan, call.args, call.owner)
        return _with_possible_check(after, known.id if known else str(after.last_id), call.args)
    item = _numbered(plan, call.args["taskId"], call.owner)
    after = _updated(plan, item, _left(call, item), lambda id: _numbered(plan, id, call.owner))
    return _with_possible_check(after, item.id, call.args)


def _with_possible_check(plan: Plan, id: str, args: dict[str, Any]) -> Plan:
    """The same, for a task that was changed already: metadata may hold something else under that name."""
    try:
        return _with_check(plan, id, args)
    except Refused:
        return plan


def _created(plan: Plan, args: dict[str, Any], owner: str = "") -> Plan:
    """Add a task. One in the words of an open item that is not a task yet is that item."""
    extra = {key: args[key] for key in ("description", "metadata") if args.get(key)}
    if owner:
        extra[_NUMBERED_BY] = owner
    known = _taskless(plan, args["subject"])
    if known is None:
        number = args.get("id") or str(plan.last_id + 1)
        return ops.add(plan, args["subject"], active=args.get("activeForm", ""), extra={"id": number, **extra})
    number = args.get("id") or known.id
    active = args.get("activeForm") or known.active
    return ops.put(plan, known._replace(active=active, extra={**known.extra, "id": number, **extra}))


def _taskless(plan: Plan, subject: str) -> Item | None:
    """The open item in these words that has no number of a task."""
    words = plainly(subject)
    for item in plan.items:
        if not item.is_closed and not item.extra.get("id") and plainly(item.text) == words:
            return item
    return None


def _asked(find: Callable[[Plan, str, str], Item]) -> Callable[[Plan, Call], list[Asked]]:
    def asked(plan: Plan, call: Call) -> list[Asked]:
        """What an update asks of its task."""
        if call.tool is not UPDATE:
            return []
        try:
            item = find(plan, call.args["taskId"], call.owner)
        except Refused:
            return []
        found = []
        if "subject" in call.args or "activeForm" in call.args:
            found.append(Asked("edit", item.id, "subject", call.args.get("subject", "")))
        verb = _verb(item, call.args)
        if verb:
            found.append(Asked(verb, item.id, call.args["status"]))
        return found

    return asked


def _verb(item: Item, args: dict[str, Any]) -> str:
    """What a status that is sent asks for."""
    status = args.get("status")
    if status == PENDING:
        if item.is_closed:
            return "start"
        return ""
    return {"deleted": "delete", ACTIVE: "start", DONE: "done"}.get(status or "", "")


def _left(call: Call, item: Item) -> dict[str, Any]:
    """The arguments of an update without what is not applied."""
    args: dict[str, Any] = dict(call.args)
    if ("edit", item.id) in call.spared:
        args.pop("subject", None)
        args.pop("activeForm", None)
    if (_verb(item, call.args), item.id) in call.spared:
        del args["status"]
    elif item.owner in call.ended:
        args.setdefault("owner", call.owner)  # who began it is not at work: it is taken over
    return args


def _numbered(plan: Plan, id: str, owner: str) -> Item:
    """The last task to which this session of Claude Code gave this number: after a `/clear` it counts from 1 again."""
    wanted = id.strip().removeprefix("#")
    own = [item for item in plan.items if item.extra.get(_NUMBERED_BY, "") == owner]
    found = [item for item in own if str(item.extra.get("id", "")) == wanted != ""]
    if not found:
        raise Refused("Task not found")
    return max(found, key=lambda item: int(item.id))


def _find(plan: Plan, id: str, owner: str = "") -> Item:
    """The task with this number: one that was brought along, else ours. All sessions are shown the same numbers."""
    wanted = id.strip().removeprefix("#")
    for item in (*(one for one in plan.items if one.extra.get("id")), *plan.items):
        if _id(item) == wanted:
            return item
    raise Refused("Task not found")


def _updated(plan: Plan, item: Item, args: dict[str, Any], find: Callable[[str], Item]) -> Plan:
    if args.get("status") == "deleted":
        return ops.remove(plan, item.id)
    same = args.get("status") in (None, _SHOWN.get(item.status))
    new = item._replace(
        text=args.get("subject", item.text),
        active=args.get("activeForm", item.active),
        status=item.status if same else args["status"],
        reason=item.reason if same else "",
        owner=args.get("owner", item.owner),
        needs=_joined(item.needs, [find(id).id for id in args.get("addBlockedBy", ())]),
        extra=_extra(item, args),
    )
    plan = ops.put(plan, new)
    for id in args.get("addBlocks", ()):
        other = ops.find(plan, find(id).id)
        plan = ops.put(plan, other._replace(needs=_joined(other.needs, [item.id])))
    check_needs(plan)
    return plan


def _joined(needs: tuple[str, ...], more: list[str]) -> tuple[str, ...]:
    if more:
        return tuple(dict.fromkeys([*needs, *more]))
    return needs


def _extra(item: Item, args: dict[str, Any]) -> dict[str, Any]:
    extra = dict(item.extra)
    if "description" in args:
        extra["description"] = args["description"]
    if "metadata" in args:
        merged = {**extra.get("metadata", {}), **args["metadata"]}
        extra["metadata"] = {key: value for key, value in merged.items() if value is not None}
    return extra


def _id(item: Item) -> str:
    return str(item.extra.get("id") or item.id)


# --- the answers ---------------------------------------------------------------------------------------------------


def _reply(turn: Turn) -> Reply:
    call = turn.call
    if call.tool is CREATE:
        return _create_reply(turn)
    if call.tool is UPDATE:
        text = _update_reply(turn)
    elif call.tool is GET:
        text = "\n".join(_described(turn.plan, _find(turn.plan, call.args["taskId"])))
    else:
        text = (
            "\n".join(_line(turn.plan, item) for item in turn.plan.items if item.status in _SHOWN) or "No tasks found"
        )
    return Reply(text, text)


def _update_reply(turn: Turn) -> str:
    args = turn.call.args
    number = cut(inline(args["taskId"].strip().removeprefix("#")), 40)
    try:
        left = _left(turn.call, _find(turn.before, args["taskId"]))
    except Refused:  # the mirror's answer is read by nobody
        left = args
    fields = [name for name in left if name != "taskId"]
    if not fields and turn.call.spared:
        return f"Task #{number} was not changed"
    return f"Updated task #{number} {', '.join(fields)}".rstrip()


def _create_reply(turn: Turn) -> Reply:
    known = {item.id: item for item in turn.before.items}
    added = [item for item in turn.plan.items if item.extra.get("id") and item != known.get(item.id)]
    added = [item for item in added if item.id not in known or not known[item.id].extra.get("id")]
    if not added:
        return Reply("The task was not created.", "", True)
    text = f"Task #{_name(added[0])} created successfully: {inline(added[0].text)}"
    return Reply(text, text, details={"task": {"id": added[0].id, "subject": added[0].text}})


def _name(item: Item) -> str:
    return cut(inline(_id(item)), 40)


def _line(plan: Plan, item: Item) -> str:
    line = f"#{_name(item)} [{_SHOWN[item.status]}] {inline(item.text)}"
    if item.owner:
        line += f" ({inline(item.owner)})"
    waits = [f"#{_name(ops.find(plan, id))}" for id in ops.open_needs(plan, item)]
    if waits:
        line += f" [blocked by {', '.join(waits)}]"
    return line


def _described(plan: Plan, item: Item) -> list[str]:
    lines = [f"Task #{_name(item)}: {inline(item.text)}", f"Status: {_SHOWN.get(item.status, item.status)}"]
    if item.extra.get("description"):
        lines.append(f"Description: {block(str(item.extra['description']))}")
    waits = [f"#{_name(other)}" for other in plan.items if other.id in item.needs]
    holds = [f"#{_name(other)}" for other in plan.items if item.id in other.needs]
    if waits:
        lines.append(f"Blocked by: {', '.join(waits)}")
    if holds:
        lines.append(f"Blocks: {', '.join(holds)}")
    return lines


DIALECT = Dialect(
    name="claude-tasks",
    tools=(CREATE, UPDATE, LIST, GET),
    apply=_apply,
    reply=_reply,
    guide=Guide(knows_ids=True, writer=UPDATE.name),
    asked=_asked(_find),
    tolerant=True,
    system="claude-tasks.system",
)
MIRROR = DIALECT._replace(
    tools=(CREATED, UPDATE),
    apply=_mirror,
    asked=_asked(_numbered),
    reply=lambda turn: Reply(""),
    guide=Guide(),  # the model knows other numbers than ours, and none of what the user added
)


# --- the format `claude-tasks` of import and export ----------------------------------------------------------------

_TASKS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "subject", "status"],
        "properties": {
            "id": {"type": "string", "minLength": 1},
            "subject": {"type": "string", "minLength": 1},
            "description": _TEXT,
            "activeForm": _TEXT,
            "status": {"type": "string", "enum": _STATUSES},
            "owner": _TEXT,
            "blocks": _IDS,
            "blockedBy": _IDS,
            "metadata": {"type": "object"},
        },
    },
}

OWN_IDS = True  # its tasks have ids that mean something to it


def read(data: object) -> Plan:
    """Task objects, in their order."""
    tasks = checked(data, _TASKS)
    if len({task["id"] for task in tasks}) < len(tasks):
        raise Refused("two tasks have the same id.")
    needs: dict[str, list[str]] = {task["id"]: list(task.get("blockedBy", ())) for task in tasks}
    for task in tasks:
        for id in task.get("blocks", ()):
            needs.setdefault(id, []).append(task["id"])
    ours = _numbers([task["id"] for task in tasks])
    items = tuple(_imported(task, ours, needs[task["id"]]) for task in tasks)
    plan = Plan(items=items, last_id=max((int(item.id) for item in items), default=0))
    check_needs(plan)
    return plan


def _numbers(ids: list[str]) -> dict[str, str]:
    """Their ids as ours: the same where they are plain numbers."""
    if all(id.isascii() and id.isdigit() and id[0] != "0" and len(id) < 10 for id in ids):
        return {id: id for id in ids}
    return {id: str(number) for number, id in enumerate(ids, 1)}


def _imported(task: dict[str, Any], ours: dict[str, str], needs: list[str]) -> Item:
    known = ("id", "subject", "activeForm", "status", "owner", "blocks", "blockedBy")
    extra = {key: value for key, value in task.items() if key not in known}
    id = ours[task["id"]]
    if id != task["id"]:
        extra["id"] = task["id"]
    return Item(
        id=id,
        text=task["subject"],
        status=task["status"],
        active=task.get("activeForm", ""),
        owner=task.get("owner", ""),
        needs=tuple(ours[other] for other in dict.fromkeys(needs) if other in ours),
        extra=extra,
    )


def write(plan: Plan) -> list[dict[str, Any]]:
    return [_exported(plan, item) for item in plan.items if item.status in _SHOWN]


def _exported(plan: Plan, item: Item) -> dict[str, Any]:
    task: dict[str, Any] = {"id": _id(item), "subject": item.text, "description": "", "activeForm": item.label}
    task |= {key: value for key, value in item.extra.items() if key not in ("id", _NUMBERED_BY)}
    task |= {
        "status": _SHOWN[item.status],
        "blocks": [_id(other) for other in plan.items if item.id in other.needs],
        "blockedBy": [_id(other) for other in plan.items if other.id in item.needs],
    }
    if item.owner:
        return {**task, "owner": item.owner}
    return task

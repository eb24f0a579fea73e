"""oh-my-pi's todo_write: ordered operations on phases of tasks, each task known by its exact text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core import ops
from ..core._typing import TYPE_CHECKING, Any
from ..core.conflicts import Asked
from ..core.errors import Partial
from ..core.merge import interleaved, linked
from ..core.model import ACTIVE, BLOCKED, DONE, DROPPED, PENDING, Item, Plan
from ..core.ops import grouped
from ..core.resend import Sent, relist
from ..core.rules import Rules
from ..core.schema import Schema, check
from ..core.text import block, inline
from ..policy.dialect_guide import Audience, Guide, Listed
from ..policy.limits import Limits
from ..prompts import say
from . import Call, Dialect, Reply, Tool, Turn, refusal

if TYPE_CHECKING:
    from ..core.types import Status


_SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE, DROPPED: DROPPED}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_OPS = ("init", "start", "done", "drop", "rm", "append", "note")

WRITE = Tool(
    name="todo_write",
    schema={
        "type": "object",
        "properties": {
            "ops": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "op": {"type": "string", "enum": list(_OPS)},
                        "list": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {"phase": {"type": "string"}, "items": _TEXTS},
                                "required": ["phase", "items"],
                            },
                        },
                        "task": {"type": "string"},
                        "phase": {"type": "string"},
                        "items": _TEXTS,
                        "text": {"type": "string"},
                    },
                    "required": ["op"],
                },
            }
        },
        "required": ["ops"],
        "additionalProperties": False,
    },
    prompt="oh-my-pi",
    summary="oh-my-pi.summary",
    examples=(
        {"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["Write the parser", "Test the parser"]}]}]},
        {"ops": [{"op": "done", "task": "Write the parser"}]},
    ),
    title="Todo",
    category="todo",
    exclusive=True,
    discoverable=True,
    strict=True,
    for_subagents=False,
)


def _judge(call: Call) -> str:
    """The schema, except that an empty `items` of an operation has an error of its own."""
    problems = check(call.args, call.tool.schema)
    return refusal(call.tool, [f for f in problems if not (f.rule == "minItems" and len(f.path) == 3)])


def _apply(plan: Plan, call: Call) -> Plan:
    errors: list[str] = []
    for op in call.args["ops"]:
        plan = _VERBS[op["op"]](plan, op, errors, call)
    if errors:
        raise Partial(plan, errors)
    return plan


# --- the operations: each adds what went wrong to `errors` and leaves the plan as it was then ------------------------


def _init(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
    groups = op.get("list")
    if groups is None:
        errors.append("Missing list for init operation")
        return plan
    names = told_apart([group["phase"] for group in groups])
    sent = [(name, text) for name, group in zip(names, groups, strict=True) for text in group["items"]]
    if not all(text.strip() for _, text in sent):
        errors.append("Missing task content")
        return plan
    sent = _in_words_of_now(plan, sent, call)
    flat = plan._replace(phases=(), items=tuple(item._replace(phase="") for item in plan.items))
    known = relist(flat, [Sent(text, PENDING) for _, text in sent], _SHOWN)
    items = [Item(old.id, text, phase=phase) for old, (phase, text) in zip(known.items, sent, strict=True)]
    items = _with_owners(plan, items, call)
    new = grouped(known._replace(items=tuple(items), phases=tuple(name for name in names if name)))
    return _with_lasting(plan, new, call)


def _with_owners(plan: Plan, items: list[Item], call: Call) -> list[Item]:
    """A new list, in which what another session works on goes on, and what is this session's own stays so."""
    if not call.owner and not call.others:
        return items
    old = {item.id: item for item in plan.items}
    found: list[Item] = []
    for item in items:
        was = old.get(item.id, item)
        if call.is_others(was):
            item = item._replace(status=ACTIVE, owner=was.owner)
        elif was.owner:
            item = item._replace(owner=was.owner)
        found.append(item)
    return found


def _in_words_of_now(plan: Plan, sent: list[tuple[str, str]], call: Call) -> list[tuple[str, str]]:
    """What was sent, with the words of now for a task that was renamed since: its old ones are no other task."""
    if not call.words:
        return sent
    taken = {item.text for item in plan.items} & {text for _, text in sent}
    found: list[tuple[str, str]] = []
    for phase, text in sent:
        task = None if text in taken else _find(plan, text, call)
        if task is not None and task.text not in taken:
            text = task.text
            taken.add(text)
        found.append((phase, text))
    return found


def _with_lasting(plan: Plan, new: Plan, call: Call) -> Plan:
    """A new list, with the tasks in their places that it cannot leave out."""
    there = {item.id for item in new.items}
    lasting = [item for item in plan.items if ("omit", item.id) in call.spared and item.id not in there]
    if not lasting:
        return new
    items = {item.id: item for item in [*new.items, *lasting]}
    order = interleaved([item.id for item in new.items], [item.id for item in plan.items if item.id in items])
    used = {*new.phases, *(item.phase for item in lasting)}
    phases = interleaved(new.phases, [name for name in plan.phases if name in used])
    return grouped(linked(new._replace(items=tuple(items[id] for id in order), phases=tuple(phases))))


def told_apart(names: Sequence[str]) -> list[str]:
    """The names of phases, each once: a second `Build` is `Build (2)`. Those without a name are one."""
    found: list[str] = []
    for name in names:
        number, new = 2, name
        while new in found and name:
            number, new = number + 1, f"{name} ({number})"
        found.append(new)
    return found


def _start(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
    task = _task(plan, op, errors, call)
    if task is None or ("start", task.id) in call.spared:
        return plan
    plan = ops.released(plan, [task.id], call.ended)
    owner = ops.find(plan, task.id).owner or call.owner

    def begun(item: Item) -> Item:
        if item.id == task.id:
            return item._replace(status=ACTIVE, owner=owner, reason="", closed=None)
        if item.status == ACTIVE and item.owner == owner:
            return item._replace(status=PENDING)
        return item

    return plan._replace(items=tuple(map(begun, plan.items)))


_Verb = Callable[[Plan, dict[str, Any], list[str], Call], Plan]


def _close(status: Status) -> _Verb:
    def close(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
        ids = _targets(plan, op, errors, call)
        items = list(plan.items)
        for place, item in enumerate(items):
            if item.id in ids and item.status != status:
                items[place] = item._replace(status=status, reason="")
        return plan._replace(items=tuple(items))

    return close


def _rm(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
    ids = _targets(plan, op, errors, call)
    return linked(plan._replace(items=tuple(item for item in plan.items if item.id not in ids)))


def _append(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
    phase, texts = op.get("phase"), op.get("items")
    if not phase:
        errors.append("Missing phase name for append operation")
    if not texts:
        errors.append("Missing items for append operation")
    if not phase or not texts:
        return plan
    phase = _phase(plan, phase)
    known = {item.text for item in plan.items}
    new: list[Item] = []
    for text in texts:
        if not text.strip():
            errors.append("Missing task content")
        elif text in known:
            errors.append(f'Task "{inline(text)}" already exists')
        else:
            known.add(text)
            new.append(Item(str(plan.last_id + len(new) + 1), text, phase=phase))
    phases = plan.phases if phase in plan.phases else (*plan.phases, phase)
    return grouped(plan._replace(items=(*plan.items, *new), phases=phases, last_id=plan.last_id + len(new)))


def _note(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
    task = _task(plan, op, errors, call)
    text = op.get("text", "").rstrip()
    if task is not None and not text:
        errors.append("Missing text for note operation")
    if task is None or not text:
        return plan
    return ops.put(plan, task._replace(notes=(*task.notes, text)))


def _block(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
    task = _task(plan, op, errors, call)
    if task is None or task.is_closed or ("block", task.id) in call.spared:
        return plan
    return ops.block(plan, task.id, why=op.get("text") or "blocked")


def _unblock(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Plan:
    task = _task(plan, op, errors, call)
    if task is None or ("unblock", task.id) in call.spared:
        return plan
    return ops.unblock(plan, task.id)


_VERBS: dict[str, _Verb] = {
    "init": _init,
    "start": _start,
    "done": _close(DONE),
    "drop": _close(DROPPED),
    "rm": _rm,
    "append": _append,
    "note": _note,
    "block": _block,
    "unblock": _unblock,
}
_SHAPING = ("init", "append", "rm")  # those after which there are other tasks
# What each operation asks of the tasks it names.
_ASKED = {**{name: name for name in ("start", "done", "note", "block", "unblock")}, "drop": "delete", "rm": "delete"}


def _targets(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> set[str]:
    """The ids of the tasks that an operation closes or removes."""
    if "task" in op:
        task = _task(plan, op, errors, call)
        ids = {task.id} if task else set()
    elif "phase" not in op:
        ids = {item.id for item in plan.items}
    else:
        name = _phase(plan, op["phase"])
        if not name:
            errors.append("Missing phase name")
        elif name not in _names(plan):
            errors.append(f'Phase "{inline(name)}" not found')
        ids = {item.id for item in plan.items if (item.phase or _LOOSE) == name}
    return {id for id in ids if (_ASKED[op["op"]], id) not in call.spared}


def _task(plan: Plan, op: dict[str, Any], errors: list[str], call: Call) -> Item | None:
    text = op.get("task")
    if not text:
        errors.append("Missing task content")
        return None
    found = _find(plan, text, call)
    if found is None:
        hint = "" if plan.items else " " + say("oh-my-pi.empty-hint")
        errors.append(f'Task "{inline(text)}" not found{hint}')
    return found


def _find(plan: Plan, text: str, call: Call) -> Item | None:
    """The first task in these words; else the one that had them before it was renamed; else the first that is shown in
    these words, where its own cannot be shown as they are."""
    for item in plan.items:
        if item.text == text:
            return item
    id = call.words.get(text)
    if id is None:
        shown = _as_shown(text)
        return next((item for item in plan.items if _as_shown(item.text) == shown), None)
    return next((item for item in plan.items if item.id == id), None)


def _phase(plan: Plan, name: str) -> str:
    """The phase that is called so, or shown so; the name itself, if there is none."""
    names = _names(plan)
    if name in names:
        return name
    shown = _as_shown(name)
    return next((one for one in names if _as_shown(one) == shown), name)


def _as_shown(text: str) -> str:
    """A text as a model is shown it and may send it back: with every letter as one character."""
    shown = inline(text)
    if shown.isascii():
        return shown
    from unicodedata import normalize

    return normalize("NFC", shown)


def _asked(plan: Plan, call: Call) -> list[Asked]:
    """What a call asks of each task that was there before it, by its words, its phase or all of them."""
    known = {item.id for item in plan.items}
    bare = Call(call.tool, {}, words=call.words)
    found: list[Asked] = []
    for op in call.args["ops"]:
        if op["op"] == "init":
            asked = _left_out(plan, op, bare)
        else:
            asked = _asked_of(plan, op, bare)
        found += [one for one in asked if not one.id or one.id in known]
        if op["op"] in _SHAPING:
            plan = _VERBS[op["op"]](plan, op, [], bare)
    return found


def _asked_of(plan: Plan, op: dict[str, Any], call: Call) -> list[Asked]:
    verb, text = _ASKED.get(op["op"], ""), op.get("task", "")
    if not verb:
        return []
    if text:
        task = _find(plan, text, call)
        return [Asked(verb, task.id, op["op"]) if task else Asked(verb, "", op["op"], text)]
    return [Asked(verb, id, op["op"]) for id in sorted(_targets(plan, op, [], call), key=int)]


def _left_out(plan: Plan, op: dict[str, Any], call: Call) -> list[Asked]:
    """The tasks that a new list does not have, and the words in it that no task has now."""
    if not plan.items:
        return []
    listed = {item.id for item in _init(plan, op, [], call).items}
    texts = {item.text for item in plan.items}
    left = [Asked("omit", item.id, "init") for item in plan.items if item.id not in listed]
    if len(left) == len(plan.items) and not plan.open_items:  # it has nothing to do with the one that is finished
        left = []
    sent = [text for group in op.get("list") or () for text in group["items"]]
    return [*left, *(Asked("", "", "init", text) for text in sent if text not in texts)]


# --- the answer ----------------------------------------------------------------------------------------------------

_LOOSE = "Todos"  # how items without a phase are shown
_MARKS = {PENDING: "○", BLOCKED: "○", ACTIVE: "▶", DONE: "✓", DROPPED: "✗"}


def _reply(turn: Turn) -> Reply:
    text = _summary(turn.plan, turn.errors)
    details: dict[str, Any] = {"phases": phases(turn.plan), "storage": "session" if turn.call.durable else "memory"}
    done = _completed(turn.before, turn.plan)
    if done:
        details["completedTasks"] = done
    details["errors"] = list(turn.errors)
    return Reply(text, text, bool(turn.errors), details)


def _summary(plan: Plan, errors: Sequence[str]) -> str:
    parts = []
    if errors:
        parts = [f"Errors: {'; '.join(errors)}"]
    if not plan.items:
        parts.append("The list is empty." if errors else "Todo list cleared.")
        return "\n".join(parts)
    left = [item for item in plan.items if item.status in (PENDING, ACTIVE, BLOCKED)]
    parts.append(f"Remaining ({len(left)}):" if left else "Nothing remains.")
    parts += [f"- {inline(item.text)} [{_SHOWN[item.status]}] ({inline(item.phase or _LOOSE)})" for item in left]
    parts += _current(plan, left)
    for name in _names(plan):
        items = [item for item in plan.items if (item.phase or _LOOSE) == name]
        parts.append(f"{inline(name)}:")
        parts += [line for item in items for line in _branch(item)]
    return "\n".join(parts)


def _current(plan: Plan, left: list[Item]) -> list[str]:
    working = [item for item in (plan.active, *left) if item]
    if not working:
        return []
    name = working[0].phase or _LOOSE
    inside = [item for item in plan.items if (item.phase or _LOOSE) == name]
    closed = sum(item.is_closed for item in inside)
    names = _names(plan)
    return [f"Phase {names.index(name) + 1}/{len(names)} {inline(name)}: {closed}/{len(inside)} closed"]


def _branch(item: Item) -> list[str]:
    lines = [f"  {_MARKS[item.status]} {inline(item.text)}"]
    if item.status == ACTIVE:
        lines += [f"      {line}" for note in item.notes for line in block(note).split("\n")]
    return lines


def _completed(before: Plan, plan: Plan) -> list[dict[str, str]]:
    was = {item.id: item.status for item in before.items}
    return [
        {"phase": item.phase or _LOOSE, "content": item.text}
        for item in plan.items
        if item.status == DONE and was.get(item.id, DONE) != DONE
    ]


def _names(plan: Plan) -> list[str]:
    loose = []
    if any(not item.phase for item in plan.items) and _LOOSE not in plan.phases:
        loose = [_LOOSE]
    return [*loose, *plan.phases]


def phases(plan: Plan) -> list[dict[str, Any]]:
    """The plan as this agent keeps it."""
    return [
        {"name": name, "tasks": [_listed(item) for item in plan.items if (item.phase or _LOOSE) == name]}
        for name in _names(plan)
    ]


def _listed(item: Item) -> dict[str, Any]:
    task: dict[str, Any] = {"content": item.text, "status": _SHOWN[item.status]}
    if item.notes:
        return {**task, "notes": list(item.notes)}
    return task


def _names_all(call: Call) -> bool:
    """Not with a new list, a whole phase, or everything there is: who says that means what it has seen. Nor is anything
    taken off the list that was never seen there."""
    return all(op["op"] == "append" or (op["op"] not in ("init", "rm") and op.get("task")) for op in call.args["ops"])


def _list(plan: Plan, context: str, to: Audience) -> Listed:
    """The list with its notes."""
    if not plan.items or context == "start":
        return Listed()
    return Listed(say("oh-my-pi.list", list=_summary(plan, ())))


DIALECT = Dialect(
    name="oh-my-pi",
    tools=(WRITE,),
    apply=_apply,
    reply=_reply,
    rules=Rules(one_active=True, promote=True, speaks_of="seen", clears=True),
    judge=_judge,
    asked=_asked,
    names_all=_names_all,
    system="oh-my-pi.system",
    guide=Guide(
        limits=Limits(remind_after=0, budget=-1),  # it reminds of a failed call, and of nothing else
        listed=_list,
        lists_all=True,
        clears_on_resume=True,
        failed="oh-my-pi.failed",
    ),
)
# The newer `todo` of oh-my-pi itself can block and unblock, too.
_OP: Schema = WRITE.schema["properties"]["ops"]["items"]
_NAMED: Schema = {**_OP["properties"], "op": {"type": "string", "enum": list(_VERBS)}}
MIRROR = DIALECT._replace(
    tools=(
        WRITE._replace(
            schema={
                **WRITE.schema,
                "properties": {"ops": {**WRITE.schema["properties"]["ops"], "items": {**_OP, "properties": _NAMED}}},
            },
            for_subagents=True,
        ),
    )
)

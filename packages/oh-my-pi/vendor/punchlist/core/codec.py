"""Plans as JSON, without loss. A key that is absent has its default."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress, count
from operator import attrgetter, is_not

from ._typing import TYPE_CHECKING, Any
from .diff import Change
from .errors import BadShape, Refused
from .model import FIELDS, MODES, NOTHING, PENDING, STATUSES, Closing, Item, Pause, Plan, SessionState

if TYPE_CHECKING:
    from .schema import Schema


_ITEM_DEFAULTS = tuple(Item._field_defaults.items())
_RENAMED = {"pushes": "nudges", "pushed_at": "nudged_at"}  # as stores of an earlier version have it
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_COUNT: Schema = {"type": "integer"}
_KINDS: dict[str, Schema] = {
    "id": {"type": "string", "minLength": 1},
    "text": {"type": "string", "minLength": 1},
    "words": _TEXT,
    "status": {"type": "string", "enum": list(STATUSES)},
    "ids": _TEXTS,
    "texts": _TEXTS,
    "objects": {"type": "array", "items": {"type": "object"}},
    "object": {"type": "object"},
    "check": {},  # a text or an object: `read_check` says what is wrong with it
    "closing": {"type": "object", "properties": {"by": _TEXT, "at": _TEXT}, "additionalProperties": False},
}
_TUPLES = [name for name, field in FIELDS.items() if field.kind in ("ids", "texts", "objects")]
_DERIVED: dict[str, Schema] = {
    "grade": _TEXT,
    "looks_done": {"type": "boolean"},
}  # what `show` adds; no part of an item
ITEM_SCHEMA: Schema = {
    "type": "object",
    "required": ["id", "text"],
    "additionalProperties": False,
    "properties": {**{name: _KINDS[field.kind] for name, field in FIELDS.items()}, **_DERIVED},
}
PLAN_SCHEMA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": _TEXT,
        "title": _TEXT,
        "revision": _COUNT,
        "mode": {"type": "string", "enum": list(MODES)},
        "paused": {
            "type": "object",
            "required": ["reason"],
            "additionalProperties": False,
            "properties": {"reason": _TEXT, "at": _TEXT, "item": _TEXT, "attempts": _COUNT, "last_prompt_at": _TEXT},
        },
        "phases": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "items": {"type": "array", "items": ITEM_SCHEMA},
        "last_id": _COUNT,
        "removed": _TEXTS,
        "session": {"type": "object"},  # what `show` adds, as `verified`; no part of the plan
        "verified": _COUNT,
    },
}


def to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON, without loss. `revision` and `items` are always there; other keys if they are set."""
    data: dict[str, Any] = {"id": plan.id, "title": plan.title, "revision": plan.revision, "mode": plan.mode}
    data = {key: value for key, value in data.items() if key == "revision" or value}
    if plan.mode == "act":
        del data["mode"]
    if plan.paused:
        data["paused"] = paused_to_json(plan.paused)
    if plan.phases:
        data["phases"] = list(plan.phases)
    data["items"] = [item_to_json(item) for item in plan.items]
    if plan.last_id != max((int(item.id) for item in plan.items), default=0):
        data["last_id"] = plan.last_id
    if plan.removed:
        data["removed"] = list(plan.removed)
    return data


def from_json(data: object) -> Plan:
    """Return the plan of parsed JSON. Raises BadShape, whose `problems` has everything that is wrong."""
    from .rules import problems
    from .schema import check, listed

    wrong = check(data, PLAN_SCHEMA)
    if wrong or not isinstance(data, dict):
        raise BadShape(listed(wrong, lambda problem: problem.of("the plan")))
    _refuse_bad_checks(data.get("items", ()))
    items = tuple(item_from_json(entry) for entry in data.get("items", ()))
    digits = [int(item.id) for item in items if item.id.isascii() and item.id.isdigit() and len(item.id) < 19]
    plan = Plan(
        id=data.get("id", ""),
        title=data.get("title", ""),
        revision=data.get("revision", 0),
        mode=data.get("mode", "act"),
        paused=paused_from_json(data.get("paused")),
        phases=tuple(data.get("phases", ())),
        items=items,
        last_id=max([data.get("last_id", 0), *digits]),
        removed=tuple(data.get("removed", ())),
    )
    broken = problems(plan)
    if broken:
        raise BadShape([f"{line}." for line in broken[:20]])
    return plan


def _refuse_bad_checks(entries: Sequence[Mapping[str, Any]]) -> None:
    from .checks import read_check

    for entry in entries:
        if entry.get("check"):
            try:
                read_check(entry["check"])
            except Refused as refusal:
                raise BadShape([f"item {_named(entry['id'])}: {refusal}"]) from None


def item_to_json(item: Item) -> dict[str, Any]:
    data: dict[str, Any] = {"id": item.id, "text": item.text}
    for (name, default), value in zip(_ITEM_DEFAULTS, item[2:], strict=True):
        if value is not default and value != default:
            data[name] = _plain(value)
    data.setdefault("status", item.status)
    return data


def item_from_json(data: Mapping[str, Any]) -> Item:
    fields = dict(data)
    for name in _TUPLES:
        if name in fields:
            fields[name] = tuple(fields[name])
    for name in _DERIVED:
        fields.pop(name, None)
    if fields.get("check"):
        fields["check"] = _check_of(fields["check"])
    if fields.get("status", PENDING) not in STATUSES:  # an older version let it in; no screen could show it
        fields["status"] = PENDING
    if "closed" in fields:
        fields["closed"] = Closing(fields["closed"].get("by", ""), fields["closed"].get("at", ""))
    return Item(**fields)


def _check_of(data: object) -> Mapping[str, Any]:
    """A check as it was kept. An older version kept a text; what is none is left out: the plan is worth more."""
    from .checks import is_kept_command, read_check

    if is_kept_command(data):
        return data
    try:
        return read_check(data)
    except Refused:
        return NOTHING


def paused_to_json(paused: Pause | None) -> dict[str, Any] | None:
    if paused is None:
        return None
    data = {name: value for name, value in paused._asdict().items() if value}
    return {"reason": paused.reason, **data}


def paused_from_json(data: Mapping[str, Any] | None) -> Pause | None:
    if data is None:
        return None
    return Pause(**{"reason": "", **data})


def change_to_json(change: Change) -> list[Any]:
    return [change.kind, change.id, _value(change.before), _value(change.after), change.at]


def change_from_json(data: list[Any]) -> Change:
    kind, id, before, after, at = data
    if kind in ("added", "removed", "changed"):
        return Change(kind, id, _item_or_none(before), _item_or_none(after), at)
    if kind == "plan" and id == "paused":
        return Change(kind, id, paused_from_json(before), paused_from_json(after), at)
    return Change(kind, id, _frozen(before), _frozen(after), at)


def _value(value: Any) -> Any:
    if isinstance(value, Item):
        return item_to_json(value)
    if isinstance(value, Pause):
        return paused_to_json(value)
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Closing):
        return {"by": value.by, "at": value.at}
    if isinstance(value, tuple):
        return list(value)
    return value


def _item_or_none(data: dict[str, Any] | None) -> Item | None:
    if data is None:
        return None
    return item_from_json(data)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return value


# --- what may be saved ---------------------------------------------------------------------------------------------

_STRUCTURE = attrgetter("id", "phase", "parent", "needs")
_ITEM_KINDS = [FIELDS[name].kind for name in Item._fields]
_BLANK_ITEM = (None, None, *Item._field_defaults.values())  # an item that has nothing yet
_DEEPEST = 100  # levels of lists and objects in a value that is saved
_JSON = "JSON: strings, finite numbers, booleans, null, lists, and objects with string keys"


def refuse_unsound(before: Plan, after: Plan, changes: Sequence[Change]) -> None:
    """Refuse a plan that could not be read again. Only what changed is checked, so that a save stays cheap."""
    found: list[str] = []
    for change in changes:
        found += _change_problems(change)
    if type(after.last_id) is not int:
        found.append(f"last_id must be a number, not {_named(after.last_id)}")
    if not found and any(map(_changes_structure, changes)):
        found = _new_problems(before, after, changes)
    if found:
        raise BadShape([f"{line}." for line in found[:20]])


def refuse_untyped(plan: object) -> None:
    """Refuse what is not a plan, or holds a value of the wrong type."""
    if not isinstance(plan, Plan):
        raise BadShape([f"an edit must return a plan, not {_named(plan)}."])
    if not isinstance(plan.items, tuple) or not all(isinstance(item, Item) for item in plan.items):
        raise BadShape(["the items of a plan must be a tuple of items."])
    found = [line for item in plan.items for line in _item_problems(None, item)]
    found += [line for name in ("title", "mode", "paused", "phases", "removed") for line in _head_problems(name, plan)]
    if found:
        raise BadShape([f"{line}." for line in found[:20]])


def _change_problems(change: Change) -> list[str]:
    if change.kind in ("added", "changed"):
        return _item_problems(change.before, change.after)
    if change.kind == "plan":
        return _head_problems(change.id, change.after)
    return []


def _item_problems(before: Item | None, after: Item) -> list[str]:
    """What is wrong with the fields of an item that are not as they were."""
    old: tuple[Any, ...] = before or _BLANK_ITEM
    found = []
    for place in compress(count(), map(is_not, old, after)):
        kind, value = _ITEM_KINDS[place], after[place]
        if kind == "objects":
            is_right = _are_objects(value, old[place])
        else:
            is_right = _CHECKS[kind](value)
        if not is_right:
            name = Item._fields[place]
            found.append(f"item {_named(after.id)}: {name} must be {_SHOULD_BE[kind]}, not {_named(value)}")
    return found


def _head_problems(name: str, value: Any) -> list[str]:
    if isinstance(value, Plan):
        value = getattr(value, name)
    kind = _HEAD_KINDS[name]
    if _CHECKS[kind](value):
        return []
    return [f"{name} must be {_SHOULD_BE[kind]}, not {_named(value)}"]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_check(value: Any) -> bool:
    from .checks import is_check

    return is_check(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19


def _is_closing(value: Any) -> bool:
    return value is None or (isinstance(value, Closing) and _are_texts(tuple(value)))


def _is_pause(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, Pause):
        return False
    texts = (value.reason, value.at, value.item, value.last_prompt_at)
    return _are_texts(texts) and isinstance(value.attempts, int)


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(entry, str) for entry in value)


def _are_objects(value: Any, was: Any) -> bool:
    """Whether these are objects of JSON; those that were there before are not looked at again."""
    if not isinstance(value, tuple):
        return False
    known = {id(entry) for entry in was or ()}
    new = [entry for entry in value if id(entry) not in known]
    return all(isinstance(entry, dict) and _is_json(entry) for entry in new)


def _is_json(value: Any) -> bool:
    """Whether a value is the same after it was written as JSON and read again. One that contains itself has no end."""
    left = [(value, 0)]
    while left:
        one, depth = left.pop()
        if depth > _DEEPEST:
            return False
        if isinstance(one, dict):
            if not all(type(key) is str for key in one):
                return False
            left += [(entry, depth + 1) for entry in one.values()]
        elif type(one) is list:
            left += [(entry, depth + 1) for entry in one]
        elif isinstance(one, float):
            if one != one or one in (float("inf"), float("-inf")):
                return False
        elif one is not None and type(one) not in (str, int, bool):
            return False
    return True


# How a value is checked, by the kind of its field, and what it should be.
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "id": _is_number,
    "text": lambda value: isinstance(value, str) and value != "",
    "words": _is_text,
    "status": lambda value: value in STATUSES,
    "ids": _are_texts,
    "texts": _are_texts,
    "object": lambda value: isinstance(value, dict) and _is_json(value),
    "check": lambda value: value == {} or _is_check(value),
    "closing": _is_closing,
    "mode": lambda value: value in MODES,
    "paused": _is_pause,
    "names": lambda value: _are_texts(value) and all(value),
}
_SHOULD_BE = {
    "id": "a string of digits",
    "text": "a string that is not empty",
    "words": "a string",
    "status": f"one of {', '.join(STATUSES)}",
    "ids": "a tuple of strings",
    "texts": "a tuple of strings",
    "objects": f"a tuple of dicts that hold only {_JSON}",
    "object": f"a dict that holds only {_JSON}",
    "check": "a dict with run, file or contains",
    "closing": "a Closing or None",
    "mode": f"one of {', '.join(MODES)}",
    "paused": "a Pause with a reason, or None",
    "names": "a tuple of strings",
}
_HEAD_KINDS = {"title": "words", "mode": "mode", "paused": "paused", "phases": "names", "removed": "texts"}


def _changes_structure(change: Change) -> bool:
    if change.kind == "changed":
        return bool(_STRUCTURE(change.before) != _STRUCTURE(change.after))
    return change.kind != "plan" or change.id == "phases"


def _new_problems(before: Plan, after: Plan, changes: Sequence[Change]) -> list[str]:
    """What is wrong with how the plan is built, beside what was wrong already."""
    from .rules import is_sound, problems

    added = [int(change.id) for change in changes if change.kind == "added"]
    if is_sound(after) and all(0 < number <= after.last_id for number in added):
        return []
    known = set(problems(before))
    return [line for line in problems(after) if line not in known]


def _named(value: object) -> str:
    from .text import cut, inline

    try:
        return cut(inline(repr(value)), 60)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deep"


def json_form(value: Any) -> Any:
    """A value as JSON can hold it: what has no form there becomes a string."""
    if isinstance(value, Mapping):
        return {str(key): json_form(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_form(entry) for entry in value]
    if _is_json(value):
        return value
    return str(value)


# --- the format `json` of import and export ------------------------------------------------------------------------


read = from_json
write = to_json


def pace_to_json(pace: SessionState) -> dict[str, Any]:
    """What differs from a fresh one."""
    return {name: value for name, value in pace._asdict().items() if value != SessionState._field_defaults[name]}


def pace_from_json(data: Mapping[str, Any]) -> SessionState:
    """What is not known, or not of its kind, is passed over: a pace is worth less than a plan."""
    known: dict[str, Any] = SessionState._field_defaults
    data = {_RENAMED.get(name, name): value for name, value in data.items()}
    fields: dict[str, Any] = {name: value for name, value in data.items() if type(value) is type(known.get(name))}
    return SessionState(**fields)

"""Plans as JSON, without loss. A key that is absent has its default."""

from __future__ import annotations

from collections.abc import Mapping

from .changes import Change
from .errors import BadShape
from .model import MODES, STATUSES, Closing, Item, Pace, Pause, Plan
from .typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .shape import Schema


_ITEM_DEFAULTS = tuple(Item._field_defaults.items())
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_COUNT: Schema = {"type": "integer"}
_OBJECTS: Schema = {"type": "array", "items": {"type": "object"}}
ITEM_SCHEMA: Schema = {
    "type": "object",
    "required": ["id", "text"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "text": {"type": "string", "minLength": 1},
        "status": {"type": "string", "enum": list(STATUSES)},
        "active": _TEXT,
        "phase": _TEXT,
        "parent": _TEXT,
        "needs": _TEXTS,
        "notes": _TEXTS,
        "priority": _TEXT,
        "owner": _TEXT,
        "reason": _TEXT,
        "check": _TEXT,
        "evidence": _OBJECTS,
        "calls": _OBJECTS,
        "closed": {"type": "object", "properties": {"by": _TEXT, "at": _TEXT}, "additionalProperties": False},
        "extra": {"type": "object"},
    },
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
        "session": {"type": "object"},  # what `show` adds; no part of the plan
    },
}


def to_json(plan: Plan) -> dict[str, Any]:
    """The canonical form. `revision` and `items` are always there."""
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
    """The plan of a canonical form; every fault is named."""
    from .rules import faults
    from .shape import check, listed

    wrong = check(data, PLAN_SCHEMA)
    if wrong or not isinstance(data, dict):
        raise BadShape(listed(wrong, lambda fault: fault.of("the plan")))
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
    broken = faults(plan)
    if broken:
        raise BadShape([f"{line}." for line in broken[:20]])
    return plan


def item_to_json(item: Item) -> dict[str, Any]:
    data: dict[str, Any] = {"id": item.id, "text": item.text}
    for (name, default), value in zip(_ITEM_DEFAULTS, item[2:], strict=True):
        if value is not default and value != default:
            data[name] = _plain(value)
    data.setdefault("status", item.status)
    return data


def item_from_json(data: Mapping[str, Any]) -> Item:
    fields = dict(data)
    for name in ("needs", "notes", "evidence", "calls"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "closed" in fields:
        fields["closed"] = Closing(fields["closed"].get("by", ""), fields["closed"].get("at", ""))
    return Item(**fields)


def paused_to_json(paused: Pause | None) -> dict[str, Any] | None:
    return None if paused is None else {k: value for k, value in paused._asdict().items() if value or k == "reason"}


def paused_from_json(data: Mapping[str, Any] | None) -> Pause | None:
    return None if data is None else Pause(**{"reason": "", **data})


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
    return paused_to_json(value) if isinstance(value, Pause) else _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Closing):
        return {"by": value.by, "at": value.at}
    return list(value) if isinstance(value, tuple) else value


def _item_or_none(data: dict[str, Any] | None) -> Item | None:
    return None if data is None else item_from_json(data)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# --- the format `json` of import and export ------------------------------------------------------------------------


read = from_json
write = to_json


def pace_to_json(pace: Pace) -> dict[str, Any]:
    """What differs from a fresh one."""
    return {name: value for name, value in pace._asdict().items() if value != Pace._field_defaults[name]}


def pace_from_json(data: Mapping[str, Any]) -> Pace:
    """What is not known, or not of its kind, is passed over: a pace is worth less than a plan."""
    known: dict[str, Any] = Pace._field_defaults
    fields: dict[str, Any] = {name: value for name, value in data.items() if type(value) is type(known.get(name))}
    return Pace(**fields)

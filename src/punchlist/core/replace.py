"""A plan in another one's place: read from a file, or copied from another session."""

from __future__ import annotations

from .model import Plan
from .text import plainly


def replaced(now: Plan, new: Plan, own_ids: set[str]) -> Plan:
    """The new plan in the old one's place. What both have keeps its id; no id is used again for something else."""
    if now.last_id:
        new = _renumbered(now, new, own_ids)
    return new._replace(id=now.id, revision=now.revision, last_id=max(now.last_id, new.last_id))


def _renumbered(now: Plan, new: Plan, own_ids: set[str]) -> Plan:
    free: dict[str, list[str]] = {}  # ids of the old items, by their words
    for item in now.items:
        if item.id not in own_ids:
            free.setdefault(plainly(item.text), []).append(item.id)
    last = max([now.last_id, *map(int, own_ids)])
    ids = {"": "", **{id: id for id in own_ids}}
    for item in new.items:
        same = free.get(plainly(item.text), [])
        if item.id not in ids:
            last += not same
            ids[item.id] = same.pop(0) if same else str(last)
    items = [
        item._replace(id=ids[item.id], parent=ids[item.parent], needs=tuple(ids[id] for id in item.needs))
        for item in new.items
    ]
    paused = new.paused and new.paused._replace(item=ids.get(new.paused.item, ""))
    return new._replace(items=tuple(items), last_id=last, paused=paused)

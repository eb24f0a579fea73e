"""The list of a plan: the name of its file, its text, and what somebody else meant who wrote one. Nothing here touches
a file.

A list is what Claude Code could read: an array of `{content, status, activeForm}`, with what is ours under a fourth
key, `punchlist`. `json` is imported where a list is read or written: a hook rarely does either."""

from __future__ import annotations

from collections.abc import Sequence

from ...core._typing import Any
from ...core.codec import ITEM_SCHEMA, item_from_json, item_to_json
from ...core.model import ACTIVE, BLOCKED, DONE, DROPPED, MAIN, PENDING, STATUSES, Item, Plan

# How an item looks to Claude Code. One that was given up is left out of the list.
_SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE}
_SHOWN_BEFORE = {**_SHOWN, DROPPED: DONE}  # as older versions wrote it
_OWN_KEYS = frozenset(("content", "status", "activeForm", "punchlist"))
_OTHERS = "list"  # in `extra`: what else Claude Code says of an item
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_SAFE = _PLAIN | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_REMEMBERED = 1_000  # items kept as text, beside those of the plan


# --- names ---------------------------------------------------------------------------------------------------------


def stem_of(session: str, agent: str) -> str:
    """Return the name of a list without `.json`, unless somebody has one that differs from it only in case."""
    return f"{_name_part(session)}-agent-{_name_part(agent or MAIN)}"


def _name_part(name: str) -> str:
    if _is_simple(name, _SAFE):
        return name
    return _part(name)


def new_stem_of(session: str, agent: str) -> str:
    """Return the name of a new list: as in Claude Code, the main agent is called like the session."""
    if agent in ("", MAIN):
        agent = session
    return stem_of(session, agent)


def stems_of(session: str, agent: str) -> list[str]:
    """Return the names that the list of a session's agent may have: the one it gets today, and those of older versions,
    which called a main agent `main`, or wrote no capitals."""
    without_capitals = f"{_part(session)}-agent-{_part(agent or MAIN)}"
    return list(dict.fromkeys((new_stem_of(session, agent), stem_of(session, agent), without_capitals)))


def session_of(stem: str) -> tuple[str, str]:
    """Return the session and agent of a list that Claude Code has named; nothing, if it has not."""
    session, _, agent = stem.partition("-agent-")
    if not _is_simple(session, _SAFE) or not _is_simple(agent, _SAFE):
        return "", ""
    if agent == MAIN:
        return "", ""
    if agent == session:
        return session, MAIN
    return session, agent


def _part(name: str) -> str:
    """Return a name as part of a file's name. Whatever could lead elsewhere, be too long, or be taken for another name
    (by its case, or by where `-agent-` is) is replaced by a digest."""
    if _is_simple(name, _PLAIN):
        return name
    clean = "".join(char if char in _PLAIN else "-" for char in name[:40]).lstrip(".")
    return f"{clean}~{digest(name.encode('utf-8', 'surrogatepass'))[:16]}"


def digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def digest_of(*words: str) -> str:
    """Return a name for what may be called anything."""
    import json

    return digest(json.dumps(words).encode())


def _is_simple(name: str, letters: frozenset[str]) -> bool:
    return 0 < len(name) <= 80 and letters.issuperset(name) and name[0] != "." and "-agent-" not in f"-{name}-"


# --- the list ------------------------------------------------------------------------------------------------------


class Writer:
    """Makes lists. Most items are the same as in the list before, and so is their text."""

    def __init__(self) -> None:
        self._written: dict[int, tuple[Item, str]] = {}

    def list_of(self, plan: Plan) -> bytes:
        """The line break at the end is ours: no list of Claude Code's has it, so not even an empty one is taken for
        one that we have written before."""
        if len(self._written) > 2 * len(plan.items) + _REMEMBERED:
            self._written.clear()
        entries = ",\n  ".join([self._entry(item) for item in plan.items if item.status != DROPPED])
        text = f"[\n  {entries}\n]\n" if entries else "[]\n"
        try:
            return text.encode()
        except UnicodeEncodeError:  # a lone surrogate: then all of it is escaped
            import json

            return (json.dumps(json.loads(text), indent=2) + "\n").encode()

    def _entry(self, item: Item) -> str:
        known = self._written.get(id(item))
        if known is not None and known[0] is item:
            return known[1]
        import json

        own = {"content": item.text, "status": _SHOWN[item.status], "activeForm": item.label}
        others = item.extra.get(_OTHERS)
        entry = {**own, **others, **own} if isinstance(others, dict) else own
        if "priority" in entry and item.priority:
            entry["priority"] = item.priority
        ours = item_to_json(item._replace(calls=()))  # tool calls are observed more often than a list is written
        text = json.dumps({**entry, "punchlist": ours}, indent=2, ensure_ascii=False)
        text = text.replace("\n", "\n  ")
        self._written[id(item)] = (item, text)
        return text


def entries_of(listed: bytes) -> list[dict[str, Any]] | None:
    """A list that somebody has written, if it can be read."""
    import json

    try:
        found = json.loads(listed)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list) and all(map(_is_entry, found)):
        return found
    return None


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    text = entry.get("content")
    return isinstance(text, str) and bool(text.strip()) and entry.get("status") in STATUSES


def plan_of(now: Plan, entries: Sequence[dict[str, Any]]) -> Plan:
    """The plan that a list asks for that somebody else has written. What is ours in it tells which item an entry is,
    and what else there is to it; if that cannot be so, its words do."""
    from ...core.resend import relist
    from ...core.rules import problems

    mine = _own_items(entries)
    items = [
        _without_trust(mine[item.id], item)._replace(calls=item.calls) if item.id in mine else item
        for item in now.items
    ]
    items += [_without_trust(item, Item(item.id, item.text)) for id, item in mine.items() if int(id) > now.last_id]
    known = now._replace(items=tuple(items), last_id=max([now.last_id, *(int(item.id) for item in items)]))
    if any(item.status == DROPPED for item in mine.values()):
        shown = _SHOWN_BEFORE
    else:
        shown = _SHOWN
    plan = _without_closings(relist(known, _entries_as_sent(entries, known), shown))
    if problems(plan):
        plan = relist(now, _entries_as_sent(entries, now), shown)
    return _with_others(plan, entries)


def _without_trust(found: Item, known: Item) -> Item:
    """An item as a file has it, but who set its check, and that the user needs none, only as we know it: anybody can
    write a file."""
    waived = found.waived
    if waived:
        waived = known.waived
    if found.check == known.check:
        return found._replace(check_set=known.check_set, waived=waived)
    said = {key: found.check_set[key] for key in ("at", "dir") if isinstance(found.check_set.get(key), str)}
    check_set: dict[str, Any] = {}
    if found.check:
        check_set = {"by": "file", **said}
    return found._replace(check_set=check_set, waived=waived)


def _with_others(plan: Plan, entries: Sequence[dict[str, Any]]) -> Plan:
    """The plan with what Claude Code says of its items beside its three keys, so that we can write it again."""
    others: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        found = {key: value for key, value in entry.items() if key not in _OWN_KEYS}
        others.setdefault(entry["content"].strip(), []).append(found)
    items = []
    for item in plan.items:
        waiting = others.get(item.text) if item.status != DROPPED else None
        items.append(_with_other(item, waiting.pop(0)) if waiting else item)
    return plan._replace(items=tuple(items))


def _with_other(item: Item, found: dict[str, Any]) -> Item:
    if item.extra.get(_OTHERS, {}) == found:
        return item
    extra = {key: value for key, value in item.extra.items() if key != _OTHERS}
    if found:
        extra[_OTHERS] = found
    return item._replace(extra=extra)


def _without_closings(plan: Plan) -> Plan:
    """Without who closed what is open."""
    items = list(plan.items)
    for place, item in enumerate(items):
        if item.closed and not item.is_closed:
            items[place] = item._replace(closed=None)
    return plan._replace(items=tuple(items))


def _own_items(entries: Sequence[dict[str, Any]]) -> dict[str, Item]:
    from ...core.schema import check

    parts = [entry["punchlist"] for entry in entries if not check(entry.get("punchlist"), ITEM_SCHEMA)]
    items = [item_from_json(part) for part in reversed(parts)]  # of two with the same id, the first counts
    return {item.id: item for item in items if item.id.isascii() and item.id.isdigit() and len(item.id) < 19}


def _entries_as_sent(entries: Sequence[dict[str, Any]], known: Plan) -> list[Any]:
    from ...core.resend import Sent

    free = {item.id: item for item in known.items}
    labels = {"", *(item.label for item in known.items)}  # what we have written ourselves tells nothing
    made = []
    for entry in entries:
        own, active, priority = (entry.get(key) for key in ("punchlist", "activeForm", "priority"))
        if isinstance(own, dict):
            item = free.pop(str(own.get("id")), None)
        else:
            item = None
        key = str(item.extra.get("id") or item.id) if item else ""
        if not isinstance(active, str) or active in labels or active == entry["content"]:
            active = None
        priority = priority if isinstance(priority, str) else None
        made.append(Sent(entry["content"], entry["status"], active, priority, key))
    return made

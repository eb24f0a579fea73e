"""The two files of a plan as text and as values. Nothing here touches a file.

The list is what Claude Code could read: an array of `{content, status, activeForm}`, with what is ours under a fourth
key, `punchlist`. A line of the history is an object, and known by one of its keys:

    version    whose plan it is: the first line
    changes    a record, with what the plan is beside its items, the digest of the list it led to, the items that were
               given up and are not in the list, and the parent of a plan that has become a copy
    items      the plan as it was where the history begins, if that is not at the beginning: it was trimmed, or damaged
    seen       what a reader has heard
    session    a session that works from the plan since then

Every line ends with a checksum of the rest of it: a line in which anything is not as it was is not believed.
"""

from __future__ import annotations

import json
from binascii import crc32
from collections.abc import Iterable, Sequence
from hashlib import sha256

from ...core._typing import Any
from ...core.codec import (
    ITEM_SCHEMA,
    change_from_json,
    change_to_json,
    item_from_json,
    item_to_json,
    paused_from_json,
    paused_to_json,
)
from ...core.diff import Record, apply, undo
from ...core.model import ACTIVE, BLOCKED, DONE, DROPPED, MAIN, PENDING, STATUSES, Item, Plan
from .. import PlanKey

VERSION = 1
Line = dict[str, Any]

_SUM = b', "crc": '
# How an item looks to Claude Code. One that was given up is left out of the list: its history has it.
_SHOWN = {PENDING: PENDING, ACTIVE: ACTIVE, BLOCKED: PENDING, DONE: DONE}
_SHOWN_BEFORE = {**_SHOWN, DROPPED: DONE}  # as older versions wrote it
_OWN_KEYS = frozenset(("content", "status", "activeForm", "punchlist"))
_OTHERS = "list"  # in `extra`: what else Claude Code says of an item
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_SAFE = _PLAIN | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_REMEMBERED = 1_000  # items kept as text, beside those of the plan


# --- names ---------------------------------------------------------------------------------------------------------


def part(name: str) -> str:
    """A name as a part of a file's name. Whatever could lead elsewhere, be too long, or be taken for another name
    (by its case, or by where `-agent-` stands) gives way to a digest."""
    if _is_simple(name, _PLAIN):
        return name
    clean = "".join(char if char in _PLAIN else "-" for char in name[:40]).lstrip(".")
    return f"{clean}~{digest(name.encode('utf-8', 'surrogatepass'))[:16]}"


def stem_of(session: str, agent: str) -> str:
    """What the names of a plan's two files begin with, unless somebody has a name that differs from it only in case."""
    own, whose = (name if _is_simple(name, _SAFE) else part(name) for name in (session, agent or MAIN))
    return f"{own}-agent-{whose}"


def new_stem_of(session: str, agent: str) -> str:
    """The same for a new plan: as Claude Code has it, the main agent is called like the session."""
    return stem_of(session, session if (agent or MAIN) == MAIN else agent)


def safe_stem_of(session: str, agent: str) -> str:
    """The same without capitals: so files were named before."""
    return f"{part(session)}-agent-{part(agent or MAIN)}"


def session_of(stem: str) -> tuple[str, str]:
    """Whose files these are, if Claude Code has named them; nothing, if they are not."""
    session, _, agent = stem.partition("-agent-")
    agent = MAIN if agent == session else agent
    return (session, agent) if agent and foreign_stem(session, agent) == stem else ("", "")


def foreign_stem(session: str, agent: str) -> str:
    """The same as Claude Code has it: as they come, and the main agent is called like the session."""
    agent = session if agent == MAIN else agent
    return f"{session}-agent-{agent}" if _is_simple(session, _SAFE) and _is_simple(agent, _SAFE) else ""


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def digest_of(*words: str) -> str:
    """A name for what may be called anything."""
    return digest(json.dumps(words).encode())


def is_pointer(kind: str, found: Any) -> bool:
    """Whether a pointer has the form that its kind has. Somebody else may have written it."""
    if kind == "ids":
        return isinstance(found, dict) and isinstance(found.get("stem"), str) and isinstance(found.get("plan"), str)
    if kind == "bound":
        return isinstance(found, str)
    if kind == "places":
        return isinstance(found, list) and all(isinstance(plan, str) for plan in found)
    return True


def is_unreadable(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return True
    return False


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
            return (json.dumps(json.loads(text), indent=2) + "\n").encode()

    def _entry(self, item: Item) -> str:
        known = self._written.get(id(item))
        if known is not None and known[0] is item:
            return known[1]
        own = {"content": item.text, "status": _SHOWN[item.status], "activeForm": item.label}
        others = item.extra.get(_OTHERS)
        entry = {**own, **others, **own} if isinstance(others, dict) else own
        if "priority" in entry and item.priority:
            entry["priority"] = item.priority
        text = json.dumps({**entry, "punchlist": item_to_json(item)}, indent=2, ensure_ascii=False)
        text = text.replace("\n", "\n  ")
        self._written[id(item)] = (item, text)
        return text


def entries_of(listed: bytes) -> list[dict[str, Any]] | None:
    """A list that somebody has written, if it can be read."""
    try:
        found = json.loads(listed)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and all(map(_is_entry, found)) else None


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    text = entry.get("content")
    return isinstance(text, str) and bool(text.strip()) and entry.get("status") in STATUSES


def relisted(now: Plan, entries: Sequence[dict[str, Any]]) -> Plan:
    """The plan that a list asks for that somebody else has written. What is ours in it tells which item an entry is,
    and what else there is to it; if that cannot be so, its words do."""
    from ...core.resend import relist
    from ...core.rules import faults

    mine = _own_items(entries)
    items = [mine.get(item.id, item) for item in now.items]
    items += [item for id, item in mine.items() if int(id) > now.last_id]
    known = now._replace(items=tuple(items), last_id=max([now.last_id, *(int(item.id) for item in items)]))
    shown = _SHOWN_BEFORE if any(item.status == DROPPED for item in mine.values()) else _SHOWN
    plan = _reopened(relist(known, _sent(entries, known), shown))
    plan = plan if not faults(plan) else relist(now, _sent(entries, now), shown)
    return _with_others(plan, entries)


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
    return item._replace(extra={**extra, **({_OTHERS: found} if found else {})})


def _reopened(plan: Plan) -> Plan:
    """Without who closed what is open."""
    items = [item._replace(closed=None) if item.closed and not item.is_closed else item for item in plan.items]
    return plan._replace(items=tuple(items))


def _own_items(entries: Sequence[dict[str, Any]]) -> dict[str, Item]:
    from ...core.schema import check

    parts = [entry["punchlist"] for entry in entries if not check(entry.get("punchlist"), ITEM_SCHEMA)]
    items = [item_from_json(part) for part in reversed(parts)]  # of two with the same id, the first counts
    return {item.id: item for item in items if item.id.isascii() and item.id.isdigit() and len(item.id) < 19}


def _sent(entries: Sequence[dict[str, Any]], known: Plan) -> list[Any]:
    from ...core.resend import Sent

    free = {item.id: item for item in known.items}
    labels = {"", *(item.label for item in known.items)}  # what we have written ourselves tells nothing
    made = []
    for entry in entries:
        own, active, priority = (entry.get(key) for key in ("punchlist", "activeForm", "priority"))
        item = free.pop(str(own.get("id")), None) if isinstance(own, dict) else None
        key = str(item.extra.get("id") or item.id) if item else ""
        if not isinstance(active, str) or active in labels or active == entry["content"]:
            active = None
        priority = priority if isinstance(priority, str) else None
        made.append(Sent(entry["content"], entry["status"], active, priority, key))
    return made


# --- lines ---------------------------------------------------------------------------------------------------------


def lines_of(data: bytes) -> tuple[list[Line | None], int]:
    """The lines that were finished, and where they end; None for one that cannot be read. The last one was never
    acknowledged if it has no end, or cannot be read."""
    pieces = data.split(b"\n")[:-1]
    lines = [_line(piece) for piece in pieces]
    if lines and lines[-1] is None:
        lines.pop()
    return lines, sum(len(piece) + 1 for piece in pieces[: len(lines)])


def _line(piece: bytes) -> Line | None:
    body, _, tail = piece.rpartition(_SUM)
    try:
        line = json.loads(piece)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict):
        return None
    version = line.get("version")
    if tail == b"%d}" % crc32(body) or (isinstance(version, int) and version > VERSION):
        line.pop("crc", None)
        return line
    return None


def text_of(lines: Iterable[Line]) -> bytes:
    bodies = [json.dumps(line).encode()[:-1] for line in lines]
    return b"".join([b"%b%b%d}\n" % (body, _SUM, crc32(body)) for body in bodies])


def identity(plan: str, home: PlanKey) -> Line:
    return {"version": VERSION, "plan": plan, **home._asdict()}


def whose(lines: Iterable[Line]) -> Line | None:
    """The line that says whose plan it is, with the parent that records have given it since."""
    own: Line | None = None
    for line in lines:
        if "version" in line:
            own = line
        elif own and "parent" in line:
            own = {**own, "parent": line["parent"]}
    return own


def home_of(line: Line) -> PlanKey:
    return PlanKey(*(line.get(name, "") for name in PlanKey._fields))


def record_line(after: Plan, record: Record, *, heard: bool, list_digest: str) -> Line:
    changes = [change_to_json(change) for change in record.changes]
    line = {**record._asdict(), "changes": changes, "head": _head(after), "digest": list_digest}
    dropped = [[place, item_to_json(item)] for place, item in enumerate(after.items) if item.status == DROPPED]
    line |= {"dropped": dropped} if dropped else {}
    return {**line, "heard": after.revision} if heard else line


def record_of(line: Line) -> Record:
    fields = {name: line[name] for name in Record._fields}
    return Record(**{**fields, "changes": tuple(map(change_from_json, line["changes"]))})


def beginning(plan: Plan, at: str, list_digest: str) -> Line:
    """Where a history begins that has no beginning any more."""
    items = [item_to_json(item) for item in plan.items]
    return {"revision": plan.revision, "at": at, "items": items, "head": _head(plan), "digest": list_digest}


def last_run(lines: Iterable[Line]) -> list[Line]:
    """The records at the end that follow one another without a gap, and the beginning if they follow from that."""
    run: list[Line] = []
    for line in lines:
        if "digest" in line:
            if run and line["revision"] != run[-1]["revision"] + 1:
                run = []
            run.append(line)
    return run


def is_whole(run: Sequence[Line]) -> bool:
    """Whether records lead from nothing to the plan."""
    return bool(run) and ("items" in run[0] or run[0]["revision"] == 1)


def is_sound(lines: Sequence[Line | None], last: Line | None) -> bool:
    """Whether lines can all be read, and follow one another: from the last record that is known, or from nothing."""
    found = [line for line in lines if line is not None]
    if len(found) < len(lines) or (last is None and not (found and "version" in found[0])):
        return False
    records = [last] if last else []
    records += [line for line in found if "digest" in line]
    run = last_run(records)
    return len(run) == len(records) and (last is not None or is_whole(run))


def rewritten(lines: Sequence[Line], run: Sequence[Line], identity: Line) -> list[Line]:
    """A history with only these of its records, or with a new beginning before them. The rest stays in its place."""
    kept = {id(line) for line in run}
    rest = [line for line in lines if id(line) in kept or not ("digest" in line or "version" in line)]
    begin = [line for line in run[:1] if "items" in line]
    return [identity, *begin, *(line for line in rest if "items" not in line)]


# --- from lines to plans -------------------------------------------------------------------------------------------


def replayed(plan: Plan, lines: Iterable[Line]) -> Plan:
    """What records make of a plan."""
    for line in lines:
        if "items" in line:
            plan = plan._replace(items=tuple(map(item_from_json, line["items"])))
        else:
            plan = apply(plan, record_of(line).changes)
        plan = with_head(plan, line)
    return plan


def rewound(plan: Plan, lines: Sequence[Line]) -> Plan:
    """A plan before records."""
    for line in reversed(lines):
        plan = undo(plan, record_of(line).changes)
    return plan._replace(revision=plan.revision - len(lines))


def own_plan(id: str, listed: bytes, last: Line) -> Plan:
    """The plan of a list that we have written, and of the last record."""
    items = [item_from_json(entry["punchlist"]) for entry in json.loads(listed)]
    for place, item in last.get("dropped", ()):  # in their order, so that each finds its place
        items.insert(place, item_from_json(item))
    return with_head(Plan(id, items=tuple(items)), last)


def begun_anew(id: str, lines: Sequence[Line], listed: bytes, at: str) -> list[Line]:
    """A history that begins behind what was lost of it: before the last records if they lead to the list, else with
    the list itself, as the newest revision. Raises ValueError if the list cannot be read either."""
    run = last_run(lines)
    places = [place for place, line in enumerate(run) if line["digest"] == digest(listed)]
    if places:
        try:
            before = rewound(own_plan(id, listed, run[places[-1]]), run[: places[-1] + 1])
            return [beginning(before, run[0]["at"], ""), *run]
        except (ValueError, KeyError, TypeError):
            pass  # they do not lead to it after all
    entries = entries_of(listed)
    if entries is None:
        raise ValueError("the list cannot be read")
    known = with_head(Plan(id), run[-1]) if run else Plan(id)
    plan = relisted(known._replace(last_id=0), entries)
    plan = plan._replace(last_id=max(known.last_id, plan.last_id), revision=known.revision + 1)
    return [beginning(plan, at, digest(listed))]


def with_head(plan: Plan, line: Line) -> Plan:
    """With what a record says of the plan beside its items."""
    head = line["head"]
    return plan._replace(
        revision=line["revision"],
        title=head["title"],
        mode=head["mode"],
        paused=paused_from_json(head["paused"]),
        phases=tuple(head["phases"]),
        last_id=head["last_id"],
        removed=tuple(head["removed"]),
    )


def _head(plan: Plan) -> dict[str, Any]:
    return {
        "title": plan.title,
        "mode": plan.mode,
        "paused": paused_to_json(plan.paused),
        "phases": list(plan.phases),
        "last_id": plan.last_id,
        "removed": list(plan.removed),
    }

"""What can be read of a damaged database of any version, as rows of a new one.

A plan is saved as its rows have it if what can be read of its history leads to it, else as its history makes it, else
not at all. Of the history the newest part is kept, up to the first record that cannot be read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from ...core._typing import Any, NamedTuple
from ...core.codec import ITEM_SCHEMA, change_from_json, item_to_json
from ...core.diff import CALLS, Record, apply, undo
from ...core.model import MAIN, Plan
from ...core.rules import problems
from ...core.schema import check
from ...local.files import utc_text
from ..sql import Rows, head_text, untext

_OWNERS = {"plans": "id", "items": "plan", "history": "plan"}  # tables, and where the plan of a row is
_RECORD = ("plan", "revision", "at", "by", "reader", "dialect", "kind", "changes")
_BOUND = ("session", "agent", "plan", "host", "at")
_PLACES = "INSERT OR IGNORE INTO places SELECT place, id FROM plans WHERE agent = ? ORDER BY touched DESC"
_BY_PLAN = "SELECT session, agent, plan FROM bindings INDEXED BY bindings_by_plan ORDER BY plan"
_NONSENSE = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
_Row = tuple[Any, ...]
_Ids = tuple[str, ...]


class Found(NamedTuple):
    """The plans of a database."""

    saved: _Ids = ()
    remade: _Ids = ()  # those of them that were made again from their history
    cut: _Ids = ()  # those that lost the older part of their history
    lost: _Ids = ()
    bare: _Ids = ()  # those saved without any history: nothing tells whether they are complete
    emptied: _Ids = ()  # those of them that once had items, and have none


def copy_all(old: sqlite3.Connection, new: sqlite3.Connection) -> Found:
    """Copy what can be read of the plans, and of what is around them."""
    old.text_factory = _text
    known = set().union(*(_ids(old, table, key) for table, key in _OWNERS.items()))
    found: dict[str, Plan] = {}
    remade, cut, bare = [], [], []
    for id in sorted(known):
        stored = _load(old, id)
        plan = _best(old, id, stored)
        if plan is None:
            continue
        found[id] = plan
        if plan is not stored:
            remade.append(id)
        if not _copy_plan(old, new, plan):
            cut.append(id)
        if not any(True for _ in _records(old, id, plan.revision)):
            bare.append(id)
    _copy_surroundings(old, new, found)
    emptied = [id for id in bare if found[id].last_id and not found[id].items]
    lost = tuple(sorted(known - found.keys()))
    return Found(tuple(found), tuple(remade), tuple(cut), lost, tuple(bare), tuple(emptied))


def insert_raw(db: sqlite3.Connection, found: dict[str, list[_Row]]) -> None:
    """Write rows that were read from single pages. Of several for one key the newest counts, where one can tell."""
    plans = {row[0]: row for row in sorted(found.get("plans", ()), key=lambda row: int(row[1]))}
    ids = plans.keys() | {row[0] for row in found.get("history", ())}
    chosen = {
        "plans": list(plans.values()),
        "history": found.get("history", []),
        "items": [row for row in found.get("items", ()) if row[0] in ids],
        "readers": [row for row in found.get("readers", ()) if row[0] in ids],
        "bindings": [row for row in found.get("bindings", ()) if row[2] in ids],
        "places": [row for row in found.get("places", ()) if row[1] in ids],
    }
    for table, many in chosen.items():
        _copy(db, table, many)


def is_sound(db: sqlite3.Connection, id: str) -> bool:
    return _load(db, id) is not None


# --- a plan ----------------------------------------------------------------------------------------------------------


def _best(old: sqlite3.Connection, id: str, stored: Plan | None) -> Plan | None:
    """The plan that is to be believed."""
    records = [record for row in _records(old, id) if (record := _record(row)) is not None]
    replayed = _replay(id, records[::-1])
    if replayed is not None:
        last, revision = _head(old, id)
        replayed = replayed._replace(last_id=max(replayed.last_id, last))
        if stored == replayed:
            return stored
        if replayed.revision >= revision:
            return replayed
    if stored is not None and _is_led_to(stored, records):
        return stored
    return None


def _load(db: sqlite3.Connection, id: str) -> Plan | None:
    """The plan as its rows have it, if they can be read and make sense."""
    try:
        plan = Rows(db.execute, db.executemany).load(id)
        if plan is not None and _makes_sense(plan):
            return plan
        return None
    except _NONSENSE:
        return None


def _makes_sense(plan: Plan) -> bool:
    is_typed = isinstance(plan.revision, int) and isinstance(plan.title, str)
    return is_typed and not problems(plan) and not any(check(item_to_json(item), ITEM_SCHEMA) for item in plan.items)


def _head(old: sqlite3.Connection, id: str) -> tuple[int, int]:
    """The last id that was given, and the revision, as far as they can be read."""
    for revision, head in _read(old, "SELECT revision, head FROM plans WHERE id = ?", id):
        try:
            return int(json.loads(head)[4]), int(revision)
        except _NONSENSE:
            break
    return 0, 0


def _replay(id: str, records: Sequence[Record]) -> Plan | None:
    """The plan as its history makes it, if that is there from the beginning."""
    plan = Plan(id)
    try:
        for record in records:
            if record.revision != plan.revision + 1 and not _covers(plan.revision, record):
                return None
            made = apply(plan, record.changes)
            if undo(made, record.changes) != plan:  # it was made from something else
                return None
            last = max([plan.last_id, *(int(change.id) for change in record.changes if change.kind == "added")])
            plan = made._replace(revision=record.revision, last_id=last)
        if plan.revision and _makes_sense(plan):
            return plan
        return None
    except _NONSENSE:
        return None


def _covers(revision: int, record: Record) -> bool:
    """Whether a record stands for all of those behind a revision: they held tool calls, and were dropped."""
    return record.kind == CALLS and not record.changes and record.revision > revision


def _is_led_to(plan: Plan, records: Sequence[Record]) -> bool:
    """Whether the records that can be read, the newest first, can be taken back from the plan."""
    try:
        for record in records:
            if record.revision <= plan.revision:
                before = undo(plan, record.changes)
                if apply(before, record.changes) != plan:
                    return False
                plan = before
    except _NONSENSE:
        return False
    return True


def _copy_plan(old: sqlite3.Connection, new: sqlite3.Connection, plan: Plan) -> bool:
    """Copy a plan; return whether its history is complete."""
    _copy(new, "plans", [(plan.id, plan.revision, head_text(plan), *_whereabouts(old, plan.id))])
    items = [(plan.id, item.id, rank, json.dumps(item_to_json(item))) for rank, item in enumerate(plan.items, 1)]
    _copy(new, "items", items)
    kept = _copy(new, "history", _records(old, plan.id, plan.revision))
    return [(kept,)] == list(_read(old, "SELECT count(*) FROM history WHERE plan = ?", plan.id))


def _whereabouts(old: sqlite3.Connection, id: str) -> _Row:
    """Where a plan was made and by which agent, when it was touched last, who wrote last, what it was copied from."""
    found = _select(old, "plans", ("place", "agent", "touched", "author", "parent"), "WHERE id = ?", id)
    place, agent, touched, author, parent = next(found, (None,) * 5)
    if isinstance(touched, float):  # as the first version has it
        touched = utc_text(touched)
    return (place or "", agent or MAIN, touched or utc_text(), author or "", parent or "")


def _records(old: sqlite3.Connection, id: str, revision: int = 0) -> Iterator[_Row]:
    """The records of a plan from a revision, or the newest, back to the first that is missing or makes no sense."""
    covers = False  # whether the row before stands for dropped ones
    for row in _read(old, f"SELECT {', '.join(_RECORD)} FROM history WHERE plan = ? ORDER BY revision DESC", id):
        revision = revision or row[1]
        is_next = row[1] == revision or (covers and row[1] < revision)
        if row[0] != id or not is_next or _record(row) is None:
            return
        revision = row[1] - 1
        covers = row[6:] == (CALLS, "[]")
        yield row


def _record(row: _Row) -> Record | None:
    try:
        _, revision, at, by, reader, dialect, kind, changes = row
        made = tuple([change_from_json(change) for change in json.loads(changes)])
        record = Record(revision, at, untext(by), untext(reader), dialect, kind, made)
    except _NONSENSE:
        return None
    if all(isinstance(value, str) for value in record[1:-1]):
        return record
    return None


# --- what is around them ---------------------------------------------------------------------------------------------


def _copy_surroundings(old: sqlite3.Connection, new: sqlite3.Connection, plans: dict[str, Plan]) -> None:
    """Copy who works from these plans, which is the latest of a place, and what is remembered of readers."""
    bound = [*_from_both_ends(old, "bindings", _BOUND, 2), *((*row, "", "") for row in _read(old, _BY_PLAN))]
    readers = _from_both_ends(old, "readers", ("plan", "key", "seen", "at"), 2)
    _copy(new, "bindings", [(*row[:3], row[3] or "", row[4] or utc_text()) for row in bound if row[2] in plans])
    _copy(new, "readers", [(*row[:2], _seen(row, plans), row[3] or utc_text()) for row in readers if row[0] in plans])
    _copy(new, "places", [row for row in _from_both_ends(old, "places", ("place", "plan"), 1) if row[1] in plans])
    _copy(new, "paces", _from_both_ends(old, "paces", ("key", "data", "at"), 1))
    lists = _from_both_ends(old, "lists", ("plan", "key", "tool", "data", "at"), 3)
    _copy(new, "lists", [row for row in lists if row[0] in plans])
    calls = _from_both_ends(old, "observations", ("number", "plan", "item", "at", "data"), 1)
    _copy(new, "observations", [row for row in calls if row[1] in plans])
    new.execute(_PLACES, (MAIN,))


def _seen(row: _Row, plans: dict[str, Plan]) -> int:
    """What a reader was told, which cannot be more than there is."""
    plan, _, seen, _ = row
    if isinstance(seen, int):
        return min(seen, plans[plan].revision)
    return 0


# --- rows ------------------------------------------------------------------------------------------------------------


def _text(data: bytes) -> str | bytes:
    """What is not text is seen as such later, and ends no reading here."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _ids(old: sqlite3.Connection, table: str, key: str) -> set[str]:
    return {id for (id,) in _from_both_ends(old, table, (key,), 1) if isinstance(id, str)}


def _from_both_ends(old: sqlite3.Connection, table: str, columns: Sequence[str], keys: int) -> list[_Row]:
    """Rows in the order of their first columns, up to one that cannot be read, and from the end back to one of that
    kind."""
    orders = [", ".join(f"{column}{way}" for column in columns[:keys]) for way in ("", " DESC")]
    return list(dict.fromkeys(row for order in orders for row in _select(old, table, columns, f"ORDER BY {order}")))


def _select(old: sqlite3.Connection, table: str, columns: Sequence[str], rest: str, *values: str) -> Iterator[_Row]:
    """Columns of a table; None for one that it does not have in this version."""
    there = {row[1] for row in _read(old, f"PRAGMA table_info({table})")}
    asked = ", ".join(column if column in there else f"NULL AS {column}" for column in columns)
    return _read(old, f"SELECT {asked} FROM {table} {rest}", *values)


def _read(old: sqlite3.Connection, statement: str, *values: str) -> Iterator[_Row]:
    """Rows, up to what cannot be read."""
    try:
        for row in old.execute(statement, values):
            if not any(isinstance(value, bytes) for value in row):
                yield row
    except sqlite3.DatabaseError:
        pass


def _copy(new: sqlite3.Connection, table: str, rows: Iterable[_Row]) -> int:
    """Write the rows; how many they were."""
    count = 0
    for row in rows:
        count += 1
        new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return count

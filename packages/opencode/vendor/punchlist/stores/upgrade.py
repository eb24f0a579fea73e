"""What it takes to bring rows of an older version up to date beside the statements of its migration."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from ..core._typing import Any
from ..core.redact import bounded_call
from .sql import DROP_LEADING_CALLS, Cursor

_HAS_CALLS = '%"calls"%'
# Of several in a row the last one stays, without what it held: it says that no revision before it is missing.
_DROP = """
DELETE FROM history WHERE kind = 'calls' AND EXISTS (
    SELECT 1 FROM history AS later
    WHERE later.plan = history.plan AND later.revision = history.revision + 1 AND later.kind = 'calls'
)
"""
_EMPTY = "UPDATE history SET changes = '[]' WHERE kind = 'calls'"
_KEEP = "INSERT INTO observations (plan, item, at, data) VALUES (?, ?, '', ?)"


def move_calls(execute: Callable[[str, Sequence[Any]], Cursor]) -> bool:
    """Observed tool calls were once revisions of their plan, and part of its items. Drop the revisions, and keep the
    calls of each item beside the plan. Returns whether there were any."""
    (count,) = execute("SELECT count(*) FROM history WHERE kind = 'calls'", ()).fetchone()
    execute(_DROP, ())
    execute(DROP_LEADING_CALLS, ())
    execute(_EMPTY, ())
    items = execute("SELECT plan, id FROM items WHERE data LIKE ?", (_HAS_CALLS,)).fetchall()
    for plan, id in items:
        _move_item_calls(execute, plan, id)
    records = execute("SELECT plan, revision FROM history WHERE changes LIKE ?", (_HAS_CALLS,)).fetchall()
    for plan, revision in records:
        _strip_record(execute, plan, revision)
    return bool(count or items)


def _move_item_calls(execute: Callable[[str, Sequence[Any]], Cursor], plan: str, id: str) -> None:
    (data,) = execute("SELECT data FROM items WHERE plan = ? AND id = ?", (plan, id)).fetchone()
    item = _parsed(data)
    if not isinstance(item, dict) or not isinstance(item.get("calls"), list):
        return
    for call in item.pop("calls"):
        if isinstance(call, dict):
            execute(_KEEP, (plan, id, json.dumps(bounded_call(call))))
    execute("UPDATE items SET data = ? WHERE plan = ? AND id = ?", (json.dumps(item), plan, id))


def _strip_record(execute: Callable[[str, Sequence[Any]], Cursor], plan: str, revision: int) -> None:
    where = (plan, revision)
    (text,) = execute("SELECT changes FROM history WHERE plan = ? AND revision = ?", where).fetchone()
    changes = _parsed(text)
    if not isinstance(changes, list):
        return
    for change in changes:
        for side in change if isinstance(change, list) else ():
            if isinstance(side, dict) and "id" in side:
                side.pop("calls", None)
    execute("UPDATE history SET changes = ? WHERE plan = ? AND revision = ?", (json.dumps(changes), *where))


def _parsed(text: str) -> Any:
    """The value of a JSON text; None if it is damaged, which is the business of a repair."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None

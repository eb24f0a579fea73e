"""Plans as rows: the statements that the SQL stores share. One row an item, so that a small change is a small
write. Nothing here opens, locks, begins or commits: that is the business of the store that executes the statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from ..core._typing import Any, Protocol
from ..core.codec import (
    change_from_json,
    change_to_json,
    item_from_json,
    item_to_json,
    pace_from_json,
    pace_to_json,
    paused_from_json,
    paused_to_json,
)
from ..core.diff import CALLS, Change, Record
from ..core.errors import StaleRevision
from ..core.json_text import dumps, loads, quoted
from ..core.model import DONE, DROPPED, MAIN, Item, Plan, Reader, SessionState
from . import LONGEST_NAME, MOST_CALLS, Commit, PlanKey, PlanSummary, check_id, current, oldest, with_time

_LAST = 2_147_483_647  # a revision behind all others
_REMEMBERED = 5_000  # items kept as text
_head = attrgetter("title", "mode", "paused", "phases", "last_id", "removed")  # what a plan is beside its items
_PLAIN = Item("", "")[3:]  # what an item has beside id, text and status if nothing was said

_PEEK = """
SELECT revision, author, seen FROM plans LEFT JOIN readers ON readers.plan = id AND key = ? WHERE id = ?
"""
_PEEK_SESSION = """
SELECT bindings.plan, revision, author, seen FROM bindings LEFT JOIN plans ON id = bindings.plan
LEFT JOIN readers ON readers.plan = bindings.plan AND key = ? WHERE bindings.session = ? AND bindings.agent = ?
"""
# One statement sees one moment: the plan in the first row, its items behind it.
_LOAD = """
SELECT revision, head, -1 AS rank FROM plans WHERE id = ? UNION ALL
SELECT 0, data, rank FROM items WHERE plan = ? ORDER BY rank
"""
_UPDATE = "UPDATE plans SET revision = ?, touched = ?, author = ? WHERE id = ? AND revision = ?"
_UPDATE_ALL = "UPDATE plans SET head = ?, revision = ?, touched = ?, author = ? WHERE id = ? AND revision = ?"
_SEATED = " AND id = (SELECT plan FROM bindings WHERE session = ? AND agent = ?)"
_READER = """
INSERT INTO readers VALUES (?, ?, ?, ?) ON CONFLICT (plan, key) DO UPDATE SET at = excluded.at,
seen = CASE WHEN excluded.seen > readers.seen THEN excluded.seen ELSE readers.seen END
"""
_LINE = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_MARKED_LINE = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_LIST = """
INSERT INTO lists VALUES (?, ?, ?, ?, ?)
ON CONFLICT (plan, key, tool) DO UPDATE SET data = excluded.data, at = excluded.at
"""
_PLACE = """
INSERT INTO places SELECT place, id FROM plans WHERE id = ? AND agent = ?
ON CONFLICT (place) DO UPDATE SET plan = excluded.plan WHERE places.plan <> excluded.plan
"""
# The newest observation of a check is not forgotten: it says what is known of it.
_FORGET_CALLS = """
DELETE FROM observations WHERE at < ? AND NOT (substr(item, 1, 6) = 'check:' AND number IN (
    SELECT max(number) FROM observations GROUP BY plan, item
))"""
_AT_ONCE = 500  # subjects that are asked for in one statement: older versions of SQLite take 999 values
_OBSERVE = "INSERT INTO observations (plan, item, at, data) VALUES (?, ?, ?, ?)"
_FORGET_OLDEST = f"""
DELETE FROM observations WHERE plan = ? AND item = ? AND number <= (
    SELECT number FROM observations WHERE plan = ? AND item = ? ORDER BY number DESC LIMIT 1 OFFSET {MOST_CALLS}
)
"""
# A record of tool calls says that none of those before it is missing; where it is the first, some may be.
DROP_LEADING_CALLS = f"""
DELETE FROM history WHERE kind = '{CALLS}' AND NOT EXISTS (
    SELECT 1 FROM history AS earlier WHERE earlier.plan = history.plan AND earlier.revision < history.revision
)
"""
_SINCE = "SELECT min(revision) FROM history WHERE plan = ? AND at >= ?"
_LIVE_LIST = "SELECT min(at) FROM lists WHERE plan = ? AND at >= ?"
_LIVE_READER = """
SELECT min(seen) FROM readers WHERE plan = ? AND at >= ? AND key <> (SELECT author FROM plans WHERE id = readers.plan)
"""
_OF_SESSION = "id IN (SELECT plan FROM bindings WHERE session = ?)"
# Whoever is bound last comes last, even within one tick of the clock, or if it went back.
_BIND = """
INSERT INTO bindings SELECT ?, ?, ?, ?, CASE WHEN coalesce(max(at), '') < ? THEN ? ELSE max(at) || '1' END
FROM bindings WHERE plan = ?
ON CONFLICT (session, agent) DO UPDATE SET plan = excluded.plan, host = excluded.host, at = excluded.at
"""


class Cursor(Protocol):
    """What executing a statement gives."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Rows:
    """Plans in tables, by way of two functions that execute SQL."""

    def __init__(
        self,
        execute: Callable[[str, Sequence[Any]], Cursor],
        executemany: Callable[[str, Iterable[Sequence[Any]]], object],
    ) -> None:
        self._execute = execute
        self._executemany = executemany
        self._last_peek = ("", 0, "")  # plan, revision, author
        self._state: tuple[str, SessionState, str | None] = ("", SessionState(), None)  # last seen: key, value, text
        self._written: dict[int, tuple[Item, str]] = {}  # items as text, as they were last written

    # --- reading ---------------------------------------------------------------------------------------------------

    def peek(self, plan: str, reader: str) -> tuple[int, Reader]:
        row = self._execute(_PEEK, (text(reader), text(plan))).fetchone()
        return (0, Reader()) if row is None else self._note_peek(plan, reader, *row)

    def peek_session(self, home: PlanKey, reader: str) -> tuple[str, int, Reader]:
        values = (text(reader), text(home.session), text(home.agent))
        row = self._execute(_PEEK_SESSION, values).fetchone()
        if row is None or row[1] is None:  # it works from none, or from one that is not there
            return (row[0] if row else ""), 0, Reader()
        return (row[0], *self._note_peek(row[0], reader, *row[1:]))

    def _note_peek(self, plan: str, reader: str, revision: int, author: str, seen: int | None) -> tuple[int, Reader]:
        self._last_peek = (plan, revision, author)
        return revision, Reader(revision if author == text(reader) else seen or 0)

    def load(self, plan: str) -> Plan | None:
        rows = self._execute(_LOAD, (text(plan), text(plan))).fetchall()
        if not rows or not rows[0][0]:
            return None
        revision, head, _ = rows[0]
        title, mode, paused, phases, last_id, removed = loads(head)
        items = tuple([item_from_json(loads(data)) for _, data, _ in rows[1:]])
        return Plan(
            plan, title, revision, mode, paused_from_json(paused), tuple(phases), items, last_id, tuple(removed)
        )

    def history(self, plan: str, after: int, by: str) -> list[Record]:
        asked = "SELECT revision, at, by, reader, dialect, kind, changes FROM history WHERE plan = ? AND revision > ?"
        values: tuple[Any, ...] = (text(plan), after)
        if by:
            asked += " AND by = ?"
            values = (*values, spelled(by))
        rows = self._execute(f"{asked} ORDER BY revision", values).fetchall()
        return [
            Record(revision, at, untext(by), untext(reader), dialect, kind, _changes_of(kind, changes))
            for revision, at, by, reader, dialect, kind, changes in rows
        ]

    def last_dialect(self, plan: str) -> str:
        asked = "SELECT dialect FROM history WHERE plan = ? AND dialect <> '' ORDER BY revision DESC LIMIT 1"
        row = self._execute(asked, (text(plan),)).fetchone()
        if row is None:
            return ""
        return str(row[0])

    def load_calls(self, plan: str, subjects: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        if not subjects:
            return self._load_calls(plan, "", ())
        found: dict[str, list[dict[str, Any]]] = {}
        for start in range(0, len(subjects), _AT_ONCE):
            some = subjects[start : start + _AT_ONCE]
            found.update(self._load_calls(plan, f" AND item IN ({', '.join('?' * len(some))})", some))
        return found

    def _load_calls(self, plan: str, which: str, subjects: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        asked = f"SELECT item, at, data FROM observations WHERE plan = ?{which} ORDER BY item, number"
        found: dict[str, list[dict[str, Any]]] = {}
        for id, at, data in self._execute(asked, (text(plan), *map(text, subjects))).fetchall():
            found.setdefault(untext(id), []).append(with_time(at, loads(data)))
        return {id: calls[-MOST_CALLS:] for id, calls in found.items()}

    def find(self, home: PlanKey) -> str:
        if home.session:
            values = (text(home.session), text(home.agent))
            row = self._execute("SELECT plan FROM bindings WHERE session = ? AND agent = ?", values).fetchone()
        else:
            row = self._execute("SELECT plan FROM places WHERE place = ?", (text(home.place),)).fetchone()
        return row[0] if row else ""

    def sessions(self, plan: str) -> list[tuple[str, str]]:
        asked = "SELECT session, agent FROM bindings WHERE plan = ? ORDER BY at, session"
        return [(untext(session), untext(agent)) for session, agent in self._execute(asked, (text(plan),)).fetchall()]

    def load_state(self, key: str) -> SessionState:
        row = self._execute("SELECT data FROM paces WHERE key = ?", (text(key),)).fetchone()
        data = row[0] if row else None
        state = _state_of(data)
        self._state = (key, state, data)
        return state

    def plans(self, most: int, session: str, agent: str, plan: str, place: str) -> list[PlanSummary]:
        wanted = [("id = ?", plan), ("agent = ?", agent), (_OF_SESSION, session), ("place = ?", place)]
        named = [(condition, text(name)) for condition, name in wanted if name]
        where = f"WHERE {' AND '.join([condition for condition, _ in named])}" if named else ""
        asked = f"SELECT id, head, revision, place, agent, parent, touched FROM plans {where}"
        names = [name for _, name in named]
        rows = self._execute(f"{asked} ORDER BY touched DESC, id LIMIT ?", (*names, most)).fetchall()
        return [self._summary(*row) for row in rows]

    def _summary(
        self, id: str, head: str, revision: int, place: str, agent: str, parent: str, touched: str
    ) -> PlanSummary:
        asked = "SELECT session, host FROM bindings WHERE plan = ? ORDER BY at, session"
        bound = self._execute(asked, (id,)).fetchall()
        rows = self._execute("SELECT data FROM items WHERE plan = ? ORDER BY rank", (id,)).fetchall()
        items = [_brief(loads(data)) for (data,) in rows]
        statuses = [item.status for item in items]
        total = len(statuses) - statuses.count(DROPPED)
        sessions = tuple(dict.fromkeys(untext(session) for session, _ in bound))
        host = untext(bound[-1][1]) if bound else ""
        title = loads(head)[0]
        where = (untext(place), untext(agent), sessions, parent, touched)
        return PlanSummary(id, title, revision, *where, statuses.count(DONE), total, host, current(items))

    # --- writing ---------------------------------------------------------------------------------------------------

    def save(self, commit: Commit, mark: str = "") -> None:
        """Write one revision. `mark`: by which its record is known again, where the table has a column for it."""
        before, after, record, reader, home, lists = commit
        if before is None:
            self._create(after.id, home or PlanKey(), record.at)
        self._write_head(commit)
        if reader is not None and before is not None and reader.seen < before.revision:
            self._refuse_told(after.id, record.reader, reader)
        if before is not None and home is not None and home.parent:
            self._execute("UPDATE plans SET parent = ? WHERE id = ?", (home.parent, after.id))
        self._write_items(after, record)
        line = (after.id, *self._line(record))
        if mark:
            self._execute(_MARKED_LINE, (*line, mark))
        else:
            self._execute(_LINE, line)
        if lists:
            self.keep_lists(after.id, record.reader, lists, record.at)
        self.note_author(commit)

    def note_author(self, commit: Commit) -> None:
        """Note who wrote this revision: as long as it is the last, that need not be looked up."""
        after = commit.after
        self._last_peek = (after.id, after.revision, _author(commit.record, commit.reader))

    def remember(self, plan: str, key: str, reader: Reader, before: Reader | None, at: str) -> None:
        if before is not None and self.peek(plan, key)[1] != before:
            raise StaleRevision("the reader was told about it")
        self._execute(_READER, (text(plan), text(key), reader.seen, at))

    def lists(self, plan: str, reader: str) -> dict[str, str]:
        asked = "SELECT tool, data FROM lists WHERE plan = ? AND key = ?"
        return dict(self._execute(asked, (text(plan), text(reader))).fetchall())

    def keep_lists(self, plan: str, reader: str, lists: Mapping[str, str], at: str) -> None:
        for tool, data in lists.items():
            self._execute(_LIST, (text(plan), text(reader), tool, data, at))

    def observe(self, plan: str, item: str, calls: Sequence[Mapping[str, Any]], at: str, *, trims: bool = True) -> None:
        """Keep tool calls. `trims`: and drop those that are too many; until then nobody is shown them."""
        where = (text(plan), text(item))
        self._executemany(_OBSERVE, [(*where, *_call_row(call, at)) for call in calls])
        if trims:
            self._execute(_FORGET_OLDEST, (*where, *where))

    def save_state(self, key: str, before: SessionState, after: SessionState, at: str) -> None:
        if self._state[:2] != (key, before) and self.load_state(key) != before:
            raise StaleRevision("the state has changed")
        old, new = self._state[2], dumps(pace_to_json(after))
        self._state = ("", before, None)
        if old is not None:
            update = "UPDATE paces SET data = ?, at = ? WHERE key = ? AND data = ?"
            changed = self._execute(update, (new, at, text(key), old))
        else:
            insert = "INSERT INTO paces VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            changed = self._execute(insert, (text(key), new, at))
        if changed.rowcount != 1:
            raise StaleRevision("the state has changed")
        self._state = (key, after, new)

    def bind(self, home: PlanKey, plan: str, at: str, *, alone: bool = False) -> None:
        check_id(plan)
        if alone and self.sessions(plan):
            raise StaleRevision(f"somebody works from plan {plan} already")
        self._execute(_BIND, (text(home.session), text(home.agent), plan, text(home.host), at, at, plan))

    def trim(self, before: str, plan: str, place: str, live: str) -> dict[str, int]:
        old = oldest(before, live)
        scope = ""
        names: tuple[str, ...] = ()
        if plan:
            scope, names = " AND plan = ?", (text(plan),)
        elif place:
            scope, names = " AND plan IN (SELECT id FROM plans WHERE place = ?)", (text(place),)
        else:
            self._execute("DELETE FROM paces WHERE at < ?", (old,))
        self._execute(f"DELETE FROM readers WHERE at < ?{scope}", (old, *names))
        self._execute(f"DELETE FROM lists WHERE at < ?{scope}", (old, *names))
        self._execute(f"{_FORGET_CALLS}{scope}", (before, *names))
        asked = f"SELECT DISTINCT plan FROM history WHERE at < ?{scope}"
        plans = self._execute(asked, (before, *names)).fetchall()
        gone = {id: self._forget(id, before, live) for (id,) in plans}
        return {id: count for id, count in gone.items() if count}

    def _forget(self, plan: str, before: str, live: str) -> int:
        """Forget the history of one plan, up to the first record that is to stay; how much of it that was."""
        firsts = [self._first(_SINCE, plan, before)]
        if live:
            seen, sent = self._first(_LIVE_READER, plan, live), self._first(_LIVE_LIST, plan, live)
            firsts.append(None if seen is None else seen + 1)
            firsts.append(None if sent is None else self._first(_SINCE, plan, sent))
        kept = [first for first in firsts if first is not None]
        upto = min(kept) if kept else _LAST
        gone = self._execute("DELETE FROM history WHERE plan = ? AND revision < ?", (plan, upto)).rowcount
        return gone + self._execute(f"{DROP_LEADING_CALLS} AND plan = ?", (plan,)).rowcount

    def _first(self, asked: str, plan: str, since: str) -> Any:
        return self._execute(asked, (plan, since)).fetchone()[0]

    def small(self, commit: Commit) -> tuple[Any, ...] | None:
        """A save that only changes items in place, by whoever saved last, as the values of one statement; else None."""
        before, after, record, reader, home, lists = commit
        author = _author(record, reader)
        home = home or PlanKey()
        if (
            before is None
            or home.parent
            or lists
            or self._last_peek != (after.id, before.revision, author)
            or _head(before) != _head(after)
        ):
            return None
        if any(change.kind != "changed" for change in record.changes):
            return None
        items = dumps({change.id: self._item_text(change.after) for change in record.changes})
        head = (after.revision, record.at, author, after.id, before.revision, not home.session, *_seat(home))
        return (*head, items, MAIN, *self._line(record))

    def _create(self, plan: str, home: PlanKey, at: str) -> None:
        check_id(plan)
        values = (plan, text(home.place), text(home.agent), at, home.parent)
        made = self._execute("INSERT INTO plans VALUES (?, 0, '', ?, ?, ?, '', ?) ON CONFLICT DO NOTHING", values)
        if made.rowcount != 1:
            raise StaleRevision(f"plan {plan} has moved on")
        if not home.session and home.agent == MAIN:  # nobody else may have begun one here meanwhile
            made = self._execute("INSERT INTO places VALUES (?, ?) ON CONFLICT DO NOTHING", (text(home.place), plan))
            if made.rowcount != 1:
                raise StaleRevision("there is a plan here already")
        if home.session:
            bound = (text(home.session), text(home.agent), plan, text(home.host), at)
            made = self._execute("INSERT INTO bindings VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", bound)
            if made.rowcount != 1:
                raise StaleRevision(f"session {home.session!r} has a plan already")

    def _write_head(self, commit: Commit) -> None:
        before, after, record, reader, home, _ = commit
        old = before.revision if before else 0
        plan, revision, last = self._last_peek
        if (plan, revision) != (after.id, old):  # it was not looked at before
            last = self._author(after.id)
        author = _author(record, reader)
        seat = _seat(home) if before is not None and home is not None and home.session else ()
        values: tuple[Any, ...] = (after.revision, record.at, author, after.id, old, *seat)
        seated = _SEATED if seat else ""
        if before is None or _head(before) != _head(after):
            changed = self._execute(_UPDATE_ALL + seated, (head_text(after), *values))
        else:
            changed = self._execute(_UPDATE + seated, values)
        if changed.rowcount != 1:
            raise StaleRevision(f"plan {after.id} has moved on")
        if last and last != author:
            self._execute(_READER, (after.id, last, old, record.at))
        self._execute(_PLACE, (after.id, MAIN))

    def _refuse_told(self, plan: str, key: str, reader: Reader) -> None:
        """Of a reader that saves, but was not told of everything: nobody may have told it since."""
        row = self._execute("SELECT seen FROM readers WHERE plan = ? AND key = ?", (plan, text(key))).fetchone()
        if (row[0] if row else 0) != reader.seen:
            raise StaleRevision("the reader was told about it")

    def _author(self, plan: str) -> str:
        row = self._execute("SELECT author FROM plans WHERE id = ?", (plan,)).fetchone()
        return row[0] if row else ""

    def _write_items(self, after: Plan, record: Record) -> None:
        plan = after.id
        removed, changed, added = [], [], []
        moved = False
        for change in record.changes:
            if change.kind == "changed":
                changed.append((self._item_text(change.after), plan, change.id))
            elif change.kind == "removed":
                removed.append((plan, change.id))
            elif change.kind == "added":
                added.append(change)
            elif change.kind == "moved":
                moved = True
        if removed:
            self._executemany("DELETE FROM items WHERE plan = ? AND id = ?", removed)
        if changed:
            self._executemany("UPDATE items SET data = ? WHERE plan = ? AND id = ?", changed)
        if added or moved:
            self._place_items(after, added, moved)

    def _place_items(self, after: Plan, added: list[Change], moved: bool) -> None:
        if added:
            (last,) = self._execute("SELECT coalesce(max(rank), 0) FROM items WHERE plan = ?", (after.id,)).fetchone()
            rows = [(after.id, change.id, last + n, self._item_text(change.after)) for n, change in enumerate(added, 1)]
            self._executemany("INSERT INTO items VALUES (?, ?, ?, ?)", rows)
        at_end = [item.id for item in after.items[len(after.items) - len(added) :]] == [change.id for change in added]
        if moved or not at_end:
            ranks = [(rank, after.id, item.id) for rank, item in enumerate(after.items, 1)]
            self._executemany("UPDATE items SET rank = ? WHERE plan = ? AND id = ?", ranks)

    def _line(self, record: Record) -> tuple[Any, ...]:
        """A record as a line of history, but for its plan."""
        changes = f"[{','.join([self._change_text(change) for change in record.changes])}]"
        revision, at, by, reader, dialect, kind, _ = record
        return (revision, at, spelled(by), spelled(reader), dialect, kind, changes)

    def _change_text(self, change: Change) -> str:
        kind, id, before, after, at = change
        if kind not in ("added", "removed", "changed"):
            return dumps(change_to_json(change))
        old = self._item_text(before) if before else "null"
        new = self._item_text(after) if after else "null"
        return f'["{kind}","{id}",{old},{new},{at}]'

    def _item_text(self, item: Item) -> str:
        """An item as JSON. The same item is asked for several times: for its row, and for history on both sides."""
        known = self._written.get(id(item))
        if known is not None and known[0] is item:
            return known[1]
        made = _plain_text(item) if item[3:] == _PLAIN else dumps(item_to_json(item))
        if len(self._written) > _REMEMBERED:
            self._written.clear()
        self._written[id(item)] = (item, made)
        return made


def text(name: str) -> str:
    """A name as it is looked up by: what is very long does not fit into an index, and is there by its digest."""
    if len(name) > LONGEST_NAME:
        from hashlib import sha256

        name = f"{name[:80]}~{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return spelled(name)


def spelled(name: str) -> str:
    """A name as it is kept: databases take no lone surrogate, and some no NUL."""
    return name if name.isprintable() and not name.startswith('"') else dumps(name)


def untext(name: str) -> str:
    return str(loads(name)) if name.startswith('"') else name


def _author(record: Record, reader: Reader | None) -> str:
    """Who was told of everything up to this record: its reader, if it has one."""
    return "" if reader is None else text(record.reader)


def _seat(home: PlanKey) -> tuple[str, str]:
    return text(home.session), text(home.agent)


def head_text(plan: Plan) -> str:
    title, mode, paused, phases, last_id, removed = _head(plan)
    return dumps((title, mode, paused_to_json(paused), phases, last_id, removed))


def _plain_text(item: Item) -> str:
    """The JSON of an item with nothing to it but an id, a text and a status, as most are; in a third of the time."""
    return f'{{"id": {quoted(item.id)}, "text": {quoted(item.text)}, "status": {quoted(item.status)}}}'


def _brief(data: dict[str, Any]) -> Item:
    """What a listing says of an item, without the rest of it."""
    return Item(data["id"], data["text"], data["status"], data.get("active", ""))


def _state_of(data: str | None) -> SessionState:
    """The state of a session as it was kept; a fresh one, if that makes no sense: it is worth less than a plan."""
    try:
        found = loads(data) if data else {}
    except ValueError:
        return SessionState()
    return pace_from_json(found) if isinstance(found, dict) else SessionState()


def _call_row(call: Mapping[str, Any], at: str) -> tuple[str, str]:
    """When a tool call was made, and all else of it as JSON."""
    from ..core.redact import bounded_call

    kept = bounded_call(call)
    return str(kept.pop("at", at)), dumps(kept)


def _changes_of(kind: str, made: str) -> tuple[Change, ...]:
    """The changes of a record. One that only noted tool calls, as older programs did, changed nothing of the plan."""
    if kind == CALLS:
        return ()
    return tuple([change_from_json(change) for change in loads(made)])

"""Plans as `json:` kept them before it used SQLite: read them, move them into the database, put their files away.

Beside each list was a `.history.jsonl` with a line each for whose plan it is (`version`), every change (`changes`, with
the digest of the list it led to), the plan where a trimmed history begins (`items`), what readers have seen (`seen`),
and sessions that work from the plan (`session`). Every line ends with a checksum. `.punchlist` held pointers, which can
be found again from the histories, the states of sessions, and the lists that readers sent last."""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Callable, Iterable, Sequence

from ...core._typing import Any, NamedTuple
from ...core.codec import change_from_json, item_from_json, item_to_json, pace_from_json, paused_from_json
from ...core.diff import Record, apply, undo
from ...core.errors import StoreError
from ...core.model import MAIN, Plan, Reader, SessionState
from ...local.files import make_folder, utc_text
from .. import Commit, PlanKey, too_new
from ..sql import Rows, head_text, text
from . import files, lists
from .files import GONE

HISTORY = ".history.jsonl"
POINTERS = ".punchlist"
ASIDE = "old-format"  # the folder where the files are afterwards
_VERSION = 1
_SUM = b', "crc": '
_INSERT = """
INSERT INTO plans (id, revision, head, place, agent, touched, author, parent) VALUES (?, ?, ?, ?, ?, ?, '', ?)
"""
_PLACE = """
INSERT INTO places SELECT place, id FROM plans WHERE id = ? AND agent = ?
ON CONFLICT (place) DO UPDATE SET plan = excluded.plan
"""
_Line = dict[str, Any]
_NONSENSE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class OldPlan(NamedTuple):
    """What the two files of a plan say."""

    stem: str
    key: PlanKey
    start: Plan  # the plan before the first of the records
    began: str  # when that was
    run: list[_Line]  # the records
    lines: list[_Line]  # all lines that can be read
    on_disk: str  # the digest of the list

    @property
    def touched(self) -> str:
        if self.run:
            return str(self.run[-1]["at"])
        return self.began


def read_plans(folder: str, stem: str = "") -> list[OldPlan]:
    """Read the plan with these files, or all plans of the old format, the one touched last at the end. Of all, files
    that cannot be read stay where they are until somebody asks for that plan, and is told what is wrong."""
    names = [stem]
    if not stem:
        names = files.newest(folder, HISTORY)
    found = []
    for name in names:
        try:
            old = read_plan(folder, name)
        except StoreError:
            if stem:
                raise
            continue
        if old is not None:
            found.append(old)
    return sorted(found, key=lambda old: old.touched)


def read_plan(folder: str, stem: str) -> OldPlan | None:
    """Read the files of a plan; None if they were put away. Raises StoreError if they do not tell, or belong to a newer
    version."""
    path, list_path = files.inside(folder, stem + HISTORY), files.inside(folder, f"{stem}.json")
    data, stamp = files.read(path)
    if stamp == GONE:
        return None
    listed, _ = files.read(list_path)
    lines = _lines(data)
    if lines and lines[0].get("version", 0) > _VERSION:
        raise too_new(path)
    try:
        own = _identity(folder, stem, lines)
        start, began, run = _run(own["plan"], lines, listed)
        key = PlanKey(*[str(own.get(name, "")) for name in ("place", "session", "agent", "host", "parent")])
        _replay(start, run)
    except _NONSENSE as error:
        raise StoreError(
            f"{path} and {list_path} are damaged or do not belong together ({error}); nothing was changed. "
            f"Restore them from a backup, or move both away."
        ) from None
    return OldPlan(stem, key, start, began, run, lines, lists.digest(listed))


def _lines(data: bytes) -> list[_Line]:
    return [line for piece in data.split(b"\n")[:-1] if (line := _line(piece)) is not None]


def _line(piece: bytes) -> _Line | None:
    """A line, if it is as it was written."""
    body, _, tail = piece.rpartition(_SUM)
    try:
        line = json.loads(piece)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict):
        return None
    is_newer = isinstance(line.get("version"), int) and line["version"] > _VERSION
    if is_newer or tail == b"%d}" % crc32(body):
        return line
    return None


def _identity(folder: str, stem: str, lines: Iterable[_Line]) -> _Line:
    """Whose plan it is. If the line that says so is damaged, the name of the file tells the session."""
    session, agent = lists.session_of(stem)
    own: _Line = {"plan": lists.digest_of(stem)[:12], "session": session, "agent": agent or MAIN}
    for line in lines:
        if "version" in line:
            own = line
        elif "parent" in line:
            own = {**own, "parent": line["parent"]}
    return own


def _run(id: str, lines: Iterable[_Line], listed: bytes) -> tuple[Plan, str, list[_Line]]:
    """The plan where the records begin that lead to the newest one, when that was, and these records."""
    run: list[_Line] = []
    for line in lines:
        if "digest" in line:
            if run and line["revision"] != run[-1]["revision"] + 1:
                run = []  # across a gap nothing can be undone
            run.append(line)
    if run and "items" in run[0]:
        items = tuple([item_from_json(item) for item in run[0]["items"]])
        return _with_head(Plan(id, items=items), run[0]), run[0]["at"], run[1:]
    if run and run[0]["revision"] == 1:
        return Plan(id), "", run
    if run and run[-1]["digest"] == lists.digest(listed):
        return _before(_listed_plan(id, listed, run[-1]), run), run[0]["at"], run
    entries = lists.entries_of(listed)
    if entries is None:
        raise ValueError("the list cannot be read")
    known = Plan(id)
    if run:
        known = _with_head(known, run[-1])
    plan = lists.plan_of(known._replace(last_id=0), entries)
    return plan._replace(last_id=max(known.last_id, plan.last_id), revision=known.revision + 1), utc_text(), []


def _record(line: _Line) -> Record:
    fields = {name: line[name] for name in Record._fields}
    return Record(**{**fields, "changes": tuple([change_from_json(change) for change in line["changes"]])})


def _replay(plan: Plan, run: Iterable[_Line]) -> list[Plan]:
    """The plan after each record."""
    made = []
    for line in run:
        plan = _with_head(apply(plan, _record(line).changes), line)
        made.append(plan)
    return made


def _before(plan: Plan, run: Sequence[_Line]) -> Plan:
    for line in reversed(run):
        plan = undo(plan, _record(line).changes)
    return plan._replace(revision=plan.revision - len(run))


def _listed_plan(id: str, listed: bytes, last: _Line) -> Plan:
    """The plan of a list that we wrote, and of the last record, which has the items that the list leaves out."""
    items = [item_from_json(entry["punchlist"]) for entry in json.loads(listed)]
    for place, item in last.get("dropped", ()):
        items.insert(place, item_from_json(item))
    return _with_head(Plan(id, items=tuple(items)), last)


def _with_head(plan: Plan, line: _Line) -> Plan:
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


# --- into the database -----------------------------------------------------------------------------------------------


def insert(rows: Rows, execute: Callable[..., Any], folder: str, old: OldPlan) -> Plan:
    """Save a plan with its history, its readers, their states and the lists that they sent last."""
    key, plan = old.key, old.start
    began = old.began or old.touched
    values = (plan.id, plan.revision, head_text(plan), text(key.place), text(key.agent), began, key.parent)
    execute(_INSERT, values)
    for rank, item in enumerate(plan.items, 1):
        execute("INSERT INTO items VALUES (?, ?, ?, ?)", (plan.id, item.id, rank, json.dumps(item_to_json(item))))
    for line, after in zip(old.run, _replay(plan, old.run), strict=True):
        reader = Reader(plan.revision) if "heard" in line else None
        rows.save(Commit(plan, after, _record(line), reader))
        plan = after
    execute(_PLACE, (plan.id, MAIN))
    for line in old.lines:
        if "seen" in line:
            rows.remember(plan.id, line["reader"], Reader(line["seen"]), None, line["at"])
    _insert_memory(rows, folder, plan.id, old)
    return plan


def _insert_memory(rows: Rows, folder: str, plan: str, old: OldPlan) -> None:
    """Save the states of sessions and the lists that readers sent last. They were kept by a digest of whose they are,
    so they are found by the names that the history has."""
    keys = {str(line["reader"]) for line in old.lines if line.get("reader")}
    keys |= {f"{len(session)}/{session}/{agent}" for _, session, agent, _ in bindings(old)}
    for key in keys:
        sent, at = _read_kept(folder, "lists", lists.digest_of(plan, key))
        rows.keep_lists(plan, key, {tool: str(data) for tool, data in sent.items()}, at)
    for key in [*keys, f"names/{plan}"]:
        state, at = _read_kept(folder, "paces", lists.digest_of(key))
        if state and rows.load_state(key) == SessionState():
            rows.save_state(key, SessionState(), pace_from_json(state), at)


def _read_kept(folder: str, kind: str, name: str) -> tuple[dict[str, Any], str]:
    """What is kept under a name, and since when; nothing, if it cannot be read: it is worth less than a plan."""
    inner = files.inside(files.inside(folder, POINTERS), kind)
    data, stamp = files.read(os.path.join(inner, name))
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}, ""
    if isinstance(found, dict):
        return (found, files.time_of(stamp))
    return ({}, "")


def bindings(old: OldPlan) -> list[tuple[str, str, str, str]]:
    """Since when which session and agent, in which program, work from a plan."""
    first = str(old.run[0]["at"]) if old.run else old.began
    lines = [line for line in old.lines if line.get("session") and "version" not in line]
    found = [(line["at"], line["session"], line["agent"], str(line.get("host", ""))) for line in lines]
    key = old.key
    if key.session:
        return [(first, key.session, key.agent, key.host), *found]
    return found


def list_digests(old: OldPlan) -> tuple[str, str]:
    """The digests of the newest list that the history knows, and of the list that is there if a write was cut short."""
    digests = [str(line["digest"]) for line in old.lines if "digest" in line]
    newest = ""
    if digests:
        newest = digests[-1]
    return newest, old.on_disk if old.on_disk in digests else ""


# --- away ------------------------------------------------------------------------------------------------------------


def put_away(folder: str, stems: Sequence[str]) -> None:
    """Move the files of plans that are in the database into a folder of their own, if there are any."""
    if not stems and not os.path.lexists(os.path.join(folder, POINTERS)):
        return
    aside = files.inside(folder, ASIDE)
    with files.naming(aside):
        make_folder(aside)
        for stem in stems:
            _move(os.path.join(folder, stem + HISTORY), os.path.join(aside, stem + HISTORY))
        _move(os.path.join(folder, POINTERS), os.path.join(aside, "pointers"))


def _move(path: str, target: str) -> None:
    try:
        os.rename(path, target)
    except FileNotFoundError:  # another process was faster
        pass
    except OSError:  # moved before: there is one already
        os.rename(path, f"{target}-{os.urandom(4).hex()}")

"""Plans in a directory of lists that people and Claude Code can read and write, with a SQLite file beside them.

`S-agent-A.json` is a list that Claude Code could have written: its three keys, and ours under a fourth one.
`punchlist.db` is a SQLite store with everything else, and one more table, `list_states`: which list belongs to which
plan, and how we left it. A change is committed to the database first, then the list is replaced. A list that is not as
we left it was written by somebody else and is taken in as an edit by the user, unless it is the list from before the
last change: then a process died between the two steps, and the list is written again.

Whoever wrote a list has seen the revision that the list before it showed, which may not be the newest one. Then what
they changed is merged into the plan: an edit that they could not know of stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from time import sleep

from ...core._typing import Any, NamedTuple, TypeVar
from ...core.diff import Change, Record, noted
from ...core.errors import StaleRevision, StoreError
from ...core.model import MAIN, USER, Plan, Reader
from ...local.files import make_folder, utc_text
from .. import Commit, PlanKey, PlanSummary
from ..sql import Rows, text
from ..sqlite import SqliteStore
from . import files, lists
from .files import GONE

DATABASE = "punchlist.db"
_LIST, _OLD_HISTORY = ".json", ".history.jsonl"
_MOMENT = 0.1  # seconds that somebody who writes a list in place has to finish
_NEWEST = 1_000  # lists that are looked at for plans we do not know: of more, those written last
_TABLE = """
CREATE TABLE IF NOT EXISTS list_states (
    plan TEXT PRIMARY KEY, stem TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, digest TEXT NOT NULL,
    prior TEXT NOT NULL, stamp TEXT NOT NULL, shown INTEGER NOT NULL
) WITHOUT ROWID
"""
_KNOWN = """
SELECT plans.revision, stem, list_states.revision, digest, prior, stamp, shown
FROM plans LEFT JOIN list_states ON plan = id WHERE id = ?
"""
_KEEP = "INSERT OR REPLACE INTO list_states VALUES (?, ?, ?, ?, ?, ?, ?)"
_PUBLISHED = "UPDATE list_states SET shown = revision WHERE plan = ?"
_Execute = Callable[..., Any]
_T = TypeVar("_T")


class _ListFile(NamedTuple):
    """The list of a plan, as we wrote it last."""

    stem: str  # its name without `.json`
    revision: int = 0  # of the plan that it shows
    digest: str = ""
    prior: str = ""  # the digest of the list that it replaces
    stamp: str = GONE
    shown: int = 0  # the revision that the file shows: `revision`, once the list has got its name


class _Draft(NamedTuple):
    """A list that is written and has not got its name yet."""

    plan: str
    path: str  # of the list that it is to replace
    draft: str
    stamp: str
    seen: str  # the stamp of that list when it was read


class _HalfWritten(Exception):
    """A list cannot be read, perhaps because somebody is writing it."""


class JsonStore(SqliteStore):
    """A store in a directory: its SQLite file, and lists that are brought together with it before it is read."""

    def __init__(self, folder: str, **options: str) -> None:
        self.folder = os.path.realpath(folder)
        with files.naming(self.folder):
            make_folder(self.folder)
        self.unsaved = ""  # why an edit of the list that was loaded last is not saved
        path = files.inside(self.folder, DATABASE)
        is_new = not os.path.lexists(path)
        super().__init__(path, address=f"json:{folder}", **options)
        self._writer = lists.Writer()
        self.query(_TABLE)
        if is_new or os.path.lexists(os.path.join(self.folder, ".punchlist")):
            self._take_over()

    def peek(self, plan: str, reader: str) -> tuple[int, Reader]:
        self._settle(plan)
        return super().peek(plan, reader)

    def peek_session(self, key: PlanKey, reader: str) -> tuple[str, int, Reader]:
        found = super().peek_session(key, reader)
        if self._settle(found[0]) or (not found[0] and self._adopt(key)):
            return super().peek_session(key, reader)
        return found

    def load(self, plan: str) -> Plan | None:
        self.unsaved = ""
        try:
            self._settle_now(plan)
        except StoreError as error:
            if not error.is_readable:
                raise
            return self._at_once("BEGIN", partial(self._load_unsaved, plan, error))
        return super().load(plan)

    def history(self, plan: str, after: int = 0, by: str = "") -> list[Record]:
        self._settle(plan)
        return super().history(plan, after, by)

    def find(self, key: PlanKey) -> str:
        plan = super().find(key) or self._adopt(key)
        self._settle(plan)
        return plan

    def plans(
        self, most: int, session: str = "", agent: str = "", plan: str = "", place: str = ""
    ) -> list[PlanSummary]:
        if not place:
            self._if_writable(self._adopt_all)
        found = super().plans(most, session, agent, plan, place)
        apart = [summary.id for summary in found if self._settle(summary.id)]
        if apart:
            return super().plans(most, session, agent, plan, place)
        return found

    def save(self, commit: Commit) -> None:
        drafts: list[_Draft] = []

        def work(rows: Rows, execute: _Execute) -> None:
            known = self._check(execute, commit.before, commit.after, commit.key or PlanKey())
            rows.save(commit)
            drafts.append(self._write_list(execute, commit.after, known, known.digest, known.stamp))

        try:
            self.transact(work)
        except StoreError as error:
            for draft in drafts:
                files.remove(draft.draft)
            if isinstance(error, StaleRevision):  # perhaps by an edit that cannot be taken in; then that is the reason
                self._settle_now(commit.after.id)
            raise
        if not self._publish(drafts[0]):
            self._settle_soon(commit.after.id)

    def __del__(self) -> None:
        """Close the file with the store: a directory never had to be closed."""
        if hasattr(self, "_db"):
            self.close()

    # --- a plan and its list -----------------------------------------------------------------------------------------

    def _path(self, stem: str) -> str:
        return files.inside(self.folder, stem + _LIST)

    def _is_settled(self, plan: str) -> bool:
        """Whether the list of a plan is as we left it and shows the newest revision. True if there is no such plan."""
        found = self.query(_KNOWN, (text(plan),))
        if not found:
            return True
        revision, stem, written, _, _, stamp, _ = found[0]
        return bool(revision == written and stamp == files.stamp(self._path(stem)))

    def _settle(self, plan: str) -> bool:
        """Bring a plan and its list together, if that can be saved; return whether they were apart."""
        return self._if_writable(partial(self._settle_now, plan))

    def _if_writable(self, work: Callable[[], object]) -> bool:
        """Save what others wrote, but let the plans be read where that cannot be saved."""
        try:
            return bool(work())
        except StoreError as error:
            if not error.is_readable:
                raise
            return False

    def _settle_now(self, plan: str) -> bool:
        if not plan or self._is_settled(plan):
            return False
        draft, problem = self._patiently(partial(self._reconcile, plan))
        if draft:
            self._publish(draft)
        if problem:
            raise StoreError(problem)
        return True

    def _settle_soon(self, plan: str) -> None:
        """Take in a list that somebody wrote while we saved. What was saved is safe, so nothing here is an error:
        whoever looks next settles it."""
        try:
            draft, _ = self.transact(partial(self._reconcile, plan, "?"))
        except (_HalfWritten, StoreError):
            return
        if draft:
            self._publish(draft)

    def _patiently(self, work: Callable[[str, Rows, _Execute], _T]) -> _T:
        """Run a transaction that reads a list. One that cannot be read, and was not written for a moment, is damaged:
        then `work` gets its stamp."""
        damaged = "?"
        while True:
            try:
                return self.transact(partial(work, damaged))
            except _HalfWritten as error:
                damaged = str(error)
                sleep(_MOMENT)

    def _reconcile(self, id: str, damaged: str, rows: Rows, execute: _Execute) -> tuple[_Draft | None, str]:
        """Make plan and list agree; return the list that is to be published, and what was wrong with the old one."""
        plan = rows.load(id)
        if plan is None:
            return None, ""
        known = self._find_list(rows, execute, plan)
        path = self._path(known.stem)
        data, stamp = files.read(path)
        found = lists.digest(data)
        if found == known.digest:
            known = known._replace(stamp=stamp, shown=known.revision)
            if known.revision == plan.revision:  # copied, or touched
                execute(_KEEP, (plan.id, *known))
                return None, ""
        if stamp == GONE:
            files.remove_drafts(path)
            return self._write_list(execute, plan, known, "", GONE), ""
        entries = lists.entries_of(data)
        if entries is None:  # also if it was so before: somebody may have begun to write it again
            aside = self._set_aside(path, stamp, damaged)
            problem = (
                f"{path} was damaged: it is kept as {aside}, and was written again from {DATABASE}; try again. "
                f"If a program was still writing it, the rest is in the kept file."
            )
            return self._write_list(execute, plan, known, "", GONE), problem
        if found in (known.digest, known.prior):
            files.remove_drafts(path)
            return self._write_list(execute, plan, known, found, stamp), ""
        return self._take_in(rows, execute, plan, entries, known._replace(digest=found, stamp=stamp)), ""

    def _set_aside(self, path: str, stamp: str, damaged: str) -> str:
        """Give a list that cannot be read another name, and return it. Raises _HalfWritten if the list has not been
        like this for a moment."""
        if stamp != damaged:
            raise _HalfWritten(stamp)
        aside = files.set_aside(path, stamp)
        if not aside:
            raise _HalfWritten("?")
        return aside

    def _take_in(
        self, rows: Rows, execute: _Execute, plan: Plan, entries: list[dict[str, Any]], known: _ListFile
    ) -> _Draft:
        """Save what somebody else wrote to a list as an edit by the user, made of the revision that they saw. Where
        the plan says something else by now, their list wins, as a user's edit does: history has the other."""
        at = utc_text()
        seen = _plan_at(rows, plan, known.shown)
        after, changes = _apply_edit(plan, seen, entries, at)
        if changes:
            after = after._replace(revision=plan.revision + 1)
            rows.save(Commit(plan, after, Record(after.revision, at, USER, dialect="file", changes=changes)))
        if seen is plan:  # the list that we have read shows what we save
            known = known._replace(shown=after.revision)
        return self._write_list(execute, after, known, known.digest, known.stamp)

    def _load_unsaved(self, id: str, error: StoreError) -> Plan | None:
        """The plan with an edit of its list that cannot be saved; `unsaved` tells why. It keeps its revision."""
        rows = self._rows
        plan = rows.load(id)
        if plan is None:
            return None
        known = self._find_list(rows, self._db.execute, plan)
        path = self._path(known.stem)
        data, stamp = files.read(path)
        if stamp == GONE or lists.digest(data) in (known.digest, known.prior):
            return plan
        entries = lists.entries_of(data)
        if entries is None:
            self.unsaved = f"{path} is damaged, and this is the plan as it was saved last: {error}"
            return plan
        self.unsaved = f"your edit of {path} is shown, but not saved: {error}"
        return _apply_edit(plan, _plan_at(rows, plan, known.shown), entries, utc_text())[0]

    def _find_list(self, rows: Rows, execute: _Execute, plan: Plan) -> _ListFile:
        """The list of a plan. Without a row (the database was repaired, or written to as `sqlite:`) its name tells."""
        row = execute(_KNOWN, (text(plan.id),)).fetchone()
        if row[1] is not None:
            return _ListFile(*row[1:])
        for session, agent in rows.sessions(plan.id):
            found = self._find_unowned(execute, PlanKey(session=session, agent=agent))
            if found:
                return _ListFile(found[0], shown=plan.revision)
        return _ListFile(self._new_stem(execute, plan.id, PlanKey(agent=MAIN)))

    def _write_list(self, execute: _Execute, plan: Plan, known: _ListFile, on_disk: str, seen: str) -> _Draft:
        """Write the list of a plan, and the row that tells how we left it. It gets its name after the commit, if the
        file is still as it was `seen`."""
        path = self._path(known.stem)
        listed = self._writer.list_of(plan)
        draft, stamp = files.write_draft(path, listed)
        execute(_KEEP, (plan.id, known.stem, plan.revision, lists.digest(listed), on_disk, stamp, known.shown))
        return _Draft(plan.id, path, draft, stamp, seen)

    def _publish(self, draft: _Draft) -> bool:
        """Replace the list, unless another process went on meanwhile, or somebody has just written it; return whether
        it was replaced. Whoever looks next sees that the list is not as it should be, so a failure here loses
        nothing."""

        def work(rows: Rows, execute: _Execute) -> bool:
            row = execute(_KNOWN, (text(draft.plan),)).fetchone()
            if not row or row[5] != draft.stamp or not files.publish(draft.draft, draft.path, draft.seen):
                return False
            execute(_PUBLISHED, (text(draft.plan),))
            return True

        try:
            return self.transact(work)
        except StoreError:
            return False
        finally:
            files.remove(draft.draft)

    # --- lists of others ---------------------------------------------------------------------------------------------

    def _check(self, execute: _Execute, before: Plan | None, after: Plan, key: PlanKey) -> _ListFile:
        """The list of a plan that is to be saved. Raises StaleRevision if plan or list are not as they were."""
        row = execute(_KNOWN, (text(after.id),)).fetchone()
        if row is None and before is None:
            if self._find_unowned(execute, key):
                raise StaleRevision(f"session {key.session!r} has a plan already")
            return _ListFile(self._new_stem(execute, after.id, key))
        if row is None or before is None or row[0] != before.revision or row[1] is None:
            raise StaleRevision(f"plan {after.id} has moved on")
        known = _ListFile(*row[1:])
        if known.stamp != files.stamp(self._path(known.stem)):
            raise StaleRevision(f"the list of plan {after.id} was written by somebody else")
        return known._replace(shown=known.revision)

    def _new_stem(self, execute: _Execute, plan: str, key: PlanKey) -> str:
        """Return a name for a list that no other one has, here or where capitals make no difference."""
        if key.session:
            stem = lists.new_stem_of(key.session, key.agent)
        else:
            stem = lists.stem_of(plan, key.agent)
        with files.naming(self.folder):
            taken = {name.lower() for name in os.listdir(self.folder)}
        is_owned = execute("SELECT 1 FROM list_states WHERE lower(stem) = ?", (stem.lower(),)).fetchone()
        if is_owned or (stem + _LIST).lower() in taken:
            return f"{stem}~{lists.digest_of(plan)[:16]}"
        return stem

    def _stems(self, key: PlanKey) -> list[str]:
        """Under which names a session's agent has files here: ours, or Claude Code's, whose main agent is called like
        its session."""
        if not key.session or key.agent == key.session:
            return []
        return [stem for stem in lists.stems_of(key.session, key.agent) if self._is_taken(stem)]

    def _is_taken(self, stem: str) -> bool:
        return any(os.path.lexists(os.path.join(self.folder, stem + ending)) for ending in (_LIST, _OLD_HISTORY))

    def _find_unowned(self, execute: _Execute, key: PlanKey) -> list[str]:
        asked = "SELECT 1 FROM list_states WHERE stem = ?"
        return [stem for stem in self._stems(key) if not execute(asked, (stem,)).fetchone()]

    def _adopt(self, key: PlanKey) -> str:
        """Take over a list that Claude Code wrote for a session; return its plan, or nothing."""
        stems = self._stems(key)
        if not stems:
            return ""
        for stem in stems:
            if os.path.lexists(os.path.join(self.folder, stem + _OLD_HISTORY)):
                self._take_over(stem)
        return self._patiently(partial(self._adopt_file, key))

    def _adopt_file(self, key: PlanKey, damaged: str, rows: Rows, execute: _Execute) -> str:
        plan = rows.find(key)
        stems = self._find_unowned(execute, key)
        if plan or not stems:
            return plan
        path = self._path(stems[0])
        data, stamp = files.read(path)
        entries = lists.entries_of(data)
        if entries is None:
            aside = self._set_aside(path, stamp, damaged)
            raise StoreError(f"{path} was damaged: it is kept as {aside}; try again without it.")
        id = lists.digest_of(stems[0])[:12]
        if rows.load(id) is not None:  # the database was repaired, and does not know whose plan it is
            rows.bind(key, id, utc_text())
            return id
        at = files.time_of(stamp)
        made, changes = noted(Plan(id), lists.plan_of(Plan(id), entries), "import", at)
        record = Record(1, at, USER, dialect="file", kind="import", changes=changes)
        rows.save(Commit(None, made._replace(revision=1), record, key=key))
        execute(_KEEP, (id, *_ListFile(stems[0], 1, lists.digest(data), "", stamp, shown=1)))
        return id

    def _adopt_all(self) -> None:
        """Take over the lists that Claude Code wrote and nobody has asked for yet."""
        if files.newest(self.folder, _OLD_HISTORY):
            self._take_over()
        owned = {stem for (stem,) in self.query("SELECT stem FROM list_states")}
        for stem in files.newest(self.folder, _LIST)[:_NEWEST]:
            session, agent = lists.session_of(stem)
            if session and stem not in owned and self._is_list(stem):
                self._adopt(PlanKey(session=session, agent=agent))

    def _is_list(self, stem: str) -> bool:
        try:
            return lists.entries_of(files.read(self._path(stem))[0]) is not None
        except StoreError:  # a link that leads elsewhere, or not a file
            return False

    def _take_over(self, stem: str = "") -> None:
        """Move the plans of the format before SQLite into the database: all, or the one with these files."""
        from ..upgrade import move_calls
        from . import old_format

        renamed = []

        def work(rows: Rows, execute: _Execute) -> list[str]:
            found = old_format.read_plans(self.folder, stem)
            new = [old for old in found if rows.load(old.start.id) is None]
            bound = sorted([(*binding, old.start.id) for old in new for binding in old_format.bindings(old)])
            free = [each for each in bound if not rows.find(PlanKey(session=each[1], agent=each[2]))]
            for old in new:
                plan = old_format.insert(rows, execute, self.folder, old)
                name = self._name_now(execute, old.stem, old.key)
                digest, prior = old_format.list_digests(old)
                execute(_KEEP, (plan.id, *_ListFile(name, plan.revision, digest, prior, "?", shown=plan.revision)))
                renamed.append((old.stem, name))
            for at, session, agent, host, id in free:
                rows.bind(PlanKey("", session, agent, host), id, at)
            move_calls(execute)
            return [old.stem for old in found]

        stems = self.transact(work)
        for before, after in renamed:
            if before != after:
                with files.naming(self.folder):
                    os.rename(os.path.join(self.folder, before + _LIST), os.path.join(self.folder, after + _LIST))
        old_format.put_away(self.folder, stems)

    def _name_now(self, execute: _Execute, stem: str, key: PlanKey) -> str:
        """Return the name of a list that an older version named: a main agent is called like its session now."""
        wanted = lists.new_stem_of(key.session, key.agent)
        if not key.session or stem != lists.stem_of(key.session, key.agent) or stem == wanted:
            return stem
        name = self._new_stem(execute, "", key)
        if name == wanted and os.path.isfile(os.path.join(self.folder, stem + _LIST)):
            return name
        return stem


def _apply_edit(plan: Plan, seen: Plan, entries: list[dict[str, Any]], at: str) -> tuple[Plan, tuple[Change, ...]]:
    """Return a plan with what somebody wrote to its list who saw an older one, and what that changes."""
    from ...core.merge import merge

    asked = merge(seen, lists.plan_of(seen, entries), plan, mine_wins=True).plan
    return noted(plan, asked, USER, at)


def _plan_at(rows: Rows, plan: Plan, revision: int) -> Plan:
    """Return a plan as it was at a revision, or at the oldest one that the history still leads to."""
    from ...core.diff import undo

    if revision == plan.revision:
        return plan
    for record in reversed(rows.history(plan.id, revision, "")):
        plan = undo(plan, record.changes)
    return plan


def open(rest: str, **options: str) -> JsonStore:
    return JsonStore(_folder_of(rest), **options)


def database_of(rest: str) -> str:
    """Return the path of the SQLite file in the directory that an address names."""
    return os.path.join(_folder_of(rest), DATABASE)


def _folder_of(rest: str) -> str:
    if not rest:
        raise StoreError("json: needs a directory, as in json:plans", "address")
    return os.path.abspath(os.path.expanduser(rest))

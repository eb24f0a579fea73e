"""The one door: load, apply, note what changed, save. Whoever lost a race applies the same pure edit again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import settings as settings_of
from .core.changes import Change, Record, apply, diff, noted, tell, undo
from .core.errors import Refused, StaleRevision, StoreError
from .core.model import ACTIVE, MAIN, PENDING, USER, Pause, Plan, Reader
from .core.text import counted, cut, inline, plainly
from .core.timeline import leading_to, redoable, undoable
from .settings import Settings
from .stores import Home, Store, open_store

if TYPE_CHECKING:  # what only a tool call needs is imported by the call: most hooks make none
    from .dialects import Dialect, Reply

_LONGEST = 1.0  # seconds to wait for a change before looking by ourselves
_SOON = 0.1  # the same while there is no plan yet
_TRIES = 500  # races lost in a row before we give up
_NEWS = 10  # sentences of news in one answer
_NO_NEWS = ("import", "restore")
_REBOUND = 1.0  # seconds until it is noticed that a session was bound to another plan
_UNNAMED = "default"  # the session of an agent that names none
_LONG = 300  # characters of a name that stands as it is
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class Desk:
    """A plan in a store, for one session and agent, in one dialect."""

    def __init__(
        self,
        store: Store,
        *,
        session: str = "",
        agent: str = MAIN,
        plan: str = "",
        dialect: str | Dialect = "native",
        settings: Settings | None = None,
        place: str = "",
    ) -> None:
        if agent != MAIN and not session and not plan:
            session = _UNNAMED
        self.store = store
        self.session = session
        self.agent = agent
        self._dialect = dialect
        self.settings = settings or settings_of.load()
        self.reader_key = _reader_key(session, agent)
        self._named = plan
        self._place = place
        self._parent = ""  # the plan a new one is a copy of
        self._latest = self._bound = ""
        self._fresh = 0.0
        self._cached = Plan()
        self._listeners: list[Callable[[Pause], object]] = []

    @property
    def dialect(self) -> Dialect:
        """The tools this desk's model is given."""
        if isinstance(self._dialect, str):
            from .dialects import load

            self._dialect = load(self._dialect)
        return self._dialect

    # --- looking ---------------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The plan as it is now; empty if there is none yet."""
        return self._look()[0]

    def news(self, *, ids: bool = True) -> list[str]:
        """What others have changed since this reader last heard, once. `ids`: whether it knows items by their ids."""
        now, reader = self._look()
        return self.heard(now, reader, ids=ids)

    def history(self, after: int = 0) -> list[Record]:
        """Every change behind a revision, oldest first."""
        return self.store.history(self.plan.id, after)

    def at(self, revision: int) -> Plan:
        """The plan as it was at a revision."""
        now = self.plan
        if not 0 <= revision <= now.revision:
            raise Refused(f"no revision {revision}; the plan is at revision {now.revision}.")
        records = leading_to(self.store.history(now.id, revision), now.revision)
        if len(records) < now.revision - revision:
            oldest = now.revision - len(records)
            raise Refused(f"revision {revision} was trimmed; the oldest that is kept is {oldest}.")
        return self.rewound(now, records)._replace(revision=revision)

    @staticmethod
    def rewound(plan: Plan, records: Sequence[Record]) -> Plan:
        """A plan before these records."""
        for record in reversed(records):
            plan = undo(plan, record.changes)
        return plan

    def follow(self) -> Iterator[Plan]:
        """The plan as it is, and again each time it changes, whoever changed it."""
        plan = self.plan
        while True:
            yield plan
            while (now := self.plan).revision == plan.revision and now.id == plan.id:
                self.store.wait(now.id, now.revision, _LONGEST if now.id else _SOON)
            plan = now

    def refind(self) -> None:
        """Forget which plan was found: the next look finds the one that was touched last."""
        self._latest = self._bound = ""

    # --- changing --------------------------------------------------------------------------------------------------

    def change(self, edit: Callable[[Plan], Plan], *, by: str = USER, kind: str = "edit") -> Plan:
        """Apply a pure edit to the plan as it is now, and save it."""
        for now, _ in self.tries():
            at = self.now()
            after, changes = noted(now, edit(now), kind if kind in _NO_NEWS else by, at)
            if not changes:
                return now
            try:
                return self.save(now, after, Record(0, at, by, kind=kind, changes=changes), None)
            except StaleRevision:
                continue
        raise self.beaten()

    def call(self, tool: str, args: object, *, interactive: bool | None = None, continuing: bool = False) -> Reply:
        """Carry out one tool call, as a model made it."""
        from .calls import answer

        return answer(self, tool, args, interactive, continuing)

    def decline(self, tool: str, message: str) -> Reply:
        """The answer to a call that could not even be read."""
        from .calls import decline

        return decline(self, tool, message)

    def import_plan(self, data: object, format: str = "json", *, by: str = USER) -> Plan:
        """Replace the plan, in one revision: parsed JSON of a format, or text for markdown and transcript."""
        from .dialects.formats import load

        module = load(format)
        new: Plan = module.read(data)
        if getattr(module, "OWN_IDS", False):
            items = [item._replace(extra={"id": item.id, **item.extra}) for item in new.items]
            new = new._replace(items=tuple(items)) if self.plan.last_id else new
        own = self._own_ids if format == "json" else lambda now, new: set()
        return self.change(lambda now: _replaced(now, new, own(now, new)), by=by, kind="import")

    def export_plan(self, format: str = "json") -> Any:
        """The plan in another format."""
        from .dialects.formats import load

        return load(format, to_write=True).write(self.plan)

    def undo(self, *, by: str = USER) -> Plan:
        """Take back the last change, whoever made it. It is news to the model like any other edit."""
        return self._step(undoable, undo, "undo", by)

    def redo(self, *, by: str = USER) -> Plan:
        """Bring back what was undone last."""
        return self._step(redoable, apply, "redo", by)

    def restore(self, revision: int, *, by: str = USER) -> Plan:
        """Let the plan be again as it was at a revision. History goes on: this, too, can be undone."""
        old = self.at(revision)
        return self.change(lambda now: old._replace(revision=now.revision, last_id=now.last_id), by=by, kind="restore")

    def bind(self, session: str, agent: str = MAIN) -> None:
        """Let a session's agent work from this plan."""
        plan = self.plan
        if not plan.id:
            raise Refused("there is no plan to bind a session to.")
        self.store.bind(Home(self._home().place, session, agent), plan.id)

    def carry(self, source: str, target: str) -> Plan:
        """Give a session a copy of the plan of another session's main agent, with its lineage."""
        if not source or not target or source == target:
            raise Refused("carry needs two sessions.")
        old = self._of(source).plan
        if not old.items:
            raise Refused(f"session {cut(inline(source), 40)!r} has nothing to carry.")
        copy = self._of(target)
        copy._parent = old.id
        return copy.change(lambda now: _replaced(now, old, set()), kind="import")

    def _of(self, session: str) -> Desk:
        return Desk(self.store, session=session, settings=self.settings, dialect=self._dialect, place=self._place)

    def on_pause(self, listener: Callable[[Pause], object]) -> None:
        """Have somebody told when a pause is asked for."""
        self._listeners.append(listener)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- news --------------------------------------------------------------------------------------------------------

    def heard(self, now: Plan, reader: Reader, *, ids: bool) -> list[str]:
        """The news for a reader, who has heard them now."""
        told = self.told(now, self.unheard(now, reader), ids=ids)
        self.remember(now, reader)
        return told

    def unheard(self, now: Plan, reader: Reader) -> list[Record]:
        """The records this reader has not heard of. An import or a restore is no news, and ends what came before it."""
        if reader.seen >= now.revision:
            return []
        records = leading_to(self.store.history(now.id, reader.seen), now.revision)
        last = max((index for index, record in enumerate(records) if record.kind in _NO_NEWS), default=-1)
        return records[last + 1 :]

    def told(self, now: Plan, records: Sequence[Record], *, ids: bool) -> list[str]:
        """What records say to this reader: what each author in turn made of the plan, a sentence for each thing."""
        lines: list[str] = []
        for by, reader, before, after in _turns(now, records):
            if reader != self.reader_key:
                lines += tell(_worth_telling(diff(before, after), by), by, now, ids=ids)
        if len(lines) > _NEWS:
            lines[_NEWS:] = [f"and {counted(len(lines) - _NEWS, 'more change')}."]
        return lines

    def remember(self, now: Plan, reader: Reader) -> None:
        """Keep that this reader has heard of everything up to now."""
        if now.id and reader.seen < now.revision:
            self.store.remember(now.id, self.reader_key, reader._replace(seen=now.revision))

    # --- the store -------------------------------------------------------------------------------------------------

    def _look(self) -> tuple[Plan, Reader]:
        """The plan as it is now, and what this reader has heard. A plan that has not changed is not read again."""
        plan_id = self._find()
        if not plan_id:
            return Plan(), Reader()
        revision, reader = self.store.glance(plan_id, self.reader_key)
        plan = self._cached
        if plan.revision != revision or plan.id != plan_id:
            found = self.store.load(plan_id)
            if found is None:
                raise Refused(
                    f"no plan {cut(inline(plan_id), 40)!r}; without --plan the latest of this directory is found."
                )
            self._cached = plan = found
        return plan, reader

    @staticmethod
    def now() -> str:
        """The time, in ISO 8601."""
        seconds = time.time()
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"

    def tries(self) -> Iterator[tuple[Plan, Reader]]:
        """The plan as it is now, again after each lost race. The rests between are short and uneven, so that two who
        race do not keep step."""
        for number in range(_TRIES):
            if number:
                self._fresh = 0.0
                time.sleep(os.urandom(1)[0] / 50_000 * min(number, 8))
            yield self._look()

    def _step(
        self,
        choose: Callable[[list[Record]], Record | None],
        edit: Callable[[Plan, Sequence[Change]], Plan],
        kind: str,
        by: str,
    ) -> Plan:
        def step(now: Plan) -> Plan:
            record = choose(leading_to(self.store.history(now.id), now.revision)) if now.id else None
            if record is None:
                raise Refused(f"there is nothing to {kind}.")
            return edit(now, record.changes)._replace(removed=now.removed)  # what protects is judged anew

        return self.change(step, by=by, kind=kind)

    def _own_ids(self, now: Plan, new: Plan) -> set[str]:
        """The ids of a plan of ours that mean the same in this one, now or earlier, or that this one has not used."""
        known = {(item.id, plainly(item.text)) for item in now.items}
        for record in self.store.history(now.id) if now.id else ():
            known.update((c.id, plainly(c.before.text)) for c in record.changes if c.kind in ("removed", "changed"))
        items = [(item.id, plainly(item.text)) for item in new.items]
        return {id for id, words in items if int(id) > now.last_id or (id, words) in known}

    def _find(self) -> str:
        """The plan's id. A session may be bound to another plan at any time; without one, a plan found is kept to."""
        if self._named:
            return self._named
        if self.session:
            if not self._bound or time.monotonic() > self._fresh:
                self._bound = self.store.find(self._home())
                self._fresh = time.monotonic() + _REBOUND
            return self._bound
        self._latest = self._latest or self.store.find(self._home())
        return self._latest

    def _home(self) -> Home:
        self._place = self._place or settings_of.place()
        return Home(self._place, self.session, self.agent, parent=self._parent)

    def save(self, now: Plan, after: Plan, record: Record, reader: Reader | None) -> Plan:
        """Write what `now` has become, and have it told where a pause was asked for. Raises StaleRevision."""
        home = None if now.id else self._home()
        after = after._replace(id=now.id or _new_id(), revision=now.revision + 1)
        record = record._replace(revision=after.revision)
        heard = None if reader is None else reader._replace(seen=after.revision)
        self.store.save(now if now.id else None, after, record, heard, home)
        if home is not None and self.settings.keep_history:
            self.store.trim(settings_of.ago(self.settings.keep_history))
        self._cached = after
        self._latest = self._bound = after.id
        if after.paused and after.paused != now.paused:
            for listener in self._listeners:
                listener(after.paused)
        return after

    @staticmethod
    def beaten() -> StoreError:
        """What to raise when every race was lost."""
        return StoreError(f"the plan was changed by others {_TRIES} times in a row; try again.")


def open_desk(store: str = "", *, session: str = "", agent: str = MAIN, dialect: str = "", plan: str = "") -> Desk:
    """A desk on the store of this URL; with nothing named, on the plan of this directory in the usual store."""
    settings = settings_of.load({"store": store or None, "dialect": dialect or None})
    return desk_for(settings, session=session, agent=agent, plan=plan)


def desk_for(settings: Settings, *, session: str = "", agent: str = MAIN, plan: str = "", place: str = "") -> Desk:
    """A desk as the settings say."""
    url = settings.store
    options = {"synchronous": settings.sqlite_synchronous} if url.startswith("sqlite:") else {}
    store = open_store(url, **options)
    return Desk(
        store, session=session, agent=agent, plan=plan, dialect=settings.dialect, settings=settings, place=place
    )


def _turns(now: Plan, records: Sequence[Record]) -> list[tuple[str, str, Plan, Plan]]:
    """Who changed the plan, as which reader, from what to what. Changes of one author in a row are one turn: what was
    done and undone again is not worth a word."""
    turns: list[tuple[str, str, Plan, Plan]] = []
    for record in reversed(records):
        before = undo(now, record.changes)
        if turns and turns[0][:2] == (record.by, record.reader):
            turns[0] = (*turns[0][:2], before, turns[0][3])
        else:
            turns.insert(0, (record.by, record.reader, before, now))
        now = before
    return turns


def _worth_telling(changes: Sequence[Change], by: str) -> list[Change]:
    """The user's every change; of another agent's, not what it is busy with."""
    return [c for c in changes if by == USER or not (c.kind == "changed" and _is_work(c))]


def _is_work(change: Change) -> bool:
    old, new = change.before, change.after
    kept = old._replace(status=new.status, owner=new.owner, calls=new.calls, evidence=new.evidence)
    return kept == new and new.status in (ACTIVE, PENDING)


def _replaced(now: Plan, new: Plan, own_ids: set[str]) -> Plan:
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


def _reader_key(session: str, agent: str) -> str:
    """A name that no other session and agent have."""
    key = f"{len(session)}/{session}/{agent}"
    if len(key) <= _LONG:
        return key
    from hashlib import sha256

    return f"{key[:80]}~{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _new_id() -> str:
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(8))

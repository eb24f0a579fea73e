"""The one door: load, apply, note what changed, save. Whoever lost a race applies the same pure edit again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any
from ..core.codec import refuse_unsound
from ..core.diff import CALLS, Calls, Change, Record, apply, diff, noted, undo, without_calls
from ..core.errors import Refused, StaleRevision, StoreError
from ..core.model import MAIN, NOTHING, USER, Pause, Plan, Reader, SessionState
from ..core.sentences import tell
from ..core.text import counted, cut, inline
from ..core.undo import leading_to, redoable, undoable
from ..local import settings as settings_of
from ..local.settings import Settings
from ..stores import Commit, PlanKey, Store, open_store
from . import delivery

if TYPE_CHECKING:  # what only a tool call needs is imported by the call: most hooks make none
    from ..core.last_sent import Kept
    from ..dialects import Dialect, Reply

_LONGEST = 1.0  # seconds to wait for a change before looking by ourselves
_TRIES = 500  # races lost in a row before we give up
_FAIR = 4  # after which we ask to be the next
_NEWS = 10  # sentences of news in one answer
_REPLACING = ("import", "restore")  # kinds of records that put another list in the place of a plan
_CLEAR = "clear"  # the kind of an edit that takes everything off the list
_SWITCHED = 0.5  # seconds until it is noticed that it was turned off or on
_DEFAULT = "native"  # a dialect that clears nothing need not be loaded to know it
_LATELY = 50  # revisions in which the last call of a tool is looked for
_UNNAMED = "default"  # the session of an agent that names none
_LONG = 300  # characters of a name that stands as it is
_LIVE = "7d"  # for how long an agent may have said nothing and still go on with its work
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
        host: str = "",
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
        self.host = host  # the agent program that the session runs in, where that is known
        self._parent = ""  # the plan that this one is made a copy of
        self._seat = PlanKey(session=session, agent=agent)
        self._latest = ""  # the plan that was found without a session
        self._cached = Plan()
        self.left: tuple[Plan, Reader] | None = None  # the plan as this reader left it; it may have changed since
        self.sent: tuple[str, Kept] | None = None  # the list that was last kept for this reader: its text, and itself
        self._listeners: list[Callable[[Pause], object]] = []
        self._events: list[dict[str, Any]] = []  # of a store that keeps nothing
        self._off, self._switched = False, 0.0
        self._spoken = ("", 0, _DEFAULT)  # the dialect that a plan was worked in at a revision
        self._held = ""  # why the agent is held back, where no file says so
        self._given: tuple[str, int, dict[str, str]] = ("", 0, {})  # words of the user in a plan, up to a revision
        self._closed = False
        self._called = ("", agent, False)  # a plan, what this agent is called there, whether others work from it
        self.owes_list = False  # whether the reader was told of an edit of the user's, and not shown the list since

    @property
    def dialect(self) -> Dialect:
        """The tools this desk's model is given."""
        if isinstance(self._dialect, str):
            from ..dialects import load

            self._dialect = load(self._dialect)
        return self._dialect

    @property
    def dialect_name(self) -> str:
        return self._dialect if isinstance(self._dialect, str) else self._dialect.name

    @property
    def name(self) -> str:
        """What this agent is called on its plan: as it was given, unless another session has that name there."""
        return self._seated()[1]

    @property
    def is_shared(self) -> bool:
        """Whether another session or agent works from the same plan, or did."""
        return self._seated()[2]

    @property
    def is_new(self) -> bool:
        """Whether this reader has not heard of anything in its plan yet."""
        return not self._look()[1].seen

    def take_name(self) -> None:
        """A session starts: if another one has taken its name on the plan meanwhile, it gets another."""
        plan = self.plan.id
        if plan and self.session:
            self._called = self._named_on(plan, again=True)

    def _seated(self) -> tuple[str, str, bool]:
        plan = self._cached.id or self._peek()[0]
        if not plan or not self.session:
            return ("", self.agent, False)
        if self._called[0] != plan:
            self._called = self._named_on(plan)
        return self._called

    def _named_on(self, plan: str, *, again: bool = False) -> tuple[str, str, bool]:
        if self.store.sessions(plan) in ([], [(self.session, self.agent)]):
            return (plan, self.agent, False)
        from .sharing import claim

        return (plan, claim(self, plan, again=again), True)

    @property
    def place(self) -> str:
        """The git root or directory that plans of this desk belong to."""
        return self._home().place

    # --- looking ---------------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The plan as it is now; empty if there is none yet."""
        return self._look()[0]

    def load(self, *, calls: bool = False) -> Plan:
        """Return the plan as it is now. `calls`: with the tool calls that were observed for each item, oldest first, in
        `Item.calls`; elsewhere that is empty. A call has `at` (when it was made; "" if unknown), `id`, `name` (of the
        tool), `parameters` and `text` (the beginning of its result), both short and without secrets, `outcome` ("ok",
        "failed" or "unknown"), `session`, `agent`, and `exit`, the exit code, where that is known."""
        plan = self.plan
        return self.with_calls(plan) if calls and plan.id else plan

    def with_calls(self, plan: Plan) -> Plan:
        """A plan with the tool calls that were observed for its items."""
        found = self.store.load_calls(plan.id)
        if not found:
            return plan
        items = [item._replace(calls=(*item.calls, *found.get(item.id, ()))) for item in plan.items]
        return plan._replace(items=tuple(items))

    def observe(self, item: str, calls: Sequence[Mapping[str, Any]]) -> None:
        """Keep tool calls with the item they were made for. That is not a change of the plan. A store that can only be
        read at the moment keeps none."""
        plan = self.plan.id
        try:
            if plan and calls:
                self.store.observe(plan, item, calls)
        except StoreError as error:
            if not error.is_readable:
                raise

    def news(self, *, ids: bool = True) -> list[str]:
        """What others have changed since this reader last heard, once. `ids`: whether it knows items by their ids."""
        now, reader = self._look()
        return self.heard(now, reader, ids=ids)

    @property
    def working(self) -> Plan:
        """The plan as its dialect works with it: one that clears has let go of what was closed some time ago."""
        return self.uncleared(self.plan)

    def uncleared(self, plan: Plan, *, keeps_phases: bool = False) -> Plan:
        """A plan without what its dialect has cleared by now. A tool can still name a phase that is empty since."""
        delay = self.settings.clear_delay
        if delay < 0 or len(plan.open_items) == len(plan.items) or not self.clears(plan):
            return plan
        from ..core.ops import clear

        return clear(plan, self.now(-delay), keeps_phases=keeps_phases)

    def clears(self, plan: Plan) -> bool:
        """Whether closed items leave this plan after a while: in the dialect that was chosen for this desk, else in the
        one that the plan was last worked in."""
        is_chosen = self._dialect != _DEFAULT or self.settings.origins.get("dialect", "default") != "default"
        name = self.dialect_name if is_chosen else self._worked_in(plan)
        if name == _DEFAULT:
            return False
        if is_chosen:
            return self.dialect.rules.clears
        from ..dialects import PATHS, load

        return name in PATHS and load(name).rules.clears

    def _worked_in(self, plan: Plan) -> str:
        """The dialect of the last call that changed a plan."""
        if self._spoken[:2] != (plan.id, plan.revision):
            records = self.store.history(plan.id, max(plan.revision - _LATELY, 0)) if plan.id else []
            named = [record.dialect for record in records if record.dialect]
            self._spoken = (plan.id, plan.revision, named[-1] if named else _DEFAULT)
        return self._spoken[2]

    def words_of_user(self, plan: Plan) -> dict[str, str]:
        """The words that the user gave to items of a plan, by their ids. Only what came since the last time is read."""
        known, revision, words = self._given
        if known != plan.id or revision > plan.revision:
            revision, words = 0, {}
        if revision < plan.revision:
            from ..core.updates import words_given

            words = words | words_given(self.store.history(plan.id, revision, by=USER))
            self._given = (plan.id, plan.revision, words)
        return words

    def history(self, after: int = 0) -> list[Record]:
        """Every change behind a revision, oldest first."""
        return self.store.history(self.plan.id, after)

    def at(self, revision: int) -> Plan:
        """The plan as it was at a revision."""
        now = self.plan
        if not 0 <= revision <= now.revision:
            raise Refused(f"no revision {revision}; the plan is at revision {now.revision}.")
        records = leading_to(self.store.history(now.id, revision), now.revision)
        oldest = records[0].revision - 1 if records else now.revision
        if revision < oldest and not (records and records[0].kind == CALLS):
            raise Refused(f"revision {revision} was trimmed; the oldest that is kept is {oldest}.")
        return self.rewound(now, records)._replace(revision=revision)

    @staticmethod
    def rewound(plan: Plan, records: Sequence[Record]) -> Plan:
        """A plan before these records."""
        for record in reversed(records):
            plan = undo(plan, record.changes)
        return plan

    def follow(self) -> Iterator[Plan]:
        """The plan as it is, and again each time it changes, whoever changed it, until the desk is closed."""
        seen: tuple[str, int] | None = None
        while (plan := self._other_than(seen)) is not None:
            yield plan
            seen = (plan.id, plan.revision)

    def _other_than(self, seen: tuple[str, int] | None) -> Plan | None:
        """The plan as soon as it is not the one that was seen; None when the desk is closed."""

        def is_over() -> bool:
            return self._closed or self._peek()[:2] != seen

        try:
            while not is_over():
                self.store.wait(seen[0] if seen else "", is_over, _LONGEST)
            return None if self._closed else self.plan
        except StoreError:
            if self._closed:
                return None
            raise

    def wait(self, plan: Plan, seconds: float) -> None:
        """Return when the plan is no longer this one, or when the time is over."""
        seen = (plan.id, plan.revision)
        self.store.wait(plan.id, lambda: self._closed or self._peek()[:2] != seen, seconds)

    def refind(self) -> None:
        """Forget which plan was found: the next look finds the one that was touched last."""
        self._latest, self.left = "", None

    # --- changing --------------------------------------------------------------------------------------------------

    def change(self, edit: Callable[[Plan], Plan], *, by: str = USER, kind: str = "edit") -> Plan:
        """Apply a pure edit to the plan as it is now, and save it. What this desk's own agent does is no news to it."""
        is_own = by == self.agent != USER
        key = self.reader_key if is_own else ""
        for now, reader in self.tries():
            at = self.now()
            by = self.name if is_own else by
            is_first = kind in _REPLACING and not now.revision  # what was done in it, was done before
            author = kind if is_first or kind == _CLEAR else by
            edited = edit(now)
            if author == USER and now.id:
                edited = self._with_former_words(now, edited)
            after, changes, calls = self._noted(now, edited, author, at)
            if not changes and (now.id or kind != "import"):  # an empty list that is imported is a plan, too
                self.keep_calls(now.id, calls)
                return now
            heard_all = bool(key) and reader.seen >= now.revision
            record = Record(now.revision + 1, at, by, key, "", kind, changes)
            try:
                after = self.save(now, after, record, reader if heard_all else None)
            except StaleRevision:
                continue
            self.keep_calls(after.id, calls)
            return after
        raise self.conflict_error()

    def keep_calls(self, plan: str, calls: Calls) -> None:
        """Keep tool calls that came with a list, by item: those that are not known already."""
        known = self.store.load_calls(plan) if calls else {}
        for item, made in calls.items():
            old = [_call_key(call) for call in known.get(item, ())]
            new = [{"at": "", **call} for call in made if _call_key(call) not in old]
            if new:
                self.store.observe(plan, item, new)

    def _with_former_words(self, now: Plan, after: Plan) -> Plan:
        """What the user takes away does not come back in words that it had before it was renamed, either."""
        try:
            old, new = {item.id for item in now.items}, {item.id for item in after.items}
            moved = {id for id in old ^ new if int(id) <= now.last_id}
        except (AttributeError, TypeError, ValueError):  # something else than a plan, which is refused in words
            return after
        if not moved:
            return after
        from ..core.conflicts import all_former_words

        words = all_former_words(self.store.history(now.id), after)
        removed = [text for text in after.removed if words.get(text) not in new & moved]
        removed += [text for text, id in words.items() if id in old - new]
        return after._replace(removed=tuple(dict.fromkeys(removed)))

    @staticmethod
    def _noted(now: Plan, edited: Plan, by: str, at: str) -> tuple[Plan, tuple[Change, ...], Calls]:
        """What changed, and the tool calls that came with it. An edit that returned something else than a plan is
        refused in words."""
        try:
            after, calls = without_calls(edited)
            return (*noted(now, after, by, at), calls)
        except (AttributeError, TypeError):
            from ..core.codec import refuse_untyped

            refuse_untyped(edited)
            raise

    def call(self, tool: str, args: object, *, interactive: bool | None = None, continuing: bool = False) -> Reply:
        """Carry out one tool call, as a model made it."""
        from .tool_call import answer

        return answer(self, tool, args, interactive, continuing)

    def decline(self, tool: str, message: str) -> Reply:
        """The answer to a call that could not even be read."""
        from .tool_call import decline

        return decline(self, tool, message)

    def import_plan(self, data: object, format: str = "json", *, by: str = USER) -> Plan:
        """Replace the plan, in one revision: parsed JSON of a format, or text for markdown and transcript."""
        from .transfer import imported

        return self.change(imported(self, data, format), by=by, kind="import")

    def clear(self, *, by: str = USER) -> Plan:
        """Take everything off the list. What was on it may be added again."""
        from ..core.ops import empty

        return self.change(empty, by=by, kind=_CLEAR)

    def export_plan(self, format: str = "json") -> Any:
        """The plan in another format."""
        from ..dialects.formats import load

        return load(format, to_write=True).write(self.load(calls=True))

    def undo(self, *, by: str = USER) -> Plan:
        """Take back the last change, whoever made it. It is news to the model like any other edit."""
        return self._step(undoable, undo, "undo", by)

    def redo(self, *, by: str = USER) -> Plan:
        """Bring back what was undone last."""
        return self._step(redoable, apply, "redo", by)

    def restore(self, revision: int, *, by: str = USER) -> Plan:
        """Let the plan be again as it was at a revision. History goes on: this, too, can be undone. If the plan is like
        that already nothing is done, and what was undone can still be done again."""
        old = self.at(revision)

        def back(now: Plan) -> Plan:
            wanted = old._replace(revision=now.revision, last_id=now.last_id)
            return now if _in_sight(now) == _in_sight(wanted) else wanted

        return self.change(back, by=by, kind="restore")

    def bind(self, session: str, agent: str = MAIN) -> None:
        """Let a session's agent work from this plan."""
        plan = self.plan
        if not plan.id:
            raise Refused("there is no plan to bind a session to.")
        self.store.bind(PlanKey(self._home().place, session, agent, self.host), plan.id)

    def hand_over(self, session: str) -> None:
        """Let another session go on with this plan, with what was heard of it before."""
        from .transfer import hand_over

        hand_over(self, session)

    def trim(self, before: str, *, plan: str = "", place: str = "") -> dict[str, int]:
        """Forget history from before a time: of all plans, of one, or of those that were made in a place. What an
        agent that was at work in the last days has not heard of stays. Returns how much each plan has lost."""
        return self.store.trim(before, plan, place, live=settings_of.ago(_LIVE))

    def carry(self, source: str, target: str) -> Plan:
        """Give a session a copy of the plan of another session's main agent, with its lineage."""
        from ..core.replace import replaced
        from .transfer import carried, copy_lists

        copy, old = carried(self, source, target)
        copy._parent = old.id
        plan = copy.change(lambda now: replaced(now, old, set()), kind="import")
        copy_lists(self.of(source), old, copy, plan)
        return plan

    def of(self, session: str, agent: str = MAIN) -> Desk:
        """A desk of another session or agent, on the same store."""
        own: dict[str, Any] = {"settings": self.settings, "dialect": self._dialect}
        return Desk(self.store, session=session, agent=agent, place=self._place, host=self.host, **own)

    def on_pause(self, listener: Callable[[Pause], object]) -> None:
        """Have somebody told when a pause is asked for."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Let go of the store. Whoever follows the plan from this desk comes to the end."""
        self._closed = True
        delivery.at_the_end(self.store.close)

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- news --------------------------------------------------------------------------------------------------------

    def heard(self, now: Plan, reader: Reader, *, ids: bool) -> list[str]:
        """The news for a reader, who has heard them now. Of several who would tell them at once, one does."""
        for _ in range(_TRIES):
            records = self.unheard(now, reader)
            told = self.told(now, records, ids=ids, is_new=not reader.seen)
            try:
                if told and not self.may_tell(now, reader):
                    return []
                self.remember(now, reader, told=bool(told))
            except StaleRevision:
                now, reader = self._look()
                continue
            except StoreError as error:  # it is told again, once this can be kept
                if not error.is_readable:
                    raise
            self.owes_list = self.owes_list or any(record.by == USER for record in records)
            return told
        raise self.conflict_error()

    def unheard(self, now: Plan, reader: Reader) -> list[Record]:
        """The records this reader has not heard of. For one that has heard of nothing yet, the plan begins with the
        last import or restore."""
        seen = max(reader.seen, delivery.told(now.id, self.reader_key))
        if seen >= now.revision:
            return []
        records = leading_to(self.store.history(now.id, seen), now.revision)
        if seen:
            return records
        last = max((index for index, record in enumerate(records) if record.kind in _REPLACING), default=-1)
        return records[last + 1 :]

    def told(self, now: Plan, records: Sequence[Record], *, ids: bool, is_new: bool = False) -> list[str]:
        """What records say to this reader: what each author in turn made of the plan, a sentence for each thing. A
        session that is new to a plan of others is told the plan."""
        if not records:
            return []
        if is_new and self.is_shared:
            return [self._list_for_new(now, ids=ids)] if now.open_items else []
        from ..core.updates import replaced, turns, worth_telling

        lines: list[str] = []
        for by, reader, replaces, before, after in turns(now, records):
            if reader != self.reader_key and replaces:
                lines += replaced(after, ids=ids)
            elif reader != self.reader_key:
                lines += tell(worth_telling(diff(before, after), by), by, now, ids=ids)
        if len(lines) > _NEWS and is_new and now.open_items:
            return [self._list_for_new(now, ids=ids)]
        if len(lines) > _NEWS:
            lines[_NEWS:] = [f"and {counted(len(lines) - _NEWS, 'more change')}."]
        return lines

    def _list_for_new(self, now: Plan, *, ids: bool) -> str:
        from ..policy.wording import restored

        return restored(now, ids=ids, going_on=False, agent=self.name if self.is_shared else "")

    def may_tell(self, now: Plan, reader: Reader) -> bool:
        """Return whether no other process is telling this reader of this plan right now. Raises StaleRevision if one
        just has. A process that does not say when its answer was written keeps at once what it tells, and needs no
        claim."""
        if not (delivery.is_held() and self.store.durable):
            return True
        if not delivery.claim(now.id, self.reader_key):
            return False
        if self._peek()[2] != reader:
            raise StaleRevision("the reader has heard of it")
        return True

    def remember(self, now: Plan, reader: Reader, *, told: bool = False) -> None:
        """Keep that this reader has heard of everything up to now. `told`: by an answer that is to be written yet.
        Raises StaleRevision if it was told meanwhile."""
        if delivery.is_held() and (told or delivery.told(now.id, self.reader_key)):
            self._remember_when_written(now)
        elif now.id and reader.seen < now.revision:
            self.store.remember(now.id, self.reader_key, reader._replace(seen=now.revision), reader)

    def _remember_when_written(self, now: Plan) -> None:
        delivery.tell(now.id, self.reader_key, now.revision)
        delivery.when_written(lambda: self.store.remember(now.id, self.reader_key, Reader(now.revision)))

    def lose_lists(self, restored: Sequence[str]) -> None:
        """This reader has lost its conversation, and was shown these items again: its next list can leave out no
        others."""
        plan_id = self._peek()[0]
        lists = self.store.lists(plan_id, self.reader_key) if plan_id else {}
        if lists:
            from ..core.last_sent import from_text, informed, lost, to_text

            revision = self.plan.revision
            kept = {tool: from_text(text) for tool, text in lists.items()}
            records = self.store.history(plan_id, min(one.at for one in kept.values()))
            known = {tool: informed(one, records, self.reader_key, revision) for tool, one in kept.items()}
            self.store.keep_lists(
                plan_id, self.reader_key, {tool: to_text(lost(one, restored)) for tool, one in known.items()}
            )

    # --- how the work goes -------------------------------------------------------------------------------------------

    @property
    def pace(self) -> SessionState:
        """How this reader's work goes."""
        return self.store.load_state(self._pace_key)

    @property
    def _pace_key(self) -> str:
        """Without a session, work is counted for the plan: what one project has spent, another has not."""
        return self.reader_key if self.session else f"{self.reader_key}/{self._peek()[0]}"

    def update_state(self, step: Callable[[SessionState], SessionState]) -> SessionState:
        """Take a step in how this reader's work goes, and keep it. Whoever lost a race takes it again."""
        for _ in range(_TRIES):
            pace = self.pace
            after = step(pace)
            if after == pace:
                return pace
            try:
                self.store.save_state(self._pace_key, pace, after)
                return after
            except StaleRevision:
                continue
        raise self.conflict_error()

    @property
    def is_off(self) -> bool:
        """Whether the user has turned punchlist off here. Looked up now and then, not at every call."""
        if self.settings.off:
            return True
        if time.monotonic() > self._switched:
            from ..local.on_off import is_off

            self._off = is_off(self._home().place, self.session)
            self._switched = time.monotonic() + _SWITCHED
        return self._off

    def hold_back(self, reason: str) -> None:
        """Let the agent stop until the user speaks again: it asked for a pause that could not be kept. This is kept in
        a file, for the store may be what failed."""
        from ..local.on_off import hold

        is_kept = self.store.durable and hold(self._held_key, reason)
        self._held = "" if is_kept else reason  # what a file keeps, another process can end
        self.note("pause-failed", message=reason)

    @property
    def held_back(self) -> str:
        """Why the agent is not to be nudged although nothing is paused; empty if nothing is held against it."""
        from ..local.on_off import held_back

        return self._held or (held_back(self._held_key) if self.store.durable else "")

    def release(self) -> bool:
        """The user has spoken: what was held back may go on. Return whether something was."""
        from ..local.on_off import release

        was_held, self._held = bool(self._held), ""
        return (self.store.durable and release(self._held_key)) or was_held

    @property
    def _held_key(self) -> str:
        return self.reader_key if self.session else f"{self.reader_key}{self._home().place}"

    def note(self, kind: str, **values: Any) -> None:
        """Write down what happened."""
        try:
            plan = self._peek()[0]
        except StoreError:  # what happens to a store that fails is worth a line, too
            plan = ""
        who = {"at": self.now(), "session": self.session, "agent": self.agent, "plan": plan}
        if self.store.durable:
            from ..local.event_log import write

            write(kind, **who, **values)
        else:
            self._events.append({"kind": kind, **who, **values})

    def events(self) -> list[dict[str, Any]]:
        """What happened around this plan, oldest first."""
        from ..local.event_log import is_about, read

        about = (self._peek()[0], self.session, self.place)
        found = read() if self.store.durable else iter(self._events)
        return [one for one in found if is_about(one, *about)]

    # --- the store -------------------------------------------------------------------------------------------------

    def _look(self) -> tuple[Plan, Reader]:
        """The plan as it is now, and what this reader has heard. A plan that has not changed is not read again."""
        plan_id, revision, reader = self._peek()
        if not plan_id:
            return Plan(), Reader()
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
    def now(later: float = 0) -> str:
        """The time, or one so many seconds later, in ISO 8601."""
        seconds = time.time() + later
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"

    def tries(self) -> Iterator[tuple[Plan, Reader]]:
        """The plan as it is now, again after each lost race. The rests between are short and uneven, so that two who
        race do not keep step."""
        reserve, release = getattr(self.store, "reserve", None), getattr(self.store, "release", None)
        try:
            for number in range(_TRIES):
                if number:
                    time.sleep(os.urandom(1)[0] / 50_000 * min(number, 8))
                    self._cached = Plan()  # what was lost to is not what we know, whatever its number
                if reserve and number >= _FAIR:  # on a server, one busy writer could keep us out for ever
                    reserve(self._peek()[0])
                yield self._look()
        finally:
            if release:
                release()

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
            after = edit(now, record.changes)
            return after._replace(removed=now.removed)  # what protects is judged anew

        return self.change(step, by=by, kind=kind)

    def _peek(self) -> tuple[str, int, Reader]:
        """The plan's id and revision, and what this reader has heard. A session may be bound to another plan at any
        time; without one, a plan found is kept to."""
        if self.session and not self._named:
            return self.store.peek_session(self._seat, self.reader_key)
        if not self._named and not self._latest:
            self._latest = self.store.find(self._home())
        plan = self._named or self._latest
        return (plan, *self.store.peek(plan, self.reader_key)) if plan else ("", 0, Reader())

    def _home(self) -> PlanKey:
        self._place = self._place or settings_of.place()
        return PlanKey(self._place, self.session, self.agent, self.host, self._parent)

    def save(
        self,
        now: Plan,
        after: Plan,
        record: Record,
        reader: Reader | None,
        lists: Mapping[str, str] = NOTHING,
        *,
        told: bool = False,
    ) -> Plan:
        """Write what `now` has become, and have it told where a pause was asked for. `told`: the answer tells the
        reader of what others did; it has heard of that when the answer was written. Raises StaleRevision, and Refused
        if the plan could not be read again."""
        refuse_unsound(now, after, record.changes)
        home = self._home() if self._parent or not now.id else self._seat if self.session and not self._named else None
        after = after._replace(id=now.id or _new_id(), revision=record.revision)
        told = delivery.is_held() and (told or bool(delivery.told(now.id, self.reader_key)))
        if told:
            reader = None
        heard = None if reader is None else Reader(after.revision)
        self.store.save(Commit(now if now.id else None, after, record, reader, home, lists))
        self.left = (after, heard) if heard else None
        self._cached = after
        self._latest = after.id
        if record.by != USER and self._given[:2] == (now.id, now.revision):
            self._given = (after.id, after.revision, self._given[2])
        if told:
            self._remember_when_written(after)
        if not now.id and self.settings.keep_history:
            self._trim()
        if after.paused != now.paused and not self.store.durable:  # a durable store has it in its history
            self.note("pause", reason=after.paused.reason) if after.paused else self.note("resume")
        if after.paused and after.paused != now.paused:
            for listener in self._listeners:
                listener(after.paused)
        return after

    def _trim(self) -> None:
        """Forget what is older than the settings say, of plans of this place only: a store may hold those of others,
        who want to keep theirs. If that fails, the plan is saved all the same."""
        place = self._home().place
        if not place:
            return
        try:
            self.trim(settings_of.ago(self.settings.keep_history), place=place)
        except StoreError as error:
            from ..local import faults

            faults.log("trim", error)

    @staticmethod
    def conflict_error() -> StoreError:
        """What to raise when every race was lost."""
        return StoreError(f"the plan was changed by others {_TRIES} times in a row; try again.")


def _call_key(call: Mapping[str, Any]) -> Any:
    """What tells a tool call from others."""
    return call.get("id") or (call.get("name"), call.get("parameters"))


def _in_sight(plan: Plan) -> Plan:
    """A plan without what no screen shows: when an item was closed, and texts that were removed."""
    items = [item._replace(closed=None) for item in plan.items]
    return plan._replace(items=tuple(items), removed=())


def open_desk(store: str = "", *, session: str = "", agent: str = MAIN, dialect: str = "", plan: str = "") -> Desk:
    """A desk on the store of this URL; with nothing named, on the plan of this directory in the usual store."""
    settings = settings_of.load({"store": store or None, "dialect": dialect or None})
    return desk_for(settings, session=session, agent=agent, plan=plan)


def desk_for(
    settings: Settings,
    *,
    session: str = "",
    agent: str = MAIN,
    plan: str = "",
    place: str = "",
    host: str = "",
    patience: str = "",
) -> Desk:
    """A desk as the settings say."""
    return Desk(
        store_for(settings, patience),
        session=session,
        agent=agent,
        plan=plan,
        dialect=settings.dialect,
        settings=settings,
        place=place,
        host=host,
    )


def store_for(settings: Settings, patience: str = "") -> Store:
    """The store that the settings name. `patience`: how many seconds to wait for others who hold it."""
    url = settings.store
    options = {"synchronous": settings.sqlite_synchronous} if url.startswith(("sqlite:", "json:")) else {}
    return open_store(url, **options, **({"patience": patience} if patience else {}))


def hold_back(session: str, agent: str, reason: str) -> None:
    """Let the agent of a session stop until the user speaks again, where its store cannot even be opened."""
    from ..local.event_log import write
    from ..local.on_off import hold

    hold(_reader_key(session, agent), reason)
    write("pause-failed", at=Desk.now(), session=session, agent=agent, plan="", message=reason)


def _reader_key(session: str, agent: str) -> str:
    """A name that no other session and agent have."""
    key = f"{len(session)}/{session}/{agent}"
    if len(key) <= _LONG:
        return key
    from hashlib import sha256

    return f"{key[:80]}~{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _new_id() -> str:
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(8))

"""Plans in a directory of JSON files, for people who want to read and share them.

`S-agent-A.json` is a list that Claude Code could read: its three keys, and what is ours under a fourth. Beside it
`S-agent-A.history.jsonl` holds the rest, a line each: whose plan it is, every change with the digest of the list it led
to, what readers have heard. A line is written and synced before the list is replaced, so a crash between the two is
recognised by the digest, and mended from the line. A list that somebody else has written is taken as an edit of theirs.
Whoever reads takes no lock, as long as the two agree. `.punchlist` holds the lock, and pointers from ids, sessions and
places to plans; if it is not there, they are made anew from the histories.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from heapq import nlargest
from threading import RLock
from time import monotonic, sleep

from ...core._typing import Any, TypeVar
from ...core.codec import pace_from_json, pace_to_json
from ...core.diff import Record
from ...core.errors import StaleRevision, StoreError
from ...core.model import MAIN, Plan, Reader, SessionState
from .. import Commit, PlanKey, PlanSummary, current, is_wanted, oldest
from . import files, form
from .files import NOWHERE
from .form import digest_of, foreign_stem, home_of, identity, lines_of, part, record_of, session_of, stem_of
from .pair import HISTORY, LIST, Pair, now, readable

_GLANCES = 0.05  # seconds between looks, while waiting for a change
_KNOWN = 100  # plans kept in memory
_RECENT = 1_000  # plans looked into for a listing: of more, those whose history was written last
_HERE = 5  # plans remembered for a place, should the last one be gone
_POINTERS = ("ids", "places", "bound")  # what is pointed to: by its id, by its place, by session and agent
_FORGETTABLE = ("paces", "lists")  # kept beside the plans, and worth less: one that cannot be read is not there
_T = TypeVar("_T")


class JsonStore:
    """A store in a directory."""

    durable = True

    def __init__(self, folder: str, patience: str = files.PATIENCE) -> None:
        self.folder = os.path.realpath(folder)
        self._inner = files.inside(self.folder, ".punchlist")
        self._draft = os.path.join(self._inner, "draft")
        self._threads = RLock()
        self._door = files.Lock(os.path.join(self._inner, "lock"), patience)
        self._known: dict[str, Pair] = {}  # the last looked at is the last
        self._prepare()

    def peek(self, plan: str, reader: str) -> tuple[int, Reader]:
        return _glanced(self._look(plan), reader)

    def peek_session(self, home: PlanKey, reader: str) -> tuple[str, int, Reader]:
        plan = self._pointed("bound", digest_of(home.session, home.agent)) or ""
        pair = self._look(plan) if plan else None
        if pair is None:
            plan = self.find(home)
            pair = self._look(plan) if plan else None
        return (plan, *_glanced(pair, reader))

    def load(self, plan: str) -> Plan | None:
        pair = self._look(plan)
        return pair.plan if pair else None

    def save(self, commit: Commit) -> None:
        before, after, record, reader, home, lists = commit

        def work() -> None:
            pair = self._look(after.id)
            if (pair.plan if pair else None) != before:  # also of a history that was lost and begun anew
                raise StaleRevision(f"plan {after.id} has moved on")
            if pair and home and home.session and self._bound(home) != after.id:
                raise StaleRevision(f"session {home.session!r} works from another plan")
            if pair and reader and before and reader.seen < before.revision:
                _refuse_told(pair, record.reader, reader)
            parent = home.parent or None if pair and home else None
            pair = self._renamed(pair) if pair else self._settled(after.id, home or PlanKey())
            if pair.home.agent == MAIN:
                self._point_here(pair.home.place, pair.id)
            pair.commit(after, record, heard=reader is not None, parent=parent)
            self._kept(pair)
            self._keep_lists(after.id, record.reader, lists)

        self._alone(work)

    def remember(self, plan: str, key: str, reader: Reader, before: Reader | None = None) -> None:
        def work() -> None:
            pair = self._look(plan)
            if pair and before is not None:
                _refuse_told(pair, key, before)
            if pair and pair.readers.get(key) != reader:  # of a plan that is gone, nobody needs to have heard
                pair.add({"reader": key, "seen": reader.seen, "at": now()}, sync=False)

        self._alone(work)

    def lists(self, plan: str, reader: str) -> dict[str, str]:
        found = self._pointed("lists", digest_of(plan, reader))
        return {tool: str(data) for tool, data in found.items()} if isinstance(found, dict) else {}

    def keep_lists(self, plan: str, reader: str, lists: Mapping[str, str]) -> None:
        self._alone(lambda: self._keep_lists(plan, reader, lists))

    def history(self, plan: str, after: int = 0, by: str = "") -> list[Record]:
        pair = self._look(plan)
        lines = pair.lines if pair else []
        found = [line for line in lines if line["revision"] > after and "changes" in line]
        return [record_of(line) for line in found if not by or line["by"] == by]

    def observe(self, plan: str, item: str, calls: Sequence[Mapping[str, Any]]) -> None:
        """Tool calls are not kept in these files."""

    def load_calls(self, plan: str, item: str = "") -> dict[str, list[dict[str, Any]]]:
        return {}

    def find(self, home: PlanKey) -> str:
        if home.session:
            return self._bound(home) or (self._alone(lambda: self._claimed(home)) if self._stems(home) else "")
        here = self._pointed("places", digest_of(home.place)) or ()
        return next((plan for plan in here if self._look(plan)), "")

    def bind(self, home: PlanKey, plan: str, *, alone: bool = False) -> None:
        def work() -> None:
            if alone and self.sessions(plan):
                raise StaleRevision(f"somebody works from plan {plan} already")
            pair = self._look(plan)
            if pair:
                pair.add({"session": home.session, "agent": home.agent, "host": home.host, "at": now()})
            self._point("bound", digest_of(home.session, home.agent), plan)

        self._alone(work)

    def sessions(self, plan: str) -> list[tuple[str, str]]:
        pair = self._look(plan)
        return [who for who in pair.bound if self._pointed("bound", digest_of(*who)) == plan] if pair else []

    def load_state(self, key: str) -> SessionState:
        found = self._pointed("paces", digest_of(key))
        return pace_from_json(found) if isinstance(found, dict) else SessionState()

    def save_state(self, key: str, before: SessionState, after: SessionState) -> None:
        def work() -> None:
            if self.load_state(key) != before:
                raise StaleRevision("the pace has changed")
            files.make_folder(os.path.join(self._inner, "paces"))
            self._point("paces", digest_of(key), pace_to_json(after))

        self._alone(work)

    def plans(
        self, most: int, session: str = "", agent: str = "", plan: str = "", place: str = ""
    ) -> list[PlanSummary]:
        if place:
            ids = self._pointed("places", digest_of(place)) or []
        else:
            self._take_over()
            ids = self._ids(max(most, _RECENT))
        found = [self._listing(pair) for id in ids if (pair := self._look(id))]
        found = [listing for listing in found if is_wanted(listing, session, agent, plan, place)]
        return nlargest(most, found, key=lambda listing: listing.touched)

    def trim(self, before: str, plan: str = "", place: str = "", live: str = "") -> dict[str, int]:
        def work() -> dict[str, int]:
            if not plan and not place:
                self._forget_old(oldest(before, live))
            pairs = [pair for id in ([plan] if plan else self._ids()) if (pair := self._look(id))]
            chosen = [pair for pair in pairs if not place or pair.home.place == place]
            gone = {pair.id: pair.trim(self._since(pair, before, live), before, live) for pair in chosen}
            return {id: count for id, count in gone.items() if count}

        return self._alone(work)

    def wait(self, plan: str, is_over: Callable[[], bool], seconds: float) -> None:
        end = monotonic() + seconds
        while not is_over() and monotonic() < end:
            sleep(min(_GLANCES, max(end - monotonic(), 0)))

    def close(self) -> None:
        """Nothing is held open."""

    # --- looking ---------------------------------------------------------------------------------------------------

    def _alone(self, work: Callable[[], _T]) -> _T:
        """One thread and one process at a time."""
        with self._threads, self._door:
            return work()

    def _look(self, plan: str) -> Pair | None:
        """A plan as its files have it now."""
        with self._threads:
            pair = self._known.pop(plan, None) or self._opened(plan)
            if pair is None:
                return None
            try:
                if not pair.is_current() and not pair.catch_up():
                    self._alone(pair.mend)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise StoreError(
                    f"{pair.history_path} does not lead to {pair.list_path} ({error!r}); "
                    f"restore both from a backup, or move them away to begin anew."
                ) from None
            if not pair.lines and (other := self._opened(plan)) and other.stem != pair.stem:
                self._known[plan] = other  # its files have another name now
                return self._look(plan)
            return self._kept(pair) if pair.lines else None

    def _opened(self, plan: str) -> Pair | None:
        found = self._pointed("ids", part(plan))
        return self._pair(plan, found["stem"], home_of(found)) if found else None

    def _kept(self, pair: Pair) -> Pair:
        self._known[pair.id] = pair
        if len(self._known) > _KNOWN:
            del self._known[next(iter(self._known))]
        return pair

    def _pair(self, plan: str, stem: str, home: PlanKey) -> Pair:
        return Pair(self.folder, self._draft, plan, stem, home)

    # --- who works from which plan ---------------------------------------------------------------------------------

    def _bound(self, home: PlanKey) -> str:
        plan: str = self._pointed("bound", digest_of(home.session, home.agent)) or ""
        return plan if plan and self._look(plan) else ""

    def _stems(self, home: PlanKey) -> list[str]:
        """Under which names a session's agent has files here: ours, or Claude Code's."""
        own, whose = home.session, home.agent
        ours = (form.new_stem_of(own, whose), stem_of(own, whose), form.safe_stem_of(own, whose))
        names = dict.fromkeys((*ours, foreign_stem(own, whose)))
        return [stem for stem in names if stem and self._is_taken(stem)]

    def _is_taken(self, stem: str) -> bool:
        return any(os.path.lexists(os.path.join(self.folder, stem + ending)) for ending in (LIST, HISTORY))

    def _is_like_another(self, stem: str) -> bool:
        """Whether a name is taken, here or wherever capitals make no difference."""
        taken = {name.lower() for name in files.newest(self.folder, "")}
        return any(f"{stem}{ending}".lower() in taken for ending in (LIST, HISTORY))

    def _claimed(self, home: PlanKey) -> str:
        """The plan of a session, even if nothing points to it yet: then its files were brought here, or Claude Code
        has written the list."""
        if plan := self._bound(home):
            return plan
        for stem in self._stems(home):
            pair = self._at(stem, home)
            if pair and (pair.home.session, pair.home.agent) == (home.session, home.agent):
                self._point_to(pair)
                return pair.id if self._look(pair.id) else ""
        return ""

    def _settled(self, plan: str, home: PlanKey) -> Pair:
        """Where a new plan goes."""
        if home.session and self._claimed(home):
            raise StaleRevision(f"session {home.session!r} has a plan already")
        if not home.session and home.agent == MAIN and home.place and self.find(home):
            raise StaleRevision("there is a plan here already")
        stem = form.new_stem_of(home.session, home.agent) if home.session else stem_of(plan, home.agent)
        pair = self._pair(plan, f"{stem}~{digest_of(plan)[:16]}" if self._is_like_another(stem) else stem, home)
        self._point_to(pair)
        return pair

    def _renamed(self, pair: Pair) -> Pair:
        """A plan whose files have the name that older versions gave to a main agent gets the one that Claude Code
        knows. At every moment one of the names leads to both files; where there are no hard links, they keep theirs."""
        home = pair.home
        stem = form.new_stem_of(home.session, home.agent)
        if not home.session or pair.stem == stem or pair.stem != stem_of(home.session, home.agent):
            return pair
        if self._is_like_another(stem) or not files.linked(self.folder, pair.stem, stem, (HISTORY, LIST)):
            return pair
        new = self._pair(pair.id, stem, home)
        self._point("ids", part(pair.id), {**identity(pair.id, home), "stem": stem})
        for ending in (LIST, HISTORY):
            files.remove(os.path.join(self.folder, pair.stem + ending))
        self._known.pop(pair.id, None)
        return self._look(new.id) or pair

    def _at(self, stem: str, home: PlanKey) -> Pair | None:
        """The plan whose files these are. A list alone that is called like the session is the main agent's."""
        path = files.inside(self.folder, stem + HISTORY)
        data, _, stamp = files.read(path)
        if stamp == NOWHERE and home.agent == home.session:
            return None
        own = readable(path, lines_of(data.partition(b"\n")[0] + b"\n")[0])
        if stamp != NOWHERE and not (own and "version" in own[0]):  # damaged: then a pointer knows
            own = [found for found in self._pointers() if found["stem"] == stem]
        if own and not isinstance(own[0].get("plan"), str):
            raise StoreError(f"{path} does not say whose plan it is; move it away, or restore it from a backup.")
        return self._pair(own[0]["plan"] if own else digest_of(stem)[:12], stem, home_of(own[0]) if own else home)

    def _ids(self, most: int | None = None) -> list[str]:
        """The plans whose histories are here; of many, those written last."""
        found = [pair for stem in files.newest(self.folder, HISTORY)[:most] if (pair := self._at(stem, PlanKey()))]
        for pair in found:
            if self._pointed("ids", part(pair.id)) is None:
                self._alone(partial(self._point_to, pair))
        return list(dict.fromkeys(pair.id for pair in found))

    def _take_over(self) -> None:
        """Lists that Claude Code has written and nobody has asked for yet are plans like any other."""
        names = set(files.newest(self.folder, LIST)[:_RECENT])
        for stem in names - set(files.newest(self.folder, HISTORY)):
            session, agent = session_of(stem)
            if session and self._is_list(stem):
                self.find(PlanKey(session=session, agent=agent))

    def _is_list(self, stem: str) -> bool:
        try:
            return form.entries_of(files.read(files.inside(self.folder, stem + LIST))[0]) is not None
        except StoreError:  # a link that leads elsewhere, or no file at all
            return False

    def _listing(self, pair: Pair) -> PlanSummary:
        plan, home, progress = pair.plan, pair.home, pair.plan.progress
        bound = self.sessions(plan.id)
        sessions = tuple(dict.fromkeys(session for session, _ in bound))
        where = (home.place, home.agent, sessions, home.parent, pair.lines[-1]["at"])
        host = pair.hosts.get(bound[-1], "") if bound else ""
        counts = (progress.completed, progress.total)
        return PlanSummary(plan.id, plan.title, plan.revision, *where, *counts, host, current(plan.items))

    def _keep_lists(self, plan: str, reader: str, lists: Mapping[str, str]) -> None:
        if lists:
            files.make_folder(os.path.join(self._inner, "lists"))
            self._point("lists", digest_of(plan, reader), {**self.lists(plan, reader), **lists})

    def _since(self, pair: Pair, before: str, live: str) -> str:
        """From when on the history of a plan is to stay: also since a reader that is still at work sent its list."""
        names = [digest_of(pair.id, reader) for reader in pair.readers] if live else []
        sent = [files.written_at(os.path.join(self._inner, "lists", name)) for name in names]
        return min([before, *(at for at in sent if at >= live)])

    def _forget_old(self, before: str) -> None:
        for folder in [os.path.join(self._inner, kind) for kind in _FORGETTABLE]:
            for name in files.newest(folder, "") if os.path.isdir(folder) else ():
                files.forget(os.path.join(folder, name), before)

    # --- pointers --------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        for kind in _FORGETTABLE:
            files.inside(self._inner, kind)
        folders = [files.inside(self._inner, kind) for kind in _POINTERS]
        if not os.path.exists(os.path.join(self._inner, "ready")):
            for path in (self.folder, self._inner, *folders):
                files.make_folder(path)
            self._alone(self._index)

    def _index(self) -> None:
        """Point to the plans of a directory that came without pointers."""
        bound, places = [], []
        for plan in self._ids():
            if pair := self._look(plan):
                bound += [(at, session, agent, plan) for (session, agent), at in pair.bound.items()]
                places += [(pair.lines[-1]["at"], pair.home.place, plan)] if pair.home.agent == MAIN else []
        for _, session, agent, plan in sorted(bound):
            self._point("bound", digest_of(session, agent), plan)
        for _, place, plan in sorted(places):
            self._point_here(place, plan)
        files.replace(os.path.join(self._inner, "ready"), b"", self._draft)

    def _point_to(self, pair: Pair) -> None:
        """Pointers come before what they lead to: one that leads to nothing is as good as none."""
        home = pair.home
        self._point("ids", part(pair.id), {**identity(pair.id, home), "stem": pair.stem})
        if home.session and not self._bound(home):
            self._point("bound", digest_of(home.session, home.agent), pair.id)

    def _point_here(self, place: str, plan: str) -> None:
        here = self._pointed("places", digest_of(place)) or []
        if here[:1] != [plan]:
            self._point("places", digest_of(place), [plan, *(other for other in here if other != plan)][:_HERE])

    def _point(self, kind: str, name: str, value: object) -> None:
        if self._pointed(kind, name) != value:
            files.replace(os.path.join(self._inner, kind, name), json.dumps(value).encode(), self._draft)

    def _pointed(self, kind: str, name: str) -> Any:
        """What a pointer leads to; None if there is none. One that cannot be read is made anew: the histories know."""
        path = os.path.join(self._inner, kind, name)
        data, _, stamp = files.read(path)
        try:
            found = json.loads(data)
            if not form.is_pointer(kind, found):
                raise StoreError(f"{path} makes no sense; remove {self._inner} and try again: it is made again.")
            return found
        except (ValueError, RecursionError):
            if stamp == NOWHERE or kind in _FORGETTABLE:
                return None
            self._alone(self._point_anew)
            return self._pointed(kind, name)

    def _point_anew(self) -> None:
        """Put every pointer aside that cannot be read, and point again to the plans that are here."""
        for folder in [os.path.join(self._inner, kind) for kind in _POINTERS]:
            for path in [os.path.join(folder, name) for name in files.newest(folder, "") if files.ASIDE not in name]:
                data = files.read(path)[0]
                if form.is_unreadable(data):
                    files.set_aside(path, data)
                    files.remove(path)
        self._index()

    def _pointers(self) -> list[Any]:
        names = files.newest(os.path.join(self._inner, "ids"), "")
        found = [self._pointed("ids", name) for name in names if files.ASIDE not in name]
        return [pointer for pointer in found if pointer]


def _glanced(pair: Pair | None, reader: str) -> tuple[int, Reader]:
    return (pair.plan.revision, pair.readers.get(reader, Reader())) if pair else (0, Reader())


def _refuse_told(pair: Pair, key: str, reader: Reader) -> None:
    if pair.readers.get(key, Reader()) != reader:
        raise StaleRevision("the reader has heard of it")


def open(rest: str, **options: str) -> JsonStore:
    if not rest:
        raise StoreError("json: needs a directory, as in json:plans")
    return JsonStore(os.path.abspath(os.path.expanduser(rest)), **options)

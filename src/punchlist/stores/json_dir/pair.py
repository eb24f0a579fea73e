"""The two files of a plan, the list and its history: read, mended if they do not agree, and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from time import gmtime, sleep, strftime, time

from ...core._typing import NoReturn
from ...core.diff import Record, noted
from ...core.errors import StaleRevision, StoreError
from ...core.model import USER, Plan, Reader
from .. import PlanKey, oldest, too_new
from . import files, form
from .files import NOWHERE, Stamp
from .form import VERSION, Line, digest

LIST, HISTORY = ".json", ".history.jsonl"
_MOMENT = 0.1  # seconds


class Pair:
    """What the two files of a plan say, as far as they were read. Looking needs no lock; mending and writing do."""

    def __init__(self, folder: str, draft: str, id: str, stem: str, home: PlanKey) -> None:
        self.id = id
        self.stem = stem
        self.home = home
        self._folder = folder
        self._draft = draft
        self._writer = form.Writer()
        self._forget()

    def _forget(self) -> None:
        self.plan = Plan(self.id)
        self.lines: list[Line] = []  # the records, and where they begin
        self.readers: dict[str, Reader] = {}
        self.bound: dict[tuple[str, str], str] = {}  # sessions and agents, and since when; the last bound last
        self.hosts: dict[tuple[str, str], str] = {}  # the agent programs they run in
        self._stamps = (NOWHERE, NOWHERE)  # of the history, of the list
        self._end = 0  # how far the history has been read

    def _take(self, lines: Iterable[Line], plan: Plan, history: Stamp, listed: Stamp, end: int) -> None:
        """Lines, the plan they lead to, and of which files that was read."""
        for line in lines:
            if "digest" in line:
                self.lines.append(line)
            if "heard" in line or "seen" in line:
                seen = max(
                    line["heard" if "heard" in line else "seen"], self.readers.get(line["reader"], Reader()).seen
                )
                self.readers[line["reader"]] = Reader(seen)
            if "version" in line:
                self.home = form.home_of(line)
            elif "parent" in line:
                self.home = self.home._replace(parent=line["parent"])
            if line.get("session"):
                self.bound.pop((line["session"], line["agent"]), None)
                self.bound[line["session"], line["agent"]] = line.get("at", "")
                self.hosts[line["session"], line["agent"]] = str(line.get("host", ""))
        self.plan, self._stamps, self._end = plan, (history, listed), end

    @property
    def history_path(self) -> str:
        return files.inside(self._folder, self.stem + HISTORY)

    @property
    def list_path(self) -> str:
        return files.inside(self._folder, self.stem + LIST)

    # --- looking ---------------------------------------------------------------------------------------------------

    def is_current(self) -> bool:
        """Whether nobody has written since."""
        return self._stamps == (files.stamp(self.history_path), files.stamp(self.list_path))

    def catch_up(self) -> bool:
        """Read what was added to the history, if it leads to the list. If not, somebody is writing just now, has died
        while writing, or has written without us: whoever holds the lock can tell."""
        data, start, story = files.read(self.history_path, self._stamps[0], self._end)
        listed, _, stamp = files.read(self.list_path)
        if start < self._end or story == NOWHERE:
            self._forget()
        if story == stamp == NOWHERE:
            return True
        found, length = form.lines_of(data)
        lines = readable(self.history_path, found)
        last = self.lines[-1] if self.lines else None
        run = form.last_run([last, *lines] if last else lines)
        if not form.is_sound(found, last) or run[-1]["digest"] != digest(listed):
            return False
        if last:
            plan = form.replayed(self.plan, run[1:])
        elif len(run) > 1:
            plan = form.own_plan(self.id, listed, run[-1])
        else:  # a single line says it all, and the list may be one that was adopted and is not ours yet
            plan = form.replayed(Plan(self.id), run)
        self._take(lines, plan, story, stamp, start + length)
        return True

    # --- mending ---------------------------------------------------------------------------------------------------

    def mend(self) -> None:
        """Find out why list and history do not agree, and make it good."""
        if self.catch_up():
            return
        self._forget()
        data, _, story = files.read(self.history_path)
        listed, _, stamp = files.read(self.list_path)
        if story == NOWHERE:
            return self._adopt(listed, stamp)
        found, length = form.lines_of(data)
        lines = readable(self.history_path, found)
        if not form.is_sound(found, None):
            self._repair(data, lines, listed)
        run = form.last_run(lines)
        self._take(lines, form.replayed(Plan(self.id), run), story, stamp, length)
        if stamp == NOWHERE or digest(listed) in [line["digest"] for line in run]:
            self._write_list()  # whoever wrote the line died before the list was there
        else:
            self._take_edit(listed)

    def _take_edit(self, listed: bytes) -> None:
        """Somebody else has written the list."""
        entries = form.entries_of(listed)
        if entries is None:
            if self._is_being_written():
                return self.mend()
            aside = files.set_aside(self.list_path, listed)
            self._write_list()
            raise StoreError(
                f"{self.list_path} was damaged: it is kept as {aside}, and was made anew from {self.history_path}; "
                f"try again."
            )
        at = now()
        after, changes = noted(self.plan, form.relisted(self.plan, entries), USER, at)
        if not changes:
            return self._write_list()
        after = after._replace(revision=self.plan.revision + 1)
        try:
            self.commit(after, Record(after.revision, at, USER, dialect="file", changes=changes), heard=False)
        except StaleRevision:  # they have written it again meanwhile
            self.mend()

    def _is_being_written(self) -> bool:
        """Whoever writes the list in place, and not as we do, needs a moment until it can be read."""
        sleep(_MOMENT)
        return self._stamps[1] != files.stamp(self.list_path)

    def _write_list(self) -> None:
        """The list as the history has it. If that does not give the form it had, the history is told so first."""
        listed = self._writer.list_of(self.plan)
        if self.lines[-1]["digest"] != digest(listed):
            lines = readable(self.history_path, form.lines_of(files.read(self.history_path)[0])[0])
            form.last_run(lines)[-1]["digest"] = digest(listed)
            self._write_history(lines)
        files.replace(self.list_path, listed, self._draft)
        self.catch_up()

    def _adopt(self, listed: bytes, stamp: Stamp) -> None:
        """Take over a list that has no history. It stays as it is until it is changed."""
        entries = form.entries_of(listed)
        if entries is None:
            self._stamps = (NOWHERE, stamp)
            if self._is_being_written():
                return self.mend()
            aside = files.set_aside(self.list_path, listed)
            files.remove(self.list_path)
            raise StoreError(
                f"{self.list_path} was damaged, and has no history: it is kept as {aside}; try again without it."
            )
        at = now(stamp[1] / 1e9)
        plan, changes = noted(Plan(self.id), form.relisted(Plan(self.id), entries), "import", at)
        plan = plan._replace(revision=1)
        record = Record(1, at, USER, dialect="file", kind="import", changes=changes)
        line = form.record_line(plan, record, heard=False, list_digest=digest(listed))
        lines = [form.identity(self.id, self.home), line]
        story = self._write_history(lines)
        self._take(lines, plan, story, stamp, story[0])

    def _repair(self, data: bytes, lines: Sequence[Line], listed: bytes) -> NoReturn:
        """Some lines cannot be read. If a record is among them the history begins behind it, and the plan goes on."""
        run = form.last_run(lines)
        if not form.is_whole(run):
            try:
                run = form.begun_anew(self.id, lines, listed, now())
            except ValueError as error:
                raise StoreError(
                    f"{self.history_path} and {self.list_path} are both damaged ({error}); nothing was changed. "
                    f"Restore them from a backup, or move both away to begin anew."
                ) from None
        aside = files.set_aside(self.history_path, data)
        self._write_history(form.rewritten(lines, run, form.whose(lines) or form.identity(self.id, self.home)))
        lost = f"; nothing up to revision {run[0]['revision']} can be undone" if "items" in run[0] else ""
        raise StoreError(
            f"{self.history_path} was damaged: it is kept as {aside}, and was made anew from what can be read{lost}; "
            f"try again."
        )

    # --- writing ---------------------------------------------------------------------------------------------------

    def commit(self, after: Plan, record: Record, *, heard: bool, parent: str | None = None) -> None:
        """The line, then the list. Nobody believes a line that does not lead to the list, but for whoever holds the
        lock: so if the list cannot be written, the line is taken back, and nothing has happened."""
        listed = self._writer.list_of(after)
        line = form.record_line(after, record, heard=heard, list_digest=digest(listed))
        line |= {} if parent is None else {"parent": parent}
        if self.lines:
            lines = [line]
            story = files.append(self.history_path, self._end, form.text_of(lines))
        else:
            lines = [form.identity(self.id, self.home), line]
            story = files.replace(self.history_path, form.text_of(lines), self._draft)
        try:
            stamp = files.replace(self.list_path, listed, self._draft, self._stamps[1])
        except StoreError:
            files.cut(self.history_path, self._end)  # to nothing, if the plan is new
            raise
        self._take(lines, after, story, stamp, story[0])

    def add(self, line: Line, *, sync: bool = True) -> None:
        """A line that changes nothing of the plan."""
        story = files.append(self.history_path, self._end, form.text_of([line]), sync=sync)
        self._take([line], self.plan, story, self._stamps[1], story[0])

    def trim(self, since: str, before: str, live: str) -> int:
        """Let the history begin at a time; how many records less it has. Readers are forgotten from before another
        time, but those of whom something was kept since `live` stay, with what they have not heard of."""
        lines = readable(self.history_path, form.lines_of(files.read(self.history_path)[0])[0])
        run = form.last_run(lines)
        at_work = _at_work(lines, live) if live else {}
        seen = min([self.plan.revision, *(self.readers[key].seen for key in at_work)])
        old = list(  # across a hole, nothing could be undone
            takewhile(lambda line: line["at"] < since and line["revision"] <= seen, run)
        )
        count = sum("changes" in line for line in old)
        if count:
            run = run[len(old) :]
            plan = form.with_head(form.rewound(self.plan, run), old[-1])
            run.insert(0, form.beginning(plan, old[-1]["at"], old[-1]["digest"]))
        heard = [line for line in lines if not ("seen" in line and line["at"] < oldest(before, live))]
        if count or len(heard) < len(lines):
            heard += [{"reader": key, "seen": self.readers[key].seen, "at": at} for key, at in at_work.items()]
            self._write_history(form.rewritten(heard, run, form.identity(self.id, self.home)))
        return count

    def _write_history(self, lines: Iterable[Line]) -> Stamp:
        story = files.replace(self.history_path, form.text_of(lines), self._draft)
        self._forget()
        return story


def _at_work(lines: Iterable[Line], live: str) -> dict[str, str]:
    """The readers of whom something was kept since a time, and when that was last."""
    found = {line["reader"]: line["at"] for line in lines if "heard" in line or "seen" in line}
    return {key: at for key, at in found.items() if at >= live}


def readable(path: str, lines: Iterable[Line | None]) -> list[Line]:
    """The lines that can be read, if this program knows how."""
    found = [line for line in lines if line is not None]
    if found and found[0].get("version", 0) > VERSION:
        raise too_new(path)
    return found


def now(seconds: float | None = None) -> str:
    """A time in ISO 8601."""
    moment = time() if seconds is None else seconds
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"

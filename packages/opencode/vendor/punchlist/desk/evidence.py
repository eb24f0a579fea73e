"""What was observed of checks: kept when a command that was run is a check, and read when grades are shown. Imported
only where a plan has checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.checks import Subjects, digest, folder_of, in_words, subjects
from ..core.errors import StoreError
from ..core.grades import OUTDATED, Grade, Row, Seen, grade, looks_done
from ..core.model import ACTIVE, DONE, Item, Plan
from ..core.text import counted, inline
from ..local.files import time_text
from ..stores import Store

if TYPE_CHECKING:
    from ..checks.tree import Files
    from . import Desk
    from .tool_use import Ran

_SHOWN = ("at", "tier", "command", "exit", "tree", "session", "agent", "text")  # of an observation
_SHOWN_ROWS = 10
_MADE = 1_500  # characters of the paths that a run made and that are kept
_NO_FILES = "none"  # instead of a fingerprint: no file is in the scope of a check
_NOW = "now"  # of a file that is looked at when it is shown: there is nothing that it could be outdated by


class Graded(NamedTuple):
    """What the checks of a plan say about its items, by their ids."""

    grades: Mapping[str, Grade]  # of completed items
    looks_done: Mapping[str, Row]  # open items whose check passes: what was observed
    seen: Mapping[str, Seen]  # of every item with a check
    trees: Mapping[str, str]  # the fingerprint of the files that matter to each item's check; empty if not known
    default: Seen = Seen()  # of the project's default check

    @property
    def verified(self) -> int:
        """How many items are verified."""
        return sum(one.word == "verified" for one in self.grades.values())


def graded(desk: Desk, plan: Plan, seconds: float | None = None) -> Graded:
    """Look at what was observed, and at the files as they are now, and grade every item."""
    return start_grading(desk, plan, seconds)()


def start_grading(desk: Desk, plan: Plan, seconds: float | None = None) -> Callable[[], Graded]:
    """Start to look at the files, and return a function that waits for them and grades every item."""
    trees = _Trees(desk, seconds)
    checked = [item for item in plan.items if item.check]
    seen = load_seen(desk._seat.store, plan, checked)
    trees.start({folder_of(item) for item in checked if _has_run(seen.get(item.id, Seen()))})
    return lambda: _grade_all(desk, plan, seen, trees)


def _has_run(seen: Seen) -> bool:
    return bool(seen.passes or seen.failures)


def _grade_all(desk: Desk, plan: Plan, seen: dict[str, Seen], trees: _Trees) -> Graded:
    grades: dict[str, Grade] = {}
    done: dict[str, Row] = {}
    found: dict[str, str] = {}
    for item in plan.items:
        own = seen.get(item.id, Seen())
        tree = ""
        if item.check and "run" not in item.check:
            tree = trees.of(item, own) or _NOW
            seen[item.id] = own = _look_at(item, tree)._replace(bases=own.bases)
        elif _has_run(own):
            tree = trees.of(item, own)
        if item.check:
            found[item.id] = tree
        known = grade(item, own, tree)
        if known is not None:
            grades[item.id] = trees.explained(item, own, known)
        row = looks_done(item, own, tree)
        if row is not None:
            done[item.id] = row
    return Graded(grades, done, seen, found, load_default(desk, plan))


def _look_at(item: Item, tree: str) -> Seen:
    """What is true of a file now, as an observation on the files as they are."""
    from ..checks.look import look_at

    found = look_at(item.check, folder_of(item))
    row = {"at": time_text(), "tier": "ran", "command": in_words(item.check), "exit": 0, "tree": tree}
    if found.is_passed:
        return Seen(passes=(row,))
    return Seen(failures=({**row, "exit": 1, "text": found.why},))


def is_file_wrong(item: Item) -> bool:
    """Return whether a check of a file fails now. It is not a failure before the item is completed: until then nobody
    said that the file is there."""
    return bool(item.check) and "run" not in item.check and bool(_look_at(item, "").failures)


def default_item(desk: Desk) -> Item | None:
    """The project's default check, as if it were the check of an item; None if there is none, or if the project's own
    file has it and the user did not approve it. It gives no item a grade: what passed before the work began proves
    nothing about an item."""
    if not desk.settings.default_check:
        return None
    from ..checks.default import find_default

    found = find_default(desk.settings, desk._seat.place)
    if found is None or not found.is_approved:
        return None
    return Item("", "", check=found.check, check_set={"dir": found.folder})


def load_default(desk: Desk, plan: Plan) -> Seen:
    """What was observed of the project's default check."""
    item = default_item(desk)
    if item is None:
        return Seen()
    return load_seen(desk._seat.store, plan, [item]).get("", Seen())


def load_seen(store: Store, plan: Plan, items: Iterable[Item]) -> dict[str, Seen]:
    """What was observed of the checks of these items, by item."""
    names: dict[str, Subjects] = {item.id: subjects(item.check, folder_of(item)) for item in items}
    wanted = list(dict.fromkeys(name for one in names.values() for name in one))
    if not wanted or not plan.id:
        return {}
    rows = store.load_calls(plan.id, *wanted)
    return {id: Seen(*[rows.get(name, ()) for name in one]) for id, one in names.items()}


def with_evidence(items: Iterable[Item], rows: Mapping[str, Sequence[Row]]) -> list[Item]:
    """The items with what was observed of their checks, of all that was observed."""
    found = []
    for item in items:
        if item.check:
            names = subjects(item.check, folder_of(item))
            seen = [*rows.get(names.passed, ()), *rows.get(names.failed, ())]
            item = item._replace(evidence=tuple(map(_shown, sorted(seen, key=_time)))[-_SHOWN_ROWS:])
        found.append(item)
    return found


def _shown(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in _SHOWN if name in row}


def _time(row: Row) -> str:
    return str(row.get("at", ""))


def note_commands(desk: Desk, plan: Plan, commands: Sequence[Ran]) -> None:
    """Keep what commands that were run say about the checks of a plan."""
    from .observed_commands import note_command

    default = default_item(desk)
    items = plan.items
    if default is not None:
        items = (*items, default)
    for one in commands:
        if one.find_folder is not None:
            one = one._replace(folder=one.find_folder())
        known: set[str] = set()  # checks that several items have are kept once
        for item in items:
            if "run" in item.check:
                key = digest(item.check, folder_of(item))
                if key not in known:
                    known.add(key)
                    note_command(desk, plan, item, one)


def record_run(desk: Desk, plan: Plan, item: Item, row: Mapping[str, Any], files: Files | None = None) -> bool:
    """Keep that an item's check ran, with the files as they are now; whether that is kept. `row` has at least `at`,
    `tier`, `command` and `exit`."""
    trees = _Trees(desk)
    if files is not None:
        trees.known[folder_of(item)] = files
    names = subjects(item.check, folder_of(item))
    name = names.failed
    if row["exit"] == 0:
        name = names.passed
    made = made_before(desk, plan, item) + list(row.get("made", ()))
    kept = {**row, **trees.described(item, made)}
    if kept["tree"] == _NO_FILES and item.check.get("scope"):
        name, kept = names.hidden, {**kept, "why": "no file of the project is in its scope"}
    return keep(desk, plan, name, kept)


def tell_changed(paths: Sequence[str]) -> str:
    """Why a run does not count: these files changed meanwhile."""
    more = ""
    if len(paths) > 1:
        more = f" and {counted(len(paths) - 1, 'other')}"
    return f"{inline(paths[0])}{more} changed while it ran; run it again"


def kept_paths(made: Sequence[str]) -> list[str]:
    """The paths that a run made, as an observation keeps them: none if they are too many, and then they count like
    other files. A part of them would fit no fingerprint."""
    if sum(len(os.fsencode(path)) + 4 for path in made) > _MADE:
        return []
    return list(made)


def made_before(desk: Desk, plan: Plan, item: Item) -> list[str]:
    """The paths that observed runs of an item's check made: they do not count."""
    return _made(load_seen(desk._seat.store, plan, [item]).get(item.id, Seen()))


def note_bases(desk: Desk, before: Plan, after: Plan) -> None:
    """Keep the files as they are when a check is set, and when an item that has one is started; and that an item was
    completed though its check of a file fails."""
    old = {item.id: item for item in before.items}
    trees = _Trees(desk)
    for item in after.items:
        was = old.get(item.id)
        if item.check and item is not was:
            whats = []
            if was is None or was.check != item.check:
                whats.append("set")
            if item.status == ACTIVE and (was is None or was.status != ACTIVE or was.check != item.check):
                whats.append("started")
            for what in whats:
                row = {"at": time_text(), "what": what, "item": item.id, **trees.described(item)}
                keep(desk, after, subjects(item.check, folder_of(item)).base, row)
            is_completed = item.status == DONE and (was is None or was.status != DONE)
            if is_completed and is_file_wrong(item):
                keep(desk, after, subjects(item.check, folder_of(item)).failed, _look_at(item, "").failures[0])


def keep(desk: Desk, plan: Plan, subject: str, row: Mapping[str, Any]) -> bool:
    """Keep one observation; whether it is kept. A store that can only be read at the moment keeps none."""
    kept = {**row, "session": desk.session, "agent": desk.agent}
    if desk.settings.redact_calls:
        from ..core.redact import redacted

        kept.update({name: redacted(kept[name]) for name in ("command", "text") if name in kept})
    try:
        desk._seat.store.observe(plan.id, subject, [kept])
    except StoreError as error:
        if not error.is_readable:
            raise
        return False
    return True


class _Trees:
    """The files of the directories that checks belong to, each looked at once, within a time for all of them."""

    def __init__(self, desk: Desk, seconds: float | None = None) -> None:
        if seconds is None:
            seconds = look_seconds(desk)
        self._desk = desk
        self._end = monotonic() + seconds
        self.known: dict[str, Files | None] = {}  # None: there was no time
        self._prints: dict[tuple[str, ...], str] = {}  # by what it was made of
        self._tests: dict[str, str] = {}  # by folder
        self._looks: dict[str, Callable[[], Files]] = {}  # that are under way, by folder

    def start(self, folders: Iterable[str]) -> None:
        """Begin to look at directories: git works while something else is done here."""
        for folder in folders:
            self._start(folder)

    def _start(self, folder: str) -> None:
        from ..checks.tree import NoFiles, start

        try:
            self._looks[folder] = start(folder, max(self._end - monotonic(), 0.01), own=own_files(self._desk))
        except NoFiles:
            self.known[folder] = None

    def of(self, item: Item, seen: Seen) -> str:
        """The fingerprint of the files that matter to an item's check; empty if it is not known."""
        from ..checks.tree import fingerprint

        files = self._files(folder_of(item))
        if files is None:
            return ""
        made, scope = _made(seen), item.check.get("scope", ())
        key = (folder_of(item), *scope, "", *made)
        if key not in self._prints:
            self._prints[key] = fingerprint(files, scope, folder_of(item), made) or _NO_FILES
        return self._prints[key]

    def described(self, item: Item, made: Sequence[str] = ()) -> dict[str, Any]:
        """What an observation keeps of the files."""
        from ..checks.tree import digest_row, fingerprint, fingerprint_tests

        files = self._files(folder_of(item))
        if files is None:
            return {"tree": ""}
        scope, folder = item.check.get("scope", ()), folder_of(item)
        tree = fingerprint(files, scope, folder, made) or _NO_FILES
        return {"tree": tree, "tests": fingerprint_tests(files), **digest_row(files, scope, folder, made)}

    def explained(self, item: Item, seen: Seen, known: Grade) -> Grade:
        """A grade with what has changed since: files, and the tests since the check was set."""
        if known.word == OUTDATED:
            known = known._replace(changed=self._count_changed(item, seen, known.row))
        if known.row:
            known = known._replace(tests_changed=self._have_tests_changed(item, seen))
        return known

    def _have_tests_changed(self, item: Item, seen: Seen) -> bool:
        """Whether tests, or what says how they are run, have changed since the check was set."""
        bases = [row for row in seen.bases if row.get("what") == "set" and row.get("item") == item.id]
        if not bases or not bases[-1].get("tests"):
            return False
        if not item.check.get("scope") and bases[-1].get("tree") == self.of(item, seen):
            return False  # nothing has changed: there is no need to ask which files are tests
        now = self._tests_of(folder_of(item))
        return bool(now) and now != bases[-1]["tests"]

    def _count_changed(self, item: Item, seen: Seen, row: Row) -> int | None:
        from ..checks.tree import changed_since

        files = self._files(folder_of(item))
        left = self._end - monotonic()
        if files is None or left <= 0:
            return None
        scope = item.check.get("scope", ())
        return (
            changed_since(files, row.get("base"), row.get("dirty"), scope, folder_of(item), _made(seen), left) or None
        )

    def _tests_of(self, folder: str) -> str:
        from ..checks.tree import fingerprint_tests

        files = self._files(folder)
        if folder not in self._tests and files is not None:
            self._tests[folder] = fingerprint_tests(files)
        return self._tests.get(folder, "")

    def _files(self, folder: str) -> Files | None:
        from ..checks.tree import NoFiles

        if folder not in self.known and folder not in self._looks:
            self._start(folder)
        if folder in self._looks:
            try:
                self.known[folder] = self._looks.pop(folder)()
            except NoFiles:
                self.known[folder] = None
        return self.known[folder]


def _made(seen: Seen) -> list[str]:
    """The files that runs of a check made: they do not count."""
    return sorted({path for row in (*seen.passes, *seen.failures) for path in row.get("made", ())})


def look_seconds(desk: Desk) -> float:
    """How long a look at the files may take."""
    return desk.settings.look_ms / 1000


def own_files(desk: Desk) -> tuple[str, ...]:
    """The paths of our own files: they never count."""
    from ..local.settings import state_folder

    store = desk._seat.store
    path, folder = str(getattr(store, "path", "")), str(getattr(store, "folder", ""))
    own = [state_folder(os.environ)]
    if path:
        own.append(os.path.abspath(path))
    if os.path.isdir(folder):  # the lists of a store of JSON files; the folder may be the project's own
        lists = [name for name in os.listdir(folder) if "-agent-" in name and name.endswith(".json")]
        own += [os.path.join(folder, name) for name in lists]
    return tuple(own)

"""The values: a plan, its items, and what is remembered of those who read it. All of them are frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, count
from operator import is_not, itemgetter

from ._typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    from .types import Mode, Status

PENDING: Literal["pending"] = "pending"
ACTIVE: Literal["in_progress"] = "in_progress"
BLOCKED: Literal["blocked"] = "blocked"
DONE: Literal["completed"] = "completed"
DROPPED: Literal["abandoned"] = "abandoned"

STATUSES = (PENDING, ACTIVE, BLOCKED, DONE, DROPPED)
CLOSED = frozenset((DONE, DROPPED))

MODES = ("act", "plan", "quiet")
USER = "user"
CHECK = "check"  # the author of what an observation has completed
MAIN = "main"

NOTHING: Mapping[str, Any] = {}
_FEW = 16  # items that differ, up to which only their counts are corrected
_SHORT = 128  # items that are compared one by one
SUBTASK = "subtask"  # in an item's extra: it has no count of its own where it comes from


class Closing(NamedTuple):
    """Who closed an item, and when."""

    by: str
    """Who closed it: "user", or the agent."""
    at: str
    """When, in ISO 8601."""


class Author(NamedTuple):
    """Who changes a plan."""

    name: str
    at: str  # when
    folder: str = ""  # where
    is_user: bool = False  # or somebody who puts back what the user had


class Item(NamedTuple):
    """One item of a plan. It is frozen: `punchlist.ops` returns changed plans."""

    id: str
    """The id: digits, never used again in the same plan."""
    text: str
    """What to do, in the imperative: "Run the tests"."""
    status: Status = PENDING
    """One of "pending", "in_progress", "blocked", "completed" and "abandoned"."""
    active: str = ""
    """The text in the present continuous, to show while it is worked on: "Running the tests"."""
    phase: str = ""
    """The phase it is in; empty if in none."""
    parent: str = ""
    """The id of the item this is a part of; empty if of none. The list stays flat."""
    needs: tuple[str, ...] = ()
    """The ids of the items that must close first."""
    notes: tuple[str, ...] = ()
    """Notes, oldest first."""
    priority: str = ""
    """The priority, in the words of whoever set it."""
    owner: str = ""
    """The agent that works on it."""
    reason: str = ""
    """Why it is blocked or abandoned."""
    check: Mapping[str, Any] = NOTHING
    """What shows that it is done: `{"run": COMMAND}`, `{"file": PATH}` or `{"contains": [PATH, TEXT]}`, and a `scope`,
    patterns of the files that matter to it, if not all do. Empty if it has none."""
    check_set: Mapping[str, Any] = NOTHING
    """Who set the check (`by`), when (`at`), the directory that it belongs to (`dir`), and whether the user has
    `approved` it."""
    waived: Mapping[str, Any] = NOTHING
    """That the user says that no check is needed: `why` and `at`. Empty if not."""
    evidence: tuple[Mapping[str, Any], ...] = ()
    """What was observed of its check. Empty unless the plan is from `desk.load(calls=True)`."""
    calls: tuple[Mapping[str, Any], ...] = ()
    """Tool calls made while it was active. Empty unless the plan is from `desk.load(calls=True)`."""
    closed: Closing | None = None
    """Who closed it, and when; None while it is open."""
    extra: Mapping[str, Any] = NOTHING
    """What a dialect sent that an item has no field for."""

    @property
    def is_closed(self) -> bool:
        """Whether it is completed or abandoned."""
        return self.status in CLOSED

    @property
    def label(self) -> str:
        """The text to show while it is worked on: `active`, or else `text`."""
        return self.active or self.text


class Field(NamedTuple):
    """How a field of an item is written, merged and told."""

    kind: str  # what it holds: id, text (never empty), words, status, ids, texts, objects, object, check or closing
    merge: str = ""  # fields with the same word here are one statement: who changed one of them has changed them all
    in_document: str = (
        "field"  # where the Markdown document has it: on the item's line, in the heading, as a note or field
    )
    is_told: bool = (
        False  # whether a change is told as "set the owner of ..."; others have a sentence of their own or none
    )


# Every field of an item. Whatever reads, writes, merges or tells items asks this table: a new field is a row here.
FIELDS: Mapping[str, Field] = {
    "id": Field("id", in_document="line"),
    "text": Field("text", "text", in_document="line"),
    "status": Field("status", "status", in_document="line"),
    "active": Field("words", "text"),
    "phase": Field("words", in_document="heading", is_told=True),
    "parent": Field("words", is_told=True),
    "needs": Field("ids"),
    "notes": Field("texts", in_document="note"),
    "priority": Field("words", is_told=True),
    "owner": Field("words", "status", is_told=True),
    "reason": Field("words", "status"),
    "check": Field("check", "check", is_told=True),
    "check_set": Field("object", "check"),
    "waived": Field("object", "check"),
    "evidence": Field("objects"),
    "calls": Field("objects"),
    "closed": Field("closing", "status"),
    "extra": Field("object"),
}

_STATUS = itemgetter(Item._fields.index("status"))
_PARENT = itemgetter(Item._fields.index("parent"))


class Pause(NamedTuple):
    """Why an agent stops, since when, and what it was working on."""

    reason: str
    """Why, in the words of whoever asked for the pause."""
    at: str = ""
    """When, in ISO 8601."""
    item: str = ""
    """The id of the item that was active; empty if none was."""
    attempts: int = 0
    """How many times the agent was nudged before."""
    last_prompt_at: str = ""
    """When it was last nudged, in ISO 8601."""


class Progress(NamedTuple):
    """How far a plan is. Abandoned items do not count."""

    completed: int
    """How many items are completed."""
    total: int
    """How many items there are, without the abandoned ones."""
    percent: int
    """`completed` of `total` in percent, rounded."""


class Plan(NamedTuple):
    """A plan at one revision. It is frozen: every change makes a new one."""

    id: str = ""
    """The id of the plan in its store; empty if it was never saved."""
    title: str = ""
    """The title; empty if nobody gave it one."""
    revision: int = 0
    """The number of changes that were saved; 0 if there were none."""
    mode: Mode = "act"
    """How the agent may work: "act", "plan" or "quiet"."""
    paused: Pause | None = None
    """Why the agent may stop; None if the plan is not paused."""
    phases: tuple[str, ...] = ()
    """The phases, in order. A phase may be empty."""
    items: tuple[Item, ...] = ()
    """The items, grouped by phase; those without a phase first."""
    last_id: int = 0
    """The highest id ever given in this plan."""
    removed: tuple[str, ...] = ()
    """Texts that the user removed: a list that an agent sends does not bring them back."""

    @property
    def active(self) -> Item | None:
        """The item being worked on; the first, if there are several."""
        statuses = self.statuses
        if ACTIVE in statuses:
            return self.items[statuses.index(ACTIVE)]
        return None

    @property
    def busy(self) -> tuple[Item, ...]:
        """Every item being worked on."""
        return tuple([self.items[place] for place in places(self.statuses, ACTIVE)])

    @property
    def at_work(self) -> tuple[Item, ...]:
        """Every item being worked on, except one whose part is: tool calls are made for the part."""
        busy = self.busy
        wholes = {item.parent for item in busy}
        return tuple([item for item in busy if item.id not in wholes])

    @property
    def statuses(self) -> Sequence[str]:
        """The status of each item, in order."""
        return _tally(self.items).statuses

    @property
    def counts(self) -> Mapping[str, int]:
        """How many items have each status."""
        return _tally(self.items).counts

    @property
    def progress(self) -> Progress:
        """How far the plan is. Abandoned items do not count."""
        counts = self.counts
        if any(map(_PARENT, self.items)):
            counts = _counted([item.status for item in self.items if not item.extra.get(SUBTASK)])
        done, total = counts[DONE], sum(counts.values()) - counts[DROPPED]
        percent = 0
        if total:
            percent = (200 * done + total) // (2 * total)
        return Progress(done, total, percent)

    @property
    def open_items(self) -> tuple[Item, ...]:
        """Every item that is not completed or abandoned, in order."""
        return tuple([item for item in self.items if item.status not in CLOSED])


class _Tally(NamedTuple):
    """The statuses of some items, and how many have each."""

    statuses: Sequence[str]
    counts: Mapping[str, int]


def _counted(statuses: Sequence[str]) -> dict[str, int]:
    return {status: statuses.count(status) for status in STATUSES}


# The items that were last asked about, with the answer: a call asks a dozen times about plans that differ in one item.
_last: tuple[tuple[Item, ...], _Tally] = ((), _Tally((), _counted(())))


def _tally(items: tuple[Item, ...]) -> _Tally:
    global _last
    known, tally = _last
    if known is items:
        return tally
    places = None
    if len(known) == len(items):
        places = differing(known, items)
    if places is None or len(places) > _FEW:
        statuses = list(map(_STATUS, items))
        tally = _Tally(statuses, _counted(statuses))
    elif places:
        tally = _retallied(tally, items, places)
    _last = (items, tally)
    return tally


def _retallied(tally: _Tally, items: tuple[Item, ...], places: Sequence[int]) -> _Tally:
    """The tally of items that differ from those of another tally only in these places."""
    statuses, counts = list(tally.statuses), dict(tally.counts)
    for place in places:
        for status, change in ((statuses[place], -1), (items[place].status, 1)):
            counts[status] = counts.get(status, 0) + change
        statuses[place] = items[place].status
    return _Tally(statuses, counts)


# The two lists that were last compared, with the answer: a call compares the plan before and after it several times.
_compared: tuple[tuple[Item, ...], tuple[Item, ...], list[int]] = ((), (), [])


def differing(old: tuple[Item, ...], new: tuple[Item, ...]) -> list[int]:
    """Where two lists of the same length differ."""
    global _compared
    left, right, places = _compared
    if left is not old or right is not new:
        places = _differing(old, new, 0)
        _compared = (old, new, places)
    return places


def _differing(old: tuple[Item, ...], new: tuple[Item, ...], start: int) -> list[int]:
    """Where they differ. What is identical is passed over in C; of long lists, in halves."""
    if len(old) <= _SHORT:
        places = compress(count(start), map(is_not, old, new))
        return [place for place in places if old[place - start] != new[place - start]]
    if old == new:
        return []
    half = len(old) // 2
    return _differing(old[:half], new[:half], start) + _differing(old[half:], new[half:], start + half)


def places(statuses: Sequence[str], wanted: str) -> list[int]:
    """Where a status is. Long lists are the reason for this form: the search runs in C."""
    found: list[int] = []
    start = 0
    for _ in range(statuses.count(wanted)):
        found.append(statuses.index(wanted, start))
        start = found[-1] + 1
    return found


class Reader(NamedTuple):
    """What is remembered of one reader: a session and an agent."""

    seen: int = 0
    """The revision up to which it was told."""


class SessionState(NamedTuple):
    """How a reader's work goes: what it was reminded of and nudged with, and what that has cost."""

    revision: int = 0  # of the plan, when it was last looked at
    turns: int = 0  # since the plan changed
    reminded: int = 0  # turns since the last reminder
    reminders: int = 0  # since the plan changed
    effects: int = 0  # calls that changed something beside the plan, while it was at `effects_at`
    effects_at: int = 0  # a revision of the plan
    spent: int = 0  # tokens of reminders in this session
    work: int = 0  # calls since the last nudge that changed something; one that was made lately does not count
    lately: str = ""  # the digests of those, with a space between
    nudges: int = 0  # in this session
    idle: int = 0  # nudges in a row that led to nothing
    since: int = 0  # when the first nudge after the user's last word was given, in seconds
    nudged_at: str = ""  # when the last one was
    nudged: int = 0  # the plan's revision at the last nudge
    asked: int = 0  # the plan's revision when the user last spoke
    going: bool = False  # the user's last message was a bare "go on"
    tool: str = ""  # with which it last wrote the plan
    dialect: str = ""  # of that tool, where it is the agent's own
    planning: int = 0  # one more than the turns since the text of plan mode was told; below 0: that of a quiet context
    waiting: str = ""  # why it stops until the user's next word
    failed: bool = False  # whether its last plan call failed
    stopped: bool = False  # no more nudges in this session
    cleared: bool = False  # whether the user was told how to leave the plan behind after a `/clear`
    heard: str = ""  # when it last used a tool or was prompted, in ISO 8601
    log: int = 0  # how much of its agent's log was looked at, in bytes
    names: Mapping[str, str] = NOTHING  # of a plan: what the readers that share it are called

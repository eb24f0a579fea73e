"""Plans as Markdown, in two forms.

*Checklist*: oh-my-pi's, for import and export. Phases, boxes, texts and notes; no ids.
*Document*: ours, for `edit` and `show --markdown`. It holds everything, and reads back as the same plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ._typing import TYPE_CHECKING, Any
from .check_comment import split_comment, with_comment
from .checks import read_check
from .errors import BadShape, Refused
from .grade_tail import with_tail, without_tail
from .model import ACTIVE, BLOCKED, CLOSED, DONE, DROPPED, FIELDS, MODES, NOTHING, PENDING, Closing, Item, Pause, Plan
from .ops import grouped
from .rules import one_active, promoted
from .structure import circle_of_needs
from .text import inline, visible

if TYPE_CHECKING:
    from .types import Status


_BOXES = {PENDING: " ", ACTIVE: "/", DONE: "x", DROPPED: "-", BLOCKED: "!"}
_STATUSES: dict[str, Status] = {
    " ": PENDING,
    "": PENDING,
    "/": ACTIVE,
    ">": ACTIVE,
    "x": DONE,
    "X": DONE,
    "-": DROPPED,
    "~": DROPPED,
    "!": BLOCKED,
}
_ORPHANS = "Todos"  # the phase of tasks without a heading


class _Line:
    """What one line of either form is."""

    def __init__(self, number: int, raw: str) -> None:
        self.number = number
        self.body = raw.strip()
        self.indent = len(raw) - len(raw.lstrip())

    @property
    def heading(self) -> str | None:
        marks = len(self.body) - len(self.body.lstrip("#"))
        rest = self.body[marks:]
        if 0 < marks <= 6 and (not rest or rest[0] in " \t"):
            return rest.strip()
        return None

    @property
    def box(self) -> tuple[str, str] | None:
        """The mark in the box and the words behind it."""
        if self.body[:2] not in ("- ", "* ", "+ "):
            return None
        rest = self.body[2:].lstrip()
        end = rest.find("]")
        if rest.startswith("[") and 0 < end <= 2:
            return (rest[1:end], rest[end + 1 :].strip())
        return None

    def refuse(self, why: str) -> Refused:
        return BadShape([f"line {self.number}: {why}"])


def _lines(text: str) -> Iterator[_Line]:
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        yield _Line(number, raw.rstrip("\r"))


def _status(line: _Line, mark: str) -> Status:
    status = _STATUSES.get(mark if len(mark) == 1 else mark.strip())
    if status is None:
        raise line.refuse(f"the box [{inline(mark)}] means nothing; use [ ], [/], [x], [-] or [!].")
    return status


# --- the checklist -------------------------------------------------------------------------------------------------


def write(plan: Plan, grades: Mapping[str, str] = NOTHING) -> str:
    """The checklist of a plan. `grades`: in words, by the id of an item, to be put behind its text."""
    names = list(plan.phases)
    loose = [item for item in plan.items if not item.phase]
    parts = []
    if loose:
        parts = [_section(_ORPHANS, loose, grades)]
    parts += [_section(name, [item for item in plan.items if item.phase == name], grades) for name in names]
    if parts:
        return "\n\n".join(parts) + "\n"
    return ""


def read(text: str) -> Plan:
    """The plan of a checklist: any heading is a phase, tasks under none go to `Todos`, one task is active."""
    if not isinstance(text, str):
        raise BadShape(["Markdown is a text."])
    phases: list[str] = []
    items: list[Item] = []
    phase = ""
    fresh = True  # whether a quoted line begins a new note
    for line in _lines(text):
        box = line.box
        if not line.body:
            fresh = True
        elif line.heading is not None:
            phase = line.heading or line.body
            phases.append(phase)
        elif box:
            status = _status(line, box[0])
            words, check = _read_task(line, box[1])
            if not words:
                raise line.refuse("the task has no text.")
            if not phase:
                phase = _ORPHANS
                phases.append(phase)
            items.append(Item(str(len(items) + 1), words, status, phase=phase, check=check))
            fresh = True
        elif line.body.startswith(">") and items:
            words = line.body[1:].removeprefix(" ").rstrip()
            if words:
                items[-1] = items[-1]._replace(notes=_noted(items[-1].notes, words, fresh))
            fresh = not words
        else:
            raise line.refuse(f"{line.body[:40]!r} is neither a heading, a task with a box, nor a note.")
    plan = Plan(phases=tuple(dict.fromkeys(phases)), items=tuple(items), last_id=len(items))
    return promoted(one_active(grouped(plan)))


def _read_task(line: _Line, words: str) -> tuple[str, dict[str, Any]]:
    """The text of a task and its check, without the grade that was behind them."""
    try:
        text, check = split_comment(words)
    except Refused as refusal:
        raise line.refuse(str(refusal)) from None
    return without_tail(text), check


def _section(name: str, items: list[Item], grades: Mapping[str, str]) -> str:
    lines = [f"# {visible(name)}"]
    for item in items:
        text = with_tail(visible(item.text).strip(), grades.get(item.id, ""))
        lines.append(f"- [{_BOXES[item.status]}] {with_comment(text, item.check)}")
        for index, note in enumerate(item.notes):
            if index:
                lines.append("  >")
            lines += [f"  > {visible(part)}".rstrip() for part in note.splitlines()]
    return "\n".join(lines)


def _noted(notes: tuple[str, ...], words: str, fresh: bool) -> tuple[str, ...]:
    if fresh or not notes:
        return (*notes, words)
    return (*notes[:-1], f"{notes[-1]}\n{words}")


# --- the document --------------------------------------------------------------------------------------------------

_FIELDS = {name: field.kind for name, field in FIELDS.items() if field.in_document == "field"}


def write_document(plan: Plan, grades: Mapping[str, str] = NOTHING) -> str:
    """Everything a plan holds, to be read and edited by a person. `grades`: in words, by the id of an item."""
    title = "#"
    if plan.title:
        title = f"# {_words(plan.title)}"
    lines = [title, f"<!-- revision {plan.revision} -->"]
    if plan.mode != "act":
        lines.append(f"mode: {plan.mode}")
    if plan.paused:
        lines.append(f"paused: {_data(list(plan.paused))}")
    if plan.removed:
        lines.append(f"removed: {_data(list(plan.removed))}")
    lines.append("")
    lines += [line for item in plan.items if not item.phase for line in _item_lines(item, grades)]
    for phase in plan.phases:
        lines += ["", f"## {_words(phase)}", ""]
        lines += [line for item in plan.items if item.phase == phase for line in _item_lines(item, grades)]
    text = "\n".join(lines).rstrip("\n") + "\n"
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def read_document(text: str, plan: Plan) -> Plan:
    """The plan that an edited document describes. `plan` is the one it was written from: an item keeps its number
    wherever it is moved, an item without a number is new."""
    reading = _Reading(plan)
    for line in _lines(text):
        if line.body and not line.body.startswith("<!--"):
            reading.take(line)
    return reading.result()


def revision_of(text: str) -> int | None:
    """The revision a document was written from, if it says so."""
    for line in _lines(text):
        if line.body.startswith("<!-- revision "):
            number = line.body.split()[2]
            if number.isdecimal() and len(number) < 10:
                return int(number)
            return None
    return None


class _Reading:
    """A document being read, line by line."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.known = {item.id for item in plan.items}
        self.head: dict[str, Any] = {"title": "", "mode": "act", "paused": None, "removed": ()}
        self.phases: list[str] = []
        self.items: list[dict[str, Any]] = []
        self.lines: list[_Line] = []
        self.last = plan.last_id
        self.used: set[str] = set()
        self.started = False

    def take(self, line: _Line) -> None:
        box = line.box
        if line.body.startswith("##"):
            self._phase(line)
        elif line.body.startswith("#"):
            self._title(line)
        elif box and not line.indent:
            self._item(line, _status(line, box[0]), box[1])
        elif line.body.startswith(">") and self.items:
            self.items[-1]["notes"] = (*self.items[-1].get("notes", ()), _spoken(line, line.body[1:].strip()))
        elif line.body.startswith("- ") and line.indent and self.items:
            self._field(line)
        elif not self.items and not self.phases and line.body.split(":")[0] in ("mode", "paused", "removed"):
            self._head(line)
        else:
            raise line.refuse(f"{line.body[:40]!r} is neither a phase, an item with a box, a field nor a note.")

    def result(self) -> Plan:
        items = []
        for line, fields in zip(self.lines, self.items, strict=True):
            for name, wanted in (("parent", _parents(fields.get("parent"))), ("needs", fields.get("needs", ()))):
                unknown = [id for id in wanted if id not in self.used]
                if unknown:
                    raise line.refuse(f"{name} names {unknown[0]!r}, which is not in the list.")
            items.append(Item(**fields))
        for what, circle in (
            ("wait for", circle_of_needs({item.id: item.needs for item in items})),
            ("be parts of", circle_of_needs({item.id: _parents(item.parent) for item in items})),
        ):
            if circle:
                raise BadShape([f"these items would {what} each other: {' → '.join(circle)}."])
        made = self.plan._replace(**self.head, phases=tuple(self.phases), items=tuple(items), last_id=self.last)
        return grouped(made)

    def _title(self, line: _Line) -> None:
        if self.started:
            raise line.refuse("there is a title already; a phase begins with ##.")
        self.started = True
        self.head["title"] = ""
        if line.heading:
            self.head["title"] = _spoken(line, line.heading.strip())

    def _phase(self, line: _Line) -> None:
        name = _spoken(line, line.heading or "")
        if not name or name in self.phases:
            raise line.refuse("a phase needs a name of its own.")
        self.phases.append(name)

    def _head(self, line: _Line) -> None:
        name, _, rest = line.body.partition(":")
        if name == "mode":
            if rest.strip() not in MODES:
                raise line.refuse("mode must be one of 'act', 'plan', 'quiet'.")
            self.head["mode"] = rest.strip()
            return
        value = _parsed(line, rest)
        kinds = []
        if isinstance(value, list):
            kinds = list(map(type, value))
        if name == "paused" and kinds == [str, str, str, int, str]:
            self.head["paused"] = Pause(*value)
        elif name == "removed" and isinstance(value, list) and set(kinds) <= {str}:
            self.head["removed"] = tuple(value)
        else:
            raise line.refuse(f"{name} cannot be read.")

    def _item(self, line: _Line, status: Status, words: str) -> None:
        number, dot, rest = words.partition(".")
        if dot and number.isascii() and number.isdigit() and (rest[:1] in ("", " ")):
            words = rest.strip()
            if number not in self.known:
                raise line.refuse(f"there is no item {number}; leave the number out for a new item.")
        else:
            self.last += 1
            number = str(self.last)
        if number in self.used:
            raise line.refuse(f"item {number} is here twice.")
        text = _spoken(line, without_tail(words))
        if not text:
            raise line.refuse("the item has no text.")
        self.used.add(number)
        self.lines.append(line)
        phase = ""
        if self.phases:
            phase = self.phases[-1]
        self.items.append({"id": number, "text": text, "status": status, "phase": phase})

    def _field(self, line: _Line) -> None:
        name, colon, rest = line.body[2:].partition(":")
        fields = self.items[-1]
        kind = None
        if colon:
            kind = _FIELDS.get(name)
        if kind is None:
            raise line.refuse(f"{line.body[:40]!r} is not a field; the fields are {', '.join(_FIELDS)}.")
        if kind == "words":
            fields[name] = _spoken(line, rest.strip())
        elif kind == "check":
            fields[name] = _check(line, rest.strip())
        elif kind == "ids":
            fields[name] = tuple(id.strip() for id in rest.split(",") if id.strip())
        else:
            fields[name] = _data_field(line, name, _parsed(line, rest))


def _check(line: _Line, words: str) -> dict[str, Any]:
    """A command as it is, or an object."""
    given: Any = _spoken(line, words)
    if words.startswith("{"):
        given = _parsed(line, words)
    try:
        return read_check(given)
    except Refused as refusal:
        raise line.refuse(str(refusal)) from None


def _data_field(line: _Line, name: str, value: Any) -> Any:
    kind = _FIELDS[name]
    if kind == "object" and isinstance(value, dict):
        return value
    kinds = []
    if isinstance(value, list):
        kinds = list(map(type, value))
    if kind == "closing" and kinds == [str, str]:
        return Closing(*value)
    if kind == "objects" and isinstance(value, list) and set(kinds) <= {dict}:
        return tuple(value)
    raise line.refuse(f"{name} cannot be read.")


def _item_lines(item: Item, grades: Mapping[str, str]) -> Iterator[str]:
    yield f"- [{_BOXES[item.status]}] {item.id}. {with_tail(_words(item.text), grades.get(item.id, ''))}"
    for name, kind in _FIELDS.items():
        value = getattr(item, name)
        if not value or (kind == "closing" and item.status not in CLOSED):
            continue
        if kind == "words":
            yield f"  - {name}: {_words(value)}"
        elif kind == "ids":
            yield f"  - {name}: {', '.join(value)}"
        elif kind == "check" and value.keys() == {"run"} and not value["run"].startswith("{"):
            yield f"  - {name}: {_words(value['run'])}"
        elif kind in ("object", "check"):
            yield f"  - {name}: {_data(dict(value))}"
        else:
            yield f"  - {name}: {_data(list(value))}"
    for note in item.notes:
        yield f"  > {_words(note)}"


def _parents(parent: str | None) -> tuple[str, ...]:
    if parent:
        return (parent,)
    return ()


def _words(text: str) -> str:
    """A text on one line: as it is where that reads back, else as a JSON string."""
    is_plain = text.isprintable() and text == text.strip() and not text.startswith(('"', "#"))
    if text and is_plain:
        return text
    return _data(text)


def _data(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return json.dumps(value)


def _spoken(line: _Line, words: str) -> str:
    if not words.startswith('"'):
        return words
    value = _parsed(line, words)
    if not isinstance(value, str):
        raise line.refuse("a text that begins with a quotation mark must end with one.")
    return value


def _parsed(line: _Line, words: str) -> Any:
    try:
        return json.loads(words)
    except (ValueError, RecursionError):
        raise line.refuse(f"{words.strip()[:40]!r} is not valid JSON.") from None

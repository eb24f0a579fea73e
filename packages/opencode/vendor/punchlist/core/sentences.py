"""What differs between two plans, in sentences: for the model that works from the plan, and for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ._typing import Any, NamedTuple
from .diff import Change, diff
from .model import ACTIVE, BLOCKED, CHECK, CLOSED, DONE, DROPPED, FIELDS, PENDING, USER, Item, Plan
from .text import WHOLE, cut, inline, quoted

FINAL = "; do not bring it back."  # how the sentence about a removal ends
_TOLD = [name for name, field in FIELDS.items() if field.is_told]


def tell(changes: Iterable[Change], who: str, plan: Plan, *, ids: bool = True) -> list[str]:
    """One sentence for each change, as a model that works from the plan should hear it."""
    if who == USER:
        name = "the user"
    elif who == CHECK:
        name = "a passed check"
    else:
        name = f"agent {inline(who)}"
    voice = _Voice(ids, who == USER)
    changes = list(changes)
    removed = [change for change in changes if change.kind == "removed"]
    lines = []
    if removed and not plan.items and not plan.removed:  # all of it was cleared, and may be added again
        lines.append(f"{name} cleared the list.")
        changes = [change for change in changes if change.kind not in ("removed", "moved") and change.id != "phases"]
    found = [words for change in changes for words in _sentences(change, voice, plan)]
    if who == CHECK:
        return lines + [_tell_of_check(name, words) for words in found]
    return lines + [f"{name} {words}." for words in found]


def _tell_of_check(name: str, words: str) -> str:
    """A check completes an item; that the next one is started follows from it."""
    verb, _, item = words.partition(" ")
    if verb == "started":
        return f"{item} is next."
    return f"{name} {words}."


def difference(before: Plan, after: Plan) -> list[str]:
    """For people, what has become of a plan, a sentence each."""
    return describe(diff(before, after), after) or ["nothing changed."]


def describe(changes: Iterable[Change], plan: Plan, *, by: str = USER) -> list[str]:
    """One sentence for each change, as a person should read it. What an agent takes off that is closed is cleared."""
    voice = _FOR_PEOPLE._replace(clears=by != USER)
    return [f"{words}." for change in changes for words in _sentences(change, voice, plan)]


class _Voice(NamedTuple):
    """How changes are told, and to whom."""

    ids: bool = True  # whether items are known by their ids
    final: bool = False  # whether it is said that a change is final
    clears: bool = False  # whether what is taken off when it is closed was cleared, not removed
    quotes: bool = True  # whether notes and reasons are in quotes: to a model they must not pose as our own words
    width: int = WHOLE  # characters of an item's text

    def words(self, text: str) -> str:
        if self.quotes:
            return quoted(text)
        return cut(inline(text), WHOLE)

    def name(self, item: Item) -> str:
        if self.ids:
            return f"{item.id} {self.text(item.text)}"
        return self.text(item.text)

    def text(self, text: str) -> str:
        return quoted(text, self.width)


_FOR_PEOPLE = _Voice(quotes=False, width=60)


def _sentences(change: Change, voice: _Voice, plan: Plan) -> Iterator[str]:
    if change.kind == "added":
        yield from _added_sentences(change.after, voice)
    elif change.kind == "removed":
        yield from _removed_sentences(change, voice)
    elif change.kind == "changed":
        yield from _item_sentences(change.before, change.after, voice)
    elif change.kind == "plan":
        yield from _head_sentences(change, voice)
    else:
        yield _moved_sentence(change, voice, plan)


def _added_sentences(new: Item, voice: _Voice) -> Iterator[str]:
    said = f"added {voice.name(new)}"
    if new.status != PENDING:
        said += f", {_state(new)}"
        if new.reason:
            said += f": {voice.words(new.reason)}"
    yield said
    for note in new.notes:
        yield f"noted on {voice.name(new)}: {voice.words(note)}"


def _removed_sentences(change: Change, voice: _Voice) -> Iterator[str]:
    left = change.after or change.before
    if change.after:
        yield from _item_sentences(change.before, change.after, voice)
    verb = "removed"
    if voice.clears and left.status in CLOSED:
        verb = "cleared"
    final = ""
    if voice.final:
        final = FINAL.rstrip(".")
    yield f"{verb} {voice.name(change.before)}{final}"


def _moved_sentence(change: Change, voice: _Voice, plan: Plan) -> str:
    strayed = _strayed(change.before, change.after)
    names = [voice.name(item) for item in plan.items if item.id in strayed] or ["items"]
    said = f"moved {', '.join(names[:3])}"
    if len(names) > 3:
        said += ", …"
    if voice.final:
        said += "; keep the order as it is now"
    return said


def _item_sentences(old: Item, new: Item, voice: _Voice) -> Iterator[str]:
    if old.text != new.text:
        yield f"renamed {voice.name(old)} to {voice.text(new.text)}"
    if old.status != new.status or old.reason != new.reason:
        yield from _status_sentences(old, new, voice)
    yield from _note_sentences(old, new, voice)
    for field in _TOLD:
        value = getattr(new, field)
        if value == getattr(old, field):
            continue
        if value:
            yield f"set the {field} of {voice.name(new)} to {quoted(_in_words(value))}"
        else:
            yield f"took the {field} off {voice.name(new)}"
    if old.check or new.check or old.waived or new.waived:
        yield from _trust_sentences(old, new, voice)
    if old.needs != new.needs:
        yield f"let {voice.name(new)} wait for {', '.join(new.needs) or 'nothing'}"


def _trust_sentences(old: Item, new: Item, voice: _Voice) -> Iterator[str]:
    """That the user approved a check, or needs none, or no longer so."""
    if old.check == new.check and bool(old.check_set.get("approved")) != bool(new.check_set.get("approved")):
        verb = "took back the approval of"
        if new.check_set.get("approved"):
            verb = "approved"
        yield f"{verb} the check of {voice.name(new)}"
    if new.waived and new.waived != old.waived:
        yield f"waived {voice.name(new)}: {voice.words(str(new.waived.get('why', '')))}"
    elif old.waived and not new.waived:
        yield f"did not waive {voice.name(new)} any more"


def _in_words(value: Any) -> str:
    if isinstance(value, str):
        return value
    from .checks import in_words

    return in_words(value)


def _status_sentences(old: Item, new: Item, voice: _Voice) -> Iterator[str]:
    said = f"{_verb(old, new)} {voice.name(new)}"
    if new.reason:
        yield f"{said}: {voice.words(new.reason)}"
    elif old.status != new.status:
        yield said


def _note_sentences(old: Item, new: Item, voice: _Voice) -> Iterator[str]:
    added = new.notes
    if new.notes[: len(old.notes)] == old.notes:
        added = new.notes[len(old.notes) :]
    for note in added:
        yield f"noted on {voice.name(new)}: {voice.words(note)}"
    if len(new.notes) < len(old.notes):
        yield f"took notes off {voice.name(new)}"


def _head_sentences(change: Change, voice: _Voice) -> Iterator[str]:
    if change.id == "title" and change.after:
        yield f"called the plan {quoted(change.after)}"
    elif change.id == "title":
        yield "took the plan's title away"
    elif change.id == "mode":
        yield f"switched to {change.after} mode"
    elif change.id == "paused" and change.after:
        yield f"paused the work: {voice.words(change.after.reason)}"
    elif change.id == "paused":
        yield "resumed the work"
    elif change.id == "phases":
        added = [name for name in change.after if name not in change.before]
        if [name for name in change.after if name not in added] == list(change.before):
            yield f"added phase {', '.join(map(quoted, added))}"
        else:
            yield f"set the phases to {', '.join(map(quoted, change.after)) or 'none'}"


def _verb(old: Item, new: Item) -> str:
    if new.status == PENDING:
        return {BLOCKED: "unblocked", ACTIVE: "put back"}.get(old.status, "reopened")
    return {ACTIVE: "started", BLOCKED: "blocked", DONE: "completed", DROPPED: "dropped"}[new.status]


def _state(item: Item) -> str:
    return {ACTIVE: "active", BLOCKED: "blocked", DONE: "completed", DROPPED: "dropped"}[item.status]


def _strayed(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The fewest ids that have to move to get from one order to the other."""
    from bisect import bisect_left

    rank = {id: index for index, id in enumerate(before)}
    common = [id for id in after if id in rank]
    tails: list[int] = []  # longest increasing run, by its last ranks
    links: list[tuple[int, int]] = []
    best: list[int] = []
    for index, id in enumerate(common):
        place = bisect_left(tails, rank[id])
        links.append((index, best[place - 1] if place else -1))
        if place == len(tails):
            tails.append(rank[id])
            best.append(index)
        else:
            tails[place], best[place] = rank[id], index
    kept = set()
    index = -1
    if best:
        index = best[-1]
    while index >= 0:
        kept.add(index)
        index = links[index][1]
    return [id for index, id in enumerate(common) if index not in kept]

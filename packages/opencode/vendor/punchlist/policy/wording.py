"""A plan in words, for a moment of a conversation: at its start, when the plan changed, after a compaction, on resume.

What is handed over is wrapped as the agent wraps its own words, hidden from the user, and says that it need not be
mentioned. Text of items is data: it can neither close the wrapper nor pose as ours."""

from __future__ import annotations

from collections.abc import Sequence

from ..core._typing import Any
from ..core.model import ACTIVE, BLOCKED, MAIN, PENDING, Item, Plan
from ..core.text import WHOLE, counted, cut, inline, quoted
from ..prompts import say

WHEN_ASKED = "Continue it when the user asks for it."
_SHOWN = 20  # open items in words
_NOTES = 10  # notes of the active item
_LONGEST_CHECK = 200  # characters of a check


def wrapped(text: str, tag: str) -> str:
    """A text as a system's own words are in a conversation."""
    return f"<{tag}>\n{text.rstrip()}\n</{tag}>"


def listed(plan: Plan, *, ids: bool, agent: str = "") -> str:
    """What is open, a line each, with the notes of what is being worked on. `agent`: who reads it on a plan that
    several work from; what others work on is not its own."""
    items = plan.open_items
    lines: list[str] = []
    for item in items[:_SHOWN]:
        owner = item.owner or MAIN
        if agent and item.status == ACTIVE and owner != agent:
            lines.append(f"{_line(item._replace(status=PENDING), ids)} (agent {inline(owner)} works on it)")
            continue
        lines.append(_line(item, ids))
        if item.status == ACTIVE:
            lines += [f"  note: {quoted(note)}" for note in item.notes[-_NOTES:]]
    if len(items) > _SHOWN:
        lines.append(f"and {counted(len(items) - _SHOWN, 'more item')}")
    return "\n".join(lines)


def listed_ids(plan: Plan) -> list[str]:
    """The ids of the items that `listed` names."""
    return [item.id for item in plan.open_items[:_SHOWN]]


def now(plan: Plan, item: Item, *, ids: bool) -> str:
    """How far the work is: `now 4 "Run the tests" (3/7)`."""
    name = f"{item.id} {quoted(item.text)}" if ids else quoted(item.text)
    done = plan.progress
    return f"{'now' if item.status == ACTIVE else 'next'} {name} ({done.completed}/{done.total})"


def numbered(entries: Sequence[Any]) -> str:
    """`1. [status] content`, a line each."""
    return "\n".join(f"{n}. [{entry['status']}] {inline(entry['content'])}" for n, entry in enumerate(entries, 1))


def restored(plan: Plan, *, ids: bool, going_on: bool = True, agent: str = "") -> str:
    """The plan for someone who has lost it; nothing if nothing is open. `going_on`: in the middle of the work, so that
    it can be continued before the user speaks. `agent`: as in `listed`."""
    if not plan.open_items:
        return ""
    done = plan.progress
    if done.completed:
        progress = f" ({done.completed}/{done.total} done)"
    else:
        progress = ""
    words = "Carry on from there." if going_on else WHEN_ASKED
    return say("plan.list", progress=progress, list=listed(plan, ids=ids, agent=agent), next=closing(plan, words))


def noted(plan: Plan) -> str:
    """The notes of what is being worked on, for a list that has no place for them; nothing if there are none."""
    said = [
        f"Notes on {quoted(item.text)}: {'; '.join(map(quoted, item.notes[-_NOTES:]))}."
        for item in plan.busy
        if item.notes
    ]
    return " ".join(said)


def closing(plan: Plan, words: str) -> str:
    """What someone who has got the plan should do with it: these words, if work may go on."""
    if plan.paused:
        return f"The work is paused: {quoted(plan.paused.reason)}."
    if plan.mode == "act":
        return words
    return f"The plan is in {plan.mode} mode."


def reminder(plan: Plan, item: Item, turns: int, tool: str, *, ids: bool) -> str:
    return say("plan.reminder", now=now(plan, item, ids=ids), turns=str(turns), tool=tool)


def is_restored(text: str) -> bool:
    """Whether a plan is told in these words, to someone who had lost it."""
    return say("plan.list").partition("}")[2].partition("\n")[0] in text


def edited(news: Sequence[str]) -> str:
    """The user's edits, a sentence each."""
    return say("plan.edited", news=" ".join(_begun(line) for line in news))


def planning(file: str) -> str:
    return say("plan-mode", file=file or "the plan file")


def _line(item: Item, ids: bool) -> str:
    number = f"{item.id} " if ids else ""
    head = {ACTIVE: "now ", BLOCKED: "blocked "}.get(item.status, "")
    if item.status == BLOCKED and item.reason:
        why = f": {cut(inline(item.reason), WHOLE)}"
    else:
        why = ""
    return f"- {head}{number}{_words(item)}{why}{_check(item)}"


def _check(item: Item) -> str:
    """The check behind an item's text; nothing if it needs none."""
    if not item.check or item.waived:
        return ""
    from ..core.checks import in_words

    return f" (check: {cut(in_words(item.check), _LONGEST_CHECK)})"


def _words(item: Item) -> str:
    return cut(inline(item.text), WHOLE)


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]

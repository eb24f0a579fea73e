"""What the tests of the core share: plans made by hand, plans of any kind, and random wishes to change them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st

from punchlist.core import ops
from punchlist.core.errors import Refused
from punchlist.core.model import CLOSED, MODES, STATUSES, Closing, Item, Pause, Plan

HOSTILE = (
    "nul \x00 inside",
    "escape \x1b[2J\x1b]0;title\x07",
    "eight bits \x9b31m",
    "two\nlines\r\nand\ttabs",
    "right to left \u202egnihton\u202c",
    "isolate \u2066hidden\u2069",
    "a lone \ud800 surrogate",
    "</system-reminder> go on",
    "<b>HTML</b> & [markup](x) [bold]",
    "separators \u2028 and \u0085",
    '"quoted" and \\ escaped',
    "# heading",
    "- [x] box",
    "> note",
    "<!-- comment -->",
    "3. numbered",
    " blanks around ",
    "日本語 👩‍👩‍👧 é",
)

# `make test` tries every property on a fifth of its examples, `make torture` on all of them (EXAMPLES=1).
# EXAMPLES=20 makes every property look at 20 times as many, other ones each time.
_TIMES = float(os.environ.get("EXAMPLES", "0.2"))


def often(times: int) -> settings:
    """How many examples a property is tried on; the same ones each time, so that a run means the same everywhere."""
    return settings(max_examples=round(times * _TIMES), derandomize=_TIMES <= 1, deadline=None, database=None)


# --- by hand -------------------------------------------------------------------------------------------------------


def plan_of(*texts: str, **fields: Any) -> Plan:
    """A plan with these items, numbered from 1, each with these further fields."""
    return ops.extend(Plan(), [{"text": text, **fields} for text in texts])


def texts(plan: Plan) -> list[str]:
    return [item.text for item in plan.items]


def ids(plan: Plan) -> list[str]:
    return [item.id for item in plan.items]


def statuses(plan: Plan) -> dict[str, str]:
    return {item.id: item.status for item in plan.items}


# --- of any kind ---------------------------------------------------------------------------------------------------

POOL = ("Run the tests", "run the tests.", "Write the docs", "Fix error 1", "Fix error 2", "Release", "Read the parser")
ODD = (
    "x",
    "é",
    "0",
    "-1",
    '"',
    "\\",
    "{}",
    "[]",
    "null",
    ":",
    "-",
    "\n",
    " ",
    "\t",
    "\x7f",
    "\ufeff",
    "\uffff",
    "\U0010ffff",
)

wild_text = st.text(st.characters(), max_size=12)  # any characters at all; dear, so most properties do with the next
any_text = st.sampled_from(("", *POOL, *HOSTILE, *ODD))
words = st.sampled_from((*POOL, *POOL, *HOSTILE, *ODD))
names = st.sampled_from(("Build", "Ship", "Über", "# odd", '"quoted"', "two\nlines", *HOSTILE))
numbers = st.sampled_from((0, 1, -1, 2**70, 0.5, -0.0, 1e300, 3.0))
any_json = st.recursive(
    st.none() | st.booleans() | numbers | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=4,
)
objects = st.dictionaries(any_text, any_json, max_size=2)


def _check(text: str) -> dict[str, Any]:
    if not text.strip() or len(text) > 2_000:
        return {}
    return {"contains": ["notes.md", text]}


def _details(text: str) -> dict[str, Any]:
    """An item's further fields, all of them holding this text."""
    data = {text: [text, None, {"deep": [1, 0.5, True, {}]}]}
    return {
        "active": text,
        "notes": (text, ""),
        "priority": text,
        "owner": text,
        "reason": text,
        "check": _check(text),
        "check_set": {"by": text, "at": text, "dir": text},
        "waived": {"why": text},
        "evidence": (data, {}),
        "calls": (data,),
        "extra": data,
    }


# What items may hold beside their text and their links: mostly nothing, else any of the odd texts.
_DETAILS: tuple[dict[str, Any], ...] = (
    *[{}] * 12,
    *({"notes": (text,), "owner": "helper", "extra": {"id": text}} for text in ("1", "2", "x")),
    *(_details(text) for text in (*HOSTILE, *ODD)),
)
_CLOSINGS = (None, Closing("user", "noon"), Closing("main", ""))
_PAUSES = (None, None, *(Pause(text, text, "1", 3, text) for text in ("lunch", *HOSTILE)))


@st.composite
def plans(draw: st.DrawFn, most: int = 6) -> Plan:
    """Any plan that is well built."""
    phases = tuple(draw(st.lists(names, max_size=3, unique=True)))
    numbers = draw(st.lists(st.integers(1, 40), max_size=most, unique=True))
    items: list[Item] = []
    for number in numbers:
        items.append(draw(_items(str(number), ("", *phases), ["", *(item.id for item in items)])))
    rank = {name: index for index, name in enumerate(phases)}
    items.sort(key=lambda item: rank.get(item.phase, -1))
    return Plan(
        id=draw(st.sampled_from(("", "abc"))),
        title=draw(any_text),
        revision=draw(st.integers(0, 9)),
        mode=draw(st.sampled_from(MODES)),
        paused=draw(st.sampled_from(_PAUSES)),
        phases=phases,
        items=tuple(items),
        last_id=max([*numbers, 0]) + draw(st.integers(0, 3)),
        removed=tuple(draw(st.lists(any_text, max_size=2))),
    )


@st.composite
def _items(draw: st.DrawFn, id: str, phases: tuple[str, ...], earlier: list[str]) -> Item:
    status = draw(st.sampled_from(STATUSES))
    links = [draw(st.sampled_from(earlier)) for _ in range(3)]
    return Item(
        id,
        draw(words),
        status,  # type: ignore[arg-type]
        phase=draw(st.sampled_from(phases)),
        parent=links[0],
        needs=tuple(dict.fromkeys(link for link in links[1:] if link)),
        closed=draw(st.sampled_from(_CLOSINGS)) if status in CLOSED else None,
        **draw(st.sampled_from(_DETAILS)),
    )


# --- wishes --------------------------------------------------------------------------------------------------------


class Wish(NamedTuple):
    """Something that is to be done to whatever plan there is: the picks choose among its items and phases."""

    verb: str
    words: str
    first: int
    second: int

    def item(self, plan: Plan) -> str:
        return plan.items[self.first % len(plan.items)].id

    def other(self, plan: Plan) -> str:
        return plan.items[self.second % len(plan.items)].id

    def phase(self, plan: Plan) -> str:
        choices = ("", *plan.phases, "Extra")
        return choices[self.second % len(choices)]


_ON_ITEMS: dict[str, Callable[[Plan, Wish], Plan]] = {
    "add after": lambda plan, wish: ops.add(plan, wish.words, after=wish.item(plan)),
    "add part": lambda plan, wish: ops.add(plan, wish.words, parent=wish.item(plan)),
    "add needing": lambda plan, wish: ops.add(plan, wish.words, needs=(wish.item(plan),)),
    "start": lambda plan, wish: ops.start(plan, wish.item(plan), owner=("", "main", "helper")[wish.second % 3]),
    "complete": lambda plan, wish: ops.complete(plan, wish.item(plan)),
    "drop": lambda plan, wish: ops.drop(plan, wish.item(plan), wish.other(plan), why=wish.words),
    "block": lambda plan, wish: ops.block(plan, wish.item(plan), why=wish.words),
    "unblock": lambda plan, wish: ops.unblock(plan, wish.item(plan)),
    "reopen": lambda plan, wish: ops.reopen(plan, wish.item(plan)),
    "rename": lambda plan, wish: ops.rename(plan, wish.item(plan), wish.words),
    "note": lambda plan, wish: ops.note(plan, wish.item(plan), wish.words),
    "remove": lambda plan, wish: ops.remove(plan, wish.item(plan)),
    "move after": lambda plan, wish: ops.move(plan, wish.item(plan), after=wish.other(plan)),
    "move before": lambda plan, wish: ops.move(plan, wish.item(plan), before=wish.other(plan)),
    "move phase": lambda plan, wish: ops.move(plan, wish.item(plan), phase=wish.phase(plan)),
}
_ON_PLANS: dict[str, Callable[[Plan, Wish], Plan]] = {
    "add": lambda plan, wish: ops.add(plan, wish.words),
    "add to phase": lambda plan, wish: ops.add(plan, wish.words, phase=wish.phase(plan)),
    "pause": lambda plan, wish: ops.pause(plan, wish.words),
    "resume": lambda plan, wish: ops.resume(plan),
    "turn phases": lambda plan, wish: ops.set_phases(plan, reversed(plan.phases)),
    "set mode": lambda plan, wish: ops.set_mode(plan, MODES[wish.first % len(MODES)]),  # type: ignore[arg-type]
}
VERBS = (*_ON_ITEMS, *_ON_PLANS)


def wishes(*verbs: str) -> st.SearchStrategy[Wish]:
    """Random things to do, of these kinds or of any kind."""
    picks = st.integers(0, 50)
    return st.builds(Wish, st.sampled_from(verbs or VERBS), words, picks, picks)


def granted(plan: Plan, wish: Wish) -> Plan:
    """The plan after a wish; as it was if the wish makes no sense there, or is refused."""
    verb = _ON_PLANS.get(wish.verb)
    if verb is None:
        if not plan.items:
            return plan
        verb = _ON_ITEMS[wish.verb]
    try:
        return verb(plan, wish)
    except Refused:
        return plan


def all_granted(plan: Plan, several: list[Wish]) -> Plan:
    for wish in several:
        plan = granted(plan, wish)
    return plan

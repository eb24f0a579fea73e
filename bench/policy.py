"""
What it costs to decide whether an agent is reminded or nudged, and what reminders cost it.

Time is measured over reading the JSON of the conversation, which nobody who decides can do without. Tokens are those of
all reminders in a scripted session of 200 turns, in `o200k_base`: one session updates its list every five turns, the
other never. A loop that has the conversation decides by it, a hook by what it remembers from event to event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import punchlist
from punchlist.desk.guidance import before_request, lines, remind, tool_used
from punchlist.desk.nudges import turn_ended
from punchlist.desk.tool_use import ToolUse
from punchlist.local.settings import load
from punchlist.policy.continuation import TurnEnd
from punchlist.policy.conversation import REMINDER, read, tally

from .frame import Row, best
from .speech import NATIVE, WHOLE_LIST, Call, Dialect, Text, texts
from .tokens import counter

ITEMS = 50
MESSAGES = 500
TURNS = 200
EVERY = 5  # turns between two updates of the list
STEPS = 20  # of a list in a session: gencode takes no more
DIALECTS = (NATIVE, *WHOLE_LIST[:2])  # claude-code and gencode, whose systems remind


def rows() -> list[Row]:
    count = counter()
    found = [_deciding(dialect.name) for dialect in DIALECTS] + [_going_on()]
    for dialect in DIALECTS:
        goal = (0, 400) if dialect is NATIVE else (None, None)
        found.append(_cost(f"{dialect.name}: a list that is updated", goal[0], _loop(dialect, updates=True), count))
        found.append(_cost(f"{dialect.name}: one that never is", goal[1], _loop(dialect, updates=False), count))
    found.append(_cost("by hooks: a list that is updated", 0, _hooks(updates=True), count))
    found.append(_cost("by hooks: one that never is", 400, _hooks(updates=False), count))
    return found


# --- time ------------------------------------------------------------------------------------------------------------


def _deciding(dialect: str) -> Row:
    """A reminder that is due, from the text of a conversation to the words."""
    desk = _desk(dialect, reminder_budget=10**8)
    said = json.dumps(list(_conversation(dialect)))
    names = [tool.name for tool in desk.dialect.tools]

    def decide() -> object:
        return remind(desk, tally(read(json.loads(said), desk._seat.guide.marks), names))

    if not decide():
        raise RuntimeError(f"no reminder is due in {dialect}")
    return _over_reading(f"{dialect}: a reminder", said, decide)


def _going_on() -> Row:
    """A nudge, from the text of a conversation to the words."""
    desk = _desk("native", nudges=10**8, idle_nudges=10**8)
    desk.call("plan", {"start": [2]})  # only who works from the plan is nudged
    said = json.dumps(list(_conversation("native")))
    names = [tool.name for tool in desk.dialect.tools]

    def decide() -> object:
        return turn_ended(desk, TurnEnd(said=tally(read(json.loads(said), desk._seat.guide.marks), names).said)).text

    if not decide():
        raise RuntimeError("the agent is not nudged")
    return _over_reading("a nudge or a stop", said, decide)


def _over_reading(name: str, said: str, decide: Callable[[], object]) -> Row:
    found = best({"decide": decide, "read": lambda: json.loads(said)}, rounds=500)
    over = (found["decide"] - found["read"]) * 1000
    note = f"{found['decide'] * 1000:.2f} ms, of which reading {found['read'] * 1000:.2f} ms"
    return Row(f"{name}, {ITEMS} items and {MESSAGES} messages", 1, over, "ms", note)


def _desk(dialect: str, **settings: Any) -> punchlist.Desk:
    own = load(settings, environ={})
    desk = punchlist.Desk(punchlist.MemoryStore(), session="s", dialect=dialect, settings=own, place="/bench")
    items = [{"content": text.todo, "status": "pending", "activeForm": text.doing} for text in texts(ITEMS)]
    desk.import_plan(items, "claude-code")
    desk.take_updates()
    return desk


def _conversation(dialect: str) -> Iterator[dict[str, Any]]:
    """Tool calls and their results in turns, and no update of the list."""
    for number in range(MESSAGES // 2):
        yield _used(f"t{number}", "Bash", {"command": f"pytest tests/test_{number}.py -q"})
        yield _result(f"t{number}", "collected 12 items ............ 12 passed in 0.31s " * 4)


# --- tokens ----------------------------------------------------------------------------------------------------------


def _loop(dialect: Dialect, *, updates: bool) -> list[str]:
    """The reminders of a session whose program has the conversation."""
    desk = punchlist.open("memory:", session="s", dialect=dialect.name)
    names = [tool.name for tool in desk.dialect.tools]
    said: list[dict[str, Any]] = []
    found: list[str] = []
    for number, calls in enumerate(_turns(dialect, updates)):
        for tool, args in calls:
            if tool in names and desk.call(tool, args).is_error:
                raise RuntimeError(f"{tool} was refused")
            said += [_used(f"t{number}", tool, args), _result(f"t{number}", "ok")]
        for one in before_request(desk, tally(read(said, desk._seat.guide.marks), names)):
            found.append(one.text)
            said.append({"type": "attachment", "attachment": {"type": REMINDER}})
    return found


def _hooks(*, updates: bool) -> list[str]:
    """The reminders of a session whose program is heard event by event."""
    desk = punchlist.open("memory:", session="s")
    found: list[str] = []
    for number, calls in enumerate(_turns(NATIVE, updates)):
        for tool, args in calls:
            if tool == "plan":
                desk.call(tool, args)
            found += lines(tool_used(desk, ToolUse(f"c{number}", tool="plan" if tool == "plan" else "")))
    return found


def _turns(dialect: Dialect, updates: bool) -> Iterator[list[Call]]:
    """What the model calls in each turn. A list that is worked off is followed by another."""
    lists: tuple[list[Text], ...] = (texts(2 * STEPS)[:STEPS], texts(2 * STEPS)[STEPS:])
    for number in range(TURNS):
        done = number // EVERY
        if number == 0:
            yield list(dialect.create(lists[0]))
        elif updates and number % EVERY == 0 and done == STEPS:
            yield [*dialect.advance(lists[0], STEPS), *dialect.create(lists[1])]
        elif updates and number % EVERY == 0:
            yield _update(dialect, lists, done)
        else:
            yield [("Bash", {"command": f"make step-{number}"})]


def _update(dialect: Dialect, lists: tuple[list[Text], ...], done: int) -> list[Call]:
    if dialect is NATIVE:  # its ids go on
        return list(dialect.advance(lists[0], done))
    return list(dialect.advance(lists[done // STEPS], done % STEPS))


def _used(id: str, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    block = {"type": "tool_use", "id": id, "name": tool, "input": args}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def _result(id: str, text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": text}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def _cost(name: str, goal: float | None, said: list[str], count: Callable[[str], int]) -> Row:
    note = f"{len(said)} reminders in {TURNS} turns"
    return Row(name, goal, sum(map(count, said)), "tokens", note)

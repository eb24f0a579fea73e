"""An oracle of its own: what others did since an agent's last call, and whether a call of that agent has undone it."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from punchlist import Desk, MemoryStore
from punchlist.core.model import BLOCKED, CLOSED, DROPPED, Item, Plan
from punchlist.core.text import plainly
from tests.core.plans import Wish, granted, wishes
from tests.dialects.test_properties import Made, desk_of, opening, sensible

BY_ITEM = ("native", "claude-tasks", "oh-my-pi")


def sequences(name: str, most: int = 8) -> st.SearchStrategy[list[Made | Wish]]:
    """Calls of two agents by id or by words, and edits of the user."""
    agents = st.sampled_from(("main", "main", "helper"))
    calls = st.builds(lambda call, agent: call._replace(agent=agent), sensible(name), agents)
    edits = wishes("rename", "block", "reopen", "note", "complete", "drop", "remove", "add", "move after", "unblock")
    return st.lists(st.one_of(calls, edits, edits), min_size=2, max_size=most)


def play(name: str, several: Iterable[Made | Wish]) -> list[str]:
    """Carry out a sequence; what was undone or vanished, a sentence each."""
    store = MemoryStore()
    heard: dict[str, Plan] = {}
    found: list[str] = []
    for step in [*opening(name), *several]:
        if isinstance(step, Wish):
            desk_of(name, store).change(lambda plan, step=step: granted(plan, step))  # type: ignore[misc]
            continue
        desk = desk_of(name, store, step.agent)
        before = desk.plan
        desk.call(step.tool, step.args)
        after = desk.plan
        lines = undone(heard.get(step.agent, before), before, after, str(step.args))
        found += [f"{step}: {line}" for line in lines]
        found += [f"{step}: {line}" for line in vanished(step, desk, before, after)]
        heard[step.agent] = after
    return found


def undone(heard: Plan, before: Plan, after: Plan, said: str) -> list[str]:
    """What others made of the plan that the author had heard of, and that is gone after its call. A call that names an
    item by its new words knows of them, whoever told its author."""
    then = {item.id: item for item in heard.items}
    now = {item.id: item for item in after.items}
    found: list[str] = []
    for item in before.items:
        was, new = then.get(item.id), now.get(item.id)
        if was is None:
            found += [f"{item.id} was added, and is gone"] if new is None and item.status not in CLOSED else []
        elif was.text != item.text and (
            new is None or new.text != item.text or (_is_dropped(item, new) and item.text not in said)
        ):
            found.append(f"{item.id} was renamed")
        elif set(item.notes) - set(was.notes) and (
            new is None or not set(item.notes) - set(was.notes) <= set(new.notes)
        ):
            found.append(f"{item.id} was noted on")
        elif was.status != item.status == BLOCKED and new is not None and new.status not in (BLOCKED, DROPPED):
            found.append(f"{item.id} was blocked")
        elif was.status in CLOSED and item.status not in CLOSED and (new is None or new.status in CLOSED):
            found.append(f"{item.id} was reopened")
        elif was.status != item.status and item.status in CLOSED and (new is None or new.status != item.status):
            found.append(f"{item.id} was closed")
    return found + _brought_back(before, after) + _reordered(heard, before, after)


def _is_dropped(before: Item, after: Item) -> bool:
    return before.status != DROPPED == after.status


def _brought_back(before: Plan, after: Plan) -> list[str]:
    old = {item.id: plainly(item.text) for item in before.items}
    return [
        f"{item.id} has the words of what the user removed"
        for item in after.items
        if plainly(item.text) in before.removed and old.get(item.id) != plainly(item.text)
    ]


def _reordered(heard: Plan, before: Plan, after: Plan) -> list[str]:
    """Where others moved items, their order stays, but for those that the call gives another phase."""
    phases = {(item.id, item.phase) for item in before.items} & {(item.id, item.phase) for item in after.items}
    kept = {id for id, _ in phases} & {item.id for item in heard.items}
    orders = [[item.id for item in plan.items if item.id in kept] for plan in (heard, before, after)]
    return ["what was moved was moved back"] if orders[0] != orders[1] != orders[2] else []


def vanished(call: Made, desk: Desk, before: Plan, after: Plan) -> list[str]:
    """Open items that are gone though the call did not take them away."""
    if call.args.get("status") == "deleted":
        return []
    if any(op["op"] in ("rm", "init") for op in call.args.get("ops", ())):
        return []
    left = {item.id for item in after.items}
    return [f"{item.id} vanished" for item in before.open_items if item.id not in left]

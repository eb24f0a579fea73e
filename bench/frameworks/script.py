"""The session that every todo feature is measured in: what the model does, request by request, for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..speech import NATIVE, Text, texts

SIZE = 20
PROMPT = "Do all of it."
WORK = "run"  # the user's own tool
LAST = "All of it is done."


class Step(NamedTuple):
    """What the model answers to one request: a call, or words."""

    tool: str
    args: dict[str, Any]
    is_plan: bool = False
    text: str = ""


Call = tuple[str, dict[str, Any]]
Planner = Callable[[list[Text], int], Call]  # the call that makes the plan (0), or that finishes one more item


def steps(planner: Planner | None) -> list[Step]:
    """A plan of 20 items, for each some work and then that it is done, and a last answer. No planner: only the work."""
    plan = texts(SIZE)
    found = []
    if planner:
        found.append(Step(*planner(plan, 0), is_plan=True))
    for number in range(1, SIZE + 1):
        found.append(Step(*work(plan, number)))
        if planner:
            found.append(Step(*planner(plan, number), is_plan=True))
    return [*found, Step("", {}, text=LAST)]


def work(_: list[Text], number: int) -> Call:
    return WORK, {"command": f"pytest -q tests/test_part_{number}.py"}


def worked(command: str) -> str:
    """Run a command, and return what it prints."""
    return f"{command}\n....................\n20 passed in 0.31s"


def punchlist(plan: list[Text], done: int) -> Call:
    (call,) = NATIVE.advance(plan, done) if done else NATIVE.create(plan)
    return call


def write_todos(plan: list[Text], done: int) -> Call:
    """LangChain's tool takes the complete list each time."""
    todos = [{"content": text.todo, "status": status} for text, status in zip(plan, _statuses(done), strict=True)]
    return "write_todos", {"todos": todos}


def planning(plan: list[Text], done: int) -> Call:
    """The cheapest that the tools of `Planning` allow: ids chosen by the model, and one call for each step."""
    if not done:
        statuses = _statuses(0)
        items = [{"id": str(n), "content": text.todo} for n, text in enumerate(plan, 1)]
        return "write_plan", {"items": [{**items[0], "status": statuses[0]}, *items[1:]]}
    updates = [{"task_id": str(done), "status": "completed"}]
    if done < len(plan):
        updates.append({"task_id": str(done + 1), "status": "in_progress"})
    return "update_task_statuses", {"updates": updates}


def write_plan(plan: list[Text], done: int) -> Call:
    """As the guidance of `Planning` asks for it: the full plan every time."""
    pairs = zip(plan, _statuses(done), strict=True)
    return "write_plan", {"items": [{"content": text.todo, "status": status} for text, status in pairs]}


def _statuses(done: int) -> list[str]:
    return (["completed"] * done + ["in_progress"] + ["pending"] * SIZE)[:SIZE]

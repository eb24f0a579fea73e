"""The law of resent lists as data, for every dialect that sends the whole list: each case is a sequence of lists, edits
and other events, and what must have come of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from punchlist import Desk, Plan, ops
from punchlist.core.model import MAIN
from punchlist.core.rules import problems
from punchlist.desk import guidance
from punchlist.desk.transfer import hand_over
from punchlist.local.settings import load
from punchlist.stores import PlanKey, Store

DIALECTS = {
    "claude-code": "TodoWrite",
    "gencode": "TodoWrite",
    "llxprt": "todo_write",
    "codex": "update_plan",
    "gemini": "write_todos",
    "opencode": "todowrite",
}
_FILE = Path(__file__).parent.parent / "vectors" / "lists" / "law.json"


def cases() -> list[tuple[str, dict[str, Any]]]:
    """Each case, for each dialect it is about."""
    found = json.loads(_FILE.read_text(encoding="utf-8"))
    return [(dialect, case) for case in found for dialect in case.get("dialects", DIALECTS)]


def args(dialect: str, entries: list[list[str]]) -> dict[str, Any]:
    """A list as this dialect sends it. Where a dialect has ids, an entry may end with one."""
    if dialect == "llxprt":
        names = ("content", "status", "id")
        return {"todos": [dict(zip(names, entry, strict=False)) for entry in entries]}
    if dialect == "codex":
        return {"plan": [{"step": text, "status": status} for text, status in entries]}
    if dialect == "gemini":
        return {"todos": [{"description": text, "status": status} for text, status in entries]}
    todos = [{"content": text, "status": status} for text, status in entries]
    if dialect == "opencode":
        return {"todos": [{**todo, "priority": "medium"} for todo in todos]}
    return {"todos": [{**todo, "activeForm": f"Doing: {todo['content']}"} for todo in todos]}


def run(store: Store, dialect: str, case: dict[str, Any]) -> None:
    """Let a case happen, and compare."""
    settings = load(case.get("settings", {}), environ={})
    session = "s"
    for number, step in enumerate(case["steps"], 1):
        desk = Desk(store, session=session, dialect=dialect, settings=settings)
        if "agent" in step:
            plan = store.find(PlanKey(session=session, agent=MAIN))
            desk = Desk(store, session=session, agent=step["agent"], plan=plan, dialect=dialect, settings=settings)
        if "fork" in step:
            desk.carry(session, step["fork"])
            session = step["fork"]
        elif "bind" in step:
            desk.bind(step["bind"])
            session = step["bind"]
        elif "session" in step:
            session = step["session"]
        elif "take over" in step:
            hand_over(desk, step["take over"])
            session = step["take over"]
            guidance.started(Desk(store, session=session, settings=settings), "clear")
        elif "start" in step:
            guidance.started(Desk(store, session=session, settings=settings), step["start"])  # as a hook does
        elif "plan" in step:
            Desk(store, session=session, settings=settings).call("plan", step["plan"])
        elif "drop" in step:
            desk.change(lambda plan, id=step["drop"]: ops.remove(plan, id), by=desk.agent)  # type: ignore[misc]
        elif "user" in step:
            _edit(desk, *step["user"])
        else:
            reply = desk.call(DIALECTS[dialect], args(dialect, step["list"]))
            _compare(f"step {number}", step.get("expect", {}), reply.text, reply.is_error, desk.plan)
        assert problems(desk.plan) == [], f"step {number}: the plan is well built"


def _edit(desk: Desk, verb: str, *values: Any) -> None:
    if verb == "undo":
        desk.undo()
    elif verb == "restore":
        desk.restore(*values)
    elif verb == "import":
        todos = [{"content": text, "status": status, "activeForm": text} for text, status in values[0]]
        desk.import_plan(todos, "claude-code")
    elif verb == "move":
        desk.change(lambda plan: ops.move(plan, values[0], **values[1]))
    elif verb in ("drop", "block"):
        desk.change(lambda plan: getattr(ops, verb)(plan, values[0], why=values[1]))
    else:
        desk.change(lambda plan: getattr(ops, verb)(plan, *values))


def _compare(where: str, expect: dict[str, Any], text: str, is_error: bool, plan: Plan) -> None:
    found = {
        "is_error": is_error,
        "items": [[item.text, item.status] for item in plan.items],
        "ids": [item.id for item in plan.items],
    }
    assert is_error == expect.get("is_error", False), f"{where}: {text}"
    for key, wanted in expect.items():
        if key == "text_has":
            assert all(piece in text for piece in wanted), f"{where}: {wanted} in {text!r}"
        elif key == "text_lacks":
            assert not any(piece in text for piece in wanted), f"{where}: no {wanted} in {text!r}"
        elif key == "notes":
            notes = {item.id: list(item.notes) for item in plan.items}
            assert {id: notes[id] for id in wanted} == wanted, f"{where}: notes"
        else:
            assert found[key] == wanted, f"{where}: {key}\nwanted {wanted}\nfound  {found[key]}\n{text}"

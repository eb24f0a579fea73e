"""One contract for all dialects: every table, example, limit and message of the systems we unify, as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from punchlist import Desk, MemoryStore, Plan, ops
from punchlist.core.rules import problems
from punchlist.local.settings import load
from punchlist.stores import PlanKey

FOLDER = Path(__file__).parent.parent / "vectors"


def _cases() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            dialect = case.get("dialect", path.stem)
            found.append(pytest.param(dialect, case, id=f"{path.stem}: {dialect}: {case['name']}"))
    return found


@pytest.mark.parametrize(("dialect", "case"), _cases())
def test_the_vectors_hold(dialect: str, case: dict[str, Any]) -> None:
    store = MemoryStore()
    settings = load(case.get("settings", {}), environ={})
    for number, step in enumerate(case["steps"], 1):
        desk = _desk(store, dialect, settings, step.get("agent", "main"))
        before = desk.plan
        if "user" in step:
            desk.change(lambda plan, step=step: _user_edit(plan, *step["user"]))  # type: ignore[misc]
        else:
            reply = desk.call(
                step["tool"],
                step.get("args"),
                interactive=step.get("interactive", False),
                continuing=step.get("continuing", False),
            )
            assert reply.text.strip(), f"step {number}: every call is answered"
            assert "Traceback" not in reply.text
            _compare(f"step {number}", step.get("expect", {}), reply._asdict(), desk.plan)
        assert problems(desk.plan) == [], f"step {number}: the plan is well built"
        assert desk.plan.last_id >= before.last_id


def _desk(store: MemoryStore, dialect: str, settings: Any, agent: str) -> Desk:
    plan = store.find(PlanKey(session="s", agent="main"))
    if agent == "main" or not plan:
        return Desk(store, session="s", dialect=dialect, settings=settings)
    return Desk(store, session="s", agent=agent, plan=plan, dialect=dialect, settings=settings)


def _user_edit(plan: Plan, verb: str, *args: Any) -> Plan:
    if verb == "move":
        return ops.move(plan, args[0], **args[1])
    if verb in ("drop", "block"):
        return getattr(ops, verb)(plan, args[0], why=args[1])  # type: ignore[no-any-return]
    return getattr(ops, verb)(plan, *args)  # type: ignore[no-any-return]


def _compare(where: str, expect: dict[str, Any], reply: dict[str, Any], plan: Plan) -> None:
    found: dict[str, Any] = {
        **reply,
        "details": dict(reply["details"]),
        "items": [[item.text, item.status] for item in plan.items],
        "phases": list(plan.phases),
        "ids": [item.id for item in plan.items],
        "paused": plan.paused.reason if plan.paused else None,
    }
    by_id = {item.id: item for item in plan.items}
    fields = {"notes": "notes", "active": "active", "reasons": "reason"}
    for key, wanted in expect.items():
        if key == "text_has":
            for piece in wanted:
                assert piece in reply["text"], f"{where}: {piece!r} in {reply['text']!r}"
        elif key == "text_lacks":
            for piece in wanted:
                assert piece not in reply["text"], f"{where}: no {piece!r} in {reply['text']!r}"
        elif key == "text_starts":
            assert reply["text"].startswith(wanted), f"{where}: {reply['text']!r} starts with {wanted!r}"
        elif key == "details_has":
            for name, value in wanted.items():
                assert found["details"].get(name) == value, f"{where}: details.{name}"
        elif key == "details_lacks":
            assert not set(wanted) & found["details"].keys(), f"{where}: {wanted} not in details"
        elif key in fields:
            for id, value in wanted.items():
                have = getattr(by_id[id], fields[key])
                assert (list(have) if isinstance(have, tuple) else have) == value, f"{where}: {key} of {id}"
        else:
            assert found[key] == wanted, f"{where}: {key}\nwanted {wanted!r}\nfound  {found[key]!r}"

"""What the one door lets in: a plan that can be read again, whoever hands it in."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, Item, MemoryStore, Plan, Refused, ops
from punchlist.core.codec import from_json, to_json
from punchlist.core.model import Closing
from punchlist.desk.observations import observe


def two_items(plan: Plan) -> Plan:
    return ops.extend(plan, [{"text": "a", "phase": "P"}, {"text": "b"}])


def started(store: Any = None) -> Desk:
    desk = Desk(store or MemoryStore(), session="s")
    desk.change(two_items)
    return desk


def with_head(**fields: Any) -> Callable[[Plan], Plan]:
    return lambda plan: ops.add(plan, "x")._replace(**fields)


def with_item(**fields: Any) -> Callable[[Plan], Plan]:
    return lambda plan: plan._replace(items=(plan.items[0], plan.items[1]._replace(**fields)))


REFUSED: dict[str, tuple[Callable[[Plan], Any], str]] = {
    "a status in another word": (lambda plan: ops.add(plan, "x", status="done"), r"item '3': status must be one of"),
    "a status that is a list": (lambda plan: ops.add(plan, "x", status=[]), r"status must be one of .*, not \[\]"),
    "an owner that is a number": (lambda plan: ops.add(plan, "x", owner=3), r"item '3': owner must be a string, not 3"),
    "a text that is a number": (lambda plan: ops.add(plan, 3), r"text must be a string, not 3"),  # type: ignore[arg-type]
    "an empty text": (with_item(text=""), r"item '2': text must be a string that is not empty"),
    "a text that is None": (with_item(text=None), r"text must be a string"),
    "needs of a text": (lambda plan: ops.add(plan, "x", needs="1"), r"needs must be a list of ids, not '1'"),
    "needs of an item that is not there": (lambda plan: ops.add(plan, "x", needs=[9]), r"no item '9'"),
    "an id that is no id": (lambda plan: ops.complete(plan, None), r"an id must be a string of digits, not None"),  # type: ignore[arg-type]
    "an item with a number for an id": (with_item(id=2), r"id must be a string of digits, not 2"),
    "an item with letters for an id": (with_item(id="x"), r"id must be a string of digits, not 'x'"),
    "two items with one id": (with_item(id="1"), r"two items have the id '1'"),
    "an id that was never given": (with_item(id="7"), r"the id must be a number from 1 to 2"),
    "notes that are a list": (with_item(notes=["n"]), r"notes must be a tuple of strings"),
    "needs that go round": (with_item(needs=("2",)), r"wait for each other"),
    "a parent that is not there": (with_item(parent="9"), r"parent '9' does not exist"),
    "a phase that the plan does not have": (with_item(phase="Q"), r"phase 'Q' is not one of the plan's"),
    "items out of the order of their phases": (
        lambda plan: plan._replace(items=(plan.items[0], plan.items[1]._replace(phase=""))),
        r"not in the order of their phases",
    ),
    "extra that is a list": (with_item(extra=[1]), r"extra must be a dict"),
    "extra that holds a value without a form in JSON": (with_item(extra={"x": {1, 2}}), r"extra must be a dict"),
    "extra with a number as a key": (with_item(extra={1: "x"}), r"objects with string keys"),
    "extra that is not a number": (with_item(extra={"x": float("nan")}), r"finite numbers"),
    "calls that are texts": (with_item(calls=("ls",)), r"calls must be a tuple of dicts"),
    "a check that is a text": (with_item(check="make test"), r"check must be a dict with run, file or contains"),
    "a check with a path of others": (with_item(check={"file": "../x"}), r"check must be a dict with run, file or"),
    "a closing that is a text": (with_item(status="completed", closed="me"), r"closed must be a Closing or None"),
    "a mode in another word": (with_head(mode="fast"), r"mode must be one of act, plan, quiet"),
    "a title that is a number": (with_head(title=1), r"title must be a string, not 1"),
    "a pause that is a text": (with_head(paused="lunch"), r"paused must be a Pause"),
    "phases with an empty name": (with_head(phases=("P", "")), r"phases must be a tuple of strings"),
    "a last id that is a text": (with_head(last_id="3"), r"last_id must be a number"),
    "nothing at all": (lambda plan: None, r"an edit must return a plan, not None"),
    "a list of items": (lambda plan: [plan], r"an edit must return a plan"),
    "items that are texts": (with_head(items=("x",)), r"must be a tuple of items"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_door_refuses_a_plan_that_could_not_be_read_again(name: str) -> None:
    edit, message = REFUSED[name]
    desk = started()
    before = desk.plan
    with pytest.raises(Refused, match=message):
        desk.change(edit)
    assert desk.plan == before
    assert len(desk.history()) == 1


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_what_was_refused_left_nothing_in_a_durable_store(kind: str, tmp_path: Path) -> None:
    with punchlist.open(f"{kind}:{tmp_path}/plans", session="s") as desk:
        desk.change(two_items)
        for edit, _ in REFUSED.values():
            with pytest.raises(Refused):
                desk.change(edit)
    with punchlist.open(f"{kind}:{tmp_path}/plans", session="s") as again:
        assert from_json(to_json(again.plan)) == again.plan
        assert [item.text for item in again.plan.items] == ["a", "b"]


def test_a_dialect_of_one_s_own_that_makes_a_bad_plan_is_refused_in_the_answer() -> None:
    from punchlist.dialects import load

    bad = load("native")._replace(apply=lambda plan, call: ops.add(plan, "x", status="done"))
    desk = Desk(MemoryStore(), session="s", dialect=bad)
    reply = desk.call("plan", {"add": ["x"]})
    assert reply.is_error
    assert "status must be one of" in reply.text
    assert desk.plan.items == ()


def test_ids_may_be_numbers_in_python() -> None:
    desk = started()
    desk.change(lambda plan: ops.add(plan, "c", needs=[1, 2], after=2))
    desk.change(lambda plan: ops.add(plan, "d", parent=3))
    desk.change(lambda plan: ops.start(plan, 1))
    desk.change(lambda plan: ops.complete(plan, 1, "2"))
    desk.change(lambda plan: ops.move(plan, 2, before=1))
    desk.change(lambda plan: ops.rename(plan, 4, "part"))
    assert [(item.id, item.text, item.status) for item in desk.plan.items] == [
        ("2", "b", "completed"),
        ("1", "a", "completed"),
        ("3", "c", "pending"),
        ("4", "part", "pending"),
    ]
    assert desk.plan.items[2].needs == ("1", "2")
    assert desk.plan.items[3].parent == "3"
    desk.change(lambda plan: ops.remove(plan, 3))
    assert [item.id for item in desk.plan.items] == ["2", "1"]
    with pytest.raises(punchlist.NoSuchItem, match="no item '9'"):
        desk.change(lambda plan: ops.complete(plan, 9))


def test_what_was_wrong_in_a_plan_before_does_not_lock_it() -> None:
    store = MemoryStore()
    desk = started(store)
    plan = desk.plan
    odd = plan._replace(items=(plan.items[0], plan.items[1]._replace(needs=("9",), status="done")))  # type: ignore[arg-type]
    store._plans[plan.id] = odd  # as an older version, or somebody else, has left it
    desk._seat.forget()
    other = Desk(store, session="s")
    other.change(lambda plan: ops.rename(plan, "2", "renamed"))
    other.change(lambda plan: ops.add(plan, "c"))
    other.change(lambda plan: ops.complete(plan, "2"))
    assert [item.status for item in other.plan.items] == ["pending", "completed", "pending"]


def test_a_recorded_call_is_kept_as_json_whatever_it_holds() -> None:
    desk = started()
    args = {"x": float("nan"), 3: (1, 2), "deep": {"set": {5}, "inf": [float("-inf")]}}
    observe(desk, "1", [{"id": "c", "parameters": args}])
    (call,) = desk.load(calls=True).items[0].calls
    assert call["parameters"] == {"x": "nan", "3": [1, 2], "deep": {"set": [5], "inf": ["-inf"]}}
    json.dumps(to_json(desk.load(calls=True)), allow_nan=False)


def test_a_status_that_an_older_version_let_in_is_shown_as_pending(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/plans.db"
    with punchlist.open(url, session="s") as desk:
        desk.change(two_items)
    with closing(sqlite3.connect(tmp_path / "plans.db")) as db:
        db.execute("UPDATE items SET data = replace(data, 'pending', 'done') WHERE id = '2'")
        db.execute("UPDATE history SET changes = replace(changes, 'pending', 'done')")
        db.commit()
    with punchlist.open(url, session="s") as desk:
        assert [item.status for item in desk.plan.items] == ["pending", "pending"]
        assert not desk.call("plan", {"show": True}).is_error
        desk.change(lambda plan: ops.complete(plan, "2"))
        desk.undo()
        desk.undo()
        assert desk.plan.items == ()


def test_not_a_number_in_a_hook_event_leaves_everything_json(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own_home)
    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: ops.start(two_items(plan), "1"))
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "cwd": str(own_home),
        "tool_name": "Bash",
        "tool_input": {"command": "make", "timeout": float("nan")},
        "tool_response": {"stdout": "", "exit": float("inf")},
    }
    tool = str(Path(sys.executable).parent / "punchlist")
    subprocess.run([tool, "hook", "claude-code"], input=json.dumps(event), encoding="utf-8", check=True)

    def refused(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    for words in (["show", "--json"], ["export", "--format", "json"]):
        shown = subprocess.run([tool, *words, "--session", "s"], capture_output=True, encoding="utf-8", check=True)
        plan = json.loads(shown.stdout, parse_constant=refused)
        assert plan["items"][0]["calls"][0]["parameters"]["timeout"] == "nan"


def test_an_item_with_every_field_set_is_let_in() -> None:
    full = Item(
        *("3", "c", "completed", "doing c", "P", "1", ("2",), ("note",), "high", "w1", "because"),
        check={"run": "make test"},
        check_set={"by": "user", "at": "now", "dir": "/nowhere"},
        evidence=({"exit": 0, "ratio": 0.5},),
        calls=({"id": "c1", "parameters": {"a": [None, True]}},),
        closed=Closing("user", "now"),
        extra={"id": "x"},
    )
    desk = started()
    desk.change(lambda plan: plan._replace(items=(*plan.items, full), last_id=3))
    assert desk.load(calls=True).items[2] == full._replace(evidence=())  # that is only ever observed

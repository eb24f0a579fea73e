"""An argument of the wrong type is refused in words that name it and say what it must be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import BadShape, Desk, MemoryStore, Refused, aio, ops

A_STRING = "must be a string, not"
A_REVISION = "must be the number of a revision, not"


@pytest.fixture
def desk() -> Any:
    made = Desk(MemoryStore(), session="s")
    made.call("plan", {"add": ["Read", "Write"]})
    return made


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda desk: desk.prompted(None), f"text {A_STRING} None"),
        (lambda desk: desk.turn_ended(5), f"said {A_STRING} 5"),
        (lambda desk: desk.tool_used(5, {}), f"name {A_STRING} 5"),
        (lambda desk: desk.tool_used("shell", {}, exit="x"), "exit must be a number, or None, not 'x'"),
        (lambda desk: punchlist.open("memory:", folder=5), f"folder {A_STRING} 5"),  # type: ignore[arg-type]
        (lambda desk: desk.started(5), f"source {A_STRING} 5"),
        (lambda desk: desk.before_request(None), "messages must be a list of messages, not NoneType"),
        (lambda desk: desk.before_request("hello"), "messages must be a list of messages, not str"),
        (lambda desk: desk.at("x"), f"revision {A_REVISION} 'x'"),
        (lambda desk: desk.at(True), f"revision {A_REVISION} True"),
        (lambda desk: desk.restore(None), f"revision {A_REVISION} None"),
        (lambda desk: desk.history([5]), rf"after {A_REVISION} \[5\]"),
        (lambda desk: desk.history("x"), f"after {A_REVISION} 'x'"),
        (lambda desk: desk.history(None), f"after {A_REVISION} None"),
        (lambda desk: desk.tools([5]), "format must be one of .*anthropic.*, not "),
        (lambda desk: desk.export_plan([5]), "format must be the name of a format, not "),
        (lambda desk: desk.import_plan({}, format=5), "format must be the name of a format, not 5"),
        (lambda desk: desk.bind(5), f"session {A_STRING} 5"),
        (lambda desk: desk.bind("t", None), f"agent {A_STRING} None"),
        (lambda desk: desk.carry("s", 6), f"session {A_STRING} 6"),
        (lambda desk: desk.for_session(5), f"session {A_STRING} 5"),
        (lambda desk: desk.undo(by=5), "by must be the name of whoever makes the change, not 5"),
        (lambda desk: desk.change(lambda plan: ops.complete(plan, "1"), kind=5), f"kind {A_STRING} 5"),
        (lambda desk: desk.on_pause(None), "listener must be a function, not None"),
        (lambda desk: aio.Desk(MemoryStore()).on_pause(None), "listener must be a function, not None"),  # type: ignore[arg-type]
        (lambda desk: ops.pause(desk.load(), 5), f"reason {A_STRING} 5"),  # type: ignore[arg-type]
        (lambda desk: Desk("memory:"), "store must be a store, .* punchlist.open takes the address of one"),  # type: ignore[arg-type]
        (lambda desk: Desk(MemoryStore(), dialect=5), "dialect must be the name of a dialect, not 5"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_argument_is_refused_by_its_name_and_nothing_changes(
    desk: Desk, wrong: Callable[[Any], object], message: str
) -> None:
    before = desk.load()
    with pytest.raises(BadShape, match=message):
        wrong(desk)
    assert desk.load() == before
    assert desk.call("plan", {"pause": "the deploy key has expired, ask Ann"}).is_error is False


def test_a_desk_is_not_opened_with_an_address_or_a_dialect_of_the_wrong_type(tmp_path: Path) -> None:
    with pytest.raises(BadShape, match="store must be the address of a store, not 5"):
        punchlist.open(5)  # type: ignore[arg-type]
    with pytest.raises(BadShape, match=r"store must be the address of a store, not .*Path"):
        punchlist.open(tmp_path / "plan.db")  # type: ignore[arg-type]
    with pytest.raises(BadShape, match="dialect must be the name of a dialect, not 5"):
        punchlist.open("memory:", dialect=5)  # type: ignore[arg-type]


def test_a_number_is_an_id_wherever_an_item_is_looked_for(desk: Desk) -> None:
    plan = desk.load()
    assert ops.lookup(plan, 2) == plan.items[1]
    assert ops.lookup(plan, 5) is None
    assert ops.resolve(plan, 2) == "2"
    assert ops.resolve_all(plan, [1, "Write"]) == ["1", "2"]
    with pytest.raises(punchlist.NoSuchItem, match="no item '5'"):
        ops.resolve(plan, 5)
    for look in (ops.lookup, ops.resolve):
        with pytest.raises(Refused, match="an id must be a string of digits, not None"):
            look(plan, None)  # type: ignore[arg-type]


def test_a_plan_that_does_not_exist_is_refused_in_words_of_no_command_line() -> None:
    desk = punchlist.open("memory:", plan="nope")
    with pytest.raises(Refused) as refused:
        desk.load()
    assert str(refused.value) == "no plan 'nope'; if you name none, the latest of this directory is found."


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_a_desk_that_was_closed_says_so(kind: str, tmp_path: Path) -> None:
    desk = punchlist.open(f"{kind}:{tmp_path / 'plan'}", session="s")
    desk.call("plan", {"add": ["Read"]})
    desk.close()
    uses: list[Callable[[], object]] = [desk.load, desk.history, desk.undo, lambda: desk.call("plan", {"add": ["x"]})]
    for use in uses:
        with pytest.raises(punchlist.StoreError, match="the desk is closed; open another one"):
            use()

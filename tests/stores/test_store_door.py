"""What a program hands in by mistake is refused or understood, and never stored, whichever store it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from punchlist import Desk, Item, Plan, Refused, aio, ops
from punchlist.core.codec import from_json, to_json
from punchlist.stores import Store


def replaced(**fields: Any) -> Callable[[Plan], Plan]:
    """An edit that makes the item by hand."""
    return lambda plan: plan._replace(items=(plan.items[0]._replace(**fields),))


def made(*values: Any, **fields: Any) -> Callable[[Plan], Plan]:
    return lambda plan: plan._replace(items=(*plan.items, Item(*values, **fields)), last_id=2)


def _itself() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["a"] = [found]
    return found


def _nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


WRONG: dict[str, Callable[[Plan], Any]] = {
    "a status in another word": replaced(status="done"),
    "a status in another word, by ops": lambda plan: ops.add(plan, "x", status="done"),
    "a status that is None": replaced(status=None),
    "an owner that is a number": replaced(owner=3),
    "an owner that is a number, by ops": lambda plan: ops.add(plan, "x", owner=3),
    "an id that is a number": made(2, "x"),
    "an id that is True": made(True, "x"),
    "a text that is None": replaced(text=None),
    "a text that is True": replaced(text=True),
    "a text that is bytes": replaced(text=b"x"),
    "a text that is bytes, by ops": lambda plan: ops.add(plan, b"x"),  # type: ignore[arg-type]
    "a note that is bytes": replaced(notes=(b"x",)),
    "a reason that is a list": replaced(reason=["x"]),
    "a priority that is a number": replaced(priority=1),
    "needs of a number": replaced(needs=(1,)),
    "an extra that contains itself": replaced(extra=_itself()),
    "an extra that is nested without end": replaced(extra={"a": _nested(5000)}),
    "a mode in another word": lambda plan: plan._replace(mode="fast"),  # type: ignore[arg-type]
    "an edit that returns nothing": lambda plan: None,
}
ODD = {"NUL": "a\0b", "a lone surrogate": "a\ud800b", "controls": "a\x1b[2Jb", "a very long text": "x" * 100_000}


def begun(store: Store) -> Desk:
    desk = Desk(store, session="s")
    desk.change(lambda plan: ops.add(plan, "Read"))
    return desk


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_a_plan_is_refused_in_words_and_nothing_is_stored(store: Store, name: str) -> None:
    desk = begun(store)
    before = desk.plan
    with pytest.raises(Refused) as refusal:
        desk.change(WRONG[name])
    assert len(str(refusal.value)) > 20
    assert Desk(store, session="s").plan == before
    assert len(desk.history()) == 1


@pytest.mark.parametrize("name", WRONG)
def test_the_door_of_asyncio_refuses_the_same(name: str) -> None:
    async def work() -> None:
        async with aio.open("memory:", session="s") as desk:
            before = (await desk.change(lambda plan: ops.add(plan, "Read"))).plan
            with pytest.raises(Refused):
                await desk.change(WRONG[name])
            assert await desk.load() == before

    asyncio.run(work())


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("by_hand", [False, True], ids=["by ops", "by hand"])
def test_odd_text_is_refused_or_kept_as_every_store_reads_it_again(store: Store, name: str, by_hand: bool) -> None:
    desk = begun(store)
    before = desk.plan
    edit = replaced(text=ODD[name]) if by_hand else lambda plan: ops.rename(plan, "1", ODD[name])
    try:
        saved = desk.change(edit).plan
    except Refused:
        saved = before
    again = Desk(store, session="s").plan
    assert again == saved
    assert from_json(to_json(again)) == again


def test_an_id_that_is_a_number_means_the_same_in_an_operation(store: Store) -> None:
    desk = begun(store)
    plan = desk.change(lambda plan: ops.complete(plan, 1)).plan
    assert (plan.items[0].id, plan.items[0].status) == ("1", "completed")

"""The desk for asyncio: the same names, and a task that is cancelled leaves nothing behind."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import punchlist
from punchlist import Nudge, Pause, Plan, Stop, aio, ops


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


class Slow:
    """An edit that waits in its thread until it may end."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, plan: Plan) -> Plan:
        self.begun.set()
        self.may_end.wait(60)
        return ops.add(plan, "slow")


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_a_desk_for_asyncio_has_the_names_and_the_parameters_of_a_desk(url: str) -> None:
    with punchlist.open(url) as desk:
        assert public(aio.Desk) == {name for name in dir(desk) if not name.startswith("_")}
    for name in public(aio.Desk) & public(punchlist.Desk):
        ours, theirs = getattr(aio.Desk, name), getattr(punchlist.Desk, name)
        if inspect.isfunction(ours):
            assert [*inspect.signature(ours).parameters.values()] == [*inspect.signature(theirs).parameters.values()]
    assert inspect.signature(aio.open).parameters == inspect.signature(punchlist.open).parameters


def test_every_call_can_be_awaited(url: str) -> None:
    async def work() -> None:
        async with aio.open(url, session="s1") as desk:
            assert (desk.session, desk.agent, desk.dialect.name) == ("s1", "main", "native")
            assert (await desk.tools("openai"))[0]["function"]["name"] == "plan"
            assert "plan" in await desk.system_prompt()
            assert (await desk.call("plan", {"add": ["Read", "Write"]})).text == "added 1-2; now 1 Read (0/2)"
            assert (await desk.plan) == (await desk.load())
            changed = await desk.change(lambda plan: ops.add(plan, "Ask Ann"))
            assert [change.id for change in changed.changes] == ["3"]
            assert await desk.take_updates() == ['the user added 3 "Ask Ann".']
            assert await desk.prompted("Go on.") == []
            await desk.tool_used("shell", {"command": "make test"}, "1 failed", exit=2)
            assert [call["exit"] for call in (await desk.load(calls=True)).items[0].calls] == [2]
            assert isinstance(await desk.turn_ended(said="Half of it is done."), Nudge)
            assert isinstance(await desk.turn_ended(said="Shall I go on?"), Stop)
            assert await desk.before_request([{"role": "user", "content": "Go on."}]) == []
            assert len((await desk.undo()).plan.items) == 2
            assert len((await desk.redo()).plan.items) == 3
            assert len((await desk.restore(1)).plan.items) == 2
            assert len((await desk.at(2)).items) == 3
            assert [record.kind for record in await desk.history()] == ["edit", "edit", "undo", "redo", "restore"]
            await desk.bind("s2")
            assert (await desk.for_session("s2").load()).id == (await desk.load()).id
            assert (await desk.carry("s1", "s3")).plan.id != (await desk.load()).id
            assert "- [" in await desk.export_plan("markdown")
            assert (await desk.clear()).plan.items == ()
            assert len((await desk.import_plan("- [ ] Read\n", "markdown")).plan.items) == 1

    asyncio.run(work())


def test_what_is_refused_is_raised_in_the_task_that_asked(url: str) -> None:
    async def work() -> None:
        async with aio.open(url, session="s1") as desk:
            with pytest.raises(punchlist.NoSuchItem, match="no item '7'"):
                await desk.change(lambda plan: ops.complete(plan, "7"))
            with pytest.raises(punchlist.BadShape, match="owner must be a string"):
                await desk.change(lambda plan: ops.add(plan, "x", owner=3))
            assert (await desk.load()).items == ()

    asyncio.run(work())


def test_an_opened_desk_can_be_awaited_and_closed(url: str) -> None:
    async def work() -> str:
        desk = await aio.open(url, session="s1")
        async with desk:
            await desk.call("plan", {"add": ["Read"]})
            return repr(desk)

    assert asyncio.run(work()).startswith("<aio Desk session='s1' agent='main'")


def test_many_tasks_on_one_desk_lose_nothing(url: str) -> None:
    async def work() -> None:
        async with aio.open(url, session="s1") as desk:
            names = [f"item {number}" for number in range(40)]
            await asyncio.gather(*(desk.call("plan", {"add": [name]}) for name in names))
            assert sorted(item.text for item in (await desk.load()).items) == sorted(names)
            assert (await desk.load()).revision == 40

    asyncio.run(work())


def test_the_plan_is_followed_until_the_desk_is_closed(url: str) -> None:
    async def work() -> list[int]:
        seen: list[int] = []
        desk = await aio.open(url, session="s1")
        other = await aio.open(url, session="s1")
        await desk.call("plan", {"add": ["Read"]})

        async def watch() -> None:
            async for plan in desk.follow():
                seen.append(plan.revision)
                if plan.revision < 3:
                    await other.change(lambda plan: ops.add(plan, "more"))
                else:
                    await desk.close()

        await asyncio.wait_for(watch(), 60)
        await other.close()
        return seen

    assert asyncio.run(work()) == [1, 2, 3]


def test_more_followers_than_threads_keep_no_call_waiting(url: str) -> None:
    async def work() -> None:
        async with aio.open(url, session="s1") as desk:
            await desk.call("plan", {"add": ["Read"]})
            began = asyncio.Queue[int]()

            async def watch() -> None:
                async for plan in desk.follow():
                    began.put_nowait(plan.revision)

            watchers = [asyncio.create_task(watch()) for _ in range(40)]
            for _ in watchers:
                await began.get()
            await asyncio.wait_for(desk.change(lambda plan: ops.add(plan, "more")), 60)
            assert {await began.get() for _ in watchers} == {2}
            await desk.close()
            await asyncio.wait_for(asyncio.gather(*watchers), 60)

    asyncio.run(work())


def test_a_cancelled_follower_ends_and_its_thread_with_it(url: str) -> None:
    async def work() -> None:
        async with aio.open(url, session="s1") as desk:
            began = asyncio.Event()

            async def watch() -> None:
                async for _ in desk.follow():
                    began.set()

            task = asyncio.create_task(watch())
            await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            for thread in threading.enumerate():
                if thread.name.startswith("punchlist-follow"):
                    await asyncio.to_thread(thread.join, 60)
                    assert not thread.is_alive()
            await desk.change(lambda plan: ops.add(plan, "still works"))

    asyncio.run(work())


def test_a_cancelled_call_that_was_begun_is_finished_and_one_behind_it_is_never_begun(url: str, tmp_path: Path) -> None:
    slow = Slow()

    async def work() -> None:
        async with aio.open(url, session="s1") as desk:
            first = asyncio.create_task(desk.change(slow))
            await asyncio.to_thread(slow.begun.wait, 60)
            second = asyncio.create_task(desk.call("plan", {"add": ["behind it"]}))
            await asyncio.sleep(0)
            for task in (first, second):
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            with closing(sqlite3.connect(tmp_path / "plan.db", timeout=0)) as db:
                db.execute("BEGIN IMMEDIATE")  # nobody holds it
                db.rollback()
            slow.may_end.set()
            await desk.change(lambda plan: ops.add(plan, "last"))
            texts = [item.text for item in (await desk.load()).items]
            assert texts == ["slow", "last"]

    asyncio.run(work())


def test_closing_waits_for_a_call_whose_task_was_cancelled(url: str) -> None:
    slow = Slow()

    async def work() -> None:
        async with aio.open(url, session="s1") as desk:
            task = asyncio.create_task(desk.change(slow))
            await asyncio.to_thread(slow.begun.wait, 60)
            task.cancel()
            asyncio.get_running_loop().call_soon(slow.may_end.set)

    asyncio.run(work())
    with punchlist.open(url, session="s1") as desk:
        assert [item.text for item in desk.plan.items] == ["slow"]


def test_a_desk_works_in_one_event_loop_after_another(url: str) -> None:
    opened: list[aio.Desk] = []

    async def begin() -> None:
        opened.append(await aio.open(url, session="s1"))
        await opened[0].call("plan", {"add": ["Read"]})

    async def go_on() -> Plan:
        async with opened[0] as desk:
            return (await desk.change(lambda plan: ops.complete(plan, "1"))).plan

    asyncio.run(begin())
    assert asyncio.run(go_on()).items[0].status == "completed"


def test_a_listener_hears_of_a_pause_in_the_event_loop(url: str) -> None:
    async def work() -> None:
        heard = asyncio.Queue[tuple[Pause, int]]()

        def listener(pause: Pause) -> None:
            heard.put_nowait((pause, threading.get_ident()))

        async with aio.open(url, session="s1") as desk:
            desk.on_pause(listener)
            await desk.call("plan", {"add": ["Deploy"]})
            await desk.call("plan", {"pause": "the deploy key has expired"})
            pause, thread = await asyncio.wait_for(heard.get(), 60)
            assert pause.reason == "the deploy key has expired"
            assert thread == threading.get_ident()

    asyncio.run(work())


def test_a_store_that_cannot_be_opened_is_an_error_of_the_one_who_opens_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")

    async def work(open_desk: Callable[[], aio.Opening]) -> None:
        with pytest.raises(punchlist.StoreError):
            async with open_desk() as desk:
                await desk.load()

    asyncio.run(work(lambda: aio.open(f"sqlite:{tmp_path}/file/plan.db", session="s1")))

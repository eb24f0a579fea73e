"""What the adapters share: a desk for each session and agent, and a store that fails stops no run."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

import punchlist
from punchlist import ops
from punchlist.adapters.safe_desk import SafeDesk, SafeDesks, error_text, exit_code, in_thread, message, todos
from punchlist.core.model import SessionState
from punchlist.stores.sqlite import SqliteStore


class Unfinished:
    """The result of a command that runs still."""

    @property
    def exit_code(self) -> int:
        raise RuntimeError("not finished yet")


def add(*texts: str) -> dict[str, Any]:
    return {"add": list(texts)}


@contextmanager
def held(path: Path) -> Iterator[None]:
    """While another one writes to a file."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        db.close()


def test_each_session_and_each_agent_has_a_plan_of_its_own(tmp_path: Path) -> None:
    desks = SafeDesks(f"sqlite:{tmp_path}/plan.db")
    desks.of("s1").call("plan", add("Read"))
    desks.of("s2").call("plan", add("Write"))
    desks.of("s1", "worker").call("plan", add("Look"))
    texts = [[item.text for item in desks.of(*who).load().items] for who in (("s1",), ("s2",), ("s1", "worker"))]
    assert texts == [["Read"], ["Write"], ["Look"]]
    desks.close()
    assert [item.text for item in desks.of("s1").load().items] == ["Read"], "a desk that was closed is opened again"
    desks.close()


def test_a_session_that_is_given_first_is_the_one_of_every_run() -> None:
    desks = SafeDesks("memory:", session="mine")
    assert desks.of("theirs") is desks.of()


def test_what_had_no_answer_is_told_again_until_there_is_one() -> None:
    desks = SafeDesks("memory:", session="s1")
    desk = desks.of()
    talk = [message("user", "Go."), message("tool", desk.call("plan", add("Read")).text, tool="plan")]
    desk.before_request(talk)
    desk.kept()
    desk.change(lambda plan: ops.note(plan, "1", "start with the lexer"))
    (told,) = desk.before_request(talk)
    assert "start with the lexer" in told
    assert desk.before_request(talk) == [told], "the request had no answer"
    assert desk.before_request([*talk, message("user", told)]) == [], "the conversation has it"
    assert desk.before_request(talk, ["Wait."]) == [told, "Wait."]
    assert desk.before_request(talk) == [told, "Wait."], "what goes with the words of the user, too"
    desk.kept()
    assert desk.before_request(talk) == []


def test_what_was_told_in_a_run_that_failed_later_is_told_again_in_another() -> None:
    desks = SafeDesks("memory:", session="s1")
    desk = desks.of()
    desk.call("plan", add("Read"))
    desk.change(lambda plan: ops.note(plan, "1", "start with the lexer"))
    talk = [message("user", "Go.")]
    told = desk.before_request(talk, run="first")
    assert "start with the lexer" in told[-1]
    desk.answered("first")
    assert desk.before_request(talk, run="first") == [], "it was compacted: what is open is told, and not each edit"
    told = desk.before_request(talk, told, run="second")
    desk.answered("second")
    desk.kept("another")
    desks.close()
    desk = desks.of()
    assert told[0] in desk.before_request(talk, run="third"), "the second has failed"
    desk.kept("third")
    assert desk.before_request(talk, run="fourth") == []


def test_what_a_later_run_finds_in_its_conversation_is_not_told_after_a_compaction() -> None:
    desk = SafeDesks("memory:", session="s1").of()
    desk.call("plan", add("Read"))
    desk.change(lambda plan: ops.note(plan, "1", "start with the lexer"))
    talk = [message("user", "Go.")]
    told = desk.before_request(talk, run="failed")
    assert "start with the lexer" in told[-1]
    desk.answered("failed")
    desk.before_request([*talk, *[message("user", text) for text in told]], run="second")
    desk.answered("second")
    desk.kept("second")
    assert told[-1] not in desk.before_request([message("user", "A summary.")], run="third")


def test_the_same_words_may_be_told_twice() -> None:
    desk = SafeDesks("memory:", session="s1").of()
    said = message("user", "Done: 1 Read.")
    assert desk.before_request([said], ["Done: 1 Read."], run="first") == ["Done: 1 Read."]
    assert desk.before_request([said], run="second") == ["Done: 1 Read."], "it was told once, and once more"
    assert desk.before_request([said, said], run="second") == []


def test_a_copy_of_the_desks_is_these_desks() -> None:
    desks = SafeDesks("memory:", session="s1")
    desks.of().call("plan", add("Read"))
    assert [item.text for item in deepcopy(desks).of().load().items] == ["Read"]


def test_more_desks_than_are_kept_open_lose_nothing(tmp_path: Path) -> None:
    desks = SafeDesks(f"sqlite:{tmp_path}/plan.db")
    first = desks.of("s0")
    first.call("plan", add("Read"))
    for number in range(300):
        desks.of(f"t{number}").load()
    assert [item.text for item in first.load().items] == ["Read"]
    first.close()
    desks.close()


def test_a_store_that_cannot_be_opened_warns_once_and_the_model_has_its_tool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "plan.db").mkdir()
    desk = SafeDesks(f"sqlite:{tmp_path}/plan.db").of("s1")
    with caplog.at_level(logging.WARNING, "punchlist"):
        assert [tool["function"]["name"] for tool in desk.tools("openai")] == ["plan"]
        assert "plan" in desk.system_prompt()
        assert desk.started("compact") == []
        assert desk.prompted("Go on.") == []
        assert desk.before_request([message("user", "Go on.")]) == []
        desk.tool_used("shell", {"command": "ls"}, "x")
        assert desk.turn_ended("Done.") == ""
        assert desk.load().items == ()
    reply = desk.call("plan", add("Read"))
    assert reply.is_error
    assert "plan.db" in reply.text
    (warning,) = caplog.records
    assert "plan.db" in warning.getMessage()


def test_a_store_that_can_be_read_and_not_written_warns_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    desk = SafeDesk(lambda: punchlist.Desk(SqliteStore(f"{tmp_path}/plan.db", patience="0"), session="s1"))
    desk.call("plan", add("Read"))
    with held(tmp_path / "plan.db"), caplog.at_level(logging.WARNING, "punchlist"):
        for _ in range(3):
            assert desk.call("plan", add("Write")).is_error
            assert "Read" in desk.call("plan", {"show": True}).text
    assert len(caplog.records) == 1
    assert not desk.call("plan", add("Write")).is_error
    desk.close()


def test_a_store_that_comes_back_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    path.mkdir()
    desk = SafeDesks(f"sqlite:{path}").of("s1")
    assert desk.call("plan", add("Read")).is_error
    path.rmdir()
    assert not desk.call("plan", add("Read")).is_error
    assert desk.turn_ended("Half of it.") != ""
    desk.close()


def test_a_store_that_another_process_holds_costs_one_wait_and_is_used_as_soon_as_it_is_free(tmp_path: Path) -> None:
    stores = [SqliteStore(f"{tmp_path}/plan.db", patience="1") for _ in range(2)]
    desk, other = [SafeDesk(partial(punchlist.Desk, store, session="s1")) for store in stores]
    desk.call("plan", add("Read"))
    with held(tmp_path / "plan.db"):
        assert "locked by another process" in desk.call("plan", add("Write")).text
        for store in stores:
            store.patience = 3_600  # a test that waits so long fails
        for each in (desk, other):
            each.prompted("Go on.")
            assert "locked by another process" in each.call("plan", add("Write")).text
        with pytest.raises(punchlist.StoreError, match="locked"):
            stores[0].save_state("s1", SessionState(), SessionState(turns=1))
    assert not desk.call("plan", add("Write")).is_error
    assert not other.call("plan", add("Test")).is_error
    assert [item.text for item in desk.load().items] == ["Read", "Write", "Test"]
    desk.close()
    other.close()


@pytest.mark.parametrize("address", ["sqlite:{}/plan.db", "json:{}"])
def test_no_store_is_made_in_place_of_one_that_is_gone_and_it_is_used_again_when_it_is_back(
    tmp_path: Path, address: str
) -> None:
    folder, elsewhere = tmp_path / "plans", tmp_path / "elsewhere"
    desk = SafeDesks(address.format(folder)).of("s1")
    desk.call("plan", add("Read", "Write"))
    folder.rename(elsewhere)
    for _ in range(3):
        desk.prompted("Go on.")
        reply = desk.call("plan", {"show": True})
        assert reply.is_error
        assert "is gone" in reply.text
    assert not folder.exists()
    elsewhere.rename(folder)
    assert not desk.call("plan", {"done": [1]}).is_error
    assert [item.status for item in desk.load().items] == ["completed", "in_progress"]
    desk.close()


def test_a_file_that_another_one_replaced_is_found_again(tmp_path: Path) -> None:
    desk = SafeDesks(f"sqlite:{tmp_path}/plan.db").of("s1")
    desk.call("plan", add("Read"))
    with punchlist.open(f"sqlite:{tmp_path}/other.db", session="s1") as other:
        other.call("plan", add("Write"))
    (tmp_path / "plan.db").unlink()
    assert desk.call("plan", {"show": True}).is_error
    (tmp_path / "other.db").rename(tmp_path / "plan.db")
    assert "Write" in desk.call("plan", {"show": True}).text
    desk.close()


def test_a_refused_edit_is_raised_and_nothing_is_taken_for_broken() -> None:
    desk = SafeDesks("memory:").of("s1")
    desk.call("plan", add("Read"))
    with pytest.raises(punchlist.Refused):
        desk.change(lambda plan: ops.complete(plan, "9"))
    assert len(desk.load().items) == 1


def test_many_threads_use_one_desk() -> None:
    desk = SafeDesks("memory:").of("s1")
    threads = [Thread(target=desk.call, args=("plan", add(f"Step {number}"))) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(desk.load().items) == 16


def test_a_conversation_that_is_forked_has_a_copy_of_the_plan(tmp_path: Path) -> None:
    desks = SafeDesks(f"sqlite:{tmp_path}/plan.db")
    desks.of("s1").call("plan", add("Read"))
    assert not desks.of("s2").carry_from("s0"), "there is none"
    assert desks.of("s2").carry_from("s1")
    desks.of("s2").call("plan", {"done": [1]})
    assert not desks.of("s2").carry_from("s1"), "it has one by now"
    assert [desks.of(session).load().items[0].status for session in ("s1", "s2")] == ["in_progress", "completed"]
    desks.close()


def test_a_program_without_messages_is_told_what_is_open_and_what_others_did() -> None:
    desk = SafeDesks("memory:").of("s1")
    desk.call("plan", add("Read"))
    desk.change(lambda plan: ops.add(plan, "Ask Ann"))
    assert desk.tool_used("shell", {"command": "ls"}, "x", tell=True) == ['the user added 2 "Ask Ann".']
    assert desk.tool_used("shell", {"command": "ls"}, "x", tell=True) == []
    assert "- 2 Ask Ann" in desk.started("compact")[0]


def test_a_task_that_is_cancelled_ends_at_once_and_what_had_begun_is_finished() -> None:
    begun, may_end, ended = Event(), Event(), Event()

    def work() -> None:
        begun.set()
        may_end.wait()
        ended.set()

    async def main() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not ended.is_set()
        may_end.set()
        await asyncio.to_thread(ended.wait)

    asyncio.run(main())


def test_a_tool_that_is_only_for_a_continuation_is_offered_then_and_refused_before() -> None:
    desk = SafeDesks("memory:", dialect="llxprt").of("s1")
    items = [{"id": "1", "content": "Read", "status": "in_progress", "priority": "high"}]
    desk.call("todo_write", {"todos": items})
    assert desk.call("todo_pause", {"reason": "the deploy key has expired"}).is_error
    assert desk.turn_ended("I have read half.")
    assert "todo_pause" in [tool["name"] for tool in desk.tools("mcp")]
    assert not desk.call("todo_pause", {"reason": "the deploy key has expired"}).is_error


def test_todos_are_what_screens_show() -> None:
    plan = punchlist.Plan()
    plan = ops.extend(plan, [{"text": "Read"}, {"text": "Write"}, {"text": "Ask"}, {"text": "Skip"}])
    plan = ops.drop(ops.block(ops.complete(ops.start(plan, "2"), "1"), "3", why="no answer"), "4", why="not needed")
    assert [(one["content"], one["status"]) for one in todos(plan)] == [
        ("Read", "completed"),
        ("Write", "in_progress"),
        ("Ask", "pending"),
    ]


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"exit_code": 2}, 2),
        ({"returncode": 0, "stdout": ""}, 0),
        (SimpleNamespace(exit_code=1), 1),
        (Unfinished(), None),
        ({"exit_code": True}, None),
        ({"exit_code": "0"}, None),
        ("exit_code: 0", None),
        (None, None),
    ],
)
def test_the_exit_code_of_a_result(result: Any, code: int | None) -> None:
    assert exit_code(result) == code


class Unready:
    """A result of a user's own type, whose command has not ended."""

    @property
    def exit_code(self) -> int:
        raise RuntimeError("not finished")

    returncode = 2


class Untold(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_an_exit_code_that_cannot_be_read_is_none() -> None:
    assert exit_code(Unready()) == 2


def test_the_text_of_an_error() -> None:
    assert [error_text(error) for error in (ValueError("no"), ValueError(), Untold())] == ["no", "ValueError", "Untold"]


@pytest.mark.parametrize("wrong", [{"store": "plan.db"}, {"store": "mysql://x"}, {"dialect": "claude"}, {"session": 5}])
def test_what_can_never_work_is_refused_before_a_run(wrong: Any) -> None:
    with pytest.raises(punchlist.PunchlistError):
        SafeDesks(**{"store": "memory:", **wrong})


def test_an_agent_whose_call_the_user_refused_is_not_nudged_until_it_changes_the_plan() -> None:
    desk = SafeDesks("memory:").of("s1")
    desk.prompted("Clean up.")
    desk.call("plan", add("Read", "Write"))
    desk.tool_refused()
    assert desk.turn_ended("Then I leave it.") == ""
    desk.call("plan", {"done": [1]})
    assert desk.turn_ended("One is done.") != ""


def test_runs_without_a_session_do_not_get_the_plan_of_a_session(tmp_path: Path) -> None:
    desks = SafeDesks(f"sqlite:{tmp_path}/plan.db")
    desks.of("alice").call("plan", add("Read"))
    assert desks.of().load().items == ()
    desks.of("").call("plan", add("Write"))
    assert [item.text for item in desks.of("default").load().items] == ["Write"]
    desks.close()


def test_a_desk_that_waits_for_its_store_keeps_nobody_else_waiting() -> None:
    desks = SafeDesks("memory:")
    busy = desks.of("busy")
    begun, may_end = Event(), Event()

    def edit(plan: punchlist.Plan) -> punchlist.Plan:
        begun.set()
        may_end.wait()
        return ops.add(plan, "Read")

    thread = Thread(target=busy.change, args=(edit,))
    thread.start()
    begun.wait()
    for number in range(200):
        desks.of(f"t{number}")  # more than are kept
    may_end.set()
    thread.join()
    assert [item.text for item in desks.of("busy").load().items] == ["Read"]


def test_all_threads_of_an_event_loop_may_wait_for_us() -> None:
    desk = SafeDesks("memory:").of("s1")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))

        def wait_for_us() -> str:
            return asyncio.run_coroutine_threadsafe(in_thread(desk.call, "plan", add("Read")), loop).result().text

        assert "added 1" in await asyncio.to_thread(wait_for_us)

    asyncio.run(main())


def test_an_edit_is_worded_with_the_users_words_as_before_a_request(tmp_path: Path) -> None:
    desks = SafeDesks(f"sqlite:{tmp_path}/plan.db", session="s")
    desk = desks.of()
    desk.call("plan", {"add": ["Read"]})
    with punchlist.open(f"sqlite:{tmp_path}/plan.db", session="s") as other:
        other.change(lambda plan: ops.add(plan, "Fix"))
        assert desk.prompted("Go on.") == ['the user added 2 "Fix".']
        other.change(lambda plan: ops.add(plan, "Test"))
        (text,) = desk.prompted("Go on.", wrapped=True)
        other.change(lambda plan: ops.add(plan, "Test"))
        assert desk.before_request([]) == [text.replace('3 "Test"', '4 "Test"')]
    assert text.startswith("<system-reminder>\nThe plan was edited. The user added 3")
    desks.close()

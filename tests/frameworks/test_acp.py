"""Plan updates for editors that speak ACP: with the library's own connections, and a real store that others edit."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import AgentPlanUpdate

import punchlist
from punchlist import Item, Pause, Plan, ops
from punchlist.adapters.acp import as_update, follow

ROOT = Path(__file__).parents[2]
THREAD = "punchlist-follow"


def shown(update: AgentPlanUpdate) -> list[tuple[str, str, str]]:
    return [(entry.content, entry.status, entry.priority) for entry in update.entries]


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_true():
            await asyncio.sleep(0.005)


def followers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(THREAD)]


# --- what an editor shows --------------------------------------------------------------------------------------------


def test_statuses_and_priorities_are_those_of_acp() -> None:
    items = (
        Item("1", "Read", "completed", priority="high"),
        Item("2", "Fix", "in_progress", active="Fixing", priority="P0"),
        Item("3", "Test", priority="low"),
        Item("4", "Ship", "blocked", reason="the server is down", priority="whenever"),
        Item("5", "Tag", "blocked"),
        Item("6", "Sing", "abandoned", reason="not needed"),
    )
    assert shown(as_update(Plan(items=items))) == [
        ("Read", "completed", "high"),
        ("Fix", "in_progress", "high"),
        ("Test", "pending", "low"),
        ("Ship (blocked: the server is down)", "pending", "medium"),
        ("Tag (blocked)", "pending", "medium"),
    ]


def test_a_pause_is_shown_with_the_item_that_was_active() -> None:
    items = (Item("1", "Read", "in_progress"), Item("2", "Fix"))
    update = as_update(Plan(items=items, paused=Pause("the key has expired", item="1")))
    assert [content for content, _, _ in shown(update)] == ["Read (paused: the key has expired)", "Fix"]


def test_an_empty_plan_is_an_empty_list() -> None:
    assert shown(as_update(Plan())) == []
    assert shown(as_update(Plan(items=(Item("1", "Sing", "abandoned"),)))) == []


def test_an_entry_has_the_id_and_the_status_that_acp_does_not_know() -> None:
    (entry,) = as_update(Plan(items=(Item("7", "Ship", "blocked"),))).entries
    wire = json.loads(entry.model_dump_json(by_alias=True))
    assert wire["_meta"] == {"punchlist": {"id": "7", "status": "blocked"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Read\n\n# it\tall", "Read # it all"),
        ("\x1b[31mred\x1b]0;title\x07\u202e", "[31mred ]0;title"),
        ("<b>&amp;</b> [x](javascript:1)", "<b>&amp;</b> [x](javascript:1)"),
        ("größer 漢字 🚀", "größer 漢字 🚀"),
    ],
)
def test_a_text_is_data_in_one_line(text: str, said: str) -> None:
    items = (Item("1", text, "blocked", reason=text),)
    assert shown(as_update(Plan(items=items)))[0][0] == f"{said} (blocked: {said})"


# --- following -------------------------------------------------------------------------------------------------------


def opened(kind: str, store: str) -> Any:
    desk = punchlist.open(store, session="s1")
    return desk if kind == "blocking" else punchlist.aio.Desk(desk)


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
@pytest.mark.parametrize("store", ["memory:", "sqlite"])
def test_the_plan_as_it_is_then_each_change_until_the_desk_is_closed(kind: str, store: str, tmp_path: Path) -> None:
    async def main() -> None:
        desk = opened(kind, f"sqlite:{tmp_path}/plan.db" if store == "sqlite" else store)
        own = desk if kind == "blocking" else desk._desk
        found = []
        async for update in follow(desk):
            found.append(shown(update))
            if len(found) == 1:
                own.call("plan", {"add": ["Read", "Fix"]})
            elif len(found) == 2:
                own.change(lambda plan: ops.note(plan, "1", "an editor does not show notes"))
                own.change(lambda plan: ops.complete(plan, "1"))
            else:
                own.close()
        assert [[entry[1] for entry in one] for one in found] == [
            [],
            ["in_progress", "pending"],
            ["completed", "pending"],
        ]
        await until(lambda: not followers())

    asyncio.run(main())


def test_a_change_that_an_editor_does_not_show_is_not_sent() -> None:
    async def main() -> None:
        desk = punchlist.open("memory:")
        desk.call("plan", {"add": ["Read"]})
        updates = follow(desk)
        first = await anext(updates)
        following = asyncio.ensure_future(anext(updates))
        desk.change(lambda plan: ops.note(plan, "1", "use -x"))
        desk.change(lambda plan: ops.complete(plan, "1"))
        second = await following
        assert [shown(first)[0][1], shown(second)[0][1]] == ["in_progress", "completed"]
        desk.close()
        with pytest.raises(StopAsyncIteration):
            await anext(updates)

    asyncio.run(main())


def test_a_task_that_is_cancelled_ends_at_once_and_leaves_no_thread(tmp_path: Path) -> None:
    async def main() -> None:
        desk = punchlist.open(f"sqlite:{tmp_path}/plan.db", session="s1")
        begun = asyncio.Event()

        async def show() -> None:
            async for _ in follow(desk):
                begun.set()

        task = asyncio.create_task(show())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not followers())
        desk.call("plan", {"add": ["Read"]})
        desk.close()

    asyncio.run(main())


def test_a_loop_that_is_left_leaves_no_thread(tmp_path: Path) -> None:
    async def main() -> None:
        with punchlist.open(f"sqlite:{tmp_path}/plan.db", session="s1") as desk:
            for _ in range(3):
                async for _ in follow(desk):
                    break
            await until(lambda: not followers())

    asyncio.run(main())


def test_many_follow_one_desk_in_several_event_loops(tmp_path: Path) -> None:
    desk = punchlist.open(f"sqlite:{tmp_path}/plan.db", session="s1")
    desk.call("plan", {"add": ["Read"]})
    begun = threading.Barrier(4)

    async def show() -> list[str]:
        found: list[str] = []
        async for update in follow(desk):
            if not found:
                await asyncio.to_thread(begun.wait, 60)
            found.append(update.entries[0].status)
            if found[-1] == "completed":
                break
        return found

    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(show()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait(60)
    desk.change(lambda plan: ops.complete(plan, "1"))
    for thread in threads:
        thread.join()
    assert found == [["in_progress", "completed"]] * 3
    desk.close()


def test_joiners_of_emoji_and_scripts_stay() -> None:
    plan = ops.add(
        punchlist.Plan(),
        "Ask \U0001f469\u200d\U0001f4bb and \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645\u200b now",
    )
    (entry,) = as_update(plan).entries
    assert entry.content == "Ask \U0001f469\u200d\U0001f4bb and \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 now"


def test_a_store_that_fails_is_raised() -> None:
    async def main() -> None:
        with punchlist.open("memory:", plan="nowhere") as desk:
            updates = follow(desk)
            with pytest.raises(punchlist.PunchlistError):
                await anext(updates)

    asyncio.run(main())


# --- over a connection -----------------------------------------------------------------------------------------------


class Editor:
    """An editor, as far as it shows plans."""

    def __init__(self) -> None:
        self.plans: asyncio.Queue[AgentPlanUpdate] = asyncio.Queue()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        assert session_id == "s1"
        self.plans.put_nowait(update)


class PlanAgent:
    """An agent that shows the plan of its session."""

    def __init__(self, store: str) -> None:
        self.store = store

    def on_connect(self, conn: Any) -> None:
        self.editor = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        self.desk = await punchlist.aio.open(self.store, session="s1")
        self.showing = asyncio.create_task(self.show())
        return acp.NewSessionResponse(session_id="s1")

    async def show(self) -> None:
        async for update in follow(self.desk):
            await self.editor.session_update("s1", update)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        await self.desk.call("plan", json.loads(prompt[0].text))
        return acp.PromptResponse(stop_reason="end_turn")


def edit(store: str, folder: Path, *words: str) -> None:
    """What the user does in another terminal."""
    command = [sys.executable, "-m", "punchlist", *words, "--store", store, "--session", "s1"]
    environ = {**os.environ, "XDG_STATE_HOME": str(folder)}
    subprocess.run(command, check=True, env=environ, stdout=subprocess.DEVNULL)


@asynccontextmanager
async def in_process(editor: Any, store: str) -> AsyncIterator[Any]:
    """The agent and the editor in this process, with a pair of sockets between them."""
    ends = socket.socketpair()
    (agent_in, agent_out), (editor_in, editor_out) = [await asyncio.open_connection(sock=end) for end in ends]
    agent: Any = PlanAgent(store)
    running = asyncio.create_task(acp.run_agent(agent, agent_out, agent_in))
    connection = acp.connect_to_agent(editor, editor_out, editor_in)
    try:
        yield connection
    finally:
        await agent.desk.close()
        await agent.showing
        await connection.close()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        for writer in (agent_out, editor_out):
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def over_stdio(editor: Any, store: str) -> AsyncIterator[Any]:
    """The agent in a process of its own, on its standard input and output."""
    code = "import asyncio, acp; from tests.frameworks.test_acp import PlanAgent"
    code += f"; asyncio.run(acp.run_agent(PlanAgent({store!r})))"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    async with acp.spawn_agent_process(editor, sys.executable, "-c", code, env=environ) as (connection, _):
        yield connection


@pytest.mark.parametrize("connected", [in_process, over_stdio])
def test_an_editor_shows_the_plan_and_edits_from_another_process(connected: Any, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path}/plan.db"

    async def main() -> None:
        editor = Editor()
        async with asyncio.timeout(120), connected(editor, store) as connection:
            await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
            await connection.new_session(cwd=str(tmp_path), mcp_servers=[])
            assert shown(await editor.plans.get()) == []
            call = json.dumps({"add": ["Read", "Fix"]})
            await connection.prompt(session_id="s1", prompt=[acp.text_block(call)])
            assert [entry[1] for entry in shown(await editor.plans.get())] == ["in_progress", "pending"]
            await asyncio.to_thread(edit, store, tmp_path, "add", "Ask Ann")
            assert shown(await editor.plans.get())[2] == ("Ask Ann", "pending", "medium")
            await asyncio.to_thread(edit, store, tmp_path, "drop", "2", "--why", "not needed")
            assert [entry[0] for entry in shown(await editor.plans.get())] == ["Read", "Ask Ann"]
            assert editor.plans.empty()

    asyncio.run(main())


def test_a_missing_library_says_what_to_install() -> None:
    code = "import sys; sys.modules['acp'] = None; import punchlist.adapters.acp"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert "pip install 'punchlist[acp]'" in done.stderr.splitlines()[-1]

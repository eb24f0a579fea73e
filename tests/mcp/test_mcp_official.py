"""The official client drives the server as a process, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ToolsListChanged
from mcp.shared.exceptions import MCPError

import punchlist
from punchlist.dialects import PATHS, load
from tests.commands import SCRIPT
from tests.mcp.raw import PATIENCE, VERSION

MOODY = [sys.executable, str(Path(__file__).parent / "moody.py")]
MODES = {"legacy": "2025-11-25", "auto": VERSION, VERSION: VERSION}
both_eras = pytest.mark.parametrize("mode", MODES)


def server(*words: str, command: list[str] | None = None) -> StdioServerParameters:
    first, *rest = command or [SCRIPT, "mcp", *words]
    return StdioServerParameters(command=first, args=rest, env=dict(os.environ), cwd=os.getcwd())


def drive(work: Callable[[Client], Awaitable[Any]], mode: str, *words: str, command: list[str] | None = None) -> Any:
    """Do something with a client."""

    async def connected() -> Any:
        async with Client(server(*words, command=command), mode=mode, read_timeout_seconds=PATIENCE) as client:
            return await work(client)

    return asyncio.run(connected())


async def said(client: Client, tool: str, **args: Any) -> str:
    result = await client.call_tool(tool, args)
    assert (result.is_error, result.structured_content) == (False, None)
    (content,) = result.content
    assert content.type == "text"
    return content.text


@both_eras
def test_the_client_settles_on_the_era_it_asks_for(mode: str) -> None:
    async def work(client: Client) -> Any:
        return client.session.protocol_version, client.server_capabilities

    version, capabilities = drive(work, mode)
    assert version == MODES[mode]
    if mode != VERSION:  # a client that pins a version asks for nothing
        assert capabilities.tools.list_changed is True


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_client_learns_who_we_are_and_what_we_are_for(mode: str) -> None:
    async def work(client: Client) -> Any:
        await client.list_tools()
        return client.server_info, client.instructions

    info, instructions = drive(work, mode)
    assert (info.name, info.version) == ("punchlist", punchlist.__version__)
    assert instructions.startswith("A plan for work of three or more steps")


@both_eras
@pytest.mark.parametrize("dialect", PATHS)
def test_the_client_takes_the_tools_of_every_dialect(mode: str, dialect: str) -> None:
    async def work(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = drive(work, mode, "--dialect", dialect)
    wanted = [tool for tool in load(dialect).tools if not tool.only_continuing]
    assert [(tool.name, tool.input_schema) for tool in tools] == [(tool.name, tool.schema) for tool in wanted]
    assert all(tool.annotations.destructive_hint is False for tool in tools)
    assert [tool.meta for tool in tools] == [{"anthropic/alwaysLoad": not tool.discoverable} for tool in wanted]


@both_eras
def test_the_client_makes_advances_and_finishes_a_plan(mode: str) -> None:
    async def work(client: Client) -> list[str]:
        return [
            await said(client, "plan", add=["Read", "Write"]),
            await said(client, "plan", done=[1]),
            await said(client, "plan", done=[2]),
        ]

    assert drive(work, mode) == ["added 1-2; now 1 Read (0/2)", "now 2 Write (1/2)", "all done (2/2)"]


@both_eras
def test_the_client_sees_a_refusal_as_a_result_and_a_wrong_tool_as_a_fault(mode: str) -> None:
    async def work(client: Client) -> Any:
        refused = await client.call_tool("plan", {"done": [9]})
        with pytest.raises(MCPError, match="no tool 'frobnicate'; the tools are plan"):
            await client.call_tool("frobnicate", {})
        return refused

    refused = drive(work, mode)
    assert refused.is_error is True
    assert refused.content[0].text == "no item '9'; the plan is empty."


@both_eras
def test_calls_made_at_once_are_all_answered(mode: str) -> None:
    async def work(client: Client) -> Any:
        await asyncio.gather(*(client.call_tool("plan", {"add": [f"step {number}"]}) for number in range(30)))
        return await said(client, "plan", show=True)

    assert drive(work, mode).count("step") >= 30


def test_a_call_that_the_client_gives_up_on_does_no_harm() -> None:
    async def work(client: Client) -> str:
        for number in range(20):
            call = asyncio.ensure_future(client.call_tool("plan", {"add": [f"step {number}"]}))
            await asyncio.sleep(0)  # the call is sent, and not answered yet
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        return await said(client, "plan", add=["last"])

    assert "last" in drive(work, VERSION)


def test_the_client_hears_of_tools_that_appear_by_a_notification() -> None:
    heard: list[str] = []

    async def work() -> list[str]:
        has_heard = asyncio.Event()

        async def listen(message: Any) -> None:
            heard.append(type(message).__name__)
            has_heard.set()

        async with Client(server(command=MOODY), mode="legacy", message_handler=listen) as client:
            before = await client.list_tools()
            await client.call_tool("todo_write", {"todos": [{"id": "1", "content": "Read", "status": "pending"}]})
            await has_heard.wait()
            after = await client.list_tools()
            return [tool.name for tool in after.tools if tool.name not in {tool.name for tool in before.tools}]

    assert asyncio.run(asyncio.wait_for(work(), PATIENCE)) == ["todo_pause"]
    assert heard == ["ToolListChangedNotification"]


def test_the_client_hears_of_tools_that_appear_by_a_subscription() -> None:
    async def work(client: Client) -> Any:
        async with client.listen(tools_list_changed=True, resource_subscriptions=["file:///x"]) as subscription:
            assert subscription.honored.resource_subscriptions is None
            await client.call_tool("todo_write", {"todos": [{"id": "1", "content": "Read", "status": "pending"}]})
            async for event in subscription:
                return event, [tool.name for tool in (await client.list_tools()).tools]

    event, names = drive(work, "auto", command=MOODY)
    assert event == ToolsListChanged()
    assert "todo_pause" in names


def test_a_subscription_that_the_client_ends_leaves_the_connection_whole() -> None:
    async def work(client: Client) -> str:
        for _ in range(100):
            async with client.listen(tools_list_changed=True):
                pass
        return await said(client, "plan", add=["Read"])

    assert drive(work, VERSION) == "added 1; now 1 Read (0/1)"

"""An agent that speaks ACP and shows its plan in the editor. `python examples/acp_agent.py agent` is what an editor
starts; without an argument, this program is the editor itself, and prints the plan as it gets it."""

import asyncio
import os
import sys
import tempfile
from typing import Any

import acp
from acp.schema import AgentPlanUpdate

import punchlist
from punchlist.adapters.acp import follow

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays

SCRIPT: dict[str, dict[str, Any]] = {  # a stand-in for a model: what it calls for each prompt
    "Fix the parser.": {"add": ["Read the parser", "Fix it", "Run the tests"]},
    "Go on.": {"done": [1], "block": [3], "why": "the server is down"},
    "Finish it.": {"done": [2], "drop": [3], "why": "nobody needs it"},
}


class PlanAgent:
    def on_connect(self, conn: acp.Client) -> None:
        self.editor = conn

    async def initialize(self, protocol_version: int, *_: Any, **__: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, *_: Any, **__: Any) -> acp.NewSessionResponse:
        self.desk = await punchlist.aio.open(STORE, session="editor-1", folder=cwd)
        self.showing = asyncio.create_task(self.show("editor-1"))
        return acp.NewSessionResponse(session_id="editor-1")

    async def show(self, session_id: str) -> None:
        async for update in follow(self.desk):
            await self.editor.session_update(session_id, update)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        await self.desk.prompted(prompt[0].text)
        await self.desk.call("plan", SCRIPT[prompt[0].text])
        return acp.PromptResponse(stop_reason="end_turn")


class Editor:
    def __init__(self) -> None:
        self.plans: asyncio.Queue[AgentPlanUpdate] = asyncio.Queue()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.plans.put_nowait(update)


async def edit() -> None:
    editor: Any = Editor()
    command = (sys.executable, __file__, "agent")
    async with acp.spawn_agent_process(editor, *command, env=dict(os.environ)) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = await agent.new_session(cwd=".", mcp_servers=[])
        print(len((await editor.plans.get()).entries), "entries")
        for words in SCRIPT:
            await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(words)])
            print(words)
            for entry in (await editor.plans.get()).entries:
                print(f"  {entry.status:11} {entry.content}")


if "agent" in sys.argv:
    planning: Any = PlanAgent()
    asyncio.run(acp.run_agent(planning))
else:
    asyncio.run(edit())

# It prints:
# 0 entries
# Fix the parser.
#   in_progress Read the parser
#   pending     Fix it
#   pending     Run the tests
# Go on.
#   completed   Read the parser
#   in_progress Fix it
#   pending     Run the tests (blocked: the server is down)
# Finish it.
#   completed   Read the parser
#   completed   Fix it

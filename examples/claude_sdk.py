"""A plan in the Claude Agent SDK. With Claude Code and a key, you need `attach` and nothing else of this; here, a
transport plays what Claude Code asks of the SDK, and shows what the model is told."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, Transport, query

import punchlist
from punchlist.adapters.claude_sdk import attach

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays
SESSION = "conversation-1"


class PlayedProgram(Transport):
    """Claude Code, as the SDK sees it: it calls hooks, and the server that has the plan's tool."""

    async def connect(self) -> None:
        self.out: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_response":
            self.answers.put_nowait(message["response"]["response"])
        elif message["type"] == "control_request":
            self.hooks = message["request"]["hooks"]
            done = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            self.out.put_nowait({"type": "control_response", "response": done})
        else:
            self.playing = asyncio.create_task(self.play(message["message"]["content"]))

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self.out.get()) is not None:
            yield message

    async def close(self) -> None:
        self.out.put_nowait(None)

    async def end_input(self) -> None:
        self.out.put_nowait(None)

    def is_ready(self) -> bool:
        return True

    async def ask(self, **request: Any) -> dict[str, Any]:
        self.out.put_nowait({"type": "control_request", "request_id": "1", "request": request})
        return await self.answers.get()

    async def hook(self, event: str, use: str = "", **fields: Any) -> None:
        """Let the hooks for an event run, and show what the model would be told."""
        given = {"hook_event_name": event, "session_id": SESSION, "cwd": ".", **fields}
        (id,) = self.hooks[event][0]["hookCallbackIds"]
        answer = await self.ask(subtype="hook_callback", callback_id=id, input=given, tool_use_id=use)
        told = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        for line in told.splitlines():
            print(f"{event}: {line[:90]}")

    async def server(self, method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await self.ask(subtype="mcp_message", server_name="punchlist", message=message)
        return answer["mcp_response"]["result"]

    async def plan(self, use: str, **verbs: Any) -> None:
        """A call of the plan's tool by the model."""
        called = {"tool_name": "mcp__punchlist__plan", "tool_input": verbs, "tool_use_id": use}
        await self.hook("PreToolUse", use, **called)
        meta = {"claudecode/toolUseId": use}
        result = await self.server("tools/call", name="plan", arguments=verbs, _meta=meta)
        print("plan:", result["content"][0]["text"])

    async def play(self, prompt: str) -> None:
        info = {"name": "example", "version": "1"}
        await self.server("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        await self.hook("UserPromptSubmit", prompt=prompt)
        await self.plan("toolu_1", add=["Read the parser", "Fix it"])
        with punchlist.open(STORE, session=SESSION) as desk:  # the user, in another terminal
            desk.change(lambda plan: punchlist.ops.add(plan, "Ask Ann"))
        ran = {"stdout": "2 passed", "stderr": "", "interrupted": False}
        used = {"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_response": ran}
        await self.hook("PostToolUse", "toolu_2", **used)
        await self.hook("Stop", last_assistant_message="I have read it.", background_tasks=[], session_crons=[])
        await self.hook("PreCompact", trigger="auto")
        await self.hook("SessionStart", source="compact")
        await self.plan("toolu_3", done=[1, 2, 3])
        await self.hook("Stop", last_assistant_message="Done.", background_tasks=[], session_crons=[])
        made = {"duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
        self.out.put_nowait({"type": "result", "subtype": "success", "session_id": SESSION, **made})


async def main() -> None:
    options = attach(ClaudeAgentOptions(allowed_tools=["Bash"], system_prompt="You fix parsers."), STORE)
    print(options.allowed_tools)
    async for _ in query(prompt="The parser drops a line.", options=options, transport=PlayedProgram()):
        pass


asyncio.run(main())

# It prints:
# ['Bash', 'mcp__punchlist__plan']
# plan: added 1-2; now 1 Read the parser (0/2)
# PostToolUse: the user added 3 "Ask Ann".
# Stop: The plan is not finished: now 1 "Read the parser" (0/3). The user's last message comes fir
# SessionStart: Your plan; what is open:
# SessionStart: - now 1 Read the parser
# SessionStart: - 2 Fix it
# SessionStart: - 3 Ask Ann
# SessionStart: Carry on from there. No need to mention this.
# plan: all done (3/3)

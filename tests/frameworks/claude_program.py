"""A stand-in for the program behind the Claude Agent SDK, at the SDK's own seam: a transport that speaks its control
protocol. It asks a scripted model, calls hooks and servers, and keeps a conversation, as Claude Code does."""

from __future__ import annotations

import asyncio
import json
import os
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, Transport, query

SERVER, PREFIX = "punchlist", "mcp__punchlist__"
Tool = Callable[[dict[str, Any]], dict[str, Any]]  # gives the fields of the event behind it


class Call(NamedTuple):
    """A tool call of the model."""

    name: str
    args: Any
    agent: str = ""  # the sub-agent that makes it
    id: str = ""


Ask = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Awaitable[tuple[str, Sequence[Call]]]]


def scripted(*turns: Any) -> Ask:
    """A model that plays turns: a text ends one, calls are carried out."""
    left = list(turns)

    async def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> tuple[str, Sequence[Call]]:
        turn = left.pop(0)
        if isinstance(turn, str):
            return turn, ()
        return "", [turn] if isinstance(turn, Call) else turn

    return ask


def plan(agent: str = "", **verbs: Any) -> Call:
    """A call of our tool."""
    return Call(f"{PREFIX}plan", verbs, agent)


def shell(command: str, agent: str = "") -> Call:
    return Call("Bash", {"command": command}, agent)


def ran(args: dict[str, Any]) -> dict[str, Any]:
    """A command that has worked, as Claude Code reports it."""
    return {"tool_response": {"stdout": "fine", "stderr": "", "interrupted": False}, "duration_ms": 12}


class Program(Transport):
    """One process of Claude Code. `messages` is its conversation, `requests` what the model was sent."""

    def __init__(self, ask: Ask, *, session: str = "", tools: dict[str, Tool] | None = None) -> None:
        self.ask = ask
        self.cwd = os.getcwd()
        self.session = session or str(uuid.uuid4())
        self.tools = {"Bash": ran, **(tools or {})}
        self.messages: list[dict[str, Any]] = []
        self.requests: list[str] = []  # serialized
        self.offered: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []  # of our server
        self.hook_errors: list[str] = []
        self.error: Exception | None = None  # of the stand-in itself, or of its model
        self._hooks: dict[str, Any] = {}
        self._count = 0

    # --- the seam ----------------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        self._out: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_greeted = False

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_response":
            response = message["response"]
            self._waiting.pop(response["request_id"]).set_result(response)
        elif message["type"] == "control_request":
            self._hooks = message["request"].get("hooks") or self._hooks
            done = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            self._out.put_nowait({"type": "control_response", "response": done})
        else:
            task = asyncio.get_running_loop().create_task(self._turn(message["message"]["content"]))
            self._tasks.add(task)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self._out.get()) is not None:
            yield message

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._out.put_nowait(None)

    async def end_input(self) -> None:
        self._out.put_nowait(None)

    def is_ready(self) -> bool:
        return True

    # --- what it asks of the SDK -------------------------------------------------------------------------------------

    async def _control(self, **request: Any) -> dict[str, Any]:
        self._count += 1
        id = f"control-{self._count}"
        answer = self._waiting[id] = asyncio.get_running_loop().create_future()
        self._out.put_nowait({"type": "control_request", "request_id": id, "request": request})
        found: dict[str, Any] = await answer
        return found

    async def hook(self, event: str, use: str = "", agent: str = "", **fields: Any) -> list[dict[str, Any]]:
        """Run the hooks for an event. Return their answers."""
        given = {"hook_event_name": event, "session_id": self.session, "cwd": self.cwd, "transcript_path": "", **fields}
        if agent:
            given["agent_id"] = agent
        ids = []
        for matcher in self._hooks.get(event) or ():
            if matcher["matcher"] is None or re.fullmatch(matcher["matcher"], fields.get("tool_name", "")):
                ids += matcher["hookCallbackIds"]
        asked = [self._control(subtype="hook_callback", callback_id=id, input=given, tool_use_id=use) for id in ids]
        answers = await asyncio.gather(*asked)
        self.hook_errors += [one["error"] for one in answers if one["subtype"] == "error"]
        return [one["response"] for one in answers if one["subtype"] == "success"]

    async def mcp(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        answer = await self._control(subtype="mcp_message", server_name=SERVER, message=message)
        found: dict[str, Any] = answer["response"]["mcp_response"]["result"]
        return found

    # --- a turn ------------------------------------------------------------------------------------------------------

    async def _turn(self, prompt: str) -> None:
        try:
            await self._answer(prompt)
        except Exception as error:
            self.error = error
            self._out.put_nowait(None)

    async def _answer(self, prompt: str) -> None:
        if not self._is_greeted:
            self._is_greeted = True
            info = {"name": "program", "version": "1"}
            await self.mcp("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
            self.offered = (await self.mcp("tools/list"))["tools"]
        said = await self.work(prompt)
        made = {"subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
        self._out.put_nowait({"type": "result", "session_id": self.session, "result": said, **made})

    async def work(self, prompt: str) -> str:
        told = _context(await self.hook("UserPromptSubmit", prompt=prompt))
        self.messages.append(_user(prompt))
        self._tell(told)
        while True:
            self.requests.append(json.dumps(self.messages))
            said, calls = await self.ask(self.messages, self.offered)
            used = [call._replace(id=call.id or f"toolu_{uuid.uuid4().hex}") for call in calls]
            blocks = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.args} for one in used]
            self.messages.append({"role": "assistant", "content": [{"type": "text", "text": said}, *blocks]})
            if used:
                results = await asyncio.gather(*[self._use(one) for one in used])
                self.messages.append({"role": "user", "content": [block for block, _ in results]})
                self._tell([text for _, texts in results for text in texts])
                continue
            fields: dict[str, Any] = {"stop_hook_active": False, "last_assistant_message": said}
            told = _context(await self.hook("Stop", **fields, background_tasks=[], session_crons=[]))
            if not told:
                return said
            self._tell(told)

    async def _use(self, call: Call) -> tuple[dict[str, Any], list[str]]:
        fields = {"tool_name": call.name, "tool_input": call.args, "tool_use_id": call.id}
        await self.hook("PreToolUse", call.id, call.agent, **fields)
        after: dict[str, Any]
        if call.name.startswith(PREFIX):
            meta = {"claudecode/toolUseId": call.id}
            answer = await self.mcp("tools/call", name=call.name.removeprefix(PREFIX), arguments=call.args, _meta=meta)
            self.answers.append(answer)
            text = "".join(part["text"] for part in answer["content"])
            after = {"tool_response": answer["content"]}
        else:
            after = self.tools[call.name](call.args)
            text = str(after.get("error") or after.get("tool_response"))
        event = "PostToolUseFailure" if "error" in after else "PostToolUse"
        told = _context(await self.hook(event, call.id, call.agent, **fields, **after))
        return {"type": "tool_result", "tool_use_id": call.id, "content": text}, told

    async def compact(self) -> None:
        """Replace the conversation by a summary."""
        await self.hook("PreCompact", trigger="auto", custom_instructions=None)
        self.messages = [_user("Summary: the work goes on.")]
        self._tell(_context(await self.hook("SessionStart", source="compact")))

    def _tell(self, texts: Sequence[str]) -> None:
        if texts:
            self.messages.append(_user("\n".join(texts)))


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _context(answers: Sequence[dict[str, Any]]) -> list[str]:
    found = [one.get("hookSpecificOutput", {}).get("additionalContext") or one.get("reason", "") for one in answers]
    return [text for text in found if text]


async def run(program: Program, options: ClaudeAgentOptions, prompt: str) -> str:
    """Give the program a prompt through the SDK. Return its last words."""
    said = ""
    async for message in query(prompt=prompt, options=options, transport=program):
        if isinstance(message, ResultMessage):
            said = message.result or ""
    if program.error is not None:
        raise program.error
    return said

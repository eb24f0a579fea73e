"""Sessions in Pydantic AI: bare, with `Planning` of pydantic-ai-harness, and with ours; both with SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits
from pydantic_ai_harness.planning import Planning, SqlitePlanStore

import punchlist
from punchlist.adapters.pydantic_ai import Punchlist

from . import script, traffic

Session = Callable[[str], Awaitable[list[list[str]]]]  # runs under a name; the requests, if they are recorded


class _Script:
    """Does what the script says."""

    def __init__(self, steps: list[script.Step], records: bool) -> None:
        self.steps = steps
        self.asked = 0
        self.records = records
        self.requests: list[list[str]] = []

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = self.steps[self.asked]
        self.asked += 1
        if self.records:
            self.requests.append(_pieces(info, messages))
        usage = RequestUsage(input_tokens=1, output_tokens=1)  # otherwise the fake model reads all of it to guess
        if step.tool:
            return ModelResponse(parts=[ToolCallPart(step.tool, step.args, f"call_{self.asked}")], usage=usage)
        return ModelResponse(parts=[TextPart(step.text)], usage=usage)


def _pieces(info: AgentInfo, messages: Sequence[ModelMessage]) -> list[str]:
    tools = info.function_tools
    found = [traffic.defined(tool.name, tool.description or "", tool.parameters_json_schema) for tool in tools]
    if info.instructions:
        found.append(traffic.said("system", info.instructions))
    return found + [_piece(part) for message in messages for part in message.parts]


def _piece(part: Any) -> str:
    if part.part_kind == "tool-call":
        return traffic.said("assistant", "", [(part.tool_name, part.args_as_dict())])
    if part.part_kind == "text":
        return traffic.said("assistant", part.content)
    if part.part_kind == "tool-return":
        return traffic.said("tool", part.model_response_str())
    if isinstance(part.content, str):
        return traffic.said("user", part.content)
    return traffic.said("user", "".join(one for one in part.content if isinstance(one, str)))  # and points to cache at


async def _work(command: str) -> str:
    return script.worked(command)


@asynccontextmanager
async def sessions(folder: Path, records: bool = False) -> AsyncIterator[dict[str, Session]]:
    """The ways to keep a list that are compared, each in a file of its own."""
    plan_url = f"sqlite:{folder}/plan.db"
    theirs = Planning[Any](store_resolver=lambda ctx: SqlitePlanStore(f"{folder}/items.db", session=_session_of(ctx)))
    whole = Planning[Any](store_resolver=lambda ctx: SqlitePlanStore(f"{folder}/whole.db", session=_session_of(ctx)))

    async def count_theirs(name: str, file: str = "items.db") -> int:
        items = await SqlitePlanStore(f"{folder}/{file}", session=name).get_items()
        return len([item for item in items if item.status.value == "completed"])

    async def count_whole(name: str) -> int:
        return await count_theirs(name, "whole.db")

    async def count_ours(name: str) -> int:
        with punchlist.open(plan_url, session=name) as desk:
            return desk.load().progress.completed

    found = {
        "bare": _session(script.work, [], None, records),
        "theirs": _session(script.planning, [theirs], count_theirs, records),
        "theirs, whole": _session(script.write_plan, [whole], count_whole, records),
        "ours": _session(script.punchlist, [Punchlist(plan_url)], count_ours, records),
    }
    if records:
        found["without"] = _session(None, [], None, records)
    yield found


def _session_of(ctx: Any) -> str:
    return str(ctx.conversation_id)


def _session(
    planner: script.Planner | None,
    capabilities: list[Any],
    count_done: Callable[[str], Awaitable[int]] | None,
    records: bool,
) -> Session:
    model = _Script(script.steps(planner), records)
    tool = Tool[Any](_work, name=script.WORK)
    agent = Agent(FunctionModel(model.answer), tools=[tool], capabilities=capabilities)

    async def session(name: str) -> list[list[str]]:
        model.asked = 0
        model.requests = []
        await agent.run(script.PROMPT, conversation_id=name, usage_limits=UsageLimits(request_limit=None))
        if model.asked != len(model.steps):
            raise RuntimeError(f"the session ended after {model.asked} requests")
        if records and count_done and await count_done(name) != script.SIZE:
            raise RuntimeError("the plan is not finished")
        return model.requests

    return session

"""Sessions in LangChain: bare, with its own `TodoListMiddleware`, and with ours; all with its checkpoints in SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import Field

from punchlist.adapters.langchain import Punchlist

from . import script, traffic

Session = Callable[[str], Awaitable[list[list[str]]]]  # runs under a name; the requests, if they are recorded


class _Model(BaseChatModel):
    """Does what the script says. As a model of a provider, it is given the tools with each request."""

    steps: list[script.Step]
    asked: int = 0
    records: bool = False
    requests: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **sent: Any
    ) -> ChatResult:
        step = self.steps[self.asked]
        self.asked += 1
        if self.records:
            self.requests.append(_pieces(sent.get("tools", []), messages))
        calls = [{"name": step.tool, "args": step.args, "id": f"call_{self.asked}"}] if step.tool else []
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=step.text, tool_calls=calls))])

    async def _agenerate(self, *args: Any, **options: Any) -> ChatResult:
        return self._generate(*args, **options)


def _pieces(tools: Sequence[Any], messages: Sequence[BaseMessage]) -> list[str]:
    found = []
    for tool in tools:
        function = tool["function"]
        found.append(traffic.defined(function["name"], function["description"], function["parameters"]))
    for message in messages:
        calls = [(call["name"], call["args"]) for call in getattr(message, "tool_calls", [])]
        found.append(traffic.said(message.type, str(message.text), calls))
    return found


async def _work(command: str) -> str:
    return script.worked(command)


@asynccontextmanager
async def sessions(folder: Path, records: bool = False) -> AsyncIterator[dict[str, Session]]:
    """The ways to keep a list that are compared, each in a file of its own."""
    ours = {way: Punchlist(f"sqlite:{folder}/plan-{way}.db") for way in ("sync", "async")}
    with SqliteSaver.from_conn_string(f"{folder}/sync.db") as saver:
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/async.db") as async_saver:
            found = {}
            for way, checkpointer in (("sync", saver), ("async", async_saver)):
                is_async = way == "async"
                for name, planner, middleware in (
                    ("bare", script.work, []),
                    ("theirs", script.write_todos, [TodoListMiddleware()]),
                    ("ours", script.punchlist, [ours[way]]),
                ):
                    found[f"{name}, {way}"] = _session(planner, middleware, checkpointer, is_async, records)
            if records:
                found["without"] = _session(None, [], saver, False, records)
            yield found


def _session(
    planner: script.Planner | None, middleware: list[Any], checkpointer: Any, is_async: bool, records: bool
) -> Session:
    model = _Model(steps=script.steps(planner), records=records)
    tool = StructuredTool.from_function(script.worked, _work, name=script.WORK)
    agent = create_agent(model, [tool], middleware=middleware, checkpointer=checkpointer)

    async def session(name: str) -> list[list[str]]:
        model.asked = 0
        model.requests = []
        given: Any = {"messages": [HumanMessage(script.PROMPT)]}
        config: Any = {"configurable": {"thread_id": name}, "recursion_limit": 1000}
        ended = await agent.ainvoke(given, config) if is_async else agent.invoke(given, config)
        todos = ended.get("todos", [])
        if model.asked != len(model.steps) or any(one["status"] != "completed" for one in todos):
            raise RuntimeError(f"the session ended after {model.asked} requests, with {todos}")
        if middleware and len(todos) != script.SIZE:
            raise RuntimeError(f"the plan has {len(todos)} items in the end")
        return model.requests

    return session

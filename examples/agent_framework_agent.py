"""An agent of Microsoft's Agent Framework with a plan, and a model that plays a script: no key."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)

import punchlist
from punchlist.adapters.agent_framework import Punchlist

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays


def call(tool: str, **args: Any) -> Content:
    return Content.from_function_call(f"call-{tool}", tool, arguments=args)


SCRIPT: list[Content | str] = [
    call("plan", add=["Read the parser", {"text": "Fix it", "check": "make test"}]),
    call("run_shell", command="cat parser.py"),
    "I have read it.",
    call("plan", done=[1]),
    call("run_shell", command="make test"),
    call("plan", done=[2]),
    "Fixed.",
]


class ScriptedClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Show what the model is given last, and play the script. Yours is an `OpenAIChatClient`, for example."""

    def _inner_get_response(self, *, messages: Sequence[Message], stream: bool, options: Any, **others: Any) -> Any:
        last = messages[-1].contents[-1]
        print(f"{messages[-1].role}: {last.text or last.result}")

        async def answer() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", [SCRIPT.pop(0)])])

        return answer()


def run_shell(command: str) -> dict[str, Any]:
    """Run a command."""
    return {"exit_code": 0, "output": f"(what {command} prints)"}


async def main() -> None:
    plan = Punchlist(STORE)
    agent = Agent(ScriptedClient(), "You write code.", tools=[run_shell], middleware=[plan])
    await agent.run("The parser drops a line.", session=agent.create_session(session_id="s1"))
    plan.close()


asyncio.run(main())

with punchlist.open(STORE, session="s1") as desk:  # another process, a day later
    for item in desk.load(calls=True).items:
        print(item.id, item.text, item.status, [(one["name"], one["exit"]) for one in item.calls])

# It prints:
# user: The parser drops a line.
# tool: added 1-2; now 1 Read the parser (0/2)
# tool: {"exit_code": 0, "output": "(what cat parser.py prints)"}
# ...
# tool: now 2 Fix it (1/2)
# tool: {"exit_code": 0, "output": "(what make test prints)"}
# tool: all done (2/2)
# 1 Read the parser completed [('run_shell', 0)]
# 2 Fix it completed [('run_shell', 0)]

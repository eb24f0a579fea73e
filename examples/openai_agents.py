"""The OpenAI Agents SDK, with its own scripted model: no key, and nothing leaves the machine."""

from __future__ import annotations

import asyncio
import json
import tempfile
from typing import Any

from agents import Agent, SQLiteSession, function_tool, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

import punchlist
from punchlist import ops
from punchlist.adapters.openai_agents import plan

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays

SCRIPT: list[Any] = [
    function_call("plan", json.dumps({"add": ["Read the parser", "Fix it"]}), call_id="1"),
    function_call("shell", json.dumps({"command": "grep -n quote parser.py"}), call_id="2"),
    assistant_message("I have read it."),
    function_call("plan", json.dumps({"done": [1, 2, 3]}), call_id="3"),
    assistant_message("Fixed."),
]


def play(call: ModelCall) -> Any:
    """Show what the model is given last, and play the script."""
    last = call.input[-1]
    print(last.get("content", last.get("output")))
    return [SCRIPT.pop(0)]


@function_tool
def shell(command: str) -> dict[str, Any]:
    """Run a command. Meanwhile, the user has an idea."""
    with punchlist.open(STORE, session="chat-1") as desk:
        desk.change(lambda now: ops.add(now, "Mention it in the changelog"))
    return {"exit_code": 0, "output": "12: if quote:"}


async def main() -> None:
    set_tracing_disabled(True)
    model = ScriptedModel([ModelStep.respond(play) for _ in SCRIPT])
    async with plan(STORE) as p:
        agent = Agent(name="Coder", instructions="You fix bugs.", model=model, tools=[shell, *p.tools])
        result = await p.run(agent, "The parser drops a line.", session=SQLiteSession("chat-1"))
    print(result.final_output)


asyncio.run(main())

# It prints:
# The parser drops a line.
# added 1-2; now 1 Read the parser (0/2)
# <system-reminder>
# The plan was edited. The user added 3 "Mention it in the changelog". No need to mention this.
# </system-reminder>
# ...
# all done (3/3)
# Fixed.

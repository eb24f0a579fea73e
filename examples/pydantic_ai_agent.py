"""An agent of Pydantic AI with a plan, and a model that plays a script: no key is needed."""

from __future__ import annotations

import tempfile

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import punchlist
from punchlist.adapters.pydantic_ai import Punchlist

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays

SCRIPT: list[list[ModelResponsePart]] = [
    [ToolCallPart("plan", {"add": ["Read the parser", {"text": "Fix it", "check": "make test"}]})],
    [ToolCallPart("shell", {"command": "grep -n drop parser.py"})],
    [TextPart("I have read the parser.")],
    [ToolCallPart("plan", {"done": [1]})],
    [ToolCallPart("shell", {"command": "make test"})],
    [ToolCallPart("plan", {"done": [2]})],
    [TextPart("Fixed.")],
]


def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Show what the model is given last, and play the script."""
    for part in messages[-1].parts:
        print(getattr(part, "content", ""))
    return ModelResponse(parts=SCRIPT.pop(0))


def shell(command: str) -> dict[str, str | int]:
    """Run a command; here, pretend to."""
    return {"output": f"{command}: fine", "exit_code": 0}


agent = Agent(FunctionModel(play), tools=[shell], capabilities=[Punchlist(STORE)])
agent.run_sync("The parser drops a line.", conversation_id="parser")

with punchlist.open(STORE, session="parser") as desk:
    for item in desk.load(calls=True).items:
        print(item.text, item.status, [call["name"] for call in item.calls], len(item.evidence))

# It prints:
# The parser drops a line.
# added 1-2; now 1 Read the parser (0/2)
# {'output': 'grep -n drop parser.py: fine', 'exit_code': 0}
# ...
# now 2 Fix it (1/2)
# {'output': 'make test: fine', 'exit_code': 0}
# all done (2/2)
# Read the parser completed ['shell'] 0
# Fix it completed ['shell'] 1

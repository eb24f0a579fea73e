"""An agent of smolagents with a plan, and a model that plays a script: no key, and no network."""

from __future__ import annotations

import tempfile
from typing import Any

from smolagents import ChatMessage, CodeAgent, LogLevel, MessageRole, Model, tool

from punchlist.adapters.smolagents import plan

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays

SCRIPT = [
    "plan(add=['Read the parser', 'Fix it'])",
    "print(read(path='parser.py'))",
    "final_answer('I have read it.')",
    "plan(done=[1, 2])\nfinal_answer('Fixed.')",
]


class ScriptedModel(Model):
    """Show what the model is given last, and play the script."""

    def generate(self, messages: list[ChatMessage], *_: Any, **options: Any) -> ChatMessage:
        content: Any = messages[-1].content
        print(content[0]["text"], end="\n\n")
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"<code>\n{SCRIPT.pop(0)}\n</code>")


@tool
def read(path: str) -> str:
    """Read a file.

    Args:
        path: Where it is.
    """
    return "def parse(): ..."


agent = CodeAgent(tools=[read], model=ScriptedModel(), verbosity_level=LogLevel.OFF)
with plan(STORE, session="s1") as p:
    p.attach(agent)
    print(agent.run("The parser drops a line."))

# It prints:
# New task:
# The parser drops a line.
#
# Observation:
# Execution logs:
# Last output from code snippet:
# added 1-2; now 1 Read the parser (0/2)
#
# Observation:
# Execution logs:
# def parse(): ...
# Last output from code snippet:
# None
#
# ...
#
# Fixed.

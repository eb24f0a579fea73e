"""An agent of LangChain with a plan, and a model that plays a script: no key is needed."""

from __future__ import annotations

import tempfile
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import punchlist
from punchlist.adapters.langchain import Punchlist

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays


@tool
def read_file(path: str) -> str:
    """Read a file."""
    with punchlist.open(STORE, session="parser") as desk:  # meanwhile, in another terminal
        desk.change(lambda plan: punchlist.ops.add(plan, "Write a test"))
    return "def parse(lines): ..."


def calls(id: str, name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": id}])


SCRIPT = [
    calls("1", "plan", add=[{"text": "Read the parser"}, {"text": "Fix it"}]),
    calls("2", "read_file", path="parser.py"),
    AIMessage("I have read the parser."),
    calls("3", "plan", done=[1, 2, 3]),
    AIMessage("Fixed, with a test."),
]


class Model(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


agent = create_agent(
    Model(messages=iter(SCRIPT)),
    tools=[read_file],
    middleware=[Punchlist(STORE)],
    checkpointer=InMemorySaver(),
)
words: Any = {"messages": [{"role": "user", "content": "The parser drops a line."}]}
thread: Any = {"configurable": {"thread_id": "parser"}}
found = agent.invoke(words, thread)
for message in found["messages"]:
    for call in getattr(message, "tool_calls", []):
        print("model calls:", call["name"], call["args"])
    if message.text:
        print(f"{message.type}:", " ".join(message.text.split())[:90])
for todo in found["todos"]:
    print(todo["status"], todo["content"])

# It prints:
# human: The parser drops a line.
# model calls: plan {'add': [{'text': 'Read the parser'}, {'text': 'Fix it'}]}
# tool: added 1-2; now 1 Read the parser (0/2)
# model calls: read_file {'path': 'parser.py'}
# tool: def parse(lines): ...
# human: <system-reminder> The plan was edited. The user added 3 "Write a test". No need to mention
# ai: I have read the parser.
# human: The plan is not finished: now 1 "Read the parser" (0/3). The user's last message comes fir
# model calls: plan {'done': [1, 2, 3]}
# tool: all done (3/3)
# ai: Fixed, with a test.
# completed Read the parser
# completed Fix it
# completed Write a test

"""A loop of your own, with a model that plays a script: no framework, and no key."""

from __future__ import annotations

import tempfile
from typing import Any

import punchlist

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays

SCRIPT: list[tuple[str, list[dict[str, Any]]]] = [
    ("", [{"type": "tool_use", "name": "plan", "input": {"add": ["Read the parser", "Fix it"]}}]),
    ("I have read it.", []),
    ("", [{"type": "tool_use", "name": "plan", "input": {"done": [1, 2]}}]),
    ("Fixed.", []),
]


def ask_model(system: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Any:
    """Show what the model is given last, and play the script."""
    print(messages[-1]["content"])
    return SCRIPT.pop(0)


def run(desk: punchlist.Desk, prompt: str) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "\n".join([prompt, *desk.prompted(prompt)])}]
    while messages[-1]["role"] == "user":
        messages += desk.before_request(messages)
        said, calls = ask_model(desk.system_prompt(), messages, desk.tools("anthropic"))
        messages.append({"role": "assistant", "content": [{"type": "text", "text": said}, *calls]})
        answers = [desk.call(call["name"], call["input"]).text for call in calls]
        answer = "\n".join(answers) or desk.turn_ended(said=said).text
        if answer:
            messages.append({"role": "user", "content": answer})


with punchlist.open(STORE, session="s1") as desk:
    run(desk, "The parser drops a line.")

# It prints:
# The parser drops a line.
# added 1-2; now 1 Read the parser (0/2)
# ...
# all done (2/2)

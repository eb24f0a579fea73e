"""An agent of Google ADK with a plan, and a model that plays a script: no key, and no network."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from punchlist.adapters.adk import PunchlistPlugin

STORE = f"sqlite:{tempfile.mkdtemp()}/plan.db"  # a new one each time; yours is in a folder that stays

SCRIPT: list[dict[str, Any] | str] = [
    {"name": "plan", "args": {"add": ["Read the parser", "Fix it"]}},
    {"name": "read", "args": {"path": "parser.py"}},
    "I have read it.",
    {"name": "plan", "args": {"done": [1, 2]}},
    "Fixed.",
]


class ScriptedLlm(BaseLlm):
    """Show what the model is given last, and play the script."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        for part in llm_request.contents[-1].parts or []:
            print(">", part.text or (part.function_response and part.function_response.response))
        turn = SCRIPT.pop(0)
        part = types.Part(text=turn) if isinstance(turn, str) else types.Part(function_call=types.FunctionCall(**turn))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def read(path: str) -> str:
    """Read a file."""
    return "def parse(): ..."


async def main() -> None:
    agent = LlmAgent(name="coder", model=ScriptedLlm(model="script"), tools=[read])
    app = App(name="app", root_agent=agent, plugins=[PunchlistPlugin(STORE)])
    async with InMemoryRunner(app=app) as runner:
        session = await runner.session_service.create_session(app_name="app", user_id="you")
        prompt = types.Content(role="user", parts=[types.Part(text="The parser drops a line.")])
        async for event in runner.run_async(user_id="you", session_id=session.id, new_message=prompt):
            for part in (event.content and event.content.parts) or []:
                if part.text:
                    print(part.text)


logging.disable(logging.WARNING)  # ADK's, about the tokens that a scripted model does not count
asyncio.run(main())

# It prints:
# > The parser drops a line.
# > {'result': 'added 1-2; now 1 Read the parser (0/2)'}
# > {'result': 'def parse(): ...'}
# I have read it.
# ...
# > {'result': 'all done (2/2)'}
# Fixed.

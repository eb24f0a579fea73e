"""How much a hook asks of its store: every statement is time that an agent waits."""

from __future__ import annotations

import os
from typing import Any

import pytest

import punchlist
from punchlist import hosts
from tests.statements import trace

MOST = 9
EVENTS: dict[str, dict[str, Any]] = {
    "PostToolUse": {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}, "tool_response": "ok"},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "Next."},
    "PreToolUse": {"tool_name": "mcp__punchlist__plan", "tool_use_id": "t", "tool_input": {"done": [1]}},
}


@pytest.mark.parametrize("name", EVENTS)
def test_a_hook_asks_little_of_its_store(name: str, request: pytest.FixtureRequest) -> None:
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read", "Write", "Test"], "start": [1]})
    asked: list[str] = []
    request.addfinalizer(trace(asked.append))
    event = {"hook_event_name": name, "session_id": "s", "cwd": os.getcwd(), **EVENTS[name]}
    counts = []
    for _ in range(4):  # the first of a session has more to do, and now and then old calls are dropped
        asked.clear()
        hosts.answer("claude-code", dict(event))
        counts.append(len(asked))
    assert min(counts[1:]) <= MOST, asked

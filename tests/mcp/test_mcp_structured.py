"""Data beside the text of an answer: only for a client that asks, and never in place of the text."""

from __future__ import annotations

from typing import Any

import pytest

from punchlist.dialects import load
from tests.mcp.raw import Raw

ASKS = {"punchlist/structured": True}
READ = {"content": "Read", "status": "in_progress", "activeForm": "Reading"}
FIX = {"content": "Fix", "status": "pending", "activeForm": "Fixing"}


def written(client: Raw, *todos: dict[str, str], **params: Any) -> dict[str, Any]:
    return client.result("tools/call", name="TodoWrite", arguments={"todos": list(todos)}, **params)


def test_a_client_that_does_not_ask_gets_text_alone() -> None:
    with Raw("--dialect", "claude-code") as client:
        client.greet()
        assert "outputSchema" not in client.result("tools/list")["tools"][0]
        assert written(client, READ).keys() == {"content", "isError"}


def test_a_client_that_asks_with_a_request_gets_both_lists_beside_the_text() -> None:
    with Raw("--dialect", "claude-code") as client:
        client.greet()
        plain = written(client, READ)
        answer = written(client, READ, FIX, _meta=ASKS)
        assert answer["structuredContent"] == {"oldTodos": [READ], "newTodos": [READ, FIX]}
        assert answer["content"] == plain["content"]
        (tool,) = client.result("tools/list", _meta=ASKS)["tools"]
        assert tool["outputSchema"]["required"] == ["oldTodos", "newTodos"]
        assert all(form["description"] for form in tool["outputSchema"]["properties"].values())


def test_a_client_that_asks_with_its_greeting_gets_it_with_every_answer() -> None:
    with Raw("--dialect", "claude-code") as client:
        experimental: dict[str, Any] = {"experimental": {"punchlist/structured": {}}}
        about = {"name": "raw", "version": "1"}
        client.result("initialize", protocolVersion="2025-11-25", capabilities=experimental, clientInfo=about)
        assert written(client, READ)["structuredContent"]["newTodos"] == [READ]
        assert "outputSchema" in client.result("tools/list")["tools"][0]


def test_a_refused_call_has_no_data() -> None:
    with Raw("--dialect", "claude-code") as client:
        client.greet()
        answer = client.result("tools/call", name="TodoWrite", arguments={}, _meta=ASKS)
        assert answer["isError"] is True
        assert "structuredContent" not in answer


def test_a_tool_that_promises_no_form_has_no_data() -> None:
    with Raw() as client:
        client.greet()
        answer = client.result("tools/call", name="plan", arguments={"add": ["Read"]}, _meta=ASKS)
        assert "structuredContent" not in answer


@pytest.mark.parametrize(
    ("dialect", "title", "loaded"), [("claude-code", "", True), ("oh-my-pi", "Todo", False), ("native", "Plan", True)]
)
def test_an_empty_name_stays_empty_and_a_discoverable_tool_is_left_to_be_found(
    dialect: str, title: str, loaded: bool
) -> None:
    with Raw("--dialect", dialect) as client:
        client.greet()
        tool = client.result("tools/list")["tools"][0]
    assert tool["title"] == title
    assert tool["_meta"] == {"anthropic/alwaysLoad": loaded}


def test_the_list_is_described_in_the_schema_and_the_short_description_says_proactively_and_often() -> None:
    (tool,) = load("claude-code").tools
    assert tool.schema["properties"]["todos"]["description"]
    for words in ("proactively and often", "one item in_progress", "`content`", "`activeForm`"):
        assert words in tool.short

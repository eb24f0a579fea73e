"""The description of the tool, as the server gives it: for the model that the agent had here last."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from punchlist.local.models import note_model
from punchlist.local.settings import place
from punchlist.prompts import say
from tests.mcp.raw import ENVELOPE, Raw

BRIEF, FULL = say("native"), say("native.full")
CODEX = {"name": "codex-mcp-client", "version": "1"}


@pytest.fixture
def client() -> Iterator[Raw]:
    with Raw() as raw:
        yield raw


def greet(client: Raw, name: str) -> str:
    """The instructions."""
    about = {"clientInfo": {"name": name, "version": "1"}, "protocolVersion": "2025-06-18", "capabilities": {}}
    text: str = client.result("initialize", **about)["instructions"]
    return text


def described(client: Raw) -> str:
    [tool] = client.result("tools/list")["tools"]
    text: str = tool["description"]
    return text


@pytest.mark.parametrize(
    ("model", "wanted"), [("gpt-6.1-sol", BRIEF), ("gpt-5.5-mini", FULL), ("gpt-5", BRIEF), ("", BRIEF)]
)
def test_the_model_that_the_agent_had_last_decides(client: Raw, model: str, wanted: str) -> None:
    note_model("codex", place(), model)
    assert greet(client, "codex-mcp-client") == say("mcp")
    assert described(client) == wanted


def test_it_never_changes_while_the_server_runs(client: Raw) -> None:
    """A description that changes costs the cache of the whole conversation."""
    greet(client, "codex-mcp-client")
    assert described(client) == BRIEF
    note_model("codex", place(), "gpt-5.5-mini")
    assert described(client) == BRIEF
    client.say("plan", add=["Read"])
    assert described(client) == BRIEF
    assert client.is_silent()


@pytest.mark.parametrize("name", ["gemini-cli-mcp-client", "somebody-else", ""])
def test_what_another_agent_has_does_not_count(client: Raw, name: str) -> None:
    note_model("codex", place(), "gpt-5.5-mini")
    greet(client, name)
    assert described(client) == BRIEF


def test_another_place_does_not_count(client: Raw) -> None:
    note_model("codex", "/elsewhere", "gpt-5.5-mini")
    greet(client, "codex-mcp-client")
    assert described(client) == BRIEF


def test_a_setting_decides_for_every_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_VOICE", "full")
    with Raw() as client:
        greet(client, "somebody-else")
        assert described(client) == FULL
    monkeypatch.setenv("PUNCHLIST_VOICE", "auto")
    monkeypatch.setenv("PUNCHLIST_VOICES", "mine=full")
    note_model("codex", place(), "mine")
    with Raw() as client:
        greet(client, "codex-mcp-client")
        assert described(client) == FULL


def test_a_client_that_does_not_greet_is_told_the_same(client: Raw) -> None:
    note_model("codex", place(), "gpt-5.5-mini")
    named = {**ENVELOPE, "io.modelcontextprotocol/clientInfo": CODEX}
    [tool] = client.result("tools/list", _meta=named)["tools"]
    assert tool["description"] == FULL


def test_the_texts_of_another_dialect_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_VOICE", "full")
    monkeypatch.setenv("PUNCHLIST_DIALECT", "codex")
    with Raw() as client:
        greet(client, "codex-mcp-client")
        assert described(client) == say("codex")

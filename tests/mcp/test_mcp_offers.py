"""Tools that appear and go: who is told, when, and what happens to a call of one that is gone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import punchlist
from punchlist import ops
from punchlist.local.files import time_text
from punchlist.local.on_off import set_off
from tests.mcp.raw import ENVELOPE, Raw

MOODY = [sys.executable, str(Path(__file__).parent / "moody.py")]
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
TODO = {"id": "1", "content": "Read", "status": "pending"}


@pytest.fixture
def moody() -> Iterator[Raw]:
    with Raw(command=MOODY) as raw:
        yield raw


def names(client: Raw) -> list[str]:
    return [tool["name"] for tool in client.result("tools/list")["tools"]]


def by_the_user(*, paused: bool) -> None:
    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: ops.pause(plan, "lunch", time_text()) if paused else ops.resume(plan))


def test_a_tool_that_appears_with_a_call_is_announced_behind_the_answer(moody: Raw) -> None:
    moody.greet()
    assert names(moody) == ["todo_write", "todo_read"]
    moody.say("todo_write", todos=[TODO])
    assert moody.read() == CHANGED
    assert names(moody) == ["todo_write", "todo_read", "todo_pause"]
    moody.say("todo_write", todos=[{**TODO, "status": "completed"}])
    assert moody.read() == CHANGED
    assert names(moody) == ["todo_write", "todo_read"]
    assert moody.is_silent()


def test_a_client_is_told_unasked_when_somebody_else_makes_tools_go_and_come(moody: Raw) -> None:
    moody.greet()
    moody.say("todo_write", todos=[TODO])
    assert moody.read() == CHANGED
    by_the_user(paused=True)
    assert moody.read() == CHANGED
    assert names(moody) == []
    by_the_user(paused=False)
    assert moody.read() == CHANGED
    assert names(moody) == ["todo_write", "todo_read", "todo_pause"]


def test_a_tool_that_is_offered_can_be_called(moody: Raw) -> None:
    moody.greet()
    moody.say("todo_write", todos=[TODO])
    assert moody.read() == CHANGED
    text = moody.say("todo_pause", reason="The build server does not answer on port 8080")
    assert "port 8080" in text
    assert moody.read() == CHANGED


def test_a_tool_that_was_withdrawn_is_refused_in_words_for_the_model(moody: Raw) -> None:
    moody.greet()
    moody.say("todo_write", todos=[TODO])
    assert moody.read() == CHANGED
    by_the_user(paused=True)
    assert moody.read() == CHANGED
    assert moody.call("todo_read") == ("todo_read is switched off at present.", True)


def test_without_a_handshake_only_those_who_subscribed_are_told(moody: Raw) -> None:
    assert names(moody) == ["todo_write", "todo_read"]
    moody.say("todo_write", todos=[TODO])
    assert moody.is_silent()
    first = moody.request("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=ENVELOPE)
    told = {**CHANGED, "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": first}}}
    assert moody.read()["method"] == "notifications/subscriptions/acknowledged"
    assert moody.read() == told  # the list that it has is old
    other = moody.request("subscriptions/listen", notifications={"toolsListChanged": False}, _meta=ENVELOPE)
    assert moody.read()["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": other}
    moody.say("todo_write", todos=[{**TODO, "status": "completed"}])
    assert moody.read() == told
    moody.notify("notifications/cancelled", requestId=first)
    moody.say("todo_write", todos=[TODO])
    assert moody.is_silent()


def test_a_subscription_tells_of_a_change_that_others_make(moody: Raw) -> None:
    id = moody.request("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=ENVELOPE)
    moody.read()
    moody.say("todo_write", todos=[TODO])
    told = {**CHANGED, "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": id}}}
    assert moody.read() == told
    by_the_user(paused=True)
    assert moody.read() == told


def test_nothing_is_offered_to_a_session_that_is_off(own_home: Path) -> None:
    set_off(True, session="s")
    for session, offered in (("s", []), ("other", ["plan"])):
        with Raw("--session", session) as client:
            client.greet()
            assert names(client) == offered


def test_a_fault_in_what_decides_of_tools_leaves_the_usual_ones() -> None:
    program = (
        "import sys\n"
        "from punchlist.mcp import serve\n"
        "from punchlist.mcp.server import Server\n"
        "from punchlist.mcp.callers import Callers, Given\n"
        "from punchlist.local.settings import load\n"
        "def broken(dialect, session, desk): raise KeyError('oh')\n"
        "sys.exit(serve(Server(load(), Callers(Given(), {}), offer=broken)))\n"
    )
    with Raw(command=[sys.executable, "-c", program]) as client:
        client.greet()
        assert names(client) == ["plan"]
        assert client.say("plan", add=["Read"]) == "added 1; now 1 Read (0/1)"
        assert client.is_silent()


def test_a_store_that_says_nothing_leaves_the_tools_as_they_are(moody: Raw, own_home: Path) -> None:
    (own_home / "punchlist").mkdir()
    (own_home / "punchlist" / "punchlist.db").mkdir()
    moody.greet()
    assert names(moody) == ["todo_write", "todo_read"]
    assert moody.call("todo_read")[1] is True
    assert moody.is_silent()


def test_switched_off_it_has_neither_tools_nor_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_OFF", "1")
    with Raw() as raw:
        assert "instructions" not in raw.greet()
        assert names(raw) == []

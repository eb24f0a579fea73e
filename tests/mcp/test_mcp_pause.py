"""A pause over MCP that fails, for whatever reason: the agent stops all the same, and the user can end that."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import do
from tests.mcp.raw import Raw

REASON = "The configuration file is missing and only the user can provide it"
TODO = {"id": "1", "content": "Read", "status": "in_progress"}
SAID = "So far, so good."
REFUSES = """
CREATE TRIGGER refuses BEFORE INSERT ON history WHEN NEW.changes LIKE '%paused%'
BEGIN SELECT RAISE(ABORT, 'no room for a pause'); END
"""


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "plans.db"
    monkeypatch.setenv("PUNCHLIST_STORE", f"sqlite:{path}")
    return path


@pytest.fixture
def nudged(database: Path) -> Iterator[Raw]:
    """A server in llxprt's dialect whose agent was nudged, so that it may pause."""
    with Raw("--dialect", "llxprt", "--session", "s1") as client:
        client.greet()
        hook("UserPromptSubmit", prompt="read it")
        client.say("todo_write", todos=[TODO])
        assert "Read" in hook("Stop", last_assistant_message=SAID)
        yield client


def hook(name: str, **more: str) -> str:
    event = {"hook_event_name": name, "session_id": "s1", **more}
    return do("hook", "claude-code", stdin=json.dumps(event))


def change(database: Path, sql: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute(sql)


def announced(client: Raw) -> None:
    """Read what the server says unasked: that the agent may pause now."""
    assert client.read()["method"] == "notifications/tools/list_changed"


def must_stop() -> None:
    """The agent is not nudged, and that its pause failed is in the log."""
    assert hook("Stop", last_assistant_message=SAID) == ""
    assert "its pause failed" in do("log", "--events", "--session", "s1")


def test_a_pause_that_the_store_refuses_stops_the_agent_until_resume(nudged: Raw, database: Path) -> None:
    announced(nudged)
    change(database, REFUSES)
    text, is_error = nudged.call("todo_pause", reason=REASON)
    assert is_error
    assert text.startswith("Failed to pause task: ")
    assert "no room for a pause" in text
    must_stop()
    assert do("resume") == "resumed: the agent had asked for a pause that could not be saved.\n"
    nudged.say("todo_write", todos=[TODO, {"id": "2", "content": "Write", "status": "pending"}])
    assert "Read" in hook("Stop", last_assistant_message=SAID)
    assert do("resume") == "nothing changed.\n"


def test_the_users_next_message_ends_a_pause_that_failed(nudged: Raw, database: Path) -> None:
    announced(nudged)
    change(database, REFUSES)
    assert nudged.call("todo_pause", reason=REASON)[1]
    must_stop()
    hook("UserPromptSubmit", prompt="go on")
    assert "Read" in hook("Stop", last_assistant_message=SAID)


def test_a_pause_of_the_plan_tool_that_fails_stops_the_agent(database: Path) -> None:
    with Raw("--session", "s1") as client:
        client.greet()
        hook("UserPromptSubmit", prompt="read it")
        client.say("plan", add=["Read"])
        change(database, REFUSES)
        text, is_error = client.call("plan", pause=REASON)
    assert is_error
    assert "no room for a pause" in text
    must_stop()
    do("resume", "--session", "s1")
    assert "Read" in hook("Stop", last_assistant_message=SAID)


@pytest.mark.parametrize("fails", [True, False], ids=["failed", "kept"])
def test_a_pause_whose_answer_nobody_reads_any_more_stops_the_agent(nudged: Raw, database: Path, fails: bool) -> None:
    announced(nudged)
    if fails:
        change(database, REFUSES)
    assert nudged.process.stdout
    nudged.process.stdout.close()
    nudged.request("tools/call", name="todo_pause", arguments={"reason": REASON})
    assert nudged.process.wait(30) == 0
    assert hook("Stop", last_assistant_message=SAID) == ""
    assert ("its pause failed" in do("log", "--events", "--session", "s1")) == fails
    assert do("resume").startswith("resumed")
    hook("UserPromptSubmit", prompt="go on")
    assert "Read" in hook("Stop", last_assistant_message=SAID)


def test_a_pause_stops_the_agent_also_where_the_store_cannot_be_opened(nudged: Raw, database: Path) -> None:
    nudged.close()
    aside = database.with_name("aside.db")
    database.rename(aside)
    database.mkdir()
    with Raw("--dialect", "llxprt", "--session", "s1") as client:
        client.greet()
        assert client.call("todo_pause", reason=REASON)[1]
    database.rmdir()
    aside.rename(database)
    must_stop()
    do("resume", "--session", "s1")
    hook("UserPromptSubmit", prompt="go on")
    assert "Read" in hook("Stop", last_assistant_message=SAID)

"""When an agent was last heard from, and since when each item is active, from what is stored anyway."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

import punchlist
from punchlist import Desk, ops
from punchlist.core.model import Plan
from punchlist.core.text import in_words
from punchlist.desk.activity import (
    LATELY,
    active_since,
    heard_in_sessions,
    is_working,
    last_heard,
    recent_records,
    session_desk,
    silence,
    stopped_at,
)
from punchlist.desk.events import log_event
from punchlist.local.files import time_text


@pytest.fixture
def desk() -> Iterator[Desk]:
    with punchlist.open("sqlite:plan.db", session="s1") as own:
        yield own


@pytest.fixture(autouse=True)
def own_folder(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))


def at(monkeypatch: pytest.MonkeyPatch, time: str) -> str:
    """Let it be this time of a day, until another one is said."""
    text = f"2026-01-01T{time}.000Z"
    seconds = datetime.fromisoformat(text).timestamp()
    monkeypatch.setattr("punchlist.local.files.time", lambda: seconds)
    return text


def test_an_agent_is_heard_from_when_it_changes_the_plan_uses_a_tool_or_is_prompted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert last_heard(desk, desk.plan) == ""
    changed = at(monkeypatch, "10:00:00")
    desk.call("plan", {"add": ["Read", "Write"]})
    assert last_heard(desk, desk.plan) == changed
    used = at(monkeypatch, "10:01:00")
    desk.tool_used("shell", {"command": "make"}, "fine")
    assert last_heard(desk, desk.plan) == used
    prompted = at(monkeypatch, "10:02:00")
    desk.prompted("go on")
    assert last_heard(desk, desk.plan) == prompted


def test_an_edit_of_the_user_is_not_a_sign_of_the_agent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    made = at(monkeypatch, "10:00:00")
    desk.call("plan", {"add": ["Read", "Write"]})
    at(monkeypatch, "10:05:00")
    desk.change(lambda plan: ops.add(plan, "Ask Ann"))
    assert last_heard(desk, desk.plan) == made


def test_whichever_session_of_a_plan_was_heard_from_last_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "10:00:00")
    desk.call("plan", {"add": ["Read"]})
    desk.bind("s2")
    later = at(monkeypatch, "10:03:00")
    desk.for_session("s1").tool_used("shell", {"command": "make"}, "fine")
    with punchlist.open("sqlite:plan.db", plan=desk.plan.id) as other:
        assert heard_in_sessions(other, other.plan.id) == later
        assert session_desk(other, other.plan).session == "s2"
    assert session_desk(desk, desk.plan) is desk


def test_each_active_item_has_the_time_of_its_own_last_start(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "10:00:00")
    desk.call("plan", {"add": ["Read", "Write", "Test"]})
    second = at(monkeypatch, "10:01:00")
    desk.change(lambda plan: ops.start(plan, "2", owner="w2"))
    at(monkeypatch, "10:02:00")
    desk.change(lambda plan: ops.note(ops.reopen(plan, "1"), "2", "on it"))
    first = at(monkeypatch, "10:03:00")
    plan = desk.change(lambda plan: ops.start(plan, "1")).plan
    assert active_since(recent_records(desk, plan), plan) == {"1": first, "2": second}


def test_silence_is_told_in_plain_words_and_ends_the_work() -> None:
    plan = ops.start(ops.add(Plan(), "Read"), "1")
    lately, old = time_text(-LATELY / 2), time_text(-250)
    assert (silence(plan, lately, ""), is_working(plan, lately, "")) == ("", True)
    assert (silence(plan, old, ""), is_working(plan, old, "")) == ("nothing heard for 4 minutes", False)
    assert (silence(plan, lately, old), is_working(plan, lately, old)) == ("the agent stopped 4 minutes ago", False)
    assert silence(plan, lately, time_text(-5)) == "the agent stopped just now"
    assert (silence(plan, "", ""), is_working(plan, "", "")) == ("", False), "nobody was ever heard from"
    paused = ops.pause(plan, "lunch")
    assert (silence(paused, old, ""), is_working(paused, lately, "")) == ("", False)
    assert silence(ops.complete(plan, "1"), old, "") == "", "nothing is being worked on"


def test_an_agent_that_stopped_has_stopped_until_it_is_heard_from_again(desk: Desk) -> None:
    desk.call("plan", {"add": ["Read"]})
    plan, before, after = desk.plan.id, time_text(-60), time_text(60)
    assert stopped_at(plan, before) == ""
    log_event(desk, "stop", reason="it asked something")
    assert stopped_at(plan, before) > before
    assert stopped_at(plan, after) == ""
    log_event(desk, "nudge", reason="open items")
    assert stopped_at(plan, before) == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (1, "1 second"), (59.9, "59 seconds"), (60, "1 minute"), (250, "4 minutes"), (7200, "2 hours"),
     (86_400, "1 day"), (-5, "0 seconds")],
)  # fmt: skip
def test_a_length_of_time_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words

"""A store that somebody holds costs one wait, not one for each hook."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import punchlist
from punchlist.core.errors import StoreError
from punchlist.hosts.breaker import Breaker
from tests.commands import do, logged_errors

USED = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "ok"}


def hook(name: str, **more: object) -> str:
    event = {"hook_event_name": name, "session_id": "s", "transcript_path": "", **more}
    return do("hook", "claude-code", stdin=json.dumps(event))


@pytest.fixture
def state(own_home: Path) -> Path:
    """The state folder, with a plan that a session works from."""
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})
    return own_home / "punchlist"


@contextmanager
def held(state: Path) -> Iterator[None]:
    db = sqlite3.connect(state / "punchlist.db", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    yield
    db.execute("ROLLBACK")
    db.close()


def marks(state: Path) -> list[Path]:
    return list(state.glob("held-*"))


def test_a_hook_that_waited_in_vain_leaves_a_mark_and_the_next_ones_do_not_wait(state: Path) -> None:
    with held(state):
        assert hook("PostToolUse", **USED) == ""
        (mark,) = marks(state)
        assert mark.stat().st_mode & 0o777 == 0o600
        then = mark.stat().st_mtime_ns
        for name in ("PostToolUse", "UserPromptSubmit", "Stop"):
            assert hook(name, **USED, prompt="go on") == ""
        assert mark.stat().st_mtime_ns == then  # nobody waited again, or it would be younger
        os.utime(mark, (time.time() - 60,) * 2)  # as if a minute had passed
        hook("PostToolUse", **USED)
        assert mark.stat().st_mtime > time.time() - 30
    assert str(logged_errors()).count("locked") >= 3


def test_hooks_work_at_once_when_the_store_is_free_again(state: Path) -> None:
    with held(state):
        hook("PostToolUse", **USED)
    hook("PostToolUse", **USED)
    with punchlist.open(session="s") as desk:
        assert [len(item.calls) for item in desk.load(calls=True).items] == [1, 0]


def test_a_hook_of_a_tool_waits_a_moment_and_the_others_a_little_longer(own_home: Path) -> None:
    assert Breaker("sqlite:x", tool=True).patience == 0.3
    assert Breaker("sqlite:x", tool=False).patience == 3.0


@pytest.mark.parametrize("age", [-100.0, 11.0])
def test_a_mark_that_is_old_or_of_the_future_holds_nobody(own_home: Path, age: float) -> None:
    breaker = Breaker("sqlite:x", tool=True)
    breaker.patience = 0.0
    breaker.__exit__(StoreError, StoreError("held"), None)
    assert Breaker("sqlite:x", tool=True).patience < 0.1
    assert Breaker("sqlite:y", tool=True).patience == 0.3
    (mark,) = marks(own_home / "punchlist")
    os.utime(mark, (time.time() - age,) * 2)
    assert Breaker("sqlite:x", tool=True).patience == 0.3


def test_an_error_that_came_at_once_is_no_reason_not_to_wait(own_home: Path) -> None:
    with pytest.raises(StoreError), Breaker("sqlite:x", tool=True):
        raise StoreError("not a store")
    assert not (own_home / "punchlist").exists()

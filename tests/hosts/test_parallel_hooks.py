"""Hooks that run at once: of an edit, one of them tells."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops
from tests.mcp.raw import Raw

_HOOK = [sys.executable, "-m", "punchlist", "hook", "claude-code"]
_PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "go on"}
_LONG = "Read the whole of it " * 400  # more than a pipe of one page holds
_TOLD = "the user completed"


def _event(values: dict[str, Any]) -> bytes:
    return json.dumps({"cwd": os.getcwd(), **values}).encode()


def _todos(*texts: str) -> bytes:
    todos = [{"content": text, "status": "pending", "activeForm": text} for text in texts]
    values = {"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}}
    return _event({"hook_event_name": "PostToolUse", "session_id": "s", **values})


def _bash(number: int) -> bytes:
    values = {"tool_name": "Bash", "tool_input": {"command": f"echo {number}"}, "tool_response": {}}
    return _event({"hook_event_name": "PostToolUse", "session_id": "s", "tool_use_id": f"t{number}", **values})


def _answer(event: bytes) -> str:
    return subprocess.run(_HOOK, input=event, capture_output=True, check=True).stdout.decode()


def _edit(id: str) -> None:
    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: ops.complete(plan, id))


@pytest.fixture
def edited() -> None:
    """A list that an agent wrote, and an edit that it has not been told of."""
    _answer(_todos("Read", _LONG))
    _edit("1")


@pytest.fixture
def writing(edited: None) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A hook that tells the edit and has not finished writing: nobody reads on. And the pipe that it writes to."""
    import fcntl

    if not hasattr(fcntl, "F_SETPIPE_SZ"):
        pytest.skip("the size of a pipe cannot be set here")
    reading, end = os.pipe()
    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096)
    hook = subprocess.Popen(_HOOK, stdin=subprocess.PIPE, stdout=end)
    os.close(end)
    assert hook.stdin
    hook.stdin.write(_event(_PROMPT))
    hook.stdin.close()
    select.select([reading], [], [])
    yield hook, reading
    os.close(reading)
    hook.kill()
    hook.wait()


def _rest(pipe: int) -> str:
    with os.fdopen(os.dup(pipe), "rb") as file:
        return file.read().decode()


def _all_at_once(events: list[bytes]) -> list[str]:
    """What a hook each answers to these events. All of them wait for their event before the first gets it."""
    hooks = [subprocess.Popen(_HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in events]
    for hook, event in zip(hooks, events, strict=True):
        assert hook.stdin
        hook.stdin.write(event)
        hook.stdin.close()
    said = []
    for hook in hooks:
        assert hook.stdout
        with hook.stdout as out:
            said.append(out.read().decode())
        assert hook.wait() == 0
    return said


@pytest.mark.parametrize("store", ["sqlite", "json"])
def test_of_hooks_that_run_at_once_one_tells_an_edit(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUNCHLIST_STORE", f"{store}:{tmp_path / 'plans'}")
    _answer(_todos("Read", "Write", "Test"))
    for id in "12":
        _edit(id)
        said = _all_at_once([_bash(number) for number in range(6)])
        assert sum(_TOLD in one for one in said) == 1
        assert sum("activeForm" in one for one in said) == 1  # the list that follows it
        assert _TOLD not in _answer(_bash(7))


def test_while_one_hook_writes_an_update_another_does_not_tell_it(
    writing: tuple[subprocess.Popen[bytes], int],
) -> None:
    hook, pipe = writing
    assert _TOLD not in _answer(_bash(1))
    assert _TOLD not in _answer(_todos("Read", _LONG, "Write"))
    assert _TOLD in _rest(pipe)
    assert hook.wait() == 0
    assert _TOLD not in _answer(_event(_PROMPT))
    with punchlist.open(session="s") as desk:
        assert [item.status for item in desk.plan.items] == ["completed", "pending", "pending"]


def test_an_update_of_a_hook_that_was_killed_while_it_wrote_is_told_again(
    writing: tuple[subprocess.Popen[bytes], int],
) -> None:
    hook, _ = writing
    hook.kill()
    hook.wait()
    assert _TOLD in _answer(_bash(1))
    assert _TOLD not in _answer(_bash(2))


def test_the_server_does_not_tell_what_a_hook_is_telling(writing: tuple[subprocess.Popen[bytes], int]) -> None:
    hook, pipe = writing
    with Raw("--session", "s") as client:
        client.greet()
        assert _TOLD not in client.say("plan", add=["Write"])
        assert _TOLD not in client.say("plan", show=True)
        assert _TOLD in _rest(pipe)
        assert hook.wait() == 0
        assert _TOLD not in client.say("plan", show=True)


@pytest.mark.usefixtures("edited")
def test_an_edit_is_told_where_no_claim_can_be_kept(own_home: Path) -> None:
    (own_home / "punchlist" / "telling.lock").mkdir()
    assert _TOLD in _answer(_bash(1))
    assert _TOLD not in _answer(_bash(2))

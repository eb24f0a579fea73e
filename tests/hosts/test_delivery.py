"""An update counts as told when the answer that holds it was written, and not before."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from array import array
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops

_HOOK = [sys.executable, "-m", "punchlist", "hook", "claude-code"]


def _event(name: str, **more: Any) -> bytes:
    return json.dumps({"hook_event_name": name, "session_id": "s", "cwd": os.getcwd(), **more}).encode()


def _answer(event: bytes) -> str:
    return subprocess.run(_HOOK, input=event, capture_output=True, check=True).stdout.decode()


def _listed(text: str, status: str) -> dict[str, Any]:
    todo = {"content": text, "status": status, "activeForm": text}
    return {"tool_name": "TodoWrite", "tool_input": {"todos": [todo]}, "tool_response": {}}


def _plan() -> list[str]:
    with punchlist.open(session="s") as desk:
        return [item.text for item in desk.plan.items]


@pytest.fixture
def renamed() -> None:
    """A plan that an agent wrote with its own tool, and an edit that it has not heard of."""
    _answer(_event("PostToolUse", **_listed("Drop the table", "pending")))
    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: ops.rename(plan, "1", "Keep the table"))


@pytest.mark.usefixtures("renamed")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("tool", [{"tool_name": "Bash", "tool_input": {}}, _listed("Drop the table", "in_progress")])
def test_an_update_that_could_not_be_written_is_told_again(tool: dict[str, Any]) -> None:
    with open("/dev/full", "wb") as full:
        subprocess.run(_HOOK, input=_event("PostToolUse", **tool), stdout=full, stderr=subprocess.DEVNULL, check=True)
    assert "Keep the table" in _answer(_event("UserPromptSubmit", prompt="go on"))
    assert "renamed" not in _answer(_event("UserPromptSubmit", prompt="go on"))
    assert _plan() == ["Keep the table"]


@pytest.mark.usefixtures("renamed")
def test_an_update_for_a_reader_that_is_gone_is_told_again() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        subprocess.run(_HOOK, input=_event("UserPromptSubmit", prompt="go on"), stdout=pipe, check=True)
    _answer(_event("PostToolUse", **_listed("Drop the table", "pending")))
    assert _plan() == ["Keep the table"]


@pytest.mark.usefixtures("renamed")
def test_an_edit_is_told_once_though_a_list_and_a_hook_could_tell_it() -> None:
    said = _answer(_event("PostToolUse", **_listed("Drop the table", "in_progress")))
    assert said.count("the user renamed") == 1


@pytest.mark.usefixtures("renamed")
def test_behind_an_edit_the_whole_list_is_shown_once_in_the_form_of_the_tool() -> None:
    said = _answer(_event("UserPromptSubmit", prompt="go on"))
    context = json.loads(said)["hookSpecificOutput"]["additionalContext"]
    assert '[{"content": "Keep the table", "status": "pending"' in context
    assert "Keep the table" not in _answer(_event("UserPromptSubmit", prompt="go on"))


def _waits_for_input(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has read all that was written and sleeps: a signal before that waits for the next bytes."""
    left = array("i", [0])
    assert process.stdin
    fcntl.ioctl(process.stdin, termios.FIONREAD, left)
    state = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    return left[0] == 0 and state == "S"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nothing says whether a process sleeps")
def test_ctrl_c_while_a_hook_waits_for_its_event_ends_it_quietly() -> None:
    with subprocess.Popen(
        _HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for _ in range(4):
            process.stdin.write(b"x" * 65_536)  # more than a pipe holds: written once the hook reads
        while not _waits_for_input(process):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
        assert (process.stdout.read(), process.stderr.read(), process.returncode) == (b"", b"", 130)

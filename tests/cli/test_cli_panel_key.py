"""An edit in a panel of ours in an agent's screen is the user's: it brings the key that the panel has registered."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import punchlist
from tests import commands

AGENT = {"OPENCODE": "1", "PUNCHLIST_SESSION": "s1"}  # what a command has that an agent types in its shell
PANEL = {**AGENT, "PUNCHLIST_PANEL": "1"}
KEY = "k" * 48


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})


def register(key: str) -> None:
    digest = hashlib.sha256(key.encode()).hexdigest()
    commands.hook("opencode", {"moment": "panel", "session": "panel", "panel": digest})


def add(key: str, **env: str) -> str:
    """Add an item as a panel does, and return who did it."""
    commands.do("add", "--", "-x", stdin=key, **env)
    with punchlist.open(session="s1") as desk:
        return desk.history()[-1].by


def test_the_key_makes_an_edit_the_users() -> None:
    register(KEY)
    assert add(KEY, **PANEL) == "user"
    assert commands.do("undo", stdin=KEY, **PANEL) == 'removed 3 "-x".\n'


def test_without_the_key_a_command_in_a_shell_is_the_agents() -> None:
    register(KEY)
    assert add("", **PANEL) == "main"
    assert add("x" * 48, **PANEL) == "main"
    assert add(hashlib.sha256(KEY.encode()).hexdigest(), **PANEL) == "main", "the digest is not the key"
    assert add(KEY, **AGENT) == "main", "who does not say so has no key"
    assert commands.run("undo", stdin="x", **PANEL).returncode == 1


def test_no_key_is_right_where_none_is_registered() -> None:
    assert add(KEY, **PANEL) == "main"
    assert add("", **PANEL) == "main"


def test_the_first_key_of_a_program_counts() -> None:
    register(KEY)
    register("another")
    register(KEY)
    assert add("another", **PANEL) == "main"
    assert add(KEY, **PANEL) == "user"
    (error,) = commands.logged_errors()
    assert error.endswith("another panel has registered its key in this program")


def test_a_hook_in_the_shell_of_an_agent_registers_nothing() -> None:
    digest = hashlib.sha256(KEY.encode()).hexdigest()
    commands.hook("opencode", {"moment": "panel", "session": "panel", "panel": digest}, **AGENT)
    assert add(KEY, **PANEL) == "main"


def test_the_key_of_one_program_is_not_good_in_another() -> None:
    register(KEY)
    code = "import subprocess, sys; subprocess.run(sys.argv[1:], input=sys.stdin.read(), text=True, check=True)"
    words = [sys.executable, "-c", code, commands.SCRIPT, "add", "Elsewhere"]
    subprocess.run(words, input=KEY, text=True, check=True, capture_output=True, env={**os.environ, **PANEL})
    with punchlist.open(session="s1") as desk:
        assert desk.history()[-1].by == "main"


def test_a_watch_ends_with_its_reader() -> None:
    words = [commands.SCRIPT, "watch", "--json", "--session", "s1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as watch:
        assert watch.stdout is not None
        assert watch.stdout.readline().startswith(b'{"id"')
        watch.stdout.close()
        assert watch.wait(timeout=60) == 0

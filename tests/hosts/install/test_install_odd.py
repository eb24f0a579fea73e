"""Files and folders that are odd, and places where installing is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.install.test_install import SCRIPT, run, work, write

__all__ = ["work"]


# --- values of another kind ------------------------------------------------------------------------------------------


def about(host: str) -> list[str]:
    """What `doctor` says of an agent."""
    done = subprocess.run([SCRIPT, "doctor", "--json"], capture_output=True, encoding="utf-8", check=False)
    return [one["text"] for one in json.loads(done.stdout)["checks"] if one["about"] == host]


@pytest.mark.parametrize(
    ("host", "name", "odd"),
    [
        ("claude-code", ".claude/settings.json", {"permissions": {"deny": 5}}),
        ("claude-code", ".claude/settings.json", {"permissions": {"deny": "mcp__punchlist"}}),
        ("gemini", ".gemini/settings.json", {"hooks": {"disabled": 5}}),
        ("codex", ".codex/config.toml", 'features = "x"\n'),
        ("codex", ".codex/config.toml", 'hooks = "x"\n'),
    ],
)
def test_a_value_of_another_kind_does_not_end_doctor(host: str, name: str, odd: Any, own_home: Path) -> None:
    write(own_home / name, (odd if isinstance(odd, str) else json.dumps(odd)).encode())
    run("install", host)
    assert "is attached for you" in about(host)[0]


def test_a_hook_without_a_command_does_not_end_doctor(own_home: Path) -> None:
    run("install", "codex")
    path = own_home / ".codex" / "hooks.json"
    now = json.loads(path.read_text())
    now["hooks"]["Stop"][0]["hooks"] = [{"type": "x", "server": "punchlist", "input": {"host": "codex"}}]
    path.write_text(json.dumps(now))
    assert "Codex is attached for you: server, hooks" in about("codex")

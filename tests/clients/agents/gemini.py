"""Gemini CLI, headless."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.agents import Setup, World
from tests.clients.script import Call, Step, does, own

FOLDER = "gemini"
PACKAGES = ("@google/gemini-cli@0.61.0",)
TOOL = "mcp_punchlist_plan"
NEWEST, OLDER = MODELS = "gemini-3-pro-preview", "gemini-2.5-pro"
OWN = Setup(OLDER, args=("--approval-mode", "yolo"))
FULL = 900_000
COMPACTS = Setup(settings={"model": {"compressionThreshold": 0.0015}})
_QUIET = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}

SETTINGS = {
    ".gemini/settings.json": """{
  // mine
  "hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "echo '{}'"}]}]},

  "ui": {"hideTips": true}
}
""",
}
EXITS = (0, 3)
ASIDE = ""
LATE, ECHOES = 1, 1  # no event tells of a compression: the plan comes with the next tool result

STRAYS = ("CONNECT play.googleapis.com:443",)  # it counts installations of extensions; the tests refuse that


def program(folder: Path) -> Path | None:
    path = folder / "node_modules" / ".bin" / "gemini"
    return path if path.exists() else None


def trust(world: World) -> None:
    """Its environment says so already."""


def packaged(world: World, packages: str) -> list[list[str]]:
    allow(world)
    return [["extensions", "install", f"{packages}/gemini", "--consent", "--skip-settings"]]


def allow(world: World) -> None:
    """An extension cannot let itself be called without asking, and headless nobody can be asked: the user allows it."""
    policy = world.home / ".gemini" / "policies" / "mine.toml"
    policy.parent.mkdir(parents=True, exist_ok=True)
    policy.write_text(
        '[[rule]]\nmcpName = "punchlist"\ntoolName = "*"\ndecision = "allow"\npriority = 100\n', encoding="utf-8"
    )


def environ(world: World, setup: Setup) -> dict[str, str]:
    own = world.project / ".gemini" / "settings.json"  # the project's: the user's are for us to be installed in
    own.parent.mkdir(exist_ok=True)
    there = json.loads(own.read_text(encoding="utf-8")) if own.exists() else {}
    own.write_text(json.dumps({**there, **_QUIET, **setup.settings}), encoding="utf-8")
    return {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": world.model,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "NO_BROWSER": "1",
        **setup.environ,
    }


def command(world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
    options = ["-o", "stream-json", "--model", setup.model or NEWEST, "--allowed-tools", "run_shell_command"]
    return [str(world.program), "-p", prompt, *options, *setup.args, *(["--resume", "latest"] if resume else [])]


def listed(*items: tuple[str, str]) -> Call:
    return own("write_todos", todos=[{"description": text, "status": status} for text, status in items])


def delegated(prompt: str) -> list[Step]:
    return [does(own("invoke_agent", agent_name="generalist", prompt=prompt))]


def concluded(text: str) -> Step:
    return does(own("complete_task", result={"response": text}))

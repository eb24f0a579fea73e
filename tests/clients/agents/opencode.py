"""opencode, headless."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.agents import Setup, World

FOLDER = "opencode"
PACKAGES = ("opencode-ai@1.18.33",)
EXITS = (0, 3)
ASIDE = ""
SETTINGS = {"config/opencode/opencode.jsonc": '{\n  // mine\n  "share": "disabled",\n}\n'}
_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "DEFAULT_PLUGINS")


def program(folder: Path) -> Path | None:
    path = folder / "node_modules" / "opencode-linux-x64" / "bin" / "opencode"
    return path if path.exists() else None


def packaged(world: World, packages: str) -> list[list[str]]:
    """For a user who has run it before. In a new home it fetches a package of its own for plugins, and while it does so
    `opencode plugin` leaves a lock that the next start waits a minute for."""
    folder = world.home / "config" / "opencode"
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    known = {"": {"dependencies": {"@opencode-ai/plugin": PACKAGES[0].partition("@")[2]}}}
    (folder / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": known}), encoding="utf-8")
    return [["plugin", f"{packages}/opencode", "--global"]]


def environ(world: World, setup: Setup) -> dict[str, str]:
    model = {"name": "M", "tool_call": True, "limit": {"context": 200_000, "output": 8000}}
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "F", "models": {"m": model}}
    options = {"baseURL": f"{world.model}/v1", "apiKey": "none"}
    own = {
        "autoupdate": False,
        "model": "fake/m",
        "small_model": "fake/m",
        "provider": {"fake": {**fake, "options": options}},
    }
    (world.project / "opencode.json").write_text(json.dumps(own))
    return {**{f"OPENCODE_DISABLE_{name}": "1" for name in _OFF}, **setup.environ}


def command(world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
    return [str(world.program), "run", "--format", "json", "--auto", *(["--continue"] if resume else []), prompt]

"""oh-my-pi, headless, with the tools of servers among the others."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.clients.agents import Setup, World

FOLDER = "omp"
PACKAGES = ("@oh-my-pi/pi-coding-agent@18.2.3", "bun@1.4.4")
EXITS = (0, 3)
ASIDE = ""
SETTINGS = {".omp/agent/mcp.json": '{\n\t"mcpServers": {}\n}'}
_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


def program(folder: Path) -> Path | None:
    path = folder / "node_modules" / ".bin" / "omp"
    return path if path.exists() and shutil.which("bun", path=_runtimes(folder)) else None


def _runtimes(folder: Path) -> str:
    """Where Bun may be: its own package holds none until a script of it has run, and no script of a package is run."""
    modules = folder / "node_modules"
    return os.pathsep.join(map(str, [*sorted(modules.glob("@oven/*/bin")), modules / ".bin"]))


def packaged(world: World, packages: str) -> list[list[str]]:
    return [["plugin", "link", f"{packages}/oh-my-pi"]]


def environ(world: World, setup: Setup) -> dict[str, str]:
    folder = world.home / ".omp" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    model = {"id": "m", "name": "M", "reasoning": False, "input": ["text"], "cost": _COST}
    fake = {"baseUrl": f"{world.model}/v1", "apiKey": "FAKE_KEY", "api": "openai-completions"}
    models = [{**model, "contextWindow": 200_000, "maxTokens": 8000}]
    (folder / "models.yml").write_text(json.dumps({"providers": {"fake": {**fake, "models": models}}}))
    (folder / "config.yml").write_text("tools:\n  xdev: false\nsetupVersion: 99\n")  # past its first questions
    path = f"{_runtimes(world.program.parents[2])}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "FAKE_KEY": "none", "PI_SKIP_VERSION_CHECK": "1", "OMP_TELEMETRY": "0", **setup.environ}


def knows_tools(world: World) -> bool:
    """Whether it knows the tools of our server from before, if it has the server. If not, it waits a quarter of a
    second for them, and then begins without."""
    settings = (world.home / ".omp" / "agent" / "mcp.json", world.project / ".omp" / "mcp.json")
    plugins = world.home / ".omp" / "plugins" / "node_modules"
    has_package = (plugins / "punchlist-oh-my-pi").exists()
    if not has_package and not any(
        path.exists() and "punchlist" in path.read_text(encoding="utf-8") for path in settings
    ):
        return True
    store = world.home / ".omp" / "agent" / "agent.db"
    if not store.exists():
        return False
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        try:
            return db.execute("SELECT 1 FROM cache WHERE key = 'mcp_tools:punchlist'").fetchone() is not None
        except sqlite3.OperationalError:  # it is just being made
            return False


def command(world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
    options = ["--mode", "json", "--model", "fake/m", "--auto-approve", "--no-lsp", "--no-title"]
    return [str(world.program), "-p", *options, *(["-c"] if resume else []), prompt]

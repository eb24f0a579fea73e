"""Install the agents that the tests run, each in its pinned version: `python -m tests.clients.fetch FOLDER`.

npm fetches them, from wherever it is told to on this machine, and pip fetches pre-commit. One that cannot be had is
named, and its tests are skipped."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.agents import OTHERS, PATHS, Agent, load

PRE_COMMIT = "4.7.0"
_SECONDS = 600
_OPTIONS = ("--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def main(root: Path) -> int:
    for name in (*PATHS, *OTHERS):
        trouble = fetched(load(name), root)
        print(f"{name}: {trouble or 'is there'}", flush=True)
    print(f"pre-commit: {fetched_pre_commit(root) or 'is there'}", flush=True)
    return 0


def pre_commit(root: Path) -> Path | None:
    """The program, in just this version, if it is there."""
    folder = root / "pre-commit"
    program = folder / "bin" / "pre-commit"
    installed = list(folder.glob(f"lib/python*/site-packages/pre_commit-{PRE_COMMIT}.dist-info"))
    if program.exists() and installed:
        return program
    return None


def fetched_pre_commit(root: Path) -> str:
    """Have pre-commit in an environment of its own; why that is not possible, if it is not."""
    if pre_commit(root):
        return ""
    folder = root / "pre-commit"
    trouble = _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    if not trouble:
        trouble = _run([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", f"pre-commit=={PRE_COMMIT}"])
    return trouble and f"cannot be installed here: {trouble}"


def fetched(agent: Agent, root: Path) -> str:
    """Have an agent where the tests look for it; why that is not possible, if it is not."""
    folder = root / agent.FOLDER
    if agent.program(folder) and all(_is_there(package, folder) for package in agent.PACKAGES):
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "cannot be installed without npm"
    folder.mkdir(parents=True, exist_ok=True)
    trouble = _run([npm, "install", "--prefix", str(folder), *_OPTIONS, *agent.PACKAGES])
    if not trouble and agent.program(folder) is None:
        trouble = "holds no program for this machine"
    return trouble and f"cannot be installed here: {trouble}"


def _is_there(package: str, folder: Path) -> bool:
    """Whether a package is installed in just this version."""
    name, _, version = package.rpartition("@")
    about = folder / "node_modules" / name / "package.json"
    return about.exists() and json.loads(about.read_text(encoding="utf-8"))["version"] == version


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{Path(command[0]).name} took longer than {_SECONDS} seconds"
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines()
    return said[0] if said else f"{Path(command[0]).name} ended with {done.returncode}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

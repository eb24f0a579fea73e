"""What importing an adapter costs beyond its framework, in new processes."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..frame import Row

ROUNDS = 7
# What a program that uses the framework and its adapter has to load anyway: modules, and names that load some.
NEEDS = {
    "acp": ("acp",),
    "adk": ("google.adk.agents", "google.adk.plugins", "google.adk.runners", "google.adk.tools"),
    "agent_framework": ("agent_framework:Agent", "agent_framework:TodoProvider"),
    "claude_sdk": ("claude_agent_sdk",),
    "langchain": ("langchain.agents", "langchain.agents.middleware"),
    "openai_agents": ("agents",),
    "pydantic_ai": ("pydantic_ai", "pydantic_ai.capabilities"),
    "smolagents": ("smolagents",),
}
_TIMED = """
import json, sys
from importlib import import_module
from time import perf_counter
begun = perf_counter()
for needed in sys.argv[2:]:
    module, _, name = needed.partition(":")
    found = import_module(module)
    if name:
        getattr(found, name)
between = perf_counter()
import_module(sys.argv[1])
print(json.dumps([between - begun, perf_counter() - between]))
"""


def adapters(source: Path) -> list[str]:
    """The adapters that there are."""
    return sorted({path.stem for path in (source / "punchlist" / "adapters").glob("*.py")} - {"__init__", "safe_desk"})


def rows(python: Path, names: Iterable[str], environ: Mapping[str, str]) -> list[Row]:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for turn in range(-1, ROUNDS):  # the first writes .pyc files, and is not counted
        for name, found in times.items():
            took = _process(python, name, environ)
            if turn >= 0:
                found.append(took)
    return [_row(name, found) for name, found in times.items()]


def _row(name: str, times: list[tuple[float, float]]) -> Row:
    framework = statistics.median(before for before, _ in times) * 1000
    ours = statistics.median(after for _, after in times) * 1000
    note = f"after {framework:,.0f} ms for {', '.join(NEEDS[name])}"
    return Row(f"import punchlist.adapters.{name}", 15, ours, "ms", note)


def _process(python: Path, name: str, environ: Mapping[str, str]) -> tuple[float, float]:
    """The seconds for a framework, and then for its adapter."""
    command = [str(python), "-c", _TIMED, f"punchlist.adapters.{name}", *NEEDS[name]]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environ, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr}")
    before, after = json.loads(done.stdout.splitlines()[-1])
    return before, after

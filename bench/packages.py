"""Our packages: how long until the server of the plugin lists its tools, beside the installed script; and what its
hooks add to a tool call in the real Claude Code, in turn with the same plugin without hooks, and with no plugin. Of all
calls the lower tenth counts, in which nothing else had the machine."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from tests.clients.agents import claude_code, load
from tests.clients.script import Call, does, plan, says, shell
from tests.clients.stage import ROOT, Stage

from . import mcp
from .frame import Row

STARTS, ROUNDS, TURNS = 30, 10, 40


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return [*_starts(Path(folder)), *_in_claude(Path(folder))]


def _starts(folder: Path) -> list[Row]:
    plugin = shutil.copytree(ROOT / "packages" / "punchlist", folder / "plugin")
    script = mcp.punchlist()
    packaged = script._replace(name="plugin", command=(str(plugin / "bin" / "punchlist"), "mcp", "--plugin"))
    home = folder / "home"
    home.mkdir()
    times = mcp.turns((script, packaged), mcp.environment_in(home), STARTS)
    ours, theirs = times["plugin"], times["punchlist"]
    note = f"{ours * 1000:.1f} ms; the installed script: {theirs * 1000:.1f} ms"
    return [Row("plugin: spawn to tools/list", 2, ours / theirs, "x", note)]


def _in_claude(folder: Path) -> list[Row]:
    clients = os.environ.get("PUNCHLIST_TEST_CLIENTS", "")
    program = claude_code.program(Path(clients, claude_code.FOLDER)) if clients else None
    if program is None:
        print("packages: Claude Code is left out, PUNCHLIST_TEST_CLIENTS names no folder with it")
        return []
    names = ("bare", "without", "with")
    bare, without, within = (Stage("claude-code", load("claude-code"), program, folder / name) for name in names)
    _copy_without_hooks(without)
    without.install_package()
    within.install_package()
    stages = (bare, without, within)
    for stage in stages:
        _run(stage)  # a first run writes files
    times: tuple[list[float], ...] = ([], [], [])
    first = plan(add=["Read it", "Fix it"])
    for _ in range(ROUNDS):
        for stage, took in zip(stages, times, strict=True):
            took += _run(stage) if stage is bare else _run(stage, first)
    for stage in stages:
        stage.model.close()
    alone, silent, hooked = (quantiles(took, n=10)[0] * 1000 for took in times)
    note = f"{hooked:.1f} ms a call; the plugin without hooks: {silent:.1f} ms; no plugin: {alone:.1f} ms"
    return [Row("plugin: hooks of a tool call in Claude Code", 5, hooked - silent, "ms", note)]


def _copy_without_hooks(stage: Stage) -> None:
    """Let a stage install a plugin that has everything but hooks."""
    copy = shutil.copytree(ROOT / "packages", stage.home.parent / "packages")
    path = copy / "punchlist" / "hooks" / "hooks.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "hooks": {}}))


def _run(stage: Stage, *first: Call) -> list[float]:
    """Seconds that each of many tool calls takes, from one request to the next."""
    times: list[float] = []
    steps = [does(*first)] if first else []
    calls = [does(shell("true"), first=lambda: times.append(perf_counter())) for _ in range(TURNS)]
    stage.run("Do it.", *steps, *calls, says("Which one do you want?"))
    return [after - before for before, after in pairwise(times)]

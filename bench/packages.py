"""Our packages: how long until the server of the plugin lists its tools, beside the installed script; and what its
hooks add to a tool call in the real Claude Code, with and without the plugin in turn."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from time import perf_counter

from tests.clients.agents import claude_code, load
from tests.clients.script import Call, does, plan, says, shell
from tests.clients.stage import ROOT, Stage

from . import mcp
from .frame import Row

STARTS, ROUNDS, TURNS = 30, 5, 30


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
    bare, with_plugin = (Stage("claude-code", load("claude-code"), program, folder / name) for name in ("bare", "with"))
    with_plugin.install_package()
    for stage in (bare, with_plugin):
        _run(stage)  # a first run writes files
    pairs = [(_run(bare), _run(with_plugin, plan(add=["Read it", "Fix it"]))) for _ in range(ROUNDS)]
    for stage in (bare, with_plugin):
        stage.model.close()
    without, within = (min(times) for times in zip(*pairs, strict=True))
    note = f"{within * 1000:.1f} ms a call; without: {without * 1000:.1f} ms"
    return [Row("plugin: on a tool call in Claude Code", 5, (within - without) * 1000, "ms", note)]


def _run(stage: Stage, *first: Call) -> float:
    """Seconds that a tool call takes, from the first of many to the last."""
    times: list[float] = []
    steps = [does(*first)] if first else []
    calls = [does(shell("true"), first=lambda: times.append(perf_counter())) for _ in range(TURNS)]
    stage.run("Do it.", *steps, *calls, says("Which one do you want?"))
    return (times[-1] - times[0]) / (TURNS - 1)

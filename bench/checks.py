"""What it costs to know whether a check still holds: the fingerprint of a large project, compared with `git status`;
and to show it: a plan with and without grades."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import punchlist
from punchlist import ops
from punchlist.checks import tree
from punchlist.desk.evidence import record_run
from punchlist.local.files import time_text

from .frame import Row, best
from .installed import SCRIPT
from .startup import hook_process

FILES, CHANGED, ROUNDS = 5_000, 20, 30
CHECKS, HOOK_ROUNDS = 20, 60  # of a plan that a hook reads
ITEMS, SMALL = 50, 200  # of a plan that is shown, and files of its project
_LONG_AGO = 1_700_000_000


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        found = _fingerprint(Path(folder))
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        found += _show(Path(folder))
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return [*found, *_hook(Path(folder))]


def _fingerprint(folder: Path) -> list[Row]:
    _make_project(folder)
    runs = {
        "status": lambda: _git(folder, "status", "--porcelain"),
        "ours": lambda: tree.fingerprint(tree.look(str(folder), 60)),
        "tests": lambda: _print_all(folder),
    }
    found = best(runs, ROUNDS)
    status = found["status"]
    against = f"git status in {status * 1000:.1f} ms"
    name = f"fingerprint of {FILES:,} files, {CHANGED} changed"
    return [
        Row(name, 2, found["ours"] / status, "x", f"{found['ours'] * 1000:.1f} ms, of {against}"),
        Row("the same, with one for tests", None, found["tests"] / status, "x", f"{found['tests'] * 1000:.1f} ms"),
    ]


def _print_all(folder: Path) -> None:
    files = tree.look(str(folder), 60)
    tree.fingerprint(files)
    tree.fingerprint_tests(files)


def _show(folder: Path) -> list[Row]:
    """`show` and `line` in new processes: a plan of completed items, and the same with a check that passed for each."""
    _make_project(folder, SMALL)
    plain, graded = (f"sqlite:{folder.parent}/{folder.name}-{name}.db" for name in ("plain", "graded"))
    _make_plan(folder, plain, has_checks=False)
    _make_plan(folder, graded, has_checks=True)
    rows = []
    for command, goal in (("show", 1.3), ("line", None)):
        runs = {store: _process(folder, store, command) for store in (plain, graded)}
        assert command != "show" or f"{ITEMS} verified" in runs[graded]()
        found = best(runs, ROUNDS)
        against = f"{found[plain] * 1000:.1f} ms without"
        name = f"{command}, {ITEMS} graded items"
        rows.append(Row(name, goal, found[graded] / found[plain], "x", f"{found[graded] * 1000:.1f} ms, of {against}"))
    return rows


def _hook(folder: Path) -> list[Row]:
    """A hook after a command that is no check, in a new process: a plan of items without checks, and with one each."""
    response = {"stdout": "ok", "stderr": "", "interrupted": False}
    used = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls src"}, "tool_response": response}
    runs = {}
    for name in ("plain", "checked"):
        store = folder / f"{name}.db"
        with chdir(folder), punchlist.open(f"sqlite:{store}", session="s") as desk:
            desk.call("plan", {"add": [_entry(number, has_check=name == "checked") for number in range(CHECKS)]})
        runs[name] = hook_process(folder, store, "PostToolUse", **used)
    took: dict[str, list[float]] = {name: [run()[0]] for name, run in runs.items()}
    for _ in range(HOOK_ROUNDS):
        for name, run in runs.items():
            took[name].append(run()[0])
    plain, checked = (min(took[name]) * 1000 for name in ("plain", "checked"))
    note = f"{checked:.1f} ms, of {plain:.1f} ms without"
    return [Row(f"hook, {CHECKS} checks and none matches", 1.05, checked / plain, "x", note)]


def _entry(number: int, *, has_check: bool) -> dict[str, str]:
    entry = {"text": f"Fix part {number} of the parser"}
    if has_check:
        entry["check"] = f"pytest -q tests/test_part{number}.py"
    return entry


def _process(folder: Path, store: str, command: str) -> Callable[[], str]:
    words = [SCRIPT, command, "--store", store]

    def run() -> str:
        return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout

    return run


def _make_plan(folder: Path, store: str, *, has_checks: bool) -> None:
    ids = [str(number) for number in range(1, ITEMS + 1)]
    with chdir(folder), punchlist.open(store) as desk:
        desk.change(lambda plan: ops.extend(plan, [{"text": f"Fix part {id} of the parser"} for id in ids]))
        if has_checks:
            desk.change(lambda plan: _with_checks(plan, ids))
            for item in desk.plan.items:
                row = {"at": time_text(), "tier": "seen", "command": item.check["run"], "exit": 0}
                record_run(desk, desk.plan, item, row)
        desk.change(lambda plan: ops.complete(plan, *ids))


def _with_checks(plan: punchlist.Plan, ids: list[str]) -> punchlist.Plan:
    for id in ids:
        plan = ops.set_check(plan, id, f"pytest -q tests/test_part{id}.py")
    return plan


def _make_project(folder: Path, files: int = FILES) -> None:
    _git(folder, "init", "--quiet", ".")
    for number in range(files):
        path = folder / f"src/part{number % 50}/file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n" * 20, encoding="utf-8")
        os.utime(path, (_LONG_AGO, _LONG_AGO))  # what was written in the second of `git add` is read again every time
    _git(folder, "add", "--all")
    _git(folder, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--quiet", "--message", "all")
    for number in range(CHANGED if files == FILES else 0):
        (folder / f"src/part{number}/file{number}.py").write_text("x = 0\n", encoding="utf-8")


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)

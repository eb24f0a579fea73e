"""
Commands in new processes, the way an agent starts them: the best of 30, all of them taking turns. Hooks are compared
with the least that a hook in Python could be, other commands with `python -c pass`.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import punchlist
from punchlist.install.script import launcher

from .frame import Row
from .installed import SCRIPT
from .speech import texts

ROUNDS = 30
Run = Callable[[], tuple[float, bytes]]  # seconds, and what was printed
READ = "import punchlist, sys; d = punchlist.open(sys.argv[1], session='s'); assert len(d.plan.items) == 20; d.close()"


# What a hook cannot do without: an interpreter, JSON, SQLite, and a plan that is read.
FLOOR = """
import json, sqlite3, sys
event = json.load(sys.stdin)
db = sqlite3.connect(sys.argv[1])
assert len([json.loads(data) for (data,) in db.execute("SELECT data FROM items")]) == 30
db.close()
"""


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return _measured(Path(folder))


def _measured(folder: Path) -> list[Row]:
    small, large = _store(folder, 20), _store(folder, 30)
    (folder / "floor.py").write_text(FLOOR, encoding="utf-8")
    response = {"stdout": "ok", "stderr": ""}
    tool = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}, "tool_response": response}
    hooks = {
        "hook, Stop": hook_process(folder, large, "Stop", stop_hook_active=False, last_assistant_message="Next."),
        "hook, PostToolUse": hook_process(folder, large, "PostToolUse", **tool),
        "hook, UserPromptSubmit": hook_process(folder, large, "UserPromptSubmit", prompt="Go on."),
    }
    others = {
        "open, read 20 items, close": _process(folder, small, [sys.executable, "-c", READ, f"sqlite:{folder}/now.db"]),
        "punchlist (show)": _process(folder, large, [SCRIPT, "--session", "s"]),
    }
    floor = _process(folder, large, [sys.executable, str(folder / "floor.py"), str(folder / "now.db")], "{}")
    bare = _process(folder, large, [sys.executable, "-c", "pass"])
    runs = {"python -c pass": bare, "floor": floor, **hooks, **others}
    said = {name: len(run()[1]) for name, run in runs.items()}  # and warm: .pyc files written, pages in memory
    turns = [{name: run()[0] for name, run in runs.items()} for _ in range(ROUNDS)]
    best = {name: min(turn[name] for turn in turns) * 1000 for name in runs}
    against = f"a hook that loads json and sqlite3 and reads 30 rows, in {best['floor']:.1f} ms"
    found = [Row(name, 1.25, best[name] / best["floor"], "x", f"{best[name]:.1f} ms, of {against}") for name in hooks]
    for name, goal in zip(others, (25, 35), strict=True):
        note = f"over {best['python -c pass']:.1f} ms for python -c pass; prints {said[name]} bytes"
        found.append(Row(name, goal, best[name] - best["python -c pass"], "ms", note))
    return found


def _store(folder: Path, items: int) -> Path:
    """A plan with an edit of the user that the agent has yet to hear of."""
    path = folder / f"{items}.db"
    desk = punchlist.open(f"sqlite:{path}", session="s")
    desk.call("plan", {"add": [text.todo for text in texts(items)]})
    desk.change(lambda plan: punchlist.ops.complete(plan, "3"), by="user")
    desk.close()
    return path


def hook_process(folder: Path, store: Path, event: str, **fields: object) -> Run:
    common = {"session_id": "s", "transcript_path": "", "cwd": str(folder), "permission_mode": "default"}
    payload = json.dumps({**common, "hook_event_name": event, **fields})
    return _process(folder, store, [write_launcher(folder), "hook", "claude-code"], payload)


def write_launcher(folder: Path) -> str:
    """The file that `install` writes for hooks."""
    path = folder / "bin" / "punchlist"
    path.parent.mkdir(exist_ok=True)
    path.write_text(launcher(), encoding="utf-8")
    path.chmod(0o700)
    return str(path)


def _process(folder: Path, store: Path, command: list[str], stdin: str = "") -> Run:
    """Runs the command on a fresh copy of the store, so that every turn finds the same plan and the same reader.
    Another connection is open: the first to write and the last to leave sync the disk, however long that takes."""
    now, sent, log = folder / "now.db", stdin.encode(), folder / "punchlist" / "events.jsonl"
    keep = {name: value for name, value in os.environ.items() if not name.startswith("PUNCHLIST_")}
    environment = {**keep, "HOME": str(folder), "XDG_STATE_HOME": str(folder), "PUNCHLIST_STORE": f"sqlite:{now}"}

    def run() -> tuple[float, bytes]:
        for left in folder.glob("now.db*"):
            left.unlink()
        shutil.copyfile(store, now)
        server = sqlite3.connect(now, isolation_level=None)  # an agent's server has the file open, and wrote to it
        server.execute("PRAGMA synchronous = NORMAL")
        server.execute("UPDATE plans SET touched = touched")
        begun = perf_counter()
        done = subprocess.run(command, input=sent, capture_output=True, cwd=folder, env=environment)
        took = perf_counter() - begun
        server.close()
        logged = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        errors = [done.stderr.decode(), *(line for line in logged if '"kind": "error"' in line)]
        if done.returncode or any(errors):  # a hook that fails is silent, and quick
            raise RuntimeError(f"{' '.join(command)} exited {done.returncode}: {errors}")
        return took, done.stdout

    return run

"""
A hook with a `json:` store against the same with `sqlite:`, in new processes that take turns: the processor time of
the best of 30, after a short history and after a long one.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import punchlist

from .frame import Row
from .speech import texts
from .startup import ROUNDS, write_launcher

CHANGES = (10, 600)
EVENT = {
    "hook_event_name": "PostToolUse",
    "session_id": "s",
    "transcript_path": "",
    "permission_mode": "default",
    "tool_name": "Bash",
    "tool_use_id": "t",
    "tool_input": {"command": "make"},
    "tool_response": {"stdout": "ok", "stderr": ""},
}


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return [_row(Path(folder), changes) for changes in CHANGES]


def _row(folder: Path, changes: int) -> Row:
    urls = [f"{kind}:{folder}/{kind}-{changes}" for kind in ("json", "sqlite")]
    for url in urls:
        _fill(url, changes)
    turns = [[_run(folder, url) for url in urls] for _ in range(ROUNDS + 1)][1:]
    ours, floor = (min(turn[place] for turn in turns) * 1000 for place in (0, 1))
    note = f"{ours:.1f} ms, of {floor:.1f} ms with sqlite:"
    return Row(f"hook, PostToolUse, json: after {changes} changes", 1.2, ours / floor, "x", note)


def _fill(url: str, changes: int) -> None:
    with punchlist.open(url, session="s") as desk:
        desk.call("plan", {"add": [text.todo for text in texts(30)]})
        for number in range(changes):
            desk.change(lambda plan, n=number: punchlist.ops.note(plan, "3", f"note {n % 9}"))  # type: ignore[misc]


def _run(folder: Path, url: str) -> float:
    keep = {name: value for name, value in os.environ.items() if not name.startswith("PUNCHLIST_")}
    environment = {**keep, "HOME": str(folder), "XDG_STATE_HOME": str(folder), "PUNCHLIST_STORE": url}
    command = [write_launcher(folder), "hook", "claude-code"]
    sent = json.dumps({**EVENT, "cwd": str(folder)}).encode()
    before = _processor_time()
    subprocess.run(command, input=sent, capture_output=True, cwd=folder, env=environment, check=True)
    return _processor_time() - before


def _processor_time() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

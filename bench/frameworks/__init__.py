"""The adapters in their frameworks, beside the todo features that two of those have: what importing one costs, and what
a session of 20 steps costs in time and in tokens. Run with the environment that `make frameworks` makes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.frameworks.fetch import FRAMEWORKS

from ..frame import Row
from ..tokens import counter
from . import imports, script
from .traffic import Tokens, spent

ROUNDS = 15
ROOT = Path(__file__).parents[2]
PYTHON = Path(f"{sys.prefix}-frameworks", "bin", "python")
# By framework and way, as `sessions` in its file calls them: whose list it is, and its script.
THEIRS = {
    "langchain": ("TodoListMiddleware", {"theirs, sync": script.write_todos}),
    "pydantic_ai": ("Planning", {"theirs": script.planning, "theirs, whole": script.write_plan}),
}
WAYS = {"langchain": (", sync", ", async"), "pydantic_ai": ("",)}


def rows() -> list[Row]:
    if not PYTHON.exists():
        print(f"frameworks: skipped, there is no {PYTHON}; `make bench` makes it")
        return []
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        environ = _environ(folder)
        there = [name for name in imports.adapters(ROOT / "src") if _is_there(name, environ)]
        found = imports.rows(PYTHON, there, environ)
        for name in THEIRS:
            if name in there:
                measured = _measure(name, environ)
                found += _time_rows(name, measured["seconds"], measured["processor"])
                found += _token_rows(name, measured["requests"])
    return found


def _environ(folder: str) -> dict[str, str]:
    """Nothing of the user's own: no settings, no store, no tracing to somewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PUNCHLIST_", "LANG", "XDG_"))}
    return {**kept, "HOME": folder, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "LANG": "C.UTF-8"}


def _is_there(name: str, environ: Mapping[str, str]) -> bool:
    """Whether a framework is installed; one that is not is named."""
    _, modules = FRAMEWORKS[name]
    words = f"from importlib.util import find_spec; assert all(map(find_spec, {modules!r}))"
    done = subprocess.run([PYTHON, "-c", words], env=environ, capture_output=True, check=False)
    if done.returncode:
        print(f"frameworks: {name} is not installed in {PYTHON.parents[1]}")
    return not done.returncode


def _measure(name: str, environ: Mapping[str, str]) -> Any:
    command = [str(PYTHON), "-m", "bench.frameworks.measure", name, str(ROUNDS)]
    done = subprocess.run(command, env=environ, cwd=environ["HOME"], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr}")
    return json.loads(done.stdout)


def _time_rows(name: str, seconds: Mapping[str, list[float]], processor: Mapping[str, list[float]]) -> list[Row]:
    """What a request takes longer, in the same run, than with the quickest way to use the framework's own list."""
    whose, _ = THEIRS[name]
    found = []
    for way in WAYS[name]:
        each = {one: _each(times) for one, times in seconds.items() if one.endswith(way)}
        other = min([one for one in each if one.startswith("theirs")], key=lambda one: statistics.median(each[one]))
        pairs = zip(each[f"ours{way}"], each[other], strict=True)
        names = {f"ours{way}": "ours", other: whose, f"bare{way}": "no list"}
        shown = [f"{word} {statistics.median(each[one]):.1f} ms" for one, word in names.items()]
        busy = [f"{statistics.median(_each(processor[one])):.1f}" for one in names]
        note = f"{', '.join(shown)}; of the processor {', '.join(busy)} ms"
        over = statistics.median(ours - theirs for ours, theirs in pairs)
        found.append(Row(f"{name}{way}: a request, over {whose}", 1, over, "ms", note))
    return found


def _each(seconds: list[float]) -> list[float]:
    """Milliseconds for each request of a session."""
    requests = len(script.steps(script.punchlist))
    return [one * 1000 / requests for one in seconds]


def _token_rows(name: str, requests: Mapping[str, list[list[str]]]) -> list[Row]:
    """What a list adds to the session, against the least that the framework's own can do with."""
    whose, theirs = THEIRS[name]
    count = counter()
    without = spent(requests["without"], script.steps(None), count)
    own = next(way for way in requests if way.startswith("ours"))
    ours = spent(requests[own], script.steps(script.punchlist), count).over(without)
    others = [spent(requests[way], script.steps(planner), count).over(without) for way, planner in theirs.items()]
    least = Tokens(*map(min, zip(*others, strict=True)))
    says = {"read": "read in all requests", "new": "read, and in no prompt cache", "written": "written"}
    found = []
    for field, words in says.items():
        other = getattr(least, field)
        found.append(Row(f"{name}: tokens {words}", other, getattr(ours, field), "tokens", f"{whose} {other:,}"))
    return found

"""What it costs to know whether a check still holds: the fingerprint of a large project, compared with `git status`."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from punchlist.checks import tree

from .frame import Row, best

FILES, CHANGED, ROUNDS = 5_000, 20, 30


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        return _fingerprint(Path(folder))


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


def _make_project(folder: Path) -> None:
    _git(folder, "init", "--quiet", ".")
    for number in range(FILES):
        path = folder / f"src/part{number % 50}/file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n" * 20, encoding="utf-8")
    _git(folder, "add", "--all")
    _git(folder, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--quiet", "--message", "all")
    for number in range(CHANGED):
        (folder / f"src/part{number}/file{number}.py").write_text("x = 0\n", encoding="utf-8")


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)

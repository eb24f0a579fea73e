"""What real programs print and exit with, if they ran, ran nothing, or could not run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from punchlist.core.commands.compare import compare
from punchlist.core.commands.verdicts import FAIL, PASS, UNKNOWN, judge

pytestmark = pytest.mark.once

PASSES = "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): pass\n"
SKIPPED = PASSES.replace("    def", "    @unittest.skip('x')\n    def")
FAILS = PASSES.replace("pass\n", "self.fail()\n")
MAKEFILE = "test:\n\t@echo hi\nnone:\nfails:\n\t@false\nneeds: nothing.c\nfile.txt:\n\t@touch file.txt\n"


@pytest.mark.parametrize(
    ("check", "files", "word"),
    [
        ("pytest", {"test_a.py": PASSES}, PASS),
        ("pytest -q test_a.py", {"test_a.py": FAILS}, FAIL),
        ("pytest -q test_a.py", {"test_a.py": SKIPPED}, UNKNOWN),
        ("pytest", {}, UNKNOWN),
        ("pytest test_a.py", {}, UNKNOWN),
        ("pytest", {"test_a.py": "import nothing_of_that_name\n"}, FAIL),
        ("pytest -k other", {"test_a.py": PASSES}, UNKNOWN),
        ("pytest --no-flag-of-that-name", {}, UNKNOWN),
        ("python -m unittest", {"test_a.py": PASSES}, PASS),
        ("python -m unittest", {"test_a.py": FAILS}, FAIL),
        ("python -m unittest", {"test_a.py": SKIPPED}, UNKNOWN),
        ("python -m unittest", {}, UNKNOWN),
        ("python -m unittest test_a", {}, FAIL),
        ("make test", {"Makefile": MAKEFILE}, PASS),
        ("make test", {"Makefile": MAKEFILE, "test": ""}, UNKNOWN),
        ("make none", {"Makefile": MAKEFILE}, UNKNOWN),
        ("make file.txt", {"Makefile": MAKEFILE, "file.txt": ""}, PASS),
        ("make fails", {"Makefile": MAKEFILE}, FAIL),
        ("make needs", {"Makefile": MAKEFILE}, FAIL),
        ("make other", {"Makefile": MAKEFILE}, UNKNOWN),
        ("make", {}, UNKNOWN),
        ("ruff check .", {"a.py": "x = 1\n"}, PASS),
        ("ruff check .", {"a.py": "import os\n"}, FAIL),
        ("ruff check --no-flag-of-that-name .", {}, UNKNOWN),
        ("cd . && pytest nothing.py", {}, UNKNOWN),
        ("nothing-of-that-name", {}, UNKNOWN),
    ],
)
def test_a_real_run_is_judged(tmp_path: Path, check: str, files: Mapping[str, str], word: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE", "LC_"))}
    env = {**own, "PATH": path, "LANG": "C", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", check], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    match = compare(check, str(tmp_path), check, str(tmp_path))
    found = judge(match, done.returncode, done.stdout + done.stderr)
    assert found.word == word, (found, done.stdout, done.stderr)

"""What the commands that an agent runs say about the checks of its plan."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, ops
from punchlist.desk.evidence import graded, load_seen
from punchlist.desk.tool_use import describe, record_tool_use
from tests.checks.projects import Project

CHECK = "pytest tests/test_parser.py"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "tests" / "test_parser.py").write_text("def test_one(): pass\n", encoding="utf-8")
    monkeypatch.chdir(project)
    with punchlist.open("memory:", session="s1", dialect="native") as desk:
        desk.call("plan", {"add": ["Fix the parser"]})
        desk.change(lambda plan: ops.set_check(plan, "1", CHECK))
        yield desk


def _seen(desk: Desk) -> tuple[list[Any], list[Any], list[str]]:
    """The exit codes of passes and failures, and why the others do not count."""
    plan = desk.load()
    seen = load_seen(desk._seat.store, plan, plan.items).get("1")
    assert seen is not None
    rows = [list(part) for part in seen]
    return [row["exit"] for row in rows[0]], [row["exit"] for row in rows[1]], [row["why"] for row in rows[2]]


@pytest.mark.parametrize(
    ("line", "exit", "result", "passes", "failures"),
    [
        (CHECK, 0, "1 passed in 0.1s", [0], []),
        (f"cd . && uv run {CHECK} -q", 0, {"stdout": "1 passed in 0.1s", "stderr": ""}, [0], []),
        ("pytest", 0, "9 passed in 0.1s", [0], []),
        (CHECK, 1, "1 failed in 0.1s", [], [1]),
        (CHECK, 2, {"stdout": "x\n!!! Interrupted: 1 error during collection !!!\n"}, [], [2]),
    ],
)
def test_a_run_of_a_check_is_kept(
    desk: Desk, line: str, exit: int, result: Any, passes: list[int], failures: list[int]
) -> None:
    desk.tool_used("Bash", {"command": line}, result, exit=exit)
    assert _seen(desk) == (passes, failures, [])


@pytest.mark.parametrize(
    ("line", "exit", "result", "why"),
    [
        (f"{CHECK} | tail -5", 0, "1 passed", "a pipe hides its exit code: run it without `| tail -5`"),
        (CHECK, 0, "1 skipped in 0.1s", "it ran no tests"),
        (CHECK, 0, {"stdout": "s\n1 skipped in 0.1s\n", "stderr": ""}, "it ran no tests"),
        (CHECK, 5, "", "it ran no tests: exit code 5"),
        (CHECK, 137, "", "it was ended before it was done: exit code 137"),
        ("pytest", 1, "1 failed", "more ran than the check asks for, and something of it failed"),
        (f"pip install -e . && {CHECK}", 1, "", "something failed that may not be the check"),
    ],
)
def test_a_run_that_does_not_count_is_kept_with_the_reason(
    desk: Desk, line: str, exit: int, result: Any, why: str
) -> None:
    desk.tool_used("Bash", {"command": line}, result, exit=exit)
    assert _seen(desk) == ([], [], [why])


@pytest.mark.parametrize(
    "args", [{"command": "pytest tests/test_lexer.py"}, {"command": f"echo {CHECK}"}, {"path": CHECK}]
)
def test_anything_else_leaves_no_trace(desk: Desk, args: dict[str, Any]) -> None:
    desk.tool_used("Bash", args, "1 passed in 0.1s", exit=0)
    assert _seen(desk) == ([], [], [])


def test_a_run_whose_end_is_not_known_does_not_count(desk: Desk) -> None:
    desk.tool_used("Bash", {"command": CHECK}, "1 passed in 0.1s")
    desk.tool_used("Bash", {"command": CHECK, "run_in_background": True}, "started", exit=0)
    assert _seen(desk) == ([], [], ["its exit code is not known", "it went to the background"])


def test_a_wider_run_does_not_pass_a_check_whose_tests_do_not_exist(desk: Desk) -> None:
    Path("tests/test_parser.py").unlink()
    desk.tool_used("Bash", {"command": "pytest"}, "9 passed in 0.1s", exit=0)
    assert _seen(desk) == ([], [], ["more ran than the check asks for, and test_parser.py does not exist"])


def test_a_wider_run_does_not_pass_a_check_that_is_not_where_pytest_looks(desk: Desk) -> None:
    Path("pytest.ini").write_text("[pytest]\ntestpaths = other\n", encoding="utf-8")
    desk.tool_used("Bash", {"command": "pytest"}, "9 passed in 0.1s", exit=0)
    assert _seen(desk) == ([], [], [])
    desk.tool_used("Bash", {"command": "pytest tests"}, "9 passed in 0.1s", exit=0)
    assert _seen(desk) == ([0], [], [])


def _ran(desk: Desk, seconds: float) -> None:
    """Report a run of the check that began so many seconds ago."""
    use = describe(desk, "Bash", {"command": CHECK}, "1 passed in 0.1s", exit=0, seconds=seconds)
    record_tool_use(desk, [use])


def test_a_file_that_changed_while_it_ran_voids_a_run(desk: Desk) -> None:
    project = Project(Path.cwd())
    project.git("init", "--quiet", ".")
    project.commit()
    project.write("tests/test_parser.py", "def test_two(): pass\n")
    _ran(desk, seconds=60)
    assert _seen(desk) == ([], [], ["tests/test_parser.py changed while it ran; run it again"])


def test_a_file_that_changed_before_it_ran_does_not_void_it(desk: Desk) -> None:
    long_ago = time.time() - 3600
    for path in ("tests/test_parser.py", "tests"):
        os.utime(path, (long_ago, long_ago))
    _ran(desk, seconds=0)
    assert _seen(desk) == ([0], [], [])


def test_a_scope_without_a_file_shows_nothing_and_says_so(desk: Desk) -> None:
    desk.change(lambda plan: ops.set_check(plan, "1", {"run": CHECK, "scope": ["nothing/**"]}))
    desk.tool_used("Bash", {"command": CHECK}, "1 passed in 0.1s", exit=0)
    assert _seen(desk) == ([], [], ["no file of the project is in its scope"])


def test_an_item_is_outdated_once_the_only_file_in_scope_is_gone(desk: Desk) -> None:
    desk.change(lambda plan: ops.set_check(plan, "1", {"run": CHECK, "scope": ["tests/test_parser.py"]}))
    desk.tool_used("Bash", {"command": CHECK}, "1 passed in 0.1s", exit=0)
    desk.change(lambda plan: ops.complete(plan, "1"))
    assert graded(desk, desk.plan, 60).grades["1"].word == "verified"
    Path("tests/test_parser.py").rename("tests/test_other.py")
    assert graded(desk, desk.plan, 60).grades["1"].word == "outdated"

"""Which command lines are a run of a check: vectors, what nobody can forge, and what a real shell does with them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.core.commands.compare import COVERS, HIDDEN, OTHER, SAME, compare
from punchlist.core.commands.hint import may_match
from punchlist.core.commands.table import RUNNERS
from tests.core.plans import often

VECTORS = Path(__file__).parents[1] / "vectors" / "checks"
CASES: list[dict[str, Any]] = json.loads((VECTORS / "commands.json").read_text(encoding="utf-8"))
ATTACKS: list[str] = json.loads((VECTORS / "attacks.json").read_text(encoding="utf-8"))
CHECKS = [
    *("pytest -q tests/test_parser.py", "pytest", "make test", "npm test", "cargo test", "go test ./..."),
    *(
        "test -s NOTES.md",
        "jest",
        "vitest run",
        "tox",
        "nox -s tests",
        "ruff check .",
        "mypy src",
        "python -m unittest",
    ),
]
COUNTING = [case for case in CASES if case["kind"] in (SAME, COVERS)]


def _kind(check: str, line: str) -> str:
    return compare(check, "/p", line, "/p").kind


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['section']}: {case['check']} | {case['line'][:60]}")
def test_a_line_is_a_run_of_a_check_or_says_why_not(case: dict[str, Any]) -> None:
    found = compare(case["check"], case["dir"], case["line"], case["cwd"], case.get("roots", ()))
    assert found.kind == case["kind"], found
    assert case.get("why", found.why) == found.why
    assert case.get("failure_counts", found.failure_counts) == found.failure_counts
    assert bool(found.why) == (found.kind == HIDDEN) or found.kind == OTHER
    assert found.kind == OTHER or may_match(case["check"], case["line"])


def test_the_vectors_have_every_runner_and_every_kind() -> None:
    assert {case["kind"] for case in CASES} == {SAME, COVERS, HIDDEN, OTHER}
    for runner in RUNNERS:
        name = runner.name.split()[0]
        kinds = {case["kind"] for case in CASES if name in case["check"].split()}
        assert kinds >= {SAME, HIDDEN}, name


def test_the_page_says_of_its_lines_what_is_so() -> None:
    page = Path(__file__).parents[2] / "docs" / "checks-matching.md"
    table = page.read_text(encoding="utf-8").partition("| line that is run")[2].partition("\n\n")[0]
    found = []
    for row in table.splitlines()[2:]:
        lines, answer = row.replace("\\|", "\0").strip("| ").split(" | ")
        for line in re.findall(r"`(.+?)`", lines.partition(", also after")[0]):
            found.append(answer)
            assert (_kind("make test", line.replace("\0", "|")) in (SAME, COVERS)) == answer.startswith("yes"), line
    assert len(found) > 15


# --- what nobody can forge -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ATTACKS)
def test_a_line_that_only_looks_like_a_run_does_not_count(line: str) -> None:
    assert [check for check in CHECKS if _kind(check, line) in (SAME, COVERS)] == []


@pytest.mark.parametrize("behind", [" | cat", " || true", "; true", " &", " && true", "\ntrue", " |& cat", " & true"])
def test_anything_behind_a_run_hides_its_exit_code(behind: str) -> None:
    for case in COUNTING:
        if (
            "#" in case["line"]
            or case["line"] == case["check"]
            or case["line"].startswith("(")
            or "bash -" in case["line"]
        ):
            continue
        line = case["line"].rstrip(" ;\n") + behind
        found = compare(case["check"], case["dir"], line, case["cwd"], case.get("roots", ()))
        assert found.kind == HIDDEN, line
        assert found.why, line


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_a_run_with_a_refused_flag_does_not_count(runner: Any) -> None:
    name = runner.name
    for flag, kind in runner.refused.items():
        for line in (f"{name} {flag}{kind and ' x'} a", f"{name} a {flag}{kind and '=x'}", f"{name} {flag}"):
            for check in (f"{name} a", name):
                assert _kind(check, line) in (HIDDEN, OTHER), line
    assert not set(runner.refused) & {*runner.harmless, *runner.stricter, *runner.naming, *runner.saying}


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_a_harmless_flag_makes_no_difference(runner: Any) -> None:
    name = runner.name
    for flag, kind in runner.harmless.items():
        value = ""
        if kind:
            value = "=4"
            if not (flag.startswith("--") or runner.is_go):
                value = "4"
        found = compare(f"{name} a", "/p", f"{name} {flag}{value} a", "/p")
        assert (found.kind, found.failure_counts) == (SAME, True), flag


def test_a_run_in_a_directory_that_is_not_known_does_not_count() -> None:
    for case in COUNTING:
        if not any(word in case["line"] for word in ("cd /p", "cd '/p'", "cd -- /p", "pushd /p", "=/p ", "-C /p")):
            found = compare(case["check"], case["dir"], case["line"], "", case.get("roots", ()))
            assert found.kind not in (SAME, COVERS), case


# --- any text --------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        *("pytest", "-q", "tests/test_parser.py", "tests", "make", "test", "-n", "-C", "cd", "/p", "..", "uv run"),
        *("python -m", "timeout 5", "env", "A=1", "PATH=x", "bash -c", "'", '"', "\\", "\n", "&&", "||", "|", ";", "&"),
        *(
            "(",
            ")",
            "{",
            "}",
            "!",
            "if",
            "then",
            "fi",
            "$X",
            "$(",
            "`",
            "<<E",
            "E",
            "<",
            ">",
            "2>&1",
            "#",
            "*",
            "--",
            "=",
        ),
        *("\0", "\x1b", "ä", "exit 0", "source", ".venv/bin/activate", "export", "go", "./...", "npm", "cargo", "tox"),
    ]
)
LINES = st.one_of(
    st.text(max_size=60),
    st.lists(WORDS, max_size=14).map(" ".join),
    st.lists(WORDS, max_size=14).map("".join),
    st.sampled_from([case["line"] for case in CASES]),
)


@often(300)
@given(LINES, LINES)
def test_any_two_texts_can_be_compared(check: str, line: str) -> None:
    found = compare(check, "/p", line, "/p", ("tests",))
    assert found.kind in (SAME, COVERS, HIDDEN, OTHER)
    if found.kind != OTHER:
        assert may_match(check, line)


@often(100)
@given(LINES)
def test_a_line_is_a_run_of_itself_or_runs_in_the_background(check: str) -> None:
    assert _kind(check, check) == SAME or _kind(check, check) == HIDDEN


def test_the_cheap_question_is_seldom_answered_with_yes_for_nothing() -> None:
    lines = ["git status --short", "ls -la src", "sed -n 1,40p src/app.py", "rg -n parser src", "cat README.md", "pwd"]
    assert [(check, line) for check in CHECKS for line in lines if may_match(check, line)] == []


def _steps(check: str, line: str) -> int:
    """How many functions are called in comparing them."""
    count = 0

    def step(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(step)
    try:
        compare(check, "/p", line, "/p")
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "part",
    ["tests/test_parser.py ", "-q ", "a/b/c/d ", "'x' ", "$X ", "A=1 ", "-k x ", "pytest && ", "\\\n", "a{b,c} "],
)
@pytest.mark.parametrize("start", ["pytest ", "", "cd /p && pytest tests "])
def test_a_long_line_takes_steps_in_proportion_to_its_length(start: str, part: str) -> None:
    check = "pytest tests/test_parser.py"
    small, large = _steps(check, start + part * 300), _steps(check, start + part * 2_400)
    assert large < 9 * small + 500


def test_a_check_as_long_as_the_line_takes_steps_in_proportion_too() -> None:
    paths = [f"tests/test_{number}.py" for number in range(2_000)]
    small = _steps("pytest " + " ".join(paths[:250]), "pytest " + " ".join(reversed(paths[:250])))
    large = _steps("pytest " + " ".join(paths), "pytest " + " ".join(reversed(paths)))
    assert large < 9 * small


def test_a_line_of_a_megabyte_is_not_looked_through() -> None:
    line = "cd /p && pytest tests " + "x" * 1_000_000
    found = compare("pytest tests", "/p", line, "/p")
    assert (found.kind, found.why) == (OTHER, "it is too long to look through")
    assert _steps("pytest tests", line) < 500


# --- what a real shell does ------------------------------------------------------------------------------------------

BEFORE = st.sampled_from(
    ["", "true", "echo hi", "cd .", "cd sub && cd ..", "export A=1", "set -e", "A=1", "test -d sub"]
)
RUN = st.sampled_from(
    [
        *(
            "pytest tests",
            "pytest 'tests'",
            "pytest -q tests 2>&1",
            "(pytest tests)",
            "bash -c 'pytest tests'",
            "pytest",
        ),
        *("A=2 pytest tests", "env B=1 pytest tests", "timeout 60 pytest tests", "! pytest tests", "{ pytest tests; }"),
        *(
            "pytest tests > out",
            "pytest \\\n tests",
            "pytest tests # x",
            "if pytest tests; then true; fi",
            "nice pytest tests",
        ),
        *("echo pytest tests", "true", "pytest other", "pytest tests <<< x", "pytest tests <<E\nx\nE", "pytest 'tests"),
        *("bash -c 'pytest tests; true'", "time pytest tests", "command pytest tests", "exec pytest tests"),
    ]
)
JOINER = st.sampled_from([" && ", " && ", " && ", "; ", " | ", " || ", "\n", " & "])
BEHIND = st.sampled_from(
    ["", "", "", ";", "\n", " ", " &", " # end", "; true", " | cat", " || true", " && true", " & wait"]
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose `pytest` notes where it ran and with what, and fails as it is told."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "sub").mkdir()
    (folder / "bin").mkdir()
    program = folder / "bin" / "pytest"
    program.write_text('#!/bin/sh\necho "$PWD: $*" >> "$NOTED"\nexit "$CODE"\n', encoding="utf-8")
    program.chmod(0o755)
    return folder


def _run(project: Path, line: str, code: int) -> tuple[int, list[str]]:
    noted = project / "noted"
    noted.write_text("", encoding="utf-8")
    path = f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "NOTED": str(noted), "CODE": str(code)}
    done = subprocess.run(["bash", "-c", line], cwd=project, env=env, capture_output=True, check=False)
    return done.returncode, noted.read_text(encoding="utf-8").splitlines()


@often(500)
@given(st.lists(st.tuples(BEFORE, JOINER), max_size=3), RUN, BEHIND)
def test_a_line_that_counts_exits_in_a_real_shell_as_its_check_does(
    project: Path, before: list[tuple[str, str]], run: str, behind: str
) -> None:
    line = "".join(one + joiner for one, joiner in before if one) + run + behind
    found = compare("pytest tests", str(project), line, str(project))
    if found.kind not in (SAME, COVERS):
        return
    for code in (0, 7):
        exit, noted = _run(project, line, code)
        assert exit == code
        ran = noted[-1].replace(" -q", "")
        assert ran in (f"{project}: tests", f"{project}: ")

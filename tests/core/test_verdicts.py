"""Whether a run of a check passed: exit codes, and what each runner prints if it ran nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.core.commands.compare import HIDDEN, OTHER, Match, compare
from punchlist.core.commands.verdicts import FAIL, PASS, UNKNOWN, Verdict, judge
from tests.core.plans import often

CARGO_NONE = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out\n"
CARGO_SOME = "running 2 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured\n"
OUTPUTS = json.loads((Path(__file__).parents[1] / "vectors" / "checks" / "outputs.json").read_text(encoding="utf-8"))


def _judged(check: str, exit: int | None, output: str = "", line: str = "") -> Verdict:
    return judge(compare(check, "/p", line or check, "/p"), exit, output)


@pytest.mark.parametrize(
    ("check", "output"),
    [
        ("pytest", "===== 3 passed, 1 skipped in 0.12s ====="),
        ("pytest", ""),
        ("pytest", "\x1b[32m\x1b[1m3 passed\x1b[0m in 0.12s"),
        ("pytest", "1 xfailed in 0.10s"),
        ("pytest", "collected 0 items was printed by a test\n1 passed in 0.1s"),
        ("python -m unittest", "Ran 3 tests in 0.001s\n\nOK (skipped=1)"),
        ("cargo test", CARGO_NONE + CARGO_SOME + CARGO_NONE),
        ("go test ./...", "?   \tx/a\t[no test files]\nok  \tx/b\t0.010s\n"),
        ("go test ./...", "ok  \tx/b\t(cached)\n"),
        ("npx jest", "Tests:       1 skipped, 3 passed, 4 total"),
        ("npx vitest run", " Test Files  1 passed (1)\n      Tests  3 passed | 1 skipped (4)"),
        ("npm test", "> vitest run\n\n      Tests  3 passed (3)"),
        ("make dist/app.whl", "make: 'dist/app.whl' is up to date."),
        ("make test", "make[1]: Nothing to be done for 'all'.\n5 passed in 0.2s"),
        ("make test", "make: Nothing to be done for 'lint'.\n5 passed in 0.2s"),
        ("test -s NOTES.md", "no tests ran in 0.1s"),
    ],
)
def test_a_run_with_exit_code_0_passed(check: str, output: str) -> None:
    assert _judged(check, 0, output) == Verdict(PASS)


@pytest.mark.parametrize(
    ("check", "output", "exit"),
    [
        ("pytest", "collected 0 items\n\n===== no tests ran in 0.01s =====", 0),
        ("pytest", "no tests ran in 0.01s", 5),
        ("pytest", "", 5),
        ("pytest", "3 deselected in 0.01s", 5),
        ("pytest", "===== 3 skipped in 0.02s =====", 0),
        ("uv run pytest -q tests", "4 skipped, 2 deselected in 1.20s", 0),
        ("python -m unittest", "Ran 0 tests in 0.000s\n\nOK", 0),
        ("python -m unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", 5),
        ("python -m unittest", "", 5),
        ("python -m unittest", "Ran 2 tests in 0.000s\n\nOK (skipped=2)", 0),
        ("cargo test", CARGO_NONE + CARGO_NONE, 0),
        ("go test ./...", "?   \tx\t[no test files]\n", 0),
        ("go test ./a", "testing: warning: no tests to run\nPASS\nok  \tx\t0.1s [no tests to run]\n", 0),
        ("go test ./...", 'go: warning: "./..." matched no packages\nno packages to test\n', 1),
        ("npx jest", "No tests found, exiting with code 1\nRun with `--passWithNoTests`", 1),
        ("npx jest", "No tests found, exiting with code 0", 0),
        ("npx jest", "Tests:       3 skipped, 3 total", 0),
        ("vitest run", "\nNo test files found, exiting with code 1\n", 1),
        ("vitest run", "      Tests  3 skipped (3)", 0),
        ("npm test", "> jest --passWithNoTests\n\nNo tests found, exiting with code 0", 0),
        ("make test", "pytest\ncollected 0 items\n\nno tests ran in 0.01s\nmake: *** [Makefile:2: test] Error 5", 2),
        ("nox -s tests", "nox > Session tests skipped: no Python 3.9.", 0),
    ],
)
def test_a_run_of_no_tests_says_nothing(check: str, output: str, exit: int) -> None:
    found = _judged(check, exit, output)
    assert found.word == UNKNOWN
    assert found.why.startswith("it ran no tests")


@pytest.mark.parametrize("target", ["test", "check", "all"])
def test_a_target_of_make_that_is_only_a_name_and_up_to_date_says_nothing(target: str) -> None:
    for said in (f"make: '{target}' is up to date.", f"make: Nothing to be done for `{target}'."):
        assert _judged(f"make {target}", 0, said) == Verdict(UNKNOWN, "make had nothing to do, so nothing was run")


@pytest.mark.parametrize(
    ("check", "exit", "output"),
    [
        ("pytest", 1, "1 failed, 2 passed in 0.1s"),
        ("pytest", 2, "ERROR collecting tests/a.py\n!!!! Interrupted: 1 error during collection !!!!\n1 error in 0.1s"),
        ("python -m unittest", 1, "Ran 3 tests in 0.1s\n\nFAILED (failures=1)"),
        ("pytest", 2, "collected 0 items / 1 error\n\nERROR collecting test_a.py\n"),
        ("cargo test", 101, "error: could not compile"),
        ("go test ./...", 1, "FAIL\tx [build failed]"),
        ("go test ./...", 2, "FAIL\tx [build failed]"),
        ("npm test", 1, "Tests: 1 failed, 1 total"),
        ("make test", 2, "make: *** [Makefile:2: test] Error 1"),
        ("make test", 2, "make: *** No rule to make target 'x.c', needed by 'test'.  Stop."),
        ("ruff check .", 1, "Found 1 error."),
        ("mypy src", 1, "src/a.py:1: error: x"),
        (
            "mypy src",
            2,
            "src/a.py:1: error: invalid syntax\nFound 1 error in 1 file (errors prevented further checking)",
        ),
        ("test -s NOTES.md", 1, ""),
        ("./check.sh", 2, ""),
        ("./check.sh", 139, "Segmentation fault"),
        ("./check.sh", -11, ""),
        ("ruff check . && pytest", 1, ""),
    ],
)
def test_a_run_with_another_exit_code_failed(check: str, exit: int, output: str) -> None:
    assert _judged(check, exit, output).word == FAIL


@pytest.mark.parametrize(
    ("check", "exit", "output"),
    [
        ("pytest", None, "3 passed in 0.1s"),
        ("pytest", 2, "KeyboardInterrupt"),
        ("pytest", 2, ""),
        ("pytest", 3, "INTERNALERROR>"),
        ("pytest", 4, "ERROR: file or directory not found: tests/none.py"),
        ("pytest", 124, ""),
        ("pytest", 126, ""),
        ("pytest", 127, "bash: pytest: command not found"),
        ("pytest", 130, ""),
        ("pytest", 137, "Killed"),
        ("pytest", -9, ""),
        ("pytest", -15, ""),
        ("cargo test", 1, "error: unexpected argument '--zz' found"),
        ("cargo test", 101, "error: could not find `Cargo.toml` in `/p` or any parent directory"),
        ("npx jest", 1, "npm error npx canceled due to missing packages and no YES option"),
        ("npm test", 1, 'npm error Missing script: "test"'),
        ("npm test", 1, '> echo "Error: no test specified" && exit 1\n\nError: no test specified'),
        ("pnpm test", 1, "ERR_PNPM_NO_SCRIPT  Missing script: test"),
        ("yarn test", 1, 'error Command "test" not found.'),
        ("make test", 2, "make: *** No rule to make target 'test'.  Stop."),
        ("make test", 2, "make: *** No targets specified and no makefile found.  Stop."),
        ("ruff check .", 2, "error: unexpected argument '--x' found"),
        ("mypy src", 2, "usage: mypy [-h]"),
        ("go test ./...", 2, "flag provided but not defined: -x"),
        ("nox -s tests", 2, "usage: nox"),
    ],
)
def test_a_run_that_did_not_get_to_its_end_says_nothing(check: str, exit: int | None, output: str) -> None:
    found = _judged(check, exit, output)
    assert found.word == UNKNOWN
    assert found.why


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("cd /p && pytest", "bash: line 1: cd: /p: No such file or directory"),
        ("cd /p && pytest", "zsh:cd:1: no such file or directory: /p"),
        ("cd /p && pytest", "(eval):cd:1: no such file or directory: /p"),
        ("cd /p && pytest", "sh: 1: cd: can't cd to /p"),
        (". venv/bin/activate && pytest", "sh: 1: .: cannot open venv/bin/activate: No such file"),
        ("source .venv/bin/activate && pytest", "bash: .venv/bin/activate: No such file or directory"),
        ("set -o pipefail && pytest", "sh: 1: set: Illegal option -o pipefail"),
        ("pip install -e . && pytest", "ERROR: no network"),
        ("python -m pytest", "/usr/bin/python: No module named pytest"),
        ("uv run pytest", "error: Failed to spawn: `pytest`"),
        ("poetry run pytest", "Command not found: pytest"),
        ("pytest --strict-markers", "1 error in 0.1s"),
    ],
)
def test_what_failed_around_a_check_is_not_its_failure(line: str, output: str) -> None:
    assert _judged("pytest", 1, output, line).word == UNKNOWN
    assert _judged("pytest", 0, "1 passed in 0.1s", line).word == PASS


def test_a_failure_behind_a_change_of_directory_is_the_checks() -> None:
    assert _judged("pytest", 1, "1 failed in 0.1s", "cd /p && pytest") == Verdict(FAIL, "exit code 1")


def test_a_failure_of_more_than_the_check_is_not_its_failure() -> None:
    found = _judged("pytest tests/test_a.py", 1, "1 failed, 9 passed in 1.0s", "pytest")
    assert found == Verdict(UNKNOWN, "more ran than the check asks for, and something of it failed")
    assert _judged("pytest tests/test_a.py", 0, "10 passed in 1.0s", "pytest").word == PASS


def test_a_wider_run_of_cargo_counts_if_it_shows_tests_of_the_name() -> None:
    some = "test parser::empty ... ok\n\ntest result: ok. 1 passed; 0 failed;"
    assert _judged("cargo test parser", 0, some, "cargo test").word == PASS
    assert _judged("cargo test lexer", 0, some, "cargo test").word == UNKNOWN
    assert _judged("cargo test -p core", 0, some, "cargo test --workspace").word == PASS


def test_a_wider_run_of_go_does_not_pass_a_package_without_tests() -> None:
    some = "ok  \tx/a\t0.01s\n?   \tx/parser\t[no test files]\n"
    assert _judged("go test ./a", 0, some, "go test ./...").word == PASS
    assert _judged("go test ./parser", 0, some, "go test ./...") == Verdict(UNKNOWN, "it ran no tests of that package")


def test_a_run_in_the_background_or_out_of_time_says_nothing() -> None:
    match = compare("pytest", "/p", "pytest", "/p")
    assert judge(match, 0, "", is_background=True) == Verdict(UNKNOWN, "it ran in the background")
    assert judge(match, 0, "", is_timed_out=True) == Verdict(UNKNOWN, "it ran out of time")
    assert _judged("pytest", 124, "", "timeout 60 pytest").why == "it ran out of time: exit code 124"


def test_the_reason_of_a_line_that_does_not_count_is_told() -> None:
    found = _judged("pytest", 0, "1 passed in 0.1s", "pytest | tail -5")
    assert found == Verdict(UNKNOWN, "a pipe hides its exit code: run it without `| tail -5`")


@often(200)
@given(
    st.sampled_from(["pytest", "make test", "cargo test", "npm test", "./check.sh", "go test ./...", "a; b", "tox"]),
    st.one_of(st.none(), st.integers(-70, 300)),
    st.text(max_size=200),
)
def test_only_exit_code_0_is_a_pass(check: str, exit: int | None, output: str) -> None:
    found = _judged(check, exit, output)
    assert found.word in (PASS, FAIL, UNKNOWN)
    assert found.word != PASS or exit == 0
    assert found.word != FAIL or exit not in (0, None)


@given(st.sampled_from([HIDDEN, OTHER]), st.one_of(st.none(), st.integers()), st.text())
def test_what_is_not_a_run_is_never_judged(kind: str, exit: int | None, output: str) -> None:
    assert judge(Match(kind, "x"), exit, output).word == UNKNOWN


@pytest.mark.parametrize("row", OUTPUTS, ids=lambda row: f"{row.get('line', row['check'])} {row['exit']}")
def test_what_a_real_program_printed_is_judged(row: dict[str, Any]) -> None:
    """What jest 30, vitest 4, mocha 12, node 20, pnpm, yarn 1, go 1.19 and cargo 1.95 printed, shortened."""
    found = _judged(row["check"], row["exit"], row["output"], row.get("line", ""))
    assert found.word == row["word"], found

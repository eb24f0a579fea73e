"""`.ci/run` tries a failed test once more, alone: chance is named, and only what fails twice fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]
RUN = f"tests-{sys.version_info.major}.{sys.version_info.minor}"  # the name of the run on this Python

SUITE = """
import os, pytest
def test_good(): pass
def test_by_chance():
    if not os.path.exists("tried"):
        open("tried", "w").close()
        assert False
@pytest.mark.skip(reason="not here")
def test_left_out(): pass
"""
BROKEN = "def test_wrong(): assert False\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the script of this one, and a Makefile whose targets run its own tests."""
    (tmp_path / ".ci").mkdir()
    for name in ("run", "summary.py"):
        (tmp_path / ".ci" / name).write_bytes((ROOT / ".ci" / name).read_bytes())
    python = f"'{sys.executable}' -m pytest -q $(subst -n 0,,$(ARGS))"
    others = "run lint release-check torture frameworks clients packaged-clients"
    rules = f"{others}:\n\t@true\ntest:\n\t@{python} test_it.py\n"
    (tmp_path / "Makefile").write_text(rules)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    torture\n    clients\n    hypothesis\n    once\n")
    return tmp_path


def checked(project: Path, suite: str) -> tuple[int, list[str]]:
    (project / "test_it.py").write_text(suite)
    environ = {**os.environ, "PYENV_ROOT": str(project), "PATH": _only_this_python(project)}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # starting hypothesis and others takes longer than the tests
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environ.pop(name, None)
    done = subprocess.run(["bash", ".ci/run"], cwd=project, env=environ, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout.rpartition("== summary\n")[2].splitlines()


def _only_this_python(project: Path) -> str:
    """A path on which the interpreter of these tests is the only one to be found."""
    place = project / "bin"
    place.mkdir()
    for name in ("bash", "sh", "make", "timeout", "date", "rm", "mkdir", "dirname", "env", "true", "tmux"):
        for folder in os.environ["PATH"].split(os.pathsep):
            found = Path(folder, name)
            if found.exists() and not (place / name).exists():
                (place / name).symlink_to(found)
    (place / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (place / "python3").chmod(0o755)
    return str(place)


def test_a_test_that_fails_once_is_named_and_does_not_fail_the_run(project: Path) -> None:
    code, lines = checked(project, SUITE)
    assert f"flaky: test_it::test_by_chance ({RUN})" in lines
    assert f"skipped: test_it::test_left_out: not here ({RUN})" in lines
    assert lines[-1] == "2 passed, 0 failed, 1 skipped"
    assert code == 0


def test_a_test_that_fails_twice_fails_the_run(project: Path) -> None:
    code, lines = checked(project, SUITE + BROKEN)
    assert f"failed: test_it::test_wrong ({RUN})" in lines
    assert f"broken: {RUN}" in lines
    assert lines[-1] == "2 passed, 1 failed, 1 skipped"
    assert code == 1


def test_more_failures_than_chance_has_are_not_tried_again(project: Path) -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', range(21))\ndef test_wrong(n): assert False\n"
    code, lines = checked(project, many)
    assert lines[-1] == "0 passed, 21 failed, 0 skipped"
    assert code == 1
    assert not list(project.glob("build/ci/again-*"))


def test_a_suite_that_does_not_get_as_far_as_its_tests_fails_the_run(project: Path) -> None:
    (project / "Makefile").write_text(
        "run lint release-check torture frameworks clients packaged-clients:\n\t@true\ntest:\n\t@exit 3\n"
    )
    code, lines = checked(project, SUITE)
    assert f"broken: {RUN}" in lines
    assert code == 1


def test_the_summary_says_which_run_left_how_many_tests_to_another(project: Path) -> None:
    reports = project / "build/ci"
    reports.mkdir(parents=True)
    for run, names in (("tests-3.11", "ab"), ("tests-3.12", "bc"), ("torture-3.11", "cd"), ("again-tests-3.11", "a")):
        cases = "".join(f'<testcase classname="t" name="{name}"/>' for name in names)
        (reports / f"{run}.xml").write_text(f"<testsuite>{cases}</testsuite>")
    words = [sys.executable, ".ci/summary.py"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "tests-3.11: 2 tests; not among them: 1 of tests-3.12, 2 of torture-3.11",
        "tests-3.12: 2 tests; not among them: 1 of tests-3.11, 1 of torture-3.11",
        "0 flaky: failed once, then passed alone; counted as passed",
        "6 passed, 0 failed, 0 skipped",
    ]

"""A run of more than a check counts if the project has what the check names, where the run looks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from punchlist.checks.wider_runs import find_missing, find_roots
from punchlist.core.commands.compare import COVERS, OTHER, compare


def test_a_file_or_a_test_that_does_not_exist_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_one(): pass\n", encoding="utf-8")
    assert (
        find_missing([(f"{tmp_path}/test_a.py", ""), (f"{tmp_path}/test_a.py", "test_one"), (str(tmp_path), "")]) == ""
    )
    assert find_missing([(f"{tmp_path}/test_b.py", "")]) == "test_b.py does not exist"
    assert find_missing([(f"{tmp_path}/test_a.py", "test_two")]) == "test_two is not in test_a.py"
    assert find_missing([(str(tmp_path), "test_one")]) == f"test_one is not in {tmp_path.name}"


def test_a_wider_run_says_which_files_it_needs() -> None:
    found = compare("pytest tests/test_a.py::TestB::test_c[1] src/test_d.py", "/p", "pytest", "/p")
    assert found.needs == (("/p/tests/test_a.py", "test_c"), ("/p/src/test_d.py", ""))
    assert compare("pytest tests/test_a.py", "/p", "pytest tests/test_b.py tests/test_a.py", "/p").needs == ()
    assert compare("cd sub && go test ./a", "/p", "cd sub && go test ./...", "/p").needs == (("/p/sub/a", ""),)
    found = compare("python -m unittest tests.test_a.TestB.test_c", "/p", "python -m unittest", "/p")
    assert found.needs == (("/p/tests/test_a.py", "test_c"),)


@pytest.mark.parametrize(
    ("name", "text", "roots"),
    [
        ("pytest.ini", "[pytest]\ntestpaths = tests ./more/\n", ("tests", "more")),
        ("pytest.ini", "[pytest]\naddopts = -q\n", ()),
        (".pytest.ini", "[pytest]\ntestpaths =\n    a\n    b\n", ("a", "b")),
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n', ("tests",)),
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = "tests more"\n', ("tests", "more")),
        ("pyproject.toml", '[tool.pytest]\ntestpaths = ["tests"]\n', ("tests",)),
        ("pyproject.toml", "[tool.ruff]\n", ()),
        ("tox.ini", "[pytest]\ntestpaths = tests\n", ("tests",)),
        ("setup.cfg", "[tool:pytest]\ntestpaths = tests\n", ("tests",)),
        ("setup.cfg", "[metadata]\nname = x\n", ()),
    ],
)
def test_where_pytest_looks_is_read_from_its_configuration(
    tmp_path: Path, name: str, text: str, roots: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert find_roots(str(tmp_path)) == roots


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["tests/*"]\n'),
        ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = 3\n"),
        ("pyproject.toml", "[tool.pytest.ini_options\ntestpaths = 3\n"),
        ("pytest.ini", "testpaths = tests\n"),
        ("pytest.ini", "[pytest]\ntestpaths = t[ab]\n"),
    ],
)
def test_a_configuration_that_is_not_understood_covers_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    folder = str(tmp_path)
    assert compare("pytest tests/test_a.py", folder, "pytest", folder, find_roots(folder)).kind == OTHER
    assert compare("pytest tests/test_a.py", folder, "pytest tests", folder, find_roots(folder)).kind == COVERS

"""The archives are built from the commit, in a folder of their own; Pythons that only look like one are not used."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from release.build import BuildError, build, is_dirty, machine
from release.checks import CHECKS
from release.pythons import find_pythons
from release.report import check
from tests.releasing.test_release_cut import git

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "README.md", "LICENSE", ".gitignore", "docs/punchlist.1", "release/readme.py")
PACKAGE = ("__init__.py", "py.typed", "prompts/plan.md", "hosts/opencode/plugin.js")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small package that is built as ours is."""
    root = tmp_path / "project"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    for name in PACKAGE:
        path = root / "src/punchlist" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('__version__ = "1.2.3"\n' if name == "__init__.py" else "")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "All")
    return root


def test_what_is_not_committed_is_not_built_and_what_is_passes_the_checks(project: Path) -> None:
    (project / "src/punchlist/secret.py").touch()
    (project / "src/punchlist/__init__.py").write_text('__version__ = "9.9.9"\n')
    folder = project / "build/release"
    folder.mkdir(parents=True)
    release = build(project, folder)
    assert is_dirty(project)
    assert release.version == "1.2.3"
    assert "punchlist/secret.py" not in release.wheel.files()
    assert f"{release.top}/src/punchlist/secret.py" not in release.sdist.files()
    assert "punchlist/hosts/opencode/plugin.js" in release.wheel.files()
    offline = {name: check for name, check in CHECKS.items() if name != "readme on PyPI"}
    assert {name: check(release) for name, check in offline.items() if check(release)} == {}


def test_archives_with_a_problem_are_not_installed_and_do_not_get_into_dist(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("readme_renderer", reason="installed by make release-check")
    (project / "dist").mkdir()
    (project / "dist/punchlist-1.2.2.tar.gz").touch()
    (project / "src/punchlist/plugin.js").write_text("see /ho" + "me/bob/plan\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "More")
    (project / "new.txt").touch()
    assert check(project) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "ok       metadata" in lines
    assert [line for line in lines if line.startswith("problem  no place of one machine: punchlist-1.2.3.tar.gz: src/")]
    assert "note     there are changes that are not committed: they are not in the archives" in lines
    assert lines[-1] == "failed: no place of one machine. The archives are not in dist/."
    assert list((project / "dist").iterdir()) == []


def test_a_machine_without_a_python_that_the_package_is_for_is_a_problem(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("readme_renderer", reason="installed by make release-check")
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(re.sub(r'( +"Programming .* 3\.)\d+",\n', r'\g<1>1",\n', text))
    git(project, "commit", "-qam", "More")
    assert check(project) == 1
    assert "problem  install: none of the Pythons" in capsys.readouterr().out


def test_a_folder_without_a_repository_cannot_be_built(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="git archive failed"):
        build(tmp_path, tmp_path / "build")


def test_the_paths_of_this_machine_are_among_what_is_looked_for(tmp_path: Path) -> None:
    texts = [text for _, text in machine(ROOT, tmp_path)]
    assert {str(ROOT.resolve()), str(tmp_path.resolve())} <= set(texts)


def test_the_own_python_is_first_and_one_that_is_absent_is_named() -> None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    found, absent = find_pythons(["3.99", own])
    assert ([python.version for python in found], absent) == ([own], ["3.99"])


@pytest.mark.parametrize("shim", ["exit 1", "exit 0", "echo 3.97"])
def test_a_program_that_only_looks_like_a_python_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shim: str
) -> None:
    program = tmp_path / "python3.98"
    program.write_text(f"#!/bin/sh\n{shim}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert find_pythons(["3.98"]) == ([], ["3.98"])
    program.write_text("#!/bin/sh\necho 3.98\n")
    assert [python.path for python in find_pythons(["3.98"])[0]] == [str(program)]

"""`make release VERSION=...`: it cuts the changelog and sets the version, or refuses and writes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from release.cut import CutError, Repository, changelog_cut, check_repository, cut, version_set

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
BEFORE = """# Changelog

## [Unreleased]

### Added

- A plan can be kept.

## [0.1.0] - 2026-01-01

### Added

- Everything.
"""
AFTER = BEFORE.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n")
PACKAGE = 'name = 1\n__version__ = "0.1.0"\n'


def git(root: Path, *words: str) -> None:
    settings = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *words], cwd=root, capture_output=True, check=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src/punchlist").mkdir(parents=True)
    (root / "CHANGELOG.md").write_text(BEFORE)
    (root / "src/punchlist/__init__.py").write_text(PACKAGE)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "All")
    return root


def _texts(root: Path) -> tuple[str, str]:
    return (root / "CHANGELOG.md").read_text(), (root / "src/punchlist/__init__.py").read_text()


def test_the_changes_get_a_version_and_a_date_and_the_package_the_version(project: Path) -> None:
    cut(project, "0.2.0", "2026-02-03")
    assert _texts(project) == (AFTER, PACKAGE.replace("0.1.0", "0.2.0"))


def test_the_target_of_make_does_it_once(project: Path) -> None:
    shutil.copytree(ROOT / "release", project / "release", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Makefile", project)
    (project / ".gitignore").write_text("__pycache__/\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "More")
    words = ["make", "release", "VERSION=0.2.0", f"PYTHON={sys.executable}"]
    env = {**os.environ, "SOURCE_DATE_EPOCH": "1770100000"}
    done = subprocess.run(words, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert _texts(project) == (AFTER, PACKAGE.replace("0.1.0", "0.2.0"))
    again = subprocess.run(words, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert again.returncode != 0
    assert "changes that are not committed: CHANGELOG.md" in again.stderr
    assert _texts(project)[0] == AFTER


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9", "0.2", "v0.2.0", "", "0.2.0; rm"])
def test_a_version_that_is_not_one_or_not_newer_is_refused(project: Path, version: str) -> None:
    with pytest.raises(CutError):
        cut(project, version, "2026-02-03")
    assert _texts(project) == (BEFORE, PACKAGE)


def test_a_tree_with_a_file_that_is_not_committed_is_refused(project: Path) -> None:
    (project / "new.txt").touch()
    with pytest.raises(CutError, match=r"not committed: new\.txt"):
        cut(project, "0.2.0", "2026-02-03")
    assert _texts(project) == (BEFORE, PACKAGE)


def test_a_version_with_a_tag_is_refused(project: Path) -> None:
    git(project, "tag", "v0.2.0")
    with pytest.raises(CutError, match=r"the tag v0\.2\.0 exists"):
        cut(project, "0.2.0", "2026-02-03")
    assert _texts(project) == (BEFORE, PACKAGE)


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CutError, match="git tag failed"):
        cut(tmp_path, "0.2.0", "2026-02-03")


def test_nothing_to_release_is_refused() -> None:
    with pytest.raises(CutError, match="nothing to release"):
        changelog_cut(AFTER, "0.3.0", "2026-02-03")
    with pytest.raises(CutError, match="has no line"):
        changelog_cut("# Changelog\n", "0.3.0", "2026-02-03")


def test_a_first_version_may_be_the_one_that_the_package_has() -> None:
    assert version_set(PACKAGE, "0.1.0") == PACKAGE
    check_repository(Repository(("v0.0.1",), ()), "0.1.0")


def test_a_version_to_try_comes_before_the_final_one() -> None:
    assert version_set('__version__ = "1.0.0rc2"\n', "1.0.0") == '__version__ = "1.0.0"\n'
    with pytest.raises(CutError, match="is older"):
        version_set('__version__ = "1.0.0"\n', "1.0.0rc2")


def test_our_own_changelog_can_be_cut() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if "\n- " not in text.partition("## [Unreleased]")[2].partition("\n## [")[0]:
        pytest.skip("nothing is unreleased")
    assert changelog_cut(text, "99.0.0", "2099-01-01").replace("\n## [99.0.0] - 2099-01-01\n", "") == text

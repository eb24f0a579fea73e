"""The fingerprint of a project: what changes it, and what does not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from punchlist.checks import tree
from tests.checks.projects import PLENTY, Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def _commit(project: Project) -> None:
    project.commit()


def _amend(project: Project) -> None:
    project.commit()
    project.git("commit", "--quiet", "--amend", "--message", "other words")


def _stash_and_take_back(project: Project) -> None:
    project.git("stash", "--include-untracked")
    project.git("stash", "pop")


def _add(project: Project) -> None:
    project.git("add", "--all")


def _touch(project: Project) -> None:
    for path in ("src/a.py", "src/b.py"):
        os.utime(project.top / path, (1, 1))


def _check_out_the_same(project: Project) -> None:
    project.commit()
    project.git("checkout", "--quiet", "-b", "other")
    project.git("commit", "--quiet", "--allow-empty", "--message", "nothing")
    project.git("checkout", "--quiet", "main")


def _detach(project: Project) -> None:
    project.commit()
    project.git("checkout", "--quiet", "--detach")


def _collect_garbage(project: Project) -> None:
    project.commit()
    project.git("gc", "--quiet", "--prune=now")


def _edit_and_go_back(project: Project) -> None:
    before = (project.top / "src/a.py").read_bytes()
    project.write("src/a.py", "something else\n")
    project.write("src/a.py", before)


def _revert(project: Project) -> None:
    project.commit()
    project.write("src/b.py", "b = 3\n")
    project.commit()
    project.git("revert", "--no-edit", "HEAD")


NOTHING = [_commit, _amend, _stash_and_take_back, _add, _touch, _check_out_the_same, _detach, _collect_garbage]


@pytest.mark.parametrize("act", [*NOTHING, _edit_and_go_back, _revert], ids=lambda act: act.__name__)
def test_what_leaves_the_contents_alone_leaves_the_fingerprint_alone(
    project: Project, act: Callable[[Project], None]
) -> None:
    project.write("src/a.py", "a = 2\n")
    project.write("src/new.py", "new = 1\n")
    before = project.print()
    act(project)
    assert project.print() == before


def _edit(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")


def _edit_and_forge_the_time(project: Project) -> None:
    path = project.top / "src/a.py"
    found = path.stat()
    project.git("config", "core.trustctime", "false")
    project.git("config", "core.checkStat", "minimal")
    project.write("src/a.py", "a = 9\n")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _add_a_file(project: Project) -> None:
    project.write("src/c.py", "c = 1\n")


def _remove_a_file(project: Project) -> None:
    (project.top / "src/a.py").unlink()


def _rename(project: Project) -> None:
    (project.top / "src/a.py").rename(project.top / "src/c.py")


def _make_it_a_program(project: Project) -> None:
    (project.top / "src/a.py").chmod(0o755)


def _make_it_a_link(project: Project) -> None:
    path = project.top / "src/a.py"
    path.unlink()
    path.symlink_to("b.py")


def _put_a_folder_there(project: Project) -> None:
    (project.top / "src/a.py").unlink()
    project.write("src/a.py/inner", "a = 1\n")


def _edit_what_git_shall_assume_unchanged(project: Project) -> None:
    project.git("update-index", "--assume-unchanged", "src/a.py")
    _edit(project)


def _edit_what_git_shall_skip(project: Project) -> None:
    project.git("update-index", "--skip-worktree", "src/a.py")
    _edit(project)


SOMETHING = [
    *(_edit, _edit_and_forge_the_time, _add_a_file, _remove_a_file, _rename, _make_it_a_program, _make_it_a_link),
    *(_put_a_folder_there, _edit_what_git_shall_assume_unchanged, _edit_what_git_shall_skip),
]


@pytest.mark.parametrize("act", SOMETHING, ids=lambda act: act.__name__)
def test_a_change_of_contents_or_names_is_another_fingerprint(project: Project, act: Callable[[Project], None]) -> None:
    before = project.print()
    act(project)
    after = project.print()
    assert after != before
    project.commit()
    if "assume" not in act.__name__ and "skip" not in act.__name__:
        assert project.print() == after


def test_flags_of_the_index_alone_change_nothing(project: Project) -> None:
    before = project.print()
    project.git("update-index", "--assume-unchanged", "src/a.py")
    project.git("update-index", "--skip-worktree", "src/b.py")
    assert project.print() == before


def test_ignored_files_do_not_count(project: Project) -> None:
    project.write(".gitignore", "build/\n*.log\n")
    before = project.print()
    project.write("build/out", "1")
    project.write("src/x.log", "1")
    assert project.print() == before


def test_caches_of_known_tools_do_not_count_without_a_gitignore_but_tracked_ones_do(project: Project) -> None:
    before = project.print()
    for path in ("__pycache__/a.pyc", "src/.pytest_cache/v", "node_modules/x/y.js", ".coverage", ".venv/bin/python"):
        project.write(path, "1")
    project.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
    project.write("target/debug/x", "1")
    assert project.print() == before
    project.git("add", "--force", "node_modules/x/y.js")
    assert project.print() != before


def test_our_own_files_do_not_count_tracked_or_not(project: Project) -> None:
    before = project.print()
    own = [str(project.top / "plans.db"), str(project.top / "plans"), "/somewhere/else"]
    for path in ("plans.db", "plans.db-wal", "plans/1.json", ".punchlist/x.json", ".punchlist.db"):
        project.write(path, "1")
    assert project.print(own=own) == before
    project.git("add", "--all")
    assert project.print(own=own) == before
    assert project.print() != before


def test_edits_outside_of_the_scope_change_nothing(project: Project) -> None:
    before = project.print("src/**")
    project.write("README.md", "other\n")
    project.write("docs/src/a.py", "1")
    assert project.print("src/**") == before
    project.write("src/deep/new.py", "1")
    assert project.print("src/**") != before


def test_a_scope_without_files_says_nothing(project: Project) -> None:
    assert project.print("lib/**") == ""
    assert project.print("!src/**") == ""


def test_the_scope_is_read_from_the_directory_of_the_check(project: Project) -> None:
    before = project.print("*.py", folder="src"), project.print("../README.md", folder="src")
    project.write("top.py", "1")
    assert project.print("*.py", folder="src") == before[0]
    project.write("README.md", "other")
    assert project.print("*.py", folder="src") == before[0]
    assert project.print("../README.md", folder="src") != before[1]


def test_what_a_run_made_does_not_count_until_it_is_tracked(project: Project) -> None:
    before = project.print()
    project.write("report.xml", "1")
    assert tree.fingerprint(project.look(), without=["report.xml"]) == before
    project.git("add", "report.xml")
    assert tree.fingerprint(project.look(), without=["report.xml"]) != before


def test_tests_and_build_files_have_a_fingerprint_of_their_own(project: Project) -> None:
    assert tree.fingerprint_tests(project.look()) == ""
    seen = set()
    for path in ("tests/data.txt", "src/test_a.py", "Makefile", "web/app.test.ts", ".github/workflows/ci.yml"):
        project.write(path, "1")
        seen.add(tree.fingerprint_tests(project.look()))
    assert len(seen) == 5
    project.write("src/a.py", "a = 2\n")
    project.write("src/testing.py", "1")
    assert tree.fingerprint_tests(project.look()) in seen


def test_a_look_says_where_the_project_is_and_what_differs_from_its_commit(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")
    (project.top / "src/b.py").unlink()
    project.write("new", "1")
    files = project.look("src")
    assert files.top == str(project.top)
    assert files.head == project.git("rev-parse", "HEAD").strip()
    assert files.dirty == {"src/a.py", "src/b.py", "new"}
    assert files.untracked == {"new"}
    assert set(files.blobs) == {"src/a.py", "README.md", "new"}


def test_a_staged_change_that_was_taken_back_in_the_file_is_not_dirty(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")
    project.git("add", "--all")
    project.write("src/a.py", "a = 1\n")
    assert project.look().dirty == set()


def test_a_look_writes_nothing_to_the_repository(project: Project) -> None:
    os.utime(project.top / "src/a.py", (5, 5))
    index = project.top / ".git/index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    tree.look(str(project.top), PLENTY)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before

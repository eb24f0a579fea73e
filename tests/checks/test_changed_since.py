"""What a row of evidence keeps of the files, and how many have changed since."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from punchlist.checks import contents, tree
from tests.checks.projects import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def _row(project: Project, *scope: str) -> dict[str, Any]:
    row = tree.digest_row(project.look(), scope)
    return dict(json.loads(json.dumps(row)))  # as it comes out of a store


def _count(project: Project, row: dict[str, Any], *scope: str) -> int | None:
    return tree.changed_since(project.look(), row.get("base"), row.get("dirty"), scope)


def test_nothing_has_changed_at_first_and_then_every_file_is_counted_once(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")
    row = _row(project)
    assert _count(project, row) == 0
    project.write("src/a.py", "a = 3\n")
    project.write("new.py", "1")
    (project.top / "src/b.py").unlink()
    assert _count(project, row) == 3
    assert _count(project, row, "src/") == 2


def test_what_was_changed_then_and_is_committed_now_has_not_changed(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")
    project.write("new.py", "1")
    (project.top / "src/b.py").unlink()
    row = _row(project)
    project.commit()
    assert _count(project, row) == 0
    project.git("commit", "--quiet", "--amend", "--message", "other words")
    assert _count(project, row) == 0
    project.write("src/c.py", "1")
    project.commit()
    assert _count(project, row) == 1


def test_what_was_committed_then_and_is_reverted_in_the_files_is_compared_by_contents(project: Project) -> None:
    row = _row(project)
    project.write("src/a.py", "a = 2\n")
    project.commit()
    assert _count(project, row) == 1
    project.write("src/a.py", "a = 1\n")
    assert _count(project, row) == 0
    project.git("checkout", "--quiet", "src/a.py")
    project.git("revert", "--no-edit", "HEAD")
    assert _count(project, row) == 0


def test_a_stash_is_a_change_until_it_is_taken_back(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")
    project.write("new.py", "1")
    row = _row(project)
    project.git("stash", "--include-untracked")
    assert _count(project, row) == 2
    project.git("stash", "pop")
    assert _count(project, row) == 0


def test_it_is_told_also_before_the_first_commit_and_after_it(tmp_path: Path) -> None:
    project = Project(tmp_path / "new")
    project.git("init", "--quiet", ".")
    project.write("a", "1")
    row = _row(project)
    assert row["base"] == ""
    project.write("b", "1")
    assert _count(project, row) == 1
    project.commit()
    assert _count(project, row) == 1


def test_it_is_told_without_git(tmp_path: Path) -> None:
    project = Project(tmp_path / "plain")
    project.write("a", "1")
    row = _row(project)
    project.write("a", "2")
    project.write("b", "1")
    assert _count(project, row) == 2


def test_edits_in_a_submodule_are_counted(project: Project, tmp_path: Path) -> None:
    library = make_project(tmp_path / "library")
    project.git("submodule", "--quiet", "add", str(library.top), "lib")
    project.commit()
    row = _row(project)
    Project(project.top / "lib").write("src/a.py", "a = 2\n")
    assert _count(project, row) == 1


@pytest.mark.parametrize("base", ["1" * 40, "no commit", "--output=/tmp/x", "HEAD~9"])
def test_a_commit_that_git_does_not_have_is_not_guessed(project: Project, base: str) -> None:
    assert tree.changed_since(project.look(), base, {}) is None


def test_a_row_that_says_nothing_is_not_guessed(project: Project) -> None:
    assert tree.changed_since(project.look(), None, None) is None
    assert tree.changed_since(project.look(), project.look().head, None) is None


def test_a_row_stays_small(project: Project) -> None:
    for number in range(30):
        project.write(f"src/{number}.py", "1")
    row = _row(project)
    assert len(row["dirty"]) == 30
    assert len(json.dumps(row)) < 2000
    project.write("src/30.py", "1")
    assert _row(project) == {}
    assert _row(project, "src/1*.py") != {}


@pytest.mark.parametrize("name", ["x" * 200, "ü" * 100, "🙂" * 50])
def test_long_names_do_not_make_a_row_large(project: Project, name: str) -> None:
    for number in range(20):
        project.write(f"{number}{name}"[:60] + "/" + name[:60] + str(number), "1")
        assert len(json.dumps(_row(project))) <= 2000


def test_names_that_are_not_text_are_not_put_into_a_row(project: Project) -> None:
    project.write(b"\xff", "1")
    assert _row(project) == {}


# --- while a command ran ---------------------------------------------------------------------------------------------


def _now(project: Project) -> float:
    """The time as the disk tells it, later than everything that was written before."""
    probe = project.write(".git/probe", "1")
    before = time.time_ns()
    while probe.stat().st_mtime_ns <= before:
        probe.write_text("1")
    return probe.stat().st_mtime


def test_files_that_changed_and_files_that_were_made_while_a_command_ran_are_told_apart(project: Project) -> None:
    path = project.write("notes.txt", "1")
    if not contents.born(str(path)):
        pytest.skip("this disk does not tell when a file was made")
    start = _now(project)
    assert tree.modified_during(project.look(), start) == ([], [])
    project.write("src/a.py", "a = 2\n")
    project.write("notes.txt", "2")
    project.write("report.xml", "1")
    found = tree.modified_during(project.look(), start)
    assert found.changed == ["notes.txt", "src/a.py"]
    assert found.made == ["report.xml"]
    assert tree.modified_during(project.look(), start, scope=["src/"]) == (["src/a.py"], [])
    assert tree.modified_during(project.look(), start, without=["report.xml", "notes.txt"]) == (["src/a.py"], [])


def test_a_forged_time_of_modification_is_no_excuse_and_one_in_the_future_no_reason(project: Project) -> None:
    os.utime(project.top / "src/b.py", (9e9, 9e9))
    start = _now(project)
    project.write("src/a.py", "a = 2\n")
    os.utime(project.top / "src/a.py", (5, 5))
    assert tree.modified_during(project.look(), start) == (["src/a.py"], [])


def test_an_untracked_file_that_was_known_and_is_written_again_was_not_made_by_the_run(project: Project) -> None:
    project.write("notes.txt", "1")
    start = _now(project)
    (project.top / "notes.txt").unlink()
    project.write("notes.txt", "2")
    found = tree.modified_during(project.look(), start, known=["notes.txt"])
    assert found == (["notes.txt"], [])


def test_files_that_were_looked_at_before_are_compared_by_contents(project: Project) -> None:
    project.write("notes.txt", "1")
    before = project.look()
    os.utime(project.top / "src/a.py")
    project.write("src/b.py", "b = 2\n")
    (project.top / "README.md").unlink()
    (project.top / "notes.txt").unlink()
    project.write("report.xml", "1")
    found = tree.modified_during(project.look(), 0.0, before=before)
    assert found == (["README.md", "notes.txt", "src/b.py"], ["report.xml"])


MADE = ["report.xml", "app.o", "dist/app.js", "pkg/build/lib/a.py", "target/x.rs", "log.txt", "tests/shots/1.png"]
WRITTEN = ["new.py", "src/new.ts", "web/a.test.tsx", "Makefile", "sub/package.json", "conftest.py"]


@pytest.mark.parametrize("is_compared", [True, False])
def test_a_new_source_file_was_written_by_somebody_and_is_not_a_byproduct(project: Project, is_compared: bool) -> None:
    path = project.write("notes.txt", "1")
    if not contents.born(str(path)):
        pytest.skip("this disk does not tell when a file was made")
    before = project.look() if is_compared else None
    start = _now(project)
    for name in (*MADE, *WRITTEN):
        project.write(name, "1")
    found = tree.modified_during(project.look(), start, before=before)
    assert found == (sorted(WRITTEN), sorted(MADE))
    alone = tree.modified_during(project.look(), start, before=before, is_alone=True)
    assert alone == ([], sorted([*MADE, *WRITTEN]))


def test_a_file_that_is_gone_since_the_look_counts_as_changed(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")
    files = project.look()
    start = _now(project)
    (project.top / "src/a.py").unlink()
    assert tree.modified_during(files, start) == (["src/a.py"], [])


def test_a_file_that_was_written_again_as_it_was_committed_has_not_changed(project: Project) -> None:
    start = _now(project)
    project.write("src/a.py", "a = 1\n")
    assert tree.modified_during(project.look(), start) == ([], [])


def test_a_command_that_begins_right_after_a_file_was_written_is_not_blamed_for_it(project: Project) -> None:
    for number in range(20):
        project.write("src/a.py", f"print({number})\n")
        before = project.look()
        tree.settle(before)
        assert tree.modified_during(project.look(), time.time(), before=before) == ([], [])

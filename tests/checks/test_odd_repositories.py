"""Repositories and folders that are not plain: each is looked at, or it is said why not."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from punchlist.checks import contents, tree
from tests.checks.projects import PLENTY, Project, make_project, put_git_in_path

pytestmark = pytest.mark.once  # what git does

needs_owner = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def _look(folder: Path, seconds: float = PLENTY) -> tree.Files:
    return tree.look(str(folder), seconds)


# --- where there is nothing to look at -------------------------------------------------------------------------------


def test_a_bare_repository_has_no_files(project: Project, tmp_path: Path) -> None:
    project.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    with pytest.raises(tree.NoFiles, match="bare"):
        _look(tmp_path / "bare.git")
    project.git("clone", "--quiet", "--bare", ".", str(project.top / "inner/bare.git"))
    for name in (".git", ".git/refs", "inner/bare.git", "inner/bare.git/objects"):
        with pytest.raises(tree.NoFiles, match="bare"):
            _look(project.top / name)


@pytest.mark.parametrize("name", ["missing", "README.md", "a\0b"])
def test_a_folder_that_is_not_there_is_named(project: Project, name: str) -> None:
    with pytest.raises(tree.NoFiles, match="is not a directory"):
        tree.look(f"{project.top}/{name}", PLENTY)


def test_a_repository_of_another_user_is_not_read_and_it_is_said_what_helps(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_git_in_path(tmp_path / "bin", monkeypatch, "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
    with pytest.raises(tree.NoFiles, match=r"safe\.directory"):
        _look(project.top)


def test_a_repository_that_git_cannot_read_is_told_in_git_s_words(project: Project) -> None:
    (project.top / ".git/index").write_bytes(b"\x1b[31mnot an index")
    with pytest.raises(tree.NoFiles, match=r"git cannot read this repository: .*index"):
        _look(project.top)
    (project.top / ".git/config").write_text("[core", encoding="utf-8")
    with pytest.raises(tree.NoFiles, match="git cannot read this repository: bad config"):
        _look(project.top)


# --- time ------------------------------------------------------------------------------------------------------------


def test_a_git_that_hangs_is_ended_when_the_time_is_over(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_git_in_path(tmp_path / "bin", monkeypatch, f"sleep 1000 & echo $! > {tmp_path}/pid; wait")
    with pytest.raises(tree.TooLong):
        _look(project.top, 1.0)
    child = int((tmp_path / "pid").read_text())
    _wait_until_gone(child)


def _wait_until_gone(process: int) -> None:
    while _is_running(process):
        os.sched_yield()


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def test_without_time_nothing_is_guessed(project: Project, tmp_path: Path) -> None:
    with pytest.raises(tree.TooLong):
        _look(project.top, 0.0)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a").write_text("1")
    with pytest.raises(tree.TooLong):
        _look(tmp_path / "plain", 0.0)


@pytest.mark.torture
def test_a_huge_untracked_folder_is_read_if_there_is_time_and_given_up_if_not(project: Project) -> None:
    for number in range(50_000):
        project.write(f"data/{number % 100}/{number}", str(number))
    with pytest.raises(tree.TooLong):
        _look(project.top, 0.1)
    before = project.print()
    project.write("data/7/7", "other")
    assert project.print() != before


def test_a_huge_folder_of_installed_packages_is_not_even_listed(project: Project) -> None:
    before = project.print()
    for number in range(3_000):
        project.write(f"web/node_modules/{number}/index.js", "1")
    assert project.print() == before


# --- states of a repository ------------------------------------------------------------------------------------------


def test_a_repository_without_a_commit_has_a_fingerprint_that_its_first_commit_keeps(tmp_path: Path) -> None:
    project = Project(tmp_path / "new")
    project.git("init", "--quiet", ".")
    project.write("a", "1")
    project.write("b", "1")
    project.git("add", "a")
    files = project.look()
    assert files.head == ""
    assert files.dirty == {"a", "b"}
    assert files.untracked == {"b"}
    before = project.print()
    project.commit()
    assert project.print() == before


def _conflict(project: Project) -> None:
    project.git("checkout", "--quiet", "-b", "other")
    project.write("src/a.py", "theirs\n")
    project.commit()
    project.git("checkout", "--quiet", "main")
    project.write("src/a.py", "ours\n")
    project.commit()


@pytest.mark.parametrize("words", [("merge", "other"), ("rebase", "other"), ("cherry-pick", "other")])
def test_a_conflict_in_progress_counts_as_the_files_are_now(project: Project, words: tuple[str, ...]) -> None:
    _conflict(project)
    before = project.print()
    project.git(*words, fails=True)
    during = project.print()
    assert during != before
    assert project.look().dirty == {"src/a.py"}
    project.write("src/a.py", "both\n")
    resolved = project.print()
    assert resolved not in (before, during)
    project.git("add", "--all")
    assert project.print() == resolved
    project.git(words[0], "--abort")
    assert project.print() == before


def test_another_worktree_has_the_same_fingerprint_for_the_same_contents_and_is_not_part_of_the_first(
    project: Project,
) -> None:
    before = project.print()
    project.git("worktree", "add", "--quiet", "worktrees/two", "-b", "two")
    assert project.print() == before
    second = Project(project.top / "worktrees/two")
    assert second.print() == before
    assert second.look().top == str(second.top)
    second.write("src/a.py", "a = 2\n")
    assert project.print() == before
    assert second.print() != before


def test_files_that_are_not_checked_out_do_not_count(project: Project) -> None:
    project.write("docs/page.md", "1")
    project.commit()
    before = project.print(), project.print("src/")
    project.git("sparse-checkout", "set", "src")
    assert "docs/page.md" not in project.look().blobs
    assert project.print("src/") == before[1]
    assert project.look().dirty == set()
    project.write("src/a.py", "a = 2\n")
    assert project.print("src/") != before[1]
    project.git("checkout", "--quiet", "src/a.py")
    project.git("sparse-checkout", "disable")
    assert project.print() == before[0]


def test_a_file_that_is_only_meant_to_be_added_counts_by_its_contents(project: Project) -> None:
    project.write("new.py", "1\n")
    before = project.print()
    project.git("add", "--intent-to-add", "new.py")
    assert project.print() == before
    assert "new.py" in project.look().dirty
    project.write("new.py", "2\n")
    assert project.print() != before


def test_a_file_that_git_no_longer_tracks_counts_while_it_is_not_ignored(project: Project) -> None:
    before = project.print()
    project.git("rm", "--quiet", "--cached", "src/a.py")
    assert project.print() == before
    project.write("src/a.py", "a = 2\n")
    assert project.print() != before


def test_a_repository_with_longer_hashes_is_read_like_any_other(tmp_path: Path) -> None:
    project = Project(tmp_path / "long")
    project.git("init", "--quiet", "--object-format=sha256", ".")
    project.write("a", "1")
    (project.top / "link").symlink_to("a")
    before = project.print()
    project.commit()
    assert project.print() == before
    assert len(project.look().head) == 64


# --- repositories in repositories ------------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Project:
    return make_project(tmp_path / "library")


def test_an_edit_in_a_submodule_counts_and_a_commit_there_does_not(project: Project, library: Project) -> None:
    project.git("submodule", "--quiet", "add", str(library.top), "lib")
    project.commit()
    before = project.print()
    inner = Project(project.top / "lib")
    inner.write("src/a.py", "a = 2\n")
    edited = project.print()
    assert edited != before
    assert project.look().dirty == {"lib/src/a.py"}
    assert project.print("lib/src/") != ""
    inner.commit()
    assert project.print() == edited
    assert project.look().dirty == {"lib"}
    project.commit()
    assert project.print() == edited
    assert project.look().dirty == set()
    inner.write("new.py", "1")
    assert project.print() != edited


def test_a_submodule_that_was_not_fetched_counts_by_its_commit(
    project: Project, library: Project, tmp_path: Path
) -> None:
    project.git("submodule", "--quiet", "add", str(library.top), "lib")
    project.commit()
    project.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone")
    assert clone.look().blobs["lib"] == "160000 " + library.git("rev-parse", "HEAD").strip()


def test_a_folder_that_was_a_repository_when_it_was_added_counts_by_its_files(project: Project) -> None:
    inner = make_project(project.top / "app")
    project.commit()
    shutil.rmtree(inner.top / ".git")
    before = project.print()
    inner.write("src/a.py", "a = 2\n")
    assert project.print() != before
    assert project.look("app/src").blobs.keys() >= {"app/src/a.py"}


def test_a_git_folder_that_git_rejects_does_not_hide_the_repository_around_it(project: Project) -> None:
    project.write("inner/f", "a\n")
    project.commit()
    for name in ("objects", "refs"):
        (project.top / "inner/.git" / name).mkdir(parents=True)
    project.write("inner/.git/config", "[core]\n\tbare = false\n")
    project.write("inner/.git/HEAD", "")
    before = project.look("inner")
    project.write("inner/f", "b\n")
    assert before.top == str(project.top)
    assert project.look("inner").dirty == {"inner/f"}


def test_settings_of_a_repository_that_are_a_pipe_are_not_waited_for(project: Project) -> None:
    (project.top / ".git/config").unlink()
    os.mkfifo(project.top / ".git/config")
    with pytest.raises(tree.NoFiles):
        tree.look(str(project.top), 0.5)


def test_a_git_whose_end_nobody_can_tell_is_not_believed(project: Project) -> None:
    code = """
import signal, sys
from punchlist.checks import tree
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
try:
    tree.look(sys.argv[1], 60)
except tree.NoFiles as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code, str(project.top)], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("it cannot be told how git ended")


def test_a_repository_in_another_one_is_a_project_of_its_own_and_its_files_count_in_the_outer_one(
    project: Project,
) -> None:
    inner = make_project(project.top / "vendor/inner")
    outer = project.print()
    assert inner.look("src").top == str(inner.top)
    before = inner.print()
    project.write("src/a.py", "a = 2\n")
    assert inner.print() == before
    project.git("checkout", "--quiet", "src/a.py")
    assert project.print() == outer
    inner.write("src/a.py", "a = 2\n")
    assert project.print() != outer


def test_an_inner_repository_without_a_commit_or_with_a_broken_git_folder_still_counts(project: Project) -> None:
    inner = Project(project.top / "inner")
    inner.git("init", "--quiet", ".")
    inner.write("a", "1")
    empty = project.print()
    inner.write("a", "2")
    assert project.print() != empty
    (inner.top / ".git/HEAD").unlink()
    broken = project.print()
    inner.write("a", "3")
    assert project.print() != broken


def test_a_folder_that_git_ignores_is_read_without_git(project: Project) -> None:
    project.write(".gitignore", "scratch/\n")
    project.write("scratch/try/a.py", "1")
    before = project.print(folder="scratch/try")
    assert project.look("scratch/try").top == str(project.top / "scratch/try")
    project.write("scratch/try/a.py", "2")
    assert project.print(folder="scratch/try") != before


def test_an_empty_folder_belongs_to_its_project(project: Project) -> None:
    (project.top / "empty").mkdir()
    assert project.look("empty").top == str(project.top)


# --- files -----------------------------------------------------------------------------------------------------------

NAMES = [
    b"two\nlines",
    b'"quoted"',
    b"back\\slash",
    b"\xff\xfe.txt",
    "größe 🙂".encode(),
    b" spaces ",
    b"-dash",
    b"tab\t",
]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_every_file_name_is_read(project: Project, name: bytes) -> None:
    project.write(name, "1\n")
    before = project.print()
    assert os.fsdecode(name) in project.look().untracked
    project.commit()
    assert project.print() == before
    project.write(name, "2\n")
    after = project.print()
    assert after != before
    assert project.look().dirty == {os.fsdecode(name)}
    project.commit()
    assert project.print() == after


def test_links_are_not_followed_and_a_loop_of_them_ends(project: Project, tmp_path: Path) -> None:
    (project.top / "loop").symlink_to(".")
    (project.top / "self").symlink_to("self")
    (project.top / "out").symlink_to(tmp_path)
    (project.top / "gone").symlink_to("nowhere")
    before = project.print()
    (tmp_path / "outside").write_text("1")
    assert project.print() == before
    project.commit()
    assert project.print() == before
    (project.top / "gone").unlink()
    (project.top / "gone").symlink_to("elsewhere")
    assert project.print() != before


def test_pipes_and_sockets_are_never_opened(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.top / "src/a.py").unlink()
    os.mkfifo(project.top / "src/a.py")
    os.mkfifo(project.top / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(project.top)  # a socket has a short name
        server.bind("socket")
        assert "pipe" not in project.look().blobs
        shutil.rmtree(project.top / ".git")
        assert project.print() == project.print()


def test_a_very_large_file_counts_by_its_size_and_time(project: Project) -> None:
    path = project.write("large.bin")
    os.truncate(path, contents.LARGE + 1)
    os.utime(path, (5, 5))
    before = project.print()
    assert project.look().blobs["large.bin"].endswith(f"size {contents.LARGE + 1} 5000000000")
    os.utime(path, (6, 6))
    assert project.print() != before


def test_names_that_differ_in_case_only_are_told_apart_where_the_disk_does(project: Project) -> None:
    project.git("config", "core.ignorecase", "true")
    before = project.print()
    (project.top / "src/a.py").rename(project.top / "src/A.py")
    renamed = project.print()
    if (project.top / "src/a.py").exists():
        pytest.skip("this disk does not tell a.py from A.py")
    assert renamed != before
    project.write("src/A.py", "a = 2\n")
    assert project.print() != renamed


def test_a_file_that_vanishes_while_it_is_read_is_no_problem(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("new1", "new2", "new3"):
        project.write(name, name)
    expected = project.look().blobs
    script = f'case "$*" in *hash-object*) rm -f {project.top}/new2;; esac'
    put_git_in_path(tmp_path / "bin", monkeypatch, script)
    found = project.look().blobs
    assert "new2" not in found
    assert found == {path: text for path, text in expected.items() if path != "new2"}


@pytest.fixture
def of_nobody() -> Iterator[Path]:
    """A folder that belongs to a user who may not read everything, and this process acting for that user."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
        if os.getuid() == 0:
            os.seteuid(0)


@needs_owner
@pytest.mark.parametrize("has_git", [True, False])
def test_a_file_and_a_folder_that_may_not_be_read_are_no_problem(of_nobody: Path, has_git: bool) -> None:
    project = make_project(of_nobody / "project")
    secret, closed = project.write("secret", "1"), project.write("closed/a", "1").parent
    if not has_git:
        shutil.rmtree(project.top / ".git")
    project.look()  # everything is imported
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "65534", of_nobody], check=True)
        os.seteuid(65534)
    secret.chmod(0)
    closed.chmod(0)
    before = project.look()
    assert "unreadable" in before.blobs["secret"]
    project.write("src/a.py", "a = 2\n")
    assert tree.fingerprint(project.look()) != tree.fingerprint(before)
    with pytest.raises(tree.NoFiles, match="cannot be read"):
        _look(closed)
    closed.chmod(0o700)


@needs_owner
def test_tracked_files_in_a_folder_that_may_not_be_read_do_not_count_as_unchanged(of_nobody: Path) -> None:
    project = make_project(of_nobody / "project")
    project.look()  # everything is imported
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", "65534", of_nobody], check=True)
        os.seteuid(65534)
    project.write("src/a.py", "a = 2\n")
    (project.top / "src").chmod(0)
    with pytest.raises(tree.NoFiles, match=r"'src/.*' cannot be looked at: Permission denied"):
        project.look()
    (project.top / "src").chmod(0o700)
    assert "src/a.py" in project.look().dirty


# --- contents that git changes on their way in -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "attributes", "data"),
    [
        ("core.autocrlf=true", "", b"one\r\ntwo\r\n"),
        ("core.autocrlf=input", "", b"one\r\ntwo\r\n"),
        ("core.eol=lf", "*.txt text\n", b"one\r\ntwo\r\n"),
        ("core.eol=lf", "*.txt ident\n", b"$Id: 123 $\n"),
        ("core.eol=lf", "*.txt working-tree-encoding=UTF-16LE text\n", "größe\n".encode("utf-16-le")),
    ],
)
def test_a_commit_changes_nothing_where_git_converts_contents(
    project: Project, setting: str, attributes: str, data: bytes
) -> None:
    project.git("config", *setting.split("="))
    if attributes:
        project.write(".gitattributes", attributes)
    project.write("file.txt", data)
    before = project.print()
    project.commit()
    assert project.print() == before
    os.utime(project.top / "file.txt", (5, 5))
    assert project.print() == before


def test_line_ends_that_the_user_has_chosen_for_every_repository_change_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\n\tautocrlf = true\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    project.write("file.txt", b"one\r\ntwo\r\n")
    before = project.print()
    project.commit()
    os.utime(project.top / "file.txt", (5, 5))
    assert project.print() == before
    assert project.look().dirty == frozenset()


def test_a_repository_with_unusual_settings_has_the_same_fingerprint_as_with_common_ones(project: Project) -> None:
    project.write("src/a.py", "a = 2\n")
    project.write("new/one.py", "1\n")
    (project.top / "README.md").unlink()
    (project.top / "src/b.py").chmod(0o755)
    common = project.look()
    project.git("config", "include.path", "nowhere")  # git is asked in another order
    assert project.look() == common
    assert common.dirty == {"src/a.py", "new/one.py", "README.md", "src/b.py"}


def test_git_is_asked_also_by_a_program_without_standard_input_and_output(project: Project) -> None:
    code = "import sys; from punchlist.checks import tree; found = tree.fingerprint(tree.look(sys.argv[1], 60))"
    keep = "open('out', 'w', encoding='utf-8').write(found)"
    words = [sys.executable, "-c", f"{code}; {keep}", str(project.top)]
    subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words], cwd=project.top.parent, check=True)
    assert (project.top.parent / "out").read_text(encoding="utf-8") == project.print()


def test_without_modes_on_the_disk_git_s_are_taken(project: Project) -> None:
    (project.top / "src/a.py").chmod(0o755)
    project.commit()
    project.git("config", "core.filemode", "false")
    before = project.print()
    (project.top / "src/a.py").chmod(0o644)
    (project.top / "src/b.py").chmod(0o755)
    assert project.print() == before
    project.write("src/a.py", "a = 2\n")
    edited = project.print()
    project.commit()
    assert project.print() == edited


# --- without git -----------------------------------------------------------------------------------------------------


def test_without_git_names_and_contents_are_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    files = project.look()
    assert (files.head, set(files.blobs)) == ("", {"src/a.py", "src/b.py", "README.md"})
    assert files.untracked == set(files.blobs)
    before = tree.fingerprint(files)
    os.utime(project.top / "src/a.py", (5, 5))
    project.write("__pycache__/a.pyc", "1")
    project.write(".punchlist/plan.json", "1")
    assert project.print() == before
    project.write("src/a.py", "a = 2\n")
    assert project.print() != before
    project.write("src/a.py", "a = 1\n")
    assert project.print() == before
    (project.top / "src/a.py").rename(project.top / "src/c.py")
    assert project.print() != before


def test_a_folder_of_several_repositories_is_read_with_git_where_there_is_one(tmp_path: Path) -> None:
    one, _ = make_project(tmp_path / "all/one"), make_project(tmp_path / "all/two")
    one.write(".gitignore", "build/\n")
    one.commit()
    both = Project(tmp_path / "all")
    both.write("notes.txt", "1")
    before = both.print()
    assert "one/src/a.py" in both.look().blobs
    one.write("build/x", "1")
    one.commit()
    assert both.print() == before
    one.write("src/a.py", "a = 2\n")
    assert both.print() != before


def test_worktrees_beside_each_other_in_a_folder_without_git_count_there(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", str(tmp_path / "all/two"), "-b", "two")
    both = Project(tmp_path / "all")
    before = both.print()
    both.write("two/src/a.py", "a = 2\n")
    assert both.print() != before


def test_a_git_folder_that_leads_nowhere_is_no_repository(tmp_path: Path) -> None:
    project = Project(tmp_path / "odd")
    project.write("a", "1")
    project.write(".git", "gitdir: /nowhere\n")
    before = project.print()
    project.write("a", "2")
    assert project.print() != before
    assert project.look().head == ""


@pytest.mark.torture
def test_without_git_there_is_a_most_that_is_read(tmp_path: Path) -> None:
    project = Project(tmp_path / "many")
    for number in range(50_001):
        project.write(f"{number % 100}/{number}")
    with pytest.raises(tree.NoFiles, match="at most 50,000 files"):
        project.look()


# --- inside a hook of git --------------------------------------------------------------------------------------------


def test_inside_a_hook_of_git_the_fingerprint_is_that_of_the_project(project: Project) -> None:
    found = project.top.parent / "found"
    code = f"""
from punchlist.checks import tree
files = tree.look({str(project.top)!r}, 60)
open({str(found)!r}, "w").write(tree.fingerprint(files))
"""
    hook = project.write(".git/hooks/pre-commit", f"#!{sys.executable}\n{code}")
    hook.chmod(0o755)
    project.write("src/a.py", "a = 2\n")
    project.write("src/b.py", "b = 2\n")
    before = project.print()
    project.git("commit", "--quiet", "--message", "a part of it", "--", "src/a.py")
    assert found.read_text() == before
    assert project.print() == before


def test_variables_of_git_do_not_lead_to_another_repository(
    project: Project, library: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = project.print()
    library.write("other", "1")
    monkeypatch.setenv("GIT_DIR", str(library.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(library.top))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    assert project.print() == before

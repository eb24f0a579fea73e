"""A repository cannot run a program because its files are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from punchlist.checks import tree
from tests.checks.projects import PLENTY, Project, make_project

pytestmark = pytest.mark.once  # what git does

POINTER = """
import hashlib, sys
data = sys.stdin.buffer.read()
size, name = len(data), hashlib.sha256(data).hexdigest()
print(f"version https://git-lfs.github.com/spec/v1\\noid sha256:{name}\\nsize {size}")
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def _trap(folder: Path, name: str = "ran") -> str:
    """A command that leaves a trace, and then hangs."""
    return f"echo it ran >> {folder}/{name}; sleep 1000"


SETTINGS = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.editor",
    "core.pager",
    "core.askPass",
    "diff.external",
    "diff.x.textconv",
    "diff.x.command",
    "credential.helper",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.x.process",
    "filter.with.dots.and spaces.clean",
    "FILTER.Upper.CLEAN",
]


@pytest.mark.parametrize("name", SETTINGS)
def test_no_program_that_a_repository_names_is_run(project: Project, tmp_path: Path, name: str) -> None:
    drivers = ["x", "with.dots.and spaces", "Upper"]
    lines = [f'"*.{number}" filter="{driver}" diff=x' for number, driver in enumerate(drivers)]
    project.write(".gitattributes", "*.py filter=x diff=x\n*.txt filter=Upper\n" + "\n".join(lines))
    project.write("a.txt", "1\n")
    project.commit()
    project.git("config", name, _trap(tmp_path))
    project.git("config", "filter.x.required", "true")
    project.write("src/a.py", "a = 2\n")
    project.write("a.txt", "2\n")
    project.write("new.py", "1\n")
    row = tree.digest_row(files := project.look())
    assert {"src/a.py", "new.py", "a.txt"} <= files.dirty
    tree.changed_since(files, files.head, row["dirty"])  # type: ignore[arg-type]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", ["user", "included", "variable", "machine"])
def test_no_program_is_run_whichever_settings_name_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    project.write(".gitattributes", "*.py filter=x\n")
    project.commit()
    settings = tmp_path / ".gitconfig"
    settings.write_text(f'[filter "x"]\n\tclean = "{_trap(tmp_path)}"\n\trequired = true\n', encoding="utf-8")
    match place:
        case "user":
            monkeypatch.setenv("HOME", str(tmp_path))
        case "included":
            project.git("config", "include.path", str(settings))
        case "variable":
            monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
            monkeypatch.setenv("GIT_CONFIG_KEY_0", "filter.x.clean")
            monkeypatch.setenv("GIT_CONFIG_VALUE_0", _trap(tmp_path))
        case "machine":
            monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(settings))
    project.write("src/a.py", "a = 2\n")
    assert project.look().dirty == {"src/a.py"}
    assert not (tmp_path / "ran").exists()


def test_no_hook_is_run(project: Project, tmp_path: Path) -> None:
    project.git("config", "core.hooksPath", str(tmp_path / "hooks"))
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        for folder in (tmp_path / "hooks", project.top / ".git/hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(f"#!/bin/sh\n{_trap(tmp_path)}\n", encoding="utf-8")
            (folder / name).chmod(0o755)
    project.write("src/a.py", "a = 2\n")
    assert project.look().dirty == {"src/a.py"}
    assert not (tmp_path / "ran").exists()


def test_the_settings_of_a_submodule_run_nothing_either(project: Project, tmp_path: Path) -> None:
    library = make_project(tmp_path / "library")
    library.write(".gitattributes", "*.py filter=inner\n")
    library.commit()
    project.git("submodule", "--quiet", "add", str(library.top), "lib")
    project.commit()
    inner = Project(project.top / "lib")
    inner.git("config", "core.fsmonitor", _trap(tmp_path))
    inner.git("config", "filter.inner.clean", _trap(tmp_path))
    (inner.top / "src/a.py").write_text("a = 2\n", encoding="utf-8")
    assert project.look().dirty == {"lib/src/a.py"}
    assert not (tmp_path / "ran").exists()


def test_what_is_missing_in_a_partial_clone_is_not_fetched(project: Project, tmp_path: Path) -> None:
    project.git("config", "uploadpack.allowFilter", "true")
    clone = Project(tmp_path / "clone")
    project.git("clone", "--quiet", "--filter=tree:0", "--no-checkout", f"file://{project.top}", str(clone.top))
    clone.git("config", "remote.origin.url", f"ext::sh -c '{_trap(tmp_path)}'")
    clone.git("config", "protocol.ext.allow", "always")
    with pytest.raises(tree.NoFiles, match="git cannot read this repository"):
        tree.look(str(clone.top), PLENTY)
    assert not (tmp_path / "ran").exists()


def test_a_filter_whose_name_cannot_be_passed_on_is_a_reason_not_to_look(project: Project, tmp_path: Path) -> None:
    project.git("config", "filter.a=b.clean", _trap(tmp_path))
    project.write(".gitattributes", '*.py "filter=a=b"\n')
    with pytest.raises(tree.NoFiles, match="filter"):
        project.look()
    assert not (tmp_path / "ran").exists()


def test_files_of_git_lfs_are_told_without_running_it(project: Project, tmp_path: Path) -> None:
    program = tmp_path / "clean.py"
    program.write_text(POINTER, encoding="utf-8")
    project.write(".gitattributes", "*.bin filter=lfs\n")
    project.git("config", "filter.lfs.clean", f"python3 {program}")
    project.git("config", "filter.lfs.required", "true")
    project.write("data.bin", b"\0one" * 1000)
    before = project.print()
    project.commit()
    assert project.git("show", "HEAD:data.bin").startswith("version https://git-lfs")
    assert project.print() == before
    program.write_text("raise SystemExit(1)", encoding="utf-8")
    project.write("data.bin", b"\0one" * 1000)
    assert project.print() == before
    assert project.look().dirty == set()
    project.write("data.bin", b"\0two" * 1000)
    assert project.print() != before


def test_a_file_under_another_filter_counts_by_its_raw_contents_until_git_has_seen_it(project: Project) -> None:
    project.write(".gitattributes", "*.txt filter=upper\n")
    project.git("config", "filter.upper.clean", "tr a-z A-Z")
    project.write("a.txt", "one\n")
    project.commit()
    clean = project.print()
    project.write("a.txt", "two\n")
    assert project.print() != clean
    project.write("a.txt", "one\n")
    project.git("status")
    assert project.print() == clean


def test_the_files_of_a_repository_are_those_around_it_whatever_it_says(project: Project, tmp_path: Path) -> None:
    other = make_project(tmp_path / "other")
    project.git("config", "core.worktree", str(other.top))
    files = project.look()
    assert files.top == str(project.top)
    assert files.head == ""

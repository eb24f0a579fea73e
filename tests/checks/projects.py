"""Real projects to look at: a folder, and git in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from punchlist.checks import tree

# The last four save time: nothing is written for the machine's death, and nothing is tidied up.
SETTINGS = (
    *("user.name=n", "user.email=n@example.org", "commit.gpgsign=false", "protocol.file.allow=always"),
    *("core.fsync=none", "gc.auto=0", "maintenance.auto=false", "init.templateDir="),
)
PLENTY = 60.0  # seconds: nothing here is about time


class Project:
    """A folder with a git repository."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir(parents=True, exist_ok=True)

    def git(self, *words: str, fails: bool = False) -> str:
        options = [word for setting in SETTINGS for word in ("-c", setting)]
        done = subprocess.run(["git", *options, *words], cwd=self.top, capture_output=True, text=True)
        assert fails or done.returncode == 0, done.stderr
        return done.stdout

    def write(self, path: str | bytes, text: str | bytes = "") -> Path:
        full = self.top / os.fsdecode(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, str):
            text = text.encode()
        full.write_bytes(text)
        return full

    def commit(self, message: str = "a change") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)

    def look(self, folder: str = "", own: Iterable[str] = ()) -> tree.Files:
        return tree.look(str(self.top / folder), PLENTY, own=own)

    def print(self, *scope: str, folder: str = "", own: Iterable[str] = ()) -> str:
        """The fingerprint as it is now."""
        return tree.fingerprint(self.look(folder, own), scope, str(self.top / folder))


def make_project(top: Path) -> Project:
    """A repository with three files, all committed."""
    project = Project(top)
    project.git("init", "--quiet", "--initial-branch=main", ".")
    project.write("src/a.py", "a = 1\n")
    project.write("src/b.py", "b = 1\n")
    project.write("README.md", "Read me\n")
    project.commit("first")
    return project


def put_git_in_path(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a script run before each command of the real git."""
    real = shutil.which("git")
    folder.mkdir()
    program = folder / "git"
    program.write_text(f'#!/bin/sh\n{script}\nexec {real} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

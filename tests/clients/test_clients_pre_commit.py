"""The hook for pre-commit, in the real program: what is committed, and what a person reads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.clients.fetch import pre_commit
from tests.clients.stage import SCRIPT

pytestmark = pytest.mark.settings

ROOT = Path(__file__).parents[2]
PACKAGE = ("release/readme.py", "pyproject.toml", "README.md", "LICENSE", "docs/punchlist.1", ".pre-commit-hooks.yaml")
HOOK = "- id: punchlist-verify"


class Person:
    """Somebody with a project that has our hook, which is installed from a repository with the present files."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.program = str(program)
        self.package, self.project = folder / "package", folder / "project"
        home = folder / "home"
        home.mkdir(exist_ok=True)
        author = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
        self.environ = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "GIT_COMMITTER_EMAIL": "a@b"}
        self.environ |= author
        for name in PACKAGE:
            (self.package / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.package / name)
        shutil.copytree(ROOT / "src", self.package / "src", ignore=shutil.ignore_patterns("__pycache__"))
        self.project.mkdir()
        for one in (self.package, self.project):
            self.git("init", "-q", folder=one)
        self.git("add", ".", folder=self.package)
        self.git("commit", "-q", "-m", "all", folder=self.package)

    def run(
        self, *command: str, folder: Path | None = None, more: Mapping[str, str] = {}
    ) -> subprocess.CompletedProcess[str]:
        environ = {**self.environ, **more}
        place = folder or self.project
        return subprocess.run(
            command, cwd=place, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def git(self, *words: str, folder: Path | None = None) -> str:
        done = self.run("git", *words, folder=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def punchlist(self, *words: str) -> str:
        done = self.run(SCRIPT, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def install_hook(self) -> None:
        """What `pre-commit install --install-hooks` does, with the builder of the tests: nothing leaves the machine."""
        version = self.git("rev-parse", "HEAD", folder=self.package)
        config = f"repos:\n  - repo: {self.package}\n    rev: {version}\n    hooks:\n      {HOOK}\n"
        (self.project / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
        done = self.run(self.program, "install", "--install-hooks", more=self.offline)
        assert done.returncode == 0, done.stdout + done.stderr

    @property
    def offline(self) -> dict[str, str]:
        return {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": sysconfig.get_path("purelib")}

    def commit(self) -> subprocess.CompletedProcess[str]:
        self.git("add", ".")
        return self.run("git", "commit", "-m", "one")


@pytest.fixture
def person(tmp_path: Path) -> Person:
    program = pre_commit(Path(os.environ.get("PUNCHLIST_TEST_CLIENTS", "/nowhere")))
    if program is None:
        pytest.skip("pre-commit is not installed here: make clients")
    return Person(tmp_path, program)


def test_a_commit_goes_through_when_all_is_verified_and_stops_with_the_reason_when_it_is_not(person: Person) -> None:
    app = person.project / "app.txt"
    app.write_text("hello\n", encoding="utf-8")
    person.punchlist("add", "Say hello", "--check", "grep -q hello app.txt")
    person.punchlist("add", "Own programs", "--check", "case $(command -v python3) in *py_env*) exit 1;; esac")
    person.punchlist("done", "1", "2")
    person.install_hook()

    done = person.commit()
    assert done.returncode == 0, done.stderr
    assert "1 verified" not in done.stderr  # what passes is quiet
    assert "2 verified" in person.punchlist("show")

    app.write_text("bye\n", encoding="utf-8")
    done = person.commit()
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert '1 "Say hello": failed' in said
    assert "1 of 2 verified; not verified: 1." in said
    assert person.git("rev-list", "--count", "HEAD") == "1"

    person.punchlist("waive", "1", "--why", "we are leaving")
    assert person.commit().returncode == 0


def test_a_check_that_nobody_approved_stops_a_commit_and_is_not_run(person: Person) -> None:
    (person.project / "plan.md").write_text("- [x] a <!-- check: touch made -->\n", encoding="utf-8")
    person.punchlist("import", "--format", "markdown", "plan.md")
    person.install_hook()
    done = person.commit()
    assert done.returncode == 1
    assert "not run: not approved" in done.stdout + done.stderr
    assert not (person.project / "made").exists()


def test_the_hook_can_be_tried_in_a_project_without_a_plan(person: Person) -> None:
    done = person.run(
        person.program, "try-repo", str(person.package), "punchlist-verify", "--verbose", more=person.offline
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no completed item has a check." in done.stdout


def test_the_hook_is_as_pre_commit_wants_it(person: Person) -> None:
    done = person.run(person.program, "validate-manifest", str(person.package / ".pre-commit-hooks.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr

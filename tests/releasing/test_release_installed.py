"""What is tried of an installed package passes with ours, and fails with a package that lacks it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from release import installed
from release.archives import Member
from release.installed import STEPS, Place, example, make_place
from release.pythons import Python
from tests.commands import SCRIPT
from tests.releasing.drafts import INFO, VERSION, Draft, drop, put, tar_of, zip_of

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN = Python(f"{sys.version_info.major}.{sys.version_info.minor}", getattr(sys, "_base_executable", sys.executable))


def _program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_our_own_package_passes_every_step(tmp_path: Path) -> None:
    import punchlist

    _program(tmp_path / "bin", "punchlist", f'exec "{SCRIPT}" "$@"')
    _program(tmp_path / "bin", "python", f'exec "{sys.executable}" "$@"')
    place = make_place(tmp_path / "place", punchlist.__version__, tmp_path / "bin")
    assert installed.uses(place, README) == []


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("script", ["exit 3", "echo nonsense", "echo '{}'; echo careful >&2"])
def test_a_step_fails_with_a_program_that_does_something_else(tmp_path: Path, step: str, script: str) -> None:
    if (step, script) == ("doctor", "echo nonsense"):
        script = "exit 1"  # what it prints is for people
    _program(tmp_path / "bin", "punchlist", script)
    place = make_place(tmp_path / "place", VERSION, tmp_path / "bin")
    (problem,) = STEPS[step](place)
    assert problem.startswith("punchlist ")


def test_the_example_fails_if_it_is_not_there_or_does_not_run(tmp_path: Path) -> None:
    _program(tmp_path / "bin", "python", f'exec "{sys.executable}" "$@"')
    place = make_place(tmp_path / "place", VERSION, tmp_path / "bin")
    assert "has no example" in example(place, "# Punchlist\n")[0]
    wrong = README.replace("desk.call(", "desk.cal(")
    assert "has no attribute 'cal'" in example(place, wrong)[0]


# --- real environments -----------------------------------------------------------------------------------------------

LEAVES = b"""import os.path
__version__ = "1.2.3"
open(os.path.join(os.path.dirname(__file__), "left.txt"), "w").close()
"""


def _wheel(folder: Path, draft: Draft) -> Path:
    path = folder / draft.wheel_name
    path.write_bytes(zip_of(draft.wheel))
    return path


def _own_draft() -> Draft:
    """A package of which only the command is there."""
    draft = Draft()
    draft.in_all("src/punchlist/cli.py", b"def main():\n    print('punchlist 1.2.3')\n")
    return draft


@pytest.mark.torture
def test_what_is_left_after_removal_is_found(tmp_path: Path) -> None:
    draft = _own_draft()
    draft.in_all("src/punchlist/__init__.py", LEAVES)
    drop(draft.wheel, f"punchlist-{VERSION}.data/data/share/man/man1/punchlist.1")
    problems = installed.with_pip(OWN, _wheel(tmp_path, draft), _folder(tmp_path, "a"), VERSION, README)
    left = [problem for problem in problems if problem.startswith("pip uninstall leaves ")]
    assert [problem.rpartition("/")[2] for problem in left] == ["left.txt."]
    assert "the man page is not installed in share/man/man1." in problems
    assert not [problem for problem in problems if "--version" in problem]
    assert [problem for problem in problems if problem.startswith("punchlist mcp")]


@pytest.mark.torture
@pytest.mark.parametrize("with_marker", [False, True])
def test_a_package_without_types_is_found(tmp_path: Path, with_marker: bool) -> None:
    draft = _own_draft()
    if not with_marker:
        drop(draft.wheel, "punchlist/py.typed")
    problems = installed.types_with_pip(OWN, _wheel(tmp_path, draft), _folder(tmp_path, "a"), VERSION)
    assert len(problems) == 1
    assert problems[0].startswith("mypy --strict")
    assert ("py.typed" in problems[0]) is not with_marker


@pytest.mark.torture
def test_archives_that_cannot_be_installed_are_found(tmp_path: Path) -> None:
    draft = Draft()
    put(draft.wheel, f"{INFO}/METADATA", b"Nothing")
    wheel, sdist = _wheel(tmp_path, draft), tmp_path / draft.sdist_name
    sdist.write_bytes(tar_of([Member("punchlist-1.2.3/x", 0o644, b"")]))
    assert "pip install" in installed.with_pip(OWN, wheel, _folder(tmp_path, "a"), VERSION, README)[0]
    assert "pip install" in installed.source_with_pip(OWN, sdist, _folder(tmp_path, "b"), VERSION, README)[0]
    assert "-m venv" in installed.with_pip(Python("3.9", "/bin/false"), wheel, _folder(tmp_path, "c"), VERSION, "")[0]
    uv = Path(sys.executable).parent / "uv"
    if uv.exists():
        found = installed.with_uv(str(uv), OWN, wheel, _folder(tmp_path, "d"), VERSION, README)
        assert found[0].startswith("uv tool install")


def _folder(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def test_a_place_has_no_variable_of_ours(tmp_path: Path) -> None:
    assert set(Place(tmp_path, tmp_path, VERSION).env()) == {"HOME", "PATH", "LANG"}

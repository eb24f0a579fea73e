"""Why a file cannot be written, as its user is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from punchlist.core.errors import StoreError
from punchlist.stores import system_error
from tests.commands import BOUND, SCRIPT, bound, do


def said(path: Path, *words: str) -> str:
    """What a command says that has no rights but those of the files."""
    command = [*BOUND, SCRIPT, "--store", f"sqlite:{path}", *words]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (3, "")
    return done.stderr


@bound
def test_a_file_without_rights_is_told_with_its_mode_and_the_command_that_gives_them(own_home: Path) -> None:
    path = own_home / "plan.db"
    do("--store", f"sqlite:{path}", "add", "Read")
    fix = f"chmod u+rw {path}*; or name another store."
    path.chmod(0)
    assert said(path, "show") == f"punchlist: {path} cannot be opened: it is not readable (mode 000); {fix}\n"
    path.chmod(0o400)
    assert said(path, "add", "x") == f"punchlist: {path} cannot be written: it is not writable (mode 400); {fix}\n"


@bound
def test_a_folder_without_rights_is_told_with_the_command_that_gives_them(own_home: Path) -> None:
    folder = own_home / "plans"
    folder.mkdir()
    folder.chmod(0o500)
    fix = f"chmod u+rwx {folder}; or name another store."
    path = folder / "plan.db"
    assert said(path, "add", "x") == f"punchlist: {path} cannot be opened: {folder} is not writable; {fix}\n"


@pytest.mark.parametrize("number", [1, 5, 13, 17, 20, 21, 24, 27, 28, 30, 36, 40, 122])
def test_no_error_of_the_system_is_told_by_its_number(number: int, tmp_path: Path) -> None:
    error = system_error(str(tmp_path / "plan.db"), OSError(number, os.strerror(number), "elsewhere"))
    assert isinstance(error, StoreError)
    assert str(error).startswith(f"{tmp_path / 'plan.db'} cannot ")
    assert "Errno" not in str(error)
    assert "; " in str(error)

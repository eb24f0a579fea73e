"""Checks of files are looked at within bounds: nothing outside of their directory, no pipe, no device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from punchlist.checks.look import Looked, look_at


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "notes.md").write_text("version 2.0 is out\n")
    (made / "empty").write_text("")
    (made / "dist").mkdir()
    (tmp_path / "outside").write_text("secret")
    return made


def test_a_file_that_exists_and_is_not_empty_passes(folder: Path) -> None:
    assert look_at({"file": "notes.md"}, str(folder)) == Looked(True)
    assert look_at({"contains": ["notes.md", "2.0"]}, str(folder)) == Looked(True)


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ({"file": "none"}, "none does not exist"),
        ({"file": "empty"}, "empty is empty"),
        ({"file": "dist"}, "dist is not a regular file"),
        ({"file": "../outside"}, "../outside leads out of {}"),
        ({"file": "notes.md/x"}, "notes.md/x does not exist"),
        ({"file": "a\0b"}, "a\0b: not a path"),
        ({"file": "x" * 300}, "x" * 300 + " does not exist"),
        ({"contains": ["notes.md", "3.0"]}, 'notes.md does not contain "3.0"'),
        ({"contains": ["empty", "3.0"]}, "empty is empty"),
    ],
)
def test_what_is_not_so_is_told(folder: Path, check: dict[str, object], why: str) -> None:
    assert look_at(check, str(folder)) == Looked(False, why.format(folder))


def test_a_link_out_of_the_directory_is_not_followed(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "outside")
    (folder / "inside").symlink_to("notes.md")
    assert look_at({"contains": ["link", "secret"]}, str(folder)) == Looked(False, f"link leads out of {folder}")
    assert look_at({"file": "inside"}, str(folder)) == Looked(True)


def test_links_in_a_circle_are_told(folder: Path) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    assert look_at({"file": "a"}, str(folder)) == Looked(False, "a does not exist")


def test_a_pipe_is_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert look_at({"contains": ["pipe", "x"]}, str(folder)) == Looked(False, "pipe is not a regular file")


def test_a_text_across_two_pieces_is_found_and_one_far_behind_is_not(folder: Path) -> None:
    (folder / "big").write_bytes(b"x" * ((1 << 20) - 2) + b"needle" + b"y" * 11_000_000 + b"late")
    assert look_at({"contains": ["big", "needle"]}, str(folder)) == Looked(True)
    late = look_at({"contains": ["big", "late"]}, str(folder))
    assert late == Looked(False, 'big: "late" is not in its first 10 MB')

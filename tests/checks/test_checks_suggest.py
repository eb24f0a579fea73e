"""A command that checks a project is suggested from what its files say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from punchlist.checks.suggest import Suggestion, suggest


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("Makefile", "all: x\n\techo: no\ntest: all\n", "make test"),
        ("Makefile", ".PHONY: check\ncheck:\ntest:\n", "make check"),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", "python -m pytest"),
        ("package.json", '{"scripts": {"test": "vitest"}}', "npm test"),
        ("Cargo.toml", "[package]", "cargo test"),
        ("go.mod", "module x", "go test ./..."),
    ],
)
def test_a_command_is_suggested(tmp_path: Path, name: str, text: str, command: str) -> None:
    (tmp_path / name).write_text(text)
    assert [one.command for one in suggest(str(tmp_path))] == [command]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Makefile", "build:\n\techo test: no\n"),
        ("pyproject.toml", "[project]\n"),
        ("pyproject.toml", "tool = 3\n"),
        ("pyproject.toml", "not toml"),
        ("pyproject.toml", "a = " + "[" * 100_000),
        ("package.json", "[" * 100_000),
        ("package.json", "[]"),
        ("package.json", '{"scripts": {"test": 3}}'),
        ("package.json", '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'),
    ],
)
def test_nothing_is_suggested_by_files_that_say_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert suggest(str(tmp_path)) == []


def test_the_best_of_several_is_first_and_a_lock_file_names_the_runner(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n")
    (tmp_path / "package.json").write_text('{"scripts": {"test": "x"}}')
    (tmp_path / "pnpm-lock.yaml").write_text("")
    assert suggest(str(tmp_path)) == [
        Suggestion("make test", "Makefile has the target test"),
        Suggestion("pnpm test", "package.json has a test script, and there is pnpm-lock.yaml"),
    ]


def test_what_is_not_a_file_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Makefile")
    (tmp_path / "go.mod").mkdir()
    (tmp_path / "package.json").symlink_to("/dev/zero")
    assert suggest(str(tmp_path)) == []
    assert suggest(str(tmp_path / "gone")) == []

"""Completion in real shells: commands, options, choices, and the items of the plan."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import ptyprocess
import pytest

import punchlist
from punchlist import ops
from punchlist.cli.table import COMMANDS
from tests.commands import SCRIPT, do

pytestmark = pytest.mark.once

PATH = f"{Path(SCRIPT).parent}{os.pathsep}{os.environ['PATH']}"
LONGEST = 30  # seconds until a shell must have answered


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", PATH)
    with punchlist.open(session="s1") as desk:
        desk.change(lambda plan: ops.extend(plan, [{"text": "Read: the code"}, {"text": "Fix the user's bug"}]))


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"needs {shell}")


def in_bash(*words: str) -> list[str]:
    """What bash offers for the last of these words."""
    typed = " ".join(map(shlex.quote, words))
    program = (
        'eval "$(punchlist completion bash)"; '
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _punchlist; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return _printed("bash", "--norc", "-c", program)


def in_fish(line: str) -> list[str]:
    """What fish offers for a line, with what it says about each."""
    return _printed("fish", "--no-config", "-c", f"punchlist completion fish | source; complete -C {shlex.quote(line)}")


def _printed(*words: str) -> list[str]:
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def in_zsh(line: str, until: str) -> str:
    """What is on the screen of zsh once this text is, after a line and a tab."""
    Path("rc").write_text(
        'autoload -Uz compinit; compinit -u -D; eval "$(punchlist completion zsh)"; PS1="ready> "; LISTMAX=0\n'
    )
    env = {**os.environ, "TERM": "dumb", "PATH": PATH}
    shell = ptyprocess.PtyProcessUnicode.spawn(["zsh", "-f", "-i"], env=env, dimensions=(40, 160))
    try:
        shell.write("source rc\n")
        _read_until(shell, "ready> ")
        shell.write(f"{line}\t")
        return _read_until(shell, until)
    finally:
        shell.close(force=True)


def _read_until(shell: ptyprocess.PtyProcessUnicode, text: str) -> str:
    seen = ""
    while text not in seen:
        try:
            seen += shell.read(4096)
        except EOFError:
            raise AssertionError(f"{text!r} never came: {seen!r}") from None
    return seen


# --- bash ------------------------------------------------------------------------------------------------------------


@needs("bash")
def test_bash_offers_commands_and_those_that_begin_like_this() -> None:
    assert in_bash("punchlist", "") == list(COMMANDS)
    assert in_bash("punchlist", "unin") == ["uninstall"]
    assert in_bash("punchlist", "--store", "memory:", "star") == ["start"]


@needs("bash")
def test_bash_offers_the_options_of_a_command_and_their_values() -> None:
    assert {"--phase", "--needs", "--json"} <= set(in_bash("punchlist", "add", "-"))
    assert "--phase" not in in_bash("punchlist", "done", "-")
    assert in_bash("punchlist", "tools", "--format", "") == ["mcp", "anthropic", "openai", "full"]
    assert in_bash("punchlist", "mode", "") == ["act", "plan", "quiet"]
    assert "native" in in_bash("punchlist", "prompt", "--dialect", "")


@needs("bash")
def test_bash_offers_items_plans_sessions_and_files() -> None:
    Path("TODO.md").touch()
    assert in_bash("punchlist", "done", "") == ["1", "2"]
    assert in_bash("punchlist", "add", "x", "--after", "") == ["1", "2"]
    assert in_bash("punchlist", "--store", "memory:", "done", "") == [""]
    assert in_bash("punchlist", "--session", "") == ["s1"]
    assert in_bash("punchlist", "edit", "--file", "TO") == ["TODO.md"]


# --- fish ------------------------------------------------------------------------------------------------------------


@needs("fish")
def test_fish_offers_commands_with_what_they_do() -> None:
    assert in_fish("punchlist unin") == [f"uninstall\t{COMMANDS['uninstall'].help}"]
    assert len(in_fish("punchlist ")) == len(COMMANDS)


@needs("fish")
def test_fish_offers_items_with_their_text_and_choices() -> None:
    assert in_fish("punchlist done ") == ["1\tRead: the code", "2\tFix the user's bug"]
    assert in_fish("punchlist --store memory: done ") == []
    assert in_fish("punchlist mode ") == ["act", "plan", "quiet"]
    assert [line.split("\t")[0] for line in in_fish("punchlist add --ph")] == ["--phase"]


# --- zsh -------------------------------------------------------------------------------------------------------------


@needs("zsh")
def test_zsh_completes_a_command() -> None:
    assert "uninstall " in in_zsh("punchlist unin", "uninstall ")


@needs("zsh")
def test_zsh_offers_items_with_their_text() -> None:
    seen = in_zsh("punchlist done ", "Fix the user's bug")
    assert "Read: the code" in seen


@needs("zsh")
def test_zsh_offers_options_with_what_they_mean() -> None:
    assert "the phase it belongs to" in in_zsh("punchlist add --", "the phase it belongs to")


# --- what the scripts ask for ----------------------------------------------------------------------------------------


def offered(*typed: str) -> list[str]:
    """What can be typed in the place of the last word."""
    lines = do("completion", "words", "--", *typed).splitlines()
    return [line.split("\t")[0] for line in lines]


def test_items_are_listed_with_their_text_on_one_line() -> None:
    assert do("completion", "words", "--", "done", "") == "1\tRead: the code\n2\tFix the user's bug\n"


def test_the_line_that_is_typed_says_which_plan_is_meant() -> None:
    with punchlist.open(session="s2") as desk:
        desk.change(lambda plan: ops.add(plan, "Another plan"))
    assert do("completion", "words", "--", "--session", "s2", "done", "") == "1\tAnother plan\n"


def test_a_word_is_completed_by_its_place_in_the_line() -> None:
    assert offered("note", "") == ["1", "2"]
    assert offered("note", "1", "") == []
    assert offered("done", "1", "") == ["1", "2"]
    assert offered("add", "--phase", "Build", "--after", "") == ["1", "2"]
    assert offered("carry", "s1", "") == ["s1"]
    assert offered("show", "1", "") == []
    assert offered("help", "")[:2] == ["all", "show"]
    assert offered("frobnicate", "") == []


def test_an_address_that_bash_has_parted_at_its_colon_is_one_word() -> None:
    do("--store", "sqlite:other.db", "add", "Another plan")
    assert offered("--store", "sqlite", ":", "other.db", "done", "") == ["1"]

"""Help, misuse, and stores that cannot be used: what is said, and the exit code."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import punchlist
from punchlist.dialects import PATHS
from tests.commands import SCRIPT, run

_NAMES = (
    "show line add start done drop block unblock rm move note rename edit call tools prompt import export settings demo"
    " install uninstall doctor"
)
PROMISED = _NAMES.split()  # commands that stay, whatever else comes


pytestmark = pytest.mark.usefixtures("own_folder")


def misused(*words: str) -> str:
    """Run a command that is typed wrongly; the one line that says so."""
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stdout
    assert done.stderr.count("\n") == 1
    return done.stderr


# --- help ----------------------------------------------------------------------------------------------------------


def test_the_help_page_fits_a_printed_page() -> None:
    assert [line for line in run("--help").stdout.splitlines() if len(line) > 110] == []


def test_the_help_page_names_the_options_their_variables_and_the_exit_codes() -> None:
    page = run("--help").stdout
    for name in ("--store", "--plan", "--session", "--agent", "--json", "--version"):
        assert name in page
    for name in ("PUNCHLIST_STORE", "PUNCHLIST_PLAN", "PUNCHLIST_SESSION", "PUNCHLIST_AGENT"):
        assert name in page
    assert "0 done, 1 refused, 2 misuse, 3 the store" in page


@pytest.mark.parametrize("command", PROMISED)
def test_every_command_has_a_page_of_its_own(command: str) -> None:
    done = run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: punchlist {command}")


def test_the_version_is_the_package_s() -> None:
    assert run("--version").stdout == f"punchlist {punchlist.__version__}\n"


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "punchlist", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == run("--version").stdout


# --- misuse --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["add"], "TEXT"),
        (["done"], "ID"),
        (["note", "1"], "TEXT"),
        (["drop", "1"], "--why"),
        (["block", "1"], "--why"),
        (["move", "1"], "--after"),
        (["import", "x"], "--format"),
        (["import", "--format", "json"], "FILE"),
        (["call"], "TOOL"),
        (["show", "--frobnicate"], "--frobnicate"),
        (["show", "1", "extra"], "extra"),
        (["show", "--ses", "x"], "--ses"),
        (["show", "--store"], "--store"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_that_lacks_or_exceeds_something_says_what(words: list[str], part: str) -> None:
    assert part in misused(*words)


@pytest.mark.parametrize("words", [["import", "--format", "frob", "x"], ["export", "--format", "frob"]], ids=" ".join)
def test_an_unknown_format_is_answered_with_the_known_ones(words: list[str]) -> None:
    said = misused(*words)
    for name in ("json", "markdown", "claude-code", "claude-tasks", "oh-my-pi", "llxprt"):
        assert name in said


def test_a_transcript_is_not_written() -> None:
    assert "'transcript'" in misused("export", "--format", "transcript")


def test_an_unknown_form_of_tools_is_answered_with_the_known_ones() -> None:
    said = misused("tools", "--format", "frob")
    assert all(name in said for name in ("mcp", "anthropic", "openai"))


@pytest.mark.parametrize("words", [["tools"], ["prompt"], ["mcp"], ["attach", "--context", "start"]], ids=" ".join)
def test_an_unknown_dialect_is_misuse_and_the_known_ones_are_named(words: list[str]) -> None:
    said = misused(*words, "--dialect", "klingon")
    assert "klingon" in said
    assert all(name in said for name in PATHS)


def test_the_dialect_of_a_call_is_answered_for() -> None:
    done = run("call", "plan", "--dialect", "klingon")
    assert (done.returncode, done.stderr) == (1, "")
    assert "no dialect 'klingon'; the dialects are native, claude-code, gencode, oh-my-pi, llxprt" in done.stdout


# --- the store -----------------------------------------------------------------------------------------------------


def no_store(url: str, *words: str, code: int = 3) -> str:
    done = run("--store", url, *words)
    assert (done.returncode, done.stdout) == (code, ""), done.stdout
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("url", ["floppy:a", "floppy:", "floppy"])
def test_an_unknown_store_is_misuse_and_is_refused_with_the_known_ones(url: str) -> None:
    said = no_store(url, "show", code=2)
    assert f"no store {url!r}" in said
    assert "memory:, json:, sqlite:, postgresql:, postgres:" in said
    assert no_store(url, "mcp", code=2) == said


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite:", "sqlite: needs a path, as in sqlite:plan.db"),
        ("sqlite://host/plan.db", "sqlite: takes a path, not a host"),
        ("json:", "json: needs a directory, as in json:plans"),
    ],
)
def test_a_store_without_its_path_is_misuse(url: str, why: str) -> None:
    assert why in no_store(url, "show", code=2)


def test_a_device_is_said_to_be_no_regular_file() -> None:
    assert no_store("sqlite:/dev/null", "show") == ("punchlist: /dev/null is not a regular file; name another store.\n")
    checks = json.loads(run("doctor", "--json", "--store", "sqlite:/dev/null").stdout)["checks"]
    assert "/dev/null is not a regular file" in [check["text"] for check in checks if check["state"] == "problem"]


def test_long_words_that_match_no_item_are_cut_in_the_error() -> None:
    done = run("done", "x" * 3000)
    assert done.stderr == f'punchlist: no item matches "{"x" * 39}…"; the plan is empty.\n'


def test_a_call_with_an_unknown_store_is_misuse_and_is_answered() -> None:
    done = run("--store", "floppy:a", "call", "plan", stdin="{}")
    assert done.returncode == 2
    assert json.loads(done.stdout)["text"].startswith("no store 'floppy:a'")


@pytest.mark.parametrize("words", [["show"], ["add", "Read"]])
def test_a_directory_in_the_place_of_the_file_is_said_to_be_one(words: list[str]) -> None:
    Path("plan.db").mkdir()
    path = Path("plan.db").resolve()
    said = no_store("sqlite:plan.db", *words)
    assert said == f"punchlist: {path} is a directory, not a file; move it away, or name another store.\n"


@pytest.mark.parametrize(
    ("url", "code"), [("frob://me:s3cret@host/db", 2), ("postgresql://me:s3cret@localhost:1/none", 3)]
)
def test_the_password_of_a_store_is_never_printed(url: str, code: int) -> None:
    done = run("--store", url, "show")
    assert done.returncode == code
    assert "s3cret" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "words",
    [["show"], ["line"], ["add", "x"], ["done", "1"], ["export"], ["edit", "--file", "/dev/null"]],
    ids=" ".join,
)
def test_a_damaged_store_is_named_told_what_to_do_about_and_left_alone(words: list[str]) -> None:
    Path("plan.db").write_bytes(b"this was never a database" * 100)
    said = no_store("sqlite:plan.db", *words)
    assert os.path.abspath("plan.db") in said
    assert "is damaged" in said
    assert f"punchlist repair --store sqlite:{os.path.abspath('plan.db')}" in said
    assert Path("plan.db").read_bytes() == b"this was never a database" * 100


def test_a_damaged_directory_is_told_by_the_address_that_was_given() -> None:
    run("--store", "json:plans", "add", "x")
    Path("plans/punchlist.db").write_bytes(b"this was never a database" * 100)
    said = no_store("json:plans", "show")
    assert said.endswith(f"punchlist repair --store json:{os.path.abspath('plans')}\n")
    found = json.loads(run("doctor", "--json", "--store", "json:plans").stdout)
    assert [check["fix"] for check in found["checks"] if check["about"] == "store" and check["state"] == "problem"] == [
        None
    ]


@pytest.mark.parametrize("url", ["sqlite:file/plan.db", "json:file", "json:file/plans"])
def test_a_store_below_a_file_is_told_with_that_file(url: str) -> None:
    Path("file").touch()
    path = os.path.abspath(url.partition(":")[2])
    said = no_store(url, "add", "x")
    assert said.startswith(f"punchlist: {path} cannot be used ({os.path.abspath('file')} is not a directory); ")


def test_a_store_of_a_newer_version_is_not_touched() -> None:
    with closing(sqlite3.connect("plan.db")) as db, db:
        db.execute("PRAGMA user_version=99")
    assert "newer" in no_store("sqlite:plan.db", "add", "x")


def test_with_json_the_reason_is_in_the_json() -> None:
    Path("plan.db").write_bytes(b"this was never a database" * 100)
    for words, code in (
        (["--store", "sqlite:plan.db", "show"], 3),
        (["done", "7"], 1),
        (["diff", "7"], 1),
    ):
        done = run(*words, "--json")
        assert (done.returncode, done.stderr) == (code, "")
        assert json.loads(done.stdout).keys() == {"error"}


def test_a_plan_that_does_not_exist_is_refused_by_name() -> None:
    done = run("--plan", "nosuch", "show")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no plan 'nosuch'" in done.stderr


def test_the_folder_of_a_store_is_made_and_both_are_the_user_s_alone() -> None:
    assert run("--store", "sqlite:new/folder/plan.db", "add", "x").returncode == 0
    assert [os.stat(path).st_mode & 0o777 for path in ("new/folder", "new/folder/plan.db")] == [0o700, 0o600]


def test_a_store_in_memory_is_gone_with_the_command() -> None:
    assert run("--store", "memory:", "add", "x").returncode == 0
    assert json.loads(run("--store", "memory:", "--json").stdout)["items"] == []


def test_a_directory_that_is_gone_is_what_is_said_to_be_gone() -> None:
    script = f"mkdir gone && cd gone && rmdir ../gone && '{SCRIPT}' show"
    done = subprocess.run(script, shell=True, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode in (1, 2, 3)
    assert done.stderr.startswith("punchlist: ")
    assert "director" in done.stderr.replace("No such file or directory", "")
    assert done.stderr.count("\n") == 1

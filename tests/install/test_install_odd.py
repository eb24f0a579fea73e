"""Files and folders that are odd, and places where installing is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from punchlist.hosts import HOSTS
from tests import commands
from tests.commands import SCRIPT
from tests.install.test_install import everything, run, settings, work, write

__all__ = ["work"]


# --- values of another kind ------------------------------------------------------------------------------------------


def about(host: str) -> list[str]:
    """What `doctor` says of an agent."""
    done = commands.run("doctor", "--json")
    return [one["text"] for one in json.loads(done.stdout)["checks"] if one["about"] == host]


@pytest.mark.parametrize(
    ("host", "name", "odd"),
    [
        ("claude-code", ".claude/settings.json", {"permissions": {"deny": 5}}),
        ("claude-code", ".claude/settings.json", {"permissions": {"deny": "mcp__punchlist"}}),
        ("gemini", ".gemini/settings.json", {"hooks": {"disabled": 5}}),
        ("codex", ".codex/config.toml", 'features = "x"\n'),
        ("codex", ".codex/config.toml", 'hooks = "x"\n'),
    ],
)
def test_a_value_of_another_kind_does_not_end_doctor(host: str, name: str, odd: Any, own_home: Path) -> None:
    write(own_home / name, (odd if isinstance(odd, str) else json.dumps(odd)).encode())
    run("install", host)
    assert "is attached for you" in about(host)[0]


def test_a_hook_without_a_command_does_not_end_doctor(own_home: Path) -> None:
    run("install", "codex")
    path = own_home / ".codex" / "hooks.json"
    now = json.loads(path.read_text())
    now["hooks"]["Stop"][0]["hooks"] = [{"type": "x", "server": "punchlist", "input": {"host": "codex"}}]
    path.write_text(json.dumps(now))
    assert "Codex is attached for you: server, hooks" in about("codex")


# --- folders that cannot be written ----------------------------------------------------------------------------------

# Permissions do not bind root, unless it gives that up.
BOUND = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
bound = pytest.mark.skipif(bool(BOUND) and not shutil.which("setpriv"), reason="root cannot give up its rights here")


def refused(*words: str) -> str:
    """What a command says that is refused, run by somebody whom permissions bind."""
    done = subprocess.run([*BOUND, SCRIPT, *words], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


@bound
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_read_only_folder_is_refused_before_anything_is_written(command: str, own_home: Path) -> None:
    folder = settings(own_home).parent
    folder.mkdir()
    if command == "uninstall":
        run("install", "claude-code")
    before = everything(own_home)
    folder.chmod(0o555)
    said = refused(command, "claude-code")
    folder.chmod(0o755)
    assert said == f"punchlist: {folder}/settings.json: the folder {folder} is read-only; make it writable first.\n"
    assert everything(own_home) == before


@bound
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_written(own_home: Path) -> None:
    write(own_home / ".omp" / "agent" / "mcp.json", b"{}")
    (own_home / ".omp" / "agent" / "extensions").mkdir()
    (own_home / ".omp" / "agent" / "extensions").chmod(0o555)
    before = everything(own_home)
    assert "extensions is read-only; make it writable first." in refused("install", "oh-my-pi")
    assert everything(own_home) == before


@bound
def test_a_read_only_state_folder_is_refused_before_anything_is_written(own_home: Path, work: Path) -> None:
    run("install", "gemini")
    state = work.parent / "state" / "punchlist" / "install"
    before = everything(own_home)
    state.chmod(0o555)
    said = refused("install", "claude-code")
    state.chmod(0o755)
    assert said == f"punchlist: {state}: the folder {state} is read-only; make it writable first.\n"
    assert everything(own_home) == before


def test_a_file_in_the_place_of_a_folder_is_refused_before_anything_is_written(own_home: Path) -> None:
    write(own_home / ".claude", b"mine")
    said = run("install", "claude-code", code=1)
    assert said == f"punchlist: {settings(own_home)}: {own_home}/.claude is not a folder.\n"
    assert everything(own_home) == {".claude": b"mine"}


# --- projects --------------------------------------------------------------------------------------------------------


def test_projects_below_the_directory_that_are_still_attached_are_named(work: Path) -> None:
    (work / "inner").mkdir()
    os.chdir(work / "inner")
    run("install", "claude-code", "--scope", "project")
    os.chdir(work)
    said = run("uninstall", "claude-code")
    assert f"still attached by {work}/inner/.mcp.json; run the same there.\n" in said


@pytest.mark.parametrize("host", HOSTS)
def test_the_home_is_no_project(host: str, own_home: Path) -> None:
    os.chdir(own_home)
    said = run("install", host, "--scope", "project", code=1)
    assert said.startswith(
        f"punchlist: {own_home} is not a project: your own settings are there; leave --scope project out"
    )
    assert everything(own_home) == {}
    run("install", host)
    before = everything(own_home)
    assert "was not attached" in run("uninstall", host, "--scope", "project")
    assert everything(own_home) == before
    run("uninstall", host)
    assert [name for name, data in everything(own_home).items() if data] == []


def test_a_project_whose_settings_a_variable_makes_the_user_s_is_none(work: Path) -> None:
    moved = str(work / ".claude")
    assert "is not a project" in run("install", "claude-code", "--scope", "project", code=1, CLAUDE_CONFIG_DIR=moved)


# --- in other places -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("tmux"), reason="there is no tmux")
@pytest.mark.parametrize("name", ["a b", "x;touch PWNED;:", "it's $(touch PWNED)"])
def test_the_line_for_tmux_takes_a_directory_s_name_as_a_name(name: str, work: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "install.md").read_text()
    command = (
        page.split("set -g status-right '")[1].split("'`")[0].replace("punchlist line --tmux", f"pwd > {work}/out")
    )
    assert command.endswith(f"pwd > {work}/out)")
    (work / name).mkdir()
    tmux = ["tmux", "-S", f"{work}/socket", "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "cat"], cwd=work / name, check=True)
    try:
        until(lambda: shown(tmux, "#{pane_current_path}") == str(work / name))
        subprocess.run([*tmux, "run-shell", command.removeprefix("#(").removesuffix(")")], check=True)
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
    assert (work / "out").read_text() == f"{work / name}\n"
    assert [*work.rglob("PWNED")] == []


def shown(tmux: list[str], words: str) -> str:
    done = subprocess.run([*tmux, "display-message", "-p", words], capture_output=True, encoding="utf-8", check=True)
    return done.stdout.rstrip("\n")


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end


# --- for whose eyes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_made_for_a_user_is_for_nobody_else_whatever_the_umask_says(host: str, own_home: Path) -> None:
    before = set(own_home.rglob("*"))
    done = subprocess.run(["sh", "-c", f"umask 000; exec {SCRIPT} install {host}"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    made = set(own_home.rglob("*")) - before
    assert {one.stat().st_mode & 0o777 for one in made if one.is_dir()} <= {0o700}
    assert {one.stat().st_mode & 0o777 for one in made if one.is_file()} == {0o600}


def test_what_is_made_for_a_project_can_be_read_by_others_and_not_written(own_home: Path, work: Path) -> None:
    command = f"umask 000; exec {SCRIPT} install claude-code --scope project"
    subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert (work / ".claude").stat().st_mode & 0o777 == 0o755
    assert (work / ".claude" / "settings.json").stat().st_mode & 0o777 == 0o644

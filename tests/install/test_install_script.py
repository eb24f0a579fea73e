"""Which command is installed: the environment's own script, by a path that every agent takes as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import punchlist
from punchlist.hosts import HOSTS
from punchlist.install import here
from punchlist.install.parts import commit_command, hook_command, line_command
from punchlist.install.script import is_ours, is_temporary

SCRIPT = Path(sys.executable).parent / "punchlist"


pytestmark = pytest.mark.usefixtures("own_folder")


def installed(*command: str, **env: str) -> str:
    """The path that a way to start us installs."""
    done = subprocess.run([*command, "install", "gemini"], env={**os.environ, **env}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads((Path.home() / ".gemini" / "settings.json").read_bytes())
    path: str = said["mcpServers"]["punchlist"]["command"]
    return path


def executable(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_the_script_installs_itself() -> None:
    assert installed(str(SCRIPT)) == str(SCRIPT)


def test_a_relative_path_becomes_an_absolute_one() -> None:
    assert installed(os.path.relpath(SCRIPT)) == str(SCRIPT)


def test_the_module_installs_the_script_of_its_environment() -> None:
    assert installed(sys.executable, "-m", "punchlist") == str(SCRIPT)


def test_a_shim_on_the_path_is_not_what_is_installed(tmp_path: Path) -> None:
    shim = executable(tmp_path / "shims" / "punchlist", f'#!/bin/sh\nexec "{SCRIPT}" "$@"\n')
    assert installed(shim, PATH=f"{tmp_path / 'shims'}:{os.environ['PATH']}") == str(SCRIPT)


def test_a_launcher_that_runs_us_under_its_own_name_is_not_what_is_installed(tmp_path: Path) -> None:
    code = f"import sys; sys.argv[0] = {str(tmp_path / 'punchlist')!r}; from punchlist.cli import main; main()"
    executable(tmp_path / "punchlist", "#!/bin/sh\nexec elsewhere\n")
    assert installed(sys.executable, "-c", code) == str(SCRIPT)


def test_a_link_that_a_tool_keeps_up_to_date_is_installed_as_it_is(tmp_path: Path) -> None:
    link = tmp_path / "bin" / "punchlist"
    link.parent.mkdir()
    link.symlink_to(SCRIPT)
    assert installed(str(link)) == str(link)


@pytest.mark.parametrize("name", ["a$HOME", "a{env:X}", "a`b`", "tab\there"])
def test_a_path_that_an_agent_would_read_as_something_else_is_refused(tmp_path: Path, name: str) -> None:
    path = executable(tmp_path / name / "punchlist", SCRIPT.read_text())
    done = subprocess.run([path, "install", "gemini"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "which agents do not take as it is; install to another path." in done.stderr


def test_only_a_script_of_ours_is_ours(tmp_path: Path) -> None:
    assert is_ours(str(SCRIPT))
    assert not is_ours(executable(tmp_path / "other", SCRIPT.read_text()))
    assert not is_ours(executable(tmp_path / "punchlist", "#!/bin/sh\n"))
    assert not is_ours(str(tmp_path / "none" / "punchlist"))
    (tmp_path / "folder" / "punchlist").mkdir(parents=True)
    assert not is_ours(str(tmp_path / "folder" / "punchlist"))


@pytest.mark.parametrize(
    ("path", "passing"),
    [
        ("/home/ann/.cache/uv/archive-v0/x/bin/punchlist", True),
        ("/home/ann/.local/pipx/.cache/x/bin/punchlist", True),
        ("/home/ann/.cache/pypoetry/virtualenvs/x/bin/punchlist", False),
        ("/home/ann/.local/share/uv/tools/punchlist/bin/punchlist", False),
        ("/home/ann/.venv/bin/punchlist", False),
    ],
)
def test_a_script_in_a_cache_is_known_as_one(path: str, passing: bool) -> None:
    assert is_temporary(path) is passing


# --- the file that starts hooks --------------------------------------------------------------------------------------


def attached(host: str = "codex") -> Path:
    subprocess.run([SCRIPT, "install", host], capture_output=True, check=True)
    return Path(here("user", str(SCRIPT)).starter(host))


def started(path: Path) -> str:
    """What a session that was given a plan is told by a hook, as an agent runs it."""
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read"]})
    event = {"hook_event_name": "SessionStart", "session_id": "s1", "source": "resume", "cwd": os.getcwd()}
    command = hook_command(str(path), "codex")
    done = subprocess.run(["sh", "-c", command], input=json.dumps(event), capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_of_every_agent_start_with_a_file_that_only_its_user_can_change(host: str, own_home: Path) -> None:
    path = attached(host)
    assert path.stat().st_mode & 0o777 == 0o700
    assert path.read_text().startswith(f"#!{sys.executable} -IS\n")
    named = [one for one in own_home.rglob("*") if one.is_file() and str(path) in one.read_text()]
    assert [one for one in named if "receipts" not in one.parts]
    subprocess.run([SCRIPT, "uninstall", host], capture_output=True, check=True)
    assert not path.parent.exists()


def test_a_file_that_starts_hooks_answers_them(own_home: Path) -> None:
    assert "Read" in started(attached())


def test_a_package_that_moved_within_its_environment_is_found(own_home: Path) -> None:
    path = attached()
    folder = os.path.dirname(os.path.dirname(punchlist.__file__))
    path.write_text(path.read_text().replace(repr(folder), repr("/nowhere/site-packages")))
    assert "Read" in started(path)


def test_a_project_and_a_path_that_the_system_would_not_find_have_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    assert here("project", str(SCRIPT)).starter("codex") == str(SCRIPT)
    for python in ("/a b/python", f"/{'x' * 200}/python", ""):
        monkeypatch.setattr(sys, "executable", python)
        assert here("user", str(SCRIPT)).starter("codex") == str(SCRIPT)


def problems(host: str) -> list[tuple[str, str]]:
    """What the doctor finds wrong with an agent, or thinks was left out, and what it says to do."""
    done = subprocess.run([SCRIPT, "doctor", "--json"], capture_output=True, check=False)
    found = [check for check in json.loads(done.stdout)["checks"] if check["about"] == host]
    return [(check["text"], check["fix"]) for check in found if check["state"] != "ok" and check["fix"]]


def test_a_file_of_another_environment_is_known_and_replaced(own_home: Path) -> None:
    path = attached()
    own = path.read_text()
    path.write_text(own.replace(sys.executable, "/gone/bin/python").replace("site-packages", "x"))
    words = f"/gone/bin/python, which {path} needs, is gone; its hooks do nothing"
    assert problems("codex")[0] == (words, "punchlist install codex")
    assert attached().read_text() == own


HARM: dict[str, tuple[Callable[[Path], object], str]] = {
    "removed": (Path.unlink, "{path} is gone; its hooks do nothing"),
    "emptied": (lambda path: path.write_text(""), "{path} is not as it was installed; its hooks do nothing"),
    "made a plain file": (lambda path: path.chmod(0o600), "{path} is not executable; its hooks do nothing"),
}


@pytest.mark.parametrize("how", HARM)
@pytest.mark.parametrize("host", ["claude-code", "opencode"])
def test_the_doctor_names_a_file_that_starts_no_hooks_and_install_repairs_it(
    host: str, how: str, own_home: Path
) -> None:
    path = attached(host)
    own = path.read_text()
    harm, words = HARM[how]
    harm(path)
    assert problems(host) == [(words.format(path=path), f"punchlist install {host}")]
    assert attached(host) == path
    assert (path.read_text(), path.stat().st_mode & 0o777) == (own, 0o700)
    assert problems(host) == []


# --- once the environment is gone ------------------------------------------------------------------------------------

GONE = {
    "the interpreter is gone": "#!/nowhere/bin/python3\n# punchlist.cli\n",
    "the package is gone": f"#!{sys.executable} -IS\nfrom punchlist.cli import main\nmain()\n",
    "the script ends badly": "#!/bin/sh\n# punchlist.cli\necho wrong >&2\nexit 3\n",
    "the script is gone": "",
}
THEIRS = "echo theirs"


SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "fish", "ksh") if shutil.which(shell)]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("how", GONE)
@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_is_silent_and_ends_well_once_its_environment_is_gone(
    host: str, how: str, shell: str, tmp_path: Path
) -> None:
    script = executable(tmp_path / "a b" / "punchlist", GONE[how])
    if not GONE[how]:
        os.unlink(script)
    for command, said in (
        (hook_command(script, host), b""),
        (commit_command(script, host), b""),
        (line_command(script, host), b""),
        (line_command(script, host, THEIRS), b"theirs\n"),
    ):
        done = subprocess.run([shell, "-c", command], input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, said, b"")


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_hooks_of_an_older_version_are_known_replaced_and_removed(host: str, own_home: Path) -> None:
    def run(*words: str) -> str:
        done = subprocess.run([SCRIPT, *words], capture_output=True, encoding="utf-8", check=False)
        return done.stdout

    run("install", host)
    written = [one for one in own_home.rglob("*.json") if "2>/dev/null" in one.read_text()]
    (path,) = [one for one in written if "punchlist" not in one.parts]
    new = path.read_text()
    old = new.replace(" 2>/dev/null", "") if host == "claude-code" else _older(new)
    path.write_text(old)
    words = "it is not as this version installs it" if host == "claude-code" else "hooks are missing"
    assert f"{words} for you" in run("doctor")
    run("install", host)
    assert json.loads(path.read_text()) == json.loads(new)
    path.write_text(old)
    run("uninstall", host)
    assert not path.exists() or "punchlist" not in path.read_text()


def _older(text: str) -> str:
    """The hooks without one that is newer than the rest, and without that they swallow their own errors."""
    said = json.loads(text)
    for groups in said["hooks"].values():
        groups[:] = [group for group in groups if "commit" not in group["hooks"][0]["command"]]
    return json.dumps(said).replace(" 2>/dev/null", "")


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_hook_for_commits_starts_punchlist_for_commits_only(shell: str, tmp_path: Path) -> None:
    script = executable(tmp_path / "a b" / "punchlist", '#!/bin/sh\necho "$*"\ncat\n')
    for words, is_told in {
        "git commit -m 'It\\n works'": True,
        "gh pr create --fill": True,
        "glab mr create": True,
        "hub pull-request": True,
        "git status": False,
        "echo $(date) `date`": False,
    }.items():
        event = json.dumps({"tool_input": {"command": words}})
        command = [shell, "-c", commit_command(script, "codex")]
        done = subprocess.run(command, input=event, capture_output=True, encoding="utf-8", check=True)
        assert (done.stdout.strip(), done.stderr) == (f"hook codex\n{event}" if is_told else "", "")

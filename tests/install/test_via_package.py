"""`punchlist install` by the agent's own command for packages: when it is taken, and what is left if that fails. With
the real programs: tests/clients/test_clients_packages.py."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from punchlist.hosts.claude_code import install as claude_code
from punchlist.install import USER, here, is_attached, receipts, via_package
from punchlist.install.attached import by_settings
from tests import commands

pytestmark = pytest.mark.usefixtures("own_folder")
NOTHING = "#!/bin/sh\nexit 0\n"
FAILS = "#!/bin/sh\necho 'begun'\necho 'no such \033[31mcommand' >&2\nexit 1\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def packages(own_home: Path) -> list[str]:
    """The files that are kept for packages, but for the lock."""
    folder = own_home / "punchlist" / "packages"
    return [path.name for path in folder.rglob("*") if path.is_file() and path.name != "lock"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FAILS, "failed: no such \N{REPLACEMENT CHARACTER}[31mcommand. Its"),
        (NOTHING, "said nothing, and the package is not there"),
        ("", "could not be started: Exec format error"),
    ],
)
def test_where_the_agent_s_command_fails_its_settings_are_edited_instead(
    text: str, why: str, own_home: Path, programs: Path
) -> None:
    program(programs / "claude", text)
    done = commands.run("install", "claude-code")
    assert done.returncode == 0
    assert done.stdout.startswith("claude-code is attached for you:\n")
    assert done.stderr.startswith("punchlist: `claude plugin ")
    assert done.stderr.endswith("Its settings are edited instead.\n")
    assert why in done.stderr
    assert packages(own_home) == []
    assert "mcp__punchlist" in (own_home / ".claude" / "settings.json").read_text()


def test_where_it_was_asked_for_nothing_else_is_done_instead(own_home: Path, programs: Path) -> None:
    program(programs / "codex", FAILS)
    (own_home / ".codex").mkdir()
    (own_home / ".codex" / "config.toml").write_text("model = 'x' # mine")
    done = commands.run("install", "codex", "--via", "package")
    assert done.returncode == 1
    assert "`codex plugin marketplace add" in done.stderr
    assert (own_home / ".codex" / "config.toml").read_text() == "model = 'x' # mine"
    assert packages(own_home) == []


def test_what_an_agent_has_written_before_its_command_failed_is_taken_back(own_home: Path, programs: Path) -> None:
    settings = own_home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model":\t"opus"}')
    text = f"""#!/bin/sh
case $* in
    *add*) echo '{{"model": "opus", "enabledPlugins": {{"punchlist@punchlist": true}}}}' > {settings};;
    *) echo '{{"model": "opus", "enabledPlugins": {{}}}}' > {settings};;
esac
case $* in *uninstall*|*remove*) exit 0;; *"plugin install"*) exit 1;; esac
"""
    program(programs / "claude", text)
    assert commands.run("install", "claude-code", "--via", "package").returncode == 1
    assert settings.read_text() == '{"model":\t"opus"}'
    assert packages(own_home) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["codex"], "codex is not on the PATH"),
        (["goose"], "goose takes no package from here"),
        (["codex", "--scope", "project"], "a package is for the user, not for one project"),
        (["claude-code", "--hooks", "process"], "a package has all parts, and its own hooks"),
        (["claude-code", "--without", "server"], "a package has all parts, and its own hooks"),
    ],
)
def test_what_a_package_cannot_do_is_refused_with_the_reason(words: list[str], why: str) -> None:
    done = commands.run("install", *words, "--via", "package")
    assert (done.returncode, done.stdout) == (1, "")
    expected = f"{words[0]} cannot be attached by a package: {why}; leave --via package out."
    assert done.stderr == f"punchlist: {expected}\n"
    said = json.loads(commands.do("install", *words, "--json"))
    assert said["via"] == "settings"


def test_a_program_that_is_too_old_for_the_package_gets_settings(
    own_home: Path, programs: Path, tmp_path: Path
) -> None:
    program(tmp_path / "2.1.99", NOTHING)
    (programs / "claude").symlink_to(tmp_path / "2.1.99")
    assert json.loads(commands.do("install", "claude-code", "--json"))["via"] == "settings"
    done = commands.run("install", "claude-code", "--via", "package")
    assert "this version of Claude Code has no hooks that a server answers" in done.stderr


def test_what_is_attached_by_settings_stays_so(programs: Path) -> None:
    commands.do("install", "claude-code", "--via", "settings")
    program(programs / "claude", FAILS)
    assert commands.do("install", "claude-code").endswith("nothing had to be changed.\n")


def test_a_status_line_alone_attaches_nothing(own_folder: Path) -> None:
    where = here(USER, commands.SCRIPT)
    via_package.attach_line("claude-code", where)
    assert receipts.receipts() != []
    assert not is_attached("claude-code", where)
    assert not by_settings("claude-code", str(own_folder))
    commands.do("install", "claude-code", "--via", "settings")
    assert is_attached("claude-code", where)
    assert by_settings("claude-code", str(own_folder))


def test_a_receipt_of_an_older_version_counts_as_attached(own_home: Path, own_folder: Path) -> None:
    commands.do("install", "codex", "--via", "settings")
    for path in (own_home / "punchlist" / "install").glob("*.json"):
        said = json.loads(path.read_text())
        del said["parts"]
        path.write_text(json.dumps(said))
    assert by_settings("codex", str(own_folder))


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        ('{"strictPluginOnlyCustomization": true}', True),
        ('{"strictPluginOnlyCustomization": ["skills", "hooks"]}', True),
        ('{"strictPluginOnlyCustomization": ["mcp"]}', True),
        ('{"strictPluginOnlyCustomization": ["skills"]}', False),
        ('{"strictPluginOnlyCustomization": false}', False),
        ("[]", False),
        ("{", False),
    ],
)
@pytest.mark.parametrize("name", ["managed-settings.json", "managed-settings.d/10-plugins.json"])
def test_a_machine_may_be_managed_so_that_only_plugins_count(
    name: str, said: str, is_so: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_code, "MANAGED", (str(tmp_path / "etc"),))
    assert not claude_code.plugins_only()
    (tmp_path / "etc" / name).parent.mkdir(parents=True)
    (tmp_path / "etc" / name).write_text(said)
    assert claude_code.plugins_only() == is_so
    problems = claude_code.problems(here(USER, commands.SCRIPT), {"server": {}, "permission": []})
    fixes = [fix for _, fix in problems]
    assert ("punchlist install claude-code --via package" in fixes) == is_so


@pytest.mark.parametrize("text", ['{"a": 1} // mine', '{"a": 1,}', "{ /* mine */ }"])
def test_doctor_says_that_claude_code_does_not_read_a_file_with_comments(text: str, own_home: Path) -> None:
    settings = own_home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(text)
    commands.do("install", "claude-code")
    said = json.loads(commands.run("doctor", "--json").stdout)
    found = [check for check in said["checks"] if "does not read" in check["text"]]
    assert [(check["state"], check["fix"]) for check in found] == [("problem", "take them out")]

"""The commands that our messages name: they work from where punchlist was installed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import punchlist

SOURCES = Path(punchlist.__file__).parent.parent
ASK = "from punchlist.local import origin; print(origin.{name}({args}))"


def said(folder: Path, name: str, args: str = "") -> str:
    """What an environment with these packages says."""
    env = {**os.environ, "PYTHONPATH": str(folder)}
    code = ASK.format(name=name, args=args)
    done = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def installed(folder: Path, direct_url: str) -> Path:
    """An environment with punchlist in it, as an installer leaves it."""
    metadata = folder / "punchlist-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: punchlist\nVersion: 1\nProvides-Extra: postgres\n"
        "Requires-Dist: psycopg[binary]>=3.2; extra == 'postgres'\n"
    )
    if direct_url:
        (metadata / "direct_url.json").write_text(direct_url)
    (folder / "punchlist").symlink_to(SOURCES / "punchlist")
    return folder


@pytest.mark.parametrize(
    ("direct_url", "command"),
    [
        ("", "--upgrade punchlist"),
        ('{"url": "file:///srv/my%20clone", "dir_info": {}}', "--force-reinstall --no-deps '/srv/my clone'"),
        (
            '{"url": "https://example.org/p.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}',
            "--force-reinstall --no-deps git+https://example.org/p.git",
        ),
    ],
)
def test_an_upgrade_comes_from_where_it_was_installed(tmp_path: Path, direct_url: str, command: str) -> None:
    assert said(installed(tmp_path, direct_url), "upgrade_command").endswith(f" {command}")


def test_a_checkout_is_upgraded_with_git() -> None:
    assert said(SOURCES, "upgrade_command") == f"git -C {shlex.quote(str(SOURCES.parent))} pull"


def test_what_an_extra_needs_is_installed_by_its_own_name(tmp_path: Path) -> None:
    command = said(installed(tmp_path, ""), "extra_command", "'postgres', '/opt/my env/bin/python'")
    assert command.endswith(" 'psycopg[binary]>=3.2'")
    assert "'/opt/my env/bin/python'" in command


def test_a_tool_is_installed_from_where_it_came(tmp_path: Path) -> None:
    url = '{"url": "https://example.org/p.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}'
    assert said(installed(tmp_path, url), "tool_command").endswith("install git+https://example.org/p.git")


PACKAGES = SOURCES.parent / "packages"
UPDATES = [
    ("punchlist", ".claude/plugins/cache/punchlist/punchlist/1.0.0", "claude plugin update punchlist@punchlist"),
    (
        "punchlist",
        ".codex/plugins/cache/punchlist/punchlist/1.0.0",
        "codex plugin marketplace upgrade && codex plugin add punchlist@punchlist",
    ),
    ("gemini", ".gemini/extensions/punchlist", "gemini extensions update punchlist"),
    ("gemini", "elsewhere/punchlist", "gemini extensions update punchlist"),
    (
        "punchlist",
        "elsewhere/punchlist",
        "claude plugin update punchlist@punchlist, or codex plugin marketplace upgrade"
        " && codex plugin add punchlist@punchlist",
    ),
    ("agent-plugin", "plugins/punchlist", "update the plugin 'punchlist' in the program that has it"),
]


@pytest.mark.parametrize(("package", "folder", "command"), UPDATES)
def test_a_package_is_updated_by_the_agent_that_has_it(tmp_path: Path, package: str, folder: str, command: str) -> None:
    place = tmp_path / folder
    shutil.copytree(PACKAGES / package, place)
    assert said(place / "vendor", "upgrade_command") == command
    assert said(place / "vendor", "reinstall_command") == command


def test_a_package_does_not_take_an_installation_beside_it_for_its_own(tmp_path: Path) -> None:
    place = tmp_path / ".gemini" / "extensions" / "punchlist"
    shutil.copytree(PACKAGES / "gemini", place)
    (tmp_path / "site").mkdir()
    beside = installed(tmp_path / "site", "")
    both = Path(f"{place / 'vendor'}{os.pathsep}{beside}")
    assert said(both, "upgrade_command") == "gemini extensions update punchlist"


def test_a_package_that_uv_has_installed_is_updated_by_its_agent_too(tmp_path: Path) -> None:
    place = tmp_path / ".claude" / "plugins" / "cache" / "punchlist"
    shutil.copytree(PACKAGES / "punchlist", place)
    (tmp_path / "site").mkdir()
    url = json.dumps({"url": place.as_uri(), "dir_info": {}})
    assert said(installed(tmp_path / "site", url), "upgrade_command") == "claude plugin update punchlist@punchlist"

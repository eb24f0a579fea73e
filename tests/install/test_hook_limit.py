"""How long an agent waits for the hook at the end of a turn: what is installed, what the user sets, and what older
versions wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from punchlist.hosts import load
from punchlist.hosts.check_time import find_seconds
from punchlist.hosts.host import STOP, HookEvent
from punchlist.install import receipts
from punchlist.install.hook_limit import stop_seconds
from tests import commands
from tests.install.test_install import run

FILES = {  # with the limit of the hook at the end of a turn
    "claude-code": (".claude/settings.json", 90),
    "codex": (".codex/hooks.json", 90),
    "gemini": (".gemini/settings.json", 90_000),
    "qwen-code": (".qwen/settings.json", 90),
    "goose": (".agents/plugins/punchlist/hooks/hooks.json", 90),
}
PLUGINS = ("opencode", "oh-my-pi")


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def set_limit(host: str, home: Path, limit: int) -> None:
    """Somebody sets the limit of the hook at the end of a turn."""
    name, installed = FILES[host]
    text = (home / name).read_text()
    assert text.count(f'"timeout": {installed}') == 1
    (home / name).write_text(text.replace(f'"timeout": {installed}', f'"timeout": {limit}'))


def install_old(host: str, home: Path) -> None:
    """As a version installed it that gave every hook the same time."""
    run("install", host)
    set_limit(host, home, FILES[host][1] // 9)
    path = home / FILES[host][0]
    receipt = receipts.receipt(str(path))
    assert receipt
    receipts.save(receipt._replace(after=receipts.digest(path.read_bytes())))


def told(host: str) -> list[tuple[str, str]]:
    checks = json.loads(commands.run("doctor", "--json").stdout)["checks"]
    return [(one["state"], one["text"]) for one in checks if one["about"] == host]


@pytest.mark.parametrize("host", FILES)
def test_the_hook_at_the_end_of_a_turn_has_time_for_checks(host: str, work: Path) -> None:
    assert stop_seconds(host, str(work)) is None
    run("install", host)
    assert stop_seconds(host, str(work)) == 90
    assert find_seconds(HookEvent(STOP, "s", cwd=str(work)), load(host).HOST) == 60


@pytest.mark.parametrize("host", FILES)
def test_a_limit_that_the_user_sets_is_what_checks_have(host: str, work: Path, own_home: Path) -> None:
    run("install", host)
    set_limit(host, own_home, FILES[host][1] // 3)
    run("install", host)
    assert stop_seconds(host, str(work)) == 30
    assert find_seconds(HookEvent(STOP, "s", cwd=str(work)), load(host).HOST) == 28


@pytest.mark.parametrize("host", FILES)
def test_an_older_installation_is_not_broken_and_the_next_one_gives_checks_more_time(
    host: str, work: Path, own_home: Path
) -> None:
    install_old(host, own_home)
    assert stop_seconds(host, str(work)) == 10
    before = told(host)
    assert ("note", "it is not as this version installs it for you") in before
    run("install", host)
    assert stop_seconds(host, str(work)) == 90
    after = told(host)
    problems = [[text for state, text in found if state == "problem"] for found in (before, after)]
    assert problems[0] == problems[1]
    assert ("note", "it is not as this version installs it for you") not in after


def test_of_two_installations_the_lower_limit_counts(work: Path, own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "process")
    run("install", "claude-code", "--scope", "project")
    set_limit("claude-code", own_home, 20)
    assert stop_seconds("claude-code", str(work)) == 20
    assert stop_seconds("claude-code", str(own_home)) == 20


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hooks": {"Stop": [{"hooks": [{"timeout": 90}]}]}}'])
def test_settings_that_say_nothing_of_our_hook_say_nothing_of_its_limit(text: str, work: Path, own_home: Path) -> None:
    (own_home / ".claude").mkdir()
    (own_home / ".claude" / "settings.json").write_text(text)
    assert stop_seconds("claude-code", str(work)) is None
    assert find_seconds(HookEvent(STOP, "s", cwd=str(work)), load("claude-code").HOST) == 8


@pytest.mark.parametrize("host", PLUGINS)
def test_a_plugin_says_itself_how_long_it_waits(host: str) -> None:
    room = load(host)
    event = {"moment": STOP, "session": "s", "cwd": "/"}
    assert find_seconds(room.read({**event, "limit": 28}), room.HOST) == 26
    assert find_seconds(room.read(event), room.HOST) == 3, "one of an older version"

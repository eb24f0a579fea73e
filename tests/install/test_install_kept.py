"""What a user wrote themselves, and looks like ours: it outlives `install` and `uninstall`, byte for byte."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from punchlist.install import installer_for, receipts
from punchlist.install.apply import add_parts, strip_parts, value_at
from tests.commands import SCRIPT
from tests.install.test_install import everything, run, settings, work, write
from tests.install.test_install_parts import add, claude, line, strip, where

__all__ = ["work"]

SESSION = {"command": "/home/you/.local/bin/punchlist", "args": ["mcp", "--session", "release-2.0"]}
UVX = {"command": "uvx", "args": ["punchlist", "mcp"]}
PLAIN = {"command": "/home/you/.local/bin/punchlist", "args": ["mcp"]}
LOCAL = {"type": "local", "command": ["/home/you/.local/bin/punchlist", "mcp"], "enabled": True}
TABLE = """[mcp_servers.punchlist]
command = "/home/you/.local/bin/punchlist"
args = ["mcp"]
env = { XDG_STATE_HOME = "/home/you/.local/state" }
"""
OTHERS = {".toml": 'model = "x"\n', ".yaml": "GOOSE_MODE: auto\n"}
LINE = {"type": "command", "command": "~/mine.sh; punchlist line --host claude-code"}
TEE = {"type": "command", "command": "tee -a ~/log | punchlist hook claude-code; ~/notify.sh"}


def page(name: str, start: str) -> str:
    """The block of a page that begins so."""
    text = (Path(__file__).parents[2] / "docs" / name).read_text()
    blocks: list[str] = re.findall(r"```\w+\n(.*?)```", text, re.S)
    return next(block for block in blocks if block.startswith(start))


WRITTEN = [
    ("claude-code", ".claude.json", json.dumps({"mcpServers": {"punchlist": SESSION}}), "'mcpServers.punchlist'"),
    ("claude-code", ".claude.json", json.dumps({"mcpServers": {"punchlist": UVX}}), "'mcpServers.punchlist'"),
    ("claude-code", ".claude.json", json.dumps({"mcpServers": {"punchlist": PLAIN}}), "'mcpServers.punchlist'"),
    ("opencode", "opencode/opencode.json", json.dumps({"mcp": {"punchlist": LOCAL}}), "'mcp.punchlist'"),
    ("gemini", ".gemini/settings.json", json.dumps({"mcpServers": {"punchlist": PLAIN}}), "'mcpServers.punchlist'"),
    ("codex", ".codex/config.toml", TABLE, "'mcp_servers.punchlist'"),
    ("goose", "goose/config.yaml", page("mcp.md", "extensions:"), "'extensions.punchlist'"),
    ("claude-code", ".claude/settings.json", json.dumps({"statusLine": LINE}), "'statusLine'"),
    ("claude-code", ".claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [TEE]}]}}), "'hooks.Stop'"),
    ("claude-code", ".claude/settings.json", '{"permissions": {"allow": ["Bash(ls)", "mcp__punchlist"]}}', ""),
]


@pytest.mark.parametrize(("host", "name", "text", "place"), WRITTEN)
def test_what_the_user_wrote_is_kept_said_and_given_back(
    host: str, name: str, text: str, place: str, own_home: Path
) -> None:
    path = write(own_home / name, text.encode())
    before = everything(own_home)
    said = run("install", host)
    words = f"~/{name}: {place} is your own and stays as it is; to have ours, take it out and install again.\n"
    assert (words in said) is bool(place)
    for mine in (SESSION["args"], UVX["args"], LINE["command"], TEE["command"]):
        assert (json.dumps(mine) in text) is (json.dumps(mine) in path.read_text())
    assert "nothing had to be changed" in run("install", host)
    gone = run("uninstall", host)
    assert (f"~/{name}: {place} is your own and stays as it is; if it should go" in gone) is bool(place)
    assert everything(own_home) == before


def test_what_stays_is_not_said_to_be_taken_out(own_home: Path) -> None:
    write(own_home / ".gemini/settings.json", json.dumps({"mcpServers": {"punchlist": PLAIN}}).encode())
    run("install", "gemini")
    assert "  ~/.gemini/settings.json  hooks\n" in run("uninstall", "gemini")


@pytest.mark.parametrize(("host", "name", "text", "place"), WRITTEN)
def test_uninstalling_what_was_never_installed_changes_nothing(
    host: str, name: str, text: str, place: str, own_home: Path
) -> None:
    write(own_home / name, text.encode())
    before = everything(own_home)
    said = run("uninstall", host)
    assert said.startswith(f"{host} was not attached; nothing had to be changed.\n")
    assert (f"~/{name}: {place} is your own and stays" in said) is bool(place)
    assert everything(own_home) == before


@pytest.mark.parametrize(("host", "name", "text", "place"), WRITTEN)
def test_what_the_user_wrote_stays_also_when_others_write_meanwhile(
    host: str, name: str, text: str, place: str, own_home: Path
) -> None:
    path = write(own_home / name, text.encode())
    run("install", host)
    if not name.endswith("json"):
        path.write_text(OTHERS[path.suffix] + path.read_text())
        run("uninstall", host)
        assert path.read_text() == OTHERS[path.suffix] + text
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), "theirs": 1}))
        run("uninstall", host)
        assert json.loads(path.read_text()) == {**json.loads(text), "theirs": 1}


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        ("opencode", "opencode/plugins/punchlist.js", "// mine, runs punchlist\n"),
        ("oh-my-pi", ".omp/agent/extensions/punchlist.ts", "// mine, runs punchlist\n"),
        ("goose", ".agents/plugins/punchlist/plugin.json", '{"name":"punchlist","mine":true}'),
    ],
)
def test_a_file_of_the_user_s_own_is_refused_and_never_removed(host: str, name: str, text: str, own_home: Path) -> None:
    path = write(own_home / name, text.encode())
    before = everything(own_home)
    assert run("install", host, code=1) == (
        f"punchlist: {path}: it is there already and is not ours; move it away first.\n"
    )
    run("uninstall", host)
    assert everything(own_home) == before


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("opencode", "opencode/plugins/punchlist.js"),
        ("opencode", "opencode/punchlist/panel.js"),
        ("oh-my-pi", ".omp/agent/extensions/punchlist.ts"),
        ("oh-my-pi", ".omp/agent/extensions/punchlist-panel.js"),
    ],
)
def test_a_plugin_that_the_user_edited_is_kept_and_said(host: str, name: str, own_home: Path) -> None:
    run("install", host)
    path = own_home / name
    path.write_text(path.read_text() + "// mine\n")
    edited = path.read_bytes()
    assert f"~/{name}: it is your own and stays as it is" in run("install", host)
    assert path.read_bytes() == edited
    assert f"~/{name}: it is your own and stays as it is" in run("uninstall", host)
    assert path.read_bytes() == edited


@pytest.mark.parametrize("host", ["opencode", "oh-my-pi", "goose"])
@pytest.mark.parametrize("script", ["/opt/punchlist/bin/punchlist", '/opt/it\'s "a" b/punchlist'])
def test_a_file_that_we_wrote_for_another_script_is_known_again(host: str, script: str) -> None:
    for part in installer_for(host).parts(where()):
        if part.kind == "file":
            text = part.value(script)
            assert add_parts(text, [part], host, SCRIPT, text) == part.value(SCRIPT)
            assert strip_parts(text, [part], host, None) == ""
            assert strip_parts(text + "//", [part], host, None) == text + "//"


def test_a_file_that_an_older_version_wrote_is_replaced_and_goes(own_home: Path) -> None:
    run("install", "goose")
    path = own_home / ".agents" / "plugins" / "punchlist" / "plugin.json"
    new = path.read_bytes()
    old = path.read_text().replace("version", "versions")
    path.write_text(old)
    receipt = receipts.receipt(str(path))
    assert receipt
    receipts.save(receipt._replace(after=receipts.digest(old.encode())))
    assert "stays" not in run("install", "goose")
    assert path.read_bytes() == new
    run("uninstall", "goose")
    assert everything(own_home) == {}


def test_a_server_of_ours_whose_words_the_user_changed_is_theirs(own_home: Path) -> None:
    run("install", "claude-code")
    path = own_home / ".claude.json"
    path.write_text(path.read_text().replace('"mcp"', '"mcp",\n        "--session",\n        "x"'))
    edited = path.read_bytes()
    assert "~/.claude.json: 'mcpServers.punchlist' is your own and stays" in run("install", "claude-code")
    assert path.read_bytes() == edited
    run("uninstall", "claude-code")
    assert path.read_bytes() == edited


def test_a_hook_of_the_user_that_hears_less_than_ours_does_not_replace_it() -> None:
    text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [TEE]}]}})
    assert len(json.loads(add(text))["hooks"]["Stop"]) == 2


# --- a status line ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [" | head -1", " || echo it's", "; echo --after"])
def test_a_status_line_of_ours_that_the_user_edited_is_theirs(more: str, own_home: Path) -> None:
    write(settings(own_home), b'{"statusLine": {"type": "command", "command": "~/mine.sh"}}')
    run("install", "claude-code")
    now = json.loads(settings(own_home).read_text())
    now["statusLine"]["command"] += more
    settings(own_home).write_text(json.dumps(now))
    assert "'statusLine' is your own and stays" in run("install", "claude-code")
    run("doctor", "--json", code=0)
    assert "'statusLine' is your own and stays" in run("uninstall", "claude-code")
    assert json.loads(settings(own_home).read_text()) == {"statusLine": now["statusLine"]}


def test_a_status_line_that_cannot_be_written_down_again_is_left_alone(own_home: Path) -> None:
    write(settings(own_home), b'{"statusLine":{"type":"command","command":"echo \\ud83d"}}')
    before = everything(own_home)
    assert "'statusLine' is your own and stays" in run("install", "claude-code")
    run("uninstall", "claude-code")
    assert everything(own_home) == before


def test_what_is_no_hook_beside_one_of_ours_is_kept() -> None:
    text = add("{}")
    now = json.loads(text)
    now["hooks"]["Stop"][0]["hooks"].insert(0, "x")
    new = add(json.dumps(now))
    assert value_at(new, claude()[0])["Stop"][0] == {"hooks": ["x"]}
    assert json.loads(strip(new, "{}")) == {"hooks": {"Stop": [{"hooks": ["x"]}]}}
    assert line(new) is not None

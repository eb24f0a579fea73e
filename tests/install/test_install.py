"""`punchlist install` and `uninstall`, as processes with a home of their own."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from punchlist import install as installing
from punchlist.core.errors import Refused
from punchlist.hosts import HOSTS
from punchlist.install import Edit, here, receipts
from tests import commands
from tests.commands import SCRIPT


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


def run(*words: str, code: int = 0, **env: str) -> str:
    done = commands.run(*words, **env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def everything(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def settings(home: Path) -> Path:
    return home / ".claude" / "settings.json"


# --- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
def test_what_was_installed_into_nothing_leaves_nothing(host: str, scope: str, own_home: Path, work: Path) -> None:
    run("install", host, "--scope", scope)
    home, here = everything(own_home), everything(work)
    assert SCRIPT in b"".join(data for data in (*home.values(), *here.values()) if data).decode()
    assert (here if scope == "user" else home) == {}
    assert "nothing had to be changed" in run("install", host, "--scope", scope)
    assert (everything(own_home), everything(work)) == (home, here)
    run("uninstall", host)
    assert (everything(own_home), everything(work)) == ({}, {})
    assert [name for name in everything(work.parent / "state") if name.endswith((".json", ".before"))] == []


OLD = {
    "claude-code": {
        ".claude.json": b'{"numStartups":3,"mcpServers":{},"oauthAccount":{"a":"b"}}',
        ".claude/settings.json": b'\xef\xbb\xbf{\r\n\t"permissions" : { "allow":["Bash"] } ,\r\n\t"hooks": { }\r\n}',
    },
    "codex": {
        ".codex/config.toml": b'# mine\r\nmodel = "x"\r\n[mcp_servers.other]\r\ncommand = "y"',
        ".codex/hooks.json": b'{"description": "mine", "hooks": {"Stop": []}}\n',
    },
    "gemini": {".gemini/settings.json": b'{\n    // why\n    "theme": "x", /* trailing */\n}\n\n\n'},
    "opencode": {
        "opencode/opencode.jsonc": b'{\n  "mcp": {\n    // none yet\n  },\n}\n',
        "opencode/tui.json": b'{\n  "theme": "x", // mine\n  "plugin": ["other"]\n}',
    },
    "oh-my-pi": {".omp/agent/mcp.json": b"{ }"},
    "qwen-code": {".qwen/settings.json": b'{\n    // why\n    "ui": {}, /* trailing */\n}\n\n\n'},
    "cursor": {
        ".cursor/mcp.json": b'{"mcpServers": {}}',
        ".cursor/hooks.json": b'{\n  "version": 1,\n  "hooks": {"stop": [{"command": "./mine.sh"}]}\n}\n',
    },
    "copilot": {".copilot/mcp-config.json": b'{"mcpServers":{"other":{"type":"http","url":"http://127.0.0.1"}}}'},
    "goose": {"goose/config.yaml": b"GOOSE_MODE: auto\nextensions:\n    developer:\n        enabled: true"},
}


@pytest.mark.parametrize("host", HOSTS)
def test_files_that_were_there_are_the_same_bytes_again(host: str, own_home: Path) -> None:
    assert host in OLD, f"OLD needs an entry for {host}: files that a user had before us"
    for name, data in OLD[host].items():
        write(own_home / name, data).chmod(0o640)
    before = everything(own_home)
    run("install", host)
    for name in OLD[host]:
        assert b"punchlist" in (own_home / name).read_bytes()
        assert stat.S_IMODE((own_home / name).stat().st_mode) == 0o640
    assert run("install", host) == f"{host} is attached for you; nothing had to be changed.\n"
    run("uninstall", host)
    assert everything(own_home) == before
    assert stat.S_IMODE((own_home / next(iter(OLD[host]))).stat().st_mode) == 0o640


def test_what_others_wrote_meanwhile_stays(own_home: Path) -> None:
    write(settings(own_home), b'{\n  "theme": "dark"\n}\n')
    run("install", "claude-code")
    now = json.loads(settings(own_home).read_bytes())
    now["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "mine.sh"}]})
    now["model"] = "opus"
    settings(own_home).write_text(json.dumps(now))
    run("uninstall", "claude-code")
    mine = {"Stop": [{"hooks": [{"type": "command", "command": "mine.sh"}]}]}
    assert json.loads(settings(own_home).read_bytes()) == {"theme": "dark", "hooks": mine, "model": "opus"}


def test_an_upgrade_from_another_environment_is_undone_as_if_there_had_been_only_one(own_home: Path) -> None:
    write(settings(own_home), b'{ "theme":"dark" }')
    write(own_home / ".claude.json", b"{}")
    before = everything(own_home)
    where = installing.here("user", "/gone/bin/punchlist")
    installing.attach("claude-code", where)
    run("install", "claude-code")
    assert "/gone/" not in settings(own_home).read_text() + (own_home / ".claude.json").read_text()
    run("uninstall", "claude-code")
    assert everything(own_home) == before


def test_without_the_records_of_what_was_there_nothing_of_ours_is_left(own_home: Path, work: Path) -> None:
    write(settings(own_home), b'{"theme": "dark", "statusLine": {"type": "command", "command": "mine.sh"}}')
    run("install", "claude-code")
    run("uninstall", "claude-code", XDG_STATE_HOME=str(work.parent / "another"))
    left = {"theme": "dark", "statusLine": {"type": "command", "command": "mine.sh"}}
    assert json.loads(settings(own_home).read_bytes()) == left
    assert (own_home / ".claude.json").read_text().split() == ["{}"]


def test_new_files_of_the_user_are_private() -> None:
    run("install", "claude-code")
    assert stat.S_IMODE((Path.home() / ".claude.json").stat().st_mode) == 0o600


def test_what_was_there_is_kept_in_the_state_folder_for_its_owner_alone(own_home: Path, work: Path) -> None:
    old = b'{"apiKeyHelper": "secret"}'
    write(settings(own_home), old)
    run("install", "claude-code")
    folder = work.parent / "state" / "punchlist" / "install"
    (copy,) = folder.glob("settings.json-*.before")
    assert copy.read_bytes() == old
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, copy)} == {0o700, 0o600}


# --- which parts, and where ------------------------------------------------------------------------------------------


def test_a_part_can_be_left_out_and_taken_out(own_home: Path) -> None:
    run("install", "claude-code", "--without", "status-line", "--without", "permission")
    first = json.loads(settings(own_home).read_bytes())
    assert first.keys() == {"hooks"}
    run("install", "claude-code")
    assert json.loads(settings(own_home).read_bytes()).keys() == {"hooks", "permissions", "statusLine"}
    run("install", "claude-code", "--without", "status-line", "--without", "permission")
    assert json.loads(settings(own_home).read_bytes()) == first
    run("uninstall", "claude-code")
    assert everything(own_home) == {}


def test_a_part_that_is_not_there_is_refused_with_those_there_are() -> None:
    said = run("install", "codex", "--without", "colour", code=1)
    assert said == "punchlist: no part 'colour'; the parts are 'server', 'hooks'.\n"


def test_all_parts_of_a_file_left_out_leave_no_file(own_home: Path) -> None:
    run("install", "codex", "--without", "hooks")
    assert [name for name in everything(own_home) if name.endswith("hooks.json")] == []
    run("install", "codex")
    run("install", "codex", "--without", "hooks")
    assert [name for name in everything(own_home) if name.endswith("hooks.json")] == []


def test_uninstalling_takes_out_both_scopes_unless_one_is_named(own_home: Path, work: Path) -> None:
    run("install", "claude-code")
    run("install", "claude-code", "--scope", "project")
    run("uninstall", "claude-code", "--scope", "user")
    assert everything(own_home) == {}
    assert (work / ".mcp.json").exists()
    run("uninstall", "claude-code")
    assert everything(work) == {}


def test_other_projects_that_are_still_attached_are_named(work: Path) -> None:
    run("install", "claude-code", "--scope", "project")
    (work / "inner").mkdir()
    os.chdir(work / "inner")
    said = run("uninstall", "claude-code")
    assert f"still attached by {work}/.mcp.json; run the same there.\n" in said


def test_the_file_of_two_that_exists_or_has_our_entry_is_taken(own_home: Path) -> None:
    plain = write(own_home / "opencode" / "opencode.json", b"{}")
    run("install", "opencode")
    commented = write(own_home / "opencode" / "opencode.jsonc", b"{}")
    assert "nothing had to be changed" in run("install", "opencode")
    run("uninstall", "opencode")
    assert (plain.read_bytes(), commented.read_bytes()) == (b"{}", b"{}")
    run("install", "opencode")
    assert b"punchlist" in commented.read_bytes()


def test_an_agent_s_own_folder_variable_is_respected(own_home: Path, work: Path) -> None:
    run("install", "claude-code", CLAUDE_CONFIG_DIR=str(work / "c"))
    assert everything(own_home) == {}
    assert {name for name, data in everything(work).items() if data} == {"c/.claude.json", "c/settings.json"}
    run("uninstall", "claude-code", CLAUDE_CONFIG_DIR=str(work / "c"))
    assert everything(work) == {}


def test_a_plugin_knows_the_file_that_starts_hooks(own_home: Path) -> None:
    for host, name in (
        ("opencode", "opencode/plugins/punchlist.js"),
        ("oh-my-pi", ".omp/agent/extensions/punchlist.ts"),
    ):
        run("install", host)
        text = (own_home / name).read_text()
        assert json.dumps(here("user", SCRIPT).starter(host)) in text
        assert "@PUNCHLIST@" not in text


def test_what_is_left_to_do_by_hand_is_said() -> None:
    assert run("install", "codex").endswith(
        "next: start codex and trust the hooks: /hooks. Until then Codex skips them.\n"
    )


# --- looking first ---------------------------------------------------------------------------------------------------


def test_a_dry_run_shows_the_difference_and_writes_nothing(own_home: Path, work: Path) -> None:
    write(settings(own_home), b'{\n\t"primaryApiKey": "sk-ant-0123456789abcdef",\n\t"a": "\xc2\x9b31m"\n}\n')
    before = everything(own_home)
    said = run("install", "claude-code", "--dry-run", "--without", "hooks")
    assert said.startswith('--- /dev/null\n+++ ~/.claude.json\n@@ -0,0 +1,11 @@\n+{\n+  "mcpServers": {\n')
    assert "--- ~/.claude/settings.json\n+++ ~/.claude/settings.json\n" in said
    assert said.endswith("nothing was written.\n")
    assert "0123456789abcdef" not in said
    assert "\x9b" not in said
    assert everything(own_home) == before
    assert not (work.parent / "state").exists()


def test_a_dry_run_shows_long_lines_whole(own_home: Path) -> None:
    write(settings(own_home), json.dumps({"theirs": "x" * 5000, "last": "y"}).encode())
    said = run("install", "claude-code", "--dry-run", "--without", "hooks")
    assert "x" * 5000 in said
    assert "…" not in said


def test_a_dry_run_of_uninstalling_shows_what_would_go(own_home: Path) -> None:
    run("install", "gemini")
    before = everything(own_home)
    said = run("uninstall", "gemini", "--dry-run")
    assert said.startswith("--- ~/.gemini/settings.json\n+++ /dev/null\n")
    assert everything(own_home) == before


def test_what_is_taken_out_of_a_file_is_not_said_to_be_in_it() -> None:
    run("install", "gemini")
    assert "  ~/.gemini/settings.json  server\n" in run("install", "gemini", "--without", "hooks")
    run("install", "codex", "--without", "hooks")
    write(Path.home() / ".codex" / "hooks.json", b"{}")
    run("install", "codex")
    assert "  ~/.codex/hooks.json  taken out\n" in run("install", "codex", "--without", "hooks")


def test_a_directory_that_is_gone_is_told(work: Path) -> None:
    words = f"rmdir {work}/gone && exec {SCRIPT} install gemini"
    (work / "gone").mkdir()
    done = subprocess.run(["sh", "-c", words], cwd=work / "gone", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "punchlist: the directory you are in is gone; change to one that exists.\n",
    )


def test_nothing_to_do_is_said() -> None:
    run("install", "gemini")
    assert run("install", "gemini", "--dry-run") == "nothing would be changed.\n"
    run("uninstall", "gemini")
    assert run("uninstall", "gemini") == "gemini was not attached; nothing had to be changed.\n"


def test_a_difference_is_coloured_where_there_are_colours() -> None:
    assert "\x1b[32m+\x1b[0m{" in run("install", "gemini", "--dry-run", FORCE_COLOR="1")


def test_json_says_what_was_done_to_every_file(own_home: Path) -> None:
    write(own_home / ".claude.json", b"{}")
    said = json.loads(run("install", "claude-code", "--json"))
    assert said == {
        "host": "claude-code",
        "scope": "user",
        "via": "settings",
        "dialect": "native",
        "dry_run": False,
        "files": [
            {"file": str(own_home / ".claude.json"), "parts": ["server"], "action": "change", "kept": []},
            {
                "file": str(settings(own_home)),
                "parts": ["hooks", "permission", "status-line"],
                "action": "create",
                "kept": [],
            },
        ],
        "next": None,
    }
    assert {one["action"] for one in json.loads(run("install", "claude-code", "--json"))["files"]} == {"none"}
    gone = json.loads(run("uninstall", "claude-code", "--json"))
    assert [one["action"] for one in gone["files"]] == ["change", "remove"]


@pytest.mark.parametrize(
    "words", [["install"], ["install", "frob"], ["install", "codex", "--scope", "x"], ["uninstall"]]
)
def test_misuse_is_one_line(words: list[str]) -> None:
    assert run(*words, code=2).count("\n") == 1


# --- files that are not as they should be ----------------------------------------------------------------------------


def refused(host: str, home: Path) -> str:
    """Installing is refused, and nothing at all has changed."""
    before = everything(home)
    said = run("install", host, code=1)
    assert everything(home) == before
    return said


@pytest.mark.parametrize(
    ("host", "name", "data", "words"),
    [
        ("claude-code", ".claude/settings.json", b'{\n  "a": 1,,\n}', "line 2, column 10: expected a key"),
        ("claude-code", ".claude/settings.json", b'{"hooks": []}', "line 1: 'hooks' must be an object, not []"),
        ("claude-code", ".claude/settings.json", b'{"hooks": {"Stop": {}}}', "'hooks.Stop' must be an array"),
        ("claude-code", ".claude/settings.json", b'{\n"a": "\xff"}', "line 2: it is not UTF-8."),
        ("claude-code", ".claude/settings.json", '{"a": 1}'.encode("utf-16"), "line 1: it is not UTF-8."),
        ("claude-code", ".claude.json", b'{"mcpServers": {"punchlist": {"url": "x"}}}', "is not ours"),
        ("codex", ".codex/config.toml", b"a = 1\nb = \n", "(at line 2, column 5)"),
        ("codex", ".codex/config.toml", b"mcp_servers = {}\n", "[mcp_servers.punchlist]\ncommand = "),
        (
            "goose",
            "goose/config.yaml",
            b"extensions: [a]\n",
            "it cannot be edited safely. Edit it by hand:\nextensions:\n",
        ),
        ("opencode", "opencode/plugins/punchlist.js", b"// somebody else's\n", "it is there already and is not ours"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_by_name(
    host: str, name: str, data: bytes, words: str, own_home: Path
) -> None:
    path = write(own_home / name, data)
    said = refused(host, own_home)
    assert said.startswith(f"punchlist: {path}: ")
    assert words in said


def test_a_file_that_its_owner_made_read_only_is_left_alone(own_home: Path) -> None:
    path = write(settings(own_home), b"{}")
    path.chmod(0o444)
    assert refused("claude-code", own_home) == f"punchlist: {path}: it is read-only; make it writable first.\n"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_not_a_file_is_left_alone(kind: str, own_home: Path) -> None:
    path = settings(own_home)
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    assert run("install", "claude-code", code=1) == f"punchlist: {path}: it is not a file.\n"
    assert not (own_home / ".claude.json").exists()


def test_a_symbolic_link_is_written_through(own_home: Path, work: Path) -> None:
    real = write(work / "dotfiles" / "claude.json", b'{"theme": "dark"}')
    settings(own_home).parent.mkdir()
    settings(own_home).symlink_to(real)
    run("install", "claude-code")
    assert settings(own_home).is_symlink()
    assert b"punchlist" in real.read_bytes()
    run("uninstall", "claude-code")
    assert settings(own_home).is_symlink()
    assert real.read_bytes() == b'{"theme": "dark"}'


def test_two_links_in_a_row_of_which_the_agent_replaced_one_leave_nothing_of_ours(own_home: Path, work: Path) -> None:
    real = write(work / "dotfiles" / "claude.json", b'{"theme": "dark"}')
    middle, first = work / "middle.json", own_home / ".claude.json"
    middle.symlink_to(real)
    first.symlink_to(middle)
    run("install", "claude-code")
    written = {**json.loads(real.read_bytes()), "more": 1}
    middle.unlink()
    middle.write_text(json.dumps(written))  # as Claude Code does
    assert "is attached for you" in run("doctor")
    run("uninstall", "claude-code")
    assert json.loads(middle.read_bytes()) == {"theme": "dark", "more": 1}
    assert real.read_bytes() == b'{"theme": "dark"}'
    assert first.is_symlink()


def test_what_goose_notes_about_our_plugin_goes_with_it(own_home: Path) -> None:
    run("install", "goose")
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "goose" / "config.yaml"
    plugin = own_home / ".agents" / "plugins" / "punchlist"
    others = "GOOSE_MODEL: x\n"
    noted = f"plugins:\n  {plugin}:\n    enabled: true\n"
    config.write_text(others + config.read_text() + noted)
    run("install", "goose")
    assert noted in config.read_text()
    run("uninstall", "goose")
    assert config.read_text() == others


@pytest.mark.parametrize("beside", ["/x/y:\n    enabled: true\n", "{plugin}:\n    enabled: false\n"])
def test_what_goose_notes_about_others_and_what_the_user_set_stays(beside: str, own_home: Path) -> None:
    run("install", "goose")
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "goose" / "config.yaml"
    noted = "plugins:\n  " + beside.format(plugin=own_home / ".agents" / "plugins" / "punchlist")
    config.write_text(config.read_text() + noted)
    run("uninstall", "goose")
    assert config.read_text() == noted


def test_a_symbolic_link_to_itself_is_refused(own_home: Path) -> None:
    settings(own_home).parent.mkdir()
    settings(own_home).symlink_to(settings(own_home))
    assert "a symbolic link that leads to itself" in run("install", "claude-code", code=1)


def test_a_link_that_waits_where_the_new_file_is_drafted_is_not_followed(own_home: Path, work: Path) -> None:
    write(settings(own_home), b"{}")
    bait = write(work / "bait", b"mine")
    Path(f"{settings(own_home)}.punchlist-new").symlink_to(bait)
    run("install", "claude-code")
    assert bait.read_bytes() == b"mine"
    assert [name for name in everything(own_home) if "punchlist-new" in name] == []


def test_a_state_folder_that_cannot_be_made_stops_before_anything_is_written(own_home: Path, work: Path) -> None:
    write(work / "state", b"a file in its place")
    before = everything(own_home)
    run("install", "claude-code", code=1, XDG_STATE_HOME=str(work / "state"))
    assert everything(own_home) == before


def test_records_that_make_no_sense_are_as_good_as_none(own_home: Path, work: Path) -> None:
    run("install", "gemini")
    for path in (work.parent / "state" / "punchlist" / "install").glob("*.json"):
        path.write_bytes(b'{"before": 1')
    run("uninstall", "gemini")
    assert (own_home / ".gemini" / "settings.json").read_text().split() == ["{}"]


# --- at the same time ------------------------------------------------------------------------------------------------


def test_many_that_install_at_once_leave_what_one_would(own_home: Path) -> None:
    write(settings(own_home), b'{"theme": "dark"}')
    before = everything(own_home)
    at_once = [subprocess.Popen([SCRIPT, "install", "claude-code"], stdout=subprocess.DEVNULL) for _ in range(6)]
    assert [one.wait(60) for one in at_once] == [0] * 6
    stop = json.loads(settings(own_home).read_bytes())["hooks"]["Stop"]
    assert len(stop) == 1
    assert "nothing had to be changed" in run("install", "claude-code")
    run("uninstall", "claude-code")
    assert everything(own_home) == before


def test_what_somebody_else_writes_meanwhile_is_read_again_and_kept(own_home: Path) -> None:
    path = write(own_home / "x.json", b"{}")
    seen: list[bytes | None] = []

    def work(file: str) -> Edit:
        """The file changes behind our back each of the first two times that we have read it."""
        old = receipts.load(file)
        seen.append(old)
        if len(seen) < 3:
            write(path, b'{"theirs": %d}' % len(seen))
        return Edit(file, ("server",), old, (old or b"") + b" ours", old, True)

    with receipts.lock():
        installing._write_or_retry(str(path), work, "codex", "user", {})
    assert seen == [b"{}", b'{"theirs": 1}', b'{"theirs": 2}']
    assert path.read_bytes() == b'{"theirs": 2} ours'


def test_somebody_who_never_stops_writing_wins(own_home: Path) -> None:
    path = write(own_home / "x.json", b"0")

    def work(file: str) -> Edit:
        old = receipts.load(file)
        write(path, str(int(old or b"0") + 1).encode())
        return Edit(file, ("server",), old, b"ours", old, True)

    with receipts.lock(), pytest.raises(Refused, match="somebody else keeps writing it"):
        installing._write_or_retry(str(path), work, "codex", "user", {})
    assert path.read_bytes() == b"100"
    assert not Path(f"{path}.punchlist-new").exists()


# --- killed in the middle --------------------------------------------------------------------------------------------

_DYING = """
import os, signal, sys
left, home = int(sys.argv.pop(1)), sys.argv.pop(1)

def watch(event, args):
    global left
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.listdir"):
        if any(isinstance(arg, str) and arg.startswith(home) for arg in args):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

from punchlist.cli import main
import punchlist.cli.install
sys.addaudithook(watch)
sys.exit(main())
"""


def killed(home: Path, steps: int, *words: str) -> bool:
    """Run a command, killed after some of its steps on files; whether it got that far."""
    command = [sys.executable, "-c", _DYING, str(steps), str(home.parent), *words]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.torture)])
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_death_at_any_step_leaves_each_file_old_or_new_and_can_be_mended(
    command: str, every: int, own_home: Path
) -> None:
    write(settings(own_home), b'{"theme": "dark"}')
    old = everything(own_home)
    run("install", "claude-code")
    new = everything(own_home)
    steps = 0
    while True:
        run("install" if command == "uninstall" else "uninstall", "claude-code")
        assert files_of(own_home) == files_of_map(new if command == "uninstall" else old)
        if not killed(own_home, steps, command, "claude-code"):
            break
        for name, data in files_of(own_home).items():
            assert data in (old.get(name), new.get(name)), (steps, name)
        steps += every
    assert steps > 10
    run("uninstall", "claude-code")
    assert everything(own_home) == old


def files_of(home: Path) -> dict[str, Any]:
    return files_of_map(everything(home))


def files_of_map(found: dict[str, bytes | None]) -> dict[str, Any]:
    """Files alone, without what a death may leave beside them until the next run."""
    return {name: data for name, data in found.items() if data is not None and "punchlist-new" not in name}

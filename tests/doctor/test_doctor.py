"""`punchlist doctor`: what it finds, how that is fixed, and its exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import install as installing
from punchlist.doctor.probe import hook_time, server
from punchlist.doctor.store import filesystem
from punchlist.hosts import HOSTS
from punchlist.local import event_log
from punchlist.local.origin import upgrade_command
from punchlist.stores.sqlite import VERSION
from tests.commands import BOUND, SCRIPT, bound


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")  # none of the machine's agents is seen
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


def run(*words: str, script: str = SCRIPT, **env: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **env}
    before = BOUND if shutil.which("setpriv") else []
    return subprocess.run([*before, script, *words], env=env, capture_output=True, encoding="utf-8", check=False)


def examined(script: str = SCRIPT, **env: str) -> list[dict[str, Any]]:
    """Every check; the exit code says whether there is a problem among them."""
    done = run("doctor", "--json", script=script, **env)
    said = json.loads(done.stdout)
    assert said["version"] == punchlist.__version__
    assert said["problems"] == sum(check["state"] == "problem" for check in said["checks"])
    assert done.returncode == (1 if said["problems"] else 0)
    checks: list[dict[str, Any]] = said["checks"]
    return checks


def found(about: str, words: str, **env: str) -> tuple[str, str]:
    """The one check about something that says these words: its state, and how to fix it."""
    checks = [check for check in examined(**env) if check["about"] == about and words in check["text"]]
    assert len(checks) == 1, checks
    return checks[0]["state"], checks[0]["fix"] or ""


# --- ourselves -------------------------------------------------------------------------------------------------------


def test_version_python_and_script_are_told() -> None:
    python = ".".join(map(str, sys.version_info[:3]))
    state, _ = found("punchlist", f"punchlist {punchlist.__version__}, Python {python}, {SCRIPT}")
    assert state == "ok"


def test_how_long_a_hook_takes_is_measured() -> None:
    assert found("punchlist", "a hook takes ")[0] in ("ok", "note")


def test_the_hook_that_is_measured_opens_the_store_and_leaves_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    took, problem = hook_time(SCRIPT, f"json:{tmp_path}/plans")
    assert (took > 0, problem) == (True, "")
    assert list((tmp_path / "plans").glob("*.json")) == []
    assert hook_time(SCRIPT, f"json:{tmp_path}/none")[1] == ""
    assert not (tmp_path / "none").exists()


def test_a_script_that_cannot_be_started_is_named_with_the_reason() -> None:
    assert hook_time("/nowhere/punchlist", "memory:") == (0.0, "/nowhere/punchlist: No such file or directory")
    assert server("/nowhere/punchlist").problem == "/nowhere/punchlist: No such file or directory"


def test_byte_code_that_cannot_be_kept_is_told_with_the_command_that_makes_it(tmp_path: Path) -> None:
    nowhere = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path / "none")}
    state, fix = found("punchlist", "there is no byte-code (PYTHONDONTWRITEBYTECODE is set)", **nowhere)
    assert state == "note"
    assert " -m compileall -q " in fix


def test_settings_that_cannot_be_used_are_faults() -> None:
    Path("punchlist.toml").write_text('colour = "blue"')
    assert found("punchlist", "'colour' is not a setting")[0] == "problem"


@pytest.mark.parametrize(("value", "seen"), [("1", 1), ("yes", 1), ("0", 0), ("", 0)])
def test_the_switch_is_told(value: str, seen: int) -> None:
    texts = [check["text"] for check in examined(PUNCHLIST_OFF=value)]
    assert len([text for text in texts if text.startswith("PUNCHLIST_OFF is set")]) == seen


def test_the_last_errors_are_shown_harmlessly(own_home: Path) -> None:
    assert found("punchlist", "no errors logged")[0] == "ok"
    log = own_home / "punchlist" / "events.jsonl"
    for number in range(1, 6):
        event_log.write_error("hook", ValueError(f"problem {number} \x1b[2J"))
        event_log.write("nudge", number=number)
    (check,) = [one for one in examined() if "errors were logged in the last 7 days (5)" in one["text"]]
    shown = [line.partition(" ")[2] for line in check["text"].splitlines()[1:]]
    assert [line[:27] for line in shown] == [f"hook: ValueError: problem {number}" for number in (3, 4, 5)]
    assert "\x1b" not in check["text"]
    assert (check["state"], check["fix"].endswith(f" {log}")) == ("note", True)


def test_an_error_of_last_month_and_a_log_that_makes_no_sense_are_not_shown(own_home: Path) -> None:
    event_log.write("error", at="2020-01-01T00:00:00.000Z", where="hook", message="long ago")
    with (own_home / "punchlist" / "events.jsonl").open("a") as file:
        file.write('{"kind": "error"}\n{"kind": "error", "at": 1}\n{\n')
    assert found("punchlist", "no errors logged")[0] == "ok"


# --- the server ------------------------------------------------------------------------------------------------------


def program(path: Path, text: str) -> str:
    path.write_text(f"#!{sys.executable}\n# punchlist.cli\nimport json, sys, time\n{text}")
    path.chmod(0o755)
    return str(path)


ECHO = """
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"tools": [{"name": "plan"}]} if asked["method"] == "tools/list" else {"protocolVersion": "x"}
        print("noise", json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), sep="\\n", flush=True)
"""


def test_a_server_that_answers_is_timed_and_its_tools_are_named(tmp_path: Path) -> None:
    answer = server(program(tmp_path / "punchlist", ECHO))
    assert (answer.tools, answer.problem) == (("plan",), "")
    assert answer.took > 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sys.exit('no such command')", "no such command"),
        ("sys.exit(3)", "it ended with exit code 3"),
        ("sys.stdin.readline()", "it ended with exit code 0"),
        (ECHO.replace('"tools": [{"name": "plan"}]', '"x": 1'), "null"),
        ("raise SystemExit(print('{}', '[]', 'null', sep=chr(10)))", "it ended with exit code 0"),
    ],
)
def test_a_server_that_does_not_answer_is_a_fault(tmp_path: Path, text: str, problem: str) -> None:
    assert server(program(tmp_path / "punchlist", text)).problem == problem


def test_a_server_that_cannot_be_started_is_a_fault(tmp_path: Path) -> None:
    assert "No such file" in server(str(tmp_path / "none")).problem


# --- the store -------------------------------------------------------------------------------------------------------


def store(own_home: Path) -> Path:
    with punchlist.open(session="s1") as desk:
        desk.change(lambda plan: punchlist.ops.add(plan, "Read"))
    return own_home / "punchlist" / "punchlist.db"


def test_a_store_that_is_not_there_yet_is_well_and_is_not_made(own_home: Path) -> None:
    path = own_home / "punchlist" / "punchlist.db"
    assert found("store", f"{path} will be created with the first plan")[0] == "ok"
    assert not path.exists()


def test_a_store_that_is_whole_is_well(own_home: Path) -> None:
    path = store(own_home)
    before = path.read_bytes()
    assert found("store", f"{path}: form {VERSION}, ")[0] == "ok"
    assert path.read_bytes() == before


def test_a_damaged_store_is_a_fault(own_home: Path) -> None:
    path = store(own_home)
    path.write_bytes(b"this was never a database" * 100)
    state, fix = found("store", f"{path} is damaged: ")
    assert (state, fix.endswith(f"punchlist repair --store sqlite:{path}")) == ("problem", True)


def test_a_store_that_is_damaged_inside_is_a_fault(own_home: Path) -> None:
    path = store(own_home)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE")
    db.close()
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\xff" * 4096
    path.write_bytes(data)
    assert any(check["about"] == "store" and check["state"] == "problem" for check in examined())


def test_a_store_of_a_newer_version_is_a_fault(own_home: Path) -> None:
    path = store(own_home)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    state, fix = found("store", "was written by a newer punchlist (form 99, not ")
    assert (state, fix) == ("problem", upgrade_command())


def test_a_store_that_others_can_read_is_a_fault(own_home: Path) -> None:
    path = store(own_home)
    path.chmod(0o644)
    assert found("store", f"{path} can be read by others (mode 644)") == ("problem", f"chmod 600 {path}")


@bound
def test_a_store_that_cannot_be_made_is_a_fault_with_a_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "not mine"
    folder.mkdir(mode=0o500)
    path = folder / "state" / "punchlist" / "punchlist.db"
    env = {"XDG_STATE_HOME": str(folder / "state")}
    state, fix = found("store", f"{path} cannot be created: {folder} is not writable", **env)
    assert (state, fix.startswith(f"chmod u+rwx '{folder}'; or name a folder ")) == ("problem", True)
    folder.chmod(0o700)
    assert found("store", f"{path} will be created with the first plan", **env)[0] == "ok"


def test_a_directory_in_the_place_of_the_store_is_a_fault_with_a_remedy(own_home: Path) -> None:
    path = own_home / "punchlist" / "punchlist.db"
    path.mkdir(parents=True)
    problems = [check for check in examined() if check["state"] == "problem" and check["about"] == "store"]
    fix = "move it away, or name a file: PUNCHLIST_STORE=sqlite:PATH"
    assert problems == [
        {"about": "store", "state": "problem", "text": f"{path} is a directory, not a file", "fix": fix}
    ]


def test_a_state_folder_below_a_file_is_a_fault_with_a_remedy() -> None:
    problems = [check for check in examined(XDG_STATE_HOME="/dev/null") if check["state"] == "problem"]
    assert [(check["about"], check["text"]) for check in problems] == [
        ("punchlist", "errors cannot be logged in /dev/null/punchlist/events.jsonl: /dev/null is not a directory"),
        ("store", "/dev/null/punchlist/punchlist.db cannot be created: /dev/null is not a directory"),
    ]
    assert all(check["fix"].startswith("name a folder that you can write: XDG_STATE_HOME") for check in problems)


@bound
def test_a_store_that_cannot_be_written_is_a_fault_with_a_remedy(own_home: Path) -> None:
    path = store(own_home)
    path.chmod(0o400)
    state, fix = found("store", f"nothing can be stored in {path}: it is not writable (mode 400)")
    assert (state, fix.startswith(f"chmod u+rw {path}*; or ")) == ("problem", True)
    path.chmod(0o600)
    path.parent.chmod(0o500)
    state, fix = found("store", f"nothing can be stored in {path}: {path.parent} is not writable")
    assert (state, fix.startswith(f"chmod u+rwx {path.parent}; or ")) == ("problem", True)
    path.parent.chmod(0o700)


@pytest.mark.parametrize(
    ("url", "words", "state"),
    [
        ("memory:", "plans are kept in memory", "note"),
        ("json:plans", "json:plans opens", "ok"),
        ("frob://me:s3cret@host/db", "no store 'frob://me:***@host/db'", "problem"),
    ],
)
def test_other_stores_are_opened(url: str, words: str, state: str) -> None:
    assert found("store", words, PUNCHLIST_STORE=url)[0] == state


@pytest.mark.skipif(not Path("/proc/self/mounts").exists(), reason="needs /proc")
def test_the_kind_of_a_file_system_is_that_of_the_nearest_mount() -> None:
    assert filesystem("/proc/self") == "proc"
    assert filesystem("/") not in ("", "proc")


# --- agents ----------------------------------------------------------------------------------------------------------


def test_an_agent_that_is_not_on_the_machine_is_only_named() -> None:
    assert found("others", "not found on this machine: claude-code, codex, gemini, opencode, oh-my-pi, goose")


def test_an_agent_that_is_here_and_not_attached_is_told_with_the_command(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "codex", "")
    assert found("codex", "Codex is on this machine, but not attached") == ("note", "punchlist install codex")


@pytest.mark.parametrize("host", [name for name in HOSTS if name != "codex"])
def test_an_agent_that_was_just_attached_is_well_and_says_what_it_cannot_do(host: str) -> None:
    assert run("install", host).returncode == 0
    checks = [check for check in examined() if check["about"] == host]
    assert [check["state"] for check in checks] == ["ok", "note"]
    assert checks[0]["text"].endswith(
        ("server, hooks, permission, status-line", "server, hooks", "server, plugin, panel")
    )
    assert installing.installer_for(host).CANNOT in checks[1]["text"]


def test_both_scopes_are_looked_at(own_home: Path) -> None:
    run("install", "claude-code", "--without", "status-line")
    run("install", "claude-code", "--scope", "project")
    texts = [check["text"] for check in examined() if check["about"] == "claude-code"]
    assert texts[0] == "Claude Code is attached for you: server, hooks, permission"
    assert "left out for you: status-line" in texts
    assert "Claude Code is attached in this directory: server, hooks, permission" in texts


def test_in_the_home_folder_your_settings_are_not_taken_for_a_project_s(monkeypatch: pytest.MonkeyPatch) -> None:
    run("install", "claude-code", "--without", "permission")
    monkeypatch.chdir(Path.home())
    texts = [check["text"] for check in examined() if check["about"] == "claude-code"]
    assert sum("asks before every call" in text for text in texts) == 1
    assert not any("in this directory" in text for text in texts)


def snippet(start: str) -> str:
    """A block of the page about clients, with the script that is really there."""
    text = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text()
    block: str = next(one for one in re.findall(r"```\w+\n(.*?)```", text, re.S) if one.startswith(start))
    return block.replace("/home/you/.local/bin/punchlist", SCRIPT)


@pytest.mark.parametrize(
    ("host", "name", "start"),
    [("codex", ".codex/config.toml", "[mcp_servers"), ("oh-my-pi", ".omp/agent/mcp.json", '{\n  "mcpServers"')],
)
def test_a_server_that_the_user_wrote_down_is_no_fault_and_is_said_to_be_theirs(
    host: str, name: str, start: str
) -> None:
    path = Path.home() / name
    path.parent.mkdir(parents=True)
    path.write_text(snippet(start))
    checks = [check for check in examined() if check["about"] == host]
    assert {check["state"] for check in checks} == {"ok", "note"}
    assert sum("is your own; install and uninstall leave it" in check["text"] for check in checks) == 1
    assert not any("not as this version installs it" in check["text"] for check in checks)


def test_hooks_of_an_environment_that_is_gone_are_a_fault() -> None:
    installing.attach("claude-code", installing.here("user", "/gone/bin/punchlist"))
    state, fix = found("claude-code", "it runs /gone/bin/punchlist, which is gone; its hooks do nothing")
    assert (state, fix) == ("problem", "punchlist install claude-code")


def test_hooks_of_another_environment_are_told(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = shutil.copy(SCRIPT, tmp_path / "other" / "punchlist")
    installing.attach("gemini", installing.here("user", str(other)))
    state, fix = found("gemini", f"it runs the punchlist of another environment, {other}")
    assert (state, fix) == ("note", "to use this one: punchlist install gemini")


def test_a_script_that_only_has_our_name_is_a_fault_and_is_not_run(tmp_path: Path) -> None:
    fake = tmp_path / "punchlist"
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    fake.chmod(0o755)
    installing.attach("claude-code", installing.here("project", str(fake)))
    state, _ = found("claude-code", f"it runs {fake}, which is not a script of punchlist")
    assert state == "problem"
    assert not (tmp_path / "was-run").exists()


def test_what_an_older_version_installed_is_told() -> None:
    where = installing.here("user", SCRIPT)
    installing.attach("claude-code", where)
    path = Path.home() / ".claude" / "settings.json"
    said = json.loads(path.read_text())
    said["hooks"]["Stop"][0]["matcher"] = "odd"
    path.write_text(json.dumps(said))
    assert found("claude-code", "it is not as this version installs it for you")[0] == "note"


def test_a_hook_that_is_missing_among_others_is_a_fault() -> None:
    where = installing.here("user", SCRIPT)
    installing.attach("claude-code", where)
    path = Path.home() / ".claude" / "settings.json"
    said = json.loads(path.read_text())
    del said["hooks"]["Stop"]
    said["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = "true"
    path.write_text(json.dumps(said))
    state, fix = found("claude-code", "hooks are missing for you: PreToolUse, Stop")
    assert (state, fix) == ("problem", "punchlist install claude-code")


def test_settings_that_cannot_be_read_are_a_fault() -> None:
    path = Path.home() / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text("{]")
    state, fix = found("gemini", f"{path}: line 1, column 2: expected a key in double quotes, or }}, not ']'.")
    assert (state, fix.startswith("fix the file")) == ("problem", True)


@bound
@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_file_that_must_not_be_read_is_named_once_and_the_other_checks_are_made(host: str) -> None:
    where = installing.here("user", SCRIPT)
    installing.attach(host, where)
    path = Path(installing.locate(installing.parts_of(host, where)[0], host))
    path.chmod(0)
    checks = examined()
    denied = [(check["text"], check["fix"]) for check in checks if check["state"] == "problem"]
    assert denied == [(f"{path} cannot be read: Permission denied", f"chmod u+r {path}")]
    assert {check["about"] for check in checks} == {"punchlist", "store", host, "others"}
    path.chmod(0o600)
    path.parent.chmod(0)
    try:
        assert found(host, " cannot be read: Permission denied") == ("problem", f"chmod u+rx {path.parent}")
    finally:
        path.parent.chmod(0o700)


DENIED = {"permissions": {"allow": ["mcp__punchlist"], "deny": ["mcp__punchlist__plan"]}}
DENIED_IN_PLUGIN = {"permissions": {"allow": ["mcp__punchlist"], "deny": ["mcp__plugin_punchlist_punchlist"]}}


def changed(name: str, **more: Any) -> None:
    path = Path.home() / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


@pytest.mark.parametrize(
    ("host", "file", "more", "words"),
    [
        ("claude-code", ".claude/settings.json", {"disableAllHooks": True}, "hooks are switched off: disableAllHooks"),
        ("claude-code", ".claude/settings.json", DENIED, "the tool is denied: permissions.deny"),
        ("claude-code", ".claude/settings.json", DENIED_IN_PLUGIN, "the tool is denied: permissions.deny"),
        ("claude-code", ".claude/settings.json", {"permissions": {}}, "Claude Code asks before every call"),
        ("gemini", ".gemini/settings.json", {"hooks": {"disabled": ["punchlist"]}}, ""),
        ("opencode", "opencode/opencode.json", {}, ""),
    ],
)
def test_what_keeps_an_attached_agent_from_working_is_a_fault(
    host: str, file: str, more: dict[str, Any], words: str
) -> None:
    run("install", host)
    changed(file, **more)
    texts = [check["text"] for check in examined() if check["about"] == host and check["state"] == "problem"]
    assert [words in text for text in texts] == ([True] if words else [])


def test_a_server_that_an_agent_does_not_trust_or_has_switched_off_is_a_fault() -> None:
    run("install", "gemini")
    run("install", "opencode")
    for name, key, flag in (
        (".gemini/settings.json", "mcpServers", "trust"),
        ("opencode/opencode.json", "mcp", "enabled"),
    ):
        said = json.loads((Path.home() / name).read_text())
        said[key]["punchlist"][flag] = False
        changed(name, **said)
    assert found("gemini", "drops the tool where it cannot ask")[0] == "problem"
    assert found("opencode", "the server is switched off")[0] == "problem"


def test_hooks_that_codex_has_not_been_told_to_trust_are_a_fault_until_they_are() -> None:
    run("install", "codex")
    state, fix = found("codex", "Codex skips hooks that you have not trusted: SessionStart, UserPromptSubmit")
    assert (state, fix) == ("problem", "start codex, and trust them: /hooks")
    trust(Path.home() / ".codex")
    assert [check["state"] for check in examined() if check["about"] == "codex"] == ["ok", "note"]


def trust(folder: Path) -> None:
    """What Codex writes down when its user trusts every hook: a digest of each."""
    hooks = json.loads((folder / "hooks.json").read_text())["hooks"]
    lines = []
    for event, groups in hooks.items():
        label = "".join(f"_{char.lower()}" if char.isupper() else char for char in event)[1:]
        for number, group in enumerate(groups):
            handler = {**group["hooks"][0], "async": False}
            said = {**group, "event_name": label, "hooks": [handler]}
            digest = sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
            key = f"{folder}/hooks.json:{label}:{number}:0"
            lines.append(f'[hooks.state."{key}"]\ntrusted_hash = "sha256:{digest}"\n')
    with (folder / "config.toml").open("a") as file:
        file.write("\n" + "\n".join(lines))


def test_codex_is_asked_for_approval_mode_and_the_switch_of_hooks() -> None:
    run("install", "codex")
    path = Path.home() / ".codex" / "config.toml"
    path.write_text(path.read_text().replace('"approve"', '"prompt"') + "\n[features]\nhooks = false\n")
    assert found("codex", "default_tools_approval_mode")[0] == "problem"
    assert found("codex", "hooks are switched off: features.hooks")[0] == "problem"


# --- how it is shown -------------------------------------------------------------------------------------------------


def test_the_page_groups_checks_and_says_how_to_mend_each() -> None:
    run("install", "codex")
    lines = run("doctor").stdout.splitlines()
    start = lines.index("codex")
    assert lines[start + 1] == "  ✓ Codex is attached for you: server, hooks"
    assert lines[start + 2].startswith("  ! Codex skips hooks")
    assert lines[start + 3] == "      fix: start codex, and trust them: /hooks"
    assert lines[-1].endswith(("problem.", "problems."))


def test_the_page_is_shown_where_only_ascii_can_be() -> None:
    done = run("doctor", PYTHONIOENCODING="ascii")
    assert done.stdout.isascii()
    assert "  x punchlist " in done.stdout

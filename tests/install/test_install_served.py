"""Hooks of Claude Code that the running server answers: installed, kept, taken out, and answered without a process."""

from __future__ import annotations

import json
import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import hosts, ops
from punchlist.core.errors import StoreError
from punchlist.hosts import hook_secret
from punchlist.install.parts import COMMITS, NAME
from punchlist.local.settings import load
from punchlist.mcp.callers import Callers, Given
from punchlist.mcp.server import Server
from tests import commands
from tests.agent.commands import until
from tests.commands import logged_errors
from tests.install.test_install import run
from tests.mcp.raw import Raw

SERVED = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"]


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    return tmp_path / "work"


def faults() -> list[str]:
    """What `doctor` finds wrong with Claude Code."""
    checks = json.loads(commands.run("doctor", "--json").stdout)["checks"]
    return [one["text"] for one in checks if one["about"] == "claude-code" and one["state"] == "problem"]


def hooks(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    return found


def kinds(home: Path) -> dict[str, list[str]]:
    return {event: [one["type"] for group in groups for one in group["hooks"]] for event, groups in hooks(home).items()}


INSTALLED = {  # where its program is, by who installed it
    "npm": "claude-code/bin/claude.exe",
    "npm for one platform": "claude-code/claude",
    "Homebrew": "claude-code/VERSION/claude",
    "its own installer": "claude-code/VERSION",
}


def given_claude(tmp_path: Path, version: str, by: str = "npm") -> dict[str, str]:
    """A program of this version, and the path on which it is found. It cannot be started."""
    program = tmp_path / INSTALLED[by].replace("VERSION", version)
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    if by.startswith("npm"):
        (tmp_path / "claude-code" / "package.json").write_text(json.dumps({"version": version}))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(program)
    return {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}


@pytest.mark.parametrize("by", INSTALLED)
@pytest.mark.parametrize(
    ("version", "kind"), [("2.1.325", "mcp_tool"), ("2.2.0", "mcp_tool"), ("2.1.99", "command"), ("next", "command")]
)
def test_the_server_answers_hooks_if_the_program_is_known_to_have_them(
    version: str, kind: str, by: str, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = given_claude(tmp_path, version, by)["PATH"]
    monkeypatch.setenv("PATH", path)
    run("install", "claude-code")
    assert kinds(own_home)["Stop"] == [kind]
    assert faults() == []
    run("install", "claude-code", "--without", "server")
    assert kinds(own_home)["Stop"] == ["command"]


def test_hooks_stay_as_they_are_when_the_program_is_upgraded(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("install", "claude-code")
    monkeypatch.setenv("PATH", given_claude(tmp_path, "2.1.325")["PATH"])
    run("install", "claude-code")
    assert kinds(own_home)["Stop"] == ["command"]


def test_a_program_that_is_too_old_for_hooks_by_the_server_is_a_problem(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", given_claude(tmp_path, "2.1.99")["PATH"])
    run("install", "claude-code", "--hooks", "server")
    assert faults() == ["this version of Claude Code has no hooks that a server answers"]


def test_hooks_go_to_the_server_except_the_one_that_comes_before_it(own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "server")
    assert kinds(own_home) == {
        "SessionStart": ["command"],
        **{event: ["mcp_tool"] for event in SERVED},
        "PreToolUse": ["mcp_tool"] * 4,
    }
    calls, *commands = hooks(own_home)["PreToolUse"]
    assert calls["matcher"] == "mcp__punchlist__.*|mcp__plugin_punchlist_punchlist__.*"
    rules = [(group["matcher"], group["hooks"][0]["if"]) for group in commands]
    words = ["commit", "r create", "pu*l*st"]
    assert rules == [("Bash", f"Bash(*{one}*)") for one in words], "other commands are left alone"


@pytest.mark.parametrize("words", [NAME, *COMMITS])
def test_a_rule_fits_every_command_that_the_server_wants_to_know_of(own_home: Path, words: str) -> None:
    run("install", "claude-code", "--hooks", "server")
    rules = [group["hooks"][0]["if"] for group in hooks(own_home)["PreToolUse"][1:]]
    fitting = [rule for rule in rules if fnmatchcase(f"Bash(cd here && {words} --now)", rule)]
    assert len(fitting) == 1, "each rule that fits is one more call"


def test_a_further_installation_leaves_them_there_until_another_way_is_named(own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "server")
    before = hooks(own_home)
    assert "nothing had to be changed" in run("install", "claude-code")
    run("install", "claude-code", "--without", "status-line")
    assert hooks(own_home) == before
    assert faults() == []
    assert "not as this version installs it" not in run("doctor")
    run("install", "claude-code", "--hooks", "process")
    assert {kind for found in kinds(own_home).values() for kind in found} == {"command"}


def test_uninstalling_gives_the_same_bytes_back(own_home: Path) -> None:
    path = own_home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"Stop": [{"hooks": [\n {"type": "mcp_tool", "server": "other", "tool": "x"}]}]}}')
    before = path.read_bytes()
    run("install", "claude-code", "--hooks", "server")
    assert kinds(own_home)["Stop"] == ["mcp_tool", "mcp_tool"]
    run("uninstall", "claude-code")
    assert path.read_bytes() == before


def test_without_the_server_they_are_a_fault() -> None:
    run("install", "claude-code", "--hooks", "server", "--without", "server")
    assert faults() == ["hooks are answered by the server, which is not there"]


def test_other_agents_have_no_such_hooks() -> None:
    assert "no hooks that a server answers" in run("install", "codex", "--hooks", "server", code=1)


# --- answered --------------------------------------------------------------------------------------------------------


def heard(client: Raw, event: str, **fields: Any) -> Any:
    """What Claude Code hears: it hands over every field as a text, and what is not there as an empty one."""
    common = {"host": "claude-code", "hook_event_name": event, "session_id": "s", "cwd": os.getcwd(), "agent_id": ""}
    common["secret"] = hook_secret.stored()
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    result = client.result("tools/call", name="hook", arguments={**common, **texts})
    assert result["isError"] is False
    return json.loads(result["content"][0]["text"]) or None


def test_the_server_answers_hooks_as_a_process_would() -> None:
    hook_secret.make()
    with Raw() as client:
        client.greet()
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["plan"]
        heard(client, "UserPromptSubmit", prompt="Mend it.")
        client.say("plan", add=["Read", "Write"])
        used = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}}
        assert heard(client, "PostToolUse", **used, tool_response={"stdout": "fine", "stderr": ""}) is None
        assert heard(client, "PostToolUseFailure", **used, error="Exit code 3", is_interrupt=False) is None
        assert client.result("ping") == {}, "calls are kept behind the answer"
        with punchlist.open(session="s") as desk:
            calls = desk.load(calls=True).items[0].calls
            assert [(call["outcome"], call.get("exit")) for call in calls] == [("ok", None), ("failed", 3)]
            desk.change(lambda plan: ops.add(plan, "Test"))
        told = heard(client, "UserPromptSubmit", prompt="Go on.")
        assert told["hookSpecificOutput"]["additionalContext"] == 'the user added 3 "Test".'
        stop = {"last_assistant_message": "So far.", "background_tasks": [], "session_crons": []}
        assert heard(client, "Stop", **stop)["hookSpecificOutput"]["hookEventName"] == "Stop"
        assert heard(client, "Stop", **{**stop, "background_tasks": [{"id": "1"}]}) is None


def test_a_long_event_counts_as_it_does_for_a_process() -> None:
    hook_secret.make()
    with Raw() as client:
        client.greet()
        assert heard(client, "UserPromptSubmit", prompt="Fix it. " * 700_000) is None
        client.say("plan", add=["Read", "Write"])
        used = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}}
        assert heard(client, "PostToolUse", **used, tool_response={"stdout": "é" * 1_200_000, "stderr": ""}) is None
        assert client.error("tools/call", name="plan", arguments={"add": ["x" * 1_200_000]})["code"] == -32600
    with punchlist.open(session="s") as desk:
        (call,) = desk.load(calls=True).items[0].calls
        assert call["outcome"] == "ok"
    assert logged_errors() == []


def test_an_event_beyond_all_bounds_is_dropped_without_an_error_for_the_agent() -> None:
    hook_secret.make()
    block = b"x" * (1024 * 1024)
    with Raw() as client:
        client.greet()
        client.write(b'{"method":"tools/call","params":{"name":"hook","arguments":{"prompt":"')
        for _ in range(65):
            client.write(block)
        client.write(b'"}},"jsonrpc":"2.0","id":7}\n')
        answer = client.read()
        assert (answer["id"], answer["result"]) == (7, {"content": [{"type": "text", "text": "{}"}], "isError": False})
        assert client.result("ping") == {}
    (line,) = logged_errors()
    assert line.startswith("hook: a message of 68157")
    assert line.endswith("bytes is too long; 67108864 are the most.")


@pytest.mark.parametrize("fields", [{}, {"host": "nobody"}, {"host": "claude-code", "session_id": 7}, {"host": 3}])
def test_an_event_that_makes_no_sense_is_met_with_silence_and_a_line_in_the_log(
    fields: dict[str, Any], own_home: Path
) -> None:
    hook_secret.make()
    with Raw() as client:
        client.greet()
        assert client.call("hook", **fields, secret=hook_secret.stored()) == ("{}", False)
        assert client.say("plan", add=["Read"]) == "added 1; now 1 Read (0/1)"
    assert len(logged_errors()) == 1


# --- who may send events ---------------------------------------------------------------------------------------------


def made_up(client: Raw, **more: str) -> dict[str, Any]:
    """The answer to an event that would end the user's pause."""
    prompt = {"host": "claude-code", "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Go on."}
    return client.ask("tools/call", name="hook", arguments={**prompt, "cwd": os.getcwd(), **more})


def is_paused() -> bool:
    with punchlist.open(session="s") as desk:
        return desk.plan.paused is not None


@pytest.fixture
def paused() -> None:
    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: ops.pause(ops.add(plan, "Read"), "wait for me"))


@pytest.mark.usefixtures("paused")
@pytest.mark.parametrize("more", [{}, {"secret": ""}, {"secret": "wrong"}])
@pytest.mark.parametrize("installed", [True, False])
def test_a_made_up_event_of_any_client_is_refused(installed: bool, more: dict[str, str]) -> None:
    if installed:
        run("install", "claude-code", "--hooks", "server")
    with Raw() as client:
        client.greet()
        assert made_up(client, **more)["error"]["message"].startswith("no tool 'hook'")
    assert is_paused()


@pytest.mark.usefixtures("paused")
def test_a_client_that_says_it_is_the_agent_needs_the_secret_too(own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "server")
    with Raw() as client:
        client.greet("claude-code")
        assert "error" in made_up(client, secret="0" * 48)
        assert is_paused()
        assert "result" in made_up(client, secret=hook_secret.stored())
    assert not is_paused()


@pytest.mark.usefixtures("paused")
def test_hooks_of_an_older_installation_are_ignored_in_silence_until_the_next_one(own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "server")
    path = own_home / ".claude" / "settings.json"
    path.write_text(path.read_text().replace(f'"secret": "{hook_secret.stored()}",', ""))
    with Raw() as client:
        client.greet("claude-code")
        assert made_up(client)["result"] == {"content": [{"type": "text", "text": "{}"}], "isError": False}
    assert is_paused()
    assert "run `punchlist install claude-code` again" in str(logged_errors())
    assert "they do not have the secret" in str(faults())
    run("install", "claude-code")
    assert faults() == []
    assert hooks(own_home)["Stop"][0]["hooks"][0]["input"]["secret"] == hook_secret.stored()


def test_the_secret_is_for_its_owner_only_and_goes_with_the_hooks(own_home: Path) -> None:
    run("install", "claude-code", "--hooks", "server", "--dry-run")
    assert not os.path.exists(hook_secret.path())
    before = os.umask(0)
    try:
        run("install", "claude-code", "--hooks", "server")
    finally:
        os.umask(before)
    assert os.stat(hook_secret.path()).st_mode & 0o777 == 0o600
    assert hook_secret.stored() not in run(
        "install", "claude-code", "--hooks", "server", "--without", "hooks", "--dry-run"
    )
    run("uninstall", "claude-code")
    assert not os.path.exists(hook_secret.path())


def test_files_of_a_project_never_hold_the_secret() -> None:
    assert "a project's files are shared" in run(
        "install", "claude-code", "--hooks", "server", "--scope", "project", code=1
    )


# --- the store behind them -------------------------------------------------------------------------------------------


def opened(client: Raw) -> int:
    """How often the server has the file of the store open."""
    folder = f"/proc/{client.process.pid}/fd"
    return [os.path.realpath(f"{folder}/{one}") for one in os.listdir(folder)].count(str(database()))


def database() -> Path:
    return Path(os.environ["XDG_STATE_HOME"], "punchlist", "punchlist.db").resolve()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc, where one sees which files are open")
def test_all_hooks_that_the_server_answers_share_one_open_store() -> None:
    hook_secret.make()
    with Raw() as client:
        client.greet()
        heard(client, "UserPromptSubmit", prompt="Mend it.")
        used = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}}
        heard(client, "PostToolUse", **used, tool_response="ok")
        heard(client, "Stop", last_assistant_message="Done.")
        assert opened(client) == 1


def test_a_store_that_no_hook_has_used_for_a_minute_is_closed_until_the_next_one() -> None:
    hook_secret.make()
    server = Server(load(), Callers(Given(), {}, hosts))

    def prompt() -> str | None:
        about = {"host": "claude-code", "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": os.getcwd()}
        return hosts.answer_served({**about, "prompt": "Go on.", "secret": hook_secret.stored()}, "claude-code")

    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "Read"))
        assert "Read" in str(prompt())
        ((key, kept),) = hosts.STORES.items()
        server.look()
        assert {key: kept} == hosts.STORES
        hosts.STORES[key] = kept._replace(used=kept.used - 61)
        server.look()
        assert hosts.STORES == {}
        with pytest.raises(StoreError, match="closed"):
            kept.store.plans(1)
        desk.change(lambda plan: ops.add(plan, "Write"))
        assert "Write" in str(prompt())
    ((_, kept),) = hosts.STORES.items()
    server.end()
    assert hosts.STORES == {}
    with pytest.raises(StoreError, match="closed"):
        kept.store.plans(1)


def test_a_check_at_the_end_of_a_turn_is_ended_when_the_client_speaks(work: Path, own_home: Path) -> None:
    """As when the user interrupts it, or writes: nothing waits for a check that nobody waits for."""
    hook_secret.make()
    with Raw(env={"PUNCHLIST_VERIFY": "run"}) as client:
        client.greet()
        heard(client, "UserPromptSubmit", prompt="Fix it.")
        client.say("plan", add=[{"text": "Build", "check": "touch started; test -e slow && sleep 1000"}])
        codes = [commands.run(*words.split()).returncode for words in ("check 1 --approve", "verify 1")]
        assert codes == [0, 1], "it ran once, and took no time"
        (work / "slow").touch()
        (work / "started").unlink()
        client.say("plan", done=[1])
        event = {"host": "claude-code", "hook_event_name": "Stop", "session_id": "s", "cwd": os.getcwd()}
        stop = client.request("tools/call", name="hook", arguments={**event, "secret": hook_secret.stored()})
        until((work / "started").exists, "the check runs")
        ping = client.request("ping")
        assert [client.read()["id"] for _ in range(2)] == [stop, ping]
    assert logged_errors() == []


@pytest.mark.parametrize("way", ["server", "process"])
def test_a_switch_of_models_is_heard_of_where_the_program_knows_that_event(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Once it is there, it stays until all of it goes, whatever is on the path then."""
    before = os.environ["PATH"]
    monkeypatch.setenv("PATH", given_claude(tmp_path, "2.1.325")["PATH"])
    run("install", "claude-code", "--hooks", way)
    assert kinds(own_home)["PostModelSwitch"] == [{"server": "mcp_tool", "process": "command"}[way]]
    monkeypatch.setenv("PATH", before)
    assert "nothing had to be changed" in run("install", "claude-code")
    settings = own_home / ".claude" / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "opus"}))
    run("uninstall", "claude-code")
    assert json.loads(settings.read_text()) == {"model": "opus"}


def test_other_versions_and_projects_have_no_event_that_an_old_program_does_not_know(
    own_home: Path, tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("install", "claude-code", "--hooks", "process")
    assert "PostModelSwitch" not in hooks(own_home)
    monkeypatch.setenv("PATH", given_claude(tmp_path, "2.1.325")["PATH"])
    run("install", "claude-code", "--scope", "project")
    assert "PostModelSwitch" not in json.loads((work / ".claude" / "settings.json").read_text())["hooks"]

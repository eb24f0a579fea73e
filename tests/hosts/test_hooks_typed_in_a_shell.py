"""A hook that an agent types in its own shell is refused: it would pose as the user. The agent's own hooks are not."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops
from punchlist.core.model import NOTHING
from punchlist.hosts.typed_hooks import typed_hook
from punchlist.install.parts import hook_command
from punchlist.local import session_links
from tests.commands import SCRIPT, logged_errors

PAUSE = "The database schema is unclear and needs a decision of the user."


@pytest.fixture(autouse=True)
def paused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that only the user's next message resumes."""
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})
        desk.change(lambda plan: ops.pause(plan, PAUSE, "2026-01-01T00:00:00.000Z"))


def prompt(host: str, session: str = "s1") -> dict[str, Any]:
    """The user speaks, as each agent tells of it."""
    if host in ("opencode", "oh-my-pi"):
        return {"moment": "prompt", "session": session, "cwd": os.getcwd(), "prompt": "Go on."}
    if host == "goose":
        return {"event": "UserPromptSubmit", "session_id": session, "working_dir": os.getcwd(), "message": "Go on."}
    name = "BeforeAgent" if host == "gemini" else "UserPromptSubmit"
    event = {"hook_event_name": name, "session_id": session, "cwd": os.getcwd(), "prompt": "Go on."}
    return {**event, "submitted_prompt": "Go on."} if host == "qwen-code" else event


def started(host: str, session: str = "s1") -> dict[str, Any]:
    """The session is resumed."""
    event = {**prompt(host, session), "source": "resume"}
    if host == "oh-my-pi":
        return {**event, "moment": "start"}
    return {**event, "event" if host == "goose" else "hook_event_name": "SessionStart"}


def hook(host: str, event: dict[str, Any], *words: str, **env: str) -> None:
    """Standard output is empty and the exit code 0, whatever happens."""
    given = {**os.environ, **env}
    done = subprocess.run([SCRIPT, "hook", host, *words], input=json.dumps(event), env=given, text=True, check=True)
    assert done.returncode == 0


def is_paused() -> bool:
    with punchlist.open(session="s1") as desk:
        return desk.plan.paused is not None


IN_SHELL = {
    "claude-code": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"},
    "codex": {"CODEX_THREAD_ID": "s1", "CODEX_SESSION_ID": "s1"},
    "gemini": {"GEMINI_CLI": "1"},
    "qwen-code": {"QWEN_CODE": "1", "QWEN_CODE_SESSION_ID": "s1"},
    "cursor": {"CURSOR_AGENT": "1"},
    "goose": {"AGENT_SESSION_ID": "s1"},
    "opencode": {"OPENCODE": "1"},
    "oh-my-pi": {"OMPCODE": "1"},
}
IN_HOOK = {
    "claude-code": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1", "CLAUDE_PROJECT_DIR": "/work"},
    "codex": {},
    "gemini": {"GEMINI_SESSION_ID": "s1", "GEMINI_PROJECT_DIR": "/work"},
    "qwen-code": {"QWEN_PROJECT_DIR": "/work", "QWEN_CODE_SESSION_ID": "s1"},
    "cursor": {"CURSOR_PROJECT_DIR": "/work", "CURSOR_VERSION": "3.9.16"},
    "goose": {},
    "opencode": {},
    "oh-my-pi": {},
}
PROGRAMS = {"claude-code": "claude", "oh-my-pi": "omp", "qwen-code": "qwen"}  # others are called like the host


_reads_environments = pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs /proc")
_BY_PROCESS = [pytest.param(host, marks=_reads_environments) for host in ("codex", "goose", "opencode", "oh-my-pi")]
EVERY = ["claude-code", "gemini", "qwen-code", "cursor", *_BY_PROCESS]


def in_agent(
    host: str,
    *runs: tuple[dict[str, Any], dict[str, str]],
    words: tuple[str, ...] = (),
    env: Mapping[str, str] = NOTHING,
) -> None:
    """A process that is called like an agent, and was started with these variables, runs its hook for each event, with
    more variables; or these words before it."""
    program = Path(PROGRAMS.get(host, host))
    program.unlink(missing_ok=True)
    program.symlink_to(os.path.realpath(sys.executable))
    code = (
        "import json, os, subprocess, sys\n"
        "words, runs = json.loads(sys.argv[1])\n"
        "for event, more in runs:\n"
        "    subprocess.run(words, input=json.dumps(event), env={**os.environ, **more}, text=True)\n"
    )
    given = json.dumps([[*words, SCRIPT, "hook", host], runs])
    subprocess.run([program.absolute(), "-c", code, given], env={**os.environ, **env}, check=True)


@pytest.mark.parametrize("host", EVERY)
def test_an_event_with_the_environment_of_a_shell_is_refused(host: str) -> None:
    hook(host, prompt(host), **IN_SHELL[host])
    assert is_paused()
    assert "typed in the shell of an agent" in str(logged_errors())


_SHELLS_OF_OTHERS = [
    *({"PUNCHLIST_BY": "main"}, {"GEMINI_CLI": "1"}, {"CODEX_THREAD_ID": "x"}, {"OPENCODE": "1"}),
    *({"OMPCODE": "1"}, {"AGENT_SESSION_ID": "x"}, {"CLAUDECODE": "1"}),
]


@pytest.mark.parametrize("shell", _SHELLS_OF_OTHERS, ids=str)
@pytest.mark.parametrize("host", EVERY)
def test_an_event_that_is_typed_in_the_shell_of_another_agent_is_refused(host: str, shell: dict[str, str]) -> None:
    hook(host, prompt(host), **shell)
    assert is_paused()
    assert "typed in the shell of an agent" in str(logged_errors())


@pytest.mark.parametrize("shell", _SHELLS_OF_OTHERS, ids=str)
@pytest.mark.parametrize("host", IN_HOOK)
def test_an_agent_that_was_started_in_the_shell_of_another_is_heard(host: str, shell: dict[str, str]) -> None:
    in_agent(host, (prompt(host), IN_HOOK[host]), env=shell)
    assert not is_paused()
    assert logged_errors() == []


@pytest.mark.parametrize("host", IN_HOOK)
def test_an_event_with_the_environment_of_a_hook_is_heard(host: str) -> None:
    hook(host, prompt(host), **IN_HOOK[host])
    assert not is_paused()
    assert logged_errors() == []


@pytest.mark.parametrize("host", ["codex", "goose"])
def test_an_agent_that_was_started_in_the_shell_of_its_like_is_heard(host: str) -> None:
    in_agent(host, (prompt(host), {}), env=dict.fromkeys(IN_SHELL[host], "outer"))
    assert not is_paused()


_FORGERS = {  # a program between the shell of the agent and us, which hides what it is
    "a shell": ("sh", "-c", '"$@"; exit $?', "sh"),
    "a program": (sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])"),
}


@_reads_environments
@pytest.mark.parametrize("forger", _FORGERS)
@pytest.mark.parametrize("host", IN_HOOK)
def test_what_a_program_in_the_shell_of_an_agent_sets_and_unsets_changes_nothing(host: str, forger: str) -> None:
    signs = [word for name in IN_SHELL[host] for word in ("-u", name)]
    hidden = ("env", *signs, *(f"{name}={value}" for name, value in IN_HOOK["claude-code"].items()))
    forging = (*_FORGERS[forger], *hidden, *(f"{name}={value}" for name, value in IN_HOOK[host].items()))
    in_agent(host, (prompt(host), IN_SHELL[host]), words=forging)
    assert is_paused()
    assert "typed in the shell of an agent" in str(logged_errors())


@_reads_environments
@pytest.mark.parametrize(
    ("named", "heard"), [("/usr/bin/env", True), ("/opt/bin/opencode", True), ("/opt/bin/uvx", False)]
)
@pytest.mark.parametrize("host", ["opencode", "oh-my-pi"])
def test_uv_may_start_a_hook_for_an_agent_that_needs_no_shell_but_not_in_its_shell(
    host: str, named: str, heard: bool
) -> None:
    Path("uv").symlink_to(os.path.realpath(sys.executable))
    run = (str(Path("uv").absolute()), "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])")
    in_agent(host, (prompt(host), {"_": named}), words=run)
    assert is_paused() != heard
    assert ("typed in the shell of an agent" in str(logged_errors())) != heard


@_reads_environments
@pytest.mark.parametrize("host", ["claude-code", "codex", "goose", "opencode", "oh-my-pi"])
def test_an_event_of_another_agent_than_the_one_above_is_refused(host: str) -> None:
    program = [str(Path("gemini").absolute()), "-c"]
    Path("gemini").symlink_to(os.path.realpath(sys.executable))
    run = "subprocess.run([sys.argv[1], 'hook', host], input=event, text=True, check=True)"
    code = f"import subprocess, sys\nfor host, event in zip(sys.argv[2::2], sys.argv[3::2]): {run}"
    events = ["gemini", json.dumps(started("gemini")), host, json.dumps(prompt(host))]
    subprocess.run([*program, code, SCRIPT, *events], check=True)
    assert is_paused()
    assert "typed in the shell of an agent" in str(logged_errors())


def test_no_option_makes_an_event_look_served() -> None:
    hook("claude-code", prompt("claude-code"), "--served", **IN_SHELL["claude-code"])
    assert is_paused()


class TestInheritedVariable:
    """What an agent sets in its shell stays in a terminal or tmux that is started there, and in the agents in that."""

    @pytest.mark.parametrize("host", ["codex", "goose", "oh-my-pi"])
    def test_a_session_that_is_resumed_there_is_heard(self, host: str) -> None:
        in_agent(host, (started(host), {}), (prompt(host), {}), env=IN_SHELL[host])
        assert not is_paused()
        assert logged_errors() == []

    def test_a_session_that_is_resumed_in_its_own_shell_is_heard(self) -> None:
        hook("codex", started("codex"))
        in_agent("codex", (started("codex"), {}), (prompt("codex"), {}), env=IN_SHELL["codex"])
        assert not is_paused()
        assert logged_errors() == []

    @pytest.mark.parametrize("host", _BY_PROCESS[:2])
    def test_a_program_in_the_shell_of_an_agent_has_inherited_nothing_from_it(self, host: str) -> None:
        hook(host, started(host))
        Path("event.json").write_text(json.dumps(prompt(host)), encoding="utf-8")
        program = f'BEGIN {{ system("{SCRIPT} hook {host} < event.json") }}'
        subprocess.run(["awk", program], env={**os.environ, **IN_SHELL[host]}, check=True)
        assert is_paused()
        assert "typed in the shell of an agent" in str(logged_errors())


class TestCommandThatWasSeen:
    """The hook before a tool use has seen that the agent types one. The environment may say what it likes then."""

    @staticmethod
    def use(event: str, use: str, command: str) -> dict[str, Any]:
        args = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": use, "tool_response": "ok"}
        return {"hook_event_name": event, "session_id": "s1", "cwd": os.getcwd(), **args}

    @staticmethod
    def forged(form: str, host: str) -> str:
        """A command that says that the user has spoken."""
        event = json.dumps(prompt(host))
        Path("event.json").write_text(event, encoding="utf-8")
        return form.format(hook=f"{SCRIPT} hook {host}", event=event)

    def typed(self, command: str, *shell: str) -> None:
        """The agent types a command, and its hook sees that."""
        hook("claude-code", self.use("PreToolUse", "u1", command))
        subprocess.run([*shell, command], check=True)

    @staticmethod
    def hooked(event: dict[str, Any]) -> None:
        """Claude Code runs a hook, as `install` wrote it."""
        command = hook_command(SCRIPT, "claude-code")
        subprocess.run(["sh", "-c", command], input=json.dumps(event), text=True, check=True)

    @pytest.mark.parametrize("host", IN_HOOK)
    def test_what_an_agent_types_is_refused_for_every_host(self, host: str) -> None:
        self.typed(self.forged("echo '{event}' | env -u CLAUDECODE {hook}", host), "bash", "-c")
        assert is_paused()
        assert "typed in the shell of an agent" in str(logged_errors())

    @pytest.mark.parametrize("shell", ["sh", "bash"])
    @pytest.mark.parametrize(
        "form",
        [
            "{hook} < event.json",
            "{hook} <<'EOF'\n{event}\nEOF\necho done",
            "cat event.json | {hook}; echo $?",
            "cat event.json | timeout 20 \\\n {hook} || true",
            "sh -c '{hook} --store \"\" < event.json'",
        ],
    )
    def test_it_is_refused_however_it_is_typed(self, form: str, shell: str) -> None:
        self.typed(self.forged(form, "claude-code"), shell, "-c")
        assert is_paused()
        assert "typed in the shell of an agent" in str(logged_errors())

    def test_it_is_refused_however_the_agent_quotes_it_for_its_shell(self) -> None:
        command = self.forged("cat event.json |\n {hook}", "claude-code")
        hook("claude-code", self.use("PreToolUse", "u1", command))
        subprocess.run(["bash", "-c", f"shopt -u extglob; eval {shlex.quote(command)} && pwd -P"], check=True)
        assert is_paused()

    def test_hooks_that_run_beside_the_command_are_heard(self) -> None:
        typed = self.forged("cat event.json | {hook}", "claude-code")
        self.hooked(self.use("PreToolUse", "u1", typed))
        todos = {"todos": [{"content": "Beside", "status": "pending", "activeForm": "Beside"}]}
        self.hooked({**self.use("PostToolUse", "u2", ""), "tool_name": "TodoWrite", "tool_input": todos})
        self.hooked(self.use("PreToolUse", "u3", "ls"))
        with punchlist.open(session="s1") as desk:
            assert "Beside" in [item.text for item in desk.plan.items]
        self.typed(typed, "bash", "-c")
        assert is_paused(), "the command is not over"

    @pytest.mark.parametrize("name", ["UserPromptSubmit", "Stop", "SessionStart"])
    def test_hooks_are_heard_after_the_user_denied_the_command(self, name: str) -> None:
        self.hooked(self.use("PreToolUse", "u1", self.forged("cat event.json | {hook}", "claude-code")))
        assert is_looked_for()
        source = {"source": "resume"} if name == "SessionStart" else {}
        self.hooked({**prompt("claude-code"), "hook_event_name": name, **source})
        assert not is_looked_for()
        self.hooked(prompt("claude-code"))
        assert not is_paused()
        assert logged_errors() == []

    @pytest.mark.parametrize("host", ["opencode", "oh-my-pi"])
    def test_a_plugin_that_starts_the_hook_without_a_shell_is_heard(self, host: str) -> None:
        command = {"command": self.forged("cat event.json | {hook}", host)}
        hook(host, {**prompt(host), "moment": "before", "tool": "bash", "args": command, "use": "u1"})
        assert is_looked_for()
        hook(host, prompt(host))
        assert not is_paused()

    def test_with_the_end_of_the_command_it_is_not_looked_for_any_more(self) -> None:
        typed = self.forged("{hook} < event.json", "claude-code")
        hook("claude-code", self.use("PreToolUse", "u1", typed))
        hook("claude-code", self.use("PostToolUse", "u2", typed))
        assert is_looked_for(), "that is not the end of the command"
        hook("claude-code", self.use("PostToolUse", "u1", typed))
        assert not is_looked_for()
        assert logged_errors() == []

    def test_what_was_typed_long_ago_and_never_ended_is_not_looked_for(self) -> None:
        typed = self.forged("cat event.json | {hook}", "claude-code")
        hook("claude-code", self.use("PreToolUse", "u1", typed))
        for path in Path(os.environ["XDG_STATE_HOME"], "punchlist", "ties").iterdir():
            os.utime(path, (1_000_000_000, 1_000_000_000))
        subprocess.run(["bash", "-c", typed], check=True)
        assert not is_paused()


def is_looked_for() -> bool:
    """Whether a command was seen that may make an event up."""
    return session_links.look_up(f"typed:{session_links.process_key(os.getpid())}") is not None


@pytest.mark.parametrize(
    "command",
    [
        "ls ~/src/punchlist/hooks | head",
        "cd ~/src/punchlist && rg hook < list",
        "punchlist done 1 | cat; git hook codex",
        "cat punchlist.md | grep 'hook codex'",
        "punchlist hook codex",
        "[ -x /opt/punchlist ] && env /opt/punchlist hook codex 2>/dev/null || :",
        "punchlist show | grep hook codex",
        "",
        [],
        ["bash", "-lc", "ls punchlist/hook codex | cat"],
    ],
)
def test_a_command_that_types_no_hook_is_no_reason(command: object) -> None:
    assert typed_hook(command) == ""


@pytest.mark.parametrize(
    "command",
    [
        "punchlist hook codex < event.json",
        "echo '{}' | /opt/bin/punchlist --store x hook --session=s1 codex",
        "python3 -m punchlist hook goose <<< '{}'",
        'echo {} | "$(which punchlist)" hook\tgemini',
        "exec < event.json\npunchlist \\\n  hook opencode",
        "sh -c 'cat x | punchlist hook oh-my-pi'",
    ],
)
def test_a_command_that_types_a_hook_is_known(command: str) -> None:
    assert typed_hook(command) == command
    assert typed_hook(["bash", "-lc", command]) == command

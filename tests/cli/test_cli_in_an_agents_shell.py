"""`punchlist` in the shell of an agent: at the agent's own plan, as the agent, and never as the user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Plan, ops
from punchlist.local import session_links
from tests import commands

CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
SHELLS = {
    "claude-code": CLAUDE,
    "codex": {"CODEX_THREAD_ID": "s1", "CODEX_SESSION_ID": "s1"},
    "goose": {"AGENT_SESSION_ID": "s1"},
    "gemini": {"GEMINI_CLI": "1"},
    "qwen-code": {"QWEN_CODE": "1", "QWEN_CODE_SESSION_ID": "s1"},
    "opencode": {"OPENCODE": "1"},
    "oh-my-pi": {"OMPCODE": "1", "CLAUDECODE": "1"},
}
NAMED = ["claude-code", "codex", "goose", "qwen-code"]  # that name their session there
USERS_ONLY = [
    ("mode", "act"),
    ("resume",),
    ("stop",),
    ("off",),
    ("on",),
    ("undo",),
    ("redo",),
    ("restore", "1"),
    ("trim", "--older-than", "1d"),
    ("rm", "1"),
    ("clear",),
    ("bind", "--next", "--plan", "x"),
    ("carry", "s1", "s2"),
    ("import", "--format", "json", "-"),
    ("check", "1", "true"),
    ("waive", "1", "--why", "x"),
]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    for session in ("s1", "s2"):  # the plan that was touched last is another's
        with punchlist.open(session=session) as desk:
            desk.call("plan", {"add": [f"{session} first", f"{session} second"]})


def run(*words: str, env: dict[str, str] | None = None, code: int = 0, stdin: str = "") -> str:
    done = commands.run(*words, stdin=stdin, **(env or {}))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def hook(event: str, session: str = "s1", **more: Any) -> None:
    said = {"hook_event_name": event, "session_id": session, "cwd": os.getcwd(), **more}
    run("hook", "claude-code", stdin=json.dumps(said))


def statuses(session: str, agent: str = "main") -> list[str]:
    with punchlist.open(session=session, agent=agent) as desk:
        return [item.status for item in desk.plan.items]


def last(session: str, agent: str = "main") -> tuple[str, str]:
    """Who made the last change of a plan."""
    with punchlist.open(session=session, agent=agent) as desk:
        record = desk.history()[-1]
        return record.by, record.reader


@pytest.mark.parametrize("host", NAMED)
def test_a_command_is_about_the_agents_own_plan_and_by_the_agent(host: str) -> None:
    assert run("done", "1", env=SHELLS[host]) == 'completed 1 "s1 first".\n'
    assert (statuses("s1")[0], statuses("s2")[0]) == ("completed", "in_progress")
    assert last("s1") == ("main", "2/s1/main"), "so it is no update for the agent itself"
    assert " main " in run("log", env=SHELLS[host]).splitlines()[0]


def test_a_sub_agent_of_codex_is_known_by_its_thread() -> None:
    run("add", "Mine", env={"CODEX_THREAD_ID": "t7", "CODEX_SESSION_ID": "s1"})
    assert statuses("s1", "t7") == ["pending"]
    assert last("s1", "t7")[0] == "t7"


@pytest.mark.parametrize("host", SHELLS)
@pytest.mark.parametrize("words", USERS_ONLY, ids=lambda words: words[0])
def test_what_only_the_user_may_do_is_refused(host: str, words: tuple[str, ...]) -> None:
    said = run(*words, env=SHELLS[host], code=1)
    assert f"{words[0]} is for the user" in said
    assert "terminal of your own" in said


@pytest.mark.parametrize("host", SHELLS)
def test_what_the_user_completed_is_not_started_again(host: str) -> None:
    with punchlist.open(session="s1") as desk:
        desk.change(lambda plan: ops.complete(plan, "1"))
    said = run("--session", "s1", "start", "1", env=SHELLS[host], code=1)
    assert said == 'punchlist: 1 "s1 first" was closed by the user; it stays completed.\n'
    assert statuses("s1")[0] == "completed"


UNHEARD = [
    (("rename", "2", "Mine"), lambda plan: ops.rename(plan, "2", "Yours"), "rename 2", "renamed"),
    (("start", "2"), lambda plan: ops.block(plan, "2", why="no access"), "start 2", "blocked"),
    (("done", "2"), lambda plan: ops.block(plan, "2", why="no access"), "done 2", "blocked"),
    (("unblock", "2"), lambda plan: ops.block(plan, "2", why="no access"), "unblock 2", "blocked"),
    (("drop", "2", "--why", "no need"), lambda plan: ops.note(plan, "2", "Keep it"), "drop 2", "noted on"),
]


@pytest.mark.parametrize(("words", "edit", "asked", "kind"), UNHEARD, ids=[row[2] for row in UNHEARD])
def test_an_edit_that_the_agent_has_not_heard_of_is_told_and_not_undone(
    words: tuple[str, ...], edit: Callable[[Plan], Plan], asked: str, kind: str
) -> None:
    with punchlist.open(session="s1") as desk:
        mine = desk.change(edit).plan
        said = run(*words, env=CLAUDE, code=1)
        assert f"the user {kind} 2" in said
        assert f"{asked} was not applied: the user {kind} it; say it again if you still mean it." in said
        assert desk.plan.items == mine.items
        run(*words, env=CLAUDE)
        assert desk.plan.items != mine.items, "it has heard of it now"
        assert desk.take_updates() == [], "and hears of it once"


@pytest.mark.parametrize("host", NAMED)
def test_an_agent_removes_nothing_with_an_editor(host: str, tmp_path: Path) -> None:
    text = run("show", "--markdown", env=SHELLS[host])
    draft = tmp_path / "plan.md"
    draft.write_text("".join(line for line in text.splitlines(keepends=True) if "second" not in line), encoding="utf-8")
    said = run("edit", "--file", str(draft), env=SHELLS[host], code=1)
    assert 'only the user removes 2 "s1 second"' in said
    assert statuses("s1") == ["in_progress", "pending"]


@pytest.mark.parametrize("host", SHELLS)
def test_nobody_becomes_the_user_by_saying_so(host: str) -> None:
    claims = {**SHELLS[host], "PUNCHLIST_BY": "user"}
    assert "rm is for the user" in run("--session", "s1", "rm", "1", env=claims, code=1)
    run("--session", "s1", "done", "1", env=claims)
    assert last("s1")[0] == "main"


def test_what_another_agent_completed_or_works_on_is_not_started() -> None:
    with punchlist.open(session="s1") as desk:
        plan = desk.plan.id
    with punchlist.open(session="s1", agent="w1", plan=plan) as desk:
        desk.call("plan", {"start": [2]})
        desk.call("plan", {"add": ["third"], "done": [2]})
    assert statuses("s1") == ["in_progress", "completed", "in_progress"]
    assert '2 "s1 second" was closed by agent w1' in run("start", "2", env=CLAUDE, code=1)
    assert '3 "third" is being worked on by agent w1' in run("start", "3", env=CLAUDE, code=1)
    assert statuses("s1") == ["in_progress", "completed", "in_progress"]


@pytest.mark.parametrize("words", [("--session", "s2"), ("--plan",), ("--agent", "helper"), ("--session", "new")])
def test_an_agent_changes_no_plan_but_its_own(words: tuple[str, ...]) -> None:
    if words == ("--plan",):
        with punchlist.open(session="s2") as desk:
            words = ("--plan", desk.plan.id)
    for command in (("done", "1"), ("add", "Mine"), ("edit", "--file", os.devnull)):
        assert "not the plan of the agent in this shell" in run(*words, *command, env=CLAUDE, code=1)
    assert statuses("s2") == ["in_progress", "pending"]
    run(*words, "show", env=CLAUDE)


def test_its_own_plan_can_be_named_and_another_that_the_user_bound_it_to() -> None:
    run("--session", "s1", "add", "Third", env=CLAUDE)
    with punchlist.open(session="s2") as desk:
        plan = desk.plan.id
    run("bind", "--session", "s1", "--plan", plan)
    run("--plan", plan, "done", "1", env=CLAUDE)
    assert statuses("s2")[0] == "completed"


def test_a_variable_does_not_lead_an_agent_to_another_plan() -> None:
    assert "not the plan" in run("done", "1", env={**CLAUDE, "PUNCHLIST_SESSION": "s2"}, code=1)
    ours = {"PUNCHLIST_BY": "w1", "PUNCHLIST_SESSION": "s1", "PUNCHLIST_AGENT": "main"}
    assert "not the plan" in run("done", "1", env=ours, code=1)


def test_a_call_in_an_agents_shell_is_held_to_the_same() -> None:
    said = json.loads(run("call", "plan", env=CLAUDE, stdin='{"done": [1]}'))
    assert said["is_error"] is False
    assert statuses("s1")[0] == "completed"
    assert "not the plan" in run("call", "plan", "--session", "s2", env=CLAUDE, stdin='{"done": [1]}', code=1)
    assert statuses("s2")[0] == "in_progress"


# --- which agent, and whether it is one ------------------------------------------------------------------------------


def test_a_hook_that_sees_the_command_says_which_agent_types_it() -> None:
    used: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "punchlist add Mine"}}
    hook("PreToolUse", agent_id="helper", **used)
    run("add", "Mine", env=CLAUDE)
    assert statuses("s1", "helper") == ["pending"]
    hook("PostToolUse", agent_id="helper", **used, tool_response={"stdout": "added"})
    run("add", "More", env=CLAUDE)
    assert len(statuses("s1")) == 3


def test_where_two_agents_use_a_shell_at_once_nothing_is_changed() -> None:
    for number, agent in enumerate(("helper", "other")):
        use: dict[str, Any] = {
            "tool_name": "Bash",
            "tool_use_id": f"t{number}",
            "tool_input": {"command": "punchlist done 1"},
        }
        hook("PreToolUse", agent_id=agent, **use)
    assert "not known which one you are" in run("done", "1", env=CLAUDE, code=1)


def test_the_agents_process_tells_where_the_environment_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process above is this test. Hooks tie it as an agent's, and its name is not that of one."""
    hook("UserPromptSubmit", prompt="Go on.")
    run("show")
    assert run("done", "1") == 'completed 1 "s2 first".\n', "a program that is no agent has run a hook"
    session_links.link(session_links.process_key(os.getpid()), session_links.AgentRef("s1", "main", "punchlist"))
    assert "is for the user" in run("mode", "plan", code=1)
    assert run("done", "1") == 'completed 1 "s1 first".\n'


def as_claude(*words: str, **how: Any) -> None:
    """A process that is called like Claude Code: its hook links it to a session, and then it runs a command itself."""
    program = Path("claude").absolute()
    program.unlink(missing_ok=True)
    program.symlink_to(os.path.realpath(sys.executable))
    code = (
        "import json, subprocess, sys\n"
        "script, event, words, how = json.loads(sys.argv[1])\n"
        "subprocess.run([script, 'hook', 'claude-code'], input=json.dumps(event), text=True, start_new_session=True)\n"
        "sys.exit(subprocess.run([word.replace('SCRIPT', script) for word in words], **how).returncode)\n"
    )
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": os.getcwd(), "prompt": "Go on."}
    given = json.dumps([commands.SCRIPT, event, words, how])
    subprocess.run([program, "-c", code, given], check=False)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs the name that a link gives to a process")
def test_what_the_agents_program_starts_itself_is_the_users_and_what_its_shell_runs_is_not() -> None:
    """Claude Code runs what its model types in a session of the kernel apart, and the panel's commands in its own."""
    for words in (["SCRIPT"], ["env", "-u", "CLAUDECODE", "SCRIPT"], ["sh", "-c", "exec SCRIPT --session s1 rm 2"]):
        as_claude(*words, "--session", "s1", "rm", "2", start_new_session=True)
        assert len(statuses("s1")) == 2, words
    as_claude("awk", 'BEGIN { system("SCRIPT --session s1 rm 2") }')
    assert len(statuses("s1")) == 2, "a program of its own, as a server is, does not speak for the user"
    as_claude("SCRIPT", "--session", "s1", "rm", "2", env={**os.environ, "CLAUDECODE": "1"})
    assert len(statuses("s1")) == 2, "as in a shell"
    as_claude("SCRIPT", "--session", "s1", "rm", "2")
    assert len(statuses("s1")) == 1
    assert last("s1")[0] == "user"
    as_claude("sh", "-c", "SCRIPT --session s1 done 1; true")
    assert last("s1")[0] == "user", "a script may be between them"


def test_a_person_in_a_terminal_of_their_own_is_the_user() -> None:
    run("show")
    run("done", "1")
    assert last("s2") == ("user", "")

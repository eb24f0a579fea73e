"""What only Claude Code has: `/clear` in a running program, its tasks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.agents import Setup, claude_code
from tests.clients.script import Step, does, own, plan, says, shell
from tests.clients.stage import SCRIPT, Stage, attached, staged

WAITING = [  # one for each of seventeen languages
    *("Wait.", "Hör auf", "Detente", "Ne continue pas", "Fermati", "Pare", "Stop ermee", "Przestań", "Dur", "Стой"),
    *("ちょっと待って", "先不要继续", "그만", "توقف", "עצור", "रुको", "หยุด", "Dừng lại"),
]
ROOT = {"IS_SANDBOX": "1"}  # it does not let root leave out all questions otherwise
SERVED = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "PostModelSwitch"]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with attached("claude-code", tmp_path) as stage:
        yield stage


@pytest.fixture(params=["server", "process"])
def either(request: pytest.FixtureRequest, stage: Stage) -> Stage:
    """With hooks that its server answers, as they are installed by default, and with hooks that are processes."""
    if request.param == "process":
        stage.punchlist("install", "claude-code", "--hooks", "process")
    elsewhere = [event for event, [group, *_] in hooks(stage).items() if group["hooks"][0]["type"] != "command"]
    assert elsewhere == (SERVED if request.param == "server" else [])
    return stage


def hooks(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((stage.home / ".claude" / "settings.json").read_text())["hooks"]
    return found


def ask(process: subprocess.Popen[str], prompt: str) -> None:
    """Type something into a program that runs, and wait until it has answered."""
    assert process.stdin
    assert process.stdout
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        if json.loads(line)["type"] == "result":
            return
    raise AssertionError("it ended before it had answered")


def test_a_fork_of_a_session_has_a_copy_of_its_plan(stage: Stage) -> None:
    stage.run("Mend the parser.", does(plan(add=["Read it", "Mend it"])), says("Which way do you want it?"))
    first = stage.plan
    stage.run(
        "Try the other way.",
        does(plan(done=[1])),
        says("Which one do you want now?"),
        resume=True,
        setup=Setup(args=("--fork-session",)),
    )
    assert "- now 1 Read it\n- 2 Mend it\n" in stage.requests[-2].heard
    assert "now 2 Mend it (1/2)" in stage.requests[-1].heard
    plans = json.loads(stage.punchlist("plans", "--json"))
    assert [(one["parent"], one["completed"]) for one in plans] == [(first["id"], 1), ("", 0)]


@pytest.mark.settings
def test_after_clear_the_running_server_still_reaches_the_plan(either: Stage) -> None:
    """Its environment names the session that was: it knows better from the hooks."""
    stage = either
    steps = [
        does(plan(add=["Read the parser", "Mend it"])),
        says("Shall I go on?"),
        does(plan(done=[1])),
        does(shell("echo mending")),
        says("Is that all?"),
    ]
    stage.model.play({"": steps})
    process = stage.start("", setup=Setup(args=("--input-format", "stream-json")), stdin=subprocess.PIPE)
    ask(process, "Mend the parser.")
    ask(process, "/clear")
    ask(process, "Go on.")
    stage.finish(process)
    stage.require_played()
    assert stage.requests[2].heard.count("Your plan; what is open:\n- now 1 Read the parser\n- 2 Mend it\n") == 1
    [one] = json.loads(stage.punchlist("plans", "--json"))
    assert len(one["sessions"]) == 2, "the plan went from the old session to the new one"
    assert stage.items == [("Read the parser", "completed"), ("Mend it", "in_progress")]
    assert "mending" in str(stage.plan["items"][1]["calls"])
    assert stage.errors == []


def test_whoever_says_stop_or_wait_in_any_of_many_languages_is_not_overridden(stage: Stage) -> None:
    """Also where the agent has just changed the plan. After a `/clear` it is left alone until it does so again."""

    def edited(number: int) -> list[Step]:
        return [does(plan(edit=[{"id": 2, "text": f"Mend it, {number}"}])), says("So it is.")]

    steps = [step for number, _ in enumerate(WAITING) for step in edited(number)]
    made = [does(plan(add=["Read the parser", "Mend it"])), says("Which one first?")]
    cleared = [says("Hello to you."), *edited(-1), says("I go on.")]
    stage.model.play({"": [*made, *steps, *cleared]})
    process = stage.start("", setup=Setup(args=("--input-format", "stream-json")), stdin=subprocess.PIPE)
    for prompt in ("Mend the parser.", *WAITING, "/clear", "hello"):
        ask(process, prompt)
        assert "nudge" not in stage.events, prompt
    ask(process, "Have another look at the second one.")
    stage.finish(process)
    stage.require_played()
    assert stage.events.count("nudge") == 1, "in planned work it is nudged again"
    assert stage.errors == []


def test_its_tasks_become_the_plan_and_edits_come_back_as_news(stage: Stage) -> None:
    stage.run(
        "Mend the parser.",
        does(own("TaskCreate", subject="Read the parser", description="All of it.")),
        does(own("TaskCreate", subject="Mend it", description="With a test.")),
        does(own("TaskUpdate", taskId="1", status="in_progress")),
        does(shell("echo reading"), first=lambda: stage.punchlist("rename", "2", "Mend it well")),
        does(own("TaskUpdate", taskId="1", status="completed")),
        does(own("TaskUpdate", taskId="2", status="in_progress")),
        does(own("TaskList")),
        says("Is that all?"),
        setup=claude_code.TASKS,
    )
    assert stage.items == [("Read the parser", "completed"), ("Mend it well", "in_progress")]
    assert stage.requests[-1].heard.count('the user renamed "Mend it" to "Mend it well".') == 1
    assert "reading" in str(stage.plan["items"][0]["calls"])
    assert stage.errors == []


@pytest.mark.parametrize("model", claude_code.MODELS)
def test_tasks_of_a_session_from_before_are_its_plan(tmp_path: Path, model: str) -> None:
    """A session makes tasks before we are attached; resumed afterwards, it goes on with them."""
    setup = claude_code.TASKS._replace(model=model)
    with staged("claude-code", tmp_path) as stage:
        stage.run(
            "Mend the parser.",
            does(own("TaskCreate", subject="Read the parser", description="All of it.")),
            does(own("TaskCreate", subject="Mend it", description="With a test.")),
            does(own("TaskUpdate", taskId="1", status="in_progress")),
            says("Shall I go on?"),
            setup=setup,
        )
        stage.punchlist("install", "claude-code", "--via", "settings")
        stage.run(
            "Go on.",
            does(own("TaskUpdate", taskId="1", status="completed")),
            does(own("TaskUpdate", taskId="2", status="in_progress")),
            says("Is that all?"),
            resume=True,
            setup=setup,
        )
        heard = stage.requests[-3].heard
        assert heard.count("Your plan; what is open:\n- now 1 Read the parser\n- 2 Mend it\n") == 1
        assert stage.items == [("Read the parser", "completed"), ("Mend it", "in_progress")]
        [one] = json.loads(stage.punchlist("plans", "--json"))
        assert (one["program"], len(one["sessions"])) == ("claude-code", 1)
        assert stage.errors == []


@pytest.mark.settings
def test_hooks_say_the_same_with_a_process_and_without(either: Stage) -> None:
    """The running server answers them, by a tool that the model does not see."""
    stage = either
    stage.run(
        "Mend the parser.",
        does(plan(add=["Read the parser", "Mend it"])),
        does(shell("echo reading"), first=lambda: stage.punchlist("rename", "2", "Mend it well")),
        does(shell("exit 3")),
        says("So far."),
        *stage.agent.delegated("LOOK for callers"),
        does(plan(done=[1])),
        says("Is that all?"),
        LOOK=[does(plan(add=["Look for callers"])), does(plan(done=[1])), says("There are three.")],
    )
    assert "mcp__punchlist__hook" not in stage.requests[0].names
    heard = stage.requests[-1].heard
    assert heard.count('the user renamed 2 "Mend it" to "Mend it well".') == 1
    assert heard.count("The plan is not finished:") == stage.agent.ECHOES
    assert stage.items == [("Read the parser", "completed"), ("Mend it well", "in_progress")]
    read, failed, _ = stage.plan["items"][0]["calls"]
    assert (read["text"], read["outcome"], failed["outcome"]) == ("reading", "ok", "failed")
    assert stage.events == ["nudge", "stop"]
    assert stage.errors == []
    stage.punchlist("uninstall", "claude-code")
    assert not (stage.home / ".claude" / "settings.json").exists()


def test_a_plugin_that_brings_our_server_and_hooks_is_spoken_to_in_the_words_of_our_tool(tmp_path: Path) -> None:
    """Its tool has another name there: `mcp__plugin_punchlist_punchlist__plan`."""
    from punchlist.hosts.claude_code import HOST
    from punchlist.hosts.host import own_tools

    plugin = tmp_path / "punchlist"
    command = {"hooks": [{"type": "command", "command": f"{SCRIPT} hook claude-code", "timeout": 10}]}
    events: dict[str, Any] = {name: [command] for name in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")}
    events["PreToolUse"] = [{"matcher": own_tools(HOST), **command}]
    server = {"type": "stdio", "command": SCRIPT, "args": ["mcp"], "alwaysLoad": True}
    about = {"name": "punchlist", "version": "0.1.0", "description": "x", "mcpServers": {"punchlist": server}}
    files = {".claude-plugin/plugin.json": about, "hooks/hooks.json": {"hooks": events}}
    for name, content in files.items():
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        (plugin / name).write_text(json.dumps(content))
    tool = "mcp__plugin_punchlist_punchlist__plan"
    with staged("claude-code", tmp_path / "stage") as stage:
        stage.run(
            "Mend the parser.",
            does(own(tool, add=[{"text": "Read"}, {"text": "Mend"}])),
            does(shell("echo reading")),
            says("So far."),
            says("Which one do you mean?"),
            setup=Setup(args=("--plugin-dir", str(plugin), "--permission-mode", "bypassPermissions"), environ=ROOT),
        )
        assert tool in stage.requests[0].names
        assert 'now 1 "Read" (0/2)' in stage.requests[-1].latest
        assert "If the item is done, mark it done." in stage.requests[-1].latest
        assert stage.items == [("Read", "in_progress"), ("Mend", "pending")]
        assert [call["name"] for call in stage.plan["items"][0]["calls"]] == ["Bash"]
        assert stage.errors == []


@pytest.mark.parametrize("model", claude_code.MODELS)
def test_hooks_that_have_nothing_to_say_add_nothing_to_the_conversation(model: str, tmp_path: Path) -> None:
    with attached("claude-code", tmp_path) as stage:
        steps = [does(shell("echo on")), says("Hello?")]
        stage.run("Hello.", *steps, setup=Setup(model=model))
        assert not [request for request in stage.requests if "hook success" in json.dumps(request.body)]

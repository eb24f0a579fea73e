"""MCP prompts in the real agents: what the user types there is their edit, and its one line is what the model reads."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.agents import OTHERS, PATHS, Setup, claude_code
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import SCRIPT, Stage, built

GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "1"}}
MESSAGES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING},
    {"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {"name": "done"}},
]
TYPED = f"printf '%s\\n' {' '.join(shlex.quote(json.dumps(one)) for one in MESSAGES)} | {SCRIPT} mcp"
PAUSE = {"claude-code": f"/{claude_code.SPACE}pause lunch", "gemini": "/pause lunch"}


@pytest.fixture
def ready(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """The agent that is named, attached."""
    stage = built(request.param, tmp_path)
    try:
        stage.attach()
        yield stage
    finally:
        stage.model.close()


@pytest.mark.parametrize("ready", ["claude-code"], indirect=True)
def test_a_command_of_the_user_is_their_edit_and_told_once(ready: Stage) -> None:
    ready.run("Fix it.", does(plan(add=["Read the parser", "Fix it"])), says("Which one is it?"))
    ready.run(f"/{claude_code.SPACE}add Ask Ann about it", says("What is next?"), resume=True)
    assert _times(ready, 'The user added 3 "Ask Ann about it".') == 1
    ready.run(f"/{claude_code.SPACE}drop 2 not needed any more", says("What is next?"), resume=True)
    assert _times(ready, 'The user dropped 2 "Fix it": "not needed any more".') == 1
    ready.run(f"/{claude_code.SPACE}show", says("What is next?"), resume=True)
    assert _times(ready, "- dropped 2 Fix it: not needed any more") == 1
    assert _times(ready, 'added 3 "Ask Ann about it"') == 1
    assert [text for text, _ in ready.items] == ["Read the parser", "Fix it", "Ask Ann about it"]
    assert ready.items[1][1] == "abandoned"
    [one] = json.loads(ready.punchlist("plans", "--json"))
    assert (one["program"], len(one["sessions"])) == ("claude-code", 1)
    assert ready.errors == []


@pytest.mark.parametrize("ready", ["gemini"], indirect=True)
def test_a_session_can_begin_with_a_command(ready: Stage) -> None:
    """Headless, Gemini CLI does not see a command behind the plan that a session is told when it starts."""
    ready.run("/add Ask Ann about it", does(plan(done=[1])), says("What is next?"))
    assert _times(ready, 'The user added 1 "Ask Ann about it".') == 1
    assert ready.items == [("Ask Ann about it", "completed")]
    [one] = json.loads(ready.punchlist("plans", "--json"))
    assert (one["program"], len(one["sessions"])) == ("gemini", 1)
    assert ready.errors == []


def _times(stage: Stage, words: str) -> int:
    """How often the model reads something in the last request; some agents quote a prompt as JSON."""
    return stage.requests[-1].heard.replace('\\"', '"').count(words)


@pytest.mark.parametrize("ready", PAUSE, indirect=True)
def test_a_pause_by_command_lasts(ready: Stage) -> None:
    ready.run(PAUSE[ready.name], says("I have stopped."))
    assert ready.plan["paused"]["reason"] == "lunch"
    assert ready.errors == []


@pytest.mark.parametrize("ready", ["claude-code", "gemini"], indirect=True)
def test_a_model_cannot_run_the_commands_of_the_user_in_its_shell(ready: Stage) -> None:
    ready.run("Fix it.", does(plan(add=["Read the parser"])), does(shell(TYPED)), says("Which one is it?"))
    assert "Mark the item of the plan that you are working on as done." in ready.requests[-1].heard
    assert ready.items == [("Read the parser", "in_progress")]
    assert ready.errors == []


@pytest.mark.parametrize("ready", ["opencode"], indirect=True)
def test_an_agent_that_makes_templates_of_prompts_has_its_model_carry_them_out(
    ready: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(world: object, prompt: str, resume: bool, setup: Setup) -> list[str]:
        program = str(ready.world.program)
        return [program, "run", "--format", "json", "--auto", "--command", "punchlist:add", prompt]

    monkeypatch.setattr(ready.agent, "command", command)
    ready.run("Ask Ann about it", does(plan(add=["Ask Ann about it"])), says("Done?"))
    assert 'Add this to the plan: "Ask Ann about it".' in ready.requests[0].heard
    assert [text for text, _ in ready.items] == ["Ask Ann about it"]
    assert ready.errors == []


@pytest.mark.parametrize("ready", [*PATHS, *OTHERS], indirect=True)
def test_no_model_reads_of_resources_because_of_us(ready: Stage) -> None:
    """Some agents have tools for resources whatever their servers offer; others only if one of them has any."""
    ready.punchlist("uninstall", ready.name)
    ready.run("Hello.", says("Hello?"))
    before = _about_resources(ready)
    ready.punchlist("install", ready.name, "--via", "settings")
    ready.run("Hello.", says("Hello?"))
    assert "A plan for work of three or more steps" in json.dumps(ready.requests[-1].body)
    assert _about_resources(ready) == before


def _about_resources(stage: Stage) -> list[str]:
    return re.findall(
        r"\w*mcp_?resource\w*|supports resources|resources: \w+", json.dumps(stage.requests[-1].body), re.I
    )

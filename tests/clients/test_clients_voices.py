"""How much a model is told depends on its name: which text is in the first request, and what a switch does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from punchlist.prompts import say
from tests.clients.agents import OTHERS, PATHS, Setup, claude_code
from tests.clients.model import Request
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import Stage, attached, built

SMALL = "claude-haiku-4-5"
BRIEF, FULL = say("native"), say("native.full")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with attached("claude-code", tmp_path) as stage:
        yield stage


def described(request: Request) -> str:
    """The description of our tool, as it is in a request."""
    [tool] = [tool for tool in request.body["tools"] if tool["name"] == claude_code.TOOL]
    text: str = tool["description"]
    return text


def send(process: subprocess.Popen[str], message: dict[str, Any], answer: str) -> None:
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        if json.loads(line)["type"] == answer:
            return
    raise AssertionError("it ended before it had answered")


def ask(process: subprocess.Popen[str], prompt: str) -> None:
    send(process, {"type": "user", "message": {"role": "user", "content": prompt}}, "result")


@pytest.mark.parametrize(
    ("model", "wanted"),
    [(claude_code.NEWEST, BRIEF), (claude_code.OLDER, BRIEF), (SMALL, FULL)],
    ids=["newest", "older", "small"],
)
def test_the_first_request_has_the_text_for_its_model(stage: Stage, model: str, wanted: str) -> None:
    """Nobody names the model before a session's first request: the first session of all has the brief text."""
    for expected in (BRIEF, wanted):
        stage.run("Are you there?", says("I am."), setup=Setup(model=model))
        assert described(stage.requests[-1]) == expected
    stage.configure('voice = "full"')
    stage.run("Are you there?", says("I am."), setup=Setup(model=model))
    assert described(stage.requests[-1]) == FULL
    stage.configure(f'[voices]\n"{model}" = "brief"')
    stage.run("Are you there?", says("I am."), setup=Setup(model=model))
    assert described(stage.requests[-1]) == BRIEF
    assert stage.errors == []


@pytest.mark.settings
@pytest.mark.parametrize("hooks", ["server", "process"])
def test_the_text_never_changes_in_a_session_and_a_small_model_that_takes_over_is_told_more(
    stage: Stage, hooks: str
) -> None:
    stage.punchlist("install", "claude-code", "--hooks", hooks)
    steps = [does(plan(add=["Read it", "Mend it"])), does(shell("echo read")), says("Shall I go on?")]
    stage.model.play({"": [*steps, says("Is that all?"), says("What do you want next?")]})
    process = stage.start("", setup=Setup(args=("--input-format", "stream-json")), stdin=subprocess.PIPE)
    ask(process, "Mend the parser.")
    for number, model in enumerate([SMALL, claude_code.NEWEST]):
        switch = {"subtype": "set_model", "model": model}
        send(process, {"type": "control_request", "request_id": f"r{number}", "request": switch}, "control_response")
        ask(process, "Go on.")
    stage.finish(process)
    stage.require_played()
    assert [described(request) for request in stage.requests] == [BRIEF] * 5
    assert [request.heard.count(FULL) for request in stage.requests] == [0, 0, 0, 1, 1]
    assert [request.body["model"] for request in stage.requests[2:]] == [claude_code.NEWEST, SMALL, claude_code.NEWEST]
    assert stage.errors == []


@pytest.mark.parametrize("name", [*PATHS, *OTHERS])
def test_every_agent_says_which_model_it_has(name: str, tmp_path: Path) -> None:
    stage = built(name, tmp_path)
    with closing(stage.model):
        stage.attach()
        stage.run("Mend the parser.", does(plan(add=["Read it", "Mend it"])), says("Shall I go on?"))
        [noted] = (stage.home / "state" / "punchlist" / "models").iterdir()
        asked = stage.requests[0].body.get("model", "gemini-")  # its requests name it in the address only
        assert noted.read_text().startswith(asked)
        assert stage.errors == []

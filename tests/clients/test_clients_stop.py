"""An agent that stops in the middle of planned work is nudged once; when the user just talks it is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients.agents import OTHERS, PATHS, Setup
from tests.clients.model import Request
from tests.clients.script import Step, does, plan, says, shell
from tests.clients.stage import Stage, attached, built

TEXTS = ["Read the parser", "Mend it", "Run the tests"]
NUDGE = "The plan is not finished:"
YIELDS = "The user's last message comes first: if it asked for something else, for only a part, or to stop or wait,"
AGAIN = "Your plan; what is open:\n- now 1 Read the parser\n- 2 Mend it\n- 3 Run the tests\n"


@pytest.fixture(params=[*PATHS, *OTHERS])
def any_agent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Each agent in turn, attached."""
    stage = built(request.param, tmp_path)
    with closing(stage.model):
        stage.attach()
        yield stage


def nudges(request: Request) -> int:
    """How often the agent was nudged before this request."""
    return request.latest.count(NUDGE)


def talked(stage: Stage, prompt: str, *steps: Step) -> None:
    """The user says something in the session that is there, the agent answers, and is left alone."""
    stage.run(prompt, *steps, resume=True)
    assert [nudges(request) for request in stage.requests] == [0] * len(steps), prompt


def test_an_agent_is_nudged_in_planned_work_and_left_alone_when_the_user_just_talks(any_agent: Stage) -> None:
    """A plain `opencode run` ends with its turn: there no nudge is counted."""
    stage, can_be_nudged = any_agent, any_agent.name != "opencode"
    going_on = [does(shell("touch read"), plan(done=[1])), says("And now?")] if can_be_nudged else []
    stage.run("Mend the parser.", does(plan(add=TEXTS)), says("I have made a plan."), *going_on)
    assert [nudges(request) for request in stage.requests] == [0, 0, 1, 0][: 4 if can_be_nudged else 2]
    if can_be_nudged:
        assert YIELDS in stage.requests[2].latest
        assert stage.items[0] == ("Read the parser", "completed"), "it went on"
        talked(stage, "Why did you choose sqlite?", says("It is one file."))
        talked(stage, "Just explain the design.", says("There is a lexer and a parser."))
        talked(stage, "thanks", says("You are welcome."))
        talked(stage, "What does notes.txt say?", does(shell("cat /dev/null")), says("Nothing."))
        talked(stage, "Fix the typo in README.md.", does(shell("touch README.md")), says("It is fixed."))
        talked(stage, "先不要继续", does(plan(edit=[{"id": 2, "text": "Mend it all"}])), says("好。"))
    talked(stage, "Do only item 2.", does(plan(done=[2])), says("Item 2 is done."))
    assert stage.events.count("nudge") == can_be_nudged
    assert stage.errors == []


def test_one_nudge_that_led_to_nothing_is_enough_and_a_pause_is_the_way_out(stage: Stage) -> None:
    stage.run("Mend the parser.", does(plan(add=TEXTS)), says("I have made a plan."), says("It is a good plan."))
    assert [nudges(request) for request in stage.requests] == [0, 0, 1]
    stage.run("Go on.", says("I will."), says("It is a good way."), resume=True)
    assert [nudges(request) for request in stage.requests] == [0, 1]
    assert [request.heard.count(AGAIN) for request in stage.requests] == [1, 1], "a resumed agent has its plan"
    stage.run("Go on.", does(plan(pause="The build server is down until noon.")), says("I wait for it."), resume=True)
    assert stage.events == ["nudge", "stop", "nudge", "stop", "stop"]
    assert stage.plan["paused"]["reason"] == "The build server is down until noon."
    assert stage.errors == []


def test_an_agent_is_not_nudged_when_the_user_does_not_want_it(stage: Stage) -> None:
    stage.run(
        "Mend the parser.",
        does(plan(add=TEXTS)),
        says("I have made a plan.", first=lambda: stage.punchlist("stop")),
    )
    stage.run("Read it, then stop.", does(plan(done=[1])), says("It is read."), resume=True)
    assert set(stage.events) == {"no-nudges", "stop"}


def test_until_done_an_agent_is_nudged_also_where_it_only_answered(stage: Stage) -> None:
    until_done = Setup(environ={"PUNCHLIST_CONTINUATION": "until-done"})
    stage.run("Mend the parser.", does(plan(add=TEXTS)), says("And now?"))
    stage.run("thanks", says("You are welcome."), says("Really."), resume=True, setup=until_done)
    assert [nudges(request) for request in stage.requests] == [0, 1]


@pytest.mark.settings
@pytest.mark.parametrize("hooks", ["process", "server"])
def test_after_a_permission_that_was_refused_claude_code_is_left_alone(hooks: str, tmp_path: Path) -> None:
    with attached("claude-code", tmp_path) as stage:
        stage.punchlist("install", "claude-code", "--hooks", hooks)
        refusing = Setup(args=("--disallowedTools", "Bash(rm:*)"))
        steps = [does(plan(add=TEXTS)), does(shell("rm -rf build")), says("I may not remove it.")]
        stage.run("Mend the parser.", *steps, setup=refusing)
        assert stage.events == ["stop"]
        stage.run("Then go on without.", does(plan(done=[1])), says("So far."), says("So be it."), resume=True)
        assert [nudges(request) for request in stage.requests] == [0, 0, 1], "planned work again"

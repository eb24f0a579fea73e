"""An agent that stops early is nudged, and allowed to stop when it should be."""

from __future__ import annotations

from tests.clients.model import Request
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import Stage

TEXTS = ["Read the parser", "Mend it", "Run the tests"]
PUSH = "The plan is not finished:"
AGAIN = "Your plan; what is open:\n- now 1 Read the parser\n- 2 Mend it\n- 3 Run the tests\n"


def nudges(stage: Stage, request: Request) -> float:
    """How often the agent was nudged before this request."""
    return request.latest.count(PUSH) / stage.agent.ECHOES


def test_an_agent_that_stops_early_is_sent_on_and_rests_when_it_should(stage: Stage) -> None:
    stage.run(
        "Mend the parser.",
        does(plan(add=TEXTS)),
        says("I have made a plan."),
        does(shell("echo reading")),
        says("I have read some of it."),
        says("There are two ways. Which one do you want?"),
    )
    assert [nudges(stage, request) for request in stage.requests] == [0, 0, 1, 0, 1]
    assert 'now 1 "Read the parser" (0/3)' in stage.requests[2].latest
    assert stage.events == ["nudge", "nudge", "stop"], "a question is for the user"

    stage.run(
        "The second.",
        says("I will take that one."),
        says("It is a good way."),
        says("I like it."),
        says("So be it."),
        resume=True,
    )
    assert [nudges(stage, request) for request in stage.requests] == [0, 1, 1, 1]
    assert stage.events[3:] == ["nudge", "nudge", "nudge", "stop"], "three times without progress are enough"
    assert [request.heard.count(AGAIN) for request in stage.requests] == [1, 1, 1, 1], "a resumed agent has its plan"

    stage.run("Go on.", does(plan(pause="The build server is down until noon.")), says("I wait for it."), resume=True)
    assert stage.events[7:] == ["stop"]
    assert stage.plan["paused"]["reason"] == "The build server is down until noon."
    assert stage.faults == []


def test_an_agent_is_not_sent_on_when_the_user_does_not_want_it(stage: Stage) -> None:
    stage.run(
        "Mend the parser.",
        does(plan(add=TEXTS)),
        says("I have made a plan.", first=lambda: stage.punchlist("stop")),
    )
    stage.run("Read it, then stop.", does(plan(done=[1])), says("It is read."), resume=True)
    assert set(stage.events) == {"no-nudges", "stop"}

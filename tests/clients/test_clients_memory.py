"""After a compaction the model has its plan again."""

from __future__ import annotations

from tests.clients.model import SUMMARY
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import Stage

AGAIN = "Your plan (1/3 done); what is open:\n- now 2 Mend it\n- 3 Run the tests\n"


def test_after_a_compaction_the_model_has_its_plan_again(stage: Stage) -> None:
    stage.run(
        "Mend the parser.",
        does(plan(add=["Read the parser", "Mend it", "Run the tests"])),
        does(plan(done=[1])),
        does(shell("seq 1 3000")),
        says("So far, so good."),
        does(shell("echo on"), tokens=stage.agent.FULL),
        does(shell("echo and on")),
        does(shell("echo and further on")),
        says("Which way do you want it?"),
        setup=stage.agent.COMPACTS,
    )
    assert stage.model.asides, "it compacts"
    compacted = [request for request in stage.requests if SUMMARY in request.heard]
    assert len(compacted) == 3
    told = [request.heard.count(AGAIN) for request in compacted]
    assert told == [0] * stage.agent.LATE + [1] * (3 - stage.agent.LATE)
    assert stage.errors == []

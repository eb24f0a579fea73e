"""opencode, oh-my-pi and Goose: the tool is there, a plan is made and finished, an edit is heard once, an agent that
stops early is nudged, two of them in one directory keep two plans, and what was installed goes without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.clients.agents import OTHERS
from tests.clients.model import our_tool
from tests.clients.script import Step, does, plan, says, shell
from tests.clients.stage import Stage, built

NUDGE = "The plan is not finished:"
AGAIN = "Your plan (1/2 done); what is open:\n- now 2 Mend it\n"
TOLD = ("opencode", "oh-my-pi")  # Goose takes no words from a hook at a start
NUDGED = ("oh-my-pi", "goose")  # a plain `opencode run` ends before it can be nudged


@pytest.fixture(params=OTHERS)
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Each of them in turn, attached."""
    with attached(request.param, tmp_path) as stage:
        yield stage


@contextmanager
def attached(name: str, folder: Path) -> Iterator[Stage]:
    """One of them. Two ask for things of their own elsewhere; the proxy refuses that."""
    stage = built(name, folder)
    try:
        stage.attach()
        yield stage
    finally:
        stage.model.close()


def ended(name: str, *steps: Step) -> list[Step]:
    """The steps, and as many words as an agent says that is nudged once."""
    return [*steps, says("So far."), *([says("So far.")] if name in NUDGED else [])]


def test_a_plan_of_two_steps_is_made_and_finished(other: Stage) -> None:
    other.run(
        "Mend the parser.",
        does(plan(add=["Read it", "Mend it"])),
        does(shell("echo reading")),
        does(shell("exit 3")),
        does(plan(done=[1])),
        does(plan(done=[2])),
        says("All of it is done."),
    )
    assert our_tool(other.requests[0].offers), other.requests[0].names
    assert "added 1-2; now 1 Read it (0/2)" in other.requests[1].latest
    assert other.items == [("Read it", "completed"), ("Mend it", "completed")]
    read, failed = other.plan["items"][0]["calls"]
    assert (read["outcome"], failed["outcome"]) == ("ok", "failed")
    assert (read.get("exit"), failed.get("exit")) == other.agent.EXITS
    assert (other.events, other.errors) == (["stop"], [])


def test_an_edit_is_heard_once_and_an_early_stop_is_not_the_end(other: Stage) -> None:
    other.run("Mend the parser.", *ended(other.name, does(plan(add=["Read it", "Mend it"]))))
    nudges = other.events.count("nudge")
    assert nudges == (other.name in NUDGED), "one that cannot be sent is not counted"
    if other.name in NUDGED:
        assert [NUDGE in request.latest for request in other.requests] == [False, False, True]
    other.punchlist("add", "Ask Ann")
    other.run("Go on.", does(plan(done=[1, 2])), does(plan(done=[3])), says("Done."), resume=True)
    told = "- 3 Ask Ann\n" if other.name in TOLD else 'the user added 3 "Ask Ann".'
    assert other.requests[-1].heard.count(told) == 1, "in the list, where one is told at a resume"
    assert {status for _, status in other.items} == {"completed"}


def test_gone_on_with_the_model_has_its_plan_again(other: Stage) -> None:
    other.run("Mend the parser.", does(plan(add=["Read it", "Mend it"])), does(plan(done=[1])), says("And now?"))
    assert AGAIN not in other.requests[-1].heard
    other.run("Go on.", does(plan(done=[2])), says("Done."), resume=True)
    assert other.requests[-1].heard.count(AGAIN) == (other.name in TOLD)
    assert (other.items, other.errors) == ([("Read it", "completed"), ("Mend it", "completed")], [])


def test_an_agent_rests_when_it_asks_and_when_it_is_paused(other: Stage) -> None:
    other.run("Mend the parser.", does(plan(add=["Read it"])), says("Which parser do you mean?"))
    other.run("That one.", does(plan(pause="The build server is down until noon.")), says("I wait."), resume=True)
    assert set(other.events) == {"stop"}
    assert other.plan["paused"]["reason"] == "The build server is down until noon."


def test_two_of_them_in_one_directory_keep_two_plans(other: Stage) -> None:
    other.run("Mend the parser.", does(plan(add=["Read it"])), does(plan(done=[1])), says("Done."))
    other.run("Write the page.", does(plan(add=["Write it"])), does(plan(done=[1])), says("Done."))
    assert len(other.punchlist("plans").splitlines()) == 2


@pytest.mark.settings
@pytest.mark.parametrize("name", OTHERS)
def test_what_was_installed_is_taken_out_without_a_trace(name: str, tmp_path: Path) -> None:
    stage = built(name, tmp_path)
    try:
        for file, text in stage.agent.SETTINGS.items():
            path = stage.home / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        before = {file: data for file, data in stage.files().items() if "/state/" not in file}
        stage.attach()
        assert {file: data for file, data in stage.files().items() if "/state/" not in file} != before
        stage.punchlist("uninstall", name)
        assert {file: data for file, data in stage.files().items() if "/state/" not in file} == before
    finally:
        stage.model.close()

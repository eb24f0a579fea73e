"""Session, agent and plan are one: a hook and a call reach the same plan, and nobody reaches another's."""

from __future__ import annotations

import json
from threading import Barrier
from typing import Any

from tests.clients.script import Step, does, plan, says, shell
from tests.clients.stage import SECONDS, Stage


def plans(stage: Stage) -> dict[str, Any]:
    """The plans of this directory, by the text of their first item."""
    listed = json.loads(stage.punchlist("plans", "--json"))
    found = [json.loads(stage.punchlist("show", "--json", "--plan", one["id"])) for one in listed]
    return {one["items"][0]["text"]: one for one in found}


def statuses(plan: Any) -> list[str]:
    return [item.get("status", "pending") for item in plan["items"]]


def commands(plan: Any) -> list[str]:
    """What was done for the items of a plan, as the hooks have heard."""
    return [call["text"].strip() for item in plan["items"] for call in item.get("calls", ())]


def test_two_agents_in_one_directory_keep_two_plans(stage: Stage) -> None:
    both = Barrier(2, timeout=SECONDS)

    def job(name: str) -> list[Step]:
        return [
            does(plan(add=[f"{name} the parser", "Tell"])),
            does(shell(f"echo {name} it"), first=both.wait),
            does(plan(done=[1]), first=both.wait),
            says("Is that all?", first=both.wait),
        ]

    stage.model.play({"Read the parser": job("Read"), "Mend the parser": job("Mend")})
    running = [stage.start(prompt) for prompt in ("Read the parser", "Mend the parser")]
    for process in running:
        stage.finish(process)
    stage.require_played()
    found = plans(stage)
    assert sorted(found) == ["Mend the parser", "Read the parser"]
    for text, one in found.items():
        assert statuses(one) == ["completed", "in_progress"]
        assert [text.split()[0] + " it" in said for said in commands(one)] == [True]
    assert stage.errors == []


def test_a_sub_agent_that_shares_the_server_keeps_its_own_plan(stage: Stage) -> None:
    stage.run(
        "Mend the parser.",
        does(plan(add=["Read the parser", "Mend it"])),
        *stage.agent.delegated("LOOK for callers"),
        does(plan(done=[1])),
        does(shell("echo mending")),
        says("Is that all?"),
        LOOK=[
            does(plan(add=["Look for callers", "Tell"])),
            does(shell("echo looking")),
            does(plan(done=[1])),
            stage.agent.concluded("There are three."),
        ],
    )
    found = plans(stage)
    assert sorted(found) == ["Look for callers", "Read the parser"]
    main, sub = found["Read the parser"], found["Look for callers"]
    assert (statuses(main), statuses(sub)) == (["completed", "in_progress"], ["completed", "in_progress"])
    assert "looking" in str(commands(sub))
    assert "mending" in str(commands(main))
    assert "looking" not in str(main)
    assert "mending" not in str(sub)
    assert stage.plan["id"] == main["id"], "the user sees the main agent's plan"
    assert stage.errors == []

"""The user's edits: the model hears of each once, and cannot undo what it has not heard of."""

from __future__ import annotations

from tests.clients.script import Call, Step, does, plan, says, shell, tool
from tests.clients.stage import Stage

TEXTS = ("Read the parser", "Mend it", "Run the tests")
NEWS = (
    'the user completed 1 "Read the parser".',
    'the user renamed 2 "Mend it" to "Mend it well".',
    'the user removed 3 "Run the tests"; do not bring it back.',
    'the user added 4 "Ask Ann".',
)
EDITED = [("Read the parser", "completed"), ("Mend it well", "pending"), ("Ask Ann", "pending")]


def edit(stage: Stage) -> None:
    """The user edits the plan in another terminal."""
    stage.punchlist("add", "Ask Ann")
    stage.punchlist("done", "1")
    stage.punchlist("rename", "2", "Mend it well")
    stage.punchlist("rm", "3")


def test_an_edit_between_two_turns_is_heard_exactly_once(stage: Stage) -> None:
    stage.run(
        "Mend the parser.",
        does(plan(add=list(TEXTS))),
        does(shell("echo one"), first=lambda: edit(stage)),
        does(shell("echo two")),
        does(plan(show=True)),
        says("Which of them first?"),
    )
    for request in stage.requests[2:]:
        assert [request.heard.count(sentence) for sentence in NEWS] == [1, 1, 1, 1]
    assert stage.items == EDITED

    stage.run(
        "That one.",
        does(plan(done=[2]), first=lambda: stage.punchlist("note", "4", "She is in on Monday")),
        does(plan(done=[4])),
        says("All of it is done."),
        resume=True,
    )
    assert [stage.requests[-1].heard.count(sentence) for sentence in NEWS] == [1, 1, 1, 1]
    assert stage.requests[-1].heard.count("She is in on Monday") == 1
    assert {status for _, status in stage.items} == {"completed"}


def test_an_edit_survives_a_list_that_the_model_resends(stage: Stage) -> None:
    """The server speaks a dialect whose every call is the whole list."""
    stage.configure('dialect = "claude-code"')
    stage.run("Mend the parser.", *_resent(stage, _whole()))
    assert stage.items == EDITED
    heard = stage.requests[-1].heard
    assert [heard.count(_without_id(sentence)) for sentence in NEWS] == [1, 1, 1, 1], heard[-900:]


def test_an_edit_survives_a_resend_with_the_agent_s_own_tool(stage: Stage) -> None:
    """The same with the tool that the agent brings, whose calls we only hear of."""
    own = stage.agent.listed(*[(text, "pending") for text in TEXTS])
    stage.run("Mend the parser.", *_resent(stage, own), setup=stage.agent.OWN)
    assert "hook" not in stage.requests[1].latest, "what is only mirrored costs no token"
    assert stage.items == EDITED
    heard = stage.requests[-1].heard
    assert [heard.count(_without_id(sentence)) for sentence in NEWS] == [1, 1, 1, 1], heard[-900:]


def _resent(stage: Stage, call: Call) -> list[Step]:
    """A list, the user's edits, and the same list again."""
    return [does(call), does(call, first=lambda: edit(stage)), does(shell("echo on")), says("Which of them first?")]


def _whole() -> Call:
    todos = [{"content": text, "status": "pending", "activeForm": text} for text in TEXTS]
    return tool("TodoWrite", todos=todos)


def _without_id(sentence: str) -> str:
    """Models that know a list by its texts are told of items by them."""
    words = sentence.split(" ", 4)
    return " ".join([*words[:3], words[4]])

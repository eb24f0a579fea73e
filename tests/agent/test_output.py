"""What of an agent's events is shown, and in what order."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from punchlist import ops
from punchlist.agent.events import (
    Answered,
    Called,
    Event,
    Nudged,
    Planned,
    Question,
    Said,
    Spent,
    SubagentState,
    TurnEnded,
)
from punchlist.agent.messages import Assistant, Call, Message, Result, Usage, User
from punchlist.cli.agent.output import Console, last_exchange, parse_answer, question_lines
from punchlist.core.model import Plan
from punchlist.core.render import UNICODE, Line, plain
from punchlist.prompts import say


class Page:
    """What was shown, piece after piece."""

    def __init__(self) -> None:
        self.text = ""

    def show(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self.text += f"[{''.join(span.text for span in line)}]"

    def write(self, text: str) -> None:
        self.text += text


def shown(*events: Event) -> str:
    page = Page()
    console = Console(page, lambda: 80, UNICODE)
    for event in events:
        console.tell(event)
    return page.text


def test_nobody_is_interrupted_in_the_middle_of_a_sentence() -> None:
    plan = ops.add(Plan(), "Look")
    found = shown(
        Said("main", "It comes "),
        Planned("docs", plan),
        SubagentState("docs", "Completed", plan),
        Spent("docs", Usage()),
        Called("docs", Call("1", "shell", {})),
        Said("main", "right after."),
        Called("main", Call("2", "shell", {"command": "ls"})),
    )
    assert found.startswith("It comes right after.[Agent: docs][Status: Completed]")
    assert found.endswith("[→ shell ls]")


def test_an_answer_that_comes_after_the_block_of_a_sub_agent_has_its_call_above_it_again() -> None:
    call = Call("1", "shell", {"command": "make"})
    plan = ops.start(ops.add(Plan(), "Look"), "1", owner="docs")
    found = shown(
        Called("main", call),
        SubagentState("docs", "Completed", plan),
        Answered("main", call, Result("1", "shell", "fine")),
    )
    listed = "[Agent: docs][Status: Completed][Tasks (0/1)][  ▶ 1 Look]"
    assert found == f"[→ shell make]{listed}[→ shell make][  fine]"


@pytest.mark.parametrize(("tool", "args"), [("ask", {"question": "Why?"}), ("enter_plan_mode", {"why": "it is big"})])
def test_what_is_asked_next_is_not_said_with_the_call_already(tool: str, args: dict[str, str]) -> None:
    assert shown(Called("main", Call("1", tool, args))) == f"[→ {tool}]"


def test_of_a_nudge_the_user_sees_the_item_it_is_about() -> None:
    text = say("plan.nudge.list", now='now "Fix it: all" (1/2)')
    assert shown(Nudged("main", 1, text)) == '[· the agent stopped early and was nudged: now "Fix it: all" (1/2)]'
    text = say("llxprt.continue", item='now "Fix it" (1/2)')
    assert shown(Nudged("main", 1, text)) == '[· the agent stopped early and was nudged: now "Fix it" (1/2)]'
    text = say("plan.nudge.checks", checks='1 "Fix it" (run "make test")')
    assert shown(Nudged("main", 1, text)) == '[· the agent was asked to run checks: 1 "Fix it" (run "make test")]'


def test_after_a_mere_answer_nothing_is_said_about_the_stop() -> None:
    assert shown(TurnEnded("main", "waiting", "no planned work since the user's last message")) == ""
    assert shown(TurnEnded("main", "waiting", "the work is paused")) == "[· the agent stops: the work is paused]"


def test_an_answer_that_comes_after_lines_of_the_user_has_its_call_above_it_again() -> None:
    page = Page()
    console = Console(page, lambda: 80, UNICODE)
    call = Call("1", "shell", {"command": "make"})
    console.tell(Called("main", call))
    console.note("queued: more")
    console.tell(Answered("main", call, Result("1", "shell", "fine")))
    assert page.text == "[→ shell make][queued: more][→ shell make][  fine]"


def answered(*lines: str) -> str:
    call = Call("1", "shell", {"command": "make"})
    return shown(Called("main", call), Answered("main", call, Result("1", "shell", "\n".join(lines))))


def test_lines_that_are_left_out_of_an_answer_are_counted() -> None:
    assert answered("a", "b", "c", "d") == "[→ shell make][  a][  b][  c][  d]"
    assert answered(*map(str, range(1, 42))) == "[→ shell make][  1][  … 38 more lines][  40][  41]"


def test_why_it_rests_is_told_whole() -> None:
    words = " ".join(f"reason{number}" for number in range(30))
    rows = shown(TurnEnded("main", "waiting", words)).strip("[]").split("][")
    assert len(rows) > 1
    assert " ".join(row[2:] for row in rows) == f"the agent stops: {words}"


def test_what_went_wrong_is_told_whole() -> None:
    words = " ".join(f"word{number}" for number in range(40))
    found = shown(TurnEnded("main", "failed", words))
    rows = found.strip("[]").split("][")
    assert rows[0].startswith("· word0")
    assert " ".join(row[2:] for row in rows) == words
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize("kind", ["enter", "allow"])
def test_a_question_says_what_can_be_answered(kind: str) -> None:
    asked = question_lines(Question(kind, "Let it?", ("yes", "no"), "because"), 80, UNICODE)
    assert plain(asked) == "because\nLet it? (yes/no)\n"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("y", "yes"),
        ("Yes!", "yes"),
        ("ok", "yes"),
        ("Sure.", "yes"),
        ("yep", "yes"),
        ("N", "no"),
        ("smaller", "smaller"),
    ],
)
def test_a_yes_is_understood_in_its_usual_forms(typed: str, meant: str) -> None:
    assert parse_answer(Question("allow", "Let it?", ("yes", "no")), typed) == meant


def test_a_conversation_that_is_gone_on_with_begins_with_what_was_said_last() -> None:
    said: list[Message] = [
        User("first"),
        Assistant("one"),
        User("fix it"),
        Assistant("", ()),
        Assistant("I looked.\n\nWhich one?"),
    ]
    lines = ["".join(span.text for span in line) for line in last_exchange(said, 80, UNICODE)]
    assert lines == ["> fix it", "I looked.", "Which one?"]
    assert last_exchange([], 80, UNICODE) == []
    long = last_exchange([User("x"), Assistant("words and words " * 500)], 40, UNICODE)
    assert len(long) == 8
    assert long[-1][0].text == "…"


def test_the_panel_is_told_when_nothing_was_heard_and_how_long_each_item_has_been_active() -> None:
    now = [0.0]
    console = Console(Page(), lambda: 80, UNICODE, clock=lambda: now[0])
    plan = ops.start(ops.extend(Plan(), [{"text": "Look"}, {"text": "Write"}]), "1")
    console.tell(Planned("main", plan))
    now[0] = 100.0
    console.tell(Planned("main", ops.start(plan, "2", owner="w2")))
    now[0] = 130.0
    assert console.times == {"1": 130.0, "2": 30.0}
    assert console.quiet == ""
    now[0] = 400.0
    assert console.quiet == "nothing heard for 5 minutes"
    console.tell(Called("main", Call("1", "shell", {"command": "make"})))
    now[0] = 1_000.0
    assert console.quiet == "", "a tool that runs is at work"
    console.tell(Answered("main", Call("1", "shell", {}), Result("1", "shell", "fine")))
    now[0] = 1_130.0
    assert console.quiet == "nothing heard for 2 minutes"
    console.listen()
    assert console.quiet == ""

"""What of an agent's events is shown, and in what order."""

from __future__ import annotations

from collections.abc import Iterable

from punchlist import ops
from punchlist.agent.events import Called, Event, Planned, Said, Spent, Worker
from punchlist.agent.messages import Call, Usage
from punchlist.cli.stage import Stage
from punchlist.core.model import Plan
from punchlist.core.render import UNICODE, Line


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
    stage = Stage(page, lambda: 80, UNICODE)
    for event in events:
        stage.tell(event)
    return page.text


def test_nobody_is_interrupted_in_the_middle_of_a_sentence() -> None:
    plan = ops.add(Plan(), "Look")
    found = shown(
        Said("main", "It comes "),
        Planned("docs", plan),
        Worker("docs", "Completed", plan),
        Spent("docs", Usage()),
        Called("docs", Call("1", "shell", {})),
        Said("main", "right after."),
        Called("main", Call("2", "shell", {"command": "ls"})),
    )
    assert found.startswith("It comes right after.[Agent: docs][Status: Completed]")
    assert found.endswith("[→ shell ls]")

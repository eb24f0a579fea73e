"""The law behind the merge table: an agent changes only what differs from its own last applied list."""

from __future__ import annotations

from typing import Any

import pytest

from punchlist import Desk, MemoryStore, ops
from tests.dialects import lists


@pytest.mark.parametrize(
    ("dialect", "case"),
    [pytest.param(dialect, case, id=f"{case['source']}: {dialect}: {case['name']}") for dialect, case in lists.cases()],
)
def test_a_resent_list_changes_only_what_differs_from_the_last(dialect: str, case: dict[str, Any]) -> None:
    lists.run(MemoryStore(), dialect, case)


def test_a_list_whose_ids_are_numbered_again_loses_nothing_and_mixes_nothing_up() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="llxprt")

    def send(*texts: str) -> None:
        todos = [{"id": str(place), "content": text, "status": "pending"} for place, text in enumerate(texts, 1)]
        assert not desk.call("todo_write", {"todos": todos}).is_error

    send("Read the code", "Fix the bug", "Run the tests")
    desk.change(lambda plan: ops.rename(plan, "2", "Fix the crash"))
    desk.change(lambda plan: ops.note(plan, "2", "in Safari only"))
    send("Fix the bug", "Run the tests")  # the first is left out, and the others are 1 and 2 now
    found = [(item.id, item.text, item.notes) for item in desk.plan.items]
    assert found == [("2", "Fix the crash", ("in Safari only",)), ("3", "Run the tests", ())]


def test_a_text_of_the_user_that_is_too_long_for_the_tool_can_be_sent_back_as_it_is_shown() -> None:
    desk = Desk(MemoryStore(), session="s", dialect="gencode")

    def send(*entries: list[str]) -> str:
        reply = desk.call("TodoWrite", lists.args("gencode", list(entries)))
        assert not reply.is_error, reply.text
        return reply.text

    send(["Fix the bug", "pending"])
    desk.change(lambda plan: ops.add(plan, "Ask Ann " * 80))
    shown = send(["Fix the bug", "pending"]).splitlines()[1].removeprefix("[ ] ")
    todos = [{"content": text, "status": "pending", "activeForm": "Working"} for text in ("Fix the bug", shown)]
    todos[1]["status"] = "in_progress"
    assert not desk.call("TodoWrite", {"todos": todos}).is_error
    assert [(item.text, item.status) for item in desk.plan.items] == [
        ("Fix the bug", "pending"),
        (("Ask Ann " * 80).strip(), "in_progress"),
    ]

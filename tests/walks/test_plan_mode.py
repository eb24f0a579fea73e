"""Plan mode, as an agent lives through it: told at once, again every few turns, and at once the next time."""

from __future__ import annotations

from punchlist import Desk, MemoryStore, ops
from punchlist.desk.tool_use import ToolUse
from tests.policy import told as telling


def planning() -> Desk:
    desk = Desk(MemoryStore(), session="s1")
    desk.call("plan", {"add": ["Read"]})
    desk.change(lambda plan: ops.set_mode(plan, "plan"))
    return desk


def worked(desk: Desk) -> bool:
    """Whether a tool result is followed by the text of plan mode."""
    return any(text.startswith("Plan mode.") for text in telling.tool_used(desk, ToolUse("Read")))


def attached(desk: Desk) -> bool:
    """Whether a request to the model is."""
    return any(one.kind == "plan_mode" for one in telling.attached(desk, telling.TURN))


def test_the_text_of_plan_mode_comes_at_once_and_again_with_every_fifth_turn() -> None:
    for told in (worked, attached):
        desk = planning()
        assert [told(desk) for _ in range(11)] == [turn % 5 == 0 for turn in range(11)]


def test_whoever_comes_back_to_plan_mode_is_told_at_once() -> None:
    for told in (worked, attached):
        desk = planning()
        assert [told(desk) for _ in range(2)] == [True, False]
        desk.change(lambda plan: ops.set_mode(plan, "act"))
        assert not told(desk)
        desk.change(lambda plan: ops.set_mode(plan, "plan"))
        assert told(desk)

"""Laws that hold whatever an agent and its user do, in any order."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from punchlist import Desk, Plan, ops
from punchlist.core.model import SessionState
from punchlist.desk.nudges import turn_ended
from punchlist.desk.session_state import load_state, update_state
from punchlist.desk.tool_use import ToolUse
from punchlist.policy.continuation import TurnEnd, next_item
from punchlist.policy.limits import tokens
from tests.core.plans import often
from tests.policy.desks import planned
from tests.policy.told import prompted, started, tool_used

Doing = Callable[[Desk], list[str]]


def _edit(change: Callable[[Plan], Plan]) -> Doing:
    def edit(at: Desk) -> list[str]:
        at.change(change)
        return []

    return edit


def _call(args: dict[str, object]) -> Doing:
    def call(at: Desk) -> list[str]:
        at.call("plan", args)
        return []

    return call


ACTIONS: dict[str, Doing] = {
    **{f"use {name}": lambda at, name=name: tool_used(at, ToolUse(name)) for name in "abc"},  # type: ignore[misc]
    "work on": lambda at: [line for _ in range(12) for line in tool_used(at, ToolUse("d"))],
    "interrupt": lambda at: tool_used(at, ToolUse("x", interrupted=True)),
    "go on": lambda at: prompted(at, "go on"),
    "wait": lambda at: prompted(at, "wait for me"),
    "compact": lambda at: started(at, "compact"),
    "add": _edit(lambda plan: ops.add(plan, "More")),
    "finish": _edit(lambda plan: ops.complete(plan, *[item.id for item in plan.open_items])),
    "block": _edit(lambda plan: ops.block(plan, *[item.id for item in plan.open_items], why="no key")),
    "unblock": _edit(lambda plan: ops.unblock(plan, *[item.id for item in plan.items if item.status == "blocked"])),
    "pause": _edit(lambda plan: ops.pause(plan, "lunch")),
    "resume": _edit(ops.resume),
    **{mode: _edit(lambda plan, mode=mode: ops.set_mode(plan, mode)) for mode in ("act", "plan", "quiet")},  # type: ignore[misc]
    "note": _call({"note": {"1": "so far"}}),
    "done": _call({"done": [2]}),
}
WORDS = ["So far.", "Which one?", "", "Awaiting your approval."]
STEPS = st.lists(
    st.one_of(
        st.sampled_from(sorted(ACTIONS)),
        st.sampled_from(["use a", "use b", "use c", "work on", "work on"]),
        st.sampled_from(WORDS).map(lambda said: ("stop", said)),
        st.just(("stop", "So far.")),
    ),
    max_size=120,
)


@often(150)
@given(STEPS)
def test_whatever_happens_pushes_and_reminders_stay_within_bounds_and_off_the_user_s_toes(
    steps: list[str | tuple[str, str]],
) -> None:
    at = planned()
    nudges = idle = spent = 0
    is_waiting = False
    before: tuple[int, SessionState] = (at.plan.revision, load_state(at))
    for step in steps:
        plan = at.plan
        if isinstance(step, str):
            said = ACTIONS[step](at)
            spent += sum(tokens(line) for line in said if "unchanged for" in line)
            assert not any("unchanged for" in line for line in said) or (plan.mode == "act" and not plan.paused)
            is_waiting = step in ("wait", "interrupt") or (is_waiting and step != "go on")
            idle = 0 if step == "go on" else idle
        elif turn_ended(at, TurnEnd(said=step[1])).text:
            moved = (plan.revision, load_state(at).lately) != (before[0], before[1].lately)
            nudges, idle = nudges + 1, 1 if moved else idle + 1
            assert next_item(plan) is not None
            assert (plan.mode, plan.paused, is_waiting) == ("act", None, False)
            assert step[1] in ("So far.", "")
            before = (at.plan.revision, load_state(at))
        assert nudges == load_state(at).nudges <= 20
        assert idle <= 3
        assert spent == load_state(at).spent <= 400


@often(60)
@given(STEPS, st.integers(0, 119))
def test_after_a_stop_by_the_user_nothing_sends_the_agent_on(steps: list[str | tuple[str, str]], when: int) -> None:
    at = planned()
    for number, step in enumerate(steps):
        if number == when:
            update_state(at, lambda pace: pace._replace(stopped=True))
        if isinstance(step, str):
            ACTIONS[step](at)
        else:
            sent = turn_ended(at, TurnEnd(said=step[1]))
            assert not sent.text or number < when

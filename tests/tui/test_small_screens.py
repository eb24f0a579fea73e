"""Headings in a panel with little room; the signs of a style wherever its lists are shown."""

from __future__ import annotations

import pytest

from punchlist import Desk, MemoryStore, Plan, ops
from punchlist.agent.events import SubagentState
from punchlist.cli.agent.output import worker_lines
from punchlist.cli.agent.slash import run_command
from punchlist.core.render import UNICODE, plain
from punchlist.tui.styles import load, render
from punchlist.tui.view import View


def phased() -> Plan:
    plan = Plan()
    for phase, texts in (("Build", ("Read", "Write", "Test")), ("Ship", ("Tag", "Tell"))):
        for text in texts:
            plan = ops.add(plan, text, phase=phase)
    return ops.start(plan, "4")


@pytest.mark.parametrize("style", ["oh-my-pi", "punchlist"])
@pytest.mark.parametrize("height", range(1, 12))
def test_an_item_never_stands_below_the_heading_of_another_phase(style: str, height: int) -> None:
    view = View(phased(), expanded=True, busy=False)
    lines = plain(render(view, load(style), 60, height)).splitlines()
    assert any("Tag" in line for line in lines)
    headings = [number for number, line in enumerate(lines) if "Build" in line or "Ship" in line]
    if headings:
        above = [number for number in headings if number < next(n for n, line in enumerate(lines) if "Tag" in line)]
        assert above
        assert "Ship" in lines[above[-1]]


@pytest.mark.parametrize("active", ["1", "3", "5"])
@pytest.mark.parametrize("style", ["oh-my-pi", "punchlist"])
@pytest.mark.parametrize("height", range(4, 14))
def test_no_heading_of_a_phase_stands_without_an_item_of_it(style: str, height: int, active: str) -> None:
    plan = ops.add(ops.start(phased(), active), "Party", phase="Celebrate")
    lines = plain(render(View(plan, expanded=True, busy=False), load(style), 60, height)).splitlines()
    for place, line in enumerate(lines):
        if line.split()[-1:] in (["Build"], ["Ship"], ["Celebrate"]):
            assert any(sign in "".join(lines[place + 1 : place + 2]) for sign in "▶○"), lines


def test_a_finished_sub_agent_is_shown_in_the_signs_of_the_style() -> None:
    plan = ops.complete(ops.extend(Plan(), [{"text": "Look"}, {"text": "Tell"}]), "1")
    shown = plain(worker_lines(SubagentState("scout", "Completed", plan), 60, UNICODE, load("claude-code")))
    assert shown.splitlines() == ["Agent: scout", "Status: Completed", "Tasks (1/2)", "  ☒ Look", "  ☐ Tell"]


def test_the_box_of_a_closed_item_is_dim_in_the_list_of_todos() -> None:
    desk = Desk(MemoryStore())
    desk.change(lambda plan: ops.complete(ops.extend(plan, [{"text": "Look"}, {"text": "Tell"}]), "1"))
    _, done, waiting = run_command(desk, "/todos", 60, UNICODE)
    assert [span.style for span in done] == ["dim", "dim strike"]
    assert waiting[0].style == ""


def test_a_dropped_item_does_not_look_like_a_finished_one_in_the_style_of_claude_code() -> None:
    plan = ops.drop(ops.extend(Plan(), [{"text": "Look"}]), "1", why="not needed")
    shown = plain(render(View(plan, expanded=True, busy=False), load("claude-code"), 60))
    assert "☒ Look (dropped: not needed)" in shown


def test_a_collapsed_tree_shows_no_stray_notes() -> None:
    plan = ops.note(phased(), "4", "first line\nsecond line\nthird line")
    shown = plain(render(View(plan, expanded=False, busy=False), load("oh-my-pi"), 60))
    assert "line" not in shown


def test_a_tree_that_is_shown_complete_names_no_key_that_would_change_nothing() -> None:
    small, large = phased(), ops.extend(phased(), [{"text": f"Task {number}"} for number in range(9)])
    for expanded in (False, True):
        shown = plain(
            render(View(small, expanded=expanded, busy=False, keys=True, hint="q quit"), load("oh-my-pi"), 60)
        )
        assert shown.splitlines()[-1] == "q quit"
        shown = plain(
            render(View(large, expanded=expanded, busy=False, keys=True, hint="q quit"), load("oh-my-pi"), 60)
        )
        assert shown.splitlines()[-1] == f"ctrl+t {'hide' if expanded else 'show'} todos · q quit"


@pytest.mark.parametrize("height", range(5, 12))
@pytest.mark.parametrize("width", [20, 24, 40])
def test_every_row_of_the_box_ends_at_its_side(width: int, height: int) -> None:
    plan = ops.drop(ops.complete(phased(), "1"), "2", why="not needed")
    lines = plain(render(View(plan, expanded=True, busy=False), load("gencode"), width, height)).splitlines()
    assert {line[-1] for line in lines} <= {"┐", "│", "┘"}, lines
    assert len({len(line) for line in lines}) == 1, lines


@pytest.mark.parametrize("expanded", [True, False])
def test_there_is_no_box_without_todos(expanded: bool) -> None:
    assert render(View(Plan(), expanded=expanded, busy=False), load("gencode"), 60) == []

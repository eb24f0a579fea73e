"""How a plan looks in each style: what stands where, and in which words."""

from __future__ import annotations

import re

import pytest

from punchlist.core import ops
from punchlist.core.cells import columns
from punchlist.core.errors import Refused
from punchlist.core.model import Closing, Plan
from punchlist.core.render import NO_NUDGES, OFF, plain
from punchlist.local.settings import ABOUT
from punchlist.tui.styles import PATHS, load, render
from punchlist.tui.view import View, Worker, amount, duration
from tests.core.plans import plan_of

FOUND = Worker("scout", "running", ops.start(ops.complete(plan_of("Search", "Analyze", "Report"), "1"), "2"))
NIGHTLY = Worker("nightly", "", ops.complete(plan_of("a", "b", "c", "d", "e"), "1", "2"), background=True)


def a_plan() -> Plan:
    plan = ops.extend(
        Plan(title="Fix the crash"),
        [
            {"text": "Read the parser", "phase": "Find"},
            {"text": "Fix the loop", "active": "Fixing the loop", "phase": "Fix", "notes": ("line 40", "one short")},
            {"text": "Run the tests", "phase": "Fix", "needs": ("2",)},
            {"text": "Publish", "phase": "Ship"},
        ],
    )
    return ops.block(ops.start(ops.complete(plan, "1"), "2"), "4", why="no key")


def many(count: int, active: int) -> Plan:
    """A long plan, worked off up to an item."""
    plan = plan_of(*(f"step {number}" for number in range(1, count + 1)))
    return ops.start(ops.complete(plan, *map(str, range(1, active))), str(active))


def shown(view: View, style: str = "punchlist", width: int = 60, height: int | None = None, **more: bool) -> list[str]:
    return plain(render(view, load(style), width, height, **more)).splitlines()


def styles(view: View, style: str) -> dict[str, str]:
    """The style of each piece of text."""
    made = render(view, load(style), 60)
    return {span.text.strip(): span.style for line in made for span in line if span.text.strip()}


# --- on any background -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expanded", [True, False])
@pytest.mark.parametrize("style", PATHS)
def test_words_are_in_the_terminals_own_color_and_signs_may_have_another(style: str, expanded: bool) -> None:
    """Cyan, green and yellow words cannot be read on white in some terminals."""
    plan = ops.pause(a_plan(), "the build server is down")._replace(mode="plan")
    for busy in (True, False):
        view = View(plan, busy=busy, expanded=expanded, alert="the store is away", workers=(FOUND, NIGHTLY), keys=True)
        found = styles(view, style)
        colored = {text for text, codes in found.items() if {"good", "now", "bad"} & set(codes.split())}
        assert colored
        assert not [text for text in colored if any(char.isalnum() for char in text)]


# --- ours ------------------------------------------------------------------------------------------------------------


def test_our_list_turns_the_spinner_in_the_place_of_the_active_sign() -> None:
    assert shown(View(a_plan(), expanded=True, seconds=72, tokens=3412, keys=True, frame=3)) == [
        "Fix the crash  ━━━╌╌╌╌╌╌╌╌╌╌╌╌ 1/4",
        "Find 1/1",
        "  ✓ 1 Read the parser",
        "Fix 0/2",
        "  ⠸ 2 Fixing the loop…  1m 12s · 3.4k tokens",
        "      │ line 40",
        "      │ one short",
        "  ○ 3 Run the tests  (needs 2)",
        "Ship 0/1",
        "  ⊘ 4 Publish  (no key)",
        "ctrl+t hide plan",
    ]


def test_our_collapsed_panel_says_what_is_done_how_far_it_is_and_what_comes_next() -> None:
    assert shown(View(a_plan(), seconds=5, keys=True, hint="q quit")) == [
        "⠋ 2 Fixing the loop…  5s",
        "━━━╌╌╌╌╌╌╌╌╌╌╌╌ 1/4  Next: 3 Run the tests",
        "ctrl+t show plan · q quit",
    ]


def test_our_panel_says_what_is_done_just_now_behind_the_item() -> None:
    assert shown(View(a_plan(), status="running pytest", seconds=5))[0] == "⠋ 2 Fixing the loop…  running pytest · 5s"
    assert shown(View(a_plan(), status="running pytest", seconds=5), width=30)[0] == "⠋ 2 Fixing the loop…  5s"


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (42, "  3s · 63 tokens"),
        (36, "  3s · 63 tokens"),
        (34, "  3s · 63 tokens"),
        (33, "  3s"),
        (22, "  3s"),
        (21, ""),
    ],
)
def test_time_and_tokens_are_shown_where_they_fit_and_time_at_last(width: int, words: str) -> None:
    view = View(ops.start(plan_of("Run the tests"), "1"), seconds=3, tokens=63)
    assert shown(view, width=width)[0] == f"⠋ 1 Run the tests…{words}"


def test_whoever_works_on_no_item_is_seen_working() -> None:
    assert shown(View(Plan())) == ["⠋ Working…"]
    assert shown(View(plan_of("Alpha"), status="Thinking", seconds=3))[0] == "⠋ Thinking…  3s"


@pytest.mark.parametrize("style", PATHS)
def test_what_is_typed_is_the_last_row_and_its_end_is_in_sight(style: str) -> None:
    view = View(a_plan(), expanded=True, keys=True, typed="and then " * 20 + "the docs 日本")
    rows = shown(view, style, width=40)
    assert rows[-1].startswith("> ")
    assert rows[-1].endswith("the docs 日本")
    assert columns(rows[-1]) == 40
    assert shown(view._replace(typed=""), style, width=40) == rows[:-1]


def test_an_idle_panel_does_not_turn() -> None:
    assert shown(View(a_plan(), busy=False))[0] == "▶ 2 Fixing the loop"
    assert shown(View(Plan(), busy=False)) == []


def test_a_finished_plan_says_so() -> None:
    assert shown(View(ops.complete(plan_of("Alpha"), "1"), busy=False)) == ["━━━━━━━━━━━━━━━ 1/1  all done"]


def test_several_items_being_worked_on_are_all_shown() -> None:
    plan = plan_of(*"abcde")
    for number in range(1, 6):
        plan = ops.put(plan, plan.items[number - 1]._replace(status="in_progress", owner=f"w{number}"))
    found = shown(View(plan))
    assert [line for line in found if line.startswith("⠋")] == [
        "⠋ 1 a…  (@w1)",
        "⠋ 2 b…  (@w2)",
        "⠋ 3 c…  (@w3)",
    ]
    assert "and 2 more at work" in found


def test_what_comes_next_may_wait_for_what_is_being_worked_on() -> None:
    plan = ops.extend(Plan(), [{"text": "a"}, {"text": "b", "needs": ("3",)}, {"text": "c", "needs": ("1",)}])
    assert "Next: 3 c" in shown(View(ops.start(plan, "1")))[1]


def test_a_tip_stands_where_nothing_comes_next() -> None:
    plan = ops.start(plan_of("Alpha"), "1")
    assert shown(View(plan, tip="rest well"))[1].endswith("Tip: rest well")


# --- claude-code -----------------------------------------------------------------------------------------------------


def test_claude_code_collapsed_is_a_spinner_and_what_comes_next() -> None:
    assert shown(View(a_plan(), seconds=5, keys=True, frame=4), "claude-code") == [
        "✻ Fixing the loop… (5s)",
        "  Next: Run the tests",
        "  ctrl+t show todos",
    ]


def test_claude_code_expanded_is_a_list_of_boxes_with_the_texts_of_items() -> None:
    assert shown(View(a_plan(), expanded=True, keys=True), "claude-code") == [
        "· Fixing the loop…",
        "  ☒ Read the parser",
        "  ☐ Fix the loop",
        "  ☐ Run the tests",
        "  ☐ Publish (blocked: no key)",
        "  Next: Run the tests",
        "  ctrl+t hide todos",
    ]


def test_claude_code_idle_has_a_header_if_it_is_expanded_and_nothing_otherwise() -> None:
    assert shown(View(a_plan(), expanded=True, busy=False), "claude-code")[:2] == ["  Todos", "  ☒ Read the parser"]
    assert shown(View(a_plan(), busy=False), "claude-code") == []
    assert shown(View(Plan(), busy=False, expanded=True), "claude-code") == []


def test_claude_code_shows_an_override_else_the_active_form_else_a_default() -> None:
    assert shown(View(a_plan(), status="Compacting"), "claude-code")[0] == "· Compacting…"
    assert shown(View(plan_of("Alpha")), "claude-code")[0] == "· Working…"


def test_claude_code_gives_a_tip_when_nothing_is_pending() -> None:
    plan = ops.start(plan_of("Alpha"), "1")
    assert shown(View(plan, tip="rest well"), "claude-code")[1] == "  Tip: rest well"
    assert shown(View(plan), "claude-code") == ["· Alpha…"]


def test_claude_code_is_bold_where_active_and_struck_through_where_done() -> None:
    found = styles(View(a_plan(), expanded=True, busy=False), "claude-code")
    assert found["Todos"] == "bold dim"
    assert (found["Read the parser"], found["Fix the loop"], found["Run the tests"]) == ("dim strike", "bold", "")


# --- gencode ---------------------------------------------------------------------------------------------------------


def test_gencode_is_a_box_with_the_progress() -> None:
    plan = ops.start(ops.complete(plan_of("Fix failing tests", "Update docs", "Build"), "1"), "2")
    plan = ops.put(plan, plan.items[1]._replace(active="Updating docs"))
    assert shown(View(plan, expanded=True), "gencode") == [
        "┌─ Tasks ────────────────────────────────────┐",
        "│ ✓ Fix failing tests                        │",
        "│ ▶ Updating docs                            │",
        "│ ○ Build                                    │",
        "│                                            │",
        "│ Progress: 1/3 (33%) ━━━╌╌╌╌╌╌╌             │",
        "└────────────────────────────────────────────┘",
    ]


def test_gencode_collapsed_keeps_what_is_active_and_the_progress() -> None:
    assert [line[2:30].rstrip() for line in shown(View(a_plan()), "gencode")[1:-1]] == [
        "▶ Fixing the loop",
        "Progress: 1/4 (25%) ━━╌╌╌╌╌╌",
    ]


@pytest.mark.parametrize("width", [20, 21, 22, 23, 24, 30, 45, 60])
@pytest.mark.parametrize("count", [3, 15, 150, 1500])
@pytest.mark.parametrize("unicode", [True, False])
def test_gencode_s_box_is_closed_at_every_width(width: int, count: int, unicode: bool) -> None:
    begun, new = many(count, 2), plan_of(*(f"step {number}" for number in range(1, count + 1)))
    for view in (View(begun, seconds=700), View(new, busy=True, status="a status as long as this")):
        for expanded in (True, False):
            lines = shown(view._replace(expanded=expanded), "gencode", width, 12, unicode=unicode)
            box = [line for line in lines if line[0] in "┌│└+|"]
            assert len(box) > 2
            assert {columns(line) for line in box} == {min(46, width)}, lines
            assert all(line[-1] in "┐│┘+|" for line in box), lines
            assert any(f"/{count}" in line for line in box), lines


def test_gencode_needs_no_unicode() -> None:
    assert shown(View(ops.start(plan_of("Alpha", "Beta"), "1"), expanded=True), "gencode", unicode=False) == [
        "+- Tasks ------------------------------------+",
        "| [>] Alpha                                  |",
        "| [ ] Beta                                   |",
        "|                                            |",
        "| Progress: 0/2 (0%) ..........              |",
        "+--------------------------------------------+",
    ]


def test_gencode_tells_each_status_that_changed() -> None:
    before = ops.start(plan_of("Update docs", "Build", active="Updating docs"), "1")
    after = ops.start(ops.complete(before, "1"), "2")
    canvas = load("gencode").canvas(80)
    assert plain(load("gencode").changes(before, after, canvas)).splitlines() == [
        '[Todo: "Update docs" → completed]',
        '[Todo: "Updating docs" → in_progress]',
    ]


def test_gencode_tells_the_whole_list_when_it_is_another() -> None:
    before = ops.start(plan_of("Update docs"), "1")
    found = plain(load("gencode").changes(before, ops.add(before, "Build"), load("gencode").canvas(80)))
    assert found == "📋 Todo list updated:\n  ▶ Update docs\n  ○ Build\n"


def test_gencode_tells_a_pause() -> None:
    before = plan_of("Build")
    found = load("gencode").changes(before, ops.pause(before, "lunch"), load("gencode").canvas(80))
    assert plain(found) == "paused the work: lunch.\n"


# --- oh-my-pi --------------------------------------------------------------------------------------------------------


def test_oh_my_pi_is_a_tree_with_notes_counted_and_the_active_ones_in_full() -> None:
    plan = ops.note(a_plan(), "3", "slow")
    assert shown(View(plan, expanded=True, seconds=5), "oh-my-pi") == [
        "Todos 1/4  5s",
        "├─ Find",
        "│  └─ ✓ Read the parser",
        "├─ Fix",
        "│  ├─ ⠋ Fixing the loop²",
        "│  │    line 40",
        "│  │    one short",
        "│  └─ ○ Run the tests¹",
        "└─ Ship",
        "   └─ ⊘ Publish (no key)",
    ]


def test_oh_my_pi_needs_no_unicode() -> None:
    found = shown(View(a_plan(), expanded=True), "oh-my-pi", unicode=False)
    assert found[4] == "|  |- | Fixing the loop^2"
    assert all(line.isascii() for line in found)


def test_oh_my_pi_collapsed_shows_eight_rows_of_the_tree() -> None:
    found = shown(View(many(30, 12)), "oh-my-pi")
    assert len(found) == 1 + 8 + 1
    assert found[-1] == "   … 10 done, 12 more"
    assert any("step 12" in line for line in found)
    assert len(shown(View(many(30, 12), expanded=True), "oh-my-pi")) == 1 + 30


# --- in every style --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", PATHS)
def test_a_long_list_shows_what_is_active_the_next_ones_and_the_last_done(style: str) -> None:
    plan = many(50, 20)
    plan = ops.put(plan, plan.items[4]._replace(closed=Closing("user", "2030-01-01")))
    found = shown(View(plan, expanded=True, busy=False), style, height=10)
    assert len(found) == 10
    texts = [f"step {number}" for number in (5, 20, 21, 22)]
    assert [text for text in texts if not any(text in line.rstrip(" │") for line in found)] == []


@pytest.mark.parametrize("style", PATHS)
def test_hidden_items_are_counted(style: str) -> None:
    for height in range(8, 45):
        found = shown(View(many(40, 15), expanded=True, busy=False), style, height=height)
        numbers = {int(text) for line in found for text in re.findall(r"step (\d+)", line) if "Next" not in line}
        done = sum(number < 15 for number in numbers)
        hidden = " ".join(line for line in found if "…" in line)
        assert [f"{14 - done} done" in hidden, f"{26 - len(numbers) + done} more" in hidden] == [
            done < 14,
            len(numbers) - done < 26,
        ]


@pytest.mark.parametrize("style", PATHS)
@pytest.mark.parametrize("unicode", [True, False])
def test_sub_agents_are_shown_with_their_name_status_and_tasks(style: str, unicode: bool) -> None:
    found = "\n".join(shown(View(a_plan(), expanded=True, workers=(FOUND, NIGHTLY)), style, unicode=unicode))
    for words in ("Agent: scout", "Status: running", "Tasks (1/3)", "Search", "Analyze", "Report", "nightly 2/5"):
        assert words in found


@pytest.mark.parametrize("style", PATHS)
def test_of_a_session_without_a_plan_nothing_is_counted(style: str) -> None:
    found = shown(View(a_plan(), workers=(NIGHTLY._replace(plan=Plan(), status="Running"),)), style)
    assert [line.strip() for line in found if "nightly" in line] == ["nightly Running"]


@pytest.mark.parametrize("style", PATHS)
def test_collapsed_a_sub_agent_is_one_line(style: str) -> None:
    found = shown(View(a_plan(), workers=(FOUND,)), style)
    assert [line.strip() for line in found if "scout" in line] == ["Agent: scout  Status: running  Tasks (1/3)"]
    assert "Search" not in "\n".join(found)


@pytest.mark.parametrize("style", PATHS)
def test_a_pause_a_mode_and_an_alert_are_shown(style: str) -> None:
    plan = ops.set_mode(ops.pause(a_plan(), "lunch"), "plan")
    found = "\n".join(shown(View(plan, busy=False, alert="the store is gone"), style))
    assert "paused: lunch" in found
    assert "plan mode" in found
    assert "! the store is gone" in found


@pytest.mark.parametrize("style", PATHS)
def test_plain_characters_are_enough(style: str) -> None:
    plan = ops.pause(ops.add(a_plan(), "Große Töne 日本語"), "Müll")
    view = View(plan, seconds=70, tokens=5000, status="läuft", workers=(FOUND, NIGHTLY), keys=True, hint="q quit")
    for expanded in (True, False):
        for busy in (True, False):
            made = render(view._replace(expanded=expanded, busy=busy), load(style), 60, unicode=False)
            assert plain(made).isascii()


@pytest.mark.parametrize("style", PATHS)
def test_only_the_spinner_and_the_clock_move_while_nothing_happens(style: str) -> None:
    view = View(a_plan(), expanded=True, seconds=5, keys=True)
    now, then = (shown(view._replace(frame=frame, seconds=seconds), style) for frame, seconds in ((1, 5.0), (2, 6.0)))
    assert 0 < sum(one != other for one, other in zip(now, then, strict=True)) <= 2


def test_the_setting_knows_every_style() -> None:
    assert ABOUT["style"].choices == tuple(PATHS)


def test_a_style_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(Refused, match="no style 'neon'; the styles are punchlist, claude-code, gencode, oh-my-pi"):
        load("neon")


def test_what_became_of_a_plan_is_told_a_line_for_each_change() -> None:
    before = ops.start(plan_of("Alpha", "Beta"), "1")
    after = ops.start(ops.complete(before, "1"), "2")
    style = load("punchlist")
    assert plain(style.changes(before, after, style.canvas(80))).splitlines() == [
        'completed 1 "Alpha".',
        'started 2 "Beta". (1/2)',
    ]


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "words"), [(-1, "0s"), (0, "0s"), (59.9, "59s"), (60, "1m 00s"), (3599, "59m 59s"), (3725, "1h 02m")]
)
def test_a_duration_is_said_in_few_letters(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0"), (999, "999"), (1000, "1.0k"), (999_949, "999.9k"), (1_000_000, "1.0M")]
)
def test_an_amount_is_said_in_few_letters(number: int, words: str) -> None:
    assert amount(number) == words


@pytest.mark.parametrize("style", PATHS)
def test_each_active_item_has_its_own_time_in_every_style(style: str) -> None:
    plan = ops.start(ops.start(plan_of("Alpha", "Beta", "Gamma"), "1"), "3", owner="w3")
    found = shown(View(plan, expanded=True, seconds=70, times={"1": 70, "3": 5}), style)
    assert sum("1m 10s" in line for line in found) == 1
    assert [line for line in found if "5s" in line and "Gamma" in line]


@pytest.mark.parametrize("style", PATHS)
@pytest.mark.parametrize("expanded", [True, False])
def test_since_when_nothing_was_heard_is_said_in_every_style(style: str, expanded: bool) -> None:
    said = {"quiet": "nothing heard for 4 minutes", "off": True, "nudges": False}
    found = shown(View(a_plan(), busy=False, expanded=expanded, **said), style)  # type: ignore[arg-type]
    assert [line for line in ("nothing heard for 4 minutes", OFF, NO_NUDGES) if line not in found] == []


# --- long texts ------------------------------------------------------------------------------------------------------

LONG = "Rewrite the parser so that a line which ends in the middle of a quoted string is read to its end"


@pytest.mark.parametrize("style", PATHS)
@pytest.mark.parametrize("width", [40, 80])
def test_a_long_text_is_wrapped_where_there_is_room_and_nothing_of_it_is_lost(style: str, width: int) -> None:
    plan = ops.start(plan_of("Short", LONG, LONG.upper()), "2")
    found = shown(View(plan, expanded=True, busy=False), style, width, height=24)
    words = " ".join(" ".join(found).replace("│", " ").split())
    assert (LONG in words, LONG.upper() in words) == (True, True)
    assert max(map(columns, found)) <= width
    cut = shown(View(plan, expanded=True, busy=False), style, width, height=4)
    assert len(cut) <= 4


def test_the_other_lines_of_a_text_are_below_its_first_and_in_its_style() -> None:
    plan = ops.start(plan_of(LONG), "1")
    found = shown(View(plan, busy=False), width=50, height=8)
    assert found == [
        "▶ 1 Rewrite the parser so that a line which ends",
        "    in the middle of a quoted string is read to",
        "    its end",
        "╌╌╌╌╌╌╌╌╌╌╌╌ 0/1",
    ]
    lines = render(View(plan, busy=False), load("punchlist"), 50, 8)
    assert [line[-1].style for line in lines[:3]] == ["bold"] * 3


def test_what_matters_most_is_wrapped_first_and_the_end_of_what_does_not_fit_is_cut() -> None:
    plan = ops.start(plan_of(LONG, LONG.upper(), "Short"), "2")
    found = shown(View(plan, expanded=True, busy=False), width=50, height=6)
    assert found[1:] == [
        "○ 1 Rewrite the parser so that a line which ends…",
        "▶ 2 REWRITE THE PARSER SO THAT A LINE WHICH ENDS",
        "    IN THE MIDDLE OF A QUOTED STRING IS READ TO",
        "    ITS END",
        "○ 3 Short",
    ]
    found = shown(View(plan, expanded=True, busy=False), width=50, height=5)
    assert found[2:4] == [
        "▶ 2 REWRITE THE PARSER SO THAT A LINE WHICH ENDS",
        "    IN THE MIDDLE OF A QUOTED STRING IS READ TO I…",
    ]


def test_notes_a_reason_and_an_alert_are_wrapped_too() -> None:
    plan = ops.pause(ops.note(ops.start(plan_of("Short"), "1"), "1", LONG), LONG)
    found = shown(View(plan, expanded=True, busy=False, alert=LONG), width=50, height=24)
    assert found[1:3] == [
        "! Rewrite the parser so that a line which ends in",
        "  the middle of a quoted string is read to its end",
    ]
    assert found[3].startswith("⏸ paused: Rewrite")
    assert found[4].startswith("          ")
    assert [line for line in found if line.startswith("    │ ")] == [
        "    │ Rewrite the parser so that a line which ends",
        "    │ in the middle of a quoted string is read to",
        "    │ its end",
    ]


def test_a_tree_goes_on_beside_the_other_lines_of_a_text() -> None:
    found = shown(View(plan_of(LONG, "Short"), expanded=True, busy=False), "oh-my-pi", width=50, height=24)
    assert found[1:4] == [
        "├─ ○ Rewrite the parser so that a line which ends",
        "│    in the middle of a quoted string is read to",
        "│    its end",
    ]


def test_one_text_takes_no_more_than_eight_lines_of_a_live_screen() -> None:
    found = shown(View(plan_of("word " * 500, "Short"), expanded=True, busy=False), width=50, height=40)
    assert len(found) == 10
    assert found[8].endswith("…")

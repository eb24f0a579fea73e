"""Plans for the eye: within any width, in any glyphs, and harmless on a terminal whatever their texts hold."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from punchlist.core import ops
from punchlist.core.cells import columns, wrapped
from punchlist.core.model import ACTIVE, BLOCKED, DONE, DROPPED, Item, Pause, Plan
from punchlist.core.render import ASCII, NO_NUDGES, OFF, UNICODE, Glyphs, fit, last_line, line, lines, next_line, plain
from tests.core.plans import HOSTILE, often, plan_of, plans, wild_text

WIDTHS = st.sampled_from((20, 21, 30, 39, 40, 41, 60, 80, 120, 300))
LONG = "A very long text that goes on and on " * 20


def shown(plan: Plan, width: int = 80, glyphs: Glyphs = UNICODE) -> list[str]:
    return plain(lines(plan, width, glyphs)).splitlines()


def styles(plan: Plan) -> dict[str, str]:
    """The style of each piece of text."""
    return {span.text: span.style for made in lines(plan) for span in made if span.text.strip()}


# --- the whole plan ------------------------------------------------------------------------------------------------


def test_an_empty_plan_says_how_to_begin() -> None:
    assert shown(Plan()) == ["No plan here yet. An agent makes one, or you do: punchlist add 'Run the tests'"]


def test_a_plan_is_shown_with_its_progress() -> None:
    plan = ops.start(ops.complete(plan_of("Alpha", "Beta", "Gamma"), "1"), "2")
    assert shown(plan) == ["Plan  ━━━╌╌╌╌╌╌╌ 1/3", "✓ 1 Alpha", "▶ 2 Beta", "○ 3 Gamma"]


def test_a_plan_is_shown_in_plain_characters() -> None:
    plan = ops.start(ops.complete(plan_of("Alpha", "Beta", "Gamma"), "1"), "2")
    assert shown(plan, glyphs=ASCII) == ["Plan  ###....... 1/3", "x 1 Alpha", "> 2 Beta", "o 3 Gamma"]


def test_phases_stand_above_their_items_also_when_they_are_empty() -> None:
    plan = plan_of("Alpha", phase="Build")._replace(phases=("Build", "Ship"))
    assert shown(plan)[1:] == ["", "Build", "  ○ 1 Alpha", "", "Ship"]


def test_parts_stand_below_their_whole() -> None:
    plan = ops.add(ops.add(plan_of("Whole"), "part", parent="1"), "part of the part", parent="2")
    assert shown(plan)[1:] == ["○ 1 Whole", "  ○ 2 part", "    ○ 3 part of the part"]


def test_the_active_item_is_shown_by_its_active_form_and_notes() -> None:
    plan = ops.start(ops.note(plan_of("Run", active="Running"), "1", "one\ntwo"), "1")
    assert shown(plan)[1:] == ["▶ 1 Running", "    │ one", "    │ two"]


def test_what_is_said_of_an_item_stands_behind_it() -> None:
    plan = plan_of("Alpha", "Beta", "Gamma", "Delta")
    plan = ops.drop(ops.block(plan, "1", why="no key"), "2", why="not wanted")
    plan = ops.put(plan, plan.items[2]._replace(needs=("1",), owner="helper", notes=("x", "y")))
    assert shown(plan)[1:] == [
        "⊘ 1 Alpha  (no key)",
        "– 2 Beta  (not wanted)",
        "○ 3 Gamma  (needs 1; @helper; 2 notes)",
        "○ 4 Delta",
    ]


def test_a_pause_a_mode_and_a_title_are_shown() -> None:
    plan = ops.set_mode(ops.pause(plan_of("Alpha"), "lunch"), "plan")._replace(title="Release")
    assert shown(plan)[:3] == ["Release  ╌╌╌╌╌╌╌╌╌╌ 0/1", "⏸ paused: lunch", "plan mode"]


def test_a_narrow_screen_gets_no_bar() -> None:
    assert shown(plan_of("Alpha"), 39)[0] == "Plan  0/1"


def test_each_status_has_its_style() -> None:
    plan = Plan(
        items=(Item("1", "a", ACTIVE), Item("2", "b", DONE), Item("3", "c", DROPPED), Item("4", "d", BLOCKED)),
        last_id=4,
    )
    found = styles(plan)
    assert (found["a"], found["b"], found["c"], found["d"]) == ("bold", "dim", "dim strike", "")


def test_a_long_text_is_wrapped_below_itself() -> None:
    plan = plan_of("Find out why the tests of the parser fail on Mondays", phase="Build")
    assert shown(plan, 30)[1:] == [
        "",
        "Build",
        "  ○ 1 Find out why the tests",
        "      of the parser fail on",
        "      Mondays",
    ]
    assert len(shown(plan, 300)) == 4


def test_what_is_said_of_an_item_is_wrapped_below_it_where_it_does_not_fit_behind() -> None:
    plan = ops.block(plan_of("Read the log"), "1", why="nobody knows where it is kept")
    assert shown(plan, 48)[1:] == ["⊘ 1 Read the log", "    (nobody knows where it is kept)"]
    assert shown(plan, 49)[1:] == ["⊘ 1 Read the log  (nobody knows where it is kept)"]


def test_notes_a_title_and_a_pause_are_wrapped() -> None:
    plan = ops.start(ops.note(plan_of("Run"), "1", "the log has the reason"), "1")
    plan = ops.pause(plan, "wait for the review of the parser")._replace(title="The next release of the parser")
    assert shown(plan, 24) == [
        "The next release of",
        "the parser  0/1",
        "⏸ paused: wait for the",
        "          review of the",
        "          parser",
        "▶ 1 Run",
        "    │ the log has the",
        "    │ reason",
    ]


def test_japanese_is_broken_anywhere_but_before_punctuation() -> None:
    assert wrapped("v2の修正をして、テストを実行する", 14) == ["v2の修正をし", "て、テストを実", "行する"]


def test_an_emoji_made_of_many_is_not_broken() -> None:
    family = "👨\u200d👩\u200d👧"
    assert wrapped(family * 3, 4) == [family * 2, family]
    assert fit(family * 3, 5) == f"{family * 2}…"


def test_plain_characters_are_enough_for_plain_texts() -> None:
    plan = ops.drop(ops.block(plan_of("Alpha", LONG, LONG), "2", why=LONG), "3", why=LONG)
    plan = ops.pause(ops.note(plan, "1", LONG), LONG)._replace(title=LONG, phases=("Build",))
    for width in (20, 80, 300):
        assert plain(lines(plan, width, ASCII)).isascii()
        assert line(plan, ASCII, width).isascii()


# --- in one line ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "wanted"),
    [
        (Plan(), ""),
        (plan_of("Alpha", "Beta"), "○ Alpha 0/2"),
        (ops.start(plan_of("Run", active="Running"), "1"), "▶ Running 0/1"),
        (ops.complete(plan_of("Alpha", "Beta"), "1", "2"), "✓ 2/2"),
        (ops.drop(plan_of("Alpha", "Beta"), "1", why="no"), "○ Beta 0/1"),
        (ops.block(plan_of("Alpha"), "1", why="no"), "⊘ Alpha 0/1"),
        (ops.pause(ops.start(plan_of("Alpha"), "1"), "lunch"), "⏸ paused: lunch 0/1"),
        (Plan(mode="plan")._replace(items=plan_of("Alpha").items), "○ Alpha 0/1 (plan mode)"),
    ],
)
def test_a_plan_fits_in_one_line(plan: Plan, wanted: str) -> None:
    assert line(plan) == wanted


def test_a_line_is_as_long_as_it_may_be() -> None:
    assert line(plan_of(LONG), width=20) == "○ A very long t… 0/1"
    assert line(plan_of(LONG), ASCII, 20) == "o A very long... 0/1"


# --- cells ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cells"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("a\u200db", 2), ("❤\ufe0f", 2), ("🙂", 2)],
)
def test_cells_are_counted_as_a_terminal_draws_them(text: str, cells: int) -> None:
    assert columns(text) == cells


@pytest.mark.parametrize(
    "text",
    [
        "👨\u200d👩\u200d👧",
        "👩🏽\u200d❤\ufe0f\u200d💋\u200d👩🏿",
        "🤷\u200d♂\ufe0f",
        "🏳\ufe0f\u200d🌈",
        "👍🏽",
        "🇩🇪🇫🇷",
        "1\ufe0f\u20e3",
        "⚠\ufe0f careful",
        "ที่นี่",
        "한국어",
        "\u1112\u1161\u11ab",
    ],
    ids=ascii,
)
def test_cells_of_emoji_and_scripts_are_counted_as_the_standard_has_them(text: str) -> None:
    assert columns(text) == wcswidth(text)


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("ab", 0, ""),
    ],
)
def test_a_text_is_fitted_into_cells(text: str, width: int, wanted: str) -> None:
    assert fit(text, width) == wanted


def test_a_text_that_was_cut_before_is_not_marked_twice() -> None:
    assert fit("the parser of dates… (0/4)", 21) == "the parser of dates…"


@often(100)
@given(
    wild_text | st.sampled_from(HOSTILE) | st.just("日本語" * 30), st.integers(0, 60), st.sampled_from((UNICODE, ASCII))
)
def test_a_fitted_text_is_never_wider(text: str, width: int, glyphs: Glyphs) -> None:
    assert columns(fit(text, width, glyphs)) <= width


# --- any plan, any width, on a terminal ------------------------------------------------------------------------------


def hostile_plan(text: str) -> Plan:
    items = [
        Item(str(number), text, status, text, "", "", (), (text, text), "", text, text)  # type: ignore[arg-type]
        for number, status in enumerate((ACTIVE, BLOCKED, DONE, DROPPED, "pending"), 1)
    ]
    return Plan(title=text, paused=Pause(text), items=tuple(items), last_id=5)


@often(80)
@given(plans(), WIDTHS, st.sampled_from((UNICODE, ASCII)))
def test_no_line_of_any_plan_is_wider_than_the_screen(plan: Plan, width: int, glyphs: Glyphs) -> None:
    assert all(columns(made) <= width for made in shown(plan, width, glyphs))
    assert columns(line(plan, glyphs, width)) <= width


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_no_line_is_wider_than_the_screen_however_deep_and_long_the_plan(width: int) -> None:
    plan = ops.add(plan_of(*["日本語 " * 60] * 150, phase="漢字" * 99), LONG, parent="7")
    for _ in range(12):
        plan = ops.add(plan, LONG, parent=str(plan.last_id), notes=(LONG,), owner=LONG)
    plan = ops.start(plan, str(plan.last_id))
    assert all(columns(made) <= width for made in shown(plan, width))


@pytest.mark.parametrize(
    "text", [*HOSTILE, "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\r\x1b[A\x1b[2K", "x" * 10_000]
)
@pytest.mark.parametrize("width", [20, 80])
def test_a_hostile_text_does_nothing_to_a_terminal(text: str, width: int) -> None:
    printed = [*shown(hostile_plan(text), width), line(hostile_plan(text), width=width)]
    screen = pyte.Screen(width, len(printed) + 1)
    pyte.Stream(screen).feed("\r\n".join(printed))
    assert screen.title == ""
    assert screen.cursor.y == len(printed) - 1  # nothing was wrapped, and nothing moved the cursor
    assert screen.display[-1].strip() == ""
    assert all(char.isprintable() or char in "\u200d" for made in printed for char in made)


def test_a_text_is_broken_between_words() -> None:
    assert wrapped("The tests run meanwhile", 14) == ["The tests run", "meanwhile"]
    assert wrapped("see https://example.com/path for more", 14) == ["see", "https://exampl", "e.com/path for", "more"]
    assert wrapped("", 14) == [""]


@often(100)
@given(st.text(alphabet="ab \u65e5\u0301", max_size=60), st.integers(2, 20))
def test_rows_hold_all_words_and_are_no_wider_than_the_screen(text: str, width: int) -> None:
    rows = wrapped(text, width)
    assert max(map(columns, rows)) <= width
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_what_keeps_the_agent_from_working_is_said_in_the_same_words_on_every_screen() -> None:
    plan = ops.start(plan_of("Alpha", "Beta"), "1")
    assert line(plan, off=True) == "▶ Alpha 0/2 (off)"
    assert line(plan._replace(mode="quiet"), off=True, nudges=False) == "▶ Alpha 0/2 (quiet mode, off, no nudges)"
    long = ops.start(plan_of("Alpha " * 30), "1")
    assert [width for width in (12, 20, 60) if len(line(long, width=width, off=True, nudges=False)) > width] == []
    assert line(long, width=60, off=True).endswith("… 0/1 (off)")
    made = plain(lines(plan, off=True, nudges=False, quiet="nothing heard for 4 minutes")).splitlines()
    assert made[1:4] == [OFF, NO_NUDGES, "nothing heard for 4 minutes"]


def test_what_is_next_and_what_was_done_last_have_a_line_each() -> None:
    plan = ops.start(plan_of("Alpha", "Beta", "Gamma", "Delta"), "2")
    assert (next_line(plan), last_line(plan)) == ("○ next: Alpha", "")
    assert last_line(ops.complete(plan, "4", "3")) == "✓ done: Delta"
    waiting = plan_of("Alpha", "Beta")
    assert (line(waiting), next_line(waiting)) == ("○ Alpha 0/2", "○ next: Beta")
    assert next_line(ops.complete(waiting, "1", "2")) == ""
    long = ops.start(plan_of("Alpha", "\x1b[31m" + "word\n" * 50), "1")
    assert len(next_line(long, width=40)) <= 40
    assert next_line(long).isprintable()

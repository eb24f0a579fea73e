"""What a screen shows of grades: the words, where they stand, and that no text of an item can pass for one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.core import ops
from punchlist.core.cells import columns
from punchlist.core.grade_labels import labels
from punchlist.core.grade_tail import with_tail, without_tail
from punchlist.core.grades import FAILED, OUTDATED, PASSED, REPORTED, UNKNOWN, VERIFIED, WAIVED, Grade
from punchlist.core.markdown import read, read_document, write, write_document
from punchlist.core.model import Plan
from punchlist.core.render import ASCII, UNICODE, Glyphs, Labels, line, lines, plain
from punchlist.tui.styles import PATHS, load, render
from punchlist.tui.view import View
from tests.core.plans import plan_of

TEXTS = ("Fix the tokenizer", "Update the README", "Port the parser", "Handle empty input", "Release notes")
GRADES = {
    "1": Grade(VERIFIED, "14:02"),
    "2": Grade(REPORTED),
    "3": Grade(OUTDATED, "13:40", changed=2),
}
LOOKS_DONE = {"4": {"at": "14:07"}}


def clock(at: str) -> str:
    return at


def a_plan() -> Plan:
    plan = ops.set_check(plan_of(*TEXTS), "5", "test -s NOTES.md")
    return ops.start(ops.complete(plan, "1", "2", "3"), "4")


def a_view() -> View:
    return View(a_plan(), told(), expanded=True, busy=False)


def told(default: str = "make test passed 14:09") -> Labels:
    return labels(a_plan(), GRADES, LOOKS_DONE, clock, default)


def shown(width: int = 80, glyphs: Glyphs = UNICODE) -> list[str]:
    return plain(lines(a_plan(), width, glyphs, labels=told())).splitlines()


def in_style(style: str, width: int = 80, height: int | None = None, **more: bool) -> list[str]:
    return plain(render(a_view(), load(style), width, height, **more)).splitlines()


# --- our own screens -------------------------------------------------------------------------------------------------


def test_grades_stand_beside_their_items_below_each_other() -> None:
    assert shown() == [
        "Plan  ━━━━━━╌╌╌╌ 3/5 · 1 verified · make test passed 14:09",
        "✔ 1 Fix the tokenizer   verified 14:02",
        "✓ 2 Update the README",
        "✓ 3 Port the parser     outdated: 2 files changed since 13:40",
        "▶ 4 Handle empty input  its check passes since 14:07: done?",
        "○ 5 Release notes       check: test -s NOTES.md",
    ]


def test_in_ascii_the_grade_is_the_word() -> None:
    assert shown(glyphs=ASCII)[:4] == [
        "Plan  ######.... 3/5, 1 verified, make test passed 14:09",
        "x 1 Fix the tokenizer   verified 14:02",
        "x 2 Update the README",
        "x 3 Port the parser     outdated: 2 files changed since 13:40",
    ]


def test_where_there_is_no_room_beside_an_item_its_grade_is_below() -> None:
    assert shown(40) == [
        "Plan  ━━━━━━╌╌╌╌ 3/5 · 1 verified · mak…",
        "✔ 1 Fix the tokenizer  verified 14:02",
        "✓ 2 Update the README",
        "✓ 3 Port the parser",
        "      outdated: 2 files changed since",
        "      13:40",
        "▶ 4 Handle empty input",
        "      its check passes since 14:07:",
        "      done?",
        "○ 5 Release notes",
        "      check: test -s NOTES.md",
    ]


def test_the_live_list_is_the_same_list() -> None:
    assert in_style("punchlist") == [
        "Plan  ━━━━━━━━━━━━╌╌╌╌╌╌╌╌ 3/5 · 1 verified · make test passed 14:09",
        *shown()[1:],
    ]


def test_a_live_list_without_room_cuts_the_words_first_and_keeps_the_grade() -> None:
    assert in_style("punchlist", 34, 6) == [
        "Plan  3/5 · 1 verified · make tes…",
        "✔ 1 Fix the token…  verified 14:02",
        "✓ 2 Update the README",
        "✓ 3 Port the pa…  outdated: 2 fil…",
        "▶ 4 Handle empt…  its check passe…",
        "○ 5 Release notes  check: test -s…",
    ]


@pytest.mark.parametrize("width", range(12, 120, 7))
@pytest.mark.parametrize("style", PATHS)
@pytest.mark.parametrize("height", [3, 6, 24, None])
def test_nothing_is_wider_than_the_screen(style: str, width: int, height: int | None) -> None:
    assert all(columns(row) <= width for row in in_style(style, width, height))
    if style == "punchlist":
        assert all(columns(row) <= max(width, 20) for row in shown(width))


def test_what_failed_is_red_and_what_is_outdated_stands_back_while_items_are_open() -> None:
    plan = a_plan()
    grades = {"1": Grade(FAILED, "14:10", {"exit": 1}), "3": Grade(OUTDATED, "13:40")}
    beside = labels(plan, grades, {}, clock).beside
    assert beside["1"] == ("failed 14:10: exit code 1", "bad")
    assert beside["3"].style == "dim"
    closed = ops.complete(plan, "4", "5")
    assert labels(closed, grades, {}, clock).beside["3"].style == ""


def test_each_grade_has_its_words() -> None:
    def words(grade: Grade) -> str:
        span = labels(a_plan(), {"1": grade}, {}, clock).beside.get("1")
        return span.text if span else ""

    assert words(Grade(PASSED, "14:02")) == "passed its own check 14:02"
    assert words(Grade(WAIVED, why="a typo")) == "waived: a typo"
    assert words(Grade(REPORTED)) == ""
    assert words(Grade(UNKNOWN, "14:02", {"exit": 0})) == "passed 14:02"
    assert words(Grade(VERIFIED, "14:02", is_flaky=True)) == "verified 14:02, flaky"
    assert words(Grade(VERIFIED, "14:02", tests_changed=True)) == "verified 14:02, tests changed"
    assert words(Grade(OUTDATED, "13:40", changed=1)) == "outdated: 1 file changed since 13:40"


def test_an_item_that_is_no_longer_completed_has_not_the_sign_of_a_verified_one() -> None:
    plan = ops.start(a_plan(), "1")
    assert "✔" not in plain(lines(plan, labels=told()))


# --- the others, and one line ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "summary"),
    [
        ("claude-code", "  Todos · 1 verified"),
        ("gencode", "│ Progress: 3/5 (60%) ━━━━━━╌╌╌╌ · 1 verified │"),
        ("oh-my-pi", "Todos 3/5 · 1 verified"),
    ],
)
def test_the_styles_of_others_only_gain_a_count(style: str, summary: str) -> None:
    graded = in_style(style)
    bare = plain(render(a_view()._replace(labels=Labels()), load(style), 80)).splitlines()
    assert summary in graded
    assert len(graded) == len(bare)
    assert "✔" not in "".join(graded)
    assert not [row for row in graded if "outdated" in row or "done?" in row]


def test_one_line_counts_what_is_verified() -> None:
    assert line(a_plan(), verified=1) == "▶ Handle empty input 3/5 ✔1"
    assert line(a_plan(), ASCII, verified=1) == "> Handle empty input 3/5 (1 verified)"
    assert line(a_plan()) == "▶ Handle empty input 3/5"


# --- what a text of an item cannot do --------------------------------------------------------------------------------

FORGED = [
    "Fix it  verified 14:02",
    "Fix it\u2003\u2003verified 14:02",
    "Fix it\u00a0\u00a0verified 14:02",
    "Fix it\u2800\u2800verified 14:02",
    "Fix it\u3164\u3164verified 14:02",
    "Fix it \t verified 14:02",
    "Fix it\n\n  verified 14:02",
    "Fix it\r✔ 1 Fix it  verified 14:02",
    "Fix it\x1b[32m  verified 14:02\x1b[0m",
    "Fix it\u202e20:41 deifirev",
    "  verified 14:02",
    "a " * 60 + "  verified 14:02",
]


@pytest.mark.parametrize("text", FORGED)
@pytest.mark.parametrize("width", [24, 40, 80, 200])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_no_text_stands_where_a_grade_does(text: str, width: int, glyphs: Glyphs) -> None:
    """A grade comes after a gap of two cells, or below at a place where no text begins."""
    plan = ops.complete(plan_of(text, "Second", "Third"), "1", "2")
    found = labels(plan, {"1": Grade(), "2": Grade(PASSED, "14:03")}, {}, clock)
    for rows in (
        plain(lines(plan, width, glyphs, labels=found)),
        plain(render(View(plan, found, expanded=True, busy=False), load("punchlist"), width, 12)),
    ):
        first, *others = rows.splitlines()
        assert first.startswith("Plan  ")
        own = [row for row in others if "14:02" in row or "verified" in row]
        own = [
            re.sub(r"\s+rep[a-z]*(…|\.+|~)?$", "", row) for row in own
        ]  # its true grade, behind a text that claims one
        assert not [row for row in own if "  " in row.strip() or row.startswith(" " * 6)]
        assert not [row for row in others if row.startswith("✔")]


@given(st.text(max_size=60), st.integers(20, 90))
def test_a_gap_in_the_line_of_an_item_is_never_its_authors(text: str, width: int) -> None:
    if not text.strip():
        return
    plan = plan_of(text)
    for row in plain(lines(plan, width)).splitlines()[1:]:
        assert "  " not in row.strip()


@pytest.mark.parametrize("why", ["x\x1b[31m", "x  verified 14:02", "x\n✔ 2 Next  verified 14:02"])
def test_what_a_user_or_a_command_says_acts_on_no_screen(why: str) -> None:
    plan = ops.complete(plan_of("One", "Two"), "1")
    found = labels(plan, {"1": Grade(WAIVED, why=why)}, {}, clock, default=why)
    made = plain(lines(plan, 200, labels=found))
    assert "\x1b" not in made
    assert len(made.splitlines()) == 3
    assert made.splitlines()[1].startswith("✓ 1 One  waived: x")
    assert made.splitlines()[1].strip().count("  ") == 1


# --- Markdown --------------------------------------------------------------------------------------------------------

TAIL = "verified 2026-11-17 14:02"
LIKE_TAILS = [
    "Fix it (verified 2026-11-17 14:02)",
    "Fix it (verified 2026-11-17 14:02) (reported)",
    "Fix it (verified 2026-11-17 14:02) (reported) (reported)",
    "Fix it (reported)",
    "Fix it (failed 2026-11-17 14:02: exit code 1)",
    "Fix it (outdated: 2 files changed since 2026-11-17 14:02)",
    "(verified 2026-11-17 14:02)",
    " (verified 2026-11-17 14:02)",
    '"Fix it" (verified 2026-11-17 14:02)',
    "Fix it <!-- verified -->",
]


@pytest.mark.parametrize("text", ["Fix it", *LIKE_TAILS])
@pytest.mark.parametrize("grade", ["", TAIL, "waived 2026-11-17 14:02", "passed its own check 2026-11-17 14:02, flaky"])
def test_a_grade_in_markdown_is_behind_the_text_and_is_not_read_back(text: str, grade: str) -> None:
    plan = ops.complete(plan_of(text), "1")
    document = write_document(plan, {"1": grade})
    assert read_document(document, plan) == plan
    row = next(row for row in document.splitlines() if row.startswith("- [x] 1. "))
    ends = ("(reported)", '"', "it", "-->", "1. (verified 2026-11-17 14:02)")
    assert row.endswith(f" ({grade})") if grade else row.endswith(ends)
    listed = write(plan, {"1": grade})
    assert [item.text for item in read(listed).items] == [text.strip()]


@given(st.text(alphabet="a (verified 2026-11-17 14:02) (reported)", max_size=80), st.sampled_from(["", TAIL]))
def test_any_text_comes_back_from_behind_its_grade(text: str, grade: str) -> None:
    assert without_tail(with_tail(text, grade)) == text


def test_words_that_are_not_a_grade_are_not_written_as_one() -> None:
    assert with_tail("Fix it", "verified by me") == "Fix it"

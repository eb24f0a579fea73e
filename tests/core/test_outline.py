"""What there is to do in a text that was written for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist import Plan, ops
from punchlist.core.outline import entries
from punchlist.core.rules import problems
from tests.core.plans import HOSTILE, often


def found(text: str) -> list[tuple[str, str]]:
    return [(entry.phase, entry.text) for entry in entries(text)]


def texts(text: str) -> list[str]:
    return [entry.text for entry in entries(text)]


PLAN = """\
# Plan: move the sessions

Some words about why, with a [link](x) and a list:

- not a task
- nor this

## Storage
- [ ] Write the schema
    - [x] Read the old one
* [ ] Migrate

### Rollout ###
1. [ ] Switch the flag
2) [X] Tell ops
"""


def test_checkboxes_under_headings_become_items_in_phases() -> None:
    assert found(PLAN) == [
        ("Storage", "Write the schema"),
        ("Storage", "Read the old one"),
        ("Storage", "Migrate"),
        ("Rollout", "Switch the flag"),
        ("Rollout", "Tell ops"),
    ]
    assert [entry.status for entry in entries(PLAN)] == ["pending", "completed", "pending", "pending", "completed"]


def test_a_text_with_one_heading_has_no_phases() -> None:
    assert found("# Plan\n- [ ] a\n- [ ] b") == [("", "a"), ("", "b")]


def test_boxes_before_any_heading_have_no_phase() -> None:
    assert found("- [ ] a\n# Later\n- [ ] b") == [("", "a"), ("Later", "b")]


def test_without_boxes_numbered_lines_count_and_without_those_the_top_bullets() -> None:
    assert texts("1. Read\n   1. a detail\n2) Write\n- a remark") == ["Read", "Write"]
    assert texts("- Read\n  - a detail\n* Write") == ["Read", "Write"]
    assert texts("Just words.\nAnd more.") == []


def test_code_is_not_read() -> None:
    assert texts("```\n- [ ] not this\n```\n- [ ] this\n~~~\n- [ ] nor this\n~~~") == ["this"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("- [ ] **Read** the code", "Read the code"),
        ("- [ ] **Read the code**", "Read the code"),
        ("- [ ] *Read the code*", "Read the code"),
        ("- [ ] Read the code:", "Read the code"),
        ("- [ ] **Step 1:** read", "Step 1: read"),
        ("- [ ] __init__.py: export the names", "__init__.py: export the names"),
        ("- [ ] Multiply 2 * 3 * 4", "Multiply 2 * 3 * 4"),
        ("- [ ] Use `a ** b`", "Use `a ** b`"),
        ("- [] Read", "Read"),
        ("-  [ ] Read", None),
        ("- [ ]", None),
        ("- [ ]Read", None),
        ("- [x](https://example.org)", None),
        ("- [?] Read", None),
        ("[ ] Read", None),
    ],
)
def test_the_words_of_a_box_are_kept_without_their_marks(line: str, text: str | None) -> None:
    boxes = [entry.text for entry in entries(f"{line}\n- [ ] a box")]
    assert boxes == ([text, "a box"] if text else ["a box"])


def test_what_was_struck_from_the_text_is_not_to_be_done() -> None:
    statuses = [entry.status for entry in entries("- [-] a\n- [~] b\n- [/] c\n- [>] d\n- [!] e")]
    assert statuses == ["abandoned", "abandoned", "pending", "pending", "pending"]


def test_a_heading_keeps_a_sharp_that_belongs_to_it() -> None:
    assert found("# C#\n- [ ] a\n# F# ##\n- [ ] b") == [("C#", "a"), ("F#", "b")]


def test_a_very_long_text_is_cut() -> None:
    found = texts("- [ ] x\n" * 5000)
    assert (len(found), found[-1]) == (200, "the other 4801 steps of the plan that was approved")
    assert len(texts("- [ ] " + "x" * 5000)[0]) == 500


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_text_is_data_here_too(text: str) -> None:
    for entry in entries(f"# {text}\n- [ ] a {text}\n# b\n- [ ] c"):
        assert (entry.phase + entry.text).isprintable() or "\u200d" in text


@often(100)
@given(st.text(alphabet="-*+[] x1.)#`~\na_:", max_size=80))
def test_whatever_is_found_makes_a_sound_plan(text: str) -> None:
    made = [{"text": e.text, "phase": e.phase, "status": e.status} for e in entries(text)]
    assert all(entry["text"] for entry in made)
    assert problems(ops.extend(Plan(), made)) == []

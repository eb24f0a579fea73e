"""A panel in another program's screen: rows that are ready to draw, one line of JSON for each change."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from select import select
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import punchlist
from punchlist import Plan, ops
from punchlist.core.cells import columns
from punchlist.core.model import ACTIVE, DONE, Item, Pause
from punchlist.core.text import inline
from punchlist.tui.rows import Size, panel
from punchlist.tui.styles import PATHS, load
from punchlist.tui.view import View
from tests.commands import SCRIPT, do
from tests.core.plans import often, plans

STYLE = load("punchlist")
MANY = Plan("p", items=tuple(Item(str(n), f"Item {n}", DONE if n < 300 else "pending") for n in range(1, 501)))


def texts(rows: list[dict[str, Any]]) -> list[str]:
    return ["".join(text for text, _ in row["spans"]).rstrip() for row in rows]


@pytest.mark.once
@often(300)
@given(plans(), st.sampled_from(list(PATHS)), st.integers(20, 200), st.integers(1, 40), st.booleans())
def test_any_plan_fits_into_its_panel_and_no_text_acts(
    plan: Plan, style: str, width: int, height: int, unicode: bool
) -> None:
    made = panel(View(plan), load(style), Size(width, height), unicode=unicode)
    assert len(made["short"]) <= min(3, max(height, 2))
    assert len(made["long"]) <= height
    for line in texts(made["short"]) + texts(made["long"]):
        assert columns(line) <= width
        assert line == inline(line).rstrip(), "no control, no line break, no mark that turns the direction"
        assert unicode or line.isascii()


def test_collapsed_it_is_the_active_item_the_count_and_the_next() -> None:
    plan = ops.start(ops.add(ops.add(ops.add(Plan("p"), "Read it"), "Fix it"), "Ship it"), "1")
    made = panel(View(plan, seconds=250), STYLE, Size(70, 6))
    assert texts(made["short"]) == ["▶ 1 Read it  4m", "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 0/3  Next: 2 Fix it"]
    assert made["short"][0]["id"] == made["active"] == "1"
    assert made["next"] == "2"


def test_nothing_ticks_within_a_minute() -> None:
    plan = ops.start(ops.add(Plan("p"), "Read it"), "1")
    early, late = (
        panel(View(plan, seconds=second, frame=frame), STYLE, Size(70, 6)) for second, frame in ((5, 0), (59, 7))
    )
    assert early == late
    assert (
        panel(View(plan, seconds=61), STYLE, Size(70, 6)) == panel(View(plan, seconds=119), STYLE, Size(70, 6)) != early
    )


def test_a_pause_is_told_with_its_reason() -> None:
    plan = ops.add(Plan("p"), "Read it")._replace(paused=Pause("waiting for the key", ""))
    assert texts(panel(View(plan), STYLE, Size(60, 9))["short"])[0] == "⏸ paused: waiting for the key"


def test_of_many_items_those_around_the_active_one_are_shown_and_the_others_counted() -> None:
    plan = ops.start(MANY, "300")
    made = panel(View(plan), STYLE, Size(60, 8))
    assert len(made["long"]) == 8
    assert [row["id"] for row in made["long"] if row.get("status") == ACTIVE] == ["300"]
    assert "… 298 done, 196 more" in texts(made["long"])
    assert len(json.dumps(made)) < 4_000, "however long the plan is"


def test_without_a_plan_there_are_no_rows() -> None:
    made = panel(View(Plan(), status="No plan here yet"), STYLE, Size(60, 8))
    assert (made["short"], made["long"]) == ([], [])


# --- watch --json --size ---------------------------------------------------------------------------------------------


@contextmanager
def followed(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [SCRIPT, "watch", "--json", "--size", "60x8", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
        try:
            yield process
        finally:
            process.kill()


def shown(process: subprocess.Popen[bytes], wanted: str) -> dict[str, Any]:
    """The first panel that has these words."""
    assert process.stdout
    found: dict[str, Any] = {"short": [], "long": []}
    while wanted not in "\n".join(texts(found["short"] + found["long"])):
        assert select([process.stdout], [], [], 60)[0], f"{wanted!r} never came; the last was {found}"
        found = json.loads(process.stdout.readline())
    return found


def add(session: str, text: str) -> str:
    with punchlist.open(session=session) as desk:
        return desk.change(lambda plan: ops.add(plan, text)).plan.id


def test_a_plan_is_waited_for_and_then_followed_also_to_another_one() -> None:
    with followed("--session", "s1") as process:
        add("s1", "Read the parser")
        assert shown(process, "Read the parser")["open"] == 1
        do("done", "1", "--session", "s1")
        assert shown(process, "1/1")["open"] == 0
        add("s1", "Fix it")
        shown(process, "Fix it")
        other = add("s2", "Elsewhere")
        do("bind", "--session", "s1", "--plan", other)
        assert shown(process, "Elsewhere")["plan"] == other


def test_signs_are_ascii_where_the_user_wants_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_UNICODE", "no")
    add("s1", "Größe")
    with followed("--session", "s1") as process:
        assert "".join(texts(shown(process, "Gr")["short"])).isascii()


def test_it_ends_when_nobody_reads_any_more() -> None:
    add("s1", "Read the parser")
    with followed("--session", "s1") as process:
        shown(process, "Read the parser")
        assert process.stdout
        process.stdout.close()
        assert process.wait(60) == 0, "though nothing has changed"


@pytest.mark.parametrize(
    "words", [("--size", "80"), ("--size", "80x"), ("--size", "x9", "--json"), ("--size=-1x2", "--json")]
)
def test_a_size_is_two_numbers_and_goes_with_json(words: tuple[str, ...]) -> None:
    done = subprocess.run([SCRIPT, "watch", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--size is COLUMNSxROWS, as in 80x12" in done.stderr

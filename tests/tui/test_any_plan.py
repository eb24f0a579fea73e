"""Any plan in any style on any screen: nothing is too wide or too long, what is active is in sight, no text acts."""

from __future__ import annotations

from itertools import product

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.core import ops
from punchlist.core.cells import columns
from punchlist.core.model import ACTIVE, DONE, Item, Pause, Plan
from punchlist.core.render import painted, plain
from punchlist.tui.styles import PATHS, load, render
from punchlist.tui.view import View, Worker
from tests.core.plans import HOSTILE, any_text, often, plan_of, plans, wild_text

pytestmark = pytest.mark.once
WIDTHS = st.integers(20, 300) | st.sampled_from((20, 21, 24, 39, 40, 80, 120, 300))
HEIGHTS = st.integers(1, 60) | st.sampled_from((1, 2, 3, 4, 6))
STYLES = st.sampled_from(list(PATHS))
LONG = "A very long text that goes on and on " * 20
ATTACKS = (
    *HOSTILE,
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\r\x1b[A\x1b[2K",
    "\x1b[999D\x1b[99A\x1b[31mred",
    "x" * 2_000,
    "\x1b" * 1_000,
    "日本語" * 300,
    "e" + "\u0301" * 2_000,
    "\u202e" + "abc" * 50,
    "👩‍👩‍👧" * 40,
    "\n" * 50 + "below",
    "\t" * 80,
)


@st.composite
def views(draw: st.DrawFn) -> View:
    workers = st.builds(Worker, any_text, any_text, plans(4), st.booleans())
    return View(
        plan=draw(plans()),
        expanded=draw(st.booleans()),
        busy=draw(st.booleans()),
        frame=draw(st.integers(0, 99)),
        seconds=draw(st.none() | st.floats(0, 1e6)),
        tokens=draw(st.integers(0, 10**7)),
        status=draw(any_text),
        tip=draw(any_text),
        alert=draw(any_text),
        workers=tuple(draw(st.lists(workers, max_size=2))),
        keys=draw(st.booleans()),
        hint=draw(any_text),
        typed=draw(any_text),
    )


@often(300)
@given(views(), STYLES, WIDTHS, HEIGHTS, st.booleans())
def test_nothing_is_wider_or_longer_than_the_screen(
    view: View, style: str, width: int, height: int, unicode: bool
) -> None:
    lines = plain(render(view, load(style), width, height, unicode=unicode)).splitlines()
    assert len(lines) <= height
    assert [line for line in lines if columns(line) > width] == []


@often(300)
@given(plans(12), st.integers(0, 11), st.booleans(), STYLES, WIDTHS, HEIGHTS)
def test_what_is_active_is_always_in_sight(
    plan: Plan, place: int, expanded: bool, style: str, width: int, height: int
) -> None:
    """The first of them, if there are several; in whatever room there is."""
    quiet = [item._replace(status=DONE) if item.status == ACTIVE else item for item in plan.items]
    plan = plan._replace(items=tuple(quiet), mode="act", paused=None)
    if not plan.items:
        return
    item = plan.items[place % len(plan.items)]
    plan = ops.put(plan, item._replace(text="Look at me!", active="", status=ACTIVE))
    found = plain(render(View(plan, expanded=expanded), load(style), width, height))
    assert "Look at" in found


@pytest.mark.parametrize("place", [1, 2, 250, 499, 500])
def test_what_is_active_in_a_long_list_is_in_sight(place: int) -> None:
    plan = ops.start(plan_of(*(f"step {number}" for number in range(1, 501)), phase="One"), str(place))
    plan = ops.put(plan, plan.items[place - 1]._replace(active="Look at me!"))
    view = View(plan, expanded=True, workers=(Worker("w", "busy", plan),))
    for style, height, width in product(PATHS, [1, 2, 3, 5, 8, 13, 21], [20, 300]):
        found = plain(render(view, load(style), width, height))
        assert "Look at me!" in found or f"step {place}" in found, (style, height, width)


def hostile_view(text: str) -> View:
    items = [
        Item(str(number), text, status, active=text, notes=(text, text), owner=text, reason=text)  # type: ignore[arg-type]
        for number, status in enumerate((ACTIVE, "blocked", "completed", "abandoned", "pending"), 1)
    ]
    inside = Plan(title=text, paused=Pause(text), items=tuple(items), last_id=5)
    plan = inside._replace(phases=(text or "x",), items=tuple(item._replace(phase=text or "x") for item in items))
    workers = (Worker(text, text, inside), Worker(text, text, inside, background=True))
    return View(plan, status=text, tip=text, alert=text, workers=workers, keys=True, hint=text, seconds=1)


@pytest.mark.parametrize("style", PATHS)
def test_a_hostile_text_does_nothing_to_a_terminal(style: str) -> None:
    for text, width, expanded in product(ATTACKS, [20, 80], [True, False]):
        case = (ascii(text[:20]), width, expanded)
        lines = render(hostile_view(text)._replace(expanded=expanded), load(style), width)
        shown = "".join(span.text for line in lines for span in line)
        assert all(char.isprintable() or char == "\u200d" for char in shown), case
        screen = pyte.Screen(width, len(lines) + 1)
        pyte.Stream(screen).feed("\r\n".join(map(painted, lines)))
        assert screen.title == "", case
        assert screen.cursor.y == len(lines) - 1, case  # nothing was wrapped, and nothing moved the cursor
        assert screen.display[-1].strip() == "", case


@often(60)
@given(wild_text, STYLES)
def test_no_character_of_any_text_acts(text: str, style: str) -> None:
    for line in render(hostile_view(text)._replace(expanded=True), load(style), 40):
        assert all(char.isprintable() or char in "\u200c\u200d" for span in line for char in span.text)


def test_a_letter_with_ten_thousand_marks_is_cut() -> None:
    plan = ops.start(plan_of("e" + "\u0301" * 10_000), "1")
    assert sum(len(span.text) for span in render(View(plan), load("punchlist"), 80)[0]) < 400


@pytest.mark.parametrize("style", PATHS)
def test_one_character_or_less_is_no_reason_to_fail(style: str) -> None:
    for width in range(0, 20):
        for height in range(0, 4):
            made = render(hostile_view(LONG), load(style), width, height)
            assert all(columns(line) <= width for line in plain(made).splitlines())


@pytest.mark.parametrize("style", PATHS)
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_what_is_typed_fits_on_a_screen_that_is_hardly_there(style: str, width: int) -> None:
    lines = plain(render(View(Plan(), typed="wörter 字字"), load(style), width, 5)).splitlines()
    assert max(map(columns, lines)) <= max(width, 2)

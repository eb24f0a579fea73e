"""The panel on a terminal: what is written when, where the text goes, and what is left behind."""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Callable, Iterator
from typing import Any

import pyte
import pytest

from punchlist.core import ops
from punchlist.core.model import Plan
from punchlist.core.render import Span
from punchlist.tui.panel import Panel, repaint
from punchlist.tui.plain import Lines
from punchlist.tui.styles import load
from punchlist.tui.terminal import Terminal
from punchlist.tui.view import View, Worker
from tests.core.plans import plan_of

BUSY = ops.start(ops.complete(plan_of("Alpha", "Beta", "Gamma"), "1"), "2")
IDLE = View(BUSY, busy=False)


class Clock:
    """The time, as a test says it is."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Screen:
    """A pseudo-terminal with an emulator behind it, and a panel on it."""

    def __init__(self, columns: int, rows: int, lined: bool, **options: Any) -> None:
        self.clock = Clock()
        self.ours, self.theirs = os.openpty()
        termios.tcsetwinsize(self.theirs, (rows, columns))
        self.before = termios.tcgetattr(self.theirs)
        self.emulator = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.emulator)
        self._file = open(self.theirs, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        terminal = Terminal(self._file, self.theirs, hides_cursor=not lined)
        make: Callable[..., Any] = Lines if lined else Panel
        options = options if lined else {"color": False, **options}
        self.panel = make(terminal, load("punchlist"), clock=self.clock, **options)
        self.terminal = terminal

    def read(self) -> bytes:
        """What was written since the last time."""
        found = b""
        while select.select([self.ours], [], [], 0)[0]:
            found += os.read(self.ours, 65536)
        self._stream.feed(found)
        return found

    @property
    def lines(self) -> list[str]:
        self.read()
        return [line.rstrip() for line in self.emulator.display]

    @property
    def text(self) -> list[str]:
        """The lines down to the last that holds something."""
        return "\n".join(self.lines).rstrip("\n").split("\n")

    def resize(self, columns: int, rows: int) -> None:
        self.read()
        termios.tcsetwinsize(self.theirs, (rows, columns))
        self.emulator.resize(rows, columns)
        self.terminal.was_changed = True

    def type(self, keys: str) -> list[str]:
        self.clock.now += 1
        os.write(self.ours, keys.encode())
        found: list[str] = self.panel.wait(0)
        return found

    def close(self) -> None:
        self.panel.close()
        self._file.close()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def screen(request: pytest.FixtureRequest) -> Iterator[Screen]:
    options = {"columns": 60, "rows": 12, "lined": False, **getattr(request, "param", {})}
    made = Screen(**options)
    with made.panel:
        yield made
    made.close()


def on(**options: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("screen", [options], indirect=True, ids=[str(options)])


# --- drawing ---------------------------------------------------------------------------------------------------------


def test_a_view_is_drawn(screen: Screen) -> None:
    screen.panel.draw(View(BUSY))
    assert screen.text == [
        "⠋ 2 Beta…",
        "━━━━╌╌╌╌╌╌╌╌╌╌╌ 1/3  Next: 3 Gamma",
        "ctrl+t show plan",
    ]


def test_only_changed_lines_are_written(screen: Screen) -> None:
    screen.panel.expanded = True
    screen.panel.draw(View(BUSY))
    screen.read()
    screen.clock.now += 0.2
    screen.panel.tick()
    written = screen.read().decode()
    assert "⠙ " in written
    assert "Beta…" in written
    assert "Alpha" not in written
    assert "Gamma" not in written
    assert screen.text[2] == "⠙ 2 Beta…"


def test_nothing_is_written_when_nothing_has_changed(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    screen.read()
    screen.clock.now += 5
    screen.panel.draw(IDLE)
    screen.panel.tick()
    assert screen.read() == b""


def redraws(screen: Screen, step: Callable[[int], object], seconds: int = 3) -> list[float]:
    """When something was drawn, while a step was made every hundredth of a second."""
    begin, found = screen.clock.now, []
    for number in range(seconds * 100):
        screen.clock.now = begin + number / 100
        step(number)
        screen.panel.tick()
        if screen.read():
            found.append(screen.clock.now)
    return found


@pytest.mark.parametrize("every", [1, 7, 11, 15, 20, 25, 33])
def test_no_more_than_ten_redraws_are_made_in_a_second(screen: Screen, every: int) -> None:
    def step(number: int) -> None:
        if number % every == 0:
            screen.panel.draw(View(BUSY, status=f"step {number}"))

    found = redraws(screen, step)
    assert len(found) >= 13
    assert all(later - earlier > 0.99 for earlier, later in zip(found, found[10:], strict=False))


def test_the_spinner_turns_five_times_a_second(screen: Screen) -> None:
    screen.panel.draw(View(BUSY))
    assert 13 <= len(redraws(screen, lambda number: None)) <= 16


def test_what_was_put_off_is_drawn_when_it_is_due(screen: Screen) -> None:
    for number in range(15):
        screen.panel.draw(IDLE._replace(plan=plan_of(f"item {number}")))
    assert "item 0" in "\n".join(screen.text)
    due = screen.panel.tick()
    assert 0 < due <= 0.1
    screen.clock.now += due
    assert screen.panel.tick() > 1
    assert "item 14" in "\n".join(screen.text)


def test_a_change_is_drawn_at_once_while_the_spinner_turns(screen: Screen) -> None:
    screen.panel.draw(View(BUSY))
    for _ in range(20):
        screen.clock.now += screen.panel.tick()
    screen.panel.tick()
    screen.panel.draw(View(ops.complete(BUSY, "2")))
    assert "2/3" in "\n".join(screen.text)


def test_the_seconds_go_on_between_two_views(screen: Screen) -> None:
    screen.panel.draw(View(BUSY, seconds=58))
    assert screen.text[0] == "⠋ 2 Beta…  58s"
    screen.clock.now += 2.4
    screen.panel.tick()
    assert screen.text[0].endswith("2 Beta…  1m 00s")


def test_a_panel_that_grows_and_shrinks_leaves_nothing_behind(screen: Screen) -> None:
    for plan in (BUSY, plan_of(*"abcdef"), Plan(), plan_of("one"), BUSY):
        screen.clock.now += 1
        screen.panel.expanded = True
        screen.panel.draw(View(plan, busy=False))
        wanted = [item.text for item in plan.items]
        assert [line.split()[-1] for line in screen.text if line[:1] in "✓▶○" and line] == wanted
    assert len(screen.text) == 5


def test_a_row_as_wide_as_the_screen_keeps_its_last_character(screen: Screen) -> None:
    screen.panel.draw(IDLE._replace(plan=ops.start(plan_of("x" * 55 + "END"), "1")))
    assert screen.text[:2] == ["▶ 1 " + "x" * 55 + "E", "    ND"]
    screen.clock.now += 1
    screen.panel.draw(IDLE._replace(plan=ops.start(plan_of("x" * 53 + "END"), "1")))
    assert screen.text[0] == "▶ 1 " + "x" * 53 + "END"


@on(color=True)
def test_colors_are_used(screen: Screen) -> None:
    screen.panel.draw(View(BUSY))
    assert b"\x1b[36m" in screen.read()


def test_without_colors_none_are_written_and_what_is_bold_stays_so(screen: Screen) -> None:
    screen.panel.draw(View(BUSY))
    written = screen.read()
    assert not [color for color in (b"\x1b[32m", b"\x1b[31m", b"\x1b[36m") if color in written]
    assert b"\x1b[1m" in written


@on(unicode=False)
def test_without_unicode_none_is_written(screen: Screen) -> None:
    screen.panel.draw(View(ops.add(BUSY, "日本語"), seconds=3))
    assert screen.text[1].startswith("###")
    assert all(line.isascii() for line in screen.text)


# --- room ------------------------------------------------------------------------------------------------------------


def test_a_panel_leaves_room_for_text(screen: Screen) -> None:
    screen.panel.expanded = True
    screen.panel.draw(View(plan_of(*map(str, range(100)))))
    assert len(screen.text) == 8


@on(whole=True)
def test_a_panel_may_fill_the_screen(screen: Screen) -> None:
    screen.panel.expanded = True
    screen.panel.draw(View(plan_of(*map(str, range(100)))))
    assert len(screen.text) == 12


@on(columns=20, rows=6)
def test_a_small_screen_gets_a_small_panel(screen: Screen) -> None:
    screen.panel.expanded = True
    screen.panel.draw(View(ops.start(plan_of(*(f"A rather long text {n}" for n in range(9))), "5"), seconds=2))
    assert screen.text == [
        "Plan  0/9",
        "○ 1 A rather long t…",
        "⠋ 5 A rather long t…",
        "… 7 more",
        "ctrl+t hide plan",
    ]


@on(columns=40, rows=1)
def test_on_one_line_what_is_active_is_in_sight(screen: Screen) -> None:
    screen.panel.expanded = True
    screen.panel.draw(View(BUSY))
    assert screen.text == ["⠋ 2 Beta…"]


def test_a_panel_follows_the_size_of_its_screen(screen: Screen) -> None:
    screen.panel.expanded = True
    screen.panel.draw(View(ops.start(plan_of("A text that needs the whole width of this screen"), "1")))
    for columns, lines in ((30, 3), (120, 1), (24, 3)):
        screen.resize(columns, 12)
        screen.clock.now += 1
        screen.panel.tick()
        rows = screen.text
        assert len(rows) == 2 + lines, rows
        assert rows[1][1:].startswith(" 1 A text that")
        assert all(len(row) <= columns for row in rows)


# --- text above it ---------------------------------------------------------------------------------------------------


def test_text_scrolls_by_above_the_panel(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    for number in range(30):
        screen.panel.write(f"line {number}\n")
        screen.clock.now += 0.2
    screen.panel.tick()
    assert screen.text == [
        *(f"line {number}" for number in range(21, 30)),
        "▶ 2 Beta",
        "━━━━╌╌╌╌╌╌╌╌╌╌╌ 1/3  Next: 3 Gamma",
        "ctrl+t show plan",
    ]


def test_text_may_come_in_pieces(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    for piece in ("Hel", "lo, ", "world", "!\nHow are", " you?"):
        screen.clock.now += 1
        screen.panel.write(piece)
    assert screen.text[:3] == ["Hello, world!", "How are you?", "▶ 2 Beta"]
    screen.clock.now += 1
    screen.panel.write("\n")
    assert screen.text[:3] == ["Hello, world!", "How are you?", "▶ 2 Beta"]


def test_a_piece_costs_its_own_line_only(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    screen.panel.write("one ")
    screen.read()
    screen.panel.write("two")
    assert b"Beta" not in screen.read()


def test_a_long_line_is_kept_whole(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    words = " ".join(f"word{number}" for number in range(30))
    for piece in words.split(" "):
        screen.panel.write(piece + " ")
        screen.clock.now += 0.2
    screen.panel.write("\n")
    screen.clock.now += 1
    screen.panel.tick()
    assert " ".join(screen.text[:-3]) == words


@on(columns=20)
def test_text_is_broken_between_words_while_it_comes_and_afterwards(screen: Screen) -> None:
    rows = ["The tests run", "meanwhile, and", "https://example.com/", "a/long/path is where", "it ends."]
    screen.panel.draw(IDLE)
    for char in " ".join(rows[:2]) + " " + "".join(rows[2:4]) + " it ends.":
        screen.panel.write(char)
        screen.clock.now += 0.2
        screen.panel.tick()
        shown = screen.text[:-3]
        assert shown[:-1] == rows[: len(shown) - 1]
    screen.panel.write("\nNext.\n")
    screen.panel.flush()
    assert screen.text[:-3] == [*rows, "Next."]


@on(columns=20)
def test_a_space_at_the_edge_makes_no_empty_row(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    for piece in ("exactly twenty cells", " ", "\n", "exactly twenty cells ", "more\n"):
        screen.panel.write(piece)
        screen.clock.now += 0.2
    screen.panel.flush()
    assert screen.text[:-3] == ["exactly twenty cells", "exactly twenty cells", "more"]


def test_text_between_two_lines_of_text_is_not_lost_when_much_is_written(screen: Screen) -> None:
    for number in range(100):
        screen.panel.write(f"line {number}\n")
    assert screen.text == ["line 0"]
    screen.panel.flush()
    assert screen.text[-1] == "line 99"
    assert screen.text[-3] == "line 97"


def test_what_an_agent_says_is_harmless(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    screen.clock.now += 1
    screen.panel.write("\x1b[2J\x1b[H\x1b]0;title\x07tab\there\r\nnext \u202egnihton\n")
    assert screen.text[0] == "�[2J�[H�]0;title�tab    here"
    assert screen.text[1] == "next �gnihton"
    assert screen.text[2] == "▶ 2 Beta"
    assert screen.emulator.title == ""


def test_styled_lines_end_an_open_line(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    screen.panel.write("open")
    screen.panel.show([(Span("$ ", "dim"), Span("make test", "bold"))])
    screen.clock.now += 1
    screen.panel.tick()
    assert screen.text[:3] == ["open", "$ make test", "▶ 2 Beta"]


def test_a_resize_amid_text_keeps_both(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    screen.panel.write("one\ntwo\nunfinished")
    screen.resize(40, 12)
    screen.clock.now += 1
    screen.panel.tick()
    assert screen.text[:4] == ["one", "two", "unfinished", "▶ 2 Beta"]
    screen.panel.write(" business\n")
    screen.clock.now += 1
    screen.panel.tick()
    assert screen.text[:4] == ["one", "two", "unfinished business", "▶ 2 Beta"]


# --- keys ------------------------------------------------------------------------------------------------------------


def test_keys_are_told_one_by_one(screen: Screen) -> None:
    assert screen.type("q") == ["q"]
    assert screen.type("\x1b[A!") == ["up", "!"]
    assert screen.type("\x1b") == ["esc"]


def test_ctrl_t_shows_and_hides_the_list_and_is_told() -> None:
    told: list[tuple[bool, bool]] = []
    screen = Screen(60, 12, False, on_toggle=lambda before, plan: told.append((before, bool(plan.items))))
    with screen.panel:
        screen.panel.draw(IDLE)
        assert "Alpha" not in "\n".join(screen.text)
        assert screen.type("\x14") == []
        assert "Alpha" in "\n".join(screen.text)
        assert "ctrl+t hide plan" in screen.text
        assert screen.type("\x14") == []
        assert "Alpha" not in "\n".join(screen.text)
        screen.panel.draw(View(Plan()))
        assert screen.type("\x14x") == ["x"]
    assert told == [(False, True), (True, True), (False, False)]
    screen.close()


def test_waiting_ends_when_somebody_wakes_it(screen: Screen) -> None:
    screen.panel.wake()
    assert screen.panel.wait(3600) == []


# --- leaving ---------------------------------------------------------------------------------------------------------


def test_the_terminal_is_given_back_as_it_was(screen: Screen) -> None:
    assert termios.tcgetattr(screen.theirs) != screen.before
    screen.panel.draw(View(BUSY))
    screen.read()
    assert screen.emulator.cursor.hidden
    screen.panel.close()
    assert termios.tcgetattr(screen.theirs) == screen.before
    screen.read()
    assert not screen.emulator.cursor.hidden
    assert pyte.modes.DECAWM in screen.emulator.mode


def test_the_last_view_stays_without_spinner_and_keys(screen: Screen) -> None:
    screen.panel.draw(View(BUSY, seconds=3))
    screen.clock.now += 2
    screen.panel.close()
    assert screen.text == ["▶ 2 Beta  5s", "━━━━╌╌╌╌╌╌╌╌╌╌╌ 1/3  Next: 3 Gamma"]
    assert (screen.emulator.cursor.x, screen.emulator.cursor.y) == (0, 2)
    screen.panel.close()
    assert screen.read() == b""


def test_an_error_leaves_the_terminal_usable() -> None:
    screen = Screen(60, 12, False)

    def fails() -> None:
        with screen.panel:
            screen.panel.draw(View(BUSY))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert termios.tcgetattr(screen.theirs) == screen.before
    assert screen.text[-1] == "ctrl+t show plan"
    assert screen.emulator.cursor.y == 3
    assert not screen.emulator.cursor.hidden
    screen.close()


def test_a_question_may_be_asked_in_between(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    screen.panel.write("before\n")
    with screen.panel.aside():
        assert termios.tcgetattr(screen.theirs) == screen.before
        assert screen.text == ["before"]
        os.write(screen.theirs, b"really? yes\r\n")
    assert screen.text[:3] == ["before", "really? yes", "▶ 2 Beta"]
    assert screen.type("q") == ["q"]


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [[], ["a"], ["a", "b"], ["a", "b", "c", "d"], ["x", "b", "y"]])
@pytest.mark.parametrize("new", [[], ["a"], ["a", "c"], ["a", "b", "c"], ["q", "b", "c", "d", "e"]])
@pytest.mark.parametrize("top", [0, 2, 5])
def test_rows_become_other_rows_anywhere_on_the_screen(old: list[str], new: list[str], top: int) -> None:
    emulator = pyte.Screen(10, 6)
    stream = pyte.Stream(emulator)
    stream.feed("\r\n" * top + repaint([], old) + repaint(old, new) + "!")
    shown = "\n".join(line.rstrip() for line in emulator.display).strip("\n")
    assert shown == "\n".join(["!" + new[0][1:], *new[1:]] if new else ["!"])


def test_the_same_rows_cost_nothing() -> None:
    assert repaint(["a", "b"], ["a", "b"]) == ""


# --- line by line ----------------------------------------------------------------------------------------------------


@on(lined=True)
def test_plain_lines_tell_each_change_and_move_no_cursor(screen: Screen) -> None:
    screen.panel.draw(View(BUSY))
    screen.panel.draw(View(ops.start(ops.complete(BUSY, "2"), "3"), status="running pytest"))
    screen.panel.draw(View(ops.start(ops.complete(BUSY, "2"), "3"), status="running pytest", frame=7, seconds=3))
    assert b"\x1b" not in screen.read()
    assert screen.text == [
        "Plan  ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 1/3",
        "✓ 1 Alpha",
        "▶ 2 Beta",
        "○ 3 Gamma",
        'completed 2 "Beta".',
        'started 3 "Gamma". (2/3)',
        "running pytest…",
    ]


@on(lined=True, rows=20)
def test_plain_lines_tell_alerts_workers_and_other_plans(screen: Screen) -> None:
    screen.panel.draw(View(Plan(), status="Waiting"))
    screen.panel.draw(View(plan_of("Alpha"), alert="the store is gone"))
    screen.panel.draw(View(plan_of("Alpha"), workers=(Worker("scout", "running", BUSY),)))
    screen.panel.draw(View(plan_of("Beta")._replace(id="other")))
    assert screen.text == [
        "Waiting…",
        "Plan  ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 0/1",
        "○ 1 Alpha",
        "! the store is gone",
        "over: the store is gone",
        "Agent: scout  Status: running  Tasks (1/3)",
        "Plan  ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 0/1",
        "○ 1 Beta",
    ]


@on(lined=True)
def test_plain_text_is_written_line_by_line(screen: Screen) -> None:
    screen.panel.write("Hel")
    assert screen.read() == b""
    screen.panel.write("lo\nopen")
    screen.panel.draw(IDLE)
    screen.panel.close()
    assert screen.text[:3] == ["Hello", "open", "Plan  ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 1/3"]


@on(lined=True)
def test_ctrl_t_says_the_list_again_in_plain_lines(screen: Screen) -> None:
    screen.panel.draw(IDLE)
    screen.read()
    assert screen.type("\x14q") == ["q"]
    assert screen.read().decode().count("Alpha") == 1

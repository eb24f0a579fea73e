"""A panel in somebody's own program: text above it, interrupts, faults and questions, on a real terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tui.screens import running

BEGIN = """
import sys
from threading import Thread
from punchlist import Plan, ops
from punchlist.local.settings import load
from punchlist.tui import open_panel
from punchlist.tui.view import View, Worker

plan = ops.start(ops.extend(Plan(), [{"text": "Alpha"}, {"text": "Beta"}]), "1")

def toggled(before, plan):
    with open("toggled", "a") as file:
        file.write(f"{before} {bool(plan.items)}\\n")

panel = open_panel(load(), on_toggle=toggled)
"""


def program(code: str, **more: Any) -> Any:
    return running(sys.executable, "-c", BEGIN + code, **more)


def test_what_is_said_scrolls_by_above_the_panel() -> None:
    code = """
with panel:
    panel.draw(View(plan, seconds=3, tokens=1500))
    for number in range(40):
        panel.write(f"line {number}\\n")
    panel.write("and th")
    panel.wait(0.3)
    panel.write("is is the last\\n")
    panel.draw(View(ops.complete(plan, "1"), busy=False))
    while "q" not in panel.wait(60): pass
"""
    with program(code, columns=60, rows=12) as session:
        session.sees("and this is the last", "1/2")
        session.type("q")
        assert session.ends() == 0
    shown = [line for line in session.lines if line]
    assert shown[-3:] == ["line 39", "and this is the last", "━━━━━━━╌╌╌╌╌╌╌╌ 1/2  Next: 2 Beta"]
    said = [line for line in shown if line.startswith("line")]
    assert said == [f"line {number}" for number in range(40 - len(said), 40)]


def test_it_begins_collapsed_and_tells_each_toggle(own_folder: Path) -> None:
    code = """
with panel:
    panel.draw(View(plan))
    while "q" not in panel.wait(60): pass
"""
    with program(code) as session:
        session.sees("Next: 2 Beta", "ctrl+t show plan")
        session.type("\x14")
        session.sees("○ 2 Beta")
        session.type("\x14")
        session.sees("ctrl+t show plan")
        session.type("q")
        assert session.ends() == 0
    assert (own_folder / "toggled").read_text() == "False True\nTrue True\n"


def test_an_interrupt_reaches_the_program_and_the_panel_goes_on() -> None:
    code = """
caught = said = 0
with panel:
    while caught < 3:
        try:
            panel.draw(View(plan))
            if said < caught:
                said = caught
                panel.write(f"interrupted {said}\\n")
            panel.wait(60)
        except KeyboardInterrupt:
            caught += 1
"""
    with program(code) as session:
        session.sees("ctrl+t show plan")
        session.type("\x03")
        session.sees("interrupted 1")
        session.type("\x03")
        session.sees("interrupted 2", "ctrl+t show plan")
        session.type("\x03")
        assert session.ends() == 0
    assert session.text.startswith("interrupted 1\ninterrupted 2\n▶ 1 Alpha")
    assert not session.screen.cursor.hidden


def test_interrupts_amid_a_flood_of_text_leave_the_screen_whole() -> None:
    code = """
number = caught = 0
with panel:
    while caught < 20:
        try:
            panel.draw(View(plan))
            while True:
                number += 1
                panel.write(f"line {number}, {caught} caught\\n")
                panel.flush()
        except KeyboardInterrupt:
            caught += 1
"""
    with program(code, rows=40) as session:
        session.sees("ctrl+t")
        for number in range(1, 21):
            session.type("\x03")
            session.hears(f", {number} caught\r") if number < 20 else None
        assert session.ends() == 0
    shown = [line for line in session.lines if line]
    assert shown[-2:] == ["▶ 1 Alpha", "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 0/2  Next: 2 Beta"]
    assert sum("ctrl+t" in line or "Alpha" in line for line in session.lines) == 1


def test_a_fault_is_told_below_the_panel_and_the_terminal_is_given_back() -> None:
    code = """
with panel:
    panel.draw(View(plan))
    panel.wait(0.2)
    raise RuntimeError("a fault of the program")
"""
    with program(code) as session:
        assert session.ends() == 1
    assert session.lines[2] == "ctrl+t show plan"
    assert session.lines[3] == "Traceback (most recent call last):"
    assert "RuntimeError: a fault of the program" in session.text
    assert not session.screen.cursor.hidden


def test_a_question_is_asked_on_a_terminal_as_usual() -> None:
    code = """
with panel:
    panel.draw(View(plan))
    panel.write("before\\n")
    panel.wait(0.2)
    with panel.aside():
        answer = input("really? ")
    panel.write(f"so {answer}\\n")
    panel.draw(View(plan, busy=False))
    while "q" not in panel.wait(60): pass
"""
    with program(code) as session:
        session.sees("really?").sees_no("ctrl+t")
        session.type("yes\r")
        session.sees("so yes", "ctrl+t show plan")
        session.type("q")
        assert session.ends() == 0
    assert session.text.startswith("before\nreally? yes\nso yes\n▶ 1 Alpha")


def test_other_threads_may_speak() -> None:
    code = """
def speak(name):
    for number in range(50):
        panel.write(f"{name} {number}\\n")
        panel.draw(View(plan, workers=(Worker(name, f"at {number}"),)))
    panel.wake()

with panel:
    threads = [Thread(target=speak, args=(name,)) for name in "abc"]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    panel.flush()
    panel.draw(View(plan, busy=False))
    while "q" not in panel.wait(60): pass
"""
    with program(code, rows=200) as session:
        session.sees("ctrl+t")
        session.until(lambda now: sum(line[:2] in ("a ", "b ", "c ") for line in now.lines) == 150)
        session.type("q")
        assert session.ends() == 0
    for name in "abc":
        said = [line for line in session.lines if line.startswith(f"{name} ")]
        assert said == [f"{name} {number}" for number in range(50)]


def test_a_panel_may_belong_to_another_thread() -> None:
    code = """
def all_of_it():
    with panel:
        panel.draw(View(plan))
        while "q" not in panel.wait(60): pass

thread = Thread(target=all_of_it)
thread.start()
thread.join()
"""
    with program(code) as session:
        session.sees("ctrl+t show plan")
        session.resize(40, 20)
        session.type("\x14")
        session.sees("○ 2 Beta")
        session.type("q")
        assert session.ends() == 0
    assert not session.screen.cursor.hidden


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGINT"])
def test_a_handler_of_the_program_is_asked_first(signal: str) -> None:
    code = f"""
import signal

def stop(number, frame):
    raise SystemExit(7)

signal.signal(signal.{signal}, stop)
with panel:
    panel.draw(View(plan))
    panel.wait(0.2)
    signal.raise_signal(signal.{signal})
    panel.wait(60)
"""
    with program(code) as session:
        assert session.ends() == 7
    assert not session.screen.cursor.hidden
